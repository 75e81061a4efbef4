// The meaning of a status in words.
#include "../../include/attend/status.h"

namespace attend {
namespace {

// In the order of Status, each ends with a zero: one array, which linkers drop where nobody asks, also from one source.
// Programs for small boards need no more than names, to tell them apart.
#if defined(ATTEND_SHORT_TEXTS)
constexpr char texts[] =
    "ok\0bad_query_length\0bad_key_length\0empty_cache\0bad_scale\0bad_offset\0ambiguous_offset\0no_effect\0"
    "bad_part\0bad_output\0bad_count\0cache_full\0out_of_range\0bad_page\0bad_length\0bad_begin\0bad_up_to\0"
    "bad_state\0missing_keys\0too_many_nodes\0other_options\0bad_saved\0other_bits\0other_shape\0bad_window\0"
    "bad_sink_tokens\0bad_soft_cap\0bad_origin\0bad_mask\0bad_bias\0bad_ranges\0bad_documents\0bad_lse\0bad_scores\0"
    "no_score_stage\0not_in_ring\0bad_epsilon\0bad_rotary\0bad_position\0bad_quantisation\0bad_zero_point\0"
    "bad_token_scales";
#else
constexpr char texts[] =
    "ok\0"
    "query_length must lie within 0 and the query tokens of the array; without an offset, queries are the last tokens "
    "of a cache, and must not be more than it holds: set query_length where the last append had a count below its arrays\0"
    "key_length must lie within 0, or options.origin, and where the key tokens of the array or cache end\0"
    "the cache has no tokens: append some first (or call project_memory); where there are none, set key_length = 0, or to "
    "options.origin\0"
    "scale must lie within -2^127 and 2^127\0"
    "offset must leave room for the query tokens: their positions must not pass the largest int; self_attention of a "
    "layer with steps knows the positions of its tokens\0"
    "set offset, the position of the first query among the keys: there are not as many queries as keys, so they could "
    "be the first tokens (offset 0) or the last ones (keys - queries)\0"
    "an option does nothing in this call: set what it needs too, or leave it out. offset needs causal, a window, "
    "ALiBi or a relative bias; sink_tokens a window_left; score_stage needs scores; lse_base an lse; bias_stage a bias and a "
    "soft_cap; additive attention has a scale, a bias and scores of its own\0"
    "a part must have an index within 0 and count - 1, and count within 1 and 65535; that of a layer with several "
    "threads has a barrier, and a LayerWorkspace for as many\0"
    "the output of a projection must not share memory with its input or another output, nor that of a layer with a part of x\0"
    "a count of tokens is at least 0, and no more than the arrays have, or Documents room for\0"
    "the cache has no room for so many tokens: truncate or clear it, give its shape more max_tokens, or a PagedCache a page\0"
    "a number is too large for the format that it is stored in (float16: 65504 is the largest, int4: 524032): store it as "
    "bfloat16 or int8, or give the cache an attend::saturated format, which keeps the largest number instead\0"
    "a page is one of the pool that a PagedCache has its other pages of, not in its table yet, which has room for it; "
    "remove_page needs a last page without tokens: truncate or clear first\0"
    "truncate keeps at least 0 tokens, and no more than the cache holds\0"
    "a State begins at 0 or at a multiple of segment_keys (512)\0"
    "up_to must not lie before the key that the state takes next; a State of an integer shape takes multiples of 32 keys "
    "until the last\0"
    "a state must have been in an accumulate since the last finish, always for the same queries, and not past the last key; "
    "states to merge have no segment of 512 keys in common, and an open one comes last\0"
    "finish needs a state with all keys that its queries see, up to their own positions where they are causal: merge the "
    "states of the others first; or set key_length, where keys end before\0"
    "a State has room for the nodes of its keys: give it more, attend::State<Shape, tokens, attend::state_nodes(keys)>\0"
    "all calls that take a state must have the same queries and options (begin was forgotten for others), and finish "
    "the same sink_logits, lse where they had one, and as key_length the number of keys taken; queries must keep "
    "their position: set offset if the cache grows between calls\0"
    "what is loaded must be all bytes that attend::save wrote, and nothing else\0"
    "a state was saved by a library of another ATTEND_BITS_VERSION: use the same on all machines\0"
    "a saved state must have the heads, the value_dim and the arithmetic of the State, and no more queries\0"
    "window_left and window_right must not be negative, nor window_left more than window - 1 of a RingCache, whose window "
    "counts the query's own token\0"
    "sink_tokens must not be negative, nor more than what a RingCache keeps\0"
    "soft_cap must be 0, for none, or lie within 1e-30 and 1e30, and scale / soft_cap below 2^124\0"
    "options.origin is for accumulate into a State over arrays or a KvCache: a multiple of segment_keys, at most the state's "
    "next key; a query of an integer shape sees at most 65535 keys, those of other machines too\0"
    "a mask must have 1 query or at least query_length, and at least key_length keys\0"
    "a bias must have 1 query or at least query_length, and at least key_length keys\0"
    "ranges must have at least query_length queries, each with a first key of at least 0 and an end that is not before it\0"
    "documents have as many queries as keys, all that the call takes, in arrays that are long enough for them, and positions "
    "of their own: leave offset, query_length and key_length unset; over a cache, and in layers whose steps use positions in "
    "x, "
    "ranges do\0"
    "lse must have at least query_length tokens\0"
    "scores must have at least query_length tokens and key_length keys; a RingCache, ranges and documents have no raw or "
    "capped scores, a State no weights\0"
    "set score_stage: which scores options.scores is filled with (raw, capped, biased or weights)\0"
    "a query sees tokens that the RingCache no longer has: give it a wider window, or more tokens at once\0"
    "the epsilon of a normalisation must lie within 1e-30 and 1e30\0"
    "rotary positions need init first, with a base within 2 and 1e12 and other numbers in the ranges that "
    "attend/layers/rotary.h states; axes of positions need rotary_dim / 2 pairs in all\0"
    "rotary positions must fit an int, and in a table must lie within it; scaled_queries have a period of at least 1 and a "
    "shift of at least 0\0"
    "scales must be finite and above 0; of an attend::Quantisation log2(e) * scale * query scale * key scale must lie "
    "within 0 and 1, and value scale / output scale within 2^-10 and 2^18; of attend::ProjectionScales input scale * "
    "weight scale / output scale within 2^-32 and 2^29, and a bias is at most 2^31 - 1 - 32640 * inputs in size\0"
    "zero points of 8-bit numbers lie within -128 and 127; that of keys is 0 beside key_scales, that of values beside "
    "value_scales, and queries have one for all heads\0"
    "key_scales and value_scales must have at least key_length keys; over a RingCache or PagedCache there are none";
#endif

constexpr int zeros_in(const char* text, size_t length) {
  return length == 1 ? *text == '\0' : zeros_in(text, length / 2) + zeros_in(text + length / 2, length - length / 2);
}
static_assert(zeros_in(texts, sizeof texts) == status_count, "a status has no text");

const char* text_of(int status) {
  const char* text = texts;
  while (status > 0) status -= *text++ == '\0';
  return text;
}

}  // namespace

const char* status_text(Status status) {
  return unsigned(status) < unsigned(status_count) ? text_of(int(status)) : "unknown status";
}

}  // namespace attend
