// Where keys and values lie that are no plain arrays of floats and no plain cache: pages, rings, other formats, an origin.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

// The first key of a batch row that any query's window shows; pinned keys lie before.
ptrdiff_t first_seen(const attend_problem& more, const Checked& checked, const core::Options& options, ptrdiff_t keys) {
  const bool all = more.scores.data != nullptr && more.scores.stage <= ATTEND_SCORES_CAPPED;
  if (options.left < 0 || all) return 0;
  const bool last = (more.options & ATTEND_QUERIES_LAST) != 0;
  return (last ? keys - checked.first.queries : checked.first.offset) - options.left;
}

attend_status check_pages(const attend_problem& problem, const Checked& checked, CheckedOptions& options) {
  const attend_pages& pages = problem.pages;
  if (pages.table == nullptr) return ATTEND_OK;
  if (problem.cache != nullptr) return ATTEND_PAGES_AND_CACHE;
  if (!within(pages.page_keys, 1, ATTEND_MAX_TOKENS) || pages.page_keys % panel_keys != 0) return ATTEND_BAD_PAGE_KEYS;
  if (!within(pages.count, 1, ATTEND_MAX_TOKENS / pages.page_keys)) return ATTEND_BAD_PAGE_COUNT;
  const auto pages_of = [&](ptrdiff_t keys) { return (keys + pages.page_keys - 1) / pages.page_keys; };
  const ptrdiff_t keys = checked.first.keys;
  const Extent extent = {{checked.batch, pages.batch_stride}, {1, 0}, {1, 0}, pages_of(keys)};
  const attend_status status =
      check_option(pages.table, extent, 8 * int(sizeof(int32_t)), ATTEND_UNALIGNED_PAGES, options.inputs[5]);
  if (status != ATTEND_OK) return status;
  const ptrdiff_t first_key = problem.states != nullptr && problem.first_key > 0 ? problem.first_key : 0;
  for (ptrdiff_t row = 0; row < checked.batch; ++row) {
    const int32_t* table = pages.table + row * step(extent.batch);
    const ptrdiff_t keys_of_row = problem.key_lengths != nullptr ? problem.key_lengths[row] : keys,
                    count = pages_of(keys_of_row);
    const ptrdiff_t seen = first_seen(problem, checked, options.first, keys_of_row);  // pages left behind may be gone
    for (ptrdiff_t page = first_key / pages.page_keys; page < count; ++page) {
      const ptrdiff_t begin = page * pages.page_keys;
      if (begin + pages.page_keys <= seen && begin >= problem.pinned_keys) continue;
      if (!within(table[page], 0, pages.count - 1)) return ATTEND_BAD_PAGE;
    }
  }
  options.first.paging.pages = pages.table;
  options.first.paging.page_groups = int(pages.page_keys / panel_keys);
  options.page_step = step(extent.batch) * ptrdiff_t(sizeof(int32_t));
  return ATTEND_OK;
}

// Of int8 keys or values that lie in arrays.
attend_status check_scales(const attend_scales& scales, const attend_problem& problem, const Checked& checked,
                           attend_status none, Range& range, const float*& data, ptrdiff_t& stride, ptrdiff_t& batch_step) {
  const ptrdiff_t rows = problem.pages.table != nullptr ? 1 : checked.batch;
  const Extent extent = {{rows, scales.batch_stride},
                         {1, 0},
                         {checked.first.kv_heads, scales.head_stride},
                         array_keys(problem, checked.first.keys)};
  const attend_status status = check_span(scales.data, extent, float_bits, none, range);
  if (status != ATTEND_OK) return status;
  data = scales.data;
  stride = step(extent.head);
  batch_step = step(extent.batch) * ptrdiff_t(sizeof(float));
  return ATTEND_OK;
}

// A ring may have lost keys that are asked for: those between its copies of the pinned groups and its first group.
attend_status check_ring(const attend_problem& problem, const Checked& checked, const core::Options& options) {
  const attend_problem& more = more_of(problem);
  const attend_cache& cache = *problem.cache;
  if (cache.ring_groups == 0) return ATTEND_OK;
  const ptrdiff_t lost = ptrdiff_t(cache.pinned_groups) * panel_keys;
  const ptrdiff_t back = ptrdiff_t(core::panel_count(cache.most) - cache.ring_groups) * panel_keys;
  const ptrdiff_t keys = problem.key_lengths != nullptr ? problem.key_lengths[0] : checked.first.keys;
  const ptrdiff_t begin = more.states != nullptr ? more.first_key : 0, seen = first_seen(more, checked, options, keys);
  const auto any_lost = [&](ptrdiff_t from, ptrdiff_t to) { return (from > lost ? from : lost) < (to < back ? to : back); };
  return any_lost(seen > begin ? seen : begin, keys) || any_lost(begin, more.pinned_keys < keys ? more.pinned_keys : keys)
             ? ATTEND_KEYS_LOST
             : ATTEND_OK;
}

// What options say of a cache that is not plain.
void take_cache(const attend_cache& cache, core::Options& options) {
  const core::TypedCache memory = typed_memory(cache);
  options.key_format = memory.key_format;
  options.value_format = memory.value_format;
  options.key_scales = memory.key_scales;
  options.value_scales = memory.value_scales;
  options.key_scale_stride = options.value_scale_stride = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
  options.paging = memory.paging;
  if (cache.ring_groups > 0) options.paging.ring_tokens = cache.most;
}

}  // namespace

attend_status check_key_options(const attend_problem& problem, const Checked& checked, CheckedOptions& options) {
  const attend_problem& more = more_of(problem);
  core::Options& first = options.first;
  const bool arrays = problem.cache == nullptr && checked.first.keys > more.origin;
  attend_status status = check_pages(more, checked, options);
  if (status == ATTEND_OK && arrays && more.key_format == ATTEND_INT8) {
    status = check_scales(more.key_scales, more, checked, ATTEND_NO_KEY_SCALES, options.inputs[6], first.key_scales,
                          first.key_scale_stride, options.key_scale_step);
  }
  if (status == ATTEND_OK && arrays && more.value_format == ATTEND_INT8) {
    status = check_scales(more.value_scales, more, checked, ATTEND_NO_VALUE_SCALES, options.inputs[7], first.value_scales,
                          first.value_scale_stride, options.value_scale_step);
  }
  if (status != ATTEND_OK) return status;
  first.origin = int(more.origin);
  if (problem.cache == nullptr) {
    first.key_format = core::Format(more.key_format);
    first.value_format = core::Format(more.value_format);
    return ATTEND_OK;
  }
  if (!is_plain(*problem.cache)) take_cache(*problem.cache, first);
  return check_ring(problem, checked, first);
}

}  // namespace c_surface
}  // namespace attend
