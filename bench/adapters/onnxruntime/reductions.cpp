// ReduceSum, ReduceMean, ReduceSumSquare and ReduceL2 of float32, over any axes: sums in double precision, in the order in
// which the numbers lie, rounded once. Zeros in front of the rest or behind it, as of padding, change no bit.
#include <cmath>

#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

enum class Reduction { sum, mean, squares, length };

class Reduce : public Operator {
 public:
  Reduce(const Attributes& attributes, Reduction reduction)
      : reduction_(reduction),
        axes_(attributes.integers("axes")),
        keeps_(attributes.flag("keepdims", true)),
        noop_(attributes.flag("noop_with_empty_axes")) {}

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "data");
    const Tensor given = call.optional(1, "axes", int64);
    const int rank = x.shape.rank();
    std::vector<bool> reduced(std::size_t(rank), false);
    std::vector<int64_t> axes = axes_;
    if (given) {
      expect(given.shape.rank() <= 1, "axes must have one axis, it is " + given.shape.text());
      axes.assign(given.as<int64_t>(), given.as<int64_t>() + given.shape.count());
    }
    for (const int64_t axis : axes) reduced[std::size_t(axis_of(axis, rank))] = true;
    if (axes.empty() && !noop_) reduced.assign(std::size_t(rank), true);
    std::vector<int64_t> extents;
    int64_t count = 1;  // numbers of a sum
    for (int axis = 0; axis < rank; ++axis) {
      if (reduced[std::size_t(axis)]) count = times(count, x.shape[axis]);
      if (!reduced[std::size_t(axis)] || keeps_) extents.push_back(reduced[std::size_t(axis)] ? 1 : x.shape[axis]);
    }
    const Shape shape(extents);
    float* const to = call.output(0, shape);
    if (to == nullptr || shape.count() == 0) return;
    run(call, x, reduced, count, to, shape.count());
  }

 private:
  void run(Call& call, const Tensor& x, const std::vector<bool>& reduced, int64_t count, float* to, int64_t outputs) const {
    // Neighbouring axes of one kind are one axis: kept and reduced ones in turns.
    struct Axis {
      int64_t extent, stride;
    };
    std::vector<Axis> kept, summed;
    int64_t stride = 1;
    for (int axis = x.shape.rank() - 1; axis >= 0; --axis) {
      if (x.shape[axis] != 1) (reduced[std::size_t(axis)] ? summed : kept).push_back({x.shape[axis], stride});
      stride *= x.shape[axis];
    }
    const auto offset_of = [](const std::vector<Axis>& axes, int64_t index) {
      int64_t offset = 0;
      for (const Axis& axis : axes) {
        offset += index % axis.extent * axis.stride;
        index /= axis.extent;
      }
      return offset;
    };
    // Sums whose numbers lie side by side in turns are computed together.
    constexpr int64_t side_by_side = 64;
    const int64_t width = !kept.empty() && kept[0].stride == 1 ? kept[0].extent : 1;
    const int64_t blocks = (width + side_by_side - 1) / side_by_side;
    for_pieces(
        call, outputs / width * blocks, 2 * double(count) * double(width < side_by_side ? width : side_by_side),
        [&](int64_t first, int64_t end) {
          for (int64_t piece = first; piece < end; ++piece) {
            const int64_t output = piece / blocks * width + piece % blocks * side_by_side;
            const int64_t left = width - piece % blocks * side_by_side, numbers = left < side_by_side ? left : side_by_side;
            const float* const from = x.floats() + offset_of(kept, output);
            double sums[side_by_side] = {};
            for (int64_t i = 0; i < count;) {
              const float* const row = from + offset_of(summed, i);
              const int64_t run_length = summed.empty() ? 1 : summed[0].extent, step = summed.empty() ? 0 : summed[0].stride;
              for (int64_t j = 0; j < run_length; ++j) add(row + j * step, numbers, sums);
              i += run_length;
            }
            for (int64_t i = 0; i < numbers; ++i) to[output + i] = finish(sums[i], count);
          }
        });
  }

  void add(const float* row, int64_t numbers, double* sums) const {
    if (reduction_ == Reduction::squares || reduction_ == Reduction::length) {
      for (int64_t i = 0; i < numbers; ++i) sums[i] += double(row[i]) * double(row[i]);  // the product is exact
    } else {
      for (int64_t i = 0; i < numbers; ++i) sums[i] += double(row[i]);
    }
  }
  float finish(double sum, int64_t count) const {
    if (reduction_ == Reduction::mean) return float(sum / double(count));
    return float(reduction_ == Reduction::length ? std::sqrt(sum) : sum);
  }

  Reduction reduction_;
  std::vector<int64_t> axes_;
  bool keeps_, noop_;
};

template <Reduction reduction>
std::unique_ptr<Operator> make_reduction(const Attributes& attributes) {
  return std::make_unique<Reduce>(attributes, reduction);
}

}  // namespace

const Definition operators::reduce_sum = {"ReduceSum", {{"", 1, 13, {{"T", {float32}}}}}, make_reduction<Reduction::sum>};
const Definition operators::reduce_mean = {"ReduceMean", {{"", 1, 18, {{"T", {float32}}}}}, make_reduction<Reduction::mean>};
const Definition operators::reduce_sum_square = {
    "ReduceSumSquare", {{"", 1, 18, {{"T", {float32}}}}}, make_reduction<Reduction::squares>};
const Definition operators::reduce_l2 = {"ReduceL2", {{"", 1, 18, {{"T", {float32}}}}}, make_reduction<Reduction::length>};

}  // namespace attend_adapter::onnx
