//! append_key_and_value_swapped: attend: append takes an attend::Key of the cache's own shape first
void wrong() { cache.append(value, key); }

//! append_key_of_other_shape: attend: append takes an attend::Key of the cache's own shape first
void wrong() { cache.append(other_key, value); }

//! append_key_plain_array: attend: append takes an attend::Key of the cache's own shape first
void wrong() { cache.append(floats, value); }

//! append_key_without_value: attend: append takes an attend::Key, then an attend::Value of as many tokens
void wrong() { cache.append(key); }

//! append_value_of_fewer_tokens: attend: append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
static attend::Value<Shape, keys - 1> fewer;
void wrong() { cache.append(key, fewer); }

//! append_value_of_other_shape: attend: append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
void wrong() { cache.append(key, other_value); }

//! append_value_plain_array: attend: append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
void wrong() { cache.append(key, floats); }

//! format_append_key_and_value_swapped: attend: append takes an attend::Key of the cache's own shape first
void wrong() { half_cache.append(value, key); }

//! format_append_value_of_other_shape: attend: append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
void wrong() { half_cache.append(key, other_value); }

//! format_decode_without_workspace: attend: decode with ScoreOptions, or over another cache than a KvCache of floats, needs an attend::OptionWorkspace<Shape> after its arrays
void wrong() { attend::decode(token_query, half_cache, token_output); }

//! format_of_double: attend: formats of a cache are float, attend::float16, attend::bfloat16, attend::int8 and attend::int4
attend::KvCache<Shape, double> wrong;

//! format_of_bytes_saturated: attend: attend::saturated is of attend::float16 or attend::int4: other formats end where float does
attend::KvCache<Shape, attend::saturated<attend::int8>> wrong;

//! format_of_halves_saturated: nothing
attend::KvCache<Shape, attend::saturated<attend::float16>, attend::int8> halves;
attend::KvCache<Shape, attend::bfloat16, attend::saturated<attend::float16>> bfloats;

//! format_of_4_bits: attend: keys or values of attend::int4 have a head_dim or value_dim that is a multiple of 32, which share a scale
attend::KvCache<Shape, attend::int4> wrong;

//! format_prefill_workspace_is_float_array: attend: prefill with ScoreOptions, or over another cache than a KvCache of floats, needs an attend::OptionWorkspace<Shape, query tokens>
void wrong() { attend::prefill(query, half_cache, output, floats); }

//! max_tokens_missing: attend: a KvCache needs `static constexpr int max_tokens
attend::KvCache<Sized<4, 2>> wrong;

//! max_tokens_missing_in_format_cache: attend: a KvCache needs `static constexpr int max_tokens
attend::KvCache<Sized<4, 2>, attend::float16> wrong;

//! max_tokens_missing_in_workspace: attend: a Workspace for a KvCache needs `static constexpr int max_tokens = ...;` in the shape; over a RingCache calls take an attend::OptionWorkspace<Shape, query tokens>
attend::Workspace<Sized<4, 2>, 3> wrong;

//! max_tokens_negative: attend: max_tokens must be at least 1
attend::KvCache<Kept<-32>> wrong;

//! max_tokens_zero: attend: max_tokens must be at least 1
attend::KvCache<Kept<0>> wrong;

//! max_tokens_zero_in_format_cache: attend: max_tokens must be at least 1
attend::KvCache<Kept<0>, attend::float16> wrong;

//! ring_append_key_of_other_shape: attend: append takes an attend::Key of the cache's own shape first
void wrong() { ring.append(other_key, value); }

//! ring_append_more_tokens_than_at_once: attend: a RingCache takes at most tokens_at_once tokens at once
void wrong() { ring.append(key, value); }

//! ring_append_value_plain_array: attend: append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
void wrong() { ring.append(key, floats); }

//! ring_format_of_int: attend: formats of a cache are float, attend::float16, attend::bfloat16, attend::int8 and attend::int4
attend::RingCache<Shape, Last<8>, float, signed char> wrong;

//! ring_of_negative_sink_tokens: attend: the sink_tokens of a RingCache must be at least 0
attend::RingCache<Shape, Last<8, -1>> wrong;

//! ring_of_zero_tokens_at_once: attend: the tokens_at_once of a RingCache must be at least 1
attend::RingCache<Shape, Last<8, 0, 0>> wrong;

//! ring_of_zero_window: attend: the window of a RingCache must be at least 1 token
attend::RingCache<Shape, Last<0>> wrong;

//! ring_decode_workspace_for_a_cache: attend: decode over a RingCache needs an attend::OptionWorkspace<Shape, 1, attend::over_ring<Sizes>> after its arrays
void wrong() { attend::decode(token_query, ring, token_output, small_option_workspace); }

//! ring_prefill_of_more_tokens_than_at_once: attend: a RingCache serves at most tokens_at_once query tokens at once
static attend::RingCache<Shape, Last<16>> narrow;
static attend::OptionWorkspace<Shape, queries, attend::over_ring<Last<16>>> wide_workspace;
void wrong() { attend::prefill(query, narrow, output, wide_workspace, score_options); }

//! ring_prefill_workspace_for_a_cache: attend: prefill over a RingCache needs an attend::OptionWorkspace<Shape, query tokens, attend::over_ring<Sizes>>
void wrong() { attend::prefill(query, ring, output, option_workspace); }

//! ring_without_window: attend: add `static constexpr int window
struct Sizes {
  static constexpr int sink_tokens = 4;
};
attend::RingCache<Shape, Sizes> wrong;

//! pages_of_a_pool_that_is_a_ring: attend: the pool of a PagedCache is an attend::KvCache
attend::PagedCache<attend::RingCache<Shape, LastTokens>, 16, 2> wrong;

//! pages_of_24_tokens: attend: a page has a multiple of 16 tokens, of an integer shape of 32
attend::PagedCache<attend::KvCache<Shape>, 24, 1> wrong;

//! pages_of_16_integer_tokens: attend: a page has a multiple of 16 tokens, of an integer shape of 32
attend::PagedCache<attend::KvCache<Integers>, 16, 2> wrong;

//! pages_that_leave_tokens: attend: make max_tokens of the pool's shape a multiple of page_tokens
struct Odd : Shape {
  static constexpr int max_tokens = 40;
};
attend::PagedCache<attend::KvCache<Odd>, 16, 2> wrong;

//! pages_beyond_the_pool: attend: a PagedCache has at least 1 page, and no more than its pool
attend::PagedCache<attend::KvCache<Shape>, 16, 3> wrong;

//! batch_decode_caches_are_keys: attend: decode takes an attend::KvCache, RingCache or PagedCache second
static attend::Query<Shape> query_rows[2];
static attend::Key<Shape> key_rows[2];
static attend::Output<Shape> output_rows[2];
void wrong() { attend::decode(query_rows, key_rows, output_rows); }

//! batch_prefill_caches_are_keys: attend: prefill takes an attend::KvCache, RingCache or PagedCache second
static attend::Query<Shape, queries> query_rows[2];
static attend::Key<Shape, queries> key_rows[2];
static attend::Output<Shape, queries> output_rows[2];
void wrong() { attend::prefill(query_rows, key_rows, output_rows, prefill_workspace); }

//! paged_decode_without_workspace: attend: decode with ScoreOptions, or over another cache than a KvCache of floats, needs an attend::OptionWorkspace<Shape> after its arrays
static attend::PagedCache<attend::KvCache<Shape>, 16, 2> paged;
void wrong() { attend::decode(token_query, paged, token_output); }
