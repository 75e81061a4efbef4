// What size.sh links and measures. There is no start-up code: the linker is told where the program begins, and drops everything
// that cannot be reached from there. So one object is many programs, and all that is in an image is what the calls bring along.
#include <attend/attend_c.h>
#include <attend/layers/multi_head.h>
#include <attend/linear_attention/core_linear_integer.h>

#include "size_program.h"

namespace size_program {

// All of the caller's memory. Whatever else an image has of RAM is the library's.
attend::KvCache<Shape> cache;
attend::Workspace<Shape, prompt_tokens> work;
Arrays<prompt_tokens> prompt;
Arrays<1> token;
attend::core::Problem problem;
attend::core::Options options;
alignas(attend::config::alignment) float scratch[attend::core::option_scratch_floats(1, attend::chain_keys, Shape::head_dim,
                                                                                     Shape::head_dim)];

}  // namespace size_program

using namespace size_program;

extern "C" {

// Each call in a function of its own, so that its frame holds what is inlined from the headers, and nothing of the caller's.
__attribute__((noinline)) void append_prompt() { (void)cache.append(prompt.key, prompt.value); }
__attribute__((noinline)) void call_prefill() { (void)attend::prefill(prompt.query, cache, prompt.output, work); }
__attribute__((noinline)) void append_token() { (void)cache.append(token.key, token.value); }
__attribute__((noinline)) void call_decode() { (void)attend::decode(token.query, cache, token.output); }

// Decode with a window, and over caches of other kinds; prefill likewise.
struct LastTokens {
  static constexpr int window = 48;
};
using Ring = attend::RingCache<Shape, LastTokens>;
using RingOfBytes = attend::RingCache<Shape, LastTokens, attend::int8>;
using Halves = attend::KvCache<Shape, attend::float16>;
using Bytes = attend::KvCache<Shape, attend::int8>;
Ring ring;
RingOfBytes ring_of_bytes;
Halves halves;
Bytes bytes;
attend::OptionWorkspace<Shape, 1, attend::over_ring<LastTokens>> decode_work;
attend::OptionWorkspace<Shape, prompt_tokens> prefill_work;
attend::ScoreOptions<Shape> window_options;
__attribute__((noinline)) void call_decode_window() {
  (void)attend::decode(token.query, cache, token.output, decode_work, window_options);
}
__attribute__((noinline)) void call_decode_ring() { (void)attend::decode(token.query, ring, token.output, decode_work); }
__attribute__((noinline)) void call_decode_float16() { (void)attend::decode(token.query, halves, token.output, decode_work); }
__attribute__((noinline)) void call_decode_int8() { (void)attend::decode(token.query, bytes, token.output, decode_work); }
__attribute__((noinline)) void call_decode_ring_int8() {
  (void)attend::decode(token.query, ring_of_bytes, token.output, decode_work);
}
__attribute__((noinline)) void call_prefill_window() {
  (void)attend::prefill(prompt.query, cache, prompt.output, prefill_work, window_options);
}
__attribute__((noinline)) void call_prefill_int8() { (void)attend::prefill(prompt.query, bytes, prompt.output, prefill_work); }

// The same in C, with a cache and a problem that are made at run time: without options, and with whatever C has.
alignas(ATTEND_ALIGNMENT) unsigned char c_cache[sizeof cache + 1024], c_work[4096];
static int decode_in_c(decltype(attend_problem_init)& init, decltype(attend_cache_append)& append) {
  attend_cache_shape shape;
  attend_problem problem;
  attend_cache* made = nullptr;
  if (attend_cache_shape_init(&shape, sizeof shape) != ATTEND_OK || init(&problem, sizeof problem) != ATTEND_OK) return 1;
  shape.kv_heads = problem.kv_heads = problem.query_heads = 1;
  shape.head_dim = shape.value_dim = problem.head_dim = problem.value_dim = Shape::head_dim;
  shape.max_tokens = Shape::max_tokens;
  if (attend_cache_init(&shape, c_cache, sizeof c_cache, &made) != ATTEND_OK) return 1;
  attend_input key = problem.key, value = problem.value;
  key.data = &token.key, value.data = &token.value;
  if (append(made, 1, &key, &value) != ATTEND_OK) return 1;
  problem.options = ATTEND_CAUSAL, problem.queries = 1, problem.cache = made;
  problem.query.data = &token.query, problem.output.data = &token.output;
  return attend_run(&problem, c_work, sizeof c_work);
}
__attribute__((noinline)) int call_c_plain() { return decode_in_c(attend_plain_problem_init, attend_plain_cache_append); }
__attribute__((noinline)) int call_c_options() { return decode_in_c(attend_problem_init, attend_cache_append); }

// A projection of one token, 128 x 128: packed floats, floats in rows, packed bytes, bytes in rows.
constexpr int width = 128;
attend::Vectors<1, width> projected, to_project;
attend::Weights<width, width> row_weights;
attend::Weights<width, width, attend::int8> row_bytes;
attend::PackedWeights<width, width> packed_weights;
attend::PackedWeights<width, width, attend::int8> packed_bytes;
__attribute__((noinline)) void call_project() { (void)attend::project(to_project, packed_weights, projected); }
__attribute__((noinline)) void call_project_rows() { (void)attend::project(to_project, row_weights, projected); }
__attribute__((noinline)) void call_project_int8() { (void)attend::project(to_project, packed_bytes, projected); }
__attribute__((noinline)) void call_project_int8_rows() { (void)attend::project(to_project, row_bytes, projected); }

// A multi-head layer of 4 heads of 32 with weights of bytes, for a prompt: over a cache of floats, and over a ring of bytes.
struct LayerShape {
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 32, max_tokens = 64;
};
struct LayerRing {
  static constexpr int window = 48, tokens_at_once = LayerShape::max_tokens;
};
attend::Weights<width, width, attend::int8> wq, wk, wv, wo;
attend::Vectors<LayerShape::max_tokens, width> vectors;
attend::KvCache<LayerShape> layer_cache;
attend::RingCache<LayerShape, LayerRing, attend::int8> layer_ring;
attend::LayerWorkspace<LayerShape, LayerShape::max_tokens> layer_work;
attend::LayerWorkspace<LayerShape, LayerShape::max_tokens, attend::over_ring<LayerRing>, attend::with_options> layer_ring_work;
static_assert(!ATTEND_EMBEDDED || sizeof layer_work <= 6 * 1024, "include/guide/ says how much a layer's workspace takes");
__attribute__((noinline)) void call_layer() {
  (void)attend::self_attention(vectors, attend::multi_head<LayerShape>(wq, wk, wv, wo), layer_cache, vectors, layer_work);
}
__attribute__((noinline)) void call_layer_ring() {
  (void)attend::self_attention(vectors, attend::multi_head<LayerShape>(wq, wk, wv, wo), layer_ring, vectors, layer_ring_work);
}

// Attention in integers over arrays, one token over a cache, and over a ring.
using Integers = attend::Integer<Shape>;
constexpr attend::Quantisation<Integers> quantisation(0.03, 0.03, 0.02, 0.02);
attend::Query<Integers, prompt_tokens> integer_query;
attend::Key<Integers, prompt_tokens> integer_key;
attend::Value<Integers, prompt_tokens> integer_value;
attend::Output<Integers, prompt_tokens> integer_output;
attend::Query<Integers> integer_token;
attend::Output<Integers> integer_token_output;
attend::RingCache<Integers, LastTokens> integer_ring;
attend::Workspace<Integers, prompt_tokens, prompt_tokens> integer_work;
attend::Workspace<Integers> integer_ring_work;
struct Wide {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 64;
};
static_assert(!ATTEND_EMBEDDED || sizeof(attend::Workspace<attend::Integer<Wide>, 64, 64>) <= 1024,
              "include/guide/ says how much it takes");
__attribute__((noinline)) void call_integer() {
  (void)attend::attention(integer_query, integer_key, integer_value, integer_output, integer_work, quantisation);
}
__attribute__((noinline)) void call_integer_ring() {
  (void)attend::decode(integer_token, integer_ring, integer_token_output, integer_ring_work, quantisation);
}

// A projection in integers of one token, 128 x 128.
constexpr attend::ProjectionScales<> projection_scales({0.03, 5}, 0.01, {0.02, 0});
attend::Vectors<1, width, int8_t> integer_projected, integer_to_project;
attend::Weights<width, width, attend::integer> integer_weights;
__attribute__((noinline)) void call_project_integer() {
  (void)attend::project(integer_to_project, integer_weights, projection_scales, integer_projected);
}

// A problem over the prompt's arrays, with options that only the program running knows.
__attribute__((noinline)) void call_options() { attend::core::Floats::run(problem, options); }

// A token of the gated delta rule, in floats and in integers.
attend::core::LinearAttention linear_attention;
attend::core::IntegerLinearAttention linear_integer;
__attribute__((noinline)) void call_linear_attention() {
  attend::core::run_linear_attention<attend::LinearRule::gated_delta, attend::Decay::per_head>(linear_attention, 0, 1);
}
__attribute__((noinline)) void call_linear_integer() {
  attend::core::run_linear_attention<attend::LinearRule::gated_delta, attend::Decay::per_head>(linear_integer, 0, 1);
}

// Prefill in parts. No image has it: only its stack is asked for.
constexpr attend::Part half = {0, 2};
__attribute__((noinline)) void call_prefill_part() {
  (void)attend::prefill(prompt.query, cache, prompt.output, work, attend::causal(), half);
}

// Where the linker begins.
void begin_nothing() {}
void begin_prefill() {
  append_prompt();
  call_prefill();
}
void begin_decode() {
  append_token();
  call_decode();
}
void begin_both() {
  begin_prefill();
  begin_decode();
}
void begin_options() { call_options(); }
void begin_decode_window() {
  append_token();
  call_decode_window();
}
void begin_decode_ring() {
  (void)ring.append(token.key, token.value);
  call_decode_ring();
}
void begin_decode_float16() {
  (void)halves.append(token.key, token.value);
  call_decode_float16();
}
void begin_decode_int8() {
  (void)bytes.append(token.key, token.value);
  call_decode_int8();
}
void begin_decode_ring_int8() {
  (void)ring_of_bytes.append(token.key, token.value);
  call_decode_ring_int8();
}
void begin_prefill_window() {
  append_prompt();
  call_prefill_window();
}
void begin_prefill_int8() {
  (void)bytes.append(prompt.key, prompt.value);
  call_prefill_int8();
}

void begin_integer() { call_integer(); }
void begin_integer_ring() {
  attend::Key<Integers> key;
  attend::Value<Integers> value;
  (void)integer_ring.append(key, value);
  call_integer_ring();
}
void begin_c_plain() { (void)call_c_plain(); }
void begin_c_options() { (void)call_c_options(); }
void begin_layer() { call_layer(); }
void begin_layer_ring() { call_layer_ring(); }
void begin_project() { call_project(); }
void begin_project_rows() { call_project_rows(); }
void begin_project_int8() { call_project_int8(); }
void begin_project_int8_rows() { call_project_int8_rows(); }
void begin_project_integer() { call_project_integer(); }
void begin_linear_attention() { call_linear_attention(); }
void begin_linear_integer() { call_linear_integer(); }

// What the headers promise, as sizes of objects: those can be read without running anything.
extern const char core_stack[attend::config::stack_bytes];
extern const char prefill_stack[attend::prefill_stack_bytes];
extern const char decode_stack[attend::decode_stack_bytes<Shape>];
const char core_stack[sizeof core_stack] = {};
const char prefill_stack[sizeof prefill_stack] = {};
const char decode_stack[sizeof decode_stack] = {};
extern const char options_stack[attend::config::option_stack_bytes];
extern const char options_part_stack[attend::config::option_stack_bytes + attend::config::option_part_stack_bytes];
const char options_stack[sizeof options_stack] = {};
const char options_part_stack[sizeof options_part_stack] = {};
extern const char integer_stack[attend::config::integer_stack_bytes];
extern const char integer_option_stack[attend::config::integer_option_stack_bytes];
const char integer_stack[sizeof integer_stack] = {};
const char integer_option_stack[sizeof integer_option_stack] = {};
extern const char linear_attention_stack[attend::core::linear_attention_stack_bytes];
const char linear_attention_stack[sizeof linear_attention_stack] = {};
extern const char linear_stack[attend::config::linear_stack_bytes];
const char linear_stack[sizeof linear_stack] = {};
#if !ATTEND_EMBEDDED
extern const char integer_linear_stack[attend::config::integer_linear_stack_bytes];
const char integer_linear_stack[sizeof integer_linear_stack] = {};
#endif
extern const char multi_head_stack[attend::multi_head_stack_bytes];
const char multi_head_stack[sizeof multi_head_stack] = {};
extern const char multi_head_option_stack[attend::multi_head_option_stack_bytes];
const char multi_head_option_stack[sizeof multi_head_option_stack] = {};
extern const char layer_stack[attend::config::layer_stack_bytes];
const char layer_stack[sizeof layer_stack] = {};
extern const char prefill_part_stack[attend::prefill_stack_bytes + attend::config::part_stack_bytes];
const char prefill_part_stack[sizeof prefill_part_stack] = {};
}
