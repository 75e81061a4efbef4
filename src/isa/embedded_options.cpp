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

#define ATTEND_ISA embedded_caches
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_caches {
using Isa = EmbeddedIsa;
}  // namespace attend::embedded_caches

#include "../attention/embedded_cache_calls.h"

#include "end.h"
#endif
