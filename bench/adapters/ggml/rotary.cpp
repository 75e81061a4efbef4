// Rotary positions: ROPE.
//
// Angles are those of the library, whose bits are the same everywhere: a frequency for each pair, times whole positions.
#include <attend/layers/core_layer.h>

#include <cmath>

#include "operations.h"

namespace attend_ggml {
namespace {

using namespace attend::core;

// Parameters of the node.
enum {
  dims_index = 1,
  mode_index = 2,
  context_index = 4,
  base_index = 5,
  position_scale_index = 6,
  extrapolation_index = 7,
  factor_index = 8,
  fast_index = 9,
  slow_index = 10,
  sections_index = 11,
  offset_index = 15
};
enum { mode_neighbours = 0, mode_halves = 2 };

constexpr int most_pairs = 1024;
constexpr double pi = 3.14159265358979323846;

// The angles of a node. Pair i turns by base^(-2 i / dims) * scale / factors[i] radians from one position to the next, and with
// YaRN by a mixture of this and of the same without the scale.
struct Angles {
  std::uint64_t turns[most_pairs];
  float factor;
};

// The pair that turns `rotations` times in the model's context.
double pair_of(double rotations, const Tensor& node) {
  const double dims = double(node.parameters[dims_index]);
  return dims * std::log(double(node.parameters[context_index]) / (rotations * 2 * pi)) /
         (2 * std::log(double(parameter(node, base_index))));
}

bool angles_of(const Tensor& node, Angles& angles) {
  const int dims = node.parameters[dims_index], pairs = dims / 2;
  const float base = parameter(node, base_index), scale = parameter(node, position_scale_index),
              mix = parameter(node, extrapolation_index);
  rotary_turns(base, 1.0f, pairs, angles.turns);
  const Tensor* const factors = node.sources[2];
  angles.factor = parameter(node, factor_index);
  if (scale == 1 && mix == 0 && factors == nullptr) return true;
  double first = 0, last = 0;
  if (mix != 0) {
    first = std::fmax(0.0, std::floor(pair_of(double(parameter(node, fast_index)), node)));
    last = std::fmin(double(dims - 1), std::ceil(pair_of(double(parameter(node, slow_index)), node)));
    angles.factor *= float(1 + 0.1 * std::log(1 / double(scale)));
  }
  double radians[most_pairs];
  for (int i = 0; i < pairs; ++i) {
    const double own = double(angles.turns[i]) * (2 * pi / 18446744073709551616.0) /
                       (factors == nullptr ? 1.0 : double(static_cast<const float*>(factors->data)[i]));
    double by = double(scale);
    if (mix != 0) {
      const double ramp = std::fmin(1.0, std::fmax(0.0, (i - first) / std::fmax(0.001, last - first)));
      volatile double share = (1 - ramp) * double(mix);  // rounded, so that nothing is contracted with the sum
      volatile double scaled = by * (1 - share);
      by = scaled + share;
    }
    radians[i] = own * by;
  }
  return turns_of_angles(radians, pairs, angles.turns);
}

bool takes_rotary(const Tensor& node) {
  const Tensor *const from = node.sources[0], *const positions = node.sources[1], *const factors = node.sources[2];
  if (!has_float_rows(from) || !has_float_rows(&node) || !same_extents(node, *from)) return false;
  if (!has_extents(positions) || positions->type != type_int32 || positions->strides[0] != 4 ||
      positions->extents[0] != from->extents[2]) {
    return false;
  }
  const int dims = node.parameters[dims_index], mode = node.parameters[mode_index];
  if (mode != mode_neighbours && mode != mode_halves) return false;
  if (dims < 2 || dims % 2 != 0 || dims > from->extents[0] || dims > 2 * most_pairs || node.parameters[offset_index] != 0)
    return false;
  for (int i = sections_index; i < sections_index + 4; ++i) {
    if (node.parameters[i] != 0) return false;
  }
  if (factors != nullptr && (!has_float_rows(factors) || factors->extents[0] < dims / 2)) return false;
  const float base = parameter(node, base_index), scale = parameter(node, position_scale_index),
              mix = parameter(node, extrapolation_index);
  if (!is_rotary_base(base, 1.0f) || !(scale >= 1.0f / 65536 && scale <= 1) || !(mix >= 0 && mix <= 1)) return false;
  if (mix != 0 && !(node.parameters[context_index] > 0 && parameter(node, fast_index) > 0 && parameter(node, slow_index) > 0))
    return false;
  return std::isfinite(parameter(node, factor_index));
}

bool compute_rotary(const Tensor& node, Work& work) {
  const Tensor &from = *node.sources[0], &positions = *node.sources[1];
  Angles angles;
  if (!angles_of(node, angles)) return false;
  const int pairs = node.parameters[dims_index] / 2;
  const bool halves = node.parameters[mode_index] == mode_halves;
  const std::int64_t tokens = node.extents[2] * node.extents[3];
  const int parts = count_numbers(node) < 4096 ? 1 : int(tokens < work.parallel.threads ? tokens : work.parallel.threads);
  work.parallel.each(parts, [&](int part) {
    float cosines[most_pairs], sines[most_pairs];
    for (std::int64_t i = tokens * part / parts, end = tokens * (part + 1) / parts; i < end; ++i) {
      const std::int64_t token = i % node.extents[2], batch = i / node.extents[2];
      rotary_angles({angles.turns, angles.factor}, pairs, static_cast<const std::int32_t*>(positions.data)[token], cosines,
                    sines);
      for (std::int64_t head = 0; head < node.extents[1]; ++head) {
        const float* const source = floats_at(from, {head, token, batch});
        float* const to = floats_at(node, {head, token, batch});
        if (source != to) std::memmove(to, source, std::size_t(node.extents[0]) * sizeof(float));
      }
      rotate({floats_at(node, {0, token, batch}), std::ptrdiff_t(node.strides[1] / sizeof(float)), int(node.extents[1]), pairs,
              halves ? pairs : 1, cosines, sines});
    }
  });
  return true;
}

}  // namespace

const NamedOperation rotary_operations[] = {{"ROPE", {takes_rotary, compute_rotary}}, {nullptr, {}}};

}  // namespace attend_ggml
