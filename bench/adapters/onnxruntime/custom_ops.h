// Both ways into the runtime begin here.
#pragma once

#include "runtime.h"

namespace attend_adapter::onnx {

// Takes the tables of the runtime, in a version of its interface. A status where it is older, which says what needs it.
OrtStatus* load_runtime(const OrtApiBase* base, uint32_t version, const char* what);

}  // namespace attend_adapter::onnx
