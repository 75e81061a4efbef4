// Normalisation, activations and rotary positions for embedded processors; embedded_options.cpp says why they are a source.
#include "list.h"

#if ATTEND_EMBEDDED
#define ATTEND_ISA embedded_rows
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_rows {
using RowIsa = EmbeddedRowIsa;
}  // namespace attend::embedded_rows

#include "../layer/backend.h"

#include "end.h"
#endif
