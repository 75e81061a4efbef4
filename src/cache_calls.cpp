// Calls over caches with a window: on small parts without the code of other options, elsewhere as calls with options.
#include "backends.h"

namespace attend {
namespace core {
#if ATTEND_EMBEDDED

#if ATTEND_HELIUM
using Calls = CacheEntry<HeliumBackend>;
#else
using Calls = CacheEntry<ScalarBackend>;
#endif

void run_float32_cache(const Problem& problem, const Options& options) { Calls::run_float32(problem, options); }
void run_float16_cache(const Problem& problem, const Options& options) { Calls::run_float16(problem, options); }
void run_bfloat16_cache(const Problem& problem, const Options& options) { Calls::run_bfloat16(problem, options); }
void run_int8_cache(const Problem& problem, const Options& options) { Calls::run_int8(problem, options); }

#else

void run_float32_cache(const Problem& problem, const Options& options) { run(problem, options); }
void run_float16_cache(const Problem& problem, const Options& options) { run(problem, options); }
void run_bfloat16_cache(const Problem& problem, const Options& options) { run(problem, options); }
void run_int8_cache(const Problem& problem, const Options& options) { run(problem, options); }

#endif

}  // namespace core
}  // namespace attend
