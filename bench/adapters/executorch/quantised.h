// int8 tensors with a zero point and a scale for each token of a head, as llama::custom_quantized_sdpa takes them.
#pragma once

#include "attention.h"

namespace attend_executorch {

struct Quantised {
  Array numbers, zero_points, scales;  // [.., .., .., width], [.., .., .., 1], [.., .., .., 1]
};

inline Quantised read_quantised(Arguments& arguments, std::size_t numbers, std::size_t zero_points) {
  Quantised read;
  read.numbers = arguments.array(numbers, 4, "has query, key or value that is not of 4 axes");
  arguments.require(read.numbers.type == ScalarType::Char, "has query, key or value that is not int8");
  read.zero_points = arguments.array(zero_points, 4, "has no zero points of 4 axes for query, key and value");
  arguments.require(read.zero_points.type == ScalarType::Char, "has zero points that are not int8");
  read.scales = arguments.array(zero_points + 1, 4, "has no scales of 4 axes for query, key and value");
  arguments.require(read.scales.type == ScalarType::Float, "has scales that are not Float");
  for (int axis = 0; axis < 4; ++axis) {
    const std::ptrdiff_t size = axis == 3 ? 1 : read.numbers.size[axis];
    arguments.require(read.zero_points.size[axis] == size && read.scales.size[axis] == size,
                      "has zero points or scales of other sizes than the numbers");
  }
  return read;
}

// (number - zero point) * scale, rounded once, of the first tokens, in the order of the numbers' axes. Chunks of a prompt have
// the same numbers: each depends on its own token alone.
inline Array widened(Arguments& arguments, const Quantised& from, int tokens_axis, std::ptrdiff_t tokens, Memory& memory) {
  Array to = from.numbers;
  if (arguments.failed()) return to;
  to.type = ScalarType::Float;
  to.size[tokens_axis] = tokens;
  to.stride[3] = 1;
  for (int axis = 2; axis >= 0; --axis) to.stride[axis] = to.stride[axis + 1] * to.size[axis + 1];
  to.data = memory.numbers<float>(std::size_t(to.numbers() > 0 ? to.numbers() : 1));
  if (!arguments.require(to.data != nullptr, "finds too little memory", Error::MemoryAllocationFailed)) return to;
  const std::ptrdiff_t rows = to.size[0] * to.size[1] * to.size[2];
  const Parallel parallel = threads(double(to.numbers()));
  parallel.each(parallel.threads, [&](int part) {
    const std::ptrdiff_t end =
        rows / parallel.threads * (part + 1) + (part + 1 == parallel.threads ? rows % parallel.threads : 0);
    for (std::ptrdiff_t row = rows / parallel.threads * part; row < end; ++row) {
      const std::ptrdiff_t c = row % to.size[2], b = row / to.size[2] % to.size[1], a = row / to.size[2] / to.size[1];
      const std::int8_t* const numbers = reinterpret_cast<const std::int8_t*>(from.numbers.row(a, b, c));
      const int zero = *reinterpret_cast<const std::int8_t*>(from.zero_points.row(a, b, c));
      const float scale = *reinterpret_cast<const float*>(from.scales.row(a, b, c));
      float* const wide = reinterpret_cast<float*>(to.row(a, b, c));
      for (std::ptrdiff_t i = 0; i < to.size[3]; ++i) wide[i] = float(numbers[i] - zero) * scale;
    }
  });
  return to;
}

}  // namespace attend_executorch
