// What the statuses of the C surface mean, in words.
#include "c_api/surface.h"

extern "C" const char* attend_status_text(int status) {
  switch (status) {
    case ATTEND_OK:
      return "ok";
    case ATTEND_NO_PROBLEM:
      return "pass the address of an attend_problem: it is null or not aligned as the struct is";
    case ATTEND_BAD_STRUCT_SIZE:
      return "call the struct's init function with sizeof of it first, and leave its size alone: the size is none of this "
             "library's versions";
    case ATTEND_NEWER_STRUCT:
      return "the program sets fields that this version of the library does not know: use a newer library, or leave them zero";
    case ATTEND_UNKNOWN_OPTION:
      return "options has a bit that this version of the library does not know: use a newer library, or clear it";
    case ATTEND_BAD_LAYOUT:
      return "layout must be ATTEND_BATCH_TOKEN_HEAD_DIM or ATTEND_BATCH_HEAD_TOKEN_DIM";
    case ATTEND_BAD_QUERY_FORMAT:
      return "query_format must be ATTEND_FLOAT32, ATTEND_FLOAT16 or ATTEND_BFLOAT16";
    case ATTEND_BAD_KEY_FORMAT:
      return "key_format must be an attend_format";
    case ATTEND_BAD_VALUE_FORMAT:
      return "value_format must be an attend_format";
    case ATTEND_BAD_OUTPUT_FORMAT:
      return "output_format must be ATTEND_FLOAT32, ATTEND_FLOAT16 or ATTEND_BFLOAT16";
    case ATTEND_BAD_BATCH:
      return "batch must lie within 1 and ATTEND_MAX_TOKENS";
    case ATTEND_BAD_QUERY_HEADS:
      return "query_heads must lie within 1 and ATTEND_MAX_WIDTH";
    case ATTEND_BAD_KV_HEADS:
      return "kv_heads must lie within 1 and ATTEND_MAX_WIDTH";
    case ATTEND_UNEVEN_HEADS:
      return "kv_heads must divide query_heads, so that each key/value head serves a whole group of query heads";
    case ATTEND_BAD_HEAD_DIM:
      return "head_dim must lie within 1 and ATTEND_MAX_WIDTH";
    case ATTEND_BAD_VALUE_DIM:
      return "value_dim must lie within 1 and ATTEND_MAX_WIDTH";
    case ATTEND_BAD_QUERIES:
      return "queries must lie within 1 and ATTEND_MAX_TOKENS";
    case ATTEND_TOO_MANY_ROWS:
      return "queries * query_heads / kv_heads must not pass ATTEND_MAX_ROWS: make several calls with fewer queries each";
    case ATTEND_BAD_SCALE:
      return "scale must be a finite number, or ATTEND_DEFAULT_SCALE";
    case ATTEND_BAD_SOFT_CAP:
      return "soft_cap must be 0, for none, or lie within 1e-30 and 1e30";
    case ATTEND_NO_CACHE:
      return "pass the address of a cache: it is null";
    case ATTEND_CORRUPT_CACHE:
      return "this is no cache, or its first bytes were overwritten: make it with attend_cache_init, and look for who writes "
             "there";
    case ATTEND_CACHE_AND_ARRAYS:
      return "a problem has either a cache or arrays: set key.data and value.data to null, or cache";
    case ATTEND_CACHE_AND_BATCH:
      return "with a cache batch must be 1: make a call for each sequence and its cache";
    case ATTEND_OTHER_CACHE_SHAPE:
      return "kv_heads, head_dim and value_dim must be those of the cache";
    case ATTEND_BAD_KEYS:
      return "keys must lie within 0 and ATTEND_MAX_TOKENS; with a cache within 0 and the tokens that it holds, or be "
             "ATTEND_ALL_KEYS";
    case ATTEND_TOO_FEW_TOKENS:
      return "the cache holds fewer tokens than there are queries: append their keys and values first, or set offset";
    case ATTEND_BAD_TOKENS:
      return "tokens must not be negative, nor more than ATTEND_MAX_TOKENS; to truncate, not more than the cache holds";
    case ATTEND_CACHE_FULL:
      return "the cache has no room for so many tokens: truncate it, or make it for more max_tokens";
    case ATTEND_BAD_ORIGIN:
      return "origin must lie within 0 and keys; with a cache or pages it must be 0";
    case ATTEND_NO_QUERY:
      return "set query.data: it is null";
    case ATTEND_UNALIGNED_QUERY:
      return "query.data must be a multiple of the size of a number of its format";
    case ATTEND_HUGE_QUERY:
      return "extents and strides of query reach beyond the address space: strides count numbers, not bytes";
    case ATTEND_NO_KEY:
      return "set key.data: it is null";
    case ATTEND_UNALIGNED_KEY:
      return "key.data must be a multiple of the size of a number of its format";
    case ATTEND_HUGE_KEY:
      return "extents and strides of key reach beyond the address space: strides count numbers, not bytes";
    case ATTEND_NO_VALUE:
      return "set value.data: it is null";
    case ATTEND_UNALIGNED_VALUE:
      return "value.data must be a multiple of the size of a number of its format";
    case ATTEND_HUGE_VALUE:
      return "extents and strides of value reach beyond the address space: strides count numbers, not bytes";
    case ATTEND_NO_OUTPUT:
      return "set output.data: it is null";
    case ATTEND_UNALIGNED_OUTPUT:
      return "output.data must be a multiple of the size of a number of its format";
    case ATTEND_HUGE_OUTPUT:
      return "extents and strides of output reach beyond the address space: strides count numbers, not bytes";
    case ATTEND_BAD_OUTPUT_STRIDES:
      return "strides of output let elements overlap: sorted by size, each must be at least what the smaller ones span";
    case ATTEND_UNALIGNED_KEY_LENGTHS:
      return "key_lengths must be a multiple of sizeof(ptrdiff_t), with room for batch of them";
    case ATTEND_BAD_KEY_LENGTH:
      return "each of key_lengths must lie within 0 and keys";
    case ATTEND_OUTPUT_OVERLAPS_QUERY:
      return "output must not overlap query, from its first to its last byte: write to memory of its own";
    case ATTEND_OUTPUT_OVERLAPS_KEY:
      return "output must not overlap key, from its first to its last byte: write to memory of its own";
    case ATTEND_OUTPUT_OVERLAPS_VALUE:
      return "output must not overlap value, from its first to its last byte: write to memory of its own";
    case ATTEND_OUTPUT_OVERLAPS_LENGTHS:
      return "output must not overlap key_lengths: write to memory of its own";
    case ATTEND_OUTPUT_OVERLAPS_CACHE:
      return "output must not overlap the cache: write to memory of its own";
    case ATTEND_OUTPUT_OVERLAPS_PROBLEM:
      return "output must not overlap the attend_problem: write to memory of its own";
    case ATTEND_BAD_PARTS:
      return "parts must lie within 1 and ATTEND_MAX_PARTS";
    case ATTEND_BAD_PART:
      return "part must lie within 0 and parts - 1";
    case ATTEND_UNCUTTABLE:
      return "queries * (keys + 16) must stay below 2^47 for a call in parts: make several calls with fewer queries each";
    case ATTEND_NO_WORKSPACE:
      return "pass work memory: it is null";
    case ATTEND_UNALIGNED_WORKSPACE:
      return "work memory must be aligned to ATTEND_ALIGNMENT";
    case ATTEND_SMALL_WORKSPACE:
      return "work memory is smaller than attend_workspace_size says";
    case ATTEND_WORKSPACE_OVERLAPS_OUTPUT:
      return "work memory must not overlap output";
    case ATTEND_WORKSPACE_OVERLAPS_INPUT:
      return "work memory must not overlap query, key, value, key_lengths, cache or the attend_problem";
    case ATTEND_BAD_RING:
      return "window_keys and pinned_keys must lie within 0 and ATTEND_MAX_TOKENS; without window_keys all tokens are kept, "
             "and "
             "pinned_keys must be 0";
    case ATTEND_NO_CACHE_SHAPE:
      return "pass the address of an attend_cache_shape: it is null or not aligned as the struct is";
    case ATTEND_BAD_MAX_TOKENS:
      return "max_tokens must lie within 1 and ATTEND_MAX_TOKENS";
    case ATTEND_HUGE_CACHE:
      return "so large a cache passes the address space: make it for fewer max_tokens";
    case ATTEND_NO_MEMORY:
      return "pass memory for the cache: it is null";
    case ATTEND_UNALIGNED_MEMORY:
      return "memory for a cache must be aligned to ATTEND_ALIGNMENT";
    case ATTEND_SMALL_MEMORY:
      return "memory for the cache is smaller than attend_cache_size says";
    case ATTEND_CACHE_OVERLAPS_INPUT:
      return "key and value must not lie in the cache's own memory";
    case ATTEND_NO_BACKEND_NAME:
      return "pass the name of a backend: it is null";
    case ATTEND_UNKNOWN_BACKEND:
      return "no backend of that name is compiled in: attend_backend_name lists them";
    case ATTEND_UNAVAILABLE_BACKEND:
      return "this processor cannot run that backend";
    case ATTEND_BAD_WINDOW:
      return "window_left and window_right must not be negative: clear ATTEND_WINDOW_LEFT or ATTEND_WINDOW_RIGHT for none";
    case ATTEND_BAD_PINNED_KEYS:
      return "pinned_keys must lie within 0 and ATTEND_MAX_TOKENS";
    case ATTEND_BAD_OFFSET:
      return "with windows, slopes or relative biases offset must lie within -ATTEND_MAX_TOKENS and ATTEND_MAX_TOKENS";
    case ATTEND_BAD_MASK_KIND:
      return "mask.kind must be ATTEND_MASK_BYTES or ATTEND_MASK_BITS, or ATTEND_MASK_NONE with mask.data null; numbers go to "
             "bias";
    case ATTEND_NO_MASK:
      return "set mask.data, or mask.kind to ATTEND_MASK_NONE: it is null";
    case ATTEND_BAD_MASK_KEYS:
      return "mask.keys must lie within 0 and ATTEND_MAX_TOKENS";
    case ATTEND_BAD_MASK_STRIDES:
      return "a mask of bits takes no negative strides";
    case ATTEND_HUGE_MASK:
      return "extents and strides of mask reach beyond the address space: strides count elements, bits too";
    case ATTEND_BAD_BIAS_KIND:
      return "bias.kind must be ATTEND_MASK_FLOATS, or ATTEND_MASK_NONE with bias.data null; bytes and bits go to mask";
    case ATTEND_NO_BIAS:
      return "set bias.data, or bias.kind to ATTEND_MASK_NONE: it is null";
    case ATTEND_BAD_BIAS_KEYS:
      return "bias.keys must lie within 0 and ATTEND_MAX_TOKENS";
    case ATTEND_UNALIGNED_BIAS:
      return "bias.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_BIAS:
      return "extents and strides of bias reach beyond the address space: strides count floats, not bytes";
    case ATTEND_UNALIGNED_SLOPES:
      return "slopes must be a multiple of sizeof(float), with room for query_heads of them";
    case ATTEND_BAD_RELATIVE:
      return "relative.left and relative.right must lie within 0 and ATTEND_MAX_TOKENS";
    case ATTEND_UNALIGNED_RELATIVE:
      return "relative.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_RELATIVE:
      return "extents and head_stride of relative reach beyond the address space: strides count floats, not bytes";
    case ATTEND_UNALIGNED_SINKS:
      return "sinks must be a multiple of sizeof(float), with room for query_heads of them";
    case ATTEND_PAGES_AND_CACHE:
      return "a problem has either a cache or pages: set pages.table to null, or cache";
    case ATTEND_BAD_PAGE_KEYS:
      return "pages.page_keys must be a multiple of 16 within 16 and ATTEND_MAX_TOKENS";
    case ATTEND_BAD_PAGE_COUNT:
      return "pages.count must be at least 1, and pages.count * pages.page_keys at most ATTEND_MAX_TOKENS";
    case ATTEND_UNALIGNED_PAGES:
      return "pages.table must be a multiple of sizeof(int32_t)";
    case ATTEND_HUGE_PAGES:
      return "extents and batch_stride of pages reach beyond the address space: strides count entries, not bytes";
    case ATTEND_BAD_PAGE:
      return "entries of pages.table must lie within 0 and pages.count - 1 for all keys that there are from first_key on";
    case ATTEND_NO_KEY_SCALES:
      return "set key_scales.data, which int8 keys need: it is null";
    case ATTEND_UNALIGNED_KEY_SCALES:
      return "key_scales.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_KEY_SCALES:
      return "extents and strides of key_scales reach beyond the address space: strides count floats, not bytes";
    case ATTEND_NO_VALUE_SCALES:
      return "set value_scales.data, which int8 values need: it is null";
    case ATTEND_UNALIGNED_VALUE_SCALES:
      return "value_scales.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_VALUE_SCALES:
      return "extents and strides of value_scales reach beyond the address space: strides count floats, not bytes";
    case ATTEND_KEYS_LOST:
      return "the cache is a ring and no longer holds keys that are asked for: set ATTEND_WINDOW_LEFT and a shorter "
             "window_left, "
             "or make the cache for more window_keys and pinned_keys; ask for no raw or capped scores";
    case ATTEND_UNALIGNED_LSE:
      return "lse.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_LSE:
      return "extents and strides of lse reach beyond the address space: strides count floats, not bytes";
    case ATTEND_BAD_LSE_STRIDES:
      return "strides of lse let elements overlap: sorted by size, each must be at least what the smaller ones span";
    case ATTEND_BAD_SCORE_STAGE:
      return "scores.stage must be an attend_score_stage";
    case ATTEND_BAD_SCORE_KEYS:
      return "scores.keys must lie within the problem's keys and ATTEND_MAX_TOKENS: each row has room for so many";
    case ATTEND_UNALIGNED_SCORES:
      return "scores.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_SCORES:
      return "extents and strides of scores reach beyond the address space: strides count floats, not bytes";
    case ATTEND_BAD_SCORE_STRIDES:
      return "strides of scores let elements overlap: sorted by size, each must be at least what the smaller ones span";
    case ATTEND_NO_STATES:
      return "set states to attend_state_size bytes of memory: it is null";
    case ATTEND_UNALIGNED_STATES:
      return "states must be a multiple of sizeof(float)";
    case ATTEND_HUGE_STATES:
      return "states of so many queries reach beyond the address space: make several calls with fewer queries each";
    case ATTEND_BAD_FIRST_KEY:
      return "first_key must lie within 0 and keys; with ATTEND_STATE_BEGINS it must be a multiple of ATTEND_SEGMENT_KEYS, "
             "without states 0";
    case ATTEND_WEIGHTS_OF_STATES:
      return "weights are not known before the last key: ask for another stage of scores, or run without states";
    case ATTEND_LAST_OF_STATES:
      return "with states set offset instead of ATTEND_QUERIES_LAST: keys may follow in later calls";
    case ATTEND_NO_LATER_STATES:
      return "pass the states to merge: they are null";
    case ATTEND_UNALIGNED_LATER_STATES:
      return "the states to merge must be a multiple of sizeof(float)";
    case ATTEND_HUGE_LATER_STATES:
      return "the states to merge reach beyond the address space";
    case ATTEND_OUTPUT_OVERLAPS_OPTION:
      return "output must not overlap mask, bias, slopes, relative, sinks, pages or scales: write to memory of its own";
    case ATTEND_LSE_OVERLAPS_OUTPUT:
      return "lse must not overlap output: write to memory of its own";
    case ATTEND_LSE_OVERLAPS_INPUT:
      return "lse must not overlap what the call reads, nor the attend_problem: write to memory of its own";
    case ATTEND_SCORES_OVERLAP_OUTPUT:
      return "scores must not overlap output or lse: write to memory of their own";
    case ATTEND_SCORES_OVERLAP_INPUT:
      return "scores must not overlap what the call reads, nor the attend_problem: write to memory of their own";
    case ATTEND_STATES_OVERLAP_OUTPUT:
      return "states must not overlap output, lse or scores: keep them in memory of their own";
    case ATTEND_STATES_OVERLAP_INPUT:
      return "states must not overlap what the call reads, nor the attend_problem: keep them in memory of their own";
    case ATTEND_WORKSPACE_OVERLAPS_OPTION:
      return "work memory must not overlap mask, bias, slopes, relative, sinks, pages, scales, lse, scores or states";
    default:
      return "unknown status";
  }
}
