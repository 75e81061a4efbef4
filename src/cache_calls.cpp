// Calls over caches with a window: on small parts without the code of other options, elsewhere as calls with options.
#include "backends.h"

namespace attend {
namespace core {
namespace {

using Run = void (*)(const Problem&, const Options&);

#if ATTEND_HELIUM
using Small = CacheEntry<HeliumBackend>;
#else
using Small = CacheEntry<ScalarBackend>;
#endif

// The scalar backend is the last of those that x86 has.
inline bool is_small() { return config::embedded || (ATTEND_X86 && active_index() == 2); }

}  // namespace

void run_float32_cache(const Problem& problem, const Options& options) {
  (is_small() ? Small::run_float32 : Run(run))(problem, options);
}
void run_float16_cache(const Problem& problem, const Options& options) {
  (is_small() ? Small::run_float16 : Run(run))(problem, options);
}
void run_bfloat16_cache(const Problem& problem, const Options& options) {
  (is_small() ? Small::run_bfloat16 : Run(run))(problem, options);
}
void run_int8_cache(const Problem& problem, const Options& options) {
  (is_small() ? Small::run_int8 : Run(run))(problem, options);
}

}  // namespace core
}  // namespace attend
