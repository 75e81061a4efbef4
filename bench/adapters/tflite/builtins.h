// What the delegate reads of built-in operators: their numbers in the schema, and the beginnings of the structs that the
// runtime makes of their options. Its package has no header for them. Fields that are not read are left out at the end.
#pragma once

#include <cstdint>

namespace attend_tflite {
namespace builtin {

enum Code : std::int32_t {
  add = 0,
  fully_connected = 9,
  mul = 18,
  reshape = 22,
  softmax = 25,
  tanh = 28,
  transpose = 39,
  div = 42,
  squeeze = 43,
  expand_dims = 70,
  batch_matmul = 126,
};

struct Activation {  // of ADD, MUL and DIV, and where that of FULLY_CONNECTED begins
  int activation;    // 0: none
};
struct FullyConnected {
  int activation;
  int weights_format;  // 0: rows
};
struct Softmax {
  float beta;
};
struct BatchMatmul {
  bool adj_x, adj_y;
};

}  // namespace builtin
}  // namespace attend_tflite
