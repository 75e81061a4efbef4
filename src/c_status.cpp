// What the statuses of the C surface mean, in words.
#include "c_surface.h"

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
    case ATTEND_NO_QUERY:
      return "set query.data: it is null";
    case ATTEND_UNALIGNED_QUERY:
      return "query.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_QUERY:
      return "extents and strides of query reach beyond the address space: strides count floats, not bytes";
    case ATTEND_NO_KEY:
      return "set key.data: it is null";
    case ATTEND_UNALIGNED_KEY:
      return "key.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_KEY:
      return "extents and strides of key reach beyond the address space: strides count floats, not bytes";
    case ATTEND_NO_VALUE:
      return "set value.data: it is null";
    case ATTEND_UNALIGNED_VALUE:
      return "value.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_VALUE:
      return "extents and strides of value reach beyond the address space: strides count floats, not bytes";
    case ATTEND_NO_OUTPUT:
      return "set output.data: it is null";
    case ATTEND_UNALIGNED_OUTPUT:
      return "output.data must be a multiple of sizeof(float)";
    case ATTEND_HUGE_OUTPUT:
      return "extents and strides of output reach beyond the address space: strides count floats, not bytes";
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
    default:
      return "unknown status";
  }
}
