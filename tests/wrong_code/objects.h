// What the cases in this folder misuse: a sound shape, another one, and one of each thing for both.
#pragma once

#include <attend/layers.h>
#include <attend/linear_attention.h>
#include <attend/merged_states.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8, value_dim = 8, max_tokens = 32;
};

// The same sizes under another name: shapes are told apart by what they are for, not by their numbers.
struct OtherShape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8, value_dim = 8, max_tokens = 32;
};

// The same shape, whose calls compute in integers.
using Integers = attend::Integer<Shape>;

constexpr int queries = 3, keys = 5;

static attend::Query<Shape, queries> query;
static attend::Key<Shape, keys> key;
static attend::Value<Shape, keys> value;
static attend::Output<Shape, queries> output;
static attend::Workspace<Shape, queries, keys> workspace;

static attend::KvCache<Shape> cache;
static attend::Workspace<Shape, queries> prefill_workspace;
static attend::Query<Shape> token_query;
static attend::Output<Shape> token_output;
constexpr attend::Options all_options;
static attend::ScoreOptions<Shape> score_options;
static attend::OptionWorkspace<Shape, queries> option_workspace;
static attend::KvCache<Shape, attend::float16> half_cache;
struct LastTokens {
  static constexpr int window = 16, sink_tokens = 4, tokens_at_once = queries;
};
static attend::RingCache<Shape, LastTokens, attend::int8, float> ring;
static attend::OptionWorkspace<Shape, queries, attend::over_ring<LastTokens>> ring_workspace;
static attend::State<Shape, queries> state;
constexpr attend::Part half = {0, 2};

static attend::Query<OtherShape, queries> other_query;
static attend::Key<OtherShape, keys> other_key;
static attend::Value<OtherShape, keys> other_value;
static attend::Output<OtherShape, queries> other_output;
static attend::Query<OtherShape> other_token_query;
static attend::Output<OtherShape> other_token_output;
static attend::ScoreOptions<OtherShape> other_score_options;
static attend::OptionWorkspace<Shape, 1> small_option_workspace;
static attend::State<OtherShape, queries> other_state;

static attend::KvCache<OtherShape> other_cache;

static float floats[4096], eight[8];
static float* const float_pointer = floats;
static attend::RangedOptions<Shape> ranged_options;
static attend::KvCache<Shape, float, attend::in_keys> latents;

// A layer of vectors of 12 numbers, and work memory for 4 of them.
static attend::Weights<32, 12> query_weights;
static attend::Weights<16, 12> key_weights, value_weights;
static attend::Weights<12, 32> output_weights;
static attend::Weights<31, 12> few_weights;
static const auto layer = attend::multi_head<Shape>(query_weights, key_weights, value_weights, output_weights);
static float vectors[4][12], results[4][12];
static attend::LayerWorkspace<Shape, 4> layer_workspace;

// Linear attention, and its arrays.
struct Mixer : Shape {
  static constexpr auto rule = attend::LinearRule::gated_delta;
};
static attend::Query<Mixer, queries> mixer_query;
static attend::Key<Mixer, queries> mixer_key;
static attend::Value<Mixer, queries> mixer_value;
static attend::Gates<Mixer, queries> mixer_gates;
static attend::Output<Mixer, queries> mixer_output;
static attend::LinearState<Mixer> mixer_state;

// The same in integers.
struct IntegerMixer : Integers {
  static constexpr auto rule = attend::LinearRule::delta;
};
static attend::Query<IntegerMixer> integer_query;
static attend::Key<IntegerMixer> integer_key;
static attend::Value<IntegerMixer> integer_value;
static attend::Gates<IntegerMixer> integer_gates;
static attend::Output<IntegerMixer> integer_output;
static attend::LinearState<IntegerMixer> integer_state;

// Shapes that are wrong in one number, without max_tokens and with it.
template <int query_heads_, int kv_heads_, int head_dim_ = 8, int value_dim_ = head_dim_>
struct Sized {
  static constexpr int query_heads = query_heads_, kv_heads = kv_heads_, head_dim = head_dim_, value_dim = value_dim_;
};
template <int max_tokens_>
struct Kept : Sized<4, 2> {
  static constexpr int max_tokens = max_tokens_;
};
template <int window_, int sink_tokens_ = 0, int tokens_at_once_ = 1>
struct Last {
  static constexpr int window = window_, sink_tokens = sink_tokens_, tokens_at_once = tokens_at_once_;
};
template <int value_heads_>
struct ValueHeads : Shape {
  static constexpr auto rule = attend::LinearRule::delta;
  static constexpr int value_heads = value_heads_;
};
template <int query_heads_, int head_dim_, int value_dim_>
struct WideHead : Sized<query_heads_, 1, head_dim_, value_dim_> {
  static constexpr auto rule = attend::LinearRule::delta;
};

// Projections of vectors of 12 numbers to vectors of 20.
static attend::Vectors<2, 12> twelve;
static attend::Vectors<2, 20> twenty;
static const attend::Weights<20, 12> to_twenty{};
static attend::Workspace<attend::Projections> projection_work;

// Convolutions of 12 channels, in floats and in integers.
static float conv_input[6][12], conv_output[6][12];
static const float conv_weights[12][4] = {{1}}, conv_bias[12] = {1};
static attend::ConvState<12, 4> conv_state;
static int8_t byte_input[6][12], byte_output[6][12];
static const int8_t byte_weights[12][4] = {{1}};
static const int32_t byte_bias[12] = {1};
static attend::ConvState<12, 4, attend::integer> byte_state;
static const attend::ConvQuantisation<> conv_scales(0.02, 0.005, 0.03);

// What calls in integers read and write: arrays of 4 tokens, one token and a cache; and projections of 4 numbers to 4.
static attend::Query<Integers, 4> byte_query;
static attend::Key<Integers, 4> byte_key;
static attend::Value<Integers, 4> byte_value;
static attend::Output<Integers, 4> byte_result;
static attend::Workspace<Integers, 4, 4> byte_workspace;
static attend::Query<Integers> byte_token;
static attend::Output<Integers> byte_token_output;
static attend::KvCache<Integers> byte_cache;
static attend::Workspace<Integers> byte_token_workspace;
static const attend::Quantisation<Integers> byte_scales(1, 1, 1, 1);
static attend::Vectors<2, 4, int8_t> four_bytes, four_results;
static attend::Weights<4, 4, attend::integer> four_weights;
