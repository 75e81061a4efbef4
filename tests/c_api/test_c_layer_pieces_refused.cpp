// Projections, rows, rotary positions and additive attention from C with one mistake each.
#include "c_layer_world.h"

namespace attend_test {
namespace refused_layers {
namespace {

void check_projections() {
  refuses(&World::project, ATTEND_MISMATCH, ATTEND_ARG_INPUTS, [](World& w) { w.projections[1].weights.inputs -= 1; });
  refuses(&World::project, ATTEND_MISSING, ATTEND_ARG_Y, [](World& w) { w.projections[1].y = nullptr; });
  refuses(&World::project, ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { w.projections[1].y = w.y[1]; });
  refuses(&World::project, ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { w.projections[0].y = w.x[1]; });
  refuses(&World::project, ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { w.projections[0].y = w.wv.data[0]; });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_PROJECTIONS,
               [](World& w) { return attend_project(w.x[0], 1, nullptr, 1, nullptr, 0); });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_COUNT,
               [](World& w) { return attend_project(w.x[0], 1, w.projections, 0, nullptr, 0); });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_X, [](World& w) { return attend_project(nullptr, 1, w.projections, 1, nullptr, 0); });
  call_refuses(ATTEND_TOO_LARGE, ATTEND_ARG_X, [](World& w) {
    return attend_project(reinterpret_cast<float*>(UINTPTR_MAX - 7), 1, w.projections, 1, nullptr, 0);
  });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_WORKSPACE,
               [](World& w) { return attend_project(w.x[0], 1, w.projections, 1, nullptr, 8); });
  call_refuses(ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
               [](World& w) { return attend_project(w.x[0], 1, w.projections, 1, w.work.data(), 8); });
  refuses(&World::pack, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT, [](World& w) { w.layer.key.layout = ATTEND_PANELS; });
  refuses(&World::pack, ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY_SIZE,
          [](World& w) { w.work_size = attend_packed_size(&w.layer.key) - 1; });
  refuses(&World::pack, ATTEND_OVERLAP, ATTEND_ARG_MEMORY, [](World& w) { w.layer.key.data = w.work.data(); });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_PACKED,
               [](World& w) { return attend_pack_weights(&w.layer.key, w.work.data(), w.work_size, nullptr); });
}

void check_convert() {
  for (const int format : {int(ATTEND_FLOAT32), 4, -1}) {
    refuses(&World::convert, ATTEND_UNKNOWN, ATTEND_ARG_FORMAT, [=](World& w) { w.convert_to = format; });
  }
  refuses(&World::convert, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_FORMAT,
          [](World& w) { w.projections[1].weights.format = ATTEND_FLOAT16; });
  refuses(&World::convert, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT,
          [](World& w) { w.projections[1].weights.layout = ATTEND_PANELS; });
  refuses(&World::convert, ATTEND_MISSING, ATTEND_ARG_SCALES, [](World& w) { w.new_scales = nullptr; });
  refuses(&World::convert, ATTEND_NO_EFFECT, ATTEND_ARG_SCALES, [](World& w) { w.convert_to = ATTEND_BFLOAT16; });
  refuses(&World::convert, ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY_SIZE,
          [](World& w) { w.work_size = size_t(w.projections[1].weights.outputs * w.projections[1].weights.inputs) - 1; });
  refuses(&World::convert, ATTEND_OVERLAP, ATTEND_ARG_MEMORY, [](World& w) { w.projections[1].weights.data = w.work.data(); });
  refuses(&World::convert, ATTEND_OVERLAP, ATTEND_ARG_SCALES,
          [](World& w) { w.projections[1].weights.bias = w.scales_memory + 1; });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_CONVERTED, [](World& w) {
    return attend_convert_weights(&w.projections[1].weights, ATTEND_INT8, w.work.data(), w.work_size, w.new_scales, nullptr);
  });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_MEMORY, [](World& w) {
    return attend_convert_weights(&w.projections[1].weights, ATTEND_INT8, nullptr, w.work_size, w.new_scales, &w.converted);
  });
}

