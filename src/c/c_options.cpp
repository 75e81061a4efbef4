// The options of a problem of the C surface, and where its keys lie: checks them, and makes core::Options of them.
#include "surface.h"

#include "../call/portable.h"

namespace attend::c_surface {
namespace {

// The extents of masks, biases and scores; with states the number of their columns is not known.
Extent::Counts matrix_counts(const Call& call, const CallOptions& options) {
  const core::Problem& first = call.first;
  return {call.batch, first.queries, first.query_heads, options.first.states.data != nullptr ? -1 : first.keys};
}

void check_bias(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_bias& bias = problem.bias;
  const int stage = problem.bias_stage;
  call.require(stage == ATTEND_BIAS_AFTER_CAP || stage == ATTEND_BIAS_BEFORE_CAP, ATTEND_UNKNOWN, ATTEND_ARG_BIAS_STAGE);
  options.first.bias_before_cap = stage == ATTEND_BIAS_BEFORE_CAP;
  if (bias.data == nullptr) return call.require(is_default_matrix(bias), ATTEND_NO_EFFECT, ATTEND_ARG_BIAS);
  const Extent extent = matrix_extent(call, bias, matrix_counts(call, options), 0, ATTEND_ARG_BIAS);
  call.read(bias.data, extent, float_bits, ATTEND_ARG_BIAS);
  options.first.bias = core_mask(bias.data, extent);
  options.bias_step = extent.strides.batch;
}

void check_relative_bias(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_relative_bias& bias = problem.relative_bias;
  if (bias.data == nullptr) {
    const bool set = bias.head_stride != ATTEND_DENSE || bias.left != -1 || bias.right != -1;
    return call.require(!set, ATTEND_NO_EFFECT, ATTEND_ARG_RELATIVE_BIAS);
  }
  call.within(bias.left, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_RELATIVE_BIAS);
  call.within(bias.right, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_RELATIVE_BIAS);
  if (call.failed()) return;
  const Extent extent =
      extent_of({1, 1, problem.query_heads, bias.left + 1 + bias.right}, {0, 0, bias.head_stride}, Axes::matrix);
  call.read(bias.data, extent, float_bits, ATTEND_ARG_RELATIVE_BIAS);
  options.first.relative = bias.data;
  options.first.relative_head_stride = extent.strides.head;
  options.first.relative_left = int(bias.left);
  options.first.relative_right = int(bias.right);
}

// A number for each query head.
const float* check_heads(Call& call, const float* data, attend_argument argument) {
  if (data != nullptr) call.read(call.array(data, call.first.query_heads, float_bits, argument));
  return data;
}

void check_scores(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_scores& scores = problem.scores;
  const bool none = scores.stage == ATTEND_SCORES_NONE;
  if (scores.data == nullptr) {
    call.require(none, ATTEND_MISSING, ATTEND_ARG_SCORES);
    return call.require(is_default_matrix(scores), ATTEND_NO_EFFECT, ATTEND_ARG_SCORES);
  }
  const bool known = scores.stage >= ATTEND_SCORES_RAW && scores.stage <= ATTEND_SCORES_WEIGHTS;
  call.require(known, ATTEND_UNKNOWN, ATTEND_ARG_SCORES);
  const Extent extent = matrix_extent(call, scores, matrix_counts(call, options), call.first.keys, ATTEND_ARG_SCORES);
  options.score_step = call.write(scores.data, extent, float_bits, ATTEND_ARG_SCORES);
  if (call.failed()) return;
  options.first.scores = core_tensor<float>(scores.data, extent);
  options.first.score_keys = int(extent.counts.width);
  options.first.score_stage = core::Scores(scores.stage - 1);
}

// Whether scores of keys that a query does not see are wanted too.
bool shows_masked(const attend_problem& problem) {
  return problem.scores.data != nullptr && problem.scores.stage <= ATTEND_SCORES_CAPPED;
}

core::Ranges ranges_of_row(const CallOptions& options, ptrdiff_t row) {
  core::Ranges ranges = options.ranges;
  core::move_bytes(ranges.first, row * options.range_step);
  core::move_bytes(ranges.end, row * options.range_step);
  return ranges;
}

void check_ranges(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_ranges given = problem.ranges;
  if (!has_ranges(problem)) return call.require(given.batch_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, ATTEND_ARG_RANGES);
  call.require(problem.states == nullptr, ATTEND_CONFLICT, ATTEND_ARG_RANGES);
  call.require(!shows_masked(problem), ATTEND_CONFLICT, ATTEND_ARG_SCORES);
  const Extent extent = extent_of({call.batch, 1, 1, call.first.queries}, {given.batch_stride, 0, 0}, Axes::matrix);
  const auto read = [&](const int32_t* numbers, attend_argument argument) {
    if (numbers != nullptr) options.range_step = call.read(numbers, extent, 8 * int(sizeof(int32_t)), argument);
  };
  read(given.first, ATTEND_ARG_RANGES);
  read(given.end, ATTEND_ARG_RANGES);
  options.ranges.first = given.first;
  options.ranges.end = given.end;
  for (ptrdiff_t row = 0; call.first.queries > 0 && row < call.batch && !call.failed(); ++row) {
    const bool right = core::are_ranges(ranges_of_row(options, row), call.first.queries);
    call.require(right, ATTEND_OUT_OF_RANGE, ATTEND_ARG_RANGES);
  }
}

void check_documents(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_documents given = problem.documents;
  if (given.boundaries == nullptr) return call.require(given.count == 0, ATTEND_NO_EFFECT, ATTEND_ARG_DOCUMENTS);
  call.left_out(call.batch <= 1, ATTEND_ARG_BATCH);
  call.left_out(problem.cache == nullptr, ATTEND_ARG_CACHE);
  call.left_out(problem.pages.table == nullptr, ATTEND_ARG_PAGES);
  call.left_out(problem.key_lengths == nullptr, ATTEND_ARG_KEY_LENGTHS);
  call.left_out(problem.states == nullptr, ATTEND_ARG_STATES);
  call.left_out(origin_of(problem) == 0, ATTEND_ARG_ORIGIN);
  call.left_out(problem.offset == ATTEND_DEFAULT_OFFSET, ATTEND_ARG_OFFSET);
  call.left_out(!call.queries_last, ATTEND_ARG_OPTIONS);
  call.left_out(!shows_masked(problem), ATTEND_ARG_SCORES);
  call.within(given.count, call.first.queries > 0 ? 1 : 0, ATTEND_MAX_TOKENS, ATTEND_ARG_DOCUMENTS);
  if (call.failed()) return;
  call.read(call.array(given.boundaries, given.count + 1, 8 * int(sizeof(int32_t)), ATTEND_ARG_DOCUMENTS));
  if (call.failed()) return;
  call.require(given.boundaries[0] == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_DOCUMENTS);
  for (ptrdiff_t d = 0; d < given.count && !call.failed(); ++d) {
    call.require(given.boundaries[d] <= given.boundaries[d + 1], ATTEND_OUT_OF_RANGE, ATTEND_ARG_DOCUMENTS);
  }
  const int32_t tokens = given.boundaries[given.count];
  call.require(tokens == call.first.queries && tokens == call.first.keys, ATTEND_MISMATCH, ATTEND_ARG_DOCUMENTS);
  options.ranges.boundaries = given.boundaries;
  options.ranges.documents = int(given.count);
}

void check_lse(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_output& lse = problem.lse;
  const int base = problem.lse_base;
  call.require(base == ATTEND_LSE_NATURAL || base == ATTEND_LSE_BASE_2, ATTEND_UNKNOWN, ATTEND_ARG_LSE_BASE);
  options.first.lse_base2 = base == ATTEND_LSE_BASE_2;
  if (lse.data == nullptr) return call.require(is_default(lse), ATTEND_NO_EFFECT, ATTEND_ARG_LSE);
  const core::Problem& first = call.first;
  options.lse_step = Tensors{call, axes_of(problem)}.write(lse, {call.batch, first.queries, first.query_heads, 1}, float_bits,
                                                           ATTEND_ARG_LSE, options.first.lse);
}

// ---- Where keys and values lie that are no plain arrays of floats and no plain cache: pages, rings, other formats, an origin.

// The first key of a batch row that any query's window shows; sink tokens lie before.
ptrdiff_t first_seen(const Call& call, const attend_problem& problem, const CallOptions& options, ptrdiff_t keys) {
  if (shows_masked(problem) || options.first.left < 0) return 0;
  return (call.queries_last ? keys - call.first.queries : call.first.offset) - options.first.left;
}

// Pages that every window has left behind may be gone.
void check_page_numbers(Call& call, const attend_problem& problem, const CallOptions& options, const Extent& extent) {
  const attend_pages& pages = problem.pages;
  for (ptrdiff_t row = 0; call.first.queries > 0 && row < call.batch && !call.failed(); ++row) {
    const int32_t* const table = pages.table + row * extent.strides.batch;
    const ptrdiff_t keys = call.keys_of_row(row), seen = first_seen(call, problem, options, keys);
    for (ptrdiff_t page = options.first.first_key / pages.page_keys; page * pages.page_keys < keys; ++page) {
      const ptrdiff_t begin = page * pages.page_keys;
      const bool needed = begin + pages.page_keys > seen || begin < problem.sink_tokens;
      call.require(!needed || (table[page] >= 0 && table[page] < pages.count), ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES);
    }
  }
}

void check_page_table(Call& call, const attend_problem& problem, CallOptions& options) {
  const attend_pages& pages = problem.pages;
  const ptrdiff_t count = (call.first.keys + pages.page_keys - 1) / pages.page_keys;
  const bool known = problem.states == nullptr || call.batch <= 1 || pages.batch_stride != ATTEND_DENSE;
  call.require(known, ATTEND_AMBIGUOUS, ATTEND_ARG_PAGES);
  const Extent extent = extent_of({call.batch, 1, 1, count}, {pages.batch_stride, 0, 0}, Axes::matrix);
  options.page_step = call.read(pages.table, extent, 8 * int(sizeof(int32_t)), ATTEND_ARG_PAGES);
  if (call.failed()) return;
  check_page_numbers(call, problem, options, extent);
  options.first.paging.pages = pages.table;
  options.first.paging.page_panels = int(pages.page_keys / panel_keys_of(call));
}

struct CoreScales {
  const void*& data;
  ptrdiff_t& stride;
};

// Checks the scales of keys or values that lie in arrays; returns their step.
ptrdiff_t check_scales(Call& call, const attend_scales& scales, const attend_problem& problem, attend_argument argument,
                       const CoreScales& to) {
  const int format = argument == ATTEND_ARG_KEY_SCALES ? problem.key_format : problem.value_format;
  const bool integers = call.arithmetic->integers, takes = integers ? scales.data != nullptr : format == ATTEND_INT8;
  if (!takes || problem.cache != nullptr) {
    call.require(scales.data == nullptr && scales.batch_stride == ATTEND_DENSE && scales.head_stride == ATTEND_DENSE,
                 ATTEND_NO_EFFECT, argument);
    return 0;
  }
  if (call.stored == 0) return 0;
  const bool paged = problem.pages.table != nullptr, grows = problem.states != nullptr && !paged;
  const ptrdiff_t rows = paged && call.batch > 0 ? 1 : call.batch;
  const bool known =
      (rows <= 1 || scales.batch_stride != ATTEND_DENSE) && (problem.kv_heads == 1 || scales.head_stride != ATTEND_DENSE);
  call.require(!grows || known, ATTEND_AMBIGUOUS, argument);
  const Tensors tensors = {call, Axes::matrix};
  return tensors.read_scales(scales, {rows, 1, problem.kv_heads, call.stored}, integers ? 16 : float_bits, argument, to.data,
                             to.stride);
}

// Whether a query sees any of keys from ... to - 1, of those that the call takes of a batch row with so many keys.
bool any_seen(const Call& call, const attend_problem& problem, const CallOptions& options, ptrdiff_t keys, ptrdiff_t from,
              ptrdiff_t to) {
  const ptrdiff_t begin = options.first.first_key, seen = first_seen(call, problem, options, keys);
  const auto larger = [](ptrdiff_t a, ptrdiff_t b) { return a > b ? a : b; };
  const auto smaller = [](ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; };
  from = larger(from, begin), to = smaller(to, keys);
  return larger(from, seen) < to || from < smaller(to, problem.sink_tokens);
}

// A ring may have lost keys that are asked for: those between its copies of the sink panels and its first panel.
void check_ring(Call& call, const attend_problem& problem, const CallOptions& options) {
  const attend_cache& cache = *problem.cache;
  if (cache.ring_panels == 0 || call.batch == 0) return;
  const int panel = panel_keys_of(cache);
  const ptrdiff_t lost = ptrdiff_t(cache.sink_panels) * panel;
  const ptrdiff_t back = ptrdiff_t(first_ring_panel(options.first.paging, peak_of(call, cache), panel)) * panel;
  const bool any_lost = any_seen(call, problem, options, call.keys_of_row(0), lost, back);
  call.require(!any_lost, ATTEND_LOST, ATTEND_ARG_CACHE);
}

// With states, arrays and caches begin no later than the states' next key, unless windows have left behind the keys between.
// And where the states have taken keys, these may have been of other arrays: a call must set the key that its arrays begin
// with.
void check_origin(Call& call, const attend_problem& problem, const CallOptions& options) {
  const bool nobody = call.batch == 0 || call.first.queries == 0;
  if (problem.states == nullptr || problem.pages.table != nullptr || nobody || call.failed()) return;
  const bool is_set = problem.cache != nullptr || problem.origin != ATTEND_DEFAULT_ORIGIN || problem.first_key == 0;
  call.require(is_set, ATTEND_AMBIGUOUS, ATTEND_ARG_ORIGIN);
  const bool left_out = any_seen(call, problem, options, call.first.keys, problem.first_key, origin_of(problem));
  call.require(!left_out, ATTEND_MISMATCH, ATTEND_ARG_ORIGIN);
}

// The options of a cache that is not plain.
void take_cache(const Call& call, const attend_cache& cache, core::Options& options) {
  options.paging = paging_of(cache);
  if (cache.ring_panels > 0) options.paging.ring_tokens = peak_of(call, cache);
  if (has_integers(cache)) return;
  const core::FormatCache memory = format_memory(cache);
  options.key_format = memory.key_format;
  options.value_format = memory.value_format;
  options.key_scales = memory.key_scales;
  options.value_scales = memory.value_scales;
  options.key_scale_stride = options.value_scale_stride = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
}

void check_key_options(Call& call, const attend_problem& problem, CallOptions& options) {
  core::Options& first = options.first;
  if (problem.pages.table != nullptr && !call.failed()) check_page_table(call, problem, options);
  options.key_scale_step =
      check_scales(call, problem.key_scales, problem, ATTEND_ARG_KEY_SCALES, {first.key_scales, first.key_scale_stride});
  options.value_scale_step = check_scales(call, problem.value_scales, problem, ATTEND_ARG_VALUE_SCALES,
                                          {first.value_scales, first.value_scale_stride});
  check_origin(call, problem, options);
  first.origin = int(origin_of(problem));
  first.key_format = core_format(problem.key_format);
  first.value_format = core_format(problem.value_format);
  if (problem.cache == nullptr) return;
  if (!is_plain(*problem.cache)) take_cache(call, *problem.cache, first);
  check_ring(call, problem, options);
}

// Options of floats, which integers do without.
void check_integers(Call& call, const attend_problem& problem) {
  leave_out_terms(call, problem);
  call.left_out(problem.bias_stage == ATTEND_BIAS_AFTER_CAP, ATTEND_ARG_BIAS_STAGE);
  call.left_out(problem.alibi_slopes == nullptr, ATTEND_ARG_ALIBI_SLOPES);
  call.left_out(problem.relative_bias.data == nullptr, ATTEND_ARG_RELATIVE_BIAS);
  call.left_out(problem.sink_logits == nullptr, ATTEND_ARG_SINK_LOGITS);
  call.left_out(problem.lse.data == nullptr, ATTEND_ARG_LSE);
  call.left_out(problem.lse_base == ATTEND_LSE_NATURAL, ATTEND_ARG_LSE_BASE);
  call.left_out(problem.scores.data == nullptr, ATTEND_ARG_SCORES);
}

}  // namespace

void leave_out_terms(Check& check, const attend_problem& problem) {
  check.left_out(magnitude(problem.soft_cap) == 0, ATTEND_ARG_SOFT_CAP);
  check.left_out(problem.bias.data == nullptr, ATTEND_ARG_BIAS);
}

void check_end(Call& call, const attend_problem& problem, CallOptions& options, bool writes) {
  if (call.arithmetic->integers && writes) check_integers(call, problem);  // of attend_finish
  options.first.sink_logits = check_heads(call, problem.sink_logits, ATTEND_ARG_SINK_LOGITS);
  options.first.output_format = call.output_format;
  options.first.query_zero = call.query_zero;
  options.first.float_scale = call.float_scale;
  if (writes) check_lse(call, problem, options);
}

void check_together(Call& call, const core::Options& options) {
  // The words of C for what both surfaces refuse.
  static constexpr struct {
    attend_error error;
    attend_argument argument;
  } answers[] = {{ATTEND_OK, ATTEND_ARG_NONE},
                 {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE},
                 {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SOFT_CAP},
                 {ATTEND_MISMATCH, ATTEND_ARG_SOFT_CAP},
                 {ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS},
                 {ATTEND_NO_EFFECT, ATTEND_ARG_BIAS_STAGE},
                 {ATTEND_NO_EFFECT, ATTEND_ARG_LSE_BASE},
                 {ATTEND_CONFLICT, ATTEND_ARG_SCORES}};
  static_assert(sizeof answers / sizeof *answers == size_t(core::Refused::last) + 1, "a refusal has no answer");
  const core::Refused refused = core::refused(call.first, options);
  call.require(refused == core::Refused::nothing, answers[int(refused)].error, answers[int(refused)].argument);
}

core::RangedOptions options_of_row(const CallOptions& options, ptrdiff_t row) {
  core::RangedOptions ranged;
  core::Options& row_options = ranged;
  row_options = options.first;
  static_assert(core::option_count == 34, "attend: what does a batch row have of the new option?");
  row_options.mask.first = row * options.mask_step;
  row_options.bias.first = row * options.bias_step;
  move(row_options.key_scales, row * options.key_scale_step);
  move(row_options.value_scales, row * options.value_scale_step);
  move(row_options.paging.pages, row * options.page_step);
  move(row_options.lse.data, row * options.lse_step);
  move(row_options.scores.data, row * options.score_step);
  move(row_options.states.data, row * options.state_step);
  ranged.ranges = ranges_of_row(options, row);
  return ranged;
}

void check_options(Call& call, const attend_problem& problem, CallOptions& options) {
  if (call.arithmetic->integers) check_integers(call, problem);
  core::Options& first = options.first;
  first.states.data = problem.states;
  first.soft_cap = problem.soft_cap;
  first.query_format = core_format(problem.query_format);
  call.within(problem.first_key, 0, call.first.keys, ATTEND_ARG_FIRST_KEY);
  call.require(problem.states != nullptr || problem.first_key == 0, ATTEND_NO_EFFECT, ATTEND_ARG_FIRST_KEY);
  const bool has_room = problem.states != nullptr || problem.state_nodes == ATTEND_DEFAULT_STATE_NODES;
  call.require(has_room, ATTEND_NO_EFFECT, ATTEND_ARG_STATE_NODES);
  first.first_key = call.failed() ? 0 : int(problem.first_key);
  check_windows(call, problem, first);
  options.mask_step = check_mask(call, problem.mask, matrix_counts(call, options), first);
  check_bias(call, problem, options);
  check_relative_bias(call, problem, options);
  first.alibi_slopes = check_heads(call, problem.alibi_slopes, ATTEND_ARG_ALIBI_SLOPES);
  check_key_options(call, problem, options);
  check_scores(call, problem, options);
  check_ranges(call, problem, options);
  check_documents(call, problem, options);
  check_end(call, problem, options, problem.states == nullptr);
  check_together(call, first);
  if (problem.states == nullptr) return;
  call.write(check_states(call, problem.states, ATTEND_ARG_STATES), ATTEND_ARG_STATES);
  if (!call.failed()) set_states(problem.states, call, options);
}

// Not inlined, as run_options: calls without options need none of its stack.
[[gnu::noinline]] void check_options(Call& call, const attend_problem& problem) {
  CallOptions options;
  check_options(call, problem, options);
}

void check_pages(Call& call, const attend_problem& problem) {
  const attend_pages& pages = problem.pages;
  if (pages.table == nullptr) {
    const bool set = pages.batch_stride != ATTEND_DENSE || pages.page_keys != 0 || pages.count != 0;
    return call.require(!set, ATTEND_NO_EFFECT, ATTEND_ARG_PAGES);
  }
  call.require(origin_of(problem) == 0, ATTEND_CONFLICT, ATTEND_ARG_ORIGIN);
  call.within(pages.page_keys, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_PAGES_PAGE_KEYS);
  call.require(pages.page_keys % panel_keys_of(call) == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES_PAGE_KEYS);
  if (call.failed()) return;
  call.within(pages.count, 1, ATTEND_MAX_TOKENS / pages.page_keys, ATTEND_ARG_PAGES);
  if (!call.failed() && call.stored > 0) call.stored = pages.count * pages.page_keys;
}

// With states `keys` is where a call stops: strides that would be dense of so many keys are not.
void check_growing(Call& call, const attend_problem& problem) {
  const bool grows = problem.states != nullptr && problem.pages.table == nullptr;
  const auto known = [&](const attend_input& input) {
    return (input.batch_stride != ATTEND_DENSE || call.batch <= 1) &&
           (input.head_stride != ATTEND_DENSE || problem.kv_heads == 1 || axes_of(problem) == Axes::token_head);
  };
  call.require(!grows || known(problem.key), ATTEND_AMBIGUOUS, ATTEND_ARG_KEY);
  call.require(!grows || known(problem.value), ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE);
}

}  // namespace attend::c_surface
