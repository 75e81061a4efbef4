// Caches of the C surface that hold the tokens of one machine, and begin with a later key than 0.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c_state_world.h"

using namespace attend_test;
using namespace attend_test::taken_apart;

namespace {

struct Formats {
  int key, value;
  std::ptrdiff_t window;
};

struct alignas(ATTEND_ALIGNMENT) Block {
  unsigned char bytes[ATTEND_ALIGNMENT];
};

// A cache of some of the keys alone, exactly as large as they are.
class PartCache {
 public:
  PartCache(const Merged& merged, int first, int end, const Formats& formats) {
    attend_cache_shape shape;
    REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
    shape.kv_heads = 1, shape.head_dim = dim, shape.value_dim = value_dim, shape.max_tokens = end - first;
    shape.window_keys = formats.window;
    shape.integers = merged.integers;
    if (!merged.integers) shape.key_format = formats.key, shape.value_format = formats.value;
    memory_.resize(attend_cache_size(&shape) / sizeof(Block) + 1);
    REQUIRE(attend_cache_init(&shape, memory_.data(), memory_.size() * sizeof(Block), &cache_) == ATTEND_OK);
    const std::size_t bytes = merged.integers ? 1 : sizeof(float);
    const auto from = [&](const attend_input& input) {
      attend_input part = input;
      part.data = static_cast<const unsigned char*>(input.data) + std::size_t(first * input.token_stride) * bytes;
      return part;
    };
    const attend_input key = from(merged.p.key), value = from(merged.p.value);
    REQUIRE((merged.integers ? attend_integer_cache_append(cache_, end - first, &key, &value)
                             : attend_cache_append(cache_, end - first, &key, &value)) == ATTEND_OK);
  }

