// What the parts of the C surface (attend_c.h) know of each other. Functions between objects are C++, so that the C names are
// the public ones only.
#pragma once

#include "../include/attend/core.h"  // first: it refuses compilers that will not do

#include <stdint.h>

#include "../include/attend/attend_c.h"

// In memory: a head, then keys and values as core::Cache has them. No pointers, so that it can be moved.
struct attend_cache {
  uint32_t magic;  // says how keys and values lie, too
  int32_t kv_heads;
  int32_t head_dim;
  int32_t value_dim;
  int32_t max_tokens;
  int32_t tokens;  // held
  uint32_t check;  // of the fields above
};

namespace attend {
namespace c_surface {

static_assert(ATTEND_ALIGNMENT % config::alignment == 0, "what the C header asks for must be enough");
static_assert(sizeof(attend_cache) == 28 && alignof(attend_cache) <= config::alignment, "a cache's head has no padding");

// Bytes begin … end - 1 of the address space.
struct Range {
  uintptr_t begin;
  uintptr_t end;
};

constexpr bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }

struct Axis {
  ptrdiff_t count;
  ptrdiff_t stride;
};

// A tensor with `width` floats side by side.
struct Extent {
  Axis batch;
  Axis token;
  Axis head;
  ptrdiff_t width;
};

enum class Span { fits, none, unaligned, huge };

// From the first to the last byte of a tensor, if it can exist.
Span span(const float* data, const Extent& extent, Range& range);

// Whether fields past those that are known, of a struct from a newer header, are all zero.
attend_status check_size(const void* whole, size_t size, size_t known);
constexpr size_t largest_struct = 4096;  // no header will have such a one

constexpr bool within(ptrdiff_t number, ptrdiff_t low, ptrdiff_t high) { return number >= low && number <= high; }
inline bool aligned(const void* address, size_t alignment) { return reinterpret_cast<uintptr_t>(address) % alignment == 0; }

// A problem that was checked, and where its memory lies.
struct Checked {
  core::Problem first;  // batch row 0, with all keys and without key lengths; no scratch
  ptrdiff_t batch;
  ptrdiff_t query_step, output_step, key_step, value_step;  // from one batch row to the next, in floats
  Range output;
  Range inputs[6];  // of which some may be empty
  size_t workspace_bytes;
};

// Checks everything but parts and work memory. Fills in `checked` if that is ATTEND_OK.
attend_status check_problem(const attend_problem* problem, Checked& checked);

// Of a cache that is null, unaligned or corrupt; else ATTEND_OK.
attend_status check_cache(const attend_cache* cache);
Range cache_range(const attend_cache& cache);
core::Cache cache_memory(const attend_cache& cache);

// 1 / sqrt(head_dim), the same as default_scale, which is meant for constants.
float usual_scale(int head_dim);

}  // namespace c_surface
}  // namespace attend
