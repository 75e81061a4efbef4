// Every intrinsic of the instruction sets that the x86 backends switch on, whatever the compiler's flags name.
#pragma once

#include <immintrin.h>

// For Windows, <immintrin.h> of older Clangs leaves out what the flags do not switch on. Its parts may be included after it;
// where it leaves nothing out, they are here already.
#if defined(__clang__) && defined(_MSC_VER)
#include <smmintrin.h>  // SSE3 and SSE4.1

// Each needs the headers before it: clang-format must not sort them.
#include <avxintrin.h>

#include <avx2intrin.h>

#include <f16cintrin.h>

#include <fmaintrin.h>

#include <avx512fintrin.h>

#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512vlintrin.h>

#include <avx512vlbwintrin.h>
#include <avx512vldqintrin.h>
#include <avx512vlvnniintrin.h>
#include <avx512vnniintrin.h>

#include <avxvnniintrin.h>
#endif
