// Attention with options, and over caches, for embedded processors. Its own source, as are projections and rows: GCC for RISC-V
// keeps the constants of a source together, and a program would have those of calls that it does not make.
#include "list.h"

#if ATTEND_EMBEDDED
#define ATTEND_ISA embedded_options
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_options {
using Isa = EmbeddedIsa;
}  // namespace attend::embedded_options

#include "../attention/embedded_option_backend.h"

#include "end.h"

// Calls over caches of one format with a window, without the code of other options.
#define ATTEND_ISA embedded_caches
#include "begin.h"

#include "../attention/embedded.h"
#include "embedded_operations.h"

namespace attend::core {

template <Format format, bool one_row>
void run_cache(const Problem& problem, const Options& options) {
  namespace isa = embedded_caches;
  in_float_environment([&]() ATTEND_INLINE_LAMBDA {
    isa::EmbeddedPipeline<isa::EmbeddedIsa, isa::CacheFeatures<format, one_row>>(problem, options).run();
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
