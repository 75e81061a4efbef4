// Projections in the form for embedded processors; backend/embedded_options.cpp says why they are a source.
#include "list.h"

#if !ATTEND_TARGET_IS_HOST
#define ATTEND_ISA embedded_linear
#include "../backend/begin.h"

#include "../isa/target.h"

#include "../backend/body.h"
#include "body.h"

namespace attend {

#define ATTEND_PROJECTION(format)                                                     \
  void ATTEND_SET::layers::Backend::project_##format(const core::Linear& linear) {    \
    namespace isa = embedded_linear;                                                  \
    isa::EmbeddedLinear<isa::Isa, isa::NumberOf<core::Format::format>>(linear).run(); \
  }
ATTEND_EACH_FORMAT(ATTEND_PROJECTION)
#undef ATTEND_PROJECTION

}  // namespace attend

#include "../backend/end.h"
#endif

#if ATTEND_EMBEDDED
// Projections whose layout is known, without the code of others.
#define ATTEND_ISA embedded_known_linear
#include "../backend/begin.h"

#include "../isa/target.h"

#include "../backend/body.h"
#include "body.h"

namespace attend::core {

template <Format format, bool panels, bool one_token>
void run_known_linear(const Linear& linear) {
  namespace isa = embedded_known_linear;
  in_float_environment([&]() ATTEND_INLINE_LAMBDA {
    isa::EmbeddedLinear<isa::Isa, isa::NumberOf<format>, isa::KnownLinear<panels, one_token>>(linear).run();
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

#include "../backend/end.h"
#endif
