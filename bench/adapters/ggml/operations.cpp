#include "operations.h"

#include <vector>

namespace attend_ggml {
namespace {

constexpr int most_operations = 1024;

struct Table {
  std::vector<const Operation*> operations;
  std::vector<bool> views;

  Table() : operations(most_operations), views(most_operations) {
    const Library& ggml = *library();
    // Past the last name there is memory of something else. GLU has been the last operation since there is one.
    for (int i = 0; i < most_operations; ++i) {
      const char* const name = ggml.operation_name(i);
      if (name == nullptr) break;
      for (const NamedOperation* kind : {product_operations, attention_operations, row_operations, function_operations,
                                         rotary_operations, copy_operations}) {
        for (; kind->name != nullptr; ++kind) {
          if (std::strcmp(kind->name, name) == 0) operations[std::size_t(i)] = &kind->operation;
        }
      }
      for (const char* const view : {"NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"}) {
        if (std::strcmp(view, name) == 0) views[std::size_t(i)] = true;
      }
      if (std::strcmp(name, "GLU") == 0) break;
    }
  }
};

const Table& table() {
  static const Table table;
  return table;
}

}  // namespace

const Operation* operation_of(const Tensor& node) {
  if (node.operation < 0 || node.operation >= most_operations) return nullptr;
  const Operation* const operation = table().operations[std::size_t(node.operation)];
  return operation != nullptr && operation->takes(node) ? operation : nullptr;
}

bool is_view(const Tensor& node) {
  return node.operation >= 0 && node.operation < most_operations && table().views[std::size_t(node.operation)];
}

}  // namespace attend_ggml
