// Functions of numbers: activations, alone and as gates, and sums, products and scales of two tensors.
#include <attend/layers/core_layer.h>

#include <cmath>

#include "operations.h"

namespace attend_ggml {
namespace {

using attend::Activation;
using attend::core::activate;

// ---- Activations ----

// One row: to[i] = f(from[i]), and where `by` is not null, times by[i]. `to` may be either of them.
using RowFunction = void (*)(const float* from, const float* by, int count, float* to);

struct NamedFunction {
  const char* name;
  RowFunction function;
};

// x * sigmoid(1.702 x), an approximation of GELU.
void gelu_quick(const float* from, const float* by, int count, float* to) {
  constexpr int block = 256;
  float scaled[block];
  for (int first = 0; first < count; first += block) {
    const int some = count - first < block ? count - first : block;
    for (int i = 0; i < some; ++i) scaled[i] = from[first + i] * 1.702f;
    activate<Activation::sigmoid>(scaled, from + first, some, scaled);
    for (int i = 0; i < some; ++i) to[first + i] = by == nullptr ? scaled[i] : scaled[i] * by[first + i];
  }
}
void negative(const float* from, const float*, int count, float* to) {
  for (int i = 0; i < count; ++i) to[i] = -from[i];
}
void magnitude(const float* from, const float*, int count, float* to) {
  for (int i = 0; i < count; ++i) to[i] = std::fabs(from[i]);
}

constexpr NamedFunction unary_functions[] = {
    {"SILU", activate<Activation::silu>},
    {"GELU", activate<Activation::gelu_tanh>},
    {"GELU_ERF", activate<Activation::gelu>},
    {"GELU_QUICK", gelu_quick},
    {"TANH", activate<Activation::tanh>},
    {"SIGMOID", activate<Activation::sigmoid>},
    {"EXP", activate<Activation::exp>},
    {"RELU", activate<Activation::relu>},
    {"NEG", negative},
    {"ABS", magnitude},
};
constexpr NamedFunction gate_functions[] = {
    {"SWIGLU", activate<Activation::silu>},    {"GEGLU", activate<Activation::gelu_tanh>},
    {"GEGLU_ERF", activate<Activation::gelu>}, {"GEGLU_QUICK", gelu_quick},
    {"REGLU", activate<Activation::relu>},
};

// Functions by ggml's numbers, which are looked up until all are found: past the last name there is memory of something else.
class Functions {
 public:
  template <std::size_t count>
  Functions(const NamedFunction (&functions)[count], const char* (*name_of)(int)) {
    std::size_t found = 0;
    for (int number = 0; number < most && found < count; ++number) {
      const char* const name = name_of(number);
      if (name == nullptr) break;
      for (const NamedFunction& function : functions) {
        if (std::strcmp(function.name, name) == 0) functions_[number] = function.function, ++found;
      }
    }
  }

  RowFunction of(std::int32_t number) const { return number < 0 || number >= most ? nullptr : functions_[number]; }

