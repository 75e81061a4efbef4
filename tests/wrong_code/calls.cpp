//! attention_key_and_value_swapped: attend: attention takes an attend::Key of the query's shape second
void wrong() { attend::attention(query, value, key, output, workspace); }

//! attention_key_first: attend: attention takes an attend::Query first
void wrong() { attend::attention(key, key, value, output, workspace); }

//! attention_key_of_other_shape: attend: attention takes an attend::Key of the query's shape second
void wrong() { attend::attention(query, other_key, value, output, workspace); }

//! attention_key_plain_array: attend: attention takes an attend::Key of the query's shape second
void wrong() { attend::attention(query, floats, value, output, workspace); }

//! attention_output_const: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
static const attend::Output<Shape, queries> constant{};
void wrong() { attend::attention(query, key, value, constant, workspace); }

//! attention_output_of_fewer_tokens: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
static attend::Output<Shape, queries - 1> fewer;
void wrong() { attend::attention(query, key, value, fewer, workspace); }

//! attention_output_of_other_shape: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
void wrong() { attend::attention(query, key, value, other_output, workspace); }

//! attention_output_plain_array: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
void wrong() { attend::attention(query, key, value, floats, workspace); }

//! attention_query_of_other_shape: attend: attention takes an attend::Key of the query's shape second
void wrong() { attend::attention(other_query, key, value, output, workspace); }

//! attention_query_plain_array: attend: attention takes an attend::Query first
void wrong() { attend::attention(floats, key, value, output, workspace); }

//! attention_value_of_fewer_tokens: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, or attend::values_in(key), third
static attend::Value<Shape, keys - 1> fewer;
void wrong() { attend::attention(query, key, fewer, output, workspace); }

//! attention_value_of_more_tokens: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, or attend::values_in(key), third
static attend::Value<Shape, keys + 1> more;
void wrong() { attend::attention(query, key, more, output, workspace); }

//! attention_value_of_other_shape: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, or attend::values_in(key), third
void wrong() { attend::attention(query, key, other_value, output, workspace); }

//! attention_values_wider_than_keys: attend: values that are a part of their keys have a value_dim of at most head_dim
using WideValues = Sized<1, 1, 8, 9>;
static attend::Key<WideValues, keys> narrow;
static attend::Query<WideValues> of_narrow;
static attend::Output<WideValues> to_narrow;
void wrong() { attend::attention(of_narrow, narrow, attend::values_in(narrow), to_narrow, workspace); }

//! attention_value_plain_array: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, or attend::values_in(key), third
void wrong() { attend::attention(query, key, floats, output, workspace); }

//! attention_workspace_float_array: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
void wrong() { attend::attention(query, key, value, output, floats); }

//! attention_workspace_float_pointer: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
void wrong() { attend::attention(query, key, value, output, float_pointer); }

//! attention_workspace_is_cache: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
void wrong() { attend::attention(query, key, value, output, cache); }

//! attention_workspace_too_small: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
static attend::Workspace<Shape, queries - 1, keys> small;
void wrong() { attend::attention(query, key, value, output, small); }

//! correct: nothing
bool correct() {
  const bool stored = cache.append(key, value) == attend::Status::ok;
  (void)attend::attention(query, key, value, output, workspace);
  (void)attend::prefill(query, cache, output, prefill_workspace);
  (void)attend::decode(token_query, cache, token_output);
  (void)attend::attention(query, key, value, output, option_workspace, score_options);
  (void)attend::prefill(query, cache, output, option_workspace, score_options, half);
  (void)attend::prefill(query, half_cache, output, option_workspace);
  (void)attend::prefill(query, ring, output, ring_workspace, all_options, half);
  (void)attend::decode(token_query, cache, token_output, option_workspace, score_options);
  (void)attend::decode(token_query, half_cache, token_output, option_workspace, all_options);
  (void)attend::decode(token_query, ring, token_output, ring_workspace);
  (void)attend::accumulate(query, ring, state, 9, option_workspace, score_options);
  (void)attend::accumulate(query, key, value, state, 9, option_workspace, all_options);
  (void)attend::finish(state, output, score_options);
  (void)attend::merge(state, state);
  return stored;
}

//! decode_cache_is_key: attend: decode takes an attend::KvCache, RingCache or PagedCache second
void wrong() { attend::decode(token_query, key, token_output); }

//! decode_output_of_many_tokens: attend: decode takes an attend::Output of one token and of the cache's shape third
void wrong() { attend::decode(token_query, cache, output); }

//! decode_output_of_other_shape: attend: decode takes an attend::Output of one token and of the cache's shape third
void wrong() { attend::decode(token_query, cache, other_token_output); }

//! decode_output_plain_array: attend: decode takes an attend::Output of one token and of the cache's shape third
void wrong() { attend::decode(token_query, cache, floats); }

//! decode_query_of_many_tokens: attend: decode takes an attend::Query of one token and of the cache's shape first
void wrong() { attend::decode(query, cache, token_output); }

//! decode_query_of_other_shape: attend: decode takes an attend::Query of one token and of the cache's shape first
void wrong() { attend::decode(other_token_query, cache, token_output); }

//! decode_query_plain_array: attend: decode takes an attend::Query of one token and of the cache's shape first
void wrong() { attend::decode(floats, cache, token_output); }

//! prefill_cache_is_key: attend: prefill takes an attend::KvCache, RingCache or PagedCache second
void wrong() { attend::prefill(query, key, output, prefill_workspace); }

