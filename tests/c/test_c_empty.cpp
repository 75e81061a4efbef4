// Calls of the C surface with nothing to do, as the table of empty work in include/guide/options.md has them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

#include "c_integer_world.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int heads = 2, dim = 4, room = 64;

// What is in an output that was poisoned: all of it the zero, none of it, or nothing was written.
enum Found { untouched, zeros, numbers, others };

struct Calls {
  explicit Calls(bool in_integers) : integers(in_integers) {
    attend_integer_scales scales = integer_scales();
    scales.output_zero_point = -3;
    if (integers) constants = prepared(scales, dim);
    std::memset(inputs, 1, sizeof inputs);
  }

  // Two queries over five keys.
  attend_problem problem() {
    attend_problem p;
    integers ? attend_integer_problem_init(&p, sizeof p) : attend_problem_init(&p, sizeof p);
    p.query_heads = heads, p.kv_heads = 1, p.head_dim = p.value_dim = dim;
    p.queries = 2, p.keys = 5;
    p.query.data = p.key.data = p.value.data = inputs;
    p.output.data = output;
    if (integers) p.constants = &constants;
    return p;
  }
  Found found() {
    const std::size_t size = integers ? 1 : sizeof(float);
    int zero = 0, poison = 0;
    for (int i = 0; i < 2 * heads * dim; ++i) {
      const char* const number = output + std::size_t(i) * size;
      float of_float = 0;
      std::memcpy(&of_float, number, size);
      zero += integers ? static_cast<signed char>(*number) == -3 : of_float == 0;
      poison += *number == 0x55;
    }
    std::memset(output, 0x55, sizeof output);
    constexpr int all = 2 * heads * dim;
    return poison == all ? untouched : zero == all ? zeros : zero == 0 && poison == 0 ? numbers : others;
  }
  void gives(Found expected, attend_status status) {
    CHECK_MESSAGE(status == ATTEND_OK, attend_argument_name(status), ": ", attend_error_text(status));
    CHECK(found() == expected);
  }
  void refused(attend_error error, attend_argument argument, attend_status status) {
    CHECK(status == wrong(error, argument));
    CHECK(found() == untouched);
  }

  const bool integers;
  attend_integer_constants constants;
  char inputs[5 * heads * dim * sizeof(float)], output[room * sizeof(float)];
};

attend_status run(const attend_problem& p) {
  const attend_status status = attend_check(&p);
  return status == ATTEND_OK ? run_with_exact_workspace(p) : status;
}

}  // namespace

TEST_CASE("c empty work: no keys, no queries, empty batches, documents and caches") {
  for (const bool integers : {false, true}) {
    CAPTURE(integers);
    Calls calls(integers);
    std::memset(calls.output, 0x55, sizeof calls.output);
    attend_problem p = calls.problem();
    p.keys = 0, calls.gives(zeros, run(p));
    p.options = ATTEND_CAUSAL, calls.refused(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET, run(p));
    p.offset = 0, calls.gives(zeros, run(p));
    p = calls.problem(), p.queries = 0, calls.gives(untouched, run(p));
    p.options = ATTEND_CAUSAL, calls.gives(untouched, run(p));
    p.keys = 0, calls.gives(untouched, run(p));
    p.query.data = p.key.data = p.value.data = nullptr, p.output.data = nullptr;
    p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM, calls.gives(untouched, run(p));
    p = calls.problem(), p.batch = 0, calls.gives(untouched, run(p));
    const std::int32_t page[] = {0};
    p.pages = {page, ATTEND_DENSE, 32, 1}, p.key.data = p.value.data = nullptr;
    if (integers) p.key_scales.data = calls.inputs + 1;
    calls.gives(untouched, run(p));
    const std::ptrdiff_t lengths[] = {0};
    p = calls.problem(), p.batch = 1, p.key_lengths = lengths, calls.gives(zeros, run(p));

    const std::uint8_t hides[5] = {};
    p = calls.problem(), p.mask.data = hides, p.mask.kind = ATTEND_MASK_BYTES, p.mask.query_stride = p.mask.head_stride = 0;
    calls.gives(zeros, run(p));
    const std::int32_t first[] = {2, 0}, end[] = {2, 0};
    p = calls.problem(), p.ranges.first = first, p.ranges.end = end, calls.gives(zeros, run(p));

    const std::int32_t boundaries[] = {0, 0, 2, 2}, none[] = {0, 0};
    p = calls.problem(), p.keys = 2, p.documents = {boundaries, 3}, calls.gives(numbers, run(p));
    p = calls.problem(), p.queries = p.keys = 0, p.documents = {none, 1}, calls.gives(untouched, run(p));
    p.documents = {none, 0}, calls.gives(untouched, run(p));
    p = calls.problem(), p.keys = 2, p.documents = {boundaries, 0};
    calls.refused(ATTEND_OUT_OF_RANGE, ATTEND_ARG_DOCUMENTS, run(p));

    attend_cache_shape shape;
    REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
    shape.kv_heads = 1, shape.head_dim = shape.value_dim = dim, shape.max_tokens = 9, shape.integers = integers;
    std::vector<char> memory(attend_cache_size(&shape) + ATTEND_ALIGNMENT);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory.data()) % ATTEND_ALIGNMENT;
    attend_cache* cache = nullptr;
    REQUIRE(attend_cache_init(&shape, memory.data() + (ATTEND_ALIGNMENT - past), attend_cache_size(&shape), &cache) ==
            ATTEND_OK);
    p = calls.problem(), p.cache = cache, p.key.data = p.value.data = nullptr, p.keys = ATTEND_ALL_KEYS;
    calls.refused(ATTEND_AMBIGUOUS, ATTEND_ARG_KEYS, run(p));
    p.key_lengths = lengths, p.batch = 1, calls.gives(zeros, run(p));
    p.key_lengths = nullptr, p.keys = 0, calls.gives(zeros, run(p));
    p.key_format = p.value_format = integers ? ATTEND_INT8 : ATTEND_FLOAT32, calls.gives(zeros, run(p));
    p.keys = ATTEND_ALL_KEYS, p.queries = 0, calls.gives(untouched, run(p));
  }
}

