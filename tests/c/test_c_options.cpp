// Everything that the C surface can be asked for has the core's bits, for batches of rows, in parts, and by states.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../conformance/option_random.h"
#include "../conformance/option_ways.h"
#include "../support/rounds.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int batch = 2;

// The same problem with other numbers where batch rows can differ: in all but slopes, sinks and relative biases, and with pages
// in all but keys and values too.
void change(OptionInstance& in) {
  std::reverse(in.query.begin(), in.query.end());
  std::reverse(in.biases.begin(), in.biases.end());
  for (std::size_t t = 0; t < in.range_first.size(); ++t) in.range_first[t] /= 2;
  // The bits behind the last element are not elements.
  if (!in.options.mask_bits) std::reverse(in.visible.begin(), in.visible.end());
  for (std::uint8_t& bits : in.visible) bits = in.options.mask_bits ? std::uint8_t(~bits) : bits;
  if (in.has(page_tables)) return;
  std::reverse(in.key.begin(), in.key.end());
  std::reverse(in.value.begin(), in.value.end());
  std::reverse(in.key_scales.begin(), in.key_scales.end());
  std::reverse(in.value_scales.begin(), in.value_scales.end());
}

// An array of each row after another, with something in between.
template <class Number>
struct Joined {
  std::vector<Number> numbers;
  std::ptrdiff_t stride = 0;

  explicit Joined(const std::vector<Number> (&rows)[batch]) : stride(std::ptrdiff_t(rows[0].size()) + 3) {
    for (const std::vector<Number>& row : rows) {
      numbers.insert(numbers.end(), row.begin(), row.end());
      numbers.insert(numbers.end(), 3, Number(1));
    }
  }
};

Joined<unsigned char> joined_bytes(const Numbers (&rows)[batch], Format format) {
  std::vector<unsigned char> bytes[batch];
  for (int b = 0; b < batch; ++b) {
    const unsigned char* from = reinterpret_cast<const unsigned char*>(const_cast<Numbers&>(rows[b]).data());
    bytes[b].assign(from, from + rows[b].bytes());
  }
  Joined<unsigned char> both(bytes);
  // Whole numbers in between.
  both.numbers.clear();
  const std::size_t gap = 3 * core::format_bytes(format);
  for (const auto& row : bytes) {
    both.numbers.insert(both.numbers.end(), row.begin(), row.end());
    both.numbers.insert(both.numbers.end(), gap, static_cast<unsigned char>(0xff));
  }
  both.stride = std::ptrdiff_t((bytes[0].size() + gap) / core::format_bytes(format));
  return both;
}

// Bits of two rows of so many elements each, from the `first` on; the second does not begin at a byte.
Joined<std::uint8_t> joined_bits(const std::vector<std::uint8_t> (&rows)[batch], std::ptrdiff_t first,
                                 std::ptrdiff_t elements) {
  Joined<std::uint8_t> both(rows);
  both.stride = elements;
  both.numbers.assign(std::size_t(batch * elements + 7) / 8, 0);
  for (std::ptrdiff_t n = 0; n < batch * elements; ++n) {
    const std::ptrdiff_t of_row = first + n % elements;
    const int bit = rows[n / elements][std::size_t(of_row / 8)] >> of_row % 8 & 1;
    both.numbers[std::size_t(n / 8)] = std::uint8_t(both.numbers[std::size_t(n / 8)] | bit << n % 8);
  }
  return both;
}

std::ptrdiff_t element_count(const core::Mask& mask, const OptionShape& s) {
  return (s.queries - 1) * mask.token_stride + (s.query_heads - 1) * mask.head_stride + mask.keys;
}

struct COptions {
  OptionInstance* rows[batch];
  InstanceMemory memory[batch];
  Numbers query[batch];
  Joined<unsigned char> queries, keys, values;
  Joined<std::uint8_t> visible;
  Joined<float> biases, key_scales, value_scales;
  Joined<std::int32_t> pages, range_first, range_end;
  Numbers output;
  std::vector<float> lse_row, score_row;
  attend_problem p;

