// The operations of an embedded processor's instruction set; plain C++ where it has none.
#ifndef ATTEND_ISA_EMBEDDED_OPERATIONS_H
#define ATTEND_ISA_EMBEDDED_OPERATIONS_H

#include "scalar/operations.h"
#if ATTEND_HELIUM
#include "helium/operations.h"
#elif ATTEND_VFP
#include "vfp/operations.h"
#elif ATTEND_RVF
#include "rvf/operations.h"
#endif

namespace attend::ATTEND_ISA {
#if ATTEND_HELIUM
using EmbeddedIsa = Helium;
using EmbeddedRowIsa = HeliumLayer;
#elif ATTEND_VFP
using EmbeddedIsa = Vfp;
using EmbeddedRowIsa = Scalar;
#elif ATTEND_RVF
using EmbeddedIsa = Rvf;
using EmbeddedRowIsa = Scalar;
#else
using EmbeddedIsa = Scalar;
using EmbeddedRowIsa = Scalar;
#endif
}  // namespace attend::ATTEND_ISA

#endif