TEST_CASE("c empty work: states that have taken nothing") {
  for (const bool integers : {false, true}) {
    CAPTURE(integers);
    Calls calls(integers);
    std::memset(calls.output, 0x55, sizeof calls.output);
    attend_problem p = calls.problem();
    std::vector<float> states(attend_state_size(&p) / sizeof(float)), others = states;
    std::vector<char> saved(attend_saved_size(&p));
    const auto with = [&](std::vector<float>& of, std::ptrdiff_t from, std::ptrdiff_t keys) {
      attend_problem q = calls.problem();
      q.states = of.data(), q.first_key = from, q.keys = keys, q.origin = 0;
      q.key.head_stride = q.value.head_stride = dim;
      return q;
    };
    p = with(states, 0, 0), calls.gives(untouched, attend_begin(&p));
    calls.gives(zeros, attend_finish(&p));
    calls.gives(untouched, attend_save(&p, saved.data(), saved.size(), nullptr));
    calls.gives(untouched, run(p));
    calls.gives(zeros, attend_finish(&p));
    p = with(others, 512, 512), calls.gives(untouched, attend_begin(&p));
    p.origin = 512, calls.gives(untouched, run(p));
    calls.gives(untouched, attend_save(&p, saved.data(), saved.size(), nullptr));
    p = with(states, 0, 5), calls.gives(untouched, run(p));
    const std::vector<float> taken = states;
    p.first_key = 5, calls.gives(untouched, run(p));
    CHECK(std::memcmp(states.data(), taken.data(), sizeof(float) * states.size()) == 0);
    p.first_key = 0;
    calls.gives(untouched, attend_merge(&p, others.data()));
    CHECK(std::memcmp(states.data(), taken.data(), sizeof(float) * states.size()) == 0);
    calls.gives(numbers, attend_finish(&p));
    p = with(others, 512, 5), calls.gives(untouched, attend_merge(&p, states.data()));
    p.first_key = 0, calls.gives(numbers, attend_finish(&p));
    p = with(others, 0, 5), p.queries = 0, calls.gives(untouched, attend_begin(&p));
    calls.gives(untouched, run(p));
    calls.gives(untouched, attend_finish(&p));
    p.states = states.data(), calls.gives(untouched, attend_begin(&p));
    calls.gives(untouched, attend_merge(&p, others.data()));
  }
}

// A fuzzer found them.
TEST_CASE("c empty work: what looks at each row of a batch has nothing to look at where there are no queries") {
  Calls calls(false);
  alignas(64) float states[16];
  const std::int32_t numbers[] = {0, 5};
  attend_problem p = calls.problem();
  p.batch = 1 << 29, p.queries = 0;
  const std::clock_t begin = std::clock();
  attend_problem q = p;
  q.states = states, q.origin = 0;
  REQUIRE(attend_state_size(&q) <= sizeof states);
  CHECK(attend_begin(&q) == ATTEND_OK);
  q = p, q.ranges = {numbers, nullptr, 0};
  CHECK((attend_check(&q) == ATTEND_OK) == (sizeof(void*) > 4));  // numbers of so many rows are 2^31 bytes
  q = p, q.pages = {numbers, 0, 16, 1};
  CHECK(attend_check(&q) == ATTEND_OK);
  CHECK(std::clock() - begin < CLOCKS_PER_SEC / 4);
}
