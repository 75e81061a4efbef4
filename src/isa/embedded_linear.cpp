// Projections for embedded processors; embedded_options.cpp says why they are a source.
#include "list.h"

#if ATTEND_EMBEDDED
#define ATTEND_ISA embedded_linear
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_linear {
using Isa = EmbeddedIsa;
}  // namespace attend::embedded_linear

#include "../layer/embedded_backend.h"

#include "end.h"

// Projections whose layout is known, without the code of others.
#define ATTEND_ISA embedded_known_linear
#include "begin.h"

#include "../layer/linear_embedded.h"
#include "embedded_operations.h"

namespace attend::core {

template <Format format, bool panels, bool one_token>
void run_known_linear(const Linear& linear) {
  namespace isa = embedded_known_linear;
  in_float_environment([&]() ATTEND_INLINE_LAMBDA {
    isa::EmbeddedLinear<isa::EmbeddedIsa, isa::NumberOf<format>, isa::KnownLinear<panels, one_token>>(linear).run();
  });
}

#define ATTEND_KNOWN_LINEAR(format)                                            \
  template void run_known_linear<Format::format, false, false>(const Linear&); \
  template void run_known_linear<Format::format, false, true>(const Linear&);  \
  template void run_known_linear<Format::format, true, false>(const Linear&);  \
  template void run_known_linear<Format::format, true, true>(const Linear&);
ATTEND_EACH_FORMAT(ATTEND_KNOWN_LINEAR)
#undef ATTEND_KNOWN_LINEAR

}  // namespace attend::core

#include "end.h"
#endif
