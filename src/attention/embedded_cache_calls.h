// Calls over caches of one format on embedded processors. Before this a source includes embedded_operations.h.
#include "../isa/list.h"
#include "embedded.h"

namespace attend {
namespace core {

// Calls over caches of one format with a window, without the code of other options.
template <Format format, bool one_row>
void run_cache(const Problem& problem, const Options& options) {
  using Features = ATTEND_ISA::CacheFeatures<format, one_row>;
  ATTEND_ISA::EmbeddedPipeline<ATTEND_ISA::Isa, Features>(problem, options).template run<true>();
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
