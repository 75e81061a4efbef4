// Ends what begin.h began, and turns off the instructions that x86/on.h turned on.
#ifdef ATTEND_FMA
#if !ATTEND_GNU
#elif defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif
#undef ATTEND_FMA
#undef ATTEND_AVX512
#undef ATTEND_VNNI
#endif

#undef ATTEND_ISA
