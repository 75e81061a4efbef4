//! accumulate_arrays_key_of_other_shape: attend: accumulate takes an attend::Query of the key's shape first
void wrong() { attend::accumulate(query, other_key, value, state, 9, option_workspace, score_options); }

//! accumulate_arrays_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::accumulate(query, key, value, state, 9, option_workspace, other_score_options); }

//! accumulate_arrays_query_is_key: attend: accumulate takes an attend::Query of the key's shape first
void wrong() { attend::accumulate(key, key, value, state, 9, option_workspace, score_options); }

//! accumulate_arrays_state_is_output: attend: accumulate takes an attend::State of the key's shape, with as many tokens as the query, fourth
void wrong() { attend::accumulate(query, key, value, output, 9, option_workspace, score_options); }

//! accumulate_arrays_value_is_key: attend: accumulate takes an attend::Value of the key's shape, with as many tokens as the key, or attend::values_in(key), third
void wrong() { attend::accumulate(query, key, key, state, 9, option_workspace, score_options); }

//! accumulate_arrays_workspace_float_array: attend: accumulate needs an attend::OptionWorkspace<Shape, query tokens>
void wrong() { attend::accumulate(query, key, value, state, 9, floats, all_options); }

//! accumulate_cache_is_key: attend: accumulate takes an attend::KvCache, RingCache or PagedCache second, or an attend::Key and an attend::Value second and third
void wrong() { attend::accumulate(query, key, state, 9, option_workspace, score_options); }

//! accumulate_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::accumulate(query, ring, state, 9, option_workspace, other_score_options); }

//! accumulate_query_of_other_shape: attend: accumulate takes an attend::Query of the cache's shape first
void wrong() { attend::accumulate(other_query, cache, state, 9, option_workspace, score_options); }

//! accumulate_ring_of_fewer_tokens_at_once: attend: a RingCache serves at most tokens_at_once query tokens at once
static attend::RingCache<Shape, Last<16>> narrow;
void wrong() { attend::accumulate(query, narrow, state, 9, option_workspace, score_options); }

//! accumulate_state_of_other_shape: attend: accumulate takes an attend::State of the cache's shape, with as many tokens as the query, third
void wrong() { attend::accumulate(query, cache, other_state, 9, option_workspace, score_options); }

//! accumulate_workspace_too_small: attend: accumulate needs an attend::OptionWorkspace<Shape, query tokens>
void wrong() { attend::accumulate(query, ring, state, 9, small_option_workspace, score_options); }

//! accumulate_state_is_output: attend: accumulate takes an attend::Query, a cache (or an attend::Key and an attend::Value), then an attend::State, the key to stop before and work memory; then options
void wrong() { attend::accumulate(token_query, cache, token_output, all_options, half); }

//! finish_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
void wrong() { attend::finish(state, output, other_score_options); }

//! finish_output_of_other_shape: attend: finish takes an attend::Output of the state's shape, with as many tokens as the state, second
void wrong() { attend::finish(state, other_output, all_options); }

//! finish_state_is_output: attend: finish takes an attend::State and an attend::Output; then options
void wrong() { attend::finish(output, output, all_options); }

//! merge_state_is_output: attend: merge takes an attend::State and another of the same type
void wrong() { attend::merge(output, state); }

//! merge_state_of_other_shape: attend: merge takes an attend::State and another of the same type
void wrong() { attend::merge(state, other_state); }

//! state_of_zero_tokens: attend: a state needs at least 1 query token
attend::State<Shape, 0> wrong;

//! accumulate_state_with_part: attend: after the work memory accumulate takes options only
void wrong() { attend::accumulate(query, cache, state, 9, option_workspace, all_options, half); }

//! accumulate_with_ranges: attend: accumulate and finish take no attend::RangedOptions
void wrong() { attend::accumulate(query, cache, state, 9, option_workspace, ranged_options); }

//! accumulate_integers_with_ranges: attend: accumulate and finish take no attend::RangedOptions
static attend::State<Integers> state_of_bytes;
static attend::RangedOptions<Integers> options;
void wrong() { attend::accumulate(byte_token, byte_cache, state_of_bytes, 32, byte_token_workspace, byte_scales, options); }

//! finish_with_ranges: attend: after the output finish takes options only, and no attend::RangedOptions
void wrong() { attend::finish(state, output, ranged_options); }
