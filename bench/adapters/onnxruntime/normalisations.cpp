// LayerNormalization, RMSNormalization and those that ONNX Runtime makes of them and an addition.
#include "normalisation.h"
#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

struct Statistics {
  float mean, inverse;
};
// In double precision, in ascending order.
Statistics statistics_of(const float* row, int width, float epsilon, bool centred) {
  double sum = 0, squares = 0;
  for (int i = 0; i < width && centred; ++i) sum += double(row[i]);
  const double mean = centred ? sum / width : 0;
  for (int i = 0; i < width; ++i) {
    const double difference = double(row[i]) - mean;
    squares = std::fma(difference, difference, squares);
  }
  return {float(mean), float(1 / std::sqrt(squares / width + double(epsilon)))};
}

// Whether a weight or bias is what a row of x, the axes from `axis` on, is multiplied by number by number.
bool is_row(const Shape& own, const Shape& x, int axis) {
  for (int i = 1; i <= own.rank(); ++i) {
    if (own[-i] != (i <= x.rank() - axis ? x[-i] : 1)) return false;
  }
  return own.count() == x.count(axis, x.rank());
}

class LayerNorm : public Operator {
 public:
  LayerNorm(const Attributes& attributes, bool centred, int mean_output, int inverse_output)
      : axis_(attributes.integer("axis", -1)),
        epsilon_(epsilon_of(attributes, 1e-5f)),
        centred_(centred),
        outputs_{mean_output, inverse_output} {
    attributes.only("stash_type", float32);
  }

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "X");
    const Tensor scale = call.required(1, "Scale");
    const Tensor bias = centred_ ? call.optional(2, "B") : Tensor{};
    expect(x.shape.rank() >= 1, "X must have at least one axis");
    const int axis = axis_of(axis_, x.shape.rank());
    const int64_t width = x.shape.count(axis, x.shape.rank());
    float* const to = call.output(0, x.shape);
    std::vector<int64_t> kept = x.shape.extents();
    for (std::size_t i = std::size_t(axis); i < kept.size(); ++i) kept[i] = 1;
    float* const means = outputs_[0] < 0 ? nullptr : call.output(outputs_[0], Shape(kept));
    float* const inverses = outputs_[1] < 0 ? nullptr : call.output(outputs_[1], Shape(kept));
    const Broadcast of_scale(scale.shape, x.shape, "Scale");
    const Broadcast of_bias(bias ? bias.shape : Shape{}, x.shape, "B");
    if (width == 0 || x.shape.count() == 0) return;
    NormRows rows{x.floats(),    to,       scale.floats(), bias ? bias.floats() : nullptr, x.shape.count() / width,
                  narrow(width), epsilon_, centred_};
    narrow(rows.rows);
    // The usual weights are as long as a row; others are written out as such.
    const bool direct = is_row(scale.shape, x.shape, axis) && (!bias || is_row(bias.shape, x.shape, axis));
    const Parallel parallel = call.parallel(norm_cost * double(x.shape.count()));
    WorkMemory memory;
    float* const expanded = direct ? nullptr : memory.numbers<float>(times(times(width, 2), parallel.threads));
    parallel.each(parallel.threads, [&](int part) {
      const int64_t first = rows.rows * part / parallel.threads, end = rows.rows * (part + 1) / parallel.threads;
      if (means != nullptr || inverses != nullptr) {
        for (int64_t row = first; row < end; ++row) {
          const Statistics statistics = statistics_of(x.floats() + row * width, rows.width, epsilon_, centred_);
          if (means != nullptr) means[row] = statistics.mean;
          if (inverses != nullptr) inverses[row] = statistics.inverse;
        }
      }
      if (to == nullptr || first >= end) return;
      if (direct) return normalise(rows, first, end);
      NormRows one = rows;
      float* const weights = expanded + 2 * width * part;
      for (int64_t row = first; row < end; ++row) {
        for (int64_t i = 0; i < width; ++i) {
          weights[i] = scale.floats()[of_scale.at(row * width + i)];
          if (bias) weights[width + i] = bias.floats()[of_bias.at(row * width + i)];
        }
        one.weight = weights;
        one.bias = bias ? weights + width : nullptr;
        normalise(one, row, row + 1);
      }
    });
  }

 private:
  int64_t axis_;
  float epsilon_;
  bool centred_;
  int outputs_[2];
};

