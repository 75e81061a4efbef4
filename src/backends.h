// What each backend exports, and what the dispatcher picks from.
#pragma once

#include "../include/attend/core.h"

namespace attend {
namespace core {

void run_scalar(const Problem& problem);
#if ATTEND_X86
void run_avx2(const Problem& problem);
void run_avx512(const Problem& problem);
#endif

}  // namespace core
}  // namespace attend
