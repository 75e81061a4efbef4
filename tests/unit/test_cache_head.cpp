// The heads of a cache and of a state of linear attention of the C surface: whoever writes another one, with a check sum that
// is right, is told so when an extent, a format or a number of tokens cannot be.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../src/c/surface.h"
#include "../../src/linear_attention/linear_surface.h"

namespace {

struct Field {
  const char* name;
  std::int32_t attend_cache::*member;
  std::int32_t least, peak_tokens;
};

constexpr int most_tokens = 40, held = 30, most_held = 35;

constexpr Field fields[] = {
    {"kv_heads", &attend_cache::kv_heads, 1, ATTEND_MAX_WIDTH},
    {"head_dim", &attend_cache::head_dim, 1, ATTEND_MAX_WIDTH},
    {"value_dim", &attend_cache::value_dim, 1, ATTEND_MAX_WIDTH},
    {"max_tokens", &attend_cache::max_tokens, most_held, ATTEND_MAX_TOKENS},
    {"key_format", &attend_cache::key_format, ATTEND_FLOAT32, ATTEND_INT8},
    {"value_format", &attend_cache::value_format, ATTEND_FLOAT32, ATTEND_INT8},
    {"ring_panels", &attend_cache::ring_panels, 0, ATTEND_MAX_TOKENS / attend::panel_keys + 1},
    {"sink_panels", &attend_cache::sink_panels, 0, ATTEND_MAX_TOKENS / attend::panel_keys + 1},
    {"tokens", &attend_cache::tokens, 0, most_held},
    {"most", &attend_cache::peak_tokens, held, most_tokens},
    {"layout", &attend_cache::layout, 0, 3},  // 4: values in keys, which are narrower than these values
};

// What a call says of a cache of 30 tokens that held 35 once, whose head somebody has changed.
template <class Change>
int status_after(const Change& change) {
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = 1, shape.head_dim = 2, shape.value_dim = 3, shape.max_tokens = most_tokens;
  alignas(ATTEND_ALIGNMENT) static unsigned char memory[4096];  // not where addresses of 32 bits end
  attend_cache* cache = nullptr;
  REQUIRE(attend_cache_init(&shape, memory, sizeof memory, &cache) == ATTEND_OK);
  const std::vector<float> numbers(most_tokens * 3, 1.0f);
  const attend_input input = {numbers.data(), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
  REQUIRE(attend_cache_append(cache, most_held, &input, &input) == ATTEND_OK);
  REQUIRE(attend_cache_truncate(cache, held) == ATTEND_OK);
  change(*cache);
  cache->check = attend::c_surface::check_of(*cache);
  return attend_cache_truncate(cache, 0);
}
int status_with(const Field& field, std::int32_t number) {
  return status_after([&](attend_cache& head) { head.*field.member = number; });
}

}  // namespace

TEST_CASE("the head of a cache whose check sum is right: what cannot be is corrupt, what can be is not") {
  constexpr int corrupt = int(ATTEND_CORRUPT) | int(ATTEND_ARG_CACHE) << 8;
  for (const Field& field : fields) {
    INFO(std::string(field.name));
    CHECK(status_with(field, field.least) == ATTEND_OK);
    // Where addresses have 32 bits, memory for the most tokens cannot be.
    const std::string name = field.name;
    const bool fits = sizeof(void*) > 4 || (name != "max_tokens" && name != "ring_panels");
    CHECK(status_with(field, field.peak_tokens) == (fits ? ATTEND_OK : corrupt));
    CHECK(status_with(field, field.least - 1) == corrupt);
    CHECK(status_with(field, field.peak_tokens + 1) == corrupt);
  }
  CHECK(status_after([](attend_cache& head) { head.layout = 8; }) == corrupt);
  // Groups of 32 dimensions, where there are 2 and 3.
  CHECK(status_after([](attend_cache& head) { head.key_format = ATTEND_INT4; }) == corrupt);
  CHECK(status_after([](attend_cache& head) { head.value_format = ATTEND_INT4; }) == corrupt);
  for (const auto integers : {attend::c_surface::integer_rows, attend::c_surface::integer_quads})
    CHECK(status_after([&](attend_cache& head) { head.key_format = integers; }) == corrupt);
  const auto in_keys = [](attend_cache& head) { head.layout = 4, head.value_dim = 2; };
  CHECK(status_after(in_keys) == ATTEND_OK);
  CHECK(status_after([&](attend_cache& head) { in_keys(head), head.ring_panels = 1; }) == corrupt);
}

TEST_CASE("the head of a state of linear attention whose check sum is right: extents that cannot be are corrupt") {
  constexpr unsigned floats = unsigned(attend::LinearRule::delta), integers = floats + attend::core::integer_rule;
  const auto status_of = [](unsigned rule, int rows, int columns) {
    alignas(ATTEND_ALIGNMENT) static unsigned char memory[256];  // whose numbers nothing reads
    auto* const state = reinterpret_cast<attend_linear_state*>(memory);
    state->head = attend::c_surface::linear_head_of(rule, 0, 1, rows, columns);
    std::uint64_t tokens = 0;
    return attend_linear_state_tokens(state, &tokens);
  };
  constexpr int corrupt = int(ATTEND_CORRUPT) | int(ATTEND_ARG_STATE) << 8;
  CHECK(status_of(floats, 300, 4) == ATTEND_OK);
  CHECK(status_of(integers, 256, 4) == ATTEND_OK);
  CHECK(status_of(integers, 257, 4) == corrupt);
  CHECK(status_of(floats, 65536, 65536) == corrupt);
}
