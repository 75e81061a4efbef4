// Ends what on.h of an instruction set began. All headers that make code must lie between the two.
#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#undef ATTEND_FMA
