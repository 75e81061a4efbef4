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

static float floats[4096];

// A layer of vectors of 12 numbers, and work memory for 4 of them.
static attend::Weights<32, 12> query_weights;
static attend::Weights<16, 12> key_weights, value_weights;
static attend::Weights<12, 32> output_weights;
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
