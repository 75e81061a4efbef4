// Calls over caches of one format with a window: on embedded processors without the code of other options, elsewhere as calls
// with options.
#include "../include/attend/core_options.h"

#if ATTEND_EMBEDDED
#include "attention/embedded.h"
#include "simd/embedded_isa.h"
#endif

namespace attend {
namespace core {

template <Format format, bool one_row>
void run_cache(const Problem& problem, const Options& options) {
#if ATTEND_EMBEDDED
  EmbeddedPipeline<EmbeddedIsa, CacheFeatures<format, one_row>>(problem, options).template run<true>();
#else
  run(problem, options);
#endif
}

template void run_cache<Format::float32, false>(const Problem&, const Options&);
template void run_cache<Format::float32, true>(const Problem&, const Options&);
template void run_cache<Format::float16, false>(const Problem&, const Options&);
template void run_cache<Format::float16, true>(const Problem&, const Options&);
template void run_cache<Format::bfloat16, false>(const Problem&, const Options&);
template void run_cache<Format::bfloat16, true>(const Problem&, const Options&);
template void run_cache<Format::int8, false>(const Problem&, const Options&);
template void run_cache<Format::int8, true>(const Problem&, const Options&);

}  // namespace core
}  // namespace attend
