// A problem with options, run in all the ways that must give the same bits, and what the definition says of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "cache_call.h"
#include "option_instance.h"

namespace attend_test {

// What a call writes, with the gaps between rows, where nothing may be written.
struct OptionResults {
  std::vector<float> output, lse, scores;
};

constexpr float untouched = -7.0f;
constexpr double per_ln2 = 1.4426950408889634;  // log-sum-exps in base 2

inline std::size_t output_stride(const OptionInstance& in) { return std::size_t(in.s.value_dim + in.gap); }
inline std::size_t score_stride(const OptionInstance& in) { return std::size_t(in.options.score_keys + in.gap); }
inline std::size_t row_count(const OptionInstance& in) { return std::size_t(in.s.queries * in.s.query_heads); }

enum class Call { options, plain };  // the last is of instances without options

struct Way {
  Call call = Call::options;
  bool panels = false;
  int rows = 96, keys = 64;  // blocks
  int parts = 1;             // each with a scratch of its own
  int state_keys = 0;        // states that stop after so many keys and go on; 0: none
  bool merged = false;       // states of one segment each, merged
  std::function<std::shared_ptr<float>(const void*, std::size_t)> guard = {};  // copies keys or values to other memory
};

// Keys and values in memory, as arrays or as the panels of a cache. What lies between them is poison.
struct InstanceMemory {
  Numbers keys, values;
  core::Problem problem{};

