// Operations on rows: normalisation, softmax, sums.
#include <attend/layers/core_layer.h>

#include <cfloat>
#include <cmath>

#include "operations.h"
#include "widen.h"

namespace attend_ggml {
namespace {

bool takes_rows(const Tensor& node) {
  return has_float_rows(node.sources[0]) && has_float_rows(&node) && same_extents(node, *node.sources[0]);
}

// ---- Normalisation ----

bool takes_norm(const Tensor& node) {
  const float epsilon = parameter(node, 0);
  return takes_rows(node) && epsilon >= 0 && epsilon <= 1e30f;
}

template <void (*normalise)(const attend::core::Normalisation&)>
bool compute_norm(const Tensor& node, Work& work) {
  const float epsilon = std::fmax(parameter(node, 0), FLT_MIN);
  each_row(node, work.parallel, [&](const Place& place, int) {
    const int width = int(node.extents[0]);
    normalise({floats_at(*node.sources[0], place), width, floats_at(node, place), width, nullptr, nullptr, 1, width, epsilon});
  });
  return true;
}

// The axes of a group of channels follow each other in memory, and are one row.
bool takes_group_norm(const Tensor& node) {
  const std::int32_t groups = node.parameters[0];
  const float epsilon = parameter(node, 1);
  if (!takes_rows(node) || !is_dense(node) || !is_dense(*node.sources[0])) return false;
  return groups >= 1 && node.extents[2] % groups == 0 && epsilon >= 0 && epsilon <= 1e30f && count_numbers(node) < 0x7fffffff;
}

bool compute_group_norm(const Tensor& node, Work& work) {
  const std::int64_t rows = node.parameters[0] * node.extents[3], width = count_numbers(node) / rows;
  const float epsilon = std::fmax(parameter(node, 1), FLT_MIN);
  work.parallel.each(int(rows), [&](int row) {
    const std::int64_t first = row * width;
    attend::core::layer_norm({static_cast<const float*>(node.sources[0]->data) + first, width,
                              static_cast<float*>(node.data) + first, width, nullptr, nullptr, 1, int(width), epsilon});
  });
  return true;
}

// A sum as 16 partial sums, by the number's place modulo 16, which are added in pairs: term(i) of each number.
template <class Term>
float lane_sum(std::int64_t count, const Term& term) {
  float lanes[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (int lane = 0; lane < 16; ++lane) lanes[lane] += term(i + lane);
  }
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  for (int step = 8; step > 0; step /= 2) {
    for (int lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
  }
  return lanes[0];
}

bool compute_l2_norm(const Tensor& node, Work& work) {
  const float epsilon = parameter(node, 0);
  each_row(node, work.parallel, [&](const Place& place, int) {
    const float* const from = floats_at(*node.sources[0], place);
    float* const to = floats_at(node, place);
    double sum = 0;  // of squares, which a double holds exactly
    for (std::int64_t i = 0; i < node.extents[0]; ++i) sum += double(from[i]) * double(from[i]);
    const float factor = 1.0f / std::fmax(std::sqrt(float(sum)), epsilon);
    for (std::int64_t i = 0; i < node.extents[0]; ++i) to[i] = from[i] * factor;
  });
  return true;
}

// ---- Softmax ----

// Parameters: the scale, and the largest bias, of ALiBi.
bool takes_softmax(const Tensor& node) {
  const Tensor *const mask = node.sources[1], *const sinks = node.sources[2];
  if (!takes_rows(node) || parameter(node, 1) != 0) return false;
  if (mask != nullptr) {
    const Tensor& from = *node.sources[0];
    if (!(has_rows_of(mask, type_float16) || has_float_rows(mask)) || mask->extents[0] != from.extents[0] ||
        mask->extents[1] < from.extents[1] || from.extents[2] % mask->extents[2] != 0 ||
        from.extents[3] % mask->extents[3] != 0) {
      return false;
    }
  }
  return sinks == nullptr || (has_float_rows(sinks) && sinks->extents[0] == node.extents[2] && count_rows(*sinks) == 1);
}

// What is not masked, side by side, is a row of its own: its numbers depend on nothing else.
struct SoftmaxRow {
  float* scores;  // work memory
  float* mask;    // likewise

  void run(const Tensor& node, const Place& place) const {
    const std::int64_t count = node.extents[0];
    const double scale = double(parameter(node, 0));
    const float* const from = floats_at(*node.sources[0], place);
    float* const to = floats_at(node, place);
    const Tensor* const masks = node.sources[1];
    if (masks != nullptr) {
      const Place masked = {place[0], place[1] % masks->extents[2], place[2] % masks->extents[3]};
      widen_row(masks->type, at(*masks, masked), count, mask);
    }
    const auto hides = [&](std::int64_t i) { return masks != nullptr && mask[i] == -INFINITY; };
    float largest = node.sources[2] == nullptr ? -INFINITY : static_cast<const float*>(node.sources[2]->data)[place[1]];
    const float sink = largest;
    std::int64_t seen = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (hides(i)) continue;
      // The product is exact as a double, so that contracting it with the sum changes nothing.
      const float score = float(double(from[i]) * scale + (masks == nullptr ? 0.0 : double(mask[i])));
      largest = score > largest || score != score ? score : largest;
      scores[seen++] = score;
    }
    for (std::int64_t i = 0; i < seen; ++i) scores[i] -= largest;
    attend::core::activate<attend::Activation::exp>(scores, nullptr, int(seen), scores);
    float sum = lane_sum(seen, [&](std::int64_t i) { return scores[i]; });
    if (node.sources[2] != nullptr) {
      float own = sink - largest;
      attend::core::activate<attend::Activation::exp>(&own, nullptr, 1, &own);
      sum += own;
    }
    const float inverse = 1.0f / sum;
    seen = 0;
    for (std::int64_t i = 0; i < count; ++i) to[i] = hides(i) ? 0.0f : scores[seen++] * inverse;
  }
};

bool compute_softmax(const Tensor& node, Work& work) {
  const std::size_t width = std::size_t(node.extents[0] + 15) / 16 * 16;
  for (Memory& memory : work.threads) {
    if (memory.numbers<float>(2 * width) == nullptr) return false;
  }
  each_row(node, work.parallel, [&](const Place& place, int thread) {
    float* const memory = work.threads[std::size_t(thread)].numbers<float>(2 * width);
    SoftmaxRow{memory, memory + width}.run(node, place);
  });
  return true;
}

// ---- Sums, in doubles, from the first number on ----

bool takes_sums(const Tensor& node) {
  const Tensor* const from = node.sources[0];
  return has_float_rows(from) && has_float_rows(&node) && node.extents[0] == 1 && node.extents[1] == from->extents[1] &&
         node.extents[2] == from->extents[2] && node.extents[3] == from->extents[3];
}

template <bool mean>
bool compute_sums(const Tensor& node, Work& work) {
  const Tensor& from = *node.sources[0];
  each_row(from, work.parallel, [&](const Place& place, int) {
    double sum = 0;
    const float* const row = floats_at(from, place);
    for (std::int64_t i = 0; i < from.extents[0]; ++i) sum += double(row[i]);
    *floats_at(node, place) = float(mean ? sum / double(from.extents[0]) : sum);
  });
  return true;
}

}  // namespace

const NamedOperation row_operations[] = {
    {"RMS_NORM", {takes_norm, compute_norm<attend::core::rms_norm>}},
    {"NORM", {takes_norm, compute_norm<attend::core::layer_norm>}},
    {"GROUP_NORM", {takes_group_norm, compute_group_norm}},
    {"L2_NORM", {takes_norm, compute_l2_norm}},
    {"SOFT_MAX", {takes_softmax, compute_softmax}},
    {"SUM_ROWS", {takes_sums, compute_sums<false>}},
    {"MEAN", {takes_sums, compute_sums<true>}},
    {nullptr, {}},
};

}  // namespace attend_ggml
