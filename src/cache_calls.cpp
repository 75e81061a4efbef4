// Calls over caches with a window: on small parts without the code of other options, elsewhere as calls with options.
#include "backends.h"

namespace attend {
namespace core {
namespace {

using Run = void (*)(const Problem&, const Options&);

#if ATTEND_HELIUM
constexpr Run small_float32 = run_float32_cache_helium, small_float16 = run_float16_cache_helium,
              small_bfloat16 = run_bfloat16_cache_helium, small_int8 = run_int8_cache_helium;
#else
constexpr Run small_float32 = run_float32_cache_scalar, small_float16 = run_float16_cache_scalar,
              small_bfloat16 = run_bfloat16_cache_scalar, small_int8 = run_int8_cache_scalar;
#endif

// The scalar backend is the last of those that a host has, if it has it.
inline bool is_small() { return config::embedded || (ATTEND_X86 && active_index() == 2); }

}  // namespace

void run_float32_cache(const Problem& problem, const Options& options) {
  (is_small() ? small_float32 : Run(run))(problem, options);
}
void run_float16_cache(const Problem& problem, const Options& options) {
  (is_small() ? small_float16 : Run(run))(problem, options);
}
void run_bfloat16_cache(const Problem& problem, const Options& options) {
  (is_small() ? small_bfloat16 : Run(run))(problem, options);
}
void run_int8_cache(const Problem& problem, const Options& options) { (is_small() ? small_int8 : Run(run))(problem, options); }

}  // namespace core
}  // namespace attend
