// Attention with options, and over caches, in the form for embedded processors. Its own source, as layers are: GCC for RISC-V
// keeps the constants of a source together, and a program would have the constants of calls that it does not make.
#include "list.h"

#if !ATTEND_TARGET_IS_HOST
#define ATTEND_ISA embedded_options
#include "begin.h"

#include "../isa/target.h"

#include "body.h"

namespace attend {

void ATTEND_SET::Backend::run_options(const core::Problem& problem, const core::Options& options) {
  namespace isa = embedded_options;
  isa::EmbeddedPipeline<isa::Isa, isa::AllFeatures>(problem, options).run();
}

}  // namespace attend

#include "end.h"
#endif

#if ATTEND_EMBEDDED
// Calls over caches of one format with a window, without the code of other options.
#define ATTEND_ISA embedded_caches
#include "begin.h"

#include "../isa/target.h"

#include "body.h"

namespace attend::core {

template <Format format, bool one_row>
void run_cache(const Problem& problem, const Options& options) {
  namespace isa = embedded_caches;
  in_float_environment([&]() ATTEND_INLINE_LAMBDA {
    isa::EmbeddedPipeline<isa::Isa, isa::EmbeddedCacheFeatures<format, one_row>>(problem, options).run();
  });
}

#define ATTEND_RUN_CACHE(format)                                                  \
  template void run_cache<Format::format, false>(const Problem&, const Options&); \
  template void run_cache<Format::format, true>(const Problem&, const Options&);
ATTEND_EACH_FORMAT(ATTEND_RUN_CACHE)
#undef ATTEND_RUN_CACHE

}  // namespace attend::core

#include "end.h"
#endif