 private:
  static constexpr int most = 20;
  RowFunction functions_[most] = {};
};

RowFunction unary_of(const Tensor& node) {
  static const Functions functions(unary_functions, library()->unary_name);
  return functions.of(node.parameters[0]);
}
RowFunction gate_of(const Tensor& node) {
  static const Functions functions(gate_functions, library()->glu_name);
  return functions.of(node.parameters[0]);
}

bool takes_unary(const Tensor& node) {
  return has_float_rows(node.sources[0]) && has_float_rows(&node) && same_extents(node, *node.sources[0]) &&
         unary_of(node) != nullptr;
}

// Rows of whatever width in pieces, so that a long row keeps all threads busy.
template <class Function>
void each_piece(const Tensor& node, const Parallel& parallel, const Function& function) {
  constexpr std::int64_t piece = 4096;
  const std::int64_t of_row = (node.extents[0] + piece - 1) / piece, pieces = of_row * count_rows(node);
  const int parts = count_numbers(node) < 4096 ? 1 : int(pieces < parallel.threads ? pieces : parallel.threads);
  parallel.each(parts, [&](int part) {
    for (std::int64_t i = pieces * part / parts, end = pieces * (part + 1) / parts; i < end; ++i) {
      const std::int64_t first = i % of_row * piece;
      function(place_of(node, i / of_row), int(first), int(node.extents[0] - first < piece ? node.extents[0] - first : piece));
    }
  });
}

bool compute_unary(const Tensor& node, Work& work) {
  const RowFunction function = unary_of(node);
  each_piece(node, work.parallel, [&](const Place& place, int first, int count) {
    function(floats_at(*node.sources[0], place) + first, nullptr, count, floats_at(node, place) + first);
  });
  return true;
}

// Two tensors, or the halves of the rows of one, of which parameter 1 says which is the gate.
bool takes_gate(const Tensor& node) {
  const Tensor *const from = node.sources[0], *const by = node.sources[1];
  if (!has_float_rows(from) || !has_float_rows(&node) || gate_of(node) == nullptr) return false;
  if (by != nullptr) return has_float_rows(by) && same_extents(*by, *from) && same_extents(node, *from);
  return from->extents[0] == 2 * node.extents[0] && from->extents[1] == node.extents[1] &&
         from->extents[2] == node.extents[2] && from->extents[3] == node.extents[3];
}

bool compute_gate(const Tensor& node, Work& work) {
  const RowFunction function = gate_of(node);
  const Tensor *const from = node.sources[0], *const by = node.sources[1];
  const bool swapped = node.parameters[1] != 0;
  each_piece(node, work.parallel, [&](const Place& place, int first, int count) {
    const float* gate = floats_at(*from, place) + first;
    const float* other = by != nullptr ? floats_at(*by, place) + first : gate + node.extents[0];
    if (by == nullptr && swapped) {
      const float* const kept = gate;
      gate = other, other = kept;
    }
    function(gate, other, count, floats_at(node, place) + first);
  });
  return true;
}

// ---- Sums and products ----

bool takes_pair(const Tensor& node) {
  const Tensor *const a = node.sources[0], *const b = node.sources[1];
  if (!has_float_rows(a) || !has_float_rows(b) || !has_float_rows(&node) || !same_extents(node, *a)) return false;
  for (int axis = 0; axis < 4; ++axis) {
    if (a->extents[axis] % b->extents[axis] != 0) return false;
  }
  return b->extents[0] == 1 || b->extents[0] == a->extents[0];
}

template <class Combine>
bool compute_pair(const Tensor& node, Work& work, const Combine& combine) {
  const Tensor &first = *node.sources[0], &second = *node.sources[1];
  each_piece(node, work.parallel, [&](const Place& place, int from, int count) {
    const float *const a = floats_at(first, place) + from, *const b = floats_at(second, repeated(second, place));
    float* const to = floats_at(node, place) + from;
    if (second.extents[0] == 1) {
      const float same = *b;
      for (int i = 0; i < count; ++i) to[i] = combine(a[i], same);
    } else {
      for (int i = 0; i < count; ++i) to[i] = combine(a[i], b[from + i]);
    }
  });
  return true;
}
bool compute_add(const Tensor& node, Work& work) {
  return compute_pair(node, work, [](float a, float b) { return a + b; });
}
bool compute_subtract(const Tensor& node, Work& work) {
  return compute_pair(node, work, [](float a, float b) { return a - b; });
}
bool compute_multiply(const Tensor& node, Work& work) {
  return compute_pair(node, work, [](float a, float b) { return a * b; });
}
bool compute_divide(const Tensor& node, Work& work) {
  return compute_pair(node, work, [](float a, float b) { return a / b; });
}

// x * parameter 0 + parameter 1, rounded twice where a double cannot hold it: the product is exact as one.
bool takes_numbers(const Tensor& node) {
  return has_float_rows(node.sources[0]) && has_float_rows(&node) && same_extents(node, *node.sources[0]);
}
bool compute_scale(const Tensor& node, Work& work) {
  const float factor = parameter(node, 0), added = parameter(node, 1);
  each_piece(node, work.parallel, [&](const Place& place, int first, int count) {
    const float* const from = floats_at(*node.sources[0], place) + first;
    float* const to = floats_at(node, place) + first;
    for (int i = 0; i < count; ++i) {
      to[i] = added == 0 ? from[i] * factor : float(double(from[i]) * double(factor) + double(added));
    }
  });
  return true;
}
template <class Function>
bool compute_numbers(const Tensor& node, Work& work, const Function& function) {
  each_piece(node, work.parallel, [&](const Place& place, int first, int count) {
    const float* const from = floats_at(*node.sources[0], place) + first;
    float* const to = floats_at(node, place) + first;
    for (int i = 0; i < count; ++i) to[i] = function(from[i]);
  });
  return true;
}
bool compute_square(const Tensor& node, Work& work) {
  return compute_numbers(node, work, [](float x) { return x * x; });
}
bool compute_root(const Tensor& node, Work& work) {
  return compute_numbers(node, work, [](float x) { return std::sqrt(x); });
}

}  // namespace

const NamedOperation function_operations[] = {
    {"UNARY", {takes_unary, compute_unary}},   {"GLU", {takes_gate, compute_gate}},
    {"ADD", {takes_pair, compute_add}},        {"SUB", {takes_pair, compute_subtract}},
    {"MUL", {takes_pair, compute_multiply}},   {"DIV", {takes_pair, compute_divide}},
    {"SCALE", {takes_numbers, compute_scale}}, {"SQR", {takes_numbers, compute_square}},
    {"SQRT", {takes_numbers, compute_root}},   {nullptr, {}},
};

}  // namespace attend_ggml
