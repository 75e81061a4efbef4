// All operators. A new one gets a name here, and the compiler asks for the rest.
#pragma once

#include "operator.h"

namespace attend_adapter::onnx {

enum class Name {
  matmul,
  fused_matmul,
  end
};

const Definition& matmul();
const Definition& fused_matmul();

inline const Definition& definition(Name name) {
  switch (name) {
    case Name::matmul: return matmul();
    case Name::fused_matmul: return fused_matmul();
    case Name::end: break;
  }
  return matmul();
}

// Calls use(definition) for each.
template <class Use>
void for_each_operator(const Use& use) {
  for (int name = 0; name < int(Name::end); ++name) use(definition(Name(name)));
}

}  // namespace attend_adapter::onnx
