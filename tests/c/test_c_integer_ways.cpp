// Integer attention from C has the bytes of the exact model, wherever keys lie and however they are cut: in arrays, a cache, a
// ring or pages; whole, in parts, in states that stop and go on, and in states that are merged.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../conformance/integer_random.h"
#include "../support/instance.h"
#include "../support/rounds.h"
#include "c_integer_world.h"

using namespace attend_test;

namespace {

// A problem of one sequence, and what the model says of it.
class Sequence {
 public:
  Sequence(IntegerCase c, Random& random) : run_(c), random_(random) {
    const IntegerData& d = run_.data;
    attend_integer_problem_init(&p, sizeof p);
    p.query_heads = c.query_heads, p.kv_heads = c.kv_heads, p.head_dim = c.head_dim, p.value_dim = c.value_dim;
    p.queries = c.queries, p.keys = c.keys;
    p.options = c.causal ? ATTEND_CAUSAL : 0;
    p.window_left = c.left, p.window_right = c.right, p.sink_tokens = c.sink_tokens;
    if (c.causal || c.left >= 0 || c.right >= 0) p.offset = c.offset;
    p.query.data = d.query, p.key.data = d.key, p.value.data = d.value, p.output.data = output_.data();
    p.output_format = c.format == Format::int8 ? ATTEND_INT8 : c.format == Format::int16 ? ATTEND_INT16 : ATTEND_FLOAT32;
    if (c.mask != IntegerMask::none) {
      const bool bits = c.mask == IntegerMask::bits;
      p.mask = {d.visible + (bits ? 0 : 1),   0,           c.mask_row(),
                c.mask_row() * c.query_heads, c.mask_keys, bits ? ATTEND_MASK_BITS : ATTEND_MASK_BYTES};
    }
    if (c.key_scales) p.key_scales = {d.key_scales, 0, c.keys};
    if (c.value_scales) p.value_scales = {d.value_scales, 0, c.keys};
    for (int h = 0; h < c.query_heads; ++h) constants_.push_back(constants_of(c, d, h));
    c.head_scales ? p.head_constants = constants_.data() : p.constants = constants_.data();
    defined_ = IntegerModel(c, d).output();
  }

  // Runs a problem, whole or in parts.
  bool run(const attend_problem& problem) {
    std::memset(output_.data(), 0x55, output_.size());
    const int parts = random_.between(0, 1) == 0 ? 1 : random_.between(2, 5);
    for (int part = 0; part < parts; ++part) {
      const attend_status status = run_integers(problem, part, parts);
      CHECK_MESSAGE(status == ATTEND_OK, explain(status));
    }
    return is_defined();
  }
  bool is_defined() const { return output_ == defined_; }

