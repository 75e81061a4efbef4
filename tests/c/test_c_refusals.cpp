// What the C surface refuses, by the tables: each row is refused with its error and its argument, before anything is written.
// (Rows of problems of floats are in test_c_malformed.cpp, as part of random problems.)
#include <attend/backend.h>

#include "refusals_integer_world.h"
#include "refusals_layer_world.h"
#include "refusals_state_world.h"

namespace attend_test {
namespace refused_states {

using World = StateWorld;
constexpr unsigned begin = World::begin, finish = World::finish, merge = World::merge, save = World::save, load = World::load;
const Refusal<World> rows[] = {
#include "refusals_states.inc"
};

}  // namespace refused_states
namespace refused_caches {

using World = CacheWorld;
constexpr unsigned check = World::check, init = World::init, append = World::append, truncate = World::truncate;
const Refusal<World> rows[] = {
#include "refusals_cache.inc"
};

}  // namespace refused_caches
namespace refused_integers {

constexpr unsigned run = World::run;
const Refusal<World> rows[] = {
#include "refusals_integer.inc"
#include "refusals_problem.inc"
};

namespace of_scales {

constexpr unsigned prepare = World::prepare;
const Refusal<World> rows[] = {
#include "refusals_scales.inc"
};

}  // namespace of_scales
}  // namespace refused_integers
namespace refused_layers {

constexpr unsigned self = World::self, cross = World::cross, remember = World::remember, project = World::project,
                   pack = World::pack;
constexpr unsigned convert = World::convert, layer_norm = World::layer_norm, rms_norm = World::rms_norm,
                   l2_norm = World::l2_norm, gated_norm = World::gated_norm, rotate = World::rotate, scaled = World::scaled,
                   turned = World::turned;
constexpr unsigned additive_attention = World::additive_attention, integers = World::integers;
const Refusal<World> rows[] = {
#include "refusals_layers.inc"
};

}  // namespace refused_layers
}  // namespace attend_test

using namespace attend_test;

TEST_CASE("c refusals: states") {
  const std::set<int> seen = check_refusals(refused_states::rows);
  check_arguments(seen, ATTEND_ARG_LATER, ATTEND_ARG_RESULT);
  check_arguments(seen, ATTEND_ARG_STATE_NODES, ATTEND_ARG_STATE_NODES);
}

TEST_CASE("c refusals: caches, inits and backends") {
  check_arguments(check_refusals(refused_caches::rows), ATTEND_ARG_SHAPE, ATTEND_ARG_NAME);
  int count = 0;
  while (attend_backend_name(count) != nullptr) ++count;
  CHECK(count == attend::backend_count());
  for (const int none : {-9, -2, count + 9}) CHECK(attend_backend_name(none) == nullptr);
  CHECK(attend_backend_name(ATTEND_BACKEND_IN_USE) == attend::active_backend());
}

TEST_CASE("c refusals: integer attention and its scales") {
  std::set<int> seen = check_refusals(refused_integers::rows);
  seen.merge(check_refusals(refused_integers::of_scales::rows));
  check_arguments(seen, ATTEND_ARG_SCALES, ATTEND_ARG_OUTPUT_ZERO_POINT);
  check_arguments(seen, ATTEND_ARG_CONSTANTS, ATTEND_ARG_CONSTANTS);
  check_arguments(seen, ATTEND_ARG_ARITHMETIC, ATTEND_ARG_ARITHMETIC);
}

TEST_CASE("c integer: fields that a newer header adds are refused unless they are zero") {
  using refused_integers::World;
  World world;
  world.p.size += sizeof world.whole.more;
  CHECK(attend_check(&world.p) == ATTEND_OK);  // a row of the table sets them
  world.after(0) = 1;
  CHECK(attend_integer_problem_init(&world.p, sizeof world.whole) == ATTEND_OK);
  CHECK(world.after(0) == 0);
}

TEST_CASE("c refusals: layers and what they are made of") {
  const std::set<int> seen = check_refusals(refused_layers::rows);
  check_arguments(seen, ATTEND_ARG_X, ATTEND_ARG_TEAM);
  check_arguments(seen, ATTEND_ARG_GROUPS, ATTEND_ARG_ORDER);
}

TEST_CASE("c refusals: every error and every argument has words of its own") {
  std::set<std::string> texts, names;
  for (int status = -70000; status < 70000; ++status) {
    texts.insert(attend_error_text(status)), names.insert(attend_argument_name(status));
  }
  CHECK(attend_error_text(1 << 30) == std::string(attend_error_text(-1)));
  CHECK(texts.size() > ATTEND_OTHER_BITS + 2);  // one for what is no status, and those of special pairs
  CHECK(names.size() == ATTEND_ARG_DECAY + 2);
}

