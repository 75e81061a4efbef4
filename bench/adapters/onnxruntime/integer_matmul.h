// What operators that multiply by weights of 8 bits share. They differ in where the factors of their sums come from.
#pragma once

#include <optional>

#include "integer_product.h"
#include "operator.h"
#include "rows.h"

namespace attend_adapter::onnx {

class IntegerMatMul : public Operator {
 public:
  // products: by how many weights, which are inputs 1, 1 + inputs_of_product …
  explicit IntegerMatMul(int products = 1) : packed_(std::size_t(products)) {}

  bool pack(int input, const Tensor& weights) override {
    const int product = (input - 1) / inputs_of_product;
    if (input < 1 || (input - 1) % inputs_of_product != 0 || product >= int(packed_.size())) return false;
    if ((weights.type != int8 && weights.type != uint8) || weights.shape.rank() != 2 || weights.shape.count() == 0)
      return false;
    if (weights.shape[0] > most_inputs) return false;
    packed_[std::size_t(product)].emplace(weights, weights.as<uint8_t>());
    return true;
  }

 protected:
  static constexpr int inputs_of_product = 4;    // weights, scale, zero point, bias, where there are several
  static constexpr int64_t most_inputs = 65536;  // products that fit into 32 bits

  static bool is_8_bits(Type type) { return type == int8 || type == uint8; }

  // The products of a batch, which A and B are broadcast to.
  struct Batch {
    Shape shape;                      // of the output
    int64_t rows, inner, columns;     // of a product
    std::vector<int64_t> of_a, of_b;  // the matrix of each product
  };
  static Batch batch_of(const Shape& a, const Shape& b) {
    const std::string both = "A is " + a.text() + ", B is " + b.text();
    expect(a.rank() >= 1 && b.rank() >= 1, "A and B must have at least one axis");
    Batch batch{};
    batch.inner = a[-1];
    batch.columns = b.rank() == 1 ? 1 : b[-1];
    expect((b.rank() == 1 ? b[0] : b[-2]) == batch.inner, "the inner extents of A and B differ: " + both);
    expect(batch.inner <= most_inputs, "the inner extent is larger than 65536: " + both);
    const bool shared = b.rank() <= 2;  // then all rows of A are those of one product
    const int axes_of_a = a.rank() > 2 ? a.rank() - 2 : 0, axes_of_b = shared ? 0 : b.rank() - 2,
              axes = axes_of_a > axes_of_b ? axes_of_a : axes_of_b;
    std::vector<int64_t> extents(std::size_t(axes), 1), own_a(std::size_t(axes), 1), own_b(std::size_t(axes), 1);
    for (int axis = 1; axis <= axes; ++axis) {
      const auto at = std::size_t(axes - axis);
      own_a[at] = axis <= axes_of_a ? a[-2 - axis] : 1;
      own_b[at] = axis <= axes_of_b ? b[-2 - axis] : 1;
      expect(own_a[at] == own_b[at] || own_a[at] == 1 || own_b[at] == 1, "the batches of A and B cannot be broadcast: " + both);
      extents[at] = own_a[at] == 1 ? own_b[at] : own_a[at];
    }
    const Shape all(extents);
    batch.rows = a.rank() == 1 ? 1 : shared ? a.count(0, a.rank() - 1) : a[-2];
    const Broadcast to_a(Shape(own_a), all, "A"), to_b(Shape(own_b), all, "B");
    for (int64_t i = 0; i < (shared ? 1 : all.count()); ++i) {
      batch.of_a.push_back(shared ? 0 : to_a.at(i));
      batch.of_b.push_back(shared ? 0 : to_b.at(i));
    }
    if (a.rank() > 1) extents.push_back(a[-2]);
    if (b.rank() > 1) extents.push_back(batch.columns);
    batch.shape = Shape(std::move(extents));
    return batch;
  }

  static std::vector<int32_t> part_of(const std::vector<int32_t>& zeros, int64_t matrix, int64_t count, const char* name) {
    const auto size = int64_t(zeros.size());
    if (size == 1) return zeros;
    const int64_t first = size == count ? 0 : matrix * count;
    expect(first + count <= size, std::string(name) + " has " + std::to_string(size) +
                                      " numbers, expected one, or one for each of " + std::to_string(count));
    return std::vector<int32_t>(zeros.begin() + first, zeros.begin() + first + count);
  }

  static std::vector<int32_t> each_of(const std::vector<int32_t>& zeros, int64_t count) {
    return zeros.size() == 1 ? std::vector<int32_t>(std::size_t(count), zeros[0]) : zeros;
  }

  Tensor weights_of(const Call& call, int product = 0) const {
    const std::optional<PackedIntegers>& packed = packed_[std::size_t(product)];
    if (packed) {
      Tensor shape;
      shape.type = packed->shift() > 0 ? uint8 : int8;
      shape.shape = {packed->inputs(), packed->outputs()};
      return shape;
    }
    const Tensor b = call.input(1 + inputs_of_product * product);
    expect(bool(b), "input B is missing");
    expect(is_8_bits(b.type), std::string("input B is of ") + name_of(b.type) + ", expected int8 or uint8");
    return b;
  }
  // Matrix `index` of the weights, packed in `own` where they are no constants.
  const PackedIntegers& packed_of(const Tensor& b, int64_t index, std::optional<PackedIntegers>& own, int product = 0) const {
    if (packed_[std::size_t(product)]) return *packed_[std::size_t(product)];
    return own.emplace(b, b.as<uint8_t>() + (index > 0 ? index * b.shape[-1] * b.shape[-2] : 0));
  }

  int products() const { return int(packed_.size()); }

 private:
  std::vector<std::optional<PackedIntegers>> packed_;
};

}  // namespace attend_adapter::onnx