  COptions(OptionInstance& a, OptionInstance& b)
      : rows{&a, &b},
        memory{{a, false}, {b, false}},
        query{numbers(a), numbers(b)},
        queries(joined_bytes(query, a.options.query_format)),
        keys(joined_bytes({memory[0].keys, memory[1].keys}, a.options.key_format)),
        values(joined_bytes({memory[0].values, memory[1].values}, a.options.value_format)),
        visible(a.options.mask_bits
                    ? joined_bits({a.visible, b.visible}, a.options.mask.first, element_count(a.options.mask, a.s))
                    : Joined<std::uint8_t>({a.visible, b.visible})),
        biases({a.biases, b.biases}),
        key_scales({a.key_scales, b.key_scales}),
        value_scales({a.value_scales, b.value_scales}),
        pages({a.pages, b.pages}),
        range_first({a.range_first, b.range_first}),
        range_end({a.range_end, b.range_end}),
        output(a.options.output_format, batch * output_row()) {
    describe();
  }

  static Numbers numbers(const OptionInstance& in) {
    Numbers query(in.options.query_format, in.query.size());
    for (std::size_t i = 0; i < in.query.size(); ++i) query.set(i, in.query[i]);
    return query;
  }

  std::size_t output_row() const { return row_count(*rows[0]) * output_stride(*rows[0]); }

  void describe() {
    const OptionInstance& in = *rows[0];
    const core::Options& o = in.options;
    if (o.paging.pages != nullptr) {  // all pages are there to their end
      const std::size_t page = 16 * std::size_t(o.paging.page_panels * in.s.kv_heads);
      keys.numbers.resize(keys.numbers.size() + page * std::size_t(in.s.head_dim) * 4);
      values.numbers.resize(values.numbers.size() + page * std::size_t(in.s.value_dim) * 4);
      key_scales.numbers.resize(key_scales.numbers.size() + page);
      value_scales.numbers.resize(value_scales.numbers.size() + page);
    }
    REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
    p.batch = batch;
    p.query_heads = in.s.query_heads, p.kv_heads = in.s.kv_heads, p.head_dim = in.s.head_dim, p.value_dim = in.s.value_dim;
    p.queries = in.s.queries, p.keys = in.s.keys, p.scale = in.s.scale;
    if (in.s.causal) p.options |= ATTEND_CAUSAL;
    const bool placed = in.s.causal || o.left >= 0 || o.right >= 0 || o.alibi_slopes != nullptr || o.relative != nullptr;
    if (placed) p.offset = in.s.offset;
    p.query = {queries.numbers.data(), queries.stride, in.s.query_heads * in.s.head_dim, in.s.head_dim};
    p.key = {keys.numbers.data(), keys.stride, in.s.kv_heads * in.s.head_dim, in.s.head_dim};
    p.value = {values.numbers.data(), values.stride, in.s.kv_heads * in.s.value_dim, in.s.value_dim};
    const auto stride = std::ptrdiff_t(output_stride(in)), score = std::ptrdiff_t(score_stride(in));
    p.output = {output.data(), std::ptrdiff_t(output_row()), stride * in.s.query_heads, stride};
    if (o.left >= 0) p.window_left = o.left, p.sink_tokens = o.sink_tokens;
    if (o.right >= 0) p.window_right = o.right;
    if (o.mask.data != nullptr) {
      p.mask = {visible.numbers.data() + (o.mask_bits ? 0 : o.mask.first),
                visible.stride,
                o.mask.head_stride,
                o.mask.token_stride,
                o.mask.keys,
                o.mask_bits ? ATTEND_MASK_BITS : ATTEND_MASK_BYTES};
    }
    if (o.bias.data != nullptr) {
      p.bias = {biases.numbers.data() + o.bias.first, biases.stride, o.bias.head_stride, o.bias.token_stride, o.bias.keys};
    }
    p.alibi_slopes = o.alibi_slopes;
    if (o.relative != nullptr) p.relative_bias = {o.relative, o.relative_head_stride, o.relative_left, o.relative_right};
    p.sink_logits = o.sink_logits;
    p.soft_cap = o.soft_cap;
    p.bias_stage = o.bias_before_cap ? ATTEND_BIAS_BEFORE_CAP : ATTEND_BIAS_AFTER_CAP;
    p.query_format = int(o.query_format), p.key_format = int(o.key_format);
    p.value_format = int(o.value_format), p.output_format = int(o.output_format);
    const bool int8_keys = o.key_format == Format::int8, int8_values = o.value_format == Format::int8;
    if (int8_keys) p.key_scales = {key_scales.numbers.data(), key_scales.stride, o.key_scale_stride};
    if (int8_values) p.value_scales = {value_scales.numbers.data(), value_scales.stride, o.value_scale_stride};
    p.origin = o.origin;
    if (o.paging.pages != nullptr) {
      const std::ptrdiff_t page_keys = 16 * std::ptrdiff_t(o.paging.page_panels);
      std::int32_t last = 0;
      for (const std::int32_t page : in.pages) last = std::max(last, page);
      p.pages = {pages.numbers.data(), pages.stride, page_keys, last + 1};
    }
    if (in.has(range_lists)) p.ranges = {range_first.numbers.data(), range_end.numbers.data(), range_first.stride};
    lse_row.assign(in.has(lse) ? batch * row_count(in) : 0, untouched);
    if (in.has(lse)) p.lse = {lse_row.data(), std::ptrdiff_t(row_count(in)), in.s.query_heads, 1};
    p.lse_base = o.lse_base2 ? ATTEND_LSE_BASE_2 : ATTEND_LSE_NATURAL;
    score_row.assign(in.has(scores) ? batch * row_count(in) * score_stride(in) : 0, untouched);
    if (in.has(scores)) {
      p.scores = {score_row.data(),      std::ptrdiff_t(row_count(in)) * score, score, score * in.s.query_heads, o.score_keys,
                  int(o.score_stage) + 1};
    }
  }

