// Problems and caches without options: the bits of problems that could have them, and refusals of everything else.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "c_cases.h"

using namespace attend_test;

namespace {

constexpr attend_status only_options = ATTEND_UNAVAILABLE | ATTEND_ARG_ARITHMETIC << 8;

attend_problem as_plain(const attend_problem& problem) {
  attend_problem plain, made = problem;
  REQUIRE(attend_plain_problem_init(&plain, sizeof plain) == ATTEND_OK);
  made.arithmetic = plain.arithmetic;
  return made;
}

}  // namespace

TEST_CASE("c surface, plain problems: the bits of other problems, with as much work memory, over arrays and caches") {
  for_each_backend([](const char* backend) {
    for (const Case& c : cases()) {
      INFO(backend, " ", c.text());
      std::vector<float> output(c.expected.size(), untouched());
      attend_problem p = c.problem();
      p.query.data = c.query.data(), p.key.data = c.key.data(), p.value.data = c.value.data(), p.output.data = output.data();
      const attend_problem plain = as_plain(p);
      CHECK(attend_workspace_size(&plain) == attend_workspace_size(&p));
      REQUIRE(run_with_exact_workspace(plain) == ATTEND_OK);
      CHECK(same_bits(output, c.expected));
      CHECK(attend_run_part(&plain, 0, 2, output.data(), 4) == only_options);
    }
  });
}

TEST_CASE("c surface, plain problems: each option, format and state is refused, and nothing is written") {
  static float numbers[64], out[8];
  static uint8_t mask[8];
  static float states[512];
  const auto made = [] {
    attend_problem p;
    REQUIRE(attend_plain_problem_init(&p, sizeof p) == ATTEND_OK);
    p.query_heads = p.kv_heads = 1, p.head_dim = p.value_dim = 4, p.queries = p.keys = 2;
    p.query.data = p.key.data = p.value.data = numbers, p.output.data = out;
    return p;
  };
  const attend_problem usual = made();
  REQUIRE(run_with_exact_workspace(usual) == ATTEND_OK);
  using Set = void (*)(attend_problem&);
  const Set options[] = {
      [](attend_problem& p) { p.window_left = 1; },
      [](attend_problem& p) { p.soft_cap = 3; },
      [](attend_problem& p) { p.mask.data = mask, p.mask.kind = ATTEND_MASK_BYTES; },
      [](attend_problem& p) { p.bias.data = numbers; },
      [](attend_problem& p) { p.lse.data = out + 4; },
      [](attend_problem& p) { p.sink_logits = numbers; },
      [](attend_problem& p) { p.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST; },
      [](attend_problem& p) { p.query_format = p.output_format = ATTEND_FLOAT16; },
      [](attend_problem& p) { p.key_format = p.value_format = ATTEND_BFLOAT16; },
      [](attend_problem& p) { p.batch = 1, p.pages.table = reinterpret_cast<const int32_t*>(numbers), p.pages.page_keys = 16; },
      [](attend_problem& p) { p.states = states; },
  };
  for (const Set set : options) {
    attend_problem p = made();
    set(p);
    std::memset(out, 0x55, sizeof out);
    std::vector<float> before(out, out + 8);
    CHECK(attend_check(&p) == only_options);
    CHECK(attend_workspace_size(&p) == 0);
    CHECK(attend_run(&p, states, sizeof states) == only_options);
    CHECK(std::memcmp(before.data(), out, sizeof out) == 0);
  }
  attend_problem p = made();
  CHECK(attend_state_size(&p) == 0);
  CHECK(attend_saved_size(&p) == 0);
  p.states = states;
  CHECK(attend_begin(&p) == only_options);
  CHECK(attend_finish(&p) == only_options);
  CHECK(attend_merge(&p, states + 256) == only_options);
  CHECK(attend_save(&p, out, sizeof out, nullptr) == only_options);
  CHECK(attend_load(&p, out, sizeof out) == only_options);
}

