// What is refused of a call (include/attend/core/rules.h), in integers: no processor needs to compute in floats for it.
#include "../../include/attend/core/rules.h"

#include "portable.h"

namespace attend::core {

Refused refused(const Problem& problem, const Options& options) {
  const uint32_t cap = bits_to<uint32_t>(options.soft_cap);
  const bool has_cap = magnitude(options.soft_cap) != 0, into_states = options.states.data != nullptr || options.begins;
  if (!is_scale(problem.scale)) return Refused::scale;
  if (has_cap && (cap < magnitude(1e-30f) || cap > magnitude(1e30f))) return Refused::soft_cap;
  if (has_cap && int(magnitude(problem.scale) >> 23) - int(cap >> 23) >= 125) return Refused::scale_by_cap;
  if (options.sink_tokens > 0 && options.left < 0) return Refused::sinks_without_window;
  if (options.bias_before_cap && (!has_cap || options.bias.data == nullptr)) return Refused::bias_stage;
  if (options.lse_base2 && options.lse.data == nullptr) return Refused::lse_base;
  const bool weights = options.scores.data != nullptr && options.score_stage == Scores::weights;
  return weights && into_states ? Refused::weights_into_states : Refused::nothing;
}

bool are_ranges(const Ranges& ranges, int queries) {
  for (int i = 0; i < queries; ++i) {
    const int32_t first = ranges.first == nullptr ? 0 : ranges.first[i], end = ranges.end == nullptr ? first : ranges.end[i];
    if (first < 0 || end < first) return false;
  }
  return true;
}

}  // namespace attend::core
