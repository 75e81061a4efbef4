// Faults in what a problem asks for beyond the first version of the struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "malformed.h"

namespace attend_test {

// An attend_mask or attend_scores that reaches too far by the stride of queries or heads, or from its address on.
template <class Matrix>
bool stretch(Matrix& matrix, const attend_problem& p, Random& random) {
  switch (random.between(0, 2)) {
    case 0:
      matrix.query_stride = PTRDIFF_MAX;
      return p.queries > 1;
    case 1:
      matrix.head_stride = PTRDIFF_MAX - 1;
      return p.query_heads > 1;
    default:
      matrix.data = reinterpret_cast<decltype(matrix.data)>(UINTPTR_MAX - 3);
      return matrix.keys > 8 * 4;
  }
}

// Of a problem over arrays or over a cache.
inline const std::vector<KnownFault>& option_faults() {
  static const std::vector<KnownFault> all = {
      {ATTEND_BAD_QUERY_FORMAT,
       [](World&, Call& c, Random& r) {
         c.problem->query_format = r.between(0, 1) == 0 ? int(ATTEND_INT8) : r.between(4, 9);
         return true;
       }},
      {ATTEND_BAD_OUTPUT_FORMAT,
       [](World&, Call& c, Random& r) {
         c.problem->output_format = r.between(0, 1) == 0 ? int(ATTEND_INT8) : -r.between(1, 9);
         return true;
       }},
      {ATTEND_BAD_SOFT_CAP,
       [](World&, Call& c, Random& r) {
         const float bad[] = {-1.0f, 1e-39f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
         c.problem->soft_cap = bad[r.between(0, 3)];
         return true;
       }},
      {ATTEND_BAD_WINDOW,
       [](World&, Call& c, Random& r) {
         const bool left = r.between(0, 1) == 0;
         c.problem->options |= left ? ATTEND_WINDOW_LEFT : ATTEND_WINDOW_RIGHT;
         (left ? c.problem->window_left : c.problem->window_right) = r.between(0, 1) == 0 ? -1 : PTRDIFF_MIN;
         return true;
       }},
      {ATTEND_BAD_PINNED_KEYS,
       [](World&, Call& c, Random& r) {
         c.problem->pinned_keys = outside(0, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_BAD_OFFSET,
       [](World& w, Call& c, Random& r) {
         c.problem->options &= ~ATTEND_QUERIES_LAST;
         if (r.between(0, 1) == 0) c.problem->slopes = w.options.floats();
         if (c.problem->slopes == nullptr) w.add_relative(*c.problem);
         do c.problem->offset = outside(-ATTEND_MAX_TOKENS, ATTEND_MAX_TOKENS, r);
         while (c.problem->offset == ATTEND_DEFAULT_OFFSET);
         return true;
       }},
      {ATTEND_BAD_MASK_KIND,
       [](World& w, Call& c, Random& r) {
         const int kinds[] = {ATTEND_MASK_NONE, ATTEND_MASK_FLOATS, 4, -1};
         w.add_mask(*c.problem, kinds[r.between(0, 3)]);
         return true;
       }},
      {ATTEND_NO_MASK,
       [](World& w, Call& c, Random& r) {
         w.add_mask(*c.problem, r.between(ATTEND_MASK_BYTES, ATTEND_MASK_BITS));
         c.problem->mask.data = nullptr;
         return true;
       }},
      {ATTEND_BAD_MASK_KEYS,
       [](World& w, Call& c, Random& r) {
         w.add_mask(*c.problem, r.between(ATTEND_MASK_BYTES, ATTEND_MASK_BITS));
         c.problem->mask.keys = outside(0, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_BAD_MASK_STRIDES,
       [](World& w, Call& c, Random& r) {
         w.add_mask(*c.problem, ATTEND_MASK_BITS);
         if (r.between(0, 1) == 0) {
           c.problem->mask.batch_stride = -r.between(1, 9);
           return c.problem->batch > 1;
         }
         c.problem->mask.query_stride = -r.between(1, 9);
         return c.problem->queries > 1;
       }},
      {ATTEND_HUGE_MASK,
       [](World& w, Call& c, Random& r) {
         w.add_mask(*c.problem, r.between(ATTEND_MASK_BYTES, ATTEND_MASK_BITS));
         if (r.between(0, 2) == 0) c.problem->mask.keys = ATTEND_MAX_TOKENS;
         return stretch(c.problem->mask, *c.problem, r);
       }},
      {ATTEND_BAD_BIAS_KIND,
       [](World& w, Call& c, Random& r) {
         w.add_bias(*c.problem);
         const int kinds[] = {ATTEND_MASK_NONE, ATTEND_MASK_BYTES, ATTEND_MASK_BITS, 4, -1};
         c.problem->bias.kind = kinds[r.between(0, 4)];
         return true;
       }},
      {ATTEND_NO_BIAS,
       [](World& w, Call& c, Random&) {
         w.add_bias(*c.problem);
         c.problem->bias.data = nullptr;
         return true;
       }},
      {ATTEND_BAD_BIAS_KEYS,
       [](World& w, Call& c, Random& r) {
         w.add_bias(*c.problem);
         c.problem->bias.keys = outside(0, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_UNALIGNED_BIAS,
       [](World& w, Call& c, Random& r) {
         w.add_bias(*c.problem);
         return unalign(c.problem->bias, r);
       }},
      {ATTEND_HUGE_BIAS,
       [](World& w, Call& c, Random& r) {
         w.add_bias(*c.problem);
         if (r.between(0, 2) == 0) c.problem->bias.keys = ATTEND_MAX_TOKENS;
         return stretch(c.problem->bias, *c.problem, r);
       }},
      {ATTEND_UNALIGNED_SLOPES,
       [](World& w, Call& c, Random&) {
         c.problem->slopes = w.options.floats();
         unalign_pointer(c.problem->slopes);
         return c.problem->offset == ATTEND_DEFAULT_OFFSET || (c.problem->offset > -100 && c.problem->offset < 100);
       }},
      {ATTEND_BAD_RELATIVE,
       [](World& w, Call& c, Random& r) {
         w.add_relative(*c.problem);
         (r.between(0, 1) == 0 ? c.problem->relative.left : c.problem->relative.right) = outside(0, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_UNALIGNED_RELATIVE,
       [](World& w, Call& c, Random& r) {
         w.add_relative(*c.problem);
         return unalign(c.problem->relative, r);
       }},
      {ATTEND_HUGE_RELATIVE,
       [](World& w, Call& c, Random& r) {
         w.add_relative(*c.problem);
         if (r.between(0, 1) == 0) {
           c.problem->relative.data = last_float();
           return true;
         }
         c.problem->relative.head_stride = r.between(0, 1) == 0 ? PTRDIFF_MAX : PTRDIFF_MIN;
         return c.problem->query_heads > 1;
       }},
      {ATTEND_UNALIGNED_SINKS,
       [](World& w, Call& c, Random& r) {
         c.problem->sinks = r.between(0, 1) == 0 || c.problem->query_heads == 1 ? w.options.floats() : last_float();
         if (c.problem->sinks != last_float()) unalign_pointer(c.problem->sinks);
         return true;
       }},
      {ATTEND_UNALIGNED_LSE,
       [](World& w, Call& c, Random& r) {
         c.problem->lse.data = w.lse.floats();
         return c.problem->states == nullptr && unalign(c.problem->lse, r);
       }},
      {ATTEND_HUGE_LSE,
       [](World&, Call& c, Random&) {
         c.problem->lse.data = last_float();
         c.problem->lse.token_stride = PTRDIFF_MAX / 4;
         return c.problem->states == nullptr && c.problem->queries > 2;
       }},
      {ATTEND_BAD_LSE_STRIDES,
       [](World& w, Call& c, Random&) {
         c.problem->lse.data = w.lse.floats();
         c.problem->lse.token_stride = 0;
         return c.problem->states == nullptr && c.problem->queries > 1;
       }},
      {ATTEND_BAD_SCORE_STAGE,
       [](World& w, Call& c, Random& r) {
         w.add_scores(*c.problem, r.between(0, 1) == 0 ? 4 : -1, ATTEND_MAX_TOKENS);
         return true;
       }},
      {ATTEND_BAD_SCORE_KEYS,
       [](World& w, Call& c, Random& r) {
         const std::ptrdiff_t keys = c.problem->keys == ATTEND_ALL_KEYS ? World::held : c.problem->keys;
         w.add_scores(*c.problem, 0, r.between(0, 1) == 0 ? keys - 1 : ATTEND_MAX_TOKENS + r.between(1, 9));
         return true;
       }},
      {ATTEND_UNALIGNED_SCORES,
       [](World& w, Call& c, Random& r) {
         w.add_scores(*c.problem, 0, 16);
         return unalign(c.problem->scores, r);
       }},
      {ATTEND_HUGE_SCORES,
       [](World& w, Call& c, Random& r) {
         w.add_scores(*c.problem, 0, 16);
         return stretch(c.problem->scores, *c.problem, r);
       }},
      {ATTEND_BAD_SCORE_STRIDES,
       [](World& w, Call& c, Random& r) {
         w.add_scores(*c.problem, 0, 16);
         c.problem->scores.query_stride = r.between(0, 15);
         return c.problem->queries > 1;
       }},
      {ATTEND_NO_STATES,
       [](World&, Call& c, Random&) {
         c.problem->states = nullptr;
         c.problem->options |= ATTEND_STATE_BEGINS;
         return true;
       }},
      {ATTEND_UNALIGNED_STATES,
       [](World& w, Call& c, Random&) {
         c.problem->states = w.states.floats();
         unalign_pointer(c.problem->states);
         return true;
       }},
      {ATTEND_HUGE_STATES,
       [](World&, Call& c, Random&) {
         c.problem->states = last_float();
         return true;
       }},
      {ATTEND_BAD_FIRST_KEY,
       [](World& w, Call& c, Random& r) {
         const std::ptrdiff_t keys = c.problem->keys == ATTEND_ALL_KEYS ? World::held : c.problem->keys;
         c.problem->options &= ~ATTEND_STATE_BEGINS;
         c.problem->first_key = outside(0, keys, r);
         if (r.between(0, 1) == 0) {
           c.problem->states = nullptr;
           if (r.between(0, 1) == 0) c.problem->first_key = 1;
         } else {
           c.problem->states = w.states.floats();
           if (keys > 0 && r.between(0, 1) == 0) c.problem->options |= ATTEND_STATE_BEGINS, c.problem->first_key = 1;
         }
         return true;
       }},
      {ATTEND_WEIGHTS_OF_STATES,
       [](World& w, Call& c, Random&) {
         w.add_scores(*c.problem, ATTEND_SCORES_WEIGHTS, 16);
         if (c.problem->states == nullptr) c.problem->states = w.states.floats(), c.problem->first_key = 0;
         return true;
       }},
      {ATTEND_LAST_OF_STATES,
       [](World& w, Call& c, Random&) {
         c.problem->options |= ATTEND_QUERIES_LAST;
         if (c.problem->states == nullptr) c.problem->states = w.states.floats(), c.problem->first_key = 0;
         return true;
       }},
      {ATTEND_OUTPUT_OVERLAPS_OPTION,
       [](World&, Call& c, Random& r) {
         if (r.between(0, 1) == 0) {
           c.problem->bias = {c.problem->output.data, 0, 0, 0, 3, ATTEND_MASK_FLOATS};
         } else {
           c.problem->mask = {c.problem->output.data, 0, 0, 0, 3, r.between(ATTEND_MASK_BYTES, ATTEND_MASK_BITS)};
         }
         return c.problem->states == nullptr && c.problem->output_format == ATTEND_FLOAT32;
       }},
      {ATTEND_LSE_OVERLAPS_OUTPUT,
       [](World&, Call& c, Random&) {
         c.problem->lse.data = c.problem->output.data;
         return c.problem->states == nullptr && c.problem->output_format == ATTEND_FLOAT32;
       }},
      {ATTEND_LSE_OVERLAPS_INPUT,
       [](World& w, Call& c, Random& r) {
         c.problem->lse.data = w.lse.floats();
         (r.between(0, 1) == 0 ? c.problem->sinks : c.problem->slopes) = w.lse.floats();
         return c.problem->states == nullptr;
       }},
      {ATTEND_SCORES_OVERLAP_OUTPUT,
       [](World& w, Call& c, Random& r) {
         w.add_scores(*c.problem, 0, 16);
         if (r.between(0, 1) == 0 || c.problem->output_format != ATTEND_FLOAT32) {
           c.problem->lse.data = w.scores.floats();
         } else {
           c.problem->scores.data = static_cast<float*>(c.problem->output.data);
         }
         return c.problem->states == nullptr;
       }},
      {ATTEND_SCORES_OVERLAP_INPUT,
       [](World& w, Call& c, Random& r) {
         w.add_scores(*c.problem, 0, 16);
         if (r.between(0, 1) == 0) {
           c.problem->query.data = w.scores.floats() + 9;
         } else {
           c.problem->bias = {w.scores.floats() + 9, 0, 0, 0, 3, ATTEND_MASK_FLOATS};
         }
         return true;
       }},
      {ATTEND_STATES_OVERLAP_OUTPUT,
       [](World& w, Call& c, Random&) {
         w.add_scores(*c.problem, 0, 16);
         c.problem->states = w.scores.floats();
         c.problem->options &= ~(ATTEND_QUERIES_LAST | ATTEND_STATE_BEGINS);
         c.problem->first_key = 0;
         return true;
       }},
      {ATTEND_STATES_OVERLAP_INPUT,
       [](World& w, Call& c, Random&) {
         c.problem->states = w.states.floats();
         c.problem->sinks = w.states.floats() + 20;
         c.problem->options &= ~(ATTEND_QUERIES_LAST | ATTEND_STATE_BEGINS);
         c.problem->first_key = 0;
         return true;
       }},
      {ATTEND_WORKSPACE_OVERLAPS_OPTION,
       [](World& w, Call& c, Random& r) {
         if (attend_workspace_size(c.problem) == 0) return false;
         switch (r.between(0, 2)) {
           case 0:
             c.problem->slopes = w.workspace.floats();
             break;
           case 1:
             w.add_scores(*c.problem, 0, 16);
             c.problem->scores.data = w.workspace.floats() + 7;
             break;
           default:
             c.problem->mask = {w.workspace.data + 1, 0, 0, 0, 3, ATTEND_MASK_BYTES};
             break;
         }
         return true;
       }},
  };
  return all;
}

// Of a problem over arrays.
inline const std::vector<KnownFault>& array_option_faults() {
  static const std::vector<KnownFault> all = {
      {ATTEND_BAD_KEY_FORMAT,
       [](World&, Call& c, Random& r) {
         c.problem->key_format = r.between(0, 1) == 0 ? -1 : r.between(4, 900);
         return true;
       }},
      {ATTEND_BAD_VALUE_FORMAT,
       [](World&, Call& c, Random& r) {
         c.problem->value_format = r.between(0, 1) == 0 ? -1 : r.between(4, 900);
         return true;
       }},
      {ATTEND_BAD_ORIGIN,
       [](World& w, Call& c, Random& r) {
         if (r.between(0, 1) == 0) {
           w.add_pages(*c.problem);
           c.problem->origin = r.between(1, 9);
         } else {
           c.problem->origin = outside(0, c.problem->keys, r);
         }
         return true;
       }},
      {ATTEND_BAD_PAGE_KEYS,
       [](World& w, Call& c, Random& r) {
         w.add_pages(*c.problem);
         const std::ptrdiff_t bad[] = {0, 1, 15, 17, 24, -16, PTRDIFF_MIN, ATTEND_MAX_TOKENS + 16, PTRDIFF_MAX};
         c.problem->pages.page_keys = bad[r.between(0, 8)];
         return c.problem->origin == 0;
       }},
      {ATTEND_BAD_PAGE_COUNT,
       [](World& w, Call& c, Random& r) {
         w.add_pages(*c.problem);
         c.problem->pages.count = outside(1, ATTEND_MAX_TOKENS / 16, r);
         return c.problem->origin == 0;
       }},
      {ATTEND_UNALIGNED_PAGES,
       [](World& w, Call& c, Random&) {
         w.add_pages(*c.problem);
         unalign_pointer(c.problem->pages.table);
         return c.problem->origin == 0;
       }},
      {ATTEND_HUGE_PAGES,
       [](World& w, Call& c, Random&) {
         w.add_pages(*c.problem);
         c.problem->pages.batch_stride = PTRDIFF_MAX / 2;
         return c.problem->origin == 0 && c.problem->batch > 1;
       }},
      {ATTEND_BAD_PAGE,
       [](World& w, Call& c, Random& r) {
         w.add_pages(*c.problem);
         const std::int32_t bad[] = {-1, 2, INT32_MIN, INT32_MAX};
         c.problem->pages.table += 8;
         std::memcpy(w.pages.data + 8 * sizeof(std::int32_t), &bad[r.between(0, 3)], sizeof(std::int32_t));
         w.pages.remember();
         c.problem->first_key = 0;
         c.problem->key_lengths = nullptr;
         return c.problem->origin == 0 && c.problem->keys > 0;
       }},
      {ATTEND_NO_KEY_SCALES,
       [](World&, Call& c, Random&) {
         c.problem->key_format = ATTEND_INT8;
         c.problem->key_scales.data = nullptr;
         return has_arrays(*c.problem);
       }},
      {ATTEND_UNALIGNED_KEY_SCALES,
       [](World& w, Call& c, Random& r) {
         c.problem->key_format = ATTEND_INT8;
         w.add_scales(*c.problem);
         return has_arrays(*c.problem) && unalign(c.problem->key_scales, r);
       }},
      {ATTEND_HUGE_KEY_SCALES,
       [](World& w, Call& c, Random&) {
         c.problem->key_format = ATTEND_INT8;
         w.add_scales(*c.problem);
         c.problem->key_scales.head_stride = PTRDIFF_MIN;
         return has_arrays(*c.problem) && c.problem->kv_heads > 1;
       }},
      {ATTEND_NO_VALUE_SCALES,
       [](World&, Call& c, Random&) {
         c.problem->value_format = ATTEND_INT8;
         c.problem->value_scales.data = nullptr;
         return has_arrays(*c.problem);
       }},
      {ATTEND_UNALIGNED_VALUE_SCALES,
       [](World& w, Call& c, Random& r) {
         c.problem->value_format = ATTEND_INT8;
         w.add_scales(*c.problem);
         return has_arrays(*c.problem) && unalign(c.problem->value_scales, r);
       }},
      {ATTEND_HUGE_VALUE_SCALES,
       [](World& w, Call& c, Random&) {
         c.problem->value_format = ATTEND_INT8;
         w.add_scales(*c.problem);
         c.problem->value_scales.batch_stride = PTRDIFF_MAX;
         return has_arrays(*c.problem) && c.problem->pages.table == nullptr && c.problem->batch > 1;
       }},
  };
  return all;
}

// Of a problem over a cache.
inline const std::vector<KnownFault>& cache_option_faults() {
  static const std::vector<KnownFault> all = {
      {ATTEND_BAD_ORIGIN,
       [](World&, Call& c, Random& r) {
         c.problem->origin = r.between(1, 9);
         return true;
       }},
      {ATTEND_PAGES_AND_CACHE,
       [](World& w, Call& c, Random&) {
         w.add_pages(*c.problem);
         return c.problem->origin == 0;
       }},
  };
  return all;
}

}  // namespace attend_test