void check_rows() {
  refuses(&World::normalise, ATTEND_OUT_OF_RANGE, ATTEND_ARG_WIDTH, [](World& w) { w.norm.width = 0; });
  refuses(&World::normalise, ATTEND_OUT_OF_RANGE, ATTEND_ARG_EPSILON, [](World& w) { w.norm.epsilon = 0; });
  refuses(&World::normalise, ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { w.norm.weight = w.y[0] + 1; });
  refuses(&World::normalise, ATTEND_UNALIGNED, ATTEND_ARG_NORM_WEIGHT,
          [](World& w) { w.norm.weight = shifted(w.query_norm, 2); });
  call_refuses(ATTEND_NO_EFFECT, ATTEND_ARG_NORM_BIAS, [](World& w) {
    const attend_norm biased = {nullptr, w.numbers, 4, 1.0f};
    return attend_rms_norm(&biased, w.x[0], 1, w.y[0]);
  });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_NORM, [](World& w) { return attend_rms_norm(nullptr, w.x[0], 1, w.y[0]); });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_ROWS, [](World& w) { return attend_rms_norm(&w.norm, w.x[0], -1, w.y[0]); });
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { return attend_rms_norm(&w.norm, w.y[0] + 1, 2, w.y[0]); });
  call_refuses(ATTEND_UNKNOWN, ATTEND_ARG_ACTIVATION, [](World& w) { return attend_activate(8, w.x[0], nullptr, 1, w.y[0]); });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_COUNT, [](World& w) { return attend_activate(0, w.x[0], nullptr, -1, w.y[0]); });
  call_refuses(ATTEND_UNALIGNED, ATTEND_ARG_BY,
               [](World& w) { return attend_activate(0, w.x[0], shifted(w.x[0], 1), 1, w.y[0]); });
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { return attend_activate(0, w.x[0], w.y[0] + 1, 4, w.y[0]); });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE, [](World& w) { return attend_add(w.x[0], infinity, 1, w.y[0]); });
  call_refuses(ATTEND_OVERLAP, ATTEND_ARG_Y, [](World& w) { return attend_add(w.y[0], 1, 4, w.y[0] + 1); });
}

void check_rotary() {
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_BASE,
               [](World& w) { return attend_rotary_init(&w.c_rotary, w.turns.data(), 4, 0, 1.5f, 1); });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALING_FACTOR,
               [](World& w) { return attend_rotary_init(&w.c_rotary, w.turns.data(), 4, 0, 1e4f, 0.5f); });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_TURNS,
               [](World& w) { return attend_rotary_init(&w.c_rotary, nullptr, 4, 0, 1e4f, 1); });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_ROTARY,
               [](World& w) { return attend_rotary_init(nullptr, w.turns.data(), 4, 0, 1e4f, 1); });
  refuses(&World::rotate, ATTEND_SHARED_ELEMENTS, ATTEND_ARG_X, [](World& w) { w.to_rotate = {w.y, 0, 6, 3}; });
  refuses(&World::rotate, ATTEND_NO_EFFECT, ATTEND_ARG_X, [](World& w) { w.to_rotate.batch_stride = 16; });
  refuses(&World::rotate, ATTEND_OVERLAP, ATTEND_ARG_X, [](World& w) { w.to_rotate.data = w.turns.data(); });
  call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEADS,
               [](World& w) { return attend_rotate(&w.c_rotary, &w.to_rotate, 1, 0, 4, 0); });
  for (const std::ptrdiff_t position : {std::ptrdiff_t(-1), std::ptrdiff_t(INT32_MAX)}) {
    call_refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_POSITION,
                 [=](World& w) { return attend_rotate(&w.c_rotary, &w.to_rotate, 2, 1, 4, position); });
  }
}

void check_additive() {
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_SCALE, [](World& w) { w.additive.scale = 1; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_SOFT_CAP, [](World& w) { w.additive.soft_cap = 1; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_BIAS, [](World& w) { w.additive.bias.data = w.numbers; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_SCORES_STAGE,
          [](World& w) { w.additive.scores.data = w.y[8], w.additive.scores.stage = ATTEND_SCORES_CAPPED; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_QUERY_HEADS, [](World& w) { w.additive.query_heads = 2; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_BATCH, [](World& w) { w.additive.batch = 2; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_CACHE, [](World& w) { w.additive.cache = w.layer.cache; });
  refuses(&World::add, ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT,
          [](World& w) { w.additive.key_format = ATTEND_FLOAT32, w.additive.value_format = ATTEND_FLOAT16; });
  refuses(&World::add, ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, [](World& w) { w.additive.output.data = w.numbers; });
  refuses(&World::add, ATTEND_MISSING, ATTEND_ARG_KEY, [](World& w) { w.additive.key.data = nullptr; });
  refuses(&World::add, ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
          [](World& w) { w.work_size = attend_additive_workspace_size(&w.additive) - 1; });
  call_refuses(ATTEND_MISSING, ATTEND_ARG_V,
               [](World& w) { return attend_additive_attention(&w.additive, nullptr, w.work.data(), w.work_size); });
}

}  // namespace

void refuse_pieces() {
  check_projections();
  check_convert();
  check_rows();
  check_rotary();
  check_additive();
}

}  // namespace refused_layers
}  // namespace attend_test