// The sum of two or three tensors, and its normalisation: (input + skip) + bias.
class SkipNorm : public Operator {
 public:
  SkipNorm(const Attributes& attributes, bool centred) : epsilon_(epsilon_of(attributes, 1e-12f)), centred_(centred) {}

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "input");
    const Tensor skip = call.required(1, "skip");
    const Tensor gamma = call.required(2, "gamma");
    const Tensor beta = centred_ ? call.optional(3, "beta") : Tensor{};
    const Tensor bias = call.optional(centred_ ? 4 : 3, "bias");
    expect(x.shape.rank() == 3 || x.shape.rank() == 2, "input must have 2 or 3 axes, it is " + x.shape.text());
    const int64_t width = x.shape[-1], count = x.shape.count();
    expect(skip.shape.rank() >= 2 && skip.shape[-1] == width && skip.shape[-2] == x.shape[-2] &&
               (skip.shape.count() == count || skip.shape.count() == x.shape.count(x.shape.rank() - 2, x.shape.rank())),
           "skip of shape " + skip.shape.text() + " cannot be broadcast to " + x.shape.text());
    expect_row(gamma, width, "gamma");
    expect_row(beta, width, "beta");
    expect_row(bias, width, "bias");
    float* const to = call.output(0, x.shape);
    std::vector<int64_t> kept = x.shape.extents();
    kept.back() = 1;
    float* const means = call.output(1, Shape(kept));
    float* const inverses = call.output(2, Shape(kept));
    float* const sums = call.output(3, x.shape);
    if (to == nullptr || count == 0) return;
    float* const sum_to = sums != nullptr ? sums : to;
    NormRows rows{sum_to, to, gamma.floats(), beta ? beta.floats() : nullptr, count / width, narrow(width), epsilon_, centred_};
    const int64_t skip_rows = skip.shape.count() / width;
    for_pieces(call, narrow(rows.rows), norm_cost * double(width), [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        float* const sum = sum_to + row * width;
        std::memcpy(sum, x.floats() + row * width, std::size_t(width) * sizeof(float));
        attend::core::add(skip.floats() + row % skip_rows * width, 1, rows.width, sum);
        if (bias) attend::core::add(bias.floats(), 1, rows.width, sum);
        if (means == nullptr && inverses == nullptr) continue;
        const Statistics statistics = statistics_of(sum, rows.width, epsilon_, centred_);
        if (means != nullptr) means[row] = statistics.mean;
        if (inverses != nullptr) inverses[row] = statistics.inverse;
      }
      normalise(rows, first, end);
    });
  }

 private:
  float epsilon_;
  bool centred_;
};

std::unique_ptr<Operator> make_layer(const Attributes& attributes) {
  return std::make_unique<LayerNorm>(attributes, true, 1, 2);
}
std::unique_ptr<Operator> make_rms(const Attributes& attributes) {
  return std::make_unique<LayerNorm>(attributes, false, -1, 1);
}
std::unique_ptr<Operator> make_skip(const Attributes& attributes) { return std::make_unique<SkipNorm>(attributes, true); }
std::unique_ptr<Operator> make_skip_rms(const Attributes& attributes) { return std::make_unique<SkipNorm>(attributes, false); }

}  // namespace

const Definition operators::layer_normalization = {
    "LayerNormalization",
    {{"", 1, 16, {{"T", {float32}}, {"U", {float32}}, {"V", {float32}}}}, {"", 17, 17, {{"T", {float32}}, {"U", {float32}}}}},
    make_layer};
const Definition operators::simplified_layer_normalization = {
    "SimplifiedLayerNormalization", {{"", 1, 1, {{"T", {float32}}, {"U", {float32}}, {"V", {float32}}}}}, make_rms};
const Definition operators::rms_normalization = {
    "RMSNormalization", {{"", 23, 23, {{"T", {float32}}, {"V", {float32}}}}}, make_rms};
const Definition operators::skip_layer_normalization = {
    "SkipLayerNormalization", {{"com.microsoft", 1, 1, {{"T", {float32}}}, 5, 4}}, make_skip};
const Definition operators::skip_simplified_layer_normalization = {
    "SkipSimplifiedLayerNormalization", {{"com.microsoft", 1, 1, {{"T", {float32}}}, 4, 4}}, make_skip_rms};

}  // namespace attend_adapter::onnx