  OptionResults results(int row) const {
    OptionResults found;
    for (std::size_t i = 0; i < output_row(); ++i) found.output.push_back(output.get(std::size_t(row) * output_row() + i));
    const auto part = [&](const std::vector<float>& all) {
      const auto half = std::ptrdiff_t(all.size()) / batch;
      return std::vector<float>(all.begin() + row * half, all.begin() + (row + 1) * half);
    };
    found.lse = part(lse_row), found.scores = part(score_row);
    return found;
  }

  void run(const Way& way) {
    output.fill(untouched);
    std::fill(lse_row.begin(), lse_row.end(), untouched);
    std::fill(score_row.begin(), score_row.end(), untouched);
    if (way.state_keys > 0 || way.merged) return run_states(way);
    for (int part = 0; part < way.parts; ++part) REQUIRE(run_with_exact_workspace(p, part, way.parts) == ATTEND_OK);
  }

  // The same tensors, as arrays of their own that begin with a later key.
  static void begin_arrays_at(attend_problem& q, const attend_problem& p, std::ptrdiff_t key) {
    const auto later = [key](const attend_input& input, int format) {
      const auto bytes = std::ptrdiff_t(core::format_bytes(Format(format)));
      return static_cast<const unsigned char*>(input.data) + key * input.token_stride * bytes;
    };
    q.origin = key;
    q.key.data = later(p.key, p.key_format), q.value.data = later(p.value, p.value_format);
    if (p.key_scales.data != nullptr) q.key_scales.data = static_cast<const float*>(p.key_scales.data) + key;
    if (p.value_scales.data != nullptr) q.value_scales.data = static_cast<const float*>(p.value_scales.data) + key;
  }

