// Calls of layers from C with one mistake each: what is wrong with which argument is said, and nothing is touched.
#include "c_layer_world.h"

namespace attend_test {
namespace refused_layers {
namespace {

void check_weights_and_steps() {
  refuses(&World::self, ATTEND_MISSING, ATTEND_ARG_WEIGHTS, [](World& w) { w.layer.query.data = nullptr; });
  refuses(&World::self, ATTEND_UNALIGNED, ATTEND_ARG_WEIGHTS,
          [](World& w) { w.layer.key.data = shifted(w.layer.key.data, 1); });
  refuses(&World::self, ATTEND_MISSING, ATTEND_ARG_WEIGHTS_SCALES, [](World& w) { w.layer.query.scales = nullptr; });
  refuses(&World::self, ATTEND_NO_EFFECT, ATTEND_ARG_WEIGHTS_SCALES, [](World& w) { w.layer.value.scales = w.numbers; });
  refuses(&World::self, ATTEND_UNALIGNED, ATTEND_ARG_WEIGHTS_BIAS, [](World& w) { w.layer.output.bias = shifted(w.bo, 2); });
  refuses(&World::self, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_FORMAT, [](World& w) { w.layer.value.format = 4; });
  refuses(&World::self, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT, [](World& w) { w.layer.value.layout = 2; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OUTPUTS, [](World& w) { w.layer.output.outputs = 0; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_INPUTS, [](World& w) { w.layer.key.inputs = -1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_LAYER_QUERY, [](World& w) { w.layer.query.outputs -= 1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_LAYER_KEY, [](World& w) { w.layer.key.outputs -= 1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_LAYER_KEY,
          [](World& w) { w.layer.key.inputs = w.layer.value.inputs = width - 1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_LAYER_VALUE, [](World& w) { w.layer.value.inputs -= 1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_LAYER_VALUE, [](World& w) { w.layer.value.outputs -= 1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_LAYER_OUTPUT, [](World& w) { w.layer.output.inputs -= 1; });
  refuses(&World::self, ATTEND_UNALIGNED, ATTEND_ARG_QUERY_NORM,
          [](World& w) { w.layer.query_norm = shifted(w.query_norm, 1); });
  refuses(&World::self, ATTEND_UNALIGNED, ATTEND_ARG_KEY_NORM, [](World& w) { w.layer.key_norm = shifted(w.key_norm, 1); });
  refuses(&World::self, ATTEND_NO_EFFECT, ATTEND_ARG_EPSILON,
          [](World& w) { w.layer.query_norm = w.layer.key_norm = nullptr; });
  for (const float bad : {0.0f, -1.0f, 2e30f, nan}) {
    refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_EPSILON, [bad](World& w) { w.layer.epsilon = bad; });
  }
  refuses(&World::self, ATTEND_UNALIGNED, ATTEND_ARG_ROTARY, [](World& w) { w.layer.rotary = shifted(w.layer.rotary, 1); });
  refuses(&World::self, ATTEND_MISSING, ATTEND_ARG_TURNS, [](World& w) { w.c_rotary.turns = nullptr; });
  refuses(&World::self, ATTEND_UNALIGNED, ATTEND_ARG_TURNS, [](World& w) { w.c_rotary.turns = shifted(w.c_rotary.turns, 2); });
  refuses(&World::self, ATTEND_CORRUPT, ATTEND_ARG_TURNS, [](World& w) { w.turns[0] = 0; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ROTARY_DIM, [](World& w) { w.c_rotary.rotary_dim = 3; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_ROTARY_DIM, [](World& w) { w.c_rotary.rotary_dim = 6; });
  refuses(&World::self, ATTEND_UNKNOWN, ATTEND_ARG_PAIRS, [](World& w) { w.c_rotary.pairs = 2; });
}

void check_problems_of_layers() {
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_QUERY, [](World& w) { w.problem.query.data = w.x; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_KEY, [](World& w) { w.problem.key.token_stride = 1; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_VALUE, [](World& w) { w.problem.value.data = w.x; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_OUTPUT, [](World& w) { w.problem.output.data = w.y; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_QUERY_FORMAT, [](World& w) { w.problem.query_format = ATTEND_FLOAT16; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_OUTPUT_FORMAT, [](World& w) { w.problem.output_format = ATTEND_FLOAT16; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT, [](World& w) { w.problem.key_format = ATTEND_FLOAT16; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT, [](World& w) { w.problem.value_format = ATTEND_INT8; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_CACHE, [](World& w) { w.problem.cache = w.layer.cache; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_BATCH, [](World& w) { w.problem.batch = 0; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_BATCH, [](World& w) { w.problem.batch = 2, w.layer.cache = nullptr; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_STATES, [](World& w) { w.problem.states = w.y; });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_PAGES,
          [](World& w) { w.problem.pages.table = static_cast<std::int32_t*>(w.work.data()); });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_ORIGIN, [](World& w) { w.problem.origin = 1; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_QUERIES, [](World& w) { w.problem.queries = -1; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS, [](World& w) { w.problem.kv_heads = 3; });
  refuses(&World::self, ATTEND_MISMATCH, ATTEND_ARG_CACHE, [](World& w) { w.problem.value_dim = 4; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_WINDOW_LEFT, [](World& w) { w.problem.window_left = -2; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEYS, [](World& w) { w.problem.keys = held + tokens + 1; });
  refuses(&World::self, ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEYS,
          [](World& w) { w.layer.cache = nullptr, w.problem.keys = tokens + 1; });
  refuses(&World::self, ATTEND_FULL, ATTEND_ARG_CACHE, [](World& w) { w.problem.queries = 4; });
  refuses(&World::self, ATTEND_CORRUPT, ATTEND_ARG_CACHE,
          [](World& w) { static_cast<unsigned char*>(w.memory->data())[9] ^= 1; });
  refuses(&World::self, ATTEND_LOST, ATTEND_ARG_CACHE, [](World& w) {
    w.new_cache(100, ATTEND_FLOAT32, ATTEND_FLOAT32, 4);
    for (int i = 0; i < 10; ++i) CHECK(w.project_memory(w.x[0], 8) == ATTEND_OK);
  });
  refuses(&World::cross, ATTEND_MISSING, ATTEND_ARG_CACHE, [](World& w) { w.layer.cache = nullptr; });
  refuses(&World::cross, ATTEND_AMBIGUOUS, ATTEND_ARG_KEYS, [](World& w) { (void)attend_cache_truncate(w.layer.cache, 0); });
  refuses(&World::self, ATTEND_CONFLICT, ATTEND_ARG_OFFSET,
          [](World& w) { w.problem.options = ATTEND_CAUSAL, w.problem.offset = attend_cache_tokens(w.layer.cache) + 1; });
  refuses(&World::cross, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OFFSET, [](World& w) { w.problem.offset = -1; });
  refuses(&World::cross, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OFFSET,
          [](World& w) { w.problem.options = 0, w.problem.offset = -1; });
  refuses(&World::cross, ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET,
          [](World& w) { w.problem.options = 0, w.problem.offset = 1, w.layer.rotary = nullptr; });
  refuses(&World::self, ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET, [](World& w) { w.problem.options = 0, w.problem.offset = 1; });
  refuses(&World::self, ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, [](World& w) { w.layer.size -= 1; });
}

void check_places_of_layers() {
  const auto at = [](auto of_x, auto of_y) {
    return [=](World& w) { return attend_self_attention(&w.problem, &w.layer, of_x(w), of_y(w), w.work.data(), w.work_size); };
  };
  const auto x = [](World& w) { return w.x[0]; };
  const auto y = [](World& w) { return w.y[0]; };
  const auto none = [](World&) -> float* { return nullptr; };
  call_refuses(ATTEND_MISSING, ATTEND_ARG_X, at(none, y));
  call_refuses(ATTEND_MISSING, ATTEND_ARG_Y, at(x, none));
  call_refuses(ATTEND_UNALIGNED, ATTEND_ARG_X, at([](World& w) { return shifted(w.x[0], 1); }, y));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return w.x[0] + 1; }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return w.packed.data[0][0]; }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return w.query_norm; }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return reinterpret_cast<float*>(w.turns.data()); }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return static_cast<float*>(w.memory->data()) + 20; }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return reinterpret_cast<float*>(&w.problem); }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, at(x, [](World& w) { return reinterpret_cast<float*>(&w.layer); }));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_CACHE, at([](World& w) { return static_cast<float*>(w.memory->data()) + 20; }, y));
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_WORKSPACE, at(x, [](World& w) { return static_cast<float*>(w.work.data()) + 9; }));
  refuses(&World::self, ATTEND_OVERLAP, ATTEND_ARG_LSE, [](World& w) { w.problem.lse.data = w.bq; });
  refuses(&World::self, ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
          [](World& w) { w.work_size = attend_layer_workspace_size(&w.problem, &w.layer) - 1; });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_WORKSPACE,
               [](World& w) { return attend_self_attention(&w.problem, &w.layer, w.x[0], w.y[0], nullptr, w.work_size); });
  call_refuses(ATTEND_UNALIGNED, ATTEND_ARG_WORKSPACE, [](World& w) {
    return attend_self_attention(&w.problem, &w.layer, w.x[0], w.y[0], shifted(static_cast<char*>(w.work.data()), 4),
                                 w.work_size);
  });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_LAYER,
               [](World& w) { return attend_self_attention(&w.problem, nullptr, w.x[0], w.y[0], w.work.data(), w.work_size); });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_PROBLEM,
               [](World& w) { return attend_self_attention(nullptr, &w.layer, w.x[0], w.y[0], w.work.data(), w.work_size); });
  refuses(&World::remember, ATTEND_MISSING, ATTEND_ARG_CACHE, [](World& w) { w.layer.cache = nullptr; });
  refuses(&World::remember, ATTEND_MISMATCH, ATTEND_ARG_LAYER_VALUE, [](World& w) { w.layer.value.outputs -= 1; });
  refuses(&World::remember, ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
          [](World& w) { w.work_size = attend_memory_workspace_size(&w.layer, tokens) - 1; });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_TOKENS,
               [](World& w) { return attend_project_memory(&w.layer, w.x[0], -1, w.work.data(), w.work_size); });
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_CACHE, [](World& w) {
    return attend_project_memory(&w.layer, static_cast<float*>(w.memory->data()) + 20, 1, w.work.data(), w.work_size);
  });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_X,
               [](World& w) { return attend_project_memory(&w.layer, nullptr, 1, w.work.data(), w.work_size); });
}

}  // namespace

void refuse_layers() {
  check_weights_and_steps();
  check_problems_of_layers();
  check_places_of_layers();
}

}  // namespace refused_layers
}  // namespace attend_test

using namespace attend_test;
using namespace attend_test::refused_layers;

TEST_CASE("c layers: what is refused, with which argument, and nothing is touched") {
  refuse_layers();
  refuse_pieces();
  for (int argument = ATTEND_ARG_X; argument <= ATTEND_ARG_KEY_NORM; ++argument) {
    CHECK_MESSAGE(arguments().count(argument) == 1, attend_argument_name(wrong(ATTEND_MISSING, attend_argument(argument))));
  }
}

TEST_CASE("c layers: calls of no tokens do nothing; sizes are 0 where a call is refused") {
  World world;
  world.problem.queries = 0;
  const std::vector<unsigned char> before = world.bytes();
  CHECK(attend_self_attention(&world.problem, &world.layer, nullptr, nullptr, world.work.data(), world.work_size) == ATTEND_OK);
  CHECK(attend_cross_attention(&world.problem, &world.layer, nullptr, nullptr, world.work.data(), world.work_size) ==
        ATTEND_OK);
  CHECK(attend_project_memory(&world.layer, nullptr, 0, world.work.data(), world.work_size) == ATTEND_OK);
  CHECK(attend_project(nullptr, 0, world.projections, 2, nullptr, 0) == ATTEND_OK);
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