  // A problem over it in the place of the arrays.
  attend_problem over(const attend_problem& p, int first) const {
    attend_problem q = p;
    q.key = q.value = {nullptr, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    q.cache = cache_, q.origin = first, q.keys = ATTEND_ALL_KEYS;
    return q;
  }

 private:
  std::vector<Block> memory_;
  attend_cache* cache_ = nullptr;
};

constexpr Formats all_formats[] = {
    {ATTEND_FLOAT32, ATTEND_FLOAT32, 0}, {ATTEND_FLOAT16, ATTEND_BFLOAT16, 0}, {ATTEND_INT8, ATTEND_INT8, 0}};

}  // namespace

TEST_CASE("c states: over caches that hold one machine's tokens they have the bits of one cache") {
  for_each_arithmetic(12, [](bool integers, Random& random) {
    const int last = random.between(1, segment - 1), keys = 3 * segment + last;
    Merged merged(integers, keys, 1, random.between(1, 3), random);
    const bool causal = random.between(0, 1) == 0;
    if (causal) merged.p.options = ATTEND_CAUSAL, merged.p.offset = keys - merged.p.queries;
    if (random.between(0, 2) == 0) merged.p.window_left = random.between(0, keys), merged.p.offset = keys - merged.p.queries;
    for (const Formats& formats : all_formats) {
      const PartCache all(merged, 0, keys, formats);
      REQUIRE(run_with_exact_workspace(all.over(merged.p, 0)) == ATTEND_OK);
      const std::vector<float> whole = merged.output();
      std::vector<Merged::States> parts;
      for (const int first : {0, segment, 3 * segment}) {
        const int end = first == 0 ? segment : first == segment ? 3 * segment : keys;
        const PartCache part(merged, first, end, formats);
        attend_problem q = part.over(merged.p, first);
        parts.emplace_back(attend_state_size(&q) / sizeof(float), 1e9f);
        q.states = parts.back().data(), q.first_key = first;
        REQUIRE(attend_begin(&q) == ATTEND_OK);
        if (random.between(0, 1) == 0 && end - first > 64) {
          q.keys = first + 32 * random.between(1, int(end - first - 1) / 32);
          REQUIRE(run_with_exact_workspace(q) == ATTEND_OK);
          q.first_key = q.keys, q.keys = ATTEND_ALL_KEYS;
        }
        REQUIRE(run_with_exact_workspace(q) == ATTEND_OK);
      }
      Merged::States sum = parts[2];
      CHECK(merged.merge(sum, parts[0]) == ATTEND_OK);
      CHECK(merged.merge(sum, parts[1]) == ATTEND_OK);
      CHECK(merged.finish(sum, keys) == ATTEND_OK);
      CHECK(same_bits(merged.output(), whole));
      // Over the first machine's cache, too, which ends before the keys that were taken.
      const PartCache first(merged, 0, segment, formats);
      attend_problem end = first.over(merged.p, 0);
      std::vector<float> output(whole.size(), -7.0f);
      end.states = sum.data(), end.keys = keys, end.output.data = output.data();
      CHECK(attend_finish(&end) == ATTEND_OK);
      CHECK(same_bits(output, whole));
    }
  });
}

TEST_CASE("c states: a cache that is no ring can begin at multiples of 512, up to the states' next key") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 700, 1, 1, random);
    const PartCache cache(merged, 0, 700, all_formats[0]);
    attend_problem q = cache.over(merged.p, 0);
    Merged::States states(attend_state_size(&q) / sizeof(float), 1e9f);
    q.states = states.data(), q.first_key = segment;
    REQUIRE(attend_begin(&q) == ATTEND_OK);
    const Merged::States before = states;
    std::vector<Block> work(attend_workspace_size(&q) / sizeof(Block) + 1);
    const auto refused = [&](std::ptrdiff_t origin, attend_error error) {
      q.origin = origin;
      CHECK(attend_run(&q, work.data(), work.size() * sizeof(Block)) == wrong(error, ATTEND_ARG_ORIGIN));
      CHECK(same_bits(states, before));
    };
    refused(-2, ATTEND_OUT_OF_RANGE), refused(32, ATTEND_OUT_OF_RANGE), refused(513, ATTEND_OUT_OF_RANGE);
    refused(ATTEND_MAX_TOKENS - 512, ATTEND_OUT_OF_RANGE), refused(2 * segment, ATTEND_MISMATCH);
    q.origin = segment, q.keys = segment + 701;
    CHECK(run_with_exact_workspace(q) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEYS));
    q.keys = segment + 700;
    attend_problem anywhere = q;
    anywhere.options = ATTEND_CAUSAL;
    CHECK(attend_check(&anywhere) == wrong(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET));
    anywhere.offset = 5000;
    CHECK(attend_check(&anywhere) == ATTEND_OK);
    CHECK(run_with_exact_workspace(q) == ATTEND_OK);
    // To finish, too: a cache is asked for its end.
    const std::vector<float> output = merged.output();
    const auto not_finished = [&](std::ptrdiff_t origin, attend_error error, attend_argument argument) {
      attend_problem end = q;
      end.origin = origin, end.window_left = 10, end.offset = q.keys;
      CHECK(attend_finish(&end) == wrong(error, argument));
      CHECK(same_bits(merged.output(), output));
    };
    for (const std::ptrdiff_t origin : {std::ptrdiff_t(-2), std::ptrdiff_t(700), PTRDIFF_MAX, PTRDIFF_MIN})
      not_finished(origin, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ORIGIN);
    not_finished(ATTEND_MAX_TOKENS - segment, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ORIGIN);
    q.keys += 1, not_finished(segment, ATTEND_MISMATCH, ATTEND_ARG_KEYS), q.keys -= 1;
    attend_problem end = q;
    end.window_left = 10, end.offset = q.keys;
    CHECK(attend_finish(&end) == ATTEND_OK);
    const PartCache ring(merged, 0, 700, {ATTEND_FLOAT32, ATTEND_FLOAT32, 700});
    q = ring.over(merged.p, segment);
    CHECK(run_with_exact_workspace(q) == wrong(ATTEND_CONFLICT, ATTEND_ARG_ORIGIN));
  });
}
