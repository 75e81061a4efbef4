// Functions of single numbers: those that are more than one rounding, so that they would depend on the processor.
#include <attend/layers/core_layer.h>

#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

using attend::Activation;
using attend::core::activate;

constexpr int block = 4096;           // numbers that a function takes at a time, so that they stay in the cache
constexpr double function_cost = 16;  // of a number, in multiply-adds

struct Function {
  Activation activation;
  float factor = 1;       // of the argument
  bool gated = false;     // the function's value times the number
  bool has_bias = false;  // input 1, added to the rows of input 0 before
  bool needs_bias = false;
};

void apply(Activation activation, const float* from, const float* by, int count, float* to) {
  switch (activation) {
    case Activation::relu:
      return activate<Activation::relu>(from, by, count, to);
    case Activation::silu:
      return activate<Activation::silu>(from, by, count, to);
    case Activation::gelu:
      return activate<Activation::gelu>(from, by, count, to);
    case Activation::gelu_tanh:
      return activate<Activation::gelu_tanh>(from, by, count, to);
    case Activation::sigmoid:
      return activate<Activation::sigmoid>(from, by, count, to);
    case Activation::tanh:
      return activate<Activation::tanh>(from, by, count, to);
    case Activation::exp:
      return activate<Activation::exp>(from, by, count, to);
    case Activation::erf:
      return activate<Activation::erf>(from, by, count, to);
  }
}

class Activate : public Operator {
 public:
  explicit Activate(const Function& function) : function_(function) {}

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "X");
    Tensor bias;
    if (function_.has_bias) bias = function_.needs_bias ? call.required(1, "B") : call.optional(1, "bias");
    const int64_t width = bias ? bias.shape.count() : 1;
    if (bias)
      expect(
          bias.shape.rank() == 1 && x.shape.rank() >= 1 && x.shape[-1] == width,
          "the bias must have as many numbers as the last axis of X: it is " + bias.shape.text() + ", X is " + x.shape.text());
    float* const to = call.output(0, x.shape);
    if (to == nullptr || x.shape.count() == 0) return;
    for_pieces(call, x.shape.count() / width, function_cost * double(width), [&](int64_t first, int64_t end) {
      for (int64_t i = first * width; i < end * width;) {
        int64_t count = end * width - i < block ? end * width - i : block;
        const float* from = x.floats() + i;
        if (bias) {
          count = width - i % width < count ? width - i % width : count;
          std::memcpy(to + i, from, std::size_t(count) * sizeof(float));
          attend::core::add(bias.floats() + i % width, 1, int(count), to + i);
          from = to + i;
        }
        run(from, int(count), to + i);
        i += count;
      }
    });
  }

 private:
  void run(const float* from, int count, float* to) const {
    if (!function_.gated && function_.factor == 1) return apply(function_.activation, from, nullptr, count, to);
    float scaled[block];
    std::memcpy(scaled, from, std::size_t(count) * sizeof(float));
    if (function_.factor != 1) attend::core::scale(function_.factor, count, scaled);
    apply(function_.activation, scaled, function_.gated ? from : nullptr, count, to);
  }

  Function function_;
};

template <Activation activation>
std::unique_ptr<Operator> plain(const Attributes&) {
  return std::make_unique<Activate>(Function{activation});
}

std::unique_ptr<Operator> make_gelu(const Attributes& attributes) {
  const std::string approximation = attributes.text("approximate", "none");
  expect(approximation == "none" || approximation == "tanh",
         "attribute approximate is \"" + approximation + "\", expected \"none\" or \"tanh\"");
  return std::make_unique<Activate>(Function{approximation == "tanh" ? Activation::gelu_tanh : Activation::gelu});
}
std::unique_ptr<Operator> make_bias_gelu(const Attributes&) {
  return std::make_unique<Activate>(Function{Activation::gelu, 1, false, true, true});
}
std::unique_ptr<Operator> make_fast_gelu(const Attributes&) {
  return std::make_unique<Activate>(Function{Activation::gelu_tanh, 1, false, true, false});
}
std::unique_ptr<Operator> make_quick_gelu(const Attributes& attributes) {
  return std::make_unique<Activate>(Function{Activation::sigmoid, attributes.number("alpha", 1.702f), true});
}
std::unique_ptr<Operator> make_swish(const Attributes& attributes) {
  return std::make_unique<Activate>(Function{Activation::sigmoid, attributes.number("alpha", 1), true});
}

}  // namespace

const Definition operators::erf = {"Erf", {{"", 9, 13, {{"T", {float32}}}}}, plain<Activation::erf>};
const Definition operators::exp = {"Exp", {{"", 6, 13, {{"T", {float32}}}}}, plain<Activation::exp>};
const Definition operators::tanh = {"Tanh", {{"", 6, 13, {{"T", {float32}}}}}, plain<Activation::tanh>};
const Definition operators::sigmoid = {"Sigmoid", {{"", 6, 13, {{"T", {float32}}}}}, plain<Activation::sigmoid>};
const Definition operators::gelu = {
    "Gelu", {{"", 20, 20, {{"T", {float32}}}}, {"com.microsoft", 1, 1, {{"T", {float32}}}, 1, 1}}, make_gelu};
const Definition operators::swish = {"Swish", {{"", 24, 24, {{"T", {float32}}}}}, make_swish};
const Definition operators::bias_gelu = {"BiasGelu", {{"com.microsoft", 1, 1, {{"T", {float32}}}, 2, 1}}, make_bias_gelu};
const Definition operators::fast_gelu = {"FastGelu", {{"com.microsoft", 1, 1, {{"T", {float32}}}, 2, 1}}, make_fast_gelu};
const Definition operators::quick_gelu = {"QuickGelu", {{"com.microsoft", 1, 1, {{"T", {float32}}}, 1, 1}}, make_quick_gelu};

}  // namespace attend_adapter::onnx
