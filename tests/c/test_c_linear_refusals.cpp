// What the C surface of linear attention refuses, in floats and in integers; what it does not read, and states that are set.
#include "../support/typed_objects.h"
#include "attend/linear_attention.h"
#include "refusals_linear_integer_world.h"
#include "refusals_linear_world.h"

namespace attend_test {
namespace refused_linear {

constexpr unsigned run = World::run, append = World::append, run_from = World::run_from, init = World::init;
constexpr unsigned clear = World::clear, count = World::count, numbers = World::numbers, save = World::save, load = World::load;
constexpr unsigned set_numbers = World::set_numbers;
const Refusal<World> rows[] = {
#include "refusals_linear.inc"
};

}  // namespace refused_linear
namespace refused_linear_integer {

constexpr unsigned run = World::run, append = World::append, run_from = World::run_from, init = World::init;
constexpr unsigned prepare = World::prepare;
const Refusal<World> rows[] = {
#include "refusals_linear_integer.inc"
};

}  // namespace refused_linear_integer
}  // namespace attend_test

using namespace attend_test;
using attend::LinearRule;
using attend::Status;

TEST_CASE("c refusals: linear attention") {
  check_arguments(check_refusals(refused_linear::rows), ATTEND_ARG_RULE, ATTEND_ARG_STATE);
  refused_linear::World world;
  CHECK(attend_linear_state_size(&world.linear) == world.state_bytes);
  CHECK(attend_linear_state_size(nullptr) == 0);
  world.linear.rule = nullptr;
  CHECK(attend_linear_state_size(&world.linear) == 0);
  CHECK(attend_linear_state_is_finite(nullptr) == -1);
}

TEST_CASE("c linear attention: what does not exist is not read, and calls of no tokens do nothing") {
  refused_linear::World world;
  world.linear.documents = {nullptr, 0};
  world.linear.first = 1, world.linear.count = 3;
  CHECK(attend_linear_state_is_finite(world.state) == 1);
  for (float* each : {world.q, world.k, world.v, world.g, world.b, world.out}) each[0] = attend_test::nan;
  std::fill(std::begin(world.out), std::end(world.out), 7.0f);
  CHECK(attend_linear_run(&world.linear, world.state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(world.state) == 1);
  const int row = world.queries * world.value_dim;
  for (const int t : {0, 3, 4}) {
    for (int i = 0; i < row; ++i) CHECK(world.out[t * row + i] == 7.0f);
  }
  CHECK(world.out[row] != 7.0f);
  CHECK(attend_linear_state_tokens(world.state, world.counted) == ATTEND_OK);
  CHECK(world.total == 7);

  world.linear.tokens = 0, world.linear.first = 0, world.linear.count = ATTEND_ALL_TOKENS;
  world.linear.query.data = world.linear.key.data = world.linear.value.data = nullptr;
  world.linear.log_decay.data = world.linear.beta.data = nullptr, world.linear.output.data = nullptr;
  const std::vector<unsigned char> before = world.bytes();
  CHECK(attend_linear_run(&world.linear, world.state) == ATTEND_OK);
  CHECK(attend_linear_append(&world.linear, world.state) == ATTEND_OK);
  CHECK(world.bytes() == before);

  // NaN reaches the state, and goes with all tokens.
  world.linear.tokens = 1, world.linear.key.data = world.k, world.linear.value.data = world.v;
  world.linear.log_decay.data = world.g, world.linear.beta.data = world.b;
  CHECK(attend_linear_append(&world.linear, world.state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(world.state) == 0);
  CHECK(attend_linear_state_clear(world.state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(world.state) == 1);
}

TEST_CASE("c refusals: linear attention in integers") {
  check_arguments(check_refusals(refused_linear_integer::rows), ATTEND_ARG_DECAY, ATTEND_ARG_DECAY);
  refused_linear_integer::World world;
  world.linear.head_dim = 257;
  CHECK(attend_linear_state_size(&world.linear) == 0);
}

TEST_CASE("c linear attention in integers: a state that diverges is found") {
  refused_linear_integer::World world;
  CHECK(attend_linear_state_is_finite(world.state) == 1);
  const std::int32_t least = attend::core::least_linear_exponent;  // which only such states have
  std::memcpy(static_cast<char*>(world.memory.data()) + 64 + 4 * world.heads * world.key_dim * world.value_dim, &least, 4);
  CHECK(attend_linear_state_is_finite(world.state) == 0);
}

// What gates would make subnormal is swept before the first token after it was set: gates of 1 leave it as it is.
template <LinearRule of>
struct One {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 2, value_dim = 18;
};
template <LinearRule rule>
void check_swept(float left) {
  using Shape = One<rule>;
  float numbers[1][2][18] = {};
  numbers[0][1][17] = 0x1p-101f, numbers[0][1][16] = -0x1p-100f, numbers[0][0][0] = 3;
  attend::LinearState<Shape> state;
  attend::set_numbers(state, numbers);
  CHECK(state.at(0, 1, 17) == 0x1p-101f);
  CHECK(state.append(attend::Key<Shape>{}, attend::Value<Shape>{}, attend::Gates<Shape>{}) == Status::ok);
  attend::get_numbers(state, numbers);
  CHECK(numbers[0][1][17] == left);
  CHECK((numbers[0][1][16] == -0x1p-100f && numbers[0][0][0] == 3));
}

TEST_CASE("linear attention: small numbers of a state that was set become 0 before the next token, except by the rule linear") {
  check_swept<LinearRule::gated>(0);
  check_swept<LinearRule::delta>(0);
  check_swept<LinearRule::linear>(0x1p-101f);
}
