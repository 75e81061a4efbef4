//! integer_key: attend: attention takes an attend::Key of the query's shape second
static attend::Key<Shape, 4> wrong_key;
void wrong() { attend::attention(byte_query, wrong_key, byte_value, byte_result, byte_workspace, byte_scales); }
//! integer_output: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
static attend::Output<Shape, 4> wrong_output;
void wrong() { attend::attention(byte_query, byte_key, byte_value, wrong_output, byte_workspace, byte_scales); }
//! integer_work: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
static attend::Workspace<Integers, 1, 4> wrong_work;
void wrong() { attend::attention(byte_query, byte_key, byte_value, byte_result, wrong_work, byte_scales); }
//! integer_quantisation_heads: attend: a Quantisation is of 1 head, for all of them, or of the shape's query heads
attend::Quantisation<Integers, 3>* quantisation() {
  static attend::Quantisation<Integers, 3> three(1, 1, 1, 1);
  return &three;
}
//! integer_cache: attend: decode takes an attend::Query of one token and of the cache's shape first
void wrong() { attend::decode(byte_token, cache, byte_token_output, byte_token_workspace, byte_scales); }
//! integer_no_quantisation: attend: a call of an integer shape takes an attend::Quantisation<Shape> after its work memory
void wrong() { attend::decode(byte_token, byte_cache, byte_token_output, byte_token_workspace); }
//! integer_score_options: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::decode(byte_token, byte_cache, byte_token_output, byte_token_workspace, byte_scales, attend::ScoreOptions<Shape>()); }
//! integer_append: attend: append takes an attend::Key of the cache's own shape first
void wrong() { byte_cache.append(key, value); }
//! integer_projection_weights: attend: project of integers takes attend::Weights<outputs, inputs, attend::integer> second
static attend::Weights<4, 4, attend::int8> wrong_weights;
void wrong() { attend::project(four_bytes, wrong_weights, attend::ProjectionScales<>(1, 1, 1), four_results); }
//! integer_projection_scales: attend: project of integers takes attend::ProjectionScales third, of 1 or of as many outputs as the weights have
static const double steps[] = {1, 1, 1};
void wrong() { attend::project(four_bytes, four_weights, attend::ProjectionScales<3>(1, steps, 1), four_results); }
//! integer_projection_output: attend: project of integers writes attend::Vectors of int8_t or int16_t, a Query, Key or Value of an integer shape
static attend::Vectors<2, 4> wrong_result;
void wrong() { attend::project(four_bytes, four_weights, attend::ProjectionScales<>(1, 1, 1), wrong_result); }
//! integer_projection_inputs: attend: project takes an input with as many numbers for each token as the weights have inputs
static attend::Vectors<2, 5, int8_t> wrong_input;
void wrong() { attend::project(wrong_input, four_weights, attend::ProjectionScales<>(1, 1, 1), four_bytes); }
//! integer_projection_outputs: attend: the output of project has as many tokens as the input, and as many numbers for each as the weights have outputs
static attend::Query<Integers, 2> wrong_result;
void wrong() { attend::project(four_bytes, four_weights, attend::ProjectionScales<>(1, 1, 1), wrong_result); }
//! integer_projection_no_scales: attend: project of integers takes attend::Weights<outputs, inputs, attend::integer>, attend::ProjectionScales and an output after its input
void wrong() { attend::project(four_bytes, four_weights, four_results); }
//! integer_sum_no_scales: attend: add of integers takes a, b, attend::SumScales and their sum
void wrong() { (void)attend::add(four_bytes, four_results, four_bytes); }
//! integer_sum_in_place_no_scales: of integers add takes a, b, attend::SumScales and their sum
void wrong() { attend::add(four_bytes, four_results); }
//! integer_options_of_floats: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::attention(query, key, value, output, option_workspace, attend::ScoreOptions<Integers>()); }
//! integer_quantisation_of_floats: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::attention(query, key, value, output, workspace, attend::Quantisation<Integers>(1, 1, 1, 1)); }
//! integer_quantisation_of_a_float_shape: attend: a Quantisation is of an integer shape: write attend::Quantisation<attend::Integer<Shape>>
attend::Quantisation<Shape> quantisation(1, 1, 1, 1);
//! integer_quantisation_after_options: attend: after its arrays a call takes work memory, if it needs any, for an integer shape an attend::Quantisation<Shape>, then
void wrong() { attend::decode(byte_token, byte_cache, byte_token_output, byte_token_workspace, attend::causal(), byte_scales); }
//! integer_decode_without_work: attend: decode takes an attend::Workspace<Shape, 1>; of floats over a KvCache it may be left out
void wrong() { attend::decode(byte_token, byte_cache, byte_token_output, byte_scales); }
//! integer_finish_without_quantisation: attend: a call of an integer shape takes an attend::Quantisation<Shape> after its work memory
static attend::State<Integers> state_of_bytes;
void wrong() { attend::finish(state_of_bytes, byte_token_output); }
//! integer_cache_of_a_format: attend: a cache of an integer shape keeps its 8-bit numbers as they are: leave the formats out
attend::KvCache<Integers, attend::float16> wrong;
//! integer_output_of_32_bits: attend: an Output has the numbers of its shape: leave the third parameter out, or make it int16_t for an integer shape
attend::Output<Integers, 1, int> wrong;
//! integer_output_of_floats: attend: an Output has the numbers of its shape: leave the third parameter out, or make it int16_t for an integer shape
attend::Output<Shape, 1, int16_t> wrong;
//! integer_cache_too_long: attend: a KvCache of an integer shape has at most 65535 tokens; a RingCache has no end
struct Long : Integers {
  static constexpr int max_tokens = 65536;
};
attend::KvCache<Long> wrong;
//! integer_ring_too_long: attend: a query over a RingCache of an integer shape sees at most 65535 tokens: make its window or its sink_tokens smaller
struct Long {
  static constexpr int window = 65535, sink_tokens = 1;
};
attend::RingCache<Integers, Long> wrong;
//! integer_attention_too_long: attend: attention of an integer shape takes at most 65535 keys
attend::Workspace<Integers, 1, 65536> wrong;
//! integer_shape_too_wide: attend: the head_dim of an integer shape must be at most 4096
struct Wide : Integers {
  static constexpr int head_dim = 4097;
};
attend::Query<Wide> wrong;
//! integer_arithmetic_of_int: attend: the arithmetic of a shape is attend::integer, or left out for float32
struct Wrong : Shape {
  using arithmetic = int;
};
attend::Query<Wrong> wrong;
//! integer_token_scales_of_floats: attend: TokenScales are of an integer shape; a cache of attend::int8 has its own
attend::TokenScales<Shape, 4> wrong;
//! integer_token_scales_temporary: attend: options.key_scales and options.value_scales take attend::TokenScales of the options' shape that outlive the call, no temporary
void wrong(attend::ScoreOptions<Integers>& options) { options.key_scales = attend::TokenScales<Integers, 4>(); }
//! integer_token_scales_of_other_shape: attend: options.key_scales and options.value_scales take attend::TokenScales of the options' shape that outlive the call, no temporary
void wrong(attend::ScoreOptions<Integers>& options, attend::TokenScales<attend::Integer<OtherShape>, 4>& scales) { options.value_scales = scales; }
//! integer_layer: attend: layers compute in float32: give them a shape without attend::integer
auto wrong() { return attend::multi_head<Integers>(query_weights, key_weights, value_weights, output_weights); }
//! integer_vectors_of_double: attend: Vectors are of float, int8_t or int16_t
attend::Vectors<2, 4, double> wrong;
//! integer_weights_of_floats: attend: a projection takes attend::Weights or attend::PackedWeights
static attend::Vectors<2, 4> floats_in, floats_out;
void wrong() { attend::project(floats_in, attend::into(four_weights, floats_out)); }
//! integer_projection_one_scale: attend: ProjectionScales of several outputs take a double[outputs] second
attend::ProjectionScales<3> scales() { return attend::ProjectionScales<3>(1, 1, 1); }
//! integer_right: nothing
attend::Status right() {
  return attend::decode(byte_token, byte_cache, byte_token_output, byte_token_workspace, byte_scales, attend::ScoreOptions<Integers>());
}
//! integer_cache_without_header: attend: a cache of an integer shape needs #include <attend/integer.h>
#include <attend/attend.h>
struct Bytes {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 4, max_tokens = 16;
};
attend::KvCache<attend::Integer<Bytes>> cache;
//! integer_workspace_without_header: attend: a workspace of an integer shape needs #include <attend/integer.h>
#include <attend/attend.h>
struct Bytes {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 4, max_tokens = 16;
};
attend::Workspace<attend::Integer<Bytes>> work;
//! integer_scale_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::Quantisation<Integers> scales(0.03, 0.03, 0.02, 0);
//! integer_zero_point_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::Quantisation<Integers> scales(0.03, {0.03, 128}, 0.02, 0.01);
//! integer_projection_scale_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::ProjectionScales<> scales(0.03, -1, 0.02);
//! integer_sum_scale_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::SumScales<1> scales(0.03, 0);
