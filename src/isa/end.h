// Ends what begin.h began, and turns off the instructions that on.h of an x86 instruction set turned on.
#ifdef ATTEND_FMA
#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif
#undef ATTEND_FMA
#undef ATTEND_AVX512
#endif

#undef ATTEND_ISA
