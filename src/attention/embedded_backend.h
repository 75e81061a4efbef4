// The entry points of attention in the form for embedded processors. Before this a source includes its operations and names
// them `Isa`. Adding up segments takes plain C++: it is rare, and small so.
#include "../isa/list.h"
#include "combine_options.h"
#include "embedded.h"

namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run(const core::Problem& problem) { EmbeddedPipeline<Isa, NoFeatures>(problem).template run<true>(); }

ATTEND_HOT void Backend::sum_segment(const core::Problem& problem) {
  EmbeddedPipeline<Isa, NoFeatures>(problem).template run<false>();
}

void Backend::combine(const core::Problem& problem, const float* partials) { add_segments<Scalar>(problem, partials); }

void Backend::run_options(const core::Problem& problem, const core::Options& options) {
  EmbeddedPipeline<Isa, AllFeatures>(problem, options).template run<true>();
}

void Backend::combine_options(const core::Problem& problem, const core::Options& options, const float* partials) {
  add_segments<Scalar>(problem, options, partials);
}

}  // namespace attend::ATTEND_ISA

#if ATTEND_EMBEDDED
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
#endif
