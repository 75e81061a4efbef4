// Integer attention: which kernels compute it.
#include "backends.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RunIntegers {
  static constexpr auto function = &IntegerEntry<Backend>::run;
};

}  // namespace

void run(const IntegerProblem& problem) { ActiveIntegerBackend::call<RunIntegers>(problem); }

}  // namespace core
}  // namespace attend
