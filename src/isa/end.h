// Ends what begin.h began.
#undef ATTEND_ISA
