// What an instruction set has where it has no loops of its own. And whether loops of whole chains are assembly: not where loads
// are to be checked, nor where there are eight registers, nor on AArch64 where the first byte is the high one.

#if (defined(__x86_64__) || (defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ATTEND_WHOLE_CHAINS 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#undef ATTEND_WHOLE_CHAINS
#endif
#endif
#endif

namespace attend::ATTEND_ISA {
namespace {

// contract.h says what each of them means. What an instruction set has after all, it names anew.
struct NoLoops {
  static constexpr int lane_factors = 1;
  static constexpr int chain_rows = 0, chain_vecs = 0;
  static constexpr bool chains_values = false, ends_chains = false;
  __attribute__((always_inline)) static constexpr bool has_four_steps(int /*rows*/, int /*vecs*/) { return false; }
  static constexpr bool has_weights = false, transposes_rows = false, flushes = false;
};

}  // namespace
}  // namespace attend::ATTEND_ISA