  // A cache that tokens are appended to up to `tokens`, from where it is, some at a time.
  attend_cache* cache(std::ptrdiff_t window_keys, std::ptrdiff_t sink_tokens) {
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = p.kv_heads, shape.head_dim = p.head_dim, shape.value_dim = p.value_dim;
    shape.max_tokens = p.keys + random_.between(0, 70);
    shape.window_keys = window_keys, shape.sink_tokens = sink_tokens, shape.integers = 1;
    cache_memory_.resize(attend_cache_size(&shape) + ATTEND_ALIGNMENT, 0x3c);
    attend_cache* made = nullptr;
    CHECK(attend_cache_init(&shape, at(cache_memory_), attend_cache_size(&shape), &made) == ATTEND_OK);
    return made;
  }
  void append(attend_cache* cache, std::ptrdiff_t tokens) {
    while (attend_cache_tokens(cache, nullptr) < tokens) {
      const std::ptrdiff_t held = attend_cache_tokens(cache, nullptr);
      const std::ptrdiff_t left = tokens - held, count = left > 1 ? random_.between(1, int(left < 90 ? left : 90)) : 1;
      const attend_input key = {run_.data.key + held * p.kv_heads * p.head_dim, 0, p.kv_heads * p.head_dim, p.head_dim};
      const attend_input value = {run_.data.value + held * p.kv_heads * p.value_dim, 0, p.kv_heads * p.value_dim, p.value_dim};
      const attend_status status = attend_integer_cache_append(cache, count, &key, &value);
      REQUIRE_MESSAGE(status == ATTEND_OK, explain(status));
    }
  }
  attend_problem over(const attend_cache* cache) const {
    attend_problem over = p;
    over.key = over.value = {nullptr, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    over.cache = cache;
    return over;
  }

  // Pages of 32 or 64 keys in a random order, twice: all batch rows share the pool.
  attend_problem paged(attend_problem of) {
    const std::ptrdiff_t page = 32 * random_.between(1, 2), needed = (p.keys + page - 1) / page, pages = needed + 3;
    const std::ptrdiff_t rows = pages * page;
    key_pool_.assign(std::size_t(rows * p.kv_heads * p.head_dim), 0x11);
    value_pool_.assign(std::size_t(rows * p.kv_heads * p.value_dim), 0x22);
    pool_scales_[0].assign(std::size_t(rows * p.kv_heads), 0xffff), pool_scales_[1] = pool_scales_[0];
    table_.clear();
    const int first = random_.between(0, int(pages) - 1);
    for (std::ptrdiff_t i = 0; i < needed; ++i) table_.push_back(std::int32_t((first + i * (pages - 1)) % pages));
    for (std::ptrdiff_t j = 0; j < p.keys; ++j) {
      const std::ptrdiff_t row = table_[std::size_t(j / page)] * page + j % page;
      const std::size_t key = std::size_t(p.kv_heads * p.head_dim), value = std::size_t(p.kv_heads * p.value_dim);
      std::memcpy(key_pool_.data() + std::size_t(row) * key, run_.data.key + std::size_t(j) * key, key);
      std::memcpy(value_pool_.data() + std::size_t(row) * value, run_.data.value + std::size_t(j) * value, value);
      for (std::ptrdiff_t head = 0; head < p.kv_heads; ++head) {
        const std::size_t to = std::size_t(head * rows + row), from = std::size_t(head * p.keys + j);
        if (run_.c.key_scales) pool_scales_[0][to] = run_.data.key_scales[from];
        if (run_.c.value_scales) pool_scales_[1][to] = run_.data.value_scales[from];
      }
    }
    of.batch = 1;
    of.key.data = key_pool_.data(), of.value.data = value_pool_.data();
    of.pages = {table_.data(), needed, page, pages};
    if (run_.c.key_scales) of.key_scales = {pool_scales_[0].data(), ATTEND_DENSE, ATTEND_DENSE};
    if (run_.c.value_scales) of.value_scales = {pool_scales_[1].data(), ATTEND_DENSE, ATTEND_DENSE};
    return of;
  }

  // In steps of whole chunks; with merges, from segments on by states of their own.
  bool in_steps(attend_problem of, bool merges) {
    const bool arrays = of.cache == nullptr && of.pages.table == nullptr;
    std::memset(output_.data(), 0x55, output_.size());
    std::vector<unsigned char> later_memory;
    const std::size_t size = attend_state_size(&of);
    state_memory_.resize(size + ATTEND_ALIGNMENT), later_memory.resize(size + ATTEND_ALIGNMENT);
    of.states = at(state_memory_), of.first_key = 0;
    if (arrays) of.origin = 0;
    REQUIRE(attend_begin(&of) == ATTEND_OK);
    attend_problem own = of;
    for (std::ptrdiff_t first = 0; first == 0 || first < p.keys; first = own.keys) {
      own.first_key = first;
      const std::ptrdiff_t step = 32 * random_.between(1, 20);
      own.keys = first + step < p.keys ? first + step : p.keys;
      const bool apart = merges && first > 0 && first % ATTEND_SEGMENT_KEYS == 0;
      if (apart) own.states = at(later_memory), own.keys = first + 512 < p.keys ? first + 512 : p.keys;
      if (merges && !apart && first % 512 + step > 512)
        own.keys = first / 512 * 512 + 512 < p.keys ? first / 512 * 512 + 512 : p.keys;
      if (apart) REQUIRE(attend_begin(&own) == ATTEND_OK);
      const attend_status status = run_integers(own);
      REQUIRE_MESSAGE(status == ATTEND_OK, explain(status));
      if (apart) {
        own.states = of.states;
        REQUIRE(attend_merge(&own, at(later_memory)) == ATTEND_OK);
      }
    }
    own.keys = p.keys;
    const std::ptrdiff_t ends[] = {p.keys};  // queries may have positions behind all keys
    if (own.key_lengths == nullptr) own.batch = 1, own.key_lengths = ends;
    const attend_status status = attend_finish(&own);
    CHECK_MESSAGE(status == ATTEND_OK, explain(status));
    return is_defined();
  }

  std::string text() const { return run_.text(); }
  attend_problem p;

 private:
  static attend_integer_constants constants_of(const IntegerCase& c, const IntegerData& d, int head) {
    const auto& score = d.score_scales[head];
    const auto& output = d.output_scales[head];
    return {score.factor, score.right, score.left,        score.end,   output.factor, output.shift,
            c.query_zero, 0,           output.value_zero, output.zero, 0.7f};
  }
  static unsigned char* at(std::vector<unsigned char>& memory) {
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (ATTEND_ALIGNMENT - address % ATTEND_ALIGNMENT) % ATTEND_ALIGNMENT;
  }

  IntegerRun run_;
  Random& random_;
  std::vector<char> output_ = std::vector<char>(run_.c.output_bytes()), defined_;
  std::vector<attend_integer_constants> constants_;
  std::vector<unsigned char> cache_memory_, state_memory_;
  std::vector<std::int8_t> key_pool_, value_pool_;
  std::vector<std::uint16_t> pool_scales_[2];
  std::vector<std::int32_t> table_;
};

// What constants can hold: zero points of values within a byte, none beside scales of tokens, and none of outputs of floats.
// Masks of bits begin at a byte.
IntegerCase of_c(IntegerCase c) {
  if (c.value_scales) c.value_zero = 0, c.head_scales = false;
  if (c.format == Format::float32) c.zero = 0, c.head_scales = false;
  if (c.head_scales && c.zero - c.query_heads < -128) c.zero = 0;
  if (c.mask == IntegerMask::bits) c.mask = IntegerMask::none;
  c.origin = 0;
  return c;
}

}  // namespace

TEST_CASE("c integer: arrays, caches, pages, parts, steps and merged states have the bytes of the model") {
  for_each_backend([](const char* backend) {
    for (const int i : each_round(300)) {
      Random random(std::uint64_t(i) + 5000);
      IntegerCase c = of_c(i % 3 == 0 ? random_shape(random) : random_options(random, 0));
      Sequence sequence(c, random);
      INFO(std::string(backend), " ", i, ": ", sequence.text());
      CHECK(sequence.run(sequence.p));
      CHECK(sequence.in_steps(sequence.p, false));
      CHECK(sequence.in_steps(sequence.p, true));
      const attend_problem paged = sequence.paged(sequence.p);
      CHECK(sequence.run(paged));
      CHECK(sequence.in_steps(paged, i % 2 == 0));
      if (c.key_scales || c.value_scales) continue;
      attend_cache* const cache = sequence.cache(0, 0);
      sequence.append(cache, c.keys);
      CHECK(sequence.run(sequence.over(cache)));
      CHECK(sequence.in_steps(sequence.over(cache), i % 2 == 0));
    }
  });
}

TEST_CASE("c integer: a ring has the bytes of windows over whole arrays, and says what it has lost") {
  for_each_backend([](const char* backend) {
    for (const int i : each_round(100)) {
      Random random(std::uint64_t(i) + 9000);
      IntegerCase c = of_c(random_options(random, 1));
      c.ring_chunks = c.sink_chunks = 0;
      c.key_scales = c.value_scales = false;
      if (c.queries > c.keys) continue;
      Sequence sequence(c, random);
      INFO(std::string(backend), " ", i, ": ", sequence.text());
      attend_cache* const ring = sequence.cache(c.left + c.queries, c.sink_tokens);
      sequence.append(ring, c.keys);
      const attend_problem over = sequence.over(ring);
      CHECK(sequence.run(over));
      if (c.keys <= c.left + c.queries + 96 || c.sink_tokens > 32) continue;  // it may still hold all
      attend_problem lost = over;
      lost.window_left = c.keys;
      CHECK((c.sink_tokens >= c.keys || attend_check(&lost) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE)));
    }
  });
}
