// Ends what avx2_on.h, avx512_on.h, avxvnni_on.h or avx512vnni_on.h began. All headers that make code must lie between the two.
#pragma once

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#undef ATTEND_FMA
