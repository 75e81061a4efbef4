//! layer_calls: nothing
static float bias[32];
static attend::LayerWorkspace<Shape, 4, 4> workspace_of_arrays;
void right() {
  const auto biased = attend::multi_head<Shape>(attend::biased(query_weights, bias), key_weights, value_weights, output_weights);
  if (attend::self_attention(vectors, biased, cache, results, layer_workspace) != attend::Status::ok) return;
  if (attend::self_attention(vectors, layer, results, workspace_of_arrays) != attend::Status::ok) return;
  if (attend::project_memory(vectors, layer, cache, layer_workspace) != attend::Status::ok) return;
  if (attend::cross_attention(vectors, layer, cache, results, layer_workspace, attend::Options{}) != attend::Status::ok) return;
  const attend::TeamPart part{{0, 2}, [](void*) {}, nullptr};
  if (attend::self_attention(vectors, biased, cache, results, layer_workspace, attend::causal(), part) != attend::Status::ok) return;
  if (attend::project_memory(vectors, layer, cache, layer_workspace, 4, part) != attend::Status::ok) return;
}

//! layer_y_const: attend: the call of a layer writes y, which must not be const
static const float constant[4][12] = {};
void wrong() { attend::self_attention(vectors, layer, cache, constant, layer_workspace); }

//! layer_y_const_without_cache: attend: self_attention writes y, which must not be const
static const float constant[4][12] = {};
static attend::LayerWorkspace<Shape, 4, 4> workspace_of_arrays;
void wrong() { attend::self_attention(vectors, layer, constant, workspace_of_arrays); }

//! layer_query_outputs: attend: the query weights of a layer have query_heads * head_dim outputs
void wrong() { (void)attend::multi_head<Shape>(few_weights, key_weights, value_weights, output_weights); }

//! layer_key_outputs: attend: the key weights of a layer have kv_heads * head_dim outputs
static attend::Weights<32, 12> wk;
void wrong() { (void)attend::multi_head<Shape>(query_weights, wk, value_weights, output_weights); }

//! layer_value_outputs: attend: the value weights of a layer have kv_heads * value_dim outputs
static attend::Weights<8, 12> wv;
void wrong() { (void)attend::multi_head<Shape>(query_weights, key_weights, wv, output_weights); }

//! layer_output_inputs: attend: the output weights of a layer have query_heads * value_dim inputs
static attend::Weights<12, 12> wo;
void wrong() { (void)attend::multi_head<Shape>(query_weights, key_weights, value_weights, wo); }

//! layer_of_memories: attend: the key and value weights of a layer have the same number of inputs
static attend::Weights<16, 13> wv;
void wrong() { (void)attend::multi_head<Shape>(query_weights, key_weights, wv, output_weights); }

//! layer_of_floats: attend: a layer takes attend::Weights or attend::PackedWeights, or attend::biased() of them
void wrong() { (void)attend::multi_head<Shape>(floats, key_weights, value_weights, output_weights); }

//! layer_of_temporary: attend: a layer refers to its weights: they must have a name and outlive it
void wrong() { (void)attend::multi_head<Shape>(attend::pack(query_weights), key_weights, value_weights, output_weights); }

//! layer_of_biased_temporary: attend: a layer refers to its weights: they must have a name and outlive it
static float bias[32];
void wrong() { (void)attend::biased(attend::pack(query_weights), bias); }

//! layer_rotated_by_temporary: attend: a layer refers to its Rotary or RotaryTable, which must have a name and outlive it
void wrong() { (void)attend::rotated<attend::RotaryPairs::halves>(attend::Rotary<8>()); }

//! layer_bias_of_numbers: at {1, 2}
void wrong() { (void)attend::biased(query_weights, {1, 2}); }

//! head_norm_of_temporary: attend: head_norm takes two float[head_dim] with a name
void wrong() {
  using Numbers = float[8];
  (void)attend::head_norm(Numbers{}, Numbers{});
}

//! layer_bias: attend: a bias is a float[] with as many numbers as the weights have outputs
void wrong() { (void)attend::biased(query_weights, floats); }

//! layer_width: attend: x has as many numbers for each token as the layer's query weights have inputs
static float x[4][13], y[4][12];
void wrong() { attend::self_attention(x, layer, cache, y, layer_workspace); }

//! layer_tokens: attend: x and y of a layer have the same number of tokens
static float x[4][12], y[3][12];
void wrong() { attend::self_attention(x, layer, cache, y, layer_workspace); }

//! layer_workspace: attend: a layer needs an attend::LayerWorkspace<Shape, tokens>
static attend::Workspace<Shape, 4> work;
void wrong() { attend::self_attention(vectors, layer, cache, results, work); }

//! layer_no_workspace: attend: self_attention over a cache takes y and then work memory, an attend::LayerWorkspace<Shape, tokens>
void wrong() { (void)attend::self_attention(vectors, layer, cache, results); }

//! layer_no_array_workspace: attend: self_attention takes x, a layer, a cache or none, y and work memory
void wrong() { (void)attend::self_attention(vectors, layer, results); }

