// Rows of tensors, divided among threads.
#pragma once

#include <cstring>

#include "call.h"

namespace attend_adapter::onnx {

// Calls work(first, end) for pieces of `count` that together are all of it. cost: of one, in multiply-adds.
template <class Work>
void for_pieces(const Call& call, int64_t count, double cost, const Work& work) {
  const Parallel parallel = call.parallel(double(count) * cost);
  parallel.each(parallel.threads, [&](int part) {
    const int64_t first = count * part / parallel.threads, end = count * (part + 1) / parallel.threads;
    if (first < end) work(first, end);
  });
}

// Where the elements of a tensor that is broadcast to another shape lie: offsets of one axis after the other.
class Broadcast {
 public:
  // Refused where `from` cannot be broadcast to `to`.
  Broadcast(const Shape& from, const Shape& to, const char* name) : to_(to), strides_(std::size_t(to.rank()), 0) {
    expect(from.rank() <= to.rank(),
           std::string(name) + " has more axes than what it belongs to: " + from.text() + ", " + to.text());
    int64_t stride = 1;
    for (int axis = 1; axis <= from.rank(); ++axis) {
      expect(from[-axis] == to[-axis] || from[-axis] == 1,
             std::string(name) + " of shape " + from.text() + " cannot be broadcast to " + to.text());
      if (from[-axis] > 1) strides_[std::size_t(to.rank() - axis)] = stride;
      stride *= from[-axis];
    }
  }
  // Of element `index` of the larger tensor.
  int64_t at(int64_t index) const {
    int64_t offset = 0;
    for (int axis = to_.rank() - 1; axis >= 0; --axis) {
      offset += index % to_[axis] * strides_[std::size_t(axis)];
      index /= to_[axis];
    }
    return offset;
  }
  int64_t stride(int axis) const { return strides_[std::size_t(axis < 0 ? axis + to_.rank() : axis)]; }

 private:
  Shape to_;
  std::vector<int64_t> strides_;
};

}  // namespace attend_adapter::onnx
