// The backends of layers in integers whose place others take on this processor.
#pragma once

#include <string>

#include "../../src/layers/list.h"
#include "attend/backend.h"

namespace attend_test {

// Calls with the name and the backend of each that can run while a backend is active: AVX2's own integers, which AVX-VNNI takes
// the place of.
template <class Call>
void for_each_replaced_layers(Call call) {
#if ATTEND_X86_SETS
  const std::string active = attend::active_backend();
  if (active == "avx2") call("avx2 alone", attend::avx2::layers::Backend());
#endif
  static_cast<void>(call);
}

}  // namespace attend_test
