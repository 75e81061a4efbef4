// Calls over caches with a window have a second way, core::run_..._cache, which must give the same bits as core::run.
#pragma once

#include "attend/core_options.h"

namespace attend_test {

// Whether a call may go that way: it asks for nothing else.
inline bool is_cache_call(const attend::core::Problem& p, const attend::core::Options& o) {
  using attend::core::Format;
  return p.key_panels && o.key_format == o.value_format && o.query_format == Format::float32 &&
         o.output_format == Format::float32 && o.right < 0 && o.visible.data == nullptr && o.bias.data == nullptr &&
         o.slopes == nullptr && o.relative == nullptr && o.soft_cap == 0.0f && o.sinks == nullptr && o.lse.data == nullptr &&
         o.scores.data == nullptr && o.states.data == nullptr && o.origin == 0;
}

inline void run_cache_call(const attend::core::Problem& p, const attend::core::Options& o) {
  using attend::core::Format;
  switch (o.key_format) {
    case Format::float32:
      return attend::core::run_float32_cache(p, o);
    case Format::float16:
      return attend::core::run_float16_cache(p, o);
    case Format::bfloat16:
      return attend::core::run_bfloat16_cache(p, o);
    case Format::int8:
      return attend::core::run_int8_cache(p, o);
  }
}

}  // namespace attend_test