//! layer_workspace_for_no_cache: attend: without a cache a layer takes an attend::LayerWorkspace<Shape, tokens, tokens>
using Block = Sized<4, 2>;  // without max_tokens
static const auto block = attend::multi_head<Block>(query_weights, key_weights, value_weights, output_weights);
static attend::LayerWorkspace<Block, 4> work;
void wrong() { (void)attend::self_attention(vectors, block, results, work); }

//! layer_workspaces_without_max_tokens: nothing
using Block = Sized<4, 2>;
extern attend::LayerWorkspace<Block, 4, 4> of_arrays;
extern attend::LayerWorkspace<Block, 4, attend::over_cache, attend::with_options> over_ring;
extern attend::LayerWorkspace<Block, 1> of_one_token;
attend::LayerWorkspace<Block, 4, 4> of_arrays;
attend::LayerWorkspace<Block, 4, attend::over_cache, attend::with_options> over_ring;
attend::LayerWorkspace<Block, 1> of_one_token;

//! layer_option_workspace: attend: a layer with ScoreOptions, or over another cache than a KvCache of floats, needs an attend::LayerWorkspace<Shape, tokens, attend::over_cache, attend::with_options>
static float x[12], y[12];
static attend::LayerWorkspace<Shape, 1> work;
void wrong() { attend::self_attention(x, layer, ring, y, work); }

//! layer_array_workspace: attend: self_attention without a cache needs an attend::LayerWorkspace<Shape, tokens, tokens>
void wrong() { attend::self_attention(vectors, layer, results, layer_workspace); }

//! layer_part: attend: after its work memory the call of a layer takes attend::Options or attend::ScoreOptions<Shape>, then an attend::TeamPart
void wrong() { attend::self_attention(vectors, layer, cache, results, layer_workspace, half); }

//! layer_memory_part: attend: project_memory takes an attend::TeamPart last, which has the barrier of its threads
void wrong() { attend::project_memory(vectors, layer, cache, layer_workspace, 4, half); }

//! layer_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
static attend::LayerWorkspace<Shape, 4, attend::over_cache, attend::with_options> work;
void wrong() { attend::cross_attention(vectors, layer, cache, results, work, other_score_options); }

//! layer_constant_cache: attend: self_attention appends to the cache, which must not be const
void wrong() {
  const auto& constant = cache;
  attend::self_attention(vectors, layer, constant, results, layer_workspace);
}

//! layer_cache_of_other_shape: attend: self_attention takes a KvCache, RingCache or PagedCache of the layer's shape
void wrong() { attend::self_attention(vectors, layer, other_cache, results, layer_workspace); }

//! layer_is_query: attend: after x, the call of a layer takes what attend::multi_head<Shape>(...) has made
void wrong() { attend::self_attention(vectors, query, cache, results, layer_workspace); }

//! head_norm_width: attend: the weights of head_norm are float[head_dim]
static float gain[7];
void wrong() { attend::self_attention(vectors, attend::multi_head<Shape>(query_weights, key_weights, value_weights, output_weights, attend::head_norm(gain, gain)), cache, results, layer_workspace); }

//! additive_hidden: attend: queries and keys of additive_attention have as many numbers for each token as v has
static float hidden_query[10], keys_beyond[6][10], v[9], values[6][4], context[4];
static attend::Workspace<attend::AdditiveShape<10, 4>, 1, 6> work;
void wrong() { attend::additive_attention(hidden_query, keys_beyond, v, values, context, work); }

//! additive_workspace: attend: additive_attention needs an attend::Workspace<attend::AdditiveShape<hidden, width>, tokens, keys>
static float hidden_query[10], keys_beyond[6][10], v[10], values[6][4], context[4];
static attend::Workspace<attend::AdditiveShape<10, 4>, 1, 5> work;
void wrong() { attend::additive_attention(hidden_query, keys_beyond, v, values, context, work); }

//! layer_memory_of_other_shape: attend: cross_attention takes a KvCache, RingCache or PagedCache of the layer's shape third
void wrong() { attend::cross_attention(vectors, layer, other_cache, results, layer_workspace); }

//! scaled_queries_of_temporary: attend: scaled_queries takes a float[] with a name: a layer refers to it
static const float* data();
void wrong() { attend::scaled_queries(data(), 8192); }

//! gate_of_temporary: attend: a layer refers to its weights: they must have a name and outlive it, so not be what pack() returns
void wrong() { attend::gated(attend::Weights<32, 12>()); }

//! gate_of_other_outputs: attend: the gate's weights have query_heads * value_dim outputs and the inputs of the query weights
void wrong() { attend::multi_head<Shape>(query_weights, key_weights, value_weights, output_weights, attend::gated(few_weights)); }

//! two_gates: attend: a layer has one gate, if any
static attend::Weights<32, 12> gate;
static attend::Weights<32, 12, attend::int8> other;
void wrong() { attend::multi_head<Shape>(query_weights, key_weights, value_weights, output_weights, attend::gated(gate), attend::gated(other)); }

//! gate_of_wide_values: attend: a layer with a gate has a value_dim of at most head_dim
using Wide = Sized<2, 2, 8, 9>;
static attend::Weights<16, 12> q, k;
static attend::Weights<18, 12> v, gate;
static attend::Weights<12, 18> o;
void wrong() { attend::multi_head<Wide>(q, k, v, o, attend::gated(gate)); }