TEST_CASE("c surface, plain problems: nothing between fields counts, rows may have lengths of their own, and none") {
  attend_problem p, bytes;
  REQUIRE(attend_plain_problem_init(&p, sizeof p) == ATTEND_OK);
  static float numbers[64], out[2][8], usual_out[2][8];
  for (int i = 0; i < 64; ++i) numbers[i] = float(i % 11) / 4;
  const std::ptrdiff_t lengths[] = {3, 1};
  p.batch = 2, p.key_lengths = lengths;
  p.query_heads = p.kv_heads = 1, p.head_dim = p.value_dim = 4, p.queries = 2, p.keys = 3;
  p.query.data = p.key.data = p.value.data = numbers, p.output.data = out;
  bytes = p;
  unsigned char* const between = reinterpret_cast<unsigned char*>(&bytes);
  const std::size_t after_mask = offsetof(attend_problem, mask.kind) + sizeof(int),
                    after_scores = offsetof(attend_problem, scores.stage) + sizeof(int);
  std::memset(between + after_mask, 0x5a, offsetof(attend_problem, ranges) - after_mask);
  std::memset(between + after_scores, 0x5a, offsetof(attend_problem, states) - after_scores);
  REQUIRE(run_with_exact_workspace(bytes) == ATTEND_OK);
  REQUIRE(attend_problem_init(&bytes, sizeof bytes) == ATTEND_OK);
  p.arithmetic = bytes.arithmetic, p.output.data = usual_out;
  REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
  CHECK(std::memcmp(out, usual_out, sizeof out) == 0);
  p.queries = 0, p.query.data = nullptr, p.output.data = nullptr;
  CHECK(run_with_exact_workspace(as_plain(p)) == ATTEND_OK);
}

TEST_CASE("c surface, plain caches: the bits of attend_cache_append, and other caches are refused as they were") {
  for (const int kind : {0, 1, 2, 3}) {
    attend_cache_shape shape;
    REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
    shape.kv_heads = 2, shape.head_dim = 4, shape.value_dim = 3, shape.max_tokens = 40;
    if (kind == 1) shape.value_format = ATTEND_FLOAT16;
    if (kind == 2) shape.window_keys = 8;
    if (kind == 3) shape.integers = 1;
    alignas(ATTEND_ALIGNMENT) static unsigned char memory[2][8192];
    REQUIRE(attend_cache_size(&shape) <= sizeof memory[0]);
    std::memset(memory, 0, sizeof memory);
    attend_cache* caches[2];
    for (int i = 0; i < 2; ++i) REQUIRE(attend_cache_init(&shape, memory[i], sizeof memory[i], &caches[i]) == ATTEND_OK);
    attend_problem p;
    REQUIRE(attend_plain_problem_init(&p, sizeof p) == ATTEND_OK);
    attend_input key = p.key, value = p.value;
    static float numbers[20 * 8];
    for (int i = 0; i < 20 * 8; ++i) numbers[i] = float(i % 13) / 8;
    key.data = numbers, value.data = numbers;
    const attend_status status = attend_plain_cache_append(caches[0], 17, &key, &value);
    if (kind != 0) {
      CHECK(status == ((kind == 3 ? ATTEND_MISMATCH : ATTEND_UNAVAILABLE) | ATTEND_ARG_CACHE << 8));
    } else {
      CHECK(status == ATTEND_OK);
      CHECK(attend_cache_append(caches[1], 17, &key, &value) == ATTEND_OK);
    }
    CHECK(std::memcmp(memory[0], memory[1], sizeof memory[0]) == 0);
    if (kind == 0 || kind == 3) continue;
    CHECK(attend_cache_append(caches[1], 17, &key, &value) == ATTEND_OK);
    static float out[8];
    p.query_heads = p.kv_heads = 2, p.head_dim = 4, p.value_dim = 3, p.queries = 1, p.cache = caches[1];
    p.query.data = numbers, p.output.data = out;
    CHECK(attend_check(&p) == only_options);
  }
}