  InstanceMemory(OptionInstance& in, bool panels) {
    const auto& s = in.s;
    const int places = panels ? (in.places + 15) / 16 * 16 : in.places;
    const auto rows = std::size_t(places * s.kv_heads);
    keys = Numbers(in.options.key_format, rows * std::size_t(s.head_dim), panels);
    values = Numbers(in.options.value_format, std::size_t(in.places * s.kv_heads * s.value_dim));
    keys.fill(poison(1)[0]);
    values.fill(poison(1)[0]);
    const auto set = [](Numbers& to, std::size_t place, Format format, const std::vector<float>& from, std::size_t i) {
      if (format == Format::int4 && i % 32 == 0) to.set_scale(place, narrowed(double(OptionInstance::int4_scale(i)), 10));
      to.set(place, from[i]);
    };
    for (int j = 0; j < s.keys; ++j) {
      if (!in.exists(j)) continue;
      const int place = in.place(j);
      for (int kv = 0; kv < s.kv_heads; ++kv) {
        for (int d = 0; d < s.head_dim; ++d) {
          const int to = panels ? ((kv * (places / 16) + place / 16) * s.head_dim + d) * 16 + place % 16
                                : (place * s.kv_heads + kv) * s.head_dim + d;
          set(keys, std::size_t(to), in.options.key_format, in.key, std::size_t((j * s.kv_heads + kv) * s.head_dim + d));
        }
        for (int c = 0; c < s.value_dim; ++c) {
          const int to = panels ? (kv * in.places + place) * s.value_dim + c : (place * s.kv_heads + kv) * s.value_dim + c;
          set(values, std::size_t(to), in.options.value_format, in.value, std::size_t((j * s.kv_heads + kv) * s.value_dim + c));
        }
      }
    }
    core::Problem& p = problem;
    p.key = {keys.data(), s.kv_heads * s.head_dim, s.head_dim};
    p.value = {values.data(), s.kv_heads * s.value_dim, s.value_dim};
    if (panels) p.key = {keys.data(), 0, places * s.head_dim}, p.value = {values.data(), s.value_dim, in.places * s.value_dim};
    p.query_heads = s.query_heads, p.kv_heads = s.kv_heads, p.head_dim = s.head_dim, p.value_dim = s.value_dim;
    p.queries = s.queries, p.keys = s.keys, p.offset = s.offset, p.scale = s.scale, p.causal = s.causal;
    p.key_panels = panels;
  }
};

// Scratch of exactly the promised size and alignment, poisoned, so that an address sanitizer sees every step beyond it.
class Scratch {
 public:
  explicit Scratch(std::size_t count) : data_(static_cast<float*>(::operator new(count * sizeof(float), alignment))) {
    std::fill(data_, data_ + count, poison(1)[0]);
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() { ::operator delete(data_, alignment); }

  float* data() { return data_; }

 private:
  static constexpr std::align_val_t alignment{attend::config::alignment};
  float* data_;
};

template <class AnyOptions>
void run_with_scratch(core::Problem p, const AnyOptions& options, const Way& way) {
  constexpr bool ranged = sizeof options > sizeof(core::Options);
  for (int part = 0; part < way.parts; ++part) {
    Scratch scratch(core::option_scratch_floats(way.rows, way.keys, p.head_dim, p.value_dim));
    p.row_block = way.rows, p.key_block = way.keys, p.scratch = scratch.data();
    if (way.parts == 1 && !ranged && is_cache_call(p, options) && (p.queries + p.keys) % 2 == 0) {
      run_cache(p, options, (p.queries + p.keys) % 4 == 0);
    } else if (way.parts == 1) {
      core::Floats::run(p, options);
    } else {
      core::Floats::run_part(p, options, part, way.parts);
    }
  }
}

// The calls that know no options.
inline void run_plain(core::Problem p, const Way& way) {
  for (int part = 0; part < way.parts; ++part) {
    Scratch scratch(core::scratch_floats(way.rows, way.keys, p.head_dim, p.value_dim, p.keys, p.key_panels));
    p.row_block = way.rows, p.key_block = way.keys, p.scratch = scratch.data();
    if (way.parts == 1) {
      core::Floats::run(p);
    } else {
      core::Floats::run_part(p, part, way.parts);
    }
  }
}

inline void finish_states(core::Problem p, const core::Options& options) {
  p.query = p.key = p.value = {};
  p.scratch = nullptr;
  core::Floats::finish(p, options);
}

// States of the whole, in calls that stop after state_keys more keys, or of segments by themselves that are then merged: every
// other one, the last first.
inline void run_states(core::Problem p, core::Options options, const Way& way, int gap) {
  const int keys = p.keys, segments = std::max(1, (keys + attend::segment_keys - 1) / attend::segment_keys),
            rows = p.queries * p.query_heads;
  const int nodes = way.merged ? segments : core::state_nodes(keys), row = int(core::state_floats(p.value_dim, nodes));
  // Merging takes rows side by side.
  const int stride = way.merged ? row : row + gap;
  std::vector<float> states = poison(std::size_t(rows * stride)), later = poison(states.size());
  const core::Tensor<void> output = p.output;
  p.output = {};
  if (options.score_stage == core::Scores::weights) options.scores = {};
  const int step = way.merged ? attend::segment_keys : way.state_keys, calls = std::max(1, (keys + step - 1) / step);
  for (int n = 0; n < calls; ++n) {
    const bool apart = way.merged && n > 0;
    const int last = calls - 1, call = !way.merged ? n : 2 * n <= last ? last - 2 * n : last - 1 - 2 * (n - 1 - last / 2);
    options.states = {apart ? later.data() : states.data(), p.query_heads * stride, stride};
    options.first_key = call * step;
    options.begins = way.merged || call == 0;
    p.keys = std::min(keys, (call + 1) * step);
    run_with_scratch(p, options, way);
    if (apart) core::Floats::merge(states.data(), later.data(), false, rows, p.value_dim, nodes);
  }
  options.states.data = states.data();
  p.output = output;
  p.keys = keys;
  finish_states(p, options);
}

inline OptionResults run_options(OptionInstance& in, const Way& way = {}) {
  InstanceMemory memory(in, way.panels);
  core::Problem p = memory.problem;
  core::Options options = in.options;
  std::shared_ptr<float> keys, values;
  if (way.guard) {
    keys = way.guard(memory.keys.data(), memory.keys.bytes()), values = way.guard(memory.values.data(), memory.values.bytes());
    p.key.data = keys.get(), p.value.data = values.get();
  }
  Numbers query(options.query_format, in.query.size());
  for (std::size_t i = 0; i < in.query.size(); ++i) query.set(i, in.query[i]);
  Numbers output(options.output_format, row_count(in) * output_stride(in));
  output.fill(untouched);
  OptionResults results;
  p.query = {query.data(), in.s.query_heads * in.s.head_dim, in.s.head_dim};
  p.output = {output.data(), std::ptrdiff_t(output_stride(in)) * in.s.query_heads, std::ptrdiff_t(output_stride(in))};
  if (in.has(lse)) {
    results.lse.assign(row_count(in), untouched);
    options.lse = {results.lse.data(), in.s.query_heads, 1};
  }
  if (in.has(scores)) {
    const auto stride = std::ptrdiff_t(score_stride(in));
    results.scores.assign(row_count(in) * score_stride(in), untouched);
    options.scores = {results.scores.data(), stride * in.s.query_heads, stride};
  }
  if (way.call != Call::options) {
    run_plain(p, way);
  } else if (way.state_keys > 0 || way.merged) {
    run_states(p, options, way, in.gap);
  } else if (in.has(range_lists | document_lists)) {
    core::RangedOptions ranged;
    static_cast<core::Options&>(ranged) = options;
    if (in.has(range_lists)) ranged.ranges.first = in.range_first.data(), ranged.ranges.end = in.range_end.data();
    if (in.has(document_lists)) {
      ranged.ranges.boundaries = in.boundaries.data();
      ranged.ranges.documents = int(in.boundaries.size()) - 1;
    }
    run_with_scratch(p, ranged, way);
  } else {
    run_with_scratch(p, options, way);
  }
  // States write the scores of the keys that there are. A later call may write others.
  if (in.has(scores) && (way.state_keys > 0 || way.merged)) {
    for (std::size_t r = 0; r < row_count(in); ++r) {
      for (int j = in.s.keys; j < in.options.score_keys; ++j) {
        float& score = results.scores[r * score_stride(in) + std::size_t(j)];
        if (score == untouched) score = minus_infinity;
      }
    }
  }
  results.output.reserve(output.size());
  for (std::size_t i = 0; i < output.size(); ++i) results.output.push_back(output.get(i));
  return results;
}

// Some of the ways, for tests of what must not be read.
inline std::vector<Way> some_ways(const OptionInstance& in) {
  std::vector<Way> all;
  for (const bool panels : {false, true}) {
    if (panels && !in.fits_panels()) continue;
    for (const auto& [rows, keys] : {std::pair{96, 64}, {1, 128}, {6, 128}}) {
      Way way;
      way.panels = panels, way.rows = rows, way.keys = keys;
      all.push_back(way);
    }
    if (in.has(rings | range_lists | document_lists) || in.options.score_stage == core::Scores::weights) continue;
    Way way;
    way.panels = panels, way.state_keys = 23;
    all.push_back(way);
  }
  return all;
}

// What the definition says. lse is rounded from what is nearly exact.
inline OptionResults defined_results(const OptionInstance& in) {
  OptionResults results;
  const auto gap = std::size_t(in.gap);
  results.output.reserve(row_count(in) * output_stride(in));
  for (int t = 0; t < in.s.queries; ++t) {
    for (int h = 0; h < in.s.query_heads; ++h) {
      DefinedRow row = defined_row(in.row(t, h));
      for (const float x : row.output) results.output.push_back(rounded_to(in.options.output_format, x));
      results.output.insert(results.output.end(), gap, rounded_to(in.options.output_format, untouched));
      if (in.has(lse)) results.lse.push_back(float(in.options.lse_base2 ? row.lse * per_ln2 : row.lse));
      if (!in.has(scores)) continue;
      const core::Scores stage = in.options.score_stage;
      std::vector<float>& shown = stage == core::Scores::raw      ? row.raw
                                  : stage == core::Scores::capped ? row.capped
                                  : stage == core::Scores::biased ? row.biased
                                                                  : row.weights;
      const float masked = stage == core::Scores::weights ? 0.0f : minus_infinity;
      shown.insert(shown.begin(), std::size_t(in.document_begin(t)), masked);
      shown.resize(std::size_t(in.options.score_keys), masked);
      results.scores.insert(results.scores.end(), shown.begin(), shown.end());
      results.scores.insert(results.scores.end(), gap, untouched);
    }
  }
  return results;
}

// Where two results first differ, in words; empty where nowhere. The sign of a zero and what kind of NaN it is are not
// promised, nor weights below 2^-118 (2^-125 of the largest, which may be one of a hundred).
inline std::string difference(const OptionInstance& in, const OptionResults& found, const OptionResults& expected,
                              bool close_lse) {
  const auto compare = [&](const char* name, const std::vector<float>& a, const std::vector<float>& b, std::size_t row,
                           auto&& same) -> std::string {
    if (a.size() != b.size()) return std::string(name) + " of another size";
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((std::isnan(a[i]) && std::isnan(b[i])) || same(a[i], b[i])) continue;
      const std::size_t r = i / row, heads = std::size_t(in.s.query_heads);
      char text[200];
      std::snprintf(text, sizeof text, "%s of token %zu head %zu at %zu: %.9g instead of %.9g", name, r / heads, r % heads,
                    i % row, double(a[i]), double(b[i]));
      return text;
    }
    return "";
  };
  const auto equal = [](float a, float b) { return a == b || (std::fabs(a) < 0x1p-114f && std::fabs(b) < 0x1p-114f); };
  std::string text = compare("output", found.output, expected.output, output_stride(in), equal);
  if (text.empty()) {
    text = compare("lse", found.lse, expected.lse, 1,
                   [&](float a, float b) { return a == b || (close_lse && std::fabs(a - b) <= 0x1p-22f * std::fabs(b)); });
  }
  if (text.empty()) text = compare("score", found.scores, expected.scores, std::max<std::size_t>(1, score_stride(in)), equal);
  return text;
}

}  // namespace attend_test
