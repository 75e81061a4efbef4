// Softmax of ONNX, over any axis.
#include "../common/softmax.h"

#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

constexpr double softmax_cost = 20;  // of a number, in multiply-adds

class Softmax : public Operator {
 public:
  Softmax(int64_t axis, bool flat) : axis_(axis), flat_(flat) {}

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "input");
    const int rank = x.shape.rank();
    float* const to = call.output(0, x.shape);
    if (rank == 0) {
      if (to != nullptr) softmax_row(x.floats(), 1, to);
      return;
    }
    const int axis = axis_ == rank && flat_ ? rank : axis_of(axis_, rank);
    if (to == nullptr || x.shape.count() == 0) return;
    const int64_t width = flat_ ? x.shape.count(axis, rank) : x.shape[axis];
    const int64_t inner = flat_ ? 1 : x.shape.count(axis + 1, rank);
    const int length = narrow(width);
    if (inner == 1) {
      for_pieces(call, x.shape.count() / width, softmax_cost * double(width), [&](int64_t first, int64_t end) {
        for (int64_t row = first; row < end; ++row) softmax_row(x.floats() + row * width, length, to + row * width);
      });
      return;
    }
    const Parallel parallel = call.parallel(softmax_cost * double(x.shape.count()));
    WorkMemory memory;
    float* const rows = memory.numbers<float>(times(width, parallel.threads));
    const int64_t count = x.shape.count() / width;
    parallel.each(parallel.threads, [&](int part) {
      float* const row = rows + width * part;
      for (int64_t i = count * part / parallel.threads; i < count * (part + 1) / parallel.threads; ++i) {
        const int64_t offset = i / inner * inner * width + i % inner;
        for (int64_t j = 0; j < width; ++j) row[j] = x.floats()[offset + j * inner];
        softmax_row(row, length, row);
        for (int64_t j = 0; j < width; ++j) to[offset + j * inner] = row[j];
      }
    });
  }

 private:
  int64_t axis_;
  bool flat_;  // before opset 13: over all axes from this one on
};

std::unique_ptr<Operator> make_softmax(const Attributes& attributes) {
  return std::make_unique<Softmax>(attributes.integer("axis", -1), false);
}
std::unique_ptr<Operator> make_flat(const Attributes& attributes) {
  return std::make_unique<Softmax>(attributes.integer("axis", 1), true);
}

}  // namespace

const Definition operators::softmax = {"Softmax", {{"", 13, 13, {{"T", {float32}}}}}, make_softmax};
const Definition operators::flat_softmax = {"Softmax", {{"", 1, 12, {{"T", {float32}}}}}, make_flat};

}  // namespace attend_adapter::onnx
