// Executed instructions for each multiply-accumulate of projections, of a layer, and of float32 attention, softmax included:
// one head, no mask, every token sees every token. Multiply-accumulates are 2 * tokens * tokens * head_dim: those of the scores
// and of the output.
//
// For an emulator whose clock moves with the instructions (instructions.h).
#include "../../../tests/support/tested.h"

#include "../../../tests/conformance/cache_call.h"
#include "../../../tests/support/random.h"
#include "../../boards/instructions.h"
#include "../../boards/platform.h"
#include "attend/core/integer.h"
#include "attend/core/options.h"
#include "attend/layers.h"
#include "count_differences.h"
#include "count_projections.h"

namespace {

int smaller(int a, int b) { return a < b ? a : b; }

void count(int tokens, int head_dim, bool cache) {
  using namespace attend;
  Memory memory;
  const size_t floats = size_t(tokens) * size_t(head_dim);
  float *query = memory.take(floats), *key = memory.take(floats), *value = memory.take(floats), *output = memory.take(floats);
  fill(floats, query, key, value);

  core::Problem problem{};
  problem.query = {query, head_dim, 0};
  problem.output = {output, head_dim, 0};
  problem.key = {key, head_dim, 0};
  problem.value = {value, head_dim, 0};
  if (cache) {
    const core::Cache panels{memory.take(core::cache_key_floats(1, head_dim, tokens)),
                             memory.take(core::cache_value_floats(1, head_dim, tokens)),
                             1,
                             head_dim,
                             head_dim,
                             tokens};
    core::store(panels, 0, tokens, {key, head_dim, 0}, {value, head_dim, 0});
    problem.key = {panels.keys, 0, 0};
    problem.value = {panels.values, head_dim, 0};
    problem.key_panels = true;
  }
  problem.query_heads = problem.kv_heads = 1;
  problem.head_dim = problem.value_dim = head_dim;
  problem.queries = problem.keys = tokens;
  problem.scale = default_scale(head_dim);
  problem.row_block = smaller(tokens, config::row_block);
  problem.key_block = smaller(core::whole_chains(tokens), config::key_block);
  problem.scratch = memory.take(0);
  const uint64_t instructions = firmware::count_instructions([&problem] { core::Floats::run(problem); });
  firmware::print_number(uint64_t(tokens));
  firmware::print("x");
  firmware::print_number(uint64_t(head_dim));
  firmware::print(cache ? " cache  " : " arrays ");
  report(instructions, 2 * uint64_t(tokens) * uint64_t(tokens) * uint64_t(head_dim));
}

// The same in integers: one head, every token sees every token.
struct IntegerCount {
  int queries;
  int keys;
  int head_dim;
  bool causal;
  int times;
};
uint64_t count_integers(const IntegerCount& call, uint64_t seed) {
  using namespace attend;
  Memory memory;
  const int head_dim = call.head_dim;
  const size_t numbers = size_t(call.keys) * size_t(head_dim);
  int8_t* arrays[4];
  for (int8_t*& array : arrays) array = reinterpret_cast<int8_t*>(memory.take(numbers / sizeof(float) + 1));
  attend_test::Random random(seed);
  for (int i = 0; i < 3; ++i) {
    for (size_t k = 0; k < numbers; ++k) arrays[i][k] = int8_t(random.between(-128, 127));
  }
  const core::ScoreScale score_scale = core::score_scale(0x1p-12);
  const core::OutputScale output_scale = core::output_scale(4);
  core::Problem problem{};
  problem.query = {arrays[0], head_dim, 0};
  problem.key = {arrays[1], head_dim, 0};
  problem.value = {arrays[2], head_dim, 0};
  problem.output = {arrays[3], head_dim, 0};
  problem.query_heads = problem.kv_heads = 1;
  problem.head_dim = problem.value_dim = head_dim;
  problem.queries = call.queries;
  problem.keys = call.keys;
  problem.offset = call.keys - call.queries;
  problem.causal = call.causal;
  problem.score_scales = &score_scale;
  problem.output_scales = &output_scale;
  problem.row_block = smaller(call.queries, config::integer_row_block);
  problem.key_block = config::integer_key_block;
  problem.scratch = memory.take(0);
  return firmware::count_instructions([&] {
    for (int i = 0; i < call.times; ++i) core::Integers::run(problem);
  });
}

void count_integers(int tokens, int head_dim) {
  firmware::print_number(uint64_t(tokens));
  firmware::print("x");
  firmware::print_number(uint64_t(head_dim));
  firmware::print(" integer ");
  report(count_integers({tokens, tokens, head_dim, false, 1}, 1), 2 * uint64_t(tokens) * uint64_t(tokens) * uint64_t(head_dim));
}

// A call over a cache of 256 tokens with 32 dimensions.
struct Call {
  const char* name;
  bool plain;
  int left;  // of the window, or -1
  bool ring;
  attend::core::Format format;
};

constexpr int cached = 256, dims = 32, window = 200;
constexpr Call calls[] = {
    {"plain", true, -1, false, attend::core::Format::float32},
    {"options", false, -1, false, attend::core::Format::float32},
    {"window", false, window - 1, false, attend::core::Format::float32},
    {"ring", false, window - 1, true, attend::core::Format::float32},
    {"float16", false, -1, false, attend::core::Format::float16},
    {"bfloat16", false, -1, false, attend::core::Format::bfloat16},
    {"int8", false, -1, false, attend::core::Format::int8},
    {"int4", false, -1, false, attend::core::Format::int4},
};

// The last tokens of the cache are the queries; they are causal.
void count_call(const Call& call, int queries) {
  using namespace attend;
  Memory memory;
  constexpr size_t floats = size_t(cached) * dims;
  float *query = memory.take(floats), *key = memory.take(floats), *value = memory.take(floats), *output = memory.take(floats);
  fill(floats, query, key, value);

  core::Paging paging{};
  if (call.ring) paging.ring_panels = core::panel_count(window + queries - 2) + 1;
  const size_t rows = core::format_cache_rows(1, cached);
  const core::FormatCache cache{memory.take(floats),
                                memory.take(floats),
                                memory.take(rows),
                                memory.take(rows),
                                call.format,
                                call.format,
                                1,
                                dims,
                                dims,
                                cached,
                                paging};
  core::store(cache, 0, cached, {key, dims, 0}, {value, dims, 0});

  core::Problem problem{};
  problem.query = {query, dims, 0};
  problem.output = {output, dims, 0};
  problem.key = {cache.keys, 0, 0};
  problem.value = {cache.values, dims, 0};
  problem.key_panels = true;
  problem.query_heads = problem.kv_heads = 1;
  problem.head_dim = problem.value_dim = dims;
  problem.queries = queries;
  problem.keys = cached;
  problem.offset = cached - queries;
  problem.causal = true;
  problem.scale = default_scale(dims);
  problem.row_block = smaller(queries, call.plain ? config::row_block : config::option_row_block);
  problem.key_block = config::key_block;
  problem.scratch = memory.take(0);
  core::Options options;
  options.left = call.left;
  options.key_format = options.value_format = call.format;
  if (call.format == core::Format::int8) {
    options.key_scales = cache.key_scales;
    options.value_scales = cache.value_scales;
  }
  options.paging = paging;
  const uint64_t instructions = firmware::count_instructions([&] {
    if (call.plain) {
      core::Floats::run(problem);
    } else if (call.ring || call.format != core::Format::float32) {
      attend_test::run_cache(problem, options, queries == 1);
    } else {
      core::Floats::run(problem, options);
    }
  });

  uint64_t visible = 0;
  for (int at = problem.offset; at < cached; ++at) visible += uint64_t(call.left < 0 ? at + 1 : smaller(at, call.left) + 1);
  firmware::print(queries == 1 ? "decode " : "prefill ");
  firmware::print(call.name);
  firmware::print(" ");
  report(instructions, 2 * visible * dims);
}

// A multi-head layer, 4 heads of 32, weights of bytes: a prompt, then one token that sees it; for each weight and token,
// attention included.
struct LayerShape {
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 32, max_tokens = 65;
};
constexpr int layer_width = LayerShape::query_heads * LayerShape::head_dim, prompt_tokens = LayerShape::max_tokens - 1;
attend::Weights<layer_width, layer_width, attend::int8> wq, wk, wv, wo;
attend::Weights<layer_width, layer_width, attend::int8>* const layer_weights[] = {&wq, &wk, &wv, &wo};
attend::Vectors<prompt_tokens, layer_width> prompt;
attend::Vectors<1, layer_width> token;
attend::KvCache<LayerShape> layer_cache;
attend::LayerWorkspace<LayerShape, prompt_tokens> layer_work;

void fill(attend::Weights<layer_width, layer_width, attend::int8>& weights, attend_test::Random& random) {
  for (auto& row : weights.data) {
    for (auto& number : row) number = int8_t(random.between(-127, 127));
  }
  for (float& scale : weights.scales) scale = 0x1p-10f;
}

void count_layer() {
  attend_test::Random random(1);
  for (auto* const weights : layer_weights) fill(*weights, random);
  random.fill(prompt.data[0], size_t(prompt_tokens) * layer_width);
  random.fill(token.data[0], layer_width);
  const auto layer = attend::multi_head<LayerShape>(wq, wk, wv, wo);
  constexpr uint64_t weights = 4u * layer_width * layer_width;
  attend::Status status{}, after{};
  const uint64_t all =
      firmware::count_instructions([&] { status = attend::self_attention(prompt, layer, layer_cache, prompt, layer_work); });
  const uint64_t one =
      firmware::count_instructions([&] { after = attend::self_attention(token, layer, layer_cache, token, layer_work); });
  if (status != attend::Status::ok || after != attend::Status::ok) return firmware::print("the layer refuses\n");
  firmware::print("layer prompt ");
  report(all, weights * prompt_tokens);
  firmware::print("layer token ");
  report(one, weights);
}

}  // namespace

int firmware::run() {
  if (!firmware::start_counting()) return 1;
  count(64, 32, false);
  count(64, 32, true);
  count(128, 64, false);
  count(128, 64, true);
  count(64, 16, false);
  count(64, 16, true);
  count_integers(64, 16);
  count_integers(64, 32);
  count_integers(128, 64);
  differences::count();
  for (const Call& call : calls) count_call(call, 1);
  for (const Call& call : calls) count_call(call, 64);
  for (const LinearCall& call : linear_calls) count_linear(call);
  count_integer_linear("integer", 1);
  count_integer_linear("integer_16", 16);
  count_linear_attention();
  count_linear_floats();
  count_layer();
  return 0;
}
