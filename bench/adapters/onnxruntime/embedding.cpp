// EmbedLayerNormalization of ONNX Runtime: what optimised models of encoders begin with.
#include <algorithm>

#include "normalisation.h"
#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

// Rows of a table, which numbers choose.
struct Table {
  Table(const Tensor& tensor, const char* of) : numbers(tensor.floats()), name(of) {
    expect(tensor.shape.rank() == 2, name + " must have 2 axes, it is " + tensor.shape.text());
    rows = tensor.shape[0], width = tensor.shape[1];
  }
  const float* row(int64_t index) const {
    if (index < 0 || index >= rows)  // or the sentence would be made for every row
      expect(false, "row " + std::to_string(index) + " is not one of " + name + ", which has " + std::to_string(rows));
    return numbers + index * width;
  }
  const float* numbers;
  std::string name;
  int64_t rows, width;
};

// (word + position) + segment, normalised, and how many numbers of each sequence's mask are 1.
class EmbedNorm : public Operator {
 public:
  explicit EmbedNorm(const Attributes& attributes) : epsilon_(epsilon_of(attributes, 1e-12f)) {
    attributes.only("mask_index_type", 0);
  }

  void compute(Call& call) const override {
    const Tensor ids = call.required(0, "input_ids", int32), segments = call.optional(1, "segment_ids", int32);
    const Table words(call.required(2, "word_embedding"), "word_embedding"),
        positions(call.required(3, "position_embedding"), "position_embedding");
    const Tensor of_segments = call.optional(4, "segment_embedding");
    const Tensor gamma = call.required(5, "gamma"), beta = call.required(6, "beta");
    const Tensor mask = call.optional(7, "mask", int32), places = call.optional(8, "position_ids", int32);
    expect(ids.shape.rank() == 2, "input_ids must have 2 axes, it is " + ids.shape.text());
    const int64_t batch = ids.shape[0], tokens = ids.shape[1], count = ids.shape.count(), width = words.width;
    expect(positions.width == width, "word_embedding has " + std::to_string(width) + " columns, and position_embedding " +
                                         std::to_string(positions.width));
    expect_row(gamma, width, "gamma");
    expect_row(beta, width, "beta");
    for (const auto& [tensor, name] : {std::pair{&segments, "segment_ids"}, std::pair{&mask, "mask"}}) {
      if (*tensor)
        expect(tensor->shape == ids.shape,
               std::string(name) + " is " + tensor->shape.text() + ", and input_ids " + ids.shape.text());
    }
    if (places)
      expect(places.shape == ids.shape || places.shape == Shape{1, tokens},
             "position_ids is " + places.shape.text() + ", and input_ids " + ids.shape.text());
    expect(of_segments || !segments, "segment_ids has no segment_embedding");

    count_mask(mask, batch, tokens, call.output<int32_t>(1, {batch}));
    float* const to = call.output(0, {batch, tokens, width});
    float* const sums = call.output(2, {batch, tokens, width});
    if (to == nullptr || times(count, width) == 0) return;
    float* const sum_to = sums != nullptr ? sums : to;
    for (int64_t token = 0; token < count; ++token) {
      const int64_t place = places ? places.as<int32_t>()[places.shape[0] == 1 ? token % tokens : token] : token % tokens;
      float* const sum = sum_to + token * width;
      std::memcpy(sum, words.row(ids.as<int32_t>()[token]), std::size_t(width) * sizeof(float));
      attend::core::add(positions.row(place), 1, narrow(width), sum);
    }
    if (of_segments) add_segments(Table(of_segments, "segment_embedding"), segments, count, width, sum_to);
    const NormRows rows{sum_to, to, gamma.floats(), beta.floats(), count, narrow(width), epsilon_, true};
    for_pieces(call, narrow(count), norm_cost * double(width),
               [&](int64_t first, int64_t end) { normalise(rows, first, end); });
  }

 private:
  static void count_mask(const Tensor& mask, int64_t batch, int64_t tokens, int32_t* to) {
    for (int64_t row = 0; to != nullptr && row < batch; ++row) {
      const int32_t* const numbers = mask.as<int32_t>() + (mask ? row * tokens : 0);
      to[row] = mask ? int32_t(std::count(numbers, numbers + tokens, 1)) : 0;
    }
  }
  // Without numbers of segments all tokens are of the first one.
  static void add_segments(const Table& table, const Tensor& segments, int64_t count, int64_t width, float* sums) {
    expect(table.width == width,
           "word_embedding has " + std::to_string(width) + " columns, and segment_embedding " + std::to_string(table.width));
    for (int64_t token = 0; token < count; ++token)
      attend::core::add(table.row(segments ? segments.as<int32_t>()[token] : 0), 1, narrow(width), sums + token * width);
  }

  float epsilon_;
};

std::unique_ptr<Operator> make_embedding(const Attributes& attributes) { return std::make_unique<EmbedNorm>(attributes); }

}  // namespace

const Definition operators::embed_layer_normalization = {
    "EmbedLayerNormalization", {{"com.microsoft", 1, 1, {{"T1", {int32}}, {"T", {float32}}}, 9, 3}}, make_embedding};

}  // namespace attend_adapter::onnx
