// Units of work of a call with options (parts.h).
#ifndef ATTEND_ATTENTION_OPTION_PIECES_H
#define ATTEND_ATTENTION_OPTION_PIECES_H

#include "../../include/attend/core/options.h"
#include "parts.h"

namespace attend::ATTEND_ISA {
namespace {

// Makes the options those of a unit of work. All fields by name: one that core::Options gets does not compile here until
// somebody has decided what a unit has of it.
inline void take_unit_of_options(core::Options& options, const WorkUnit& work_unit) {
  [[maybe_unused]] auto& [left, right, sink_tokens, visible, visible_bits, bias, alibi_slopes, relative, relative_head_stride,
                          relative_left, relative_right, soft_cap, sink_logits, lse, scores, score_keys, score_stage,
                          query_format, key_format, value_format, output_format, key_scales, value_scales, key_scale_stride,
                          value_scale_stride, paging, origin, states, first_key, begins, partial] = options;
  core::move_queries(options, work_unit.token, work_unit.query_head);
  if (alibi_slopes != nullptr) alibi_slopes += work_unit.query_head;
  if (sink_logits != nullptr) sink_logits += work_unit.query_head;
  if (relative != nullptr) relative += work_unit.query_head * relative_head_stride;
  if (key_scales != nullptr) key_scales += work_unit.kv_head * key_scale_stride;
  if (value_scales != nullptr) value_scales += work_unit.kv_head * value_scale_stride;
}

inline Formats formats_of(const core::Options& options) {
  return {options.query_format, options.output_format, options.key_format, options.value_format};
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
