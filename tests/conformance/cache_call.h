// Calls over caches with a window have other ways, core::run_cache, which must give the same bits as core::Floats::run.
#pragma once

#include "attend/core/options.h"

namespace attend_test {

// Whether a call may go that way: it asks for nothing else.
inline bool is_cache_call(const attend::core::Problem& p, const attend::core::Options& o) {
  using attend::core::Format;
  return p.key_panels && o.key_format == o.value_format && o.query_format == Format::float32 &&
         o.output_format == Format::float32 && o.right < 0 && o.mask.data == nullptr && o.bias.data == nullptr &&
         o.alibi_slopes == nullptr && o.relative == nullptr && o.soft_cap == 0.0f && o.sink_logits == nullptr &&
         o.lse.data == nullptr && o.scores.data == nullptr && o.states.data == nullptr && o.origin == 0;
}

inline void run_cache(const attend::core::Problem& p, const attend::core::Options& o, bool one_row) {
  using attend::core::Format;
  using attend::core::run_cache;
  switch (o.key_format) {
    case Format::int16:  // of no cache
    case Format::float32:
      return one_row ? run_cache<Format::float32, true>(p, o) : run_cache<Format::float32, false>(p, o);
    case Format::float16:
      return one_row ? run_cache<Format::float16, true>(p, o) : run_cache<Format::float16, false>(p, o);
    case Format::bfloat16:
      return one_row ? run_cache<Format::bfloat16, true>(p, o) : run_cache<Format::bfloat16, false>(p, o);
    case Format::int8:
      return one_row ? run_cache<Format::int8, true>(p, o) : run_cache<Format::int8, false>(p, o);
    case Format::int4:
      return one_row ? run_cache<Format::int4, true>(p, o) : run_cache<Format::int4, false>(p, o);
  }
}

}  // namespace attend_test
