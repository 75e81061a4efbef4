// Operators, each in one place, for both ways into the runtime: kernels of a provider and custom operators.
#pragma once

#include <memory>

#include "call.h"

namespace attend_adapter::onnx {

// A node. Several calls may run at a time.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual void compute(Call& call) const = 0;
  // Takes a constant input in a form of its own: true where calls need not have the input any more.
  virtual bool pack(int /*input*/, const Tensor& /*tensor*/) { return false; }
};

// Types of a type parameter of the operator's schema; a parameter that is not named here may have any.
struct Constraint {
  const char* name;
  std::initializer_list<Type> types;
};

// Versions of an operator's schema that have the same parameters: those that were read for this, from the first to the last one
// that changed the operator. One that changes in a later version is left to others.
struct Versions {
  const char* domain;  // "" is that of ONNX
  int first, last;
  std::initializer_list<Constraint> constraints;
  std::size_t inputs = SIZE_MAX, outputs = SIZE_MAX;  // those that are read and written, where versions do not say it
};

struct Definition {
  const char* type;  // the operator's name
  std::initializer_list<Versions> versions;
  std::unique_ptr<Operator> (*make)(const Attributes&);

  // The operator in the domain `attend`, and where `overrides` says so in its own domain, as a custom operator: a type for each
  // input and output, of which those after the required ones may be left out. Without outputs there is none.
  struct Custom {
    std::initializer_list<Type> inputs;
    int required_inputs;
    std::initializer_list<Type> outputs;
    int required_outputs;
    bool overrides;
  } custom = {};

  // The versions that an operator of this type is one of; null where none was read.
  const Versions* versions_of(const std::string& of_type, const std::string& domain, int version) const {
    for (const Versions& each : versions) {
      if (of_type == type && domain == each.domain && each.first <= version && version <= each.last) return &each;
    }
    return nullptr;
  }
};

}  // namespace attend_adapter::onnx
