// Whether loops of whole chains are assembly: not where loads are to be checked, nor where there are eight registers, nor on
// AArch64 where the first byte is the high one.
#pragma once

#if (defined(__x86_64__) || (defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ATTEND_WHOLE_CHAINS 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#undef ATTEND_WHOLE_CHAINS
#endif
#endif
#endif
