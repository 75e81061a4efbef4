// RotaryEmbedding of ONNX (opset 23) and of ONNX Runtime.
#include "rotary.h"

#include <attend/layers/core_layer.h>

#include <cstring>

#include "operators.h"

namespace attend_adapter::onnx {

RotaryTables rotary_tables(const Tensor& cosines, const Tensor& sines, int axes) {
  const std::string said = "the tables of cosines and sines are " + cosines.shape.text() + " and " + sines.shape.text();
  expect(cosines.shape == sines.shape && cosines.shape.rank() == axes,
         said + ", expected " + std::to_string(axes) + " axes and the same extents");
  RotaryTables tables;
  tables.cosines = cosines.floats();
  tables.sines = sines.floats();
  tables.rows = cosines.shape.count(0, axes - 1);
  tables.pairs = cosines.shape[-1];
  return tables;
}

void turn_token(const Heads& from, const Heads& to, const RotaryTables& tables, int64_t row, int64_t token, int64_t of_table) {
  for (int64_t head = 0; head < from.heads; ++head) {
    const float* const source = from.at(row, token, head);
    float* const target = const_cast<float*>(to.at(row, token, head));
    if (source != target) std::memcpy(target, source, std::size_t(from.width) * sizeof(float));
  }
  attend::core::Rotation rotation{};
  rotation.first = const_cast<float*>(to.at(row, token, 0));
  rotation.head_stride = to.head_stride;
  rotation.heads = int(from.heads);
  rotation.pairs = int(tables.pairs);
  rotation.partner = tables.interleaved ? 1 : int(tables.pairs);
  rotation.cosines = tables.cosines + of_table * tables.pairs;
  rotation.sines = tables.sines + of_table * tables.pairs;
  attend::core::rotate(rotation);
}

namespace {

// Both have the same inputs and attributes; only the order of the inputs differs, and ONNX's may have a row of the tables for
// each token.
class RotaryEmbedding : public Operator {
 public:
  RotaryEmbedding(const Attributes& attributes, bool positions_first)
      : interleaved_(attributes.flag("interleaved")),
        heads_(attributes.integer("num_heads", 0)),
        width_(attributes.integer("rotary_embedding_dim", 0)),
        positions_first_(positions_first) {
    expect(heads_ >= 0 && width_ >= 0, "attributes num_heads and rotary_embedding_dim must not be below 0");
    // A scale, and batches without padding, whose meaning no page tells, are left to others.
    if (positions_first) {
      attributes.only("is_packed_batching", 0);
      const float scale = attributes.number("scale", 1);
      if (scale != 1) Attributes::refuse_value("scale", std::to_string(scale), "1");
    }
  }

  void compute(Call& call) const override {
    const Tensor x = call.required(0, positions_first_ ? "input" : "X");
    const Tensor cosines = call.required(positions_first_ ? 2 : 1, "cos_cache"),
                 sines = call.required(positions_first_ ? 3 : 2, "sin_cache");
    const int place = positions_first_ ? 1 : 3;
    const Tensor positions =
        positions_first_ ? call.required(place, "position_ids", int64) : call.optional(place, "position_ids", int64);
    RotaryTables tables = rotary_tables(cosines, sines, positions ? 2 : 3);
    tables.interleaved = interleaved_;
    int64_t heads = heads_;
    if (heads == 0 && x.shape.rank() == 3 && positions_first_) {  // as many as there are numbers for them
      const int64_t width = width_ == 0 ? 2 * tables.pairs : 0;
      expect(width > 0 && x.shape[2] % width == 0, "with 3 axes and rotary_embedding_dim the attribute num_heads must be set");
      heads = x.shape[2] / width;
    }
    const Heads from = heads_of(x, x.shape.rank() == 4 ? 0 : heads, "X");
    expect(heads_ == 0 || from.heads == heads_,
           "X has " + std::to_string(from.heads) + " heads, attribute num_heads is " + std::to_string(heads_));
    const int64_t turning = width_ == 0 ? from.width : width_;
    expect(turning == 2 * tables.pairs && turning <= from.width, "cos_cache is " + cosines.shape.text() +
                                                                     ", whose last axis must be half of the " +
                                                                     std::to_string(turning) + " numbers of a head that turn");
    narrow(from.width);
    narrow(from.heads);
    if (positions) {
      const Shape& shape = positions.shape;
      expect(
          (shape.rank() <= 1 && shape.count() == 1) || (shape.rank() == 2 && shape[0] == from.batch && shape[1] == from.tokens),
          "position_ids is " + shape.text() + ", expected one number or " + Shape{from.batch, from.tokens}.text());
      for (int64_t i = 0; i < shape.count(); ++i) {
        const int64_t position = positions.as<int64_t>()[i], last = shape.rank() == 2 ? position : position + from.tokens - 1;
        expect(position >= 0 && last < tables.rows, "position_ids has " + std::to_string(position) + ", and the tables have " +
                                                        std::to_string(tables.rows) + " rows");
      }
    } else {
      expect(cosines.shape[0] == from.batch && cosines.shape[1] == from.tokens,
             "cos_cache is " + cosines.shape.text() + ", expected a row for each token of X");
    }
    float* const to = call.output(0, x.shape);
    if (to == nullptr || x.shape.count() == 0) return;
    Heads output = from;
    output.data = to;
    turn(from, output, tables, call, [&](int64_t row, int64_t token) {
      if (!positions) return row * from.tokens + token;
      return positions.shape.rank() == 2 ? positions.as<int64_t>()[row * from.tokens + token]
                                         : positions.as<int64_t>()[0] + token;
    });
  }

 private:
  bool interleaved_;
  int64_t heads_, width_;
  bool positions_first_;
};

std::unique_ptr<Operator> make_onnx(const Attributes& attributes) {
  return std::make_unique<RotaryEmbedding>(attributes, false);
}
std::unique_ptr<Operator> make_runtime(const Attributes& attributes) {
  return std::make_unique<RotaryEmbedding>(attributes, true);
}

}  // namespace

const Definition operators::rotary_embedding = {"RotaryEmbedding",
                                                {{"", 23, 23, {{"T", {float32}}, {"M", {int64}}}}},
                                                make_onnx,
                                                {{float32, float32, float32, int64}, 3, {float32}, 1, true}};
const Definition operators::runtime_rotary_embedding = {
    "RotaryEmbedding", {{"com.microsoft", 1, 1, {{"T", {float32}}, {"M", {int64}}}, 4, 1}}, make_runtime};

}  // namespace attend_adapter::onnx