  void run_states(const Way& way) {
    attend_problem q = p;
    std::vector<unsigned char> states(attend_state_size(&q), 0xff), later = states;
    attend_problem none;
    attend_problem_init(&none, sizeof none);
    if (q.scores.stage == ATTEND_SCORES_WEIGHTS) q.scores = none.scores;
    q.states = states.data();
    REQUIRE(attend_begin(&q) == ATTEND_OK);
    const bool in_arrays = p.pages.table == nullptr;
    const std::ptrdiff_t steps = way.merged ? ATTEND_SEGMENT_KEYS : way.state_keys;
    for (std::ptrdiff_t first = 0; first == 0 || first < p.keys; first += steps) {
      const bool apart = way.merged && first > 0;
      q.states = apart ? later.data() : states.data();
      q.first_key = first;
      q.keys = std::min(p.keys, first + steps);
      if (in_arrays) begin_arrays_at(q, p, first);
      if (apart) REQUIRE(attend_begin(&q) == ATTEND_OK);
      REQUIRE(run_with_exact_workspace(q) == ATTEND_OK);
      q.states = states.data();
      if (apart) REQUIRE(attend_merge(&q, later.data()) == ATTEND_OK);
    }
    q.query.data = q.key.data = q.value.data = nullptr;
    const std::vector<std::ptrdiff_t> ends(std::size_t(q.batch), q.keys);  // queries may have positions behind all keys
    if (q.key_lengths == nullptr) q.key_lengths = ends.data();
    REQUIRE(attend_finish(&q) == ATTEND_OK);
  }
};

// With states calls write the scores of their own keys only. What is behind these is here as run_options leaves it.
void fill_up(const OptionInstance& in, std::vector<float>& scores) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const int j = int(i % score_stride(in));
    if (j >= in.s.keys && j < in.options.score_keys && scores[i] == untouched) scores[i] = minus_infinity;
  }
}

std::string compared(std::uint64_t seed, unsigned wishes, const Way& way) {
  RandomInstance first(seed, wishes), second(seed, wishes);
  if (std::abs(std::int64_t(first.s.offset)) > ATTEND_MAX_TOKENS) return "";  // refused with some options
  change(second);
  COptions c(first, second);
  if (attend_check(&c.p) != ATTEND_OK) return first.text() + ": " + explain(attend_check(&c.p));
  c.run(way);
  Way same = way;
  same.parts = 1;
  for (int row = 0; row < batch; ++row) {
    const OptionResults expected = run_options(*c.rows[row], same);
    OptionResults found = c.results(row);
    if (way.state_keys > 0 || way.merged) fill_up(first, found.scores);
    const std::string text = difference(first, found, expected, false);
    if (!text.empty()) return first.text() + " row " + std::to_string(row) + ": " + text;
  }
  return "";
}

Way in_parts(int parts) {
  Way way;
  way.parts = parts;
  return way;
}

Way by_states(int keys, bool merged) {
  Way way;
  way.state_keys = keys, way.merged = merged;
  return way;
}

}  // namespace

TEST_CASE("c options: each by itself and all together have the core's bits, for each row of a batch") {
  for_each_backend([](const char* backend) {
    for (const int round : each_round(150)) {
      const auto seed = std::uint64_t(round);
      Random random(seed);
      unsigned wishes = seed < 48 ? 1u << seed % wish_count : unsigned(random.between(0, (1 << wish_count) - 1));
      if (seed % 3 == 0) wishes |= lse | scores;
      wishes &= ~unsigned(rings | document_lists | int4_formats);  // documents are of one row, int4 of caches
      for (const Way& way : {Way(), in_parts(3), by_states(int(seed % 70) + 1, false), by_states(0, true)}) {
        INFO(backend, " seed ", seed, " parts ", way.parts, " state keys ", way.state_keys, " merged ", way.merged);
        // States take keys from the first on, and arrays with an origin do not have it.
        const bool has_states = way.state_keys > 0 || way.merged;
        const std::string text = compared(seed, has_states ? wishes & ~unsigned(origins | range_lists) : wishes, way);
        REQUIRE(text == "");
      }
    }
  });
}
