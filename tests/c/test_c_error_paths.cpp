// The C surface and the rules below it at their edges: each operand of a check decides once, in calls that no table of refusals
// makes.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "../../src/linear_attention/linear_surface.h"
#include "attend/attend_c.h"
#include "attend/c/layers.h"
#include "attend/core/rules.h"
#include "attend/layers.h"

namespace {

namespace core = attend::core;
using attend::c_surface::bytes_of_state;
using attend::c_surface::linear_head_of;

constexpr float infinite = std::numeric_limits<float>::infinity();

core::RotaryScaling scaling(core::RotaryKind kind) {
  core::RotaryScaling made = {};
  made.kind = kind, made.factor = 4, made.original_positions = 4096, made.slow = 1, made.fast = 32, made.turning = 2;
  static const float factors[] = {1, 2};
  made.factors = factors;
  return made;
}

}  // namespace

TEST_CASE("edges of states of linear attention: extents that no state has take no bytes") {
  const auto bytes = [](unsigned rule, int heads, int rows, int columns) {
    return bytes_of_state(linear_head_of(rule, 0, heads, rows, columns));
  };
  CHECK(bytes(0, 1, 4, 4) > 0);
  CHECK(bytes(core::integer_rule, 1, core::most_linear_dims, 4) > 0);
  CHECK(bytes(core::integer_rule, 1, core::most_linear_dims + 1, 4) == 0);
  for (const int wrong : {0, ATTEND_MAX_WIDTH + 1}) {
    CHECK(bytes(0, wrong, 4, 4) == 0);
    CHECK(bytes(0, 1, wrong, 4) == 0);
    CHECK(bytes(0, 1, 4, wrong) == 0);
  }
  CHECK(bytes(0, 1, 65536, 65536) == 0);
  attend_linear_attention linear;
  REQUIRE(attend_gated_delta_rule_init(&linear, sizeof linear) == ATTEND_OK);
  linear.query_heads = linear.kv_heads = linear.value_heads = 1, linear.head_dim = linear.value_dim = 4;
  alignas(64) unsigned char memory[4096];
  CHECK(attend_linear_state_init(&linear, memory, sizeof memory, nullptr) == ATTEND_OK);
}

TEST_CASE("edges of rotary scalings: each field decides, and both ends of YaRN's ramp may be the last pair") {
  using core::RotaryKind;
  const auto is_taken = [](core::RotaryScaling of) { return core::is_rotary_scaling(of, 2); };
  for (const RotaryKind kind : {RotaryKind::llama3, RotaryKind::yarn, RotaryKind::long_rope}) {
    core::RotaryScaling of = scaling(kind);
    CHECK(is_taken(of));
    for (const float factor : {0.5f, infinite}) of.factor = factor, CHECK(!is_taken(of));
    of = scaling(kind);
    for (const int positions : {1, (1 << 24) + 1}) of.original_positions = positions, CHECK(!is_taken(of));
  }
  core::RotaryScaling of = scaling(RotaryKind(9));
  CHECK(!is_taken(of));
  of = scaling(RotaryKind::yarn);
  of.fast = infinite;
  CHECK(!is_taken(of));
  of = scaling(RotaryKind::yarn);
  of.slow = 0;
  CHECK(!is_taken(of));
  of = scaling(RotaryKind::yarn);
  of.original_positions = 1 << 24, of.slow = 1, of.fast = 2;
  std::uint64_t turns[2];
  for (const float base : {2.0f, 4096.0f}) {
    core::rotary_turns(base, 1.0f, 2, turns);
    const std::uint64_t last = turns[1];
    CHECK(core::scale_turns(of, base, 2, turns) > 1.0f);
    CHECK(turns[1] <= last);
  }
  const int pairs[9] = {2};
  for (const int axes : {0, 1, 2, 9})
    CHECK(core::is_axis_positions({pairs, pairs, axes, false}, 2) == (axes == 1 || axes == 2));
}

TEST_CASE("edges of rules: scales, activations without weights, sizes of refused problems") {
  core::Problem problem;
  problem.scale = infinite;
  CHECK(core::refused(problem, {}) == core::Refused::scale);
  CHECK(attend_packed_size(nullptr) == 0);
  attend_layer layer;
  REQUIRE(attend_layer_init(&layer, sizeof layer) == ATTEND_OK);
  CHECK(attend_layer_workspace_size(nullptr, &layer) == 0);
  CHECK(attend_additive_workspace_size(nullptr) == 0);
  const float x[2][4] = {{1, -2, 3, 4}, {5, 6, -7, 8}}, ones[4] = {1, 1, 1, 1};
  float y[2][4], expected[2][4];
  attend_gated_norm norm = {{ones, nullptr, 4, 1e-5f}, 2, ATTEND_SILU, ATTEND_GATE_FIRST};
  REQUIRE(attend_gated_rms_norm(&norm, x[0], x[0], 2, expected[0]) == ATTEND_OK);
  norm.norm.weight = nullptr;
  CHECK(attend_gated_rms_norm(&norm, x[0], x[0], 2, y[0]) == ATTEND_OK);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
  CHECK(attend_version() == ATTEND_VERSION);
  CHECK(attend_bits_version() == ATTEND_BITS_VERSION);
}
