// Multi-head layers of the C surface: what is refused, and how an attend_layer is run.
#include "layer_surface.h"
#include "portable_layers.h"

namespace attend::c_surface {
namespace {

constexpr float usual_epsilon = 1e-5f;

bool fits_heads(ptrdiff_t count, int heads, int width) { return int64_t(count) == int64_t(heads) * width; }

// The threads of a call; a layer without a team has one.
detail::LayerTeam team_of(const attend_layer& layer) {
  detail::LayerTeam team;
  if (layer.team == nullptr) return team;
  team.part = int(layer.team->part), team.parts = int(layer.team->parts);
  team.barrier = layer.team->barrier, team.context = layer.team->context;
  return team;
}
int threads_of(const attend_layer& layer) { return layer.team == nullptr ? 1 : int(layer.team->parts); }
void check_team(Memory& check, const attend_layer& layer) {
  if (layer.team == nullptr) return;
  check.structs(layer.team, 1, ATTEND_ARG_TEAM);
  if (check.failed()) return;
  check_parts(check, {layer.team->part, layer.team->parts}, 0, 0);
  check.require(layer.team->parts == 1 || layer.team->barrier != nullptr, ATTEND_MISSING, ATTEND_ARG_TEAM);
}

// Checks the part of a layer that makes keys and values, then the whole layer, and that nothing of it is written.
void check_kept(Memory& check, const attend_layer& layer, const core::Problem& extents) {
  check.read_last(check.whole_struct(&layer, ATTEND_ARG_LAYER));
  check.require(layer.cache == nullptr || !has_values_in_keys(*layer.cache), ATTEND_CONFLICT, ATTEND_ARG_CACHE);
  check_float_weights(check, layer.key);
  check_float_weights(check, layer.value);
  check.require(fits_heads(layer.key.outputs, extents.kv_heads, extents.head_dim), ATTEND_MISMATCH, ATTEND_ARG_KEY);
  const bool fits =
      fits_heads(layer.value.outputs, extents.kv_heads, extents.value_dim) && layer.value.inputs == layer.key.inputs;
  check.require(fits, ATTEND_MISMATCH, ATTEND_ARG_VALUE);
  check.read_last(check_if_given(check, layer.query_norm, extents.head_dim, ATTEND_ARG_QUERY_NORM));
  check.read_last(check_if_given(check, layer.key_norm, extents.head_dim, ATTEND_ARG_KEY_NORM));
  check_epsilon(check, layer.epsilon);
  const bool normalised = layer.query_norm != nullptr || layer.key_norm != nullptr;
  const bool usual = bits_to<uint32_t>(layer.epsilon) == bits_to<uint32_t>(usual_epsilon);
  check.require(normalised || usual, ATTEND_NO_EFFECT, ATTEND_ARG_EPSILON);
  if (layer.rotary != nullptr) check_rotary(check, layer.rotary, extents.head_dim);
}
void check_query_factors(Memory& check, const attend_query_factors& factors) {
  if (factors.data == nullptr) {
    const bool is_empty = factors.count == 0 && factors.period == 0 && factors.shift == 0;
    return check.require(is_empty, ATTEND_NO_EFFECT, ATTEND_ARG_QUERY_FACTORS);
  }
  check.within(factors.count, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERY_FACTORS);
  check.within(factors.period, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERY_FACTORS);
  check.within(factors.shift, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERY_FACTORS);
  if (!check.failed()) check.read_last(check.array(factors.data, factors.count, float_bits, ATTEND_ARG_QUERY_FACTORS));
}

bool has_gate(const attend_layer& layer) {
  const attend_weights& gate = layer.gate;
  return gate.data != nullptr || gate.scales != nullptr || gate.bias != nullptr || gate.outputs != 0 || gate.inputs != 0 ||
         gate.format != 0 || gate.layout != 0;
}
void check_gate(Memory& check, const attend_layer& layer, const core::Problem& extents) {
  if (!has_gate(layer)) return;
  check_float_weights(check, layer.gate);
  const bool fits = fits_heads(layer.gate.outputs, extents.query_heads, extents.value_dim) &&
                    layer.gate.inputs == layer.query.inputs && extents.value_dim <= extents.head_dim;
  check.require(fits, ATTEND_MISMATCH, ATTEND_ARG_GATE);
}
// Whether it matters where tokens are, whatever the options.
bool uses_positions(const attend_layer& layer) { return layer.rotary != nullptr || layer.query_factors.data != nullptr; }

void check_layer(Memory& check, const attend_layer& layer, const core::Problem& extents) {
  check_kept(check, layer, extents);
  check_query_factors(check, layer.query_factors);
  check_gate(check, layer, extents);
  check_float_weights(check, layer.query);
  check_float_weights(check, layer.output);
  check.require(fits_heads(layer.query.outputs, extents.query_heads, extents.head_dim), ATTEND_MISMATCH, ATTEND_ARG_QUERY);
  check.require(fits_heads(layer.output.inputs, extents.query_heads, extents.value_dim), ATTEND_MISMATCH, ATTEND_ARG_OUTPUT);
}

// Requires the fields that a problem leaves to the layer as they were initialised.
void check_left_out(Check& check, const attend_problem& problem) {
  check_one_sequence(check, problem);
  check.left_out(is_default(problem.query), ATTEND_ARG_QUERY);
  check.left_out(is_default(problem.key), ATTEND_ARG_KEY);
  check.left_out(is_default(problem.value), ATTEND_ARG_VALUE);
  check.left_out(is_default(problem.output), ATTEND_ARG_OUTPUT);
}

// A call of a layer, as it is being checked.
struct LayerUse : Call {
  [[gnu::always_inline]] explicit LayerUse(const attend_layer& of) : layer(of) {}
  const attend_layer& layer;
  attend_problem problem;  // the caller's, with the layer's cache and number of keys
  size_t bytes = 0;        // of work memory
  int position = 0;        // of the first token
};

// Checks extents and the cache, and sets the number of keys.
void check_extents(LayerUse& use, const attend_problem* problem) {
  use.one_sequence = true;
  check_rows(use, problem);
  use.whole_struct(&use.layer, ATTEND_ARG_LAYER);
  if (!use.failed()) check_team(use, use.layer);
  if (use.failed()) return;
  check_left_out(use, *problem);
  check_heads(use, *problem, ATTEND_MAX_WIDTH, use.first);
  const attend_cache* const cache = use.layer.cache;
  if (cache != nullptr) check_cache(use, cache);
  if (use.failed()) return;
  use.require(cache == nullptr || is_of_shape(*cache, *problem), ATTEND_MISMATCH, ATTEND_ARG_CACHE);
  use.problem = *problem;
  use.problem.cache = cache;
  if (cache == nullptr) {  // the keys of the tokens alone
    if (problem->keys == ATTEND_ALL_KEYS) use.problem.keys = problem->queries;
    use.within(use.problem.keys, 0, problem->queries, ATTEND_ARG_KEYS);
  }
  use.first.key_panels = cache != nullptr;
  use.in_layer = true;
  use.plain = is_plain(*problem) && (cache == nullptr || is_plain(*cache));
  const int most_keys = cache != nullptr ? cache->max_tokens : use.first.queries;
  plan(use, {most_keys, cache, false});
}

detail::LayerMemory memory_of(LayerUse& use) {
  const int queries = use.first.queries;
  const detail::LayerMemory memory(use.first, queries, use.layer.cache != nullptr ? 0 : queries,
                                   use.workspace_bytes / sizeof(float));
  const uint64_t floats = memory.floats_of(threads_of(use.layer));
  use.require(floats <= PTRDIFF_MAX / sizeof(float), ATTEND_TOO_LARGE, ATTEND_ARG_QUERIES);
  use.bytes = size_t(floats * sizeof(float));
  return memory;
}

// Takes the position of cross-attention's tokens for rotary: where options use no positions, the offset serves rotary alone.
void take_position(LayerUse& use) {
  ptrdiff_t& offset = use.problem.offset;
  if (!uses_positions(use.layer) || is_positioned(use.problem) || offset == ATTEND_DEFAULT_OFFSET) return;
  use.within(offset, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_OFFSET);
  use.position = use.failed() ? 0 : int(offset);
  offset = ATTEND_DEFAULT_OFFSET;
}

// The problem with its options, as it is when the cache has got the tokens.
void check_problem(LayerUse& use, CallOptions& options) {
  if (use.appends) {
    const attend_cache& cache = *use.layer.cache;
    use.require(use.problem.queries <= cache.max_tokens - cache.tokens, ATTEND_FULL, ATTEND_ARG_CACHE);
    if (use.failed()) return;
    use.appended = int(use.problem.queries);
  }
  check_call(use, &use.problem);
  if (!use.failed() && !use.plain) check_options(use, use.problem, options);
  // Steps take positions in x, not in a document.
  const bool packed = options.ranges.boundaries != nullptr;
  use.require(!packed || use.layer.rotary == nullptr, ATTEND_CONFLICT, ATTEND_ARG_ROTARY);
  use.require(!packed || use.layer.query_factors.data == nullptr, ATTEND_CONFLICT, ATTEND_ARG_QUERY_FACTORS);
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
void check_places(LayerUse& use, const LayerArguments& given) {
  const ptrdiff_t tokens = use.problem.queries, inputs = use.layer.query.inputs, outputs = use.layer.output.outputs;
  use.within(inputs, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_INPUTS);
  use.within(outputs, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_OUTPUTS);
  const Range from = check_vectors(use, given.x, tokens, inputs, ATTEND_ARG_X);
  const Range to = check_vectors(use, given.y, tokens, outputs, ATTEND_ARG_Y);
  use.write(to, ATTEND_ARG_Y);
  // A wrong layer asks for a wrong size of work memory, so errors of the layer come first.
  Check memory;
  const Range work = memory.memory(given.workspace, given.workspace_size, use.bytes, ATTEND_ARG_WORKSPACE);
  use.write(work, ATTEND_ARG_WORKSPACE);
  read_same(use, from, to);
  check_layer(use, use.layer, use.first);
  use.take(memory);
}

// False where keys or values are out of range of the cache.
bool run(const LayerArguments& given, LayerUse& use, const detail::LayerMemory& memory, const CallOptions& options) {
  core::Problem problem = use.option_problem_of_row(0);
  float* const work = static_cast<float*>(given.workspace);
  const Kept kept = {use.layer.cache, use.appends,
                     arrays_at(work + size_t(memory.keys), work + size_t(memory.values), problem)};
  if (kept.cache == nullptr) {
    problem.key = {kept.arrays.keys.data, kept.arrays.keys.token_stride, kept.arrays.keys.head_stride};
    problem.value = {kept.arrays.values.data, kept.arrays.values.token_stride, kept.arrays.values.head_stride};
  }
  problem.query = {work + size_t(memory.first), ptrdiff_t(problem.query_heads) * problem.head_dim, problem.head_dim};
  problem.output = {work + size_t(memory.second), ptrdiff_t(problem.query_heads) * problem.value_dim, problem.value_dim};
  problem.scale = scale_of(use.problem);
  const RunTimeLayer layer(use.layer, use.first);
  const LayerCall call = {{memory}, layer, kept, {given.x, given.y, work, use.position}, team_of(use.layer)};
  if (use.plain) return detail::run_blocks<core::Floats>(problem, call);
  core::RangedOptions block_options = options_of_row(options, 0);
  if (has_lists(block_options)) return detail::run_blocks<core::Floats>(problem, call, block_options);
  return detail::run_blocks<core::Floats>(problem, call, static_cast<core::Options&>(block_options));
}

attend_status attend_through(const LayerArguments& given, bool self) {
  Check check;
  check.structs(given.layer, 1, ATTEND_ARG_LAYER);
  if (check.failed()) return check.status();
  LayerUse use(*given.layer);
  CallOptions options;
  const attend_cache* const cache = given.layer->cache;
  check_extents(use, given.problem);
  if (use.failed()) return use.status();
  const detail::LayerMemory memory = memory_of(use);
  if (self) {
    use.appends = cache != nullptr;
    use.position = cache != nullptr ? cache->tokens : 0;
    const ptrdiff_t offset = use.problem.offset;
    const bool agrees =
        !uses_positions(use.layer) || !is_positioned(use.problem) || offset == ATTEND_DEFAULT_OFFSET || offset == use.position;
    use.require(agrees, ATTEND_CONFLICT, ATTEND_ARG_OFFSET);
  } else {
    use.require(cache != nullptr, ATTEND_MISSING, ATTEND_ARG_CACHE);
    take_position(use);
  }
  if (!use.failed()) check_problem(use, options);
  if (use.failed()) return use.status();
  if (!self && is_positioned(use.problem)) {
    use.position = use.queries_last ? int(use.keys_of_row(0)) - use.first.queries : use.first.offset;
  }
  use.require(!uses_positions(use.layer) || use.position >= 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OFFSET);
  check_places(use, given);
  use.require(!self || use.layer.key.inputs == use.layer.query.inputs, ATTEND_MISMATCH, ATTEND_ARG_KEY);
  if (!use.failed()) use.require(run(given, use, memory, options), ATTEND_OUT_OF_RANGE, ATTEND_ARG_CACHE);
  return use.status();
}

// Extents of attend_project_memory, and its work memory.
detail::LayerMemory check_memory_tokens(Memory& check, const attend_layer* layer, ptrdiff_t tokens, core::Problem& extents) {
  check.whole_struct(layer, ATTEND_ARG_LAYER);
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  if (!check.failed()) check_team(check, *layer);
  if (!check.failed()) check_cache(check, layer->cache);
  if (check.failed()) return {extents, 0, 0, 0};
  extents.query_heads = extents.kv_heads = layer->cache->kv_heads;
  extents.head_dim = layer->cache->head_dim;
  extents.value_dim = layer->cache->value_dim;
  check_kept(check, *layer, extents);
  const detail::LayerMemory memory(extents, int(tokens), 0, 0);
  check.require(memory.floats_of(threads_of(*layer)) <= PTRDIFF_MAX / sizeof(float), ATTEND_TOO_LARGE, ATTEND_ARG_TOKENS);
  return memory;
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_logarithmic_factors(float beta, ptrdiff_t count, float* factors) {
  Check check;
  check.within(count, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_COUNT);
  check.require(is_finite(beta), ATTEND_OUT_OF_RANGE, ATTEND_ARG_BETA);
  if (!check.failed()) check.array(factors, count, float_bits, ATTEND_ARG_FACTORS);
  if (!check.failed()) core::logarithmic_factors(beta, int(count), factors);
  return check.status();
}

attend_status attend_layer_init(attend_layer* layer, size_t size) {
  const attend_status status = new_struct(layer, size, ATTEND_ARG_LAYER);
  if (status == ATTEND_OK) layer->epsilon = usual_epsilon;
  return status;
}

size_t attend_layer_workspace_size(const attend_problem* problem, const attend_layer* layer) {
  Check check;
  check.structs(layer, 1, ATTEND_ARG_LAYER);
  if (check.failed()) return 0;
  LayerUse use(*layer);
  check_extents(use, problem);
  if (!use.failed()) check_layer(use, *layer, use.first);
  if (!use.failed()) memory_of(use);
  return use.failed() ? 0 : use.bytes;
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
  Memory check;
  core::Problem extents = {};
  const detail::LayerMemory memory = check_memory_tokens(check, layer, tokens, extents);
  if (check.failed()) return 0;
  const size_t bytes = size_t(memory.floats_of(threads_of(*layer)) * sizeof(float));
  return bytes == 0 ? size_t(ATTEND_ALIGNMENT) : bytes;  // 0 means refused
}

attend_status attend_project_memory(const attend_layer* layer, const float* x, ptrdiff_t tokens, void* workspace,
                                    size_t workspace_size) {
  Memory check;
  core::Problem extents = {};
  const detail::LayerMemory places = check_memory_tokens(check, layer, tokens, extents);
  if (check.failed() || tokens == 0) return check.status();
  attend_cache& cache = *layer->cache;
  check.require(tokens <= cache.max_tokens - cache.tokens, ATTEND_FULL, ATTEND_ARG_CACHE);
  check.write(cache_range(cache), ATTEND_ARG_CACHE);
  check_workspace(check, workspace, workspace_size, size_t(places.floats_of(threads_of(*layer)) * sizeof(float)));
  check.read_last(check_vectors(check, x, tokens, layer->key.inputs, ATTEND_ARG_X));
  check_kept(check, *layer, extents);
  if (check.failed()) return check.status();
  const RunTimeLayer from(*layer, extents);
  const Kept kept = {&cache, true, arrays_at(nullptr, nullptr, extents)};
  const LayerCall call = {
      {places}, from, kept, {nullptr, nullptr, static_cast<float*>(workspace), cache.tokens}, team_of(*layer)};
  check.require(call.store(x, int(tokens)), ATTEND_OUT_OF_RANGE, ATTEND_ARG_CACHE);
  return check.status();
}

}  // extern "C"
