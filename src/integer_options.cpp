// Integer attention with options: which kernels compute it.
#include "backends.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RunIntegerOptions {
  static constexpr auto function = &IntegerEntry<Backend>::run_options;
};

}  // namespace

void run(const IntegerProblem& problem, const IntegerOptions& options) {
  ActiveIntegerBackend::call<RunIntegerOptions>(problem, options);
}

}  // namespace core
}  // namespace attend
