//! in_keys_every_call: nothing
static attend::KvCache<Shape, attend::bfloat16, attend::in_keys> halves;
static attend::PagedCache<attend::KvCache<Shape, attend::int8, attend::in_keys>, 16, 2> paged;
void right();
void right() {
  (void)halves.append(key);
  (void)paged.append(key, 2);
  (void)attend::prefill(query, halves, output, option_workspace, score_options, half);
  (void)attend::decode(token_query, paged, token_output, option_workspace, all_options);
  (void)attend::accumulate(query, halves, state, 9, option_workspace);
  (void)attend::finish(state, output);
}

//! in_keys_append_with_value: attend: a cache of attend::in_keys has its values in its keys: append takes an attend::Key, then at most an int, the count of its tokens
void wrong() { latents.append(key, value); }

//! in_keys_append_values_in: attend: a cache of attend::in_keys has its values in its keys: append takes an attend::Key, then at most an int, the count of its tokens
static attend::KvCache<Shape, attend::int8, attend::in_keys> bytes;
void wrong() { bytes.append(key, attend::values_in(key)); }

//! in_keys_append_value: attend: append takes an attend::Key of the cache's own shape first
void wrong() { latents.append(value); }

//! append_key_and_count: attend: append takes an attend::Key, then an attend::Value of as many tokens
void wrong() { cache.append(key, 3); }

//! in_keys_of_4_bits: attend: keys of a cache of attend::in_keys are float, attend::float16, attend::bfloat16 or attend::int8
struct Wide {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, max_tokens = 32;
};
attend::KvCache<Wide, attend::int4, attend::in_keys> wrong;

//! in_keys_without_format: attend: keys of a cache of attend::in_keys are float, attend::float16, attend::bfloat16 or attend::int8
attend::KvCache<Shape, attend::in_keys> wrong;

//! in_keys_that_are_narrower: attend: values that are a part of their keys have a value_dim of at most head_dim
struct Narrow : Shape {
  static constexpr int value_dim = 16;
};
attend::KvCache<Narrow, attend::float16, attend::in_keys> wrong;

//! in_keys_of_a_ring: attend: a RingCache has values of their own: give them a format, or take a KvCache or PagedCache of attend::in_keys, with a window in the options
attend::RingCache<Shape, LastTokens, float, attend::in_keys> wrong;

//! in_keys_of_integers: attend: a cache of an integer shape keeps its 8-bit numbers as they are: leave the formats out
attend::KvCache<Integers, signed char, attend::in_keys> wrong;

//! in_keys_decode_without_workspace: attend: decode with ScoreOptions, or over another cache than a KvCache of floats, needs an attend::OptionWorkspace<Shape> after its arrays
void wrong() { attend::decode(token_query, latents, token_output); }

//! in_keys_of_a_layer: attend: a layer makes values of their own, for which a cache of attend::in_keys has no memory: give the values of its cache a format
static attend::LayerWorkspace<Shape, 4, attend::over_cache, attend::with_options> work;
void wrong() { attend::self_attention(vectors, layer, latents, results, work); }
