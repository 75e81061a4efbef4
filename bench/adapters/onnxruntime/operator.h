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

// Versions of an operator's schema that have the same parameters.
struct Versions {
  const char* domain;  // "" is that of ONNX
  int first, last;
  std::initializer_list<Constraint> constraints;
};
// The last version of ONNX that was read for this. An operator that changes in a later one is left to others.
inline constexpr int latest = 26;

// What a node that is not made yet says of itself: which types its inputs have, and which attributes it has.
class Node;

struct Definition {
  const char* type;  // the operator's name
  std::initializer_list<Versions> versions;
  std::unique_ptr<Operator> (*make)(const Attributes&);
  bool (*takes)(const Node&) = nullptr;  // null: every node whose types are right

  // The operator in the domain `attend`, and where `overrides` says so in its own domain, as a custom operator: a type for each
  // input and output, of which those after the required ones may be left out. Without outputs there is none.
  struct Custom {
    std::initializer_list<Type> inputs;
    int required_inputs;
    std::initializer_list<Type> outputs;
    int required_outputs;
    bool overrides;
  } custom = {};
};

}  // namespace attend_adapter::onnx