//! prefill_output_of_other_shape: attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third
void wrong() { attend::prefill(query, cache, other_output, prefill_workspace); }

//! prefill_output_of_other_tokens: attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third
void wrong() { attend::prefill(query, cache, token_output, prefill_workspace); }

//! prefill_output_plain_array: attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third
void wrong() { attend::prefill(query, cache, floats, prefill_workspace); }

//! prefill_query_of_other_shape: attend: prefill takes an attend::Query of the cache's shape first
void wrong() { attend::prefill(other_query, cache, output, prefill_workspace); }

//! prefill_query_plain_array: attend: prefill takes an attend::Query of the cache's shape first
void wrong() { attend::prefill(floats, cache, output, prefill_workspace); }

//! prefill_workspace_float_pointer: attend: prefill needs an attend::Workspace<Shape, query tokens>
void wrong() { attend::prefill(query, cache, output, float_pointer); }

//! prefill_workspace_of_zero_queries: attend: a workspace needs at least 1 query token
attend::Workspace<Kept<32>, 0> wrong;

//! prefill_workspace_too_small: attend: prefill needs an attend::Workspace<Shape, query tokens>
static attend::Workspace<Shape, queries - 1> small;
void wrong() { attend::prefill(query, cache, output, small); }

//! score_attention_key_first: attend: attention takes an attend::Query first
void wrong() { attend::attention(key, key, value, output, option_workspace, score_options); }

//! score_attention_key_of_other_shape: attend: attention takes an attend::Key of the query's shape second
void wrong() { attend::attention(query, other_key, value, output, option_workspace, score_options); }

//! score_attention_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::attention(query, key, value, output, option_workspace, other_score_options); }

//! score_attention_output_of_fewer_tokens: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
void wrong() { attend::attention(query, key, value, token_output, option_workspace, score_options); }

//! score_attention_value_of_other_shape: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, or attend::values_in(key), third
void wrong() { attend::attention(query, key, other_value, output, option_workspace, score_options); }

//! score_attention_workspace_too_small: attend: attention with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>
void wrong() { attend::attention(query, key, value, output, small_option_workspace, score_options); }

//! score_decode_cache_is_key: attend: decode takes an attend::KvCache, RingCache or PagedCache second
void wrong() { attend::decode(token_query, key, token_output, option_workspace, score_options); }

//! score_decode_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::decode(token_query, cache, token_output, option_workspace, other_score_options); }

//! score_decode_output_of_many_tokens: attend: decode takes an attend::Output of one token and of the cache's shape third
void wrong() { attend::decode(token_query, cache, output, option_workspace, score_options); }

//! score_decode_query_of_many_tokens: attend: decode takes an attend::Query of one token and of the cache's shape first
void wrong() { attend::decode(query, cache, token_output, option_workspace, score_options); }

//! score_decode_workspace_float_array: attend: after its arrays a call takes work memory, if it needs any, for an integer shape an attend::Quantisation<Shape>, then attend::Options or attend::ScoreOptions<Shape>, then an attend::Part; the last two may be left out
void wrong() { attend::decode(token_query, cache, token_output, floats, score_options); }

//! score_prefill_cache_is_key: attend: prefill takes an attend::KvCache, RingCache or PagedCache second
void wrong() { attend::prefill(query, key, output, option_workspace, score_options); }

//! score_prefill_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::prefill(query, ring, output, ring_workspace, other_score_options); }

//! score_prefill_output_of_other_tokens: attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third
void wrong() { attend::prefill(query, half_cache, token_output, option_workspace, score_options); }

//! score_prefill_query_of_other_shape: attend: prefill takes an attend::Query of the cache's shape first
void wrong() { attend::prefill(other_query, cache, output, option_workspace, score_options); }

//! score_prefill_workspace_too_small: attend: prefill with ScoreOptions, or over another cache than a KvCache of floats, needs an attend::OptionWorkspace<Shape, query tokens>
void wrong() { attend::prefill(query, cache, output, small_option_workspace, score_options); }

//! part_before_options: attend: after its arrays a call takes work memory, if it needs any, for an integer shape an attend::Quantisation<Shape>, then attend::Options or attend::ScoreOptions<Shape>, then an attend::Part; the last two may be left out
void wrong() { attend::attention(query, key, value, output, workspace, half, all_options); }

//! part_without_options: nothing
void right() {
  (void)attend::attention(query, key, value, output, workspace, half);
  (void)attend::prefill(query, cache, output, prefill_workspace, half);
  (void)attend::decode(token_query, ring, token_output, ring_workspace, half);
}

//! attention_without_workspace: attend: attention takes a query, key, value, output and work memory, which are no temporaries; then options
void wrong() { attend::attention(query, key, value, output); }

//! attention_workspace_temporary: attend: attention takes a query, key, value, output and work memory, which are no temporaries; then options
void wrong() { attend::attention(query, key, value, output, attend::Workspace<Shape, queries, keys>{}); }

//! prefill_without_workspace: attend: prefill takes a query, a cache, an output and work memory, which are no temporaries; then options
void wrong() { attend::prefill(query, ring, output); }

//! decode_without_output: attend: decode takes a query, a cache and an output, which are no temporaries; then options
void wrong() { attend::decode(token_query, cache); }

//! status_ignored: at attend::decode(token_query, cache, token_output);
#pragma GCC diagnostic error "-Wunused-result"
void wrong() { attend::decode(token_query, cache, token_output); }

//! append_result_as_bool: nothing
bool right() { return cache.append(key, value) == attend::Status::ok; }