TEST_CASE("c layers: calls of no tokens do nothing; sizes are 0 where a call is refused") {
  using refused_layers::World;
  World world;
  world.problem.queries = 0;
  const std::vector<unsigned char> before = world.bytes();
  CHECK(attend_self_attention(&world.problem, &world.layer, nullptr, nullptr, world.work.data(), world.work_size) == ATTEND_OK);
  CHECK(attend_cross_attention(&world.problem, &world.layer, nullptr, nullptr, world.work.data(), world.work_size) ==
        ATTEND_OK);
  CHECK(attend_project_memory(&world.layer, nullptr, 0, world.work.data(), world.work_size) == ATTEND_OK);
  CHECK(attend_project(nullptr, 0, world.projections, 2, nullptr, 0) == ATTEND_OK);
  CHECK(attend_integer_project(&world.linear, nullptr, 0, nullptr) == ATTEND_OK);
  CHECK(attend_rms_norm(&world.norm, nullptr, 0, nullptr) == ATTEND_OK);
  CHECK(attend_activate(ATTEND_ERF, nullptr, nullptr, 0, nullptr) == ATTEND_OK);
  CHECK(attend_rotate(&world.c_rotary, &world.to_rotate, 0, 2, 4, 0) == ATTEND_OK);
  world.additive.queries = 0;
  CHECK(attend_additive_attention(&world.additive, world.numbers, world.work.data(), world.work_size) == ATTEND_OK);
  world.additive.queries = 2, world.problem.queries = 0;
  const std::vector<unsigned char> after = world.bytes();
  CHECK(std::memcmp(after.data() + sizeof(World), before.data() + sizeof(World), before.size() - sizeof(World)) == 0);

  // A larger call's memory is enough for a smaller one.
  std::size_t last = 1, of_one = 0;
  for (int queries = 1; queries <= 8; ++queries) {
    world.problem.queries = queries;
    const std::size_t bytes = attend_layer_workspace_size(&world.problem, &world.layer);
    CHECK(bytes >= last);
    last = bytes;
    if (queries == 1) of_one = bytes;
  }
  CHECK(last > of_one);
  world.layer.value.outputs = 1;
  CHECK(attend_layer_workspace_size(&world.problem, &world.layer) == 0);
  CHECK(attend_memory_workspace_size(&world.layer, 1) == 0);
  CHECK(attend_layer_workspace_size(&world.problem, nullptr) == 0);
  world.additive.keys = -5;
  CHECK(attend_additive_workspace_size(&world.additive) == 0);
  world.layer.key.inputs = 0;
  CHECK(attend_packed_size(&world.layer.key) == 0);
}

TEST_CASE("c integer: a query sees at most 65,535 keys; there may be more where windows keep them away") {
  using refused_integers::World;
  World world;
  attend_problem p = world.p;
  p.batch = 1, p.keys = 100000;
  for (attend_input* input : {&p.key, &p.value}) input->token_stride = 0, input->head_stride = World::dim;
  const attend_status too_many = wrong(ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
  CHECK(attend_check(&p) == too_many);
  p.keys = ATTEND_INTEGER_MAX_KEYS;
  CHECK(attend_check(&p) == ATTEND_OK);
  p.keys = 100000, p.options = ATTEND_CAUSAL;
  p.offset = ATTEND_INTEGER_MAX_KEYS - p.queries;
  CHECK(attend_check(&p) == ATTEND_OK);
  ++p.offset;
  CHECK(attend_check(&p) == too_many);
  p.window_left = ATTEND_INTEGER_MAX_KEYS - 1;
  CHECK(attend_check(&p) == ATTEND_OK);
  p.sink_tokens = 1;
  CHECK(attend_check(&p) == too_many);
  p.sink_tokens = 0, ++p.window_left;
  CHECK(attend_check(&p) == too_many);  // the last query stands at 65,535, and sees key 0
  p.offset = 90000;
  CHECK(attend_check(&p) == too_many);
  p.options = 0, p.window_left = 30000;
  CHECK(attend_check(&p) == ATTEND_OK);  // from 60,000 on
  p.offset = 64000;
  CHECK(attend_check(&p) == too_many);
  p.window_right = 35534;
  CHECK(attend_check(&p) == ATTEND_OK);
  ++p.window_right;
  CHECK(attend_check(&p) == too_many);
  p.window_left = p.window_right = ATTEND_NO_LIMIT, p.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST;
  p.offset = ATTEND_DEFAULT_OFFSET;
  CHECK(attend_check(&p) == too_many);
  p.window_left = 1000;
  CHECK(attend_check(&p) == ATTEND_OK);
}
