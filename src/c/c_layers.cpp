// Multi-head layers of the C surface: what is refused, and how an attend_layer is run.
#include "../call/portable.h"
#include "layers.h"

namespace attend::c_surface {
namespace {

constexpr float usual_epsilon = 1e-5f;

bool fits_heads(ptrdiff_t count, int heads, int width) { return int64_t(count) == int64_t(heads) * width; }

// Checks the part of a layer that makes keys and values, then the whole layer, and that nothing of it is written.
void check_kept(Check& check, const Memory& memory, const attend_layer& layer, const core::Problem& extents) {
  memory.read_last(check, check.whole_struct(&layer, ATTEND_ARG_LAYER));
  check_weights(check, memory, layer.key);
  check_weights(check, memory, layer.value);
  check.require(fits_heads(layer.key.outputs, extents.kv_heads, extents.head_dim), ATTEND_MISMATCH, ATTEND_ARG_LAYER_KEY);
  const bool fits =
      fits_heads(layer.value.outputs, extents.kv_heads, extents.value_dim) && layer.value.inputs == layer.key.inputs;
  check.require(fits, ATTEND_MISMATCH, ATTEND_ARG_LAYER_VALUE);
  memory.read_last(check, check_if_given(check, layer.query_norm, extents.head_dim, ATTEND_ARG_QUERY_NORM));
  memory.read_last(check, check_if_given(check, layer.key_norm, extents.head_dim, ATTEND_ARG_KEY_NORM));
  check_epsilon(check, layer.epsilon);
  const bool normalised = layer.query_norm != nullptr || layer.key_norm != nullptr;
  const bool usual = bits_to<uint32_t>(layer.epsilon) == bits_to<uint32_t>(usual_epsilon);
  check.require(normalised || usual, ATTEND_NO_EFFECT, ATTEND_ARG_EPSILON);
  if (layer.rotary != nullptr) check_rotary(check, memory, layer.rotary, extents.head_dim);
}
void check_layer(Check& check, const Memory& memory, const attend_layer& layer, const core::Problem& extents) {
  check_kept(check, memory, layer, extents);
  check_weights(check, memory, layer.query);
  check_weights(check, memory, layer.output);
  check.require(fits_heads(layer.query.outputs, extents.query_heads, extents.head_dim), ATTEND_MISMATCH,
                ATTEND_ARG_LAYER_QUERY);
  check.require(fits_heads(layer.output.inputs, extents.query_heads, extents.value_dim), ATTEND_MISMATCH,
                ATTEND_ARG_LAYER_OUTPUT);
}

// Requires the fields that a problem leaves to the layer as they were initialised.
void check_left_out(Check& check, const attend_problem& problem) {
  check_one_sequence(check, problem);
  check.require(is_default(problem.query), ATTEND_CONFLICT, ATTEND_ARG_QUERY);
  check.require(is_default(problem.key), ATTEND_CONFLICT, ATTEND_ARG_KEY);
  check.require(is_default(problem.value), ATTEND_CONFLICT, ATTEND_ARG_VALUE);
  check.require(is_default(problem.output), ATTEND_CONFLICT, ATTEND_ARG_OUTPUT);
}

// A call of a layer, as it is being checked.
struct LayerUse {
  const attend_layer& layer;
  attend_problem problem;  // the caller's, with the layer's cache and number of keys
  Call call;
  size_t bytes;  // of work memory
  int position;  // of the first token
};

// Checks extents and the cache, and sets the number of keys.
void check_extents(Check& check, const attend_problem* problem, LayerUse& use) {
  use.call.one_sequence = true;
  check_rows(check, problem, use.call);
  check.whole_struct(&use.layer, ATTEND_ARG_LAYER);
  if (check.failed()) return;
  check_left_out(check, *problem);
  check_heads(check, *problem, ATTEND_MAX_WIDTH, use.call.first);
  const attend_cache* const cache = use.layer.cache;
  if (cache != nullptr) check_cache(check, cache);
  if (check.failed()) return;
  check.require(cache == nullptr || is_of_shape(*cache, *problem), ATTEND_MISMATCH, ATTEND_ARG_CACHE);
  use.problem = *problem;
  use.problem.size = sizeof *problem;
  use.problem.cache = cache;
  if (cache == nullptr) {  // keys are those of the tokens
    if (problem->keys == ATTEND_ALL_KEYS) use.problem.keys = problem->queries;
    check.within(use.problem.keys, 0, problem->queries, ATTEND_ARG_KEYS);
  }
  core::Problem& extents = use.call.first;
  extents.key_panels = cache != nullptr;
  use.call.of_layer = true;
  use.call.plain = is_plain(*problem) && (cache == nullptr || is_plain(*cache));
  plan(use.call, cache != nullptr ? cache->max_tokens : extents.queries);
}

detail::LayerMemory memory_of(Check& check, LayerUse& use) {
  const int queries = use.call.first.queries;
  const detail::LayerMemory memory(use.call.first, queries, use.layer.cache != nullptr ? 0 : queries,
                                   use.call.workspace_bytes / sizeof(float));
  check.require(memory.floats <= PTRDIFF_MAX / sizeof(float), ATTEND_TOO_LARGE, ATTEND_ARG_QUERIES);
  use.bytes = size_t(memory.floats * sizeof(float));
  return memory;
}

// Where the tokens of cross-attention are, for rotary: where the options use no positions, the offset is for that alone.
void take_position(Check& check, LayerUse& use) {
  ptrdiff_t& offset = use.problem.offset;
  if (use.layer.rotary == nullptr || is_positioned(use.problem) || offset == ATTEND_DEFAULT_OFFSET) return;
  check.within(offset, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_OFFSET);
  use.position = check.failed() ? 0 : int(offset);
  offset = ATTEND_DEFAULT_OFFSET;
}

// The problem with its options, as it is when the cache has got the tokens.
void check_problem(Check& check, LayerUse& use, CallOptions& options) {
  attend_cache* const cache = use.call.appends ? use.layer.cache : nullptr;
  attend_cache before = {};
  if (cache != nullptr) {
    check.require(use.problem.queries <= cache->max_tokens - cache->tokens, ATTEND_FULL, ATTEND_ARG_CACHE);
    if (check.failed()) return;
    before = *cache;
    set_tokens(*cache, cache->tokens + use.problem.queries);
  }
  check_call(check, &use.problem, use.call);
  if (!check.failed() && !use.call.plain) check_options(check, use.problem, options);
  if (cache != nullptr) *cache = before;
}

struct LayerArguments {
  const attend_problem* problem;
  const attend_layer* layer;
  const float* x;
  float* y;
  void* workspace;
  size_t workspace_size;
};

// Vectors, work memory and the layer itself; what is read comes after all that is written.
void check_places(Check& check, const LayerArguments& given, LayerUse& use) {
  Memory& memory = use.call.memory;
  const ptrdiff_t tokens = use.problem.queries, inputs = use.layer.query.inputs, outputs = use.layer.output.outputs;
  check.within(inputs, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_INPUTS);
  check.within(outputs, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_OUTPUTS);
  const Range from = check_vectors(check, given.x, tokens, inputs, ATTEND_ARG_X);
  const Range to = check_vectors(check, given.y, tokens, outputs, ATTEND_ARG_Y);
  memory.write(check, to, ATTEND_ARG_Y);
  check_workspace(check, memory, given.workspace, given.workspace_size, use.bytes);
  read_same(check, memory, from, to);
  check_layer(check, memory, use.layer, use.call.first);
}

struct RunBlock {
  static void run(const core::Problem& problem, const core::Options& options) { core::run(problem, options); }
};

void run(const LayerArguments& given, LayerUse& use, const detail::LayerMemory& memory, const core::Options& options) {
  core::Problem problem = use.call.option_problem_of_row(0);
  float* const work = static_cast<float*>(given.workspace);
  const Kept kept = {use.layer.cache, use.call.appends,
                     arrays_at(work + size_t(memory.keys), work + size_t(memory.values), problem)};
  if (kept.cache == nullptr) {
    problem.key = {kept.arrays.keys.data, kept.arrays.keys.token_stride, kept.arrays.keys.head_stride};
    problem.value = {kept.arrays.values.data, kept.arrays.values.token_stride, kept.arrays.values.head_stride};
  }
  problem.query = {work + size_t(memory.first), ptrdiff_t(problem.query_heads) * problem.head_dim, problem.head_dim};
  problem.output = {work + size_t(memory.second), ptrdiff_t(problem.query_heads) * problem.value_dim, problem.value_dim};
  problem.scratch = work;
  problem.scale = scale_of(use.problem);
  const RunTimeLayer layer(use.layer, use.call.first);
  const LayerCall call = {{memory}, layer, kept, {given.x, given.y, work, use.position}};
  if (use.call.plain) {
    detail::run_blocks(problem, call);
  } else {
    core::Options of_block = options;
    detail::run_option_blocks<RunBlock>(problem, of_block, call);
  }
}

attend_status attend_through(const LayerArguments& given, bool of_self) {
  Check check;
  check.structs(given.layer, 1, ATTEND_ARG_LAYER);
  if (check.failed()) return check.status();
  LayerUse use = {*given.layer, {}, {}, 0, 0};
  CallOptions options = {use.call};
  const attend_cache* const cache = given.layer->cache;
  check_extents(check, given.problem, use);
  if (check.failed()) return check.status();
  const detail::LayerMemory memory = memory_of(check, use);
  if (of_self) {
    use.call.appends = cache != nullptr;
    use.position = cache != nullptr ? cache->tokens : 0;
    const ptrdiff_t offset = use.problem.offset;
    const bool agrees =
        use.layer.rotary == nullptr || !is_positioned(use.problem) || offset == ATTEND_DEFAULT_OFFSET || offset == use.position;
    check.require(agrees, ATTEND_CONFLICT, ATTEND_ARG_OFFSET);
  } else {
    check.require(cache != nullptr, ATTEND_MISSING, ATTEND_ARG_CACHE);
    take_position(check, use);
  }
  if (!check.failed()) check_problem(check, use, options);
  if (check.failed()) return check.status();
  if (!of_self && is_positioned(use.problem)) {
    use.position = use.call.queries_last ? int(use.call.keys_of_row(0)) - use.call.first.queries : use.call.first.offset;
  }
  check.require(use.layer.rotary == nullptr || use.position >= 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OFFSET);
  check_places(check, given, use);
  check.require(!of_self || use.layer.key.inputs == use.layer.query.inputs, ATTEND_MISMATCH, ATTEND_ARG_LAYER_KEY);
  if (!check.failed()) run(given, use, memory, options.first);
  return check.status();
}

// Extents of attend_project_memory, and its work memory.
detail::LayerMemory check_memory_tokens(Check& check, const attend_layer* layer, ptrdiff_t tokens, core::Problem& extents) {
  check.whole_struct(layer, ATTEND_ARG_LAYER);
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  if (!check.failed()) check_cache(check, layer->cache);
  if (check.failed()) return {extents, 0, 0, 0};
  extents.query_heads = extents.kv_heads = layer->cache->kv_heads;
  extents.head_dim = layer->cache->head_dim;
  extents.value_dim = layer->cache->value_dim;
  check_kept(check, Memory(), *layer, extents);
  const detail::LayerMemory memory(extents, int(tokens), 0, 0);
  check.require(memory.floats <= PTRDIFF_MAX / sizeof(float), ATTEND_TOO_LARGE, ATTEND_ARG_TOKENS);
  return memory;
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_layer_init(attend_layer* layer, size_t size) {
  const attend_status status = new_struct(layer, size, ATTEND_ARG_LAYER);
  if (status == ATTEND_OK) layer->epsilon = usual_epsilon;
  return status;
}

size_t attend_layer_workspace_size(const attend_problem* problem, const attend_layer* layer) {
  Check check;
  check.structs(layer, 1, ATTEND_ARG_LAYER);
  if (check.failed()) return 0;
  LayerUse use = {*layer, {}, {}, 0, 0};
  check_extents(check, problem, use);
  if (!check.failed()) check_layer(check, Memory(), *layer, use.call.first);
  if (!check.failed()) memory_of(check, use);
  return check.failed() ? 0 : use.bytes;
}

attend_status attend_self_attention(const attend_problem* problem, const attend_layer* layer, const float* x, float* y,
                                    void* workspace, size_t workspace_size) {
  return attend_through({problem, layer, x, y, workspace, workspace_size}, true);
}

attend_status attend_cross_attention(const attend_problem* problem, const attend_layer* layer, const float* x, float* y,
                                     void* workspace, size_t workspace_size) {
  return attend_through({problem, layer, x, y, workspace, workspace_size}, false);
}

size_t attend_memory_workspace_size(const attend_layer* layer, ptrdiff_t tokens) {
  Check check;
  core::Problem extents = {};
  const detail::LayerMemory memory = check_memory_tokens(check, layer, tokens, extents);
  const size_t bytes = size_t(memory.floats * sizeof(float));
  return check.failed() ? 0 : bytes == 0 ? size_t(ATTEND_ALIGNMENT) : bytes;  // 0 means refused
}

attend_status attend_project_memory(const attend_layer* layer, const float* x, ptrdiff_t tokens, void* workspace,
                                    size_t workspace_size) {
  Check check;
  core::Problem extents = {};
  const detail::LayerMemory places = check_memory_tokens(check, layer, tokens, extents);
  if (check.failed() || tokens == 0) return check.status();
  attend_cache& cache = *layer->cache;
  check.require(tokens <= cache.max_tokens - cache.tokens, ATTEND_FULL, ATTEND_ARG_CACHE);
  Memory memory;
  memory.write(check, cache_range(cache), ATTEND_ARG_CACHE);
  check_workspace(check, memory, workspace, workspace_size, size_t(places.floats * sizeof(float)));
  memory.read_last(check, check_vectors(check, x, tokens, layer->key.inputs, ATTEND_ARG_X));
  check_kept(check, memory, *layer, extents);
  if (check.failed()) return check.status();
  const RunTimeLayer from(*layer, extents);
  const Kept kept = {&cache, true, arrays_at(nullptr, nullptr, extents)};
  const LayerCall call = {{places}, from, kept, {nullptr, nullptr, static_cast<float*>(workspace), cache.tokens}};
  call.store(x, int(tokens));
  return ATTEND_OK;
}

}  // extern "C"
