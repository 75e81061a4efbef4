// Calls with the kernels of integer attention that are active.
#pragma once

#include "backends.h"

namespace attend {
namespace core {

// Where there is one set of kernels only, a program does not link the dispatcher.
template <class Only, class Choose, class... Arguments>
void call_integer_backend(BackendList<Only>, Choose choose, const Arguments&... arguments) {
  choose(Only())(arguments...);
}
template <class First, class Second, class... Others, class Choose, class... Arguments>
void call_integer_backend(BackendList<First, Second, Others...>, Choose choose, const Arguments&... arguments) {
  const decltype(choose(First())) functions[] = {choose(First()), choose(Second()), choose(Others())...};
  functions[active_integer_index()](arguments...);
}

template <class Choose, class... Arguments>
void call_integer(Choose choose, const Arguments&... arguments) {
  call_integer_backend(IntegerBackends(), choose, arguments...);
}

}  // namespace core
}  // namespace attend
