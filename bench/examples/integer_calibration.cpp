// From float data to attention in integers: scales and zero points from recordings, then the same call in 8 bits, and how far
// its output is off. The constants that it prints are all that a program on a part without floats needs.
#include <attend/integer.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace {

using attend::Status;
using attend::TensorScale;

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32;
};
using IntegerWake = attend::Integer<Wake>;
constexpr int tokens = 48;

struct Recording {  // what a model has computed for one sequence
  attend::Query<Wake, tokens> query;
  attend::Key<Wake, tokens> key;
  attend::Value<Wake, tokens> value;
  attend::Output<Wake, tokens> output;
};

// Calls each(number) for every number of an array [token][head][dim].
template <class Array, class Each>
void for_each(Array& array, Each each) {
  for (auto& token : array.data) {
    for (auto& head : token) {
      for (auto& number : head) each(number);
    }
  }
}

// [calibrate]
struct Range {
  float least = 0, most = 0;  // 0 is within, so that it has a number of its own

  template <class Array>
  void include(const Array& array) {
    for_each(array, [this](float x) { least = std::min(least, x), most = std::max(most, x); });
  }
  // -128 … 127 over the whole range.
  TensorScale asymmetric() const {
    const double scale = std::max(double(most) - double(least), 1e-6) / 255;
    return {scale, int(std::lround(-128 - double(least) / scale))};
  }
  // -127 … 127, and no zero point.
  TensorScale symmetric() const { return {std::max({double(most), -double(least), 1e-6}) / 127}; }
};

struct Scales {
  TensorScale query, key, value, output;
};

// A zero point of the keys shifts all scores of a query by the same amount, which changes no weight and takes no time. One of
// the queries takes a sum over each key; symmetric queries do without.
template <int count>
Scales calibrate(const Recording (&recordings)[count]) {
  Range query, key, value, output;
  for (const Recording& recording : recordings) {
    query.include(recording.query), key.include(recording.key);
    value.include(recording.value), output.include(recording.output);
  }
  return {query.symmetric(), key.asymmetric(), value.asymmetric(), output.asymmetric()};
}
// [/calibrate]

// [quantise]
// What is beyond the range of the recordings becomes the last number on its side.
template <class Floats, class Integers>
void quantise(const Floats& from, TensorScale meaning, Integers& to) {
  const float* number = from.data[0][0];
  for_each(to, [&](std::int8_t& step) {
    step = std::int8_t(std::clamp(std::lround(double(*number++) / meaning.scale) + meaning.zero_point, -128l, 127l));
  });
}

Status attend_in_integers(const Recording& recording, const Scales& scales, attend::Output<IntegerWake, tokens>& output) {
  static attend::Query<IntegerWake, tokens> query;
  static attend::Key<IntegerWake, tokens> key;
  static attend::Value<IntegerWake, tokens> value;
  static attend::Workspace<IntegerWake, tokens, tokens> work;
  quantise(recording.query, scales.query, query);
  quantise(recording.key, scales.key, key);
  quantise(recording.value, scales.value, value);
  const attend::Quantisation<IntegerWake> quantisation(scales.query, scales.key, scales.value, scales.output);
  return attend::attention(query, key, value, output, work, quantisation, attend::causal());
}
// [/quantise]

// Numbers of about a bell's shape around a center, in the place of a model: sums of four uniform ones.
std::uint32_t seed = 1;
template <class Array>
void draw(Array& array, float center, float scale) {
  for_each(array, [&](float& number) {
    int sum = 0;
    for (int i = 0; i < 4; ++i) seed = seed * 1664525u + 1013904223u, sum += int(seed >> 16) - 32768;
    number = center + float(sum) / 32768.0f * scale;
  });
}

Status record(Recording& recording) {
  static attend::Workspace<Wake, tokens, tokens> work;
  draw(recording.query, 0.0f, 3.0f), draw(recording.key, 0.5f, 0.5f), draw(recording.value, 0.25f, 0.25f);
  return attend::attention(recording.query, recording.key, recording.value, recording.output, work, attend::causal());
}

}  // namespace

int main() {
  static Recording recordings[8], unseen;
  static attend::Output<IntegerWake, tokens> output;
  Status status = record(unseen);
  for (Recording& recording : recordings) {
    if (status == Status::ok) status = record(recording);
  }
  const Scales scales = calibrate(recordings);
  if (status == Status::ok) status = attend_in_integers(unseen, scales, output);
  if (status != Status::ok) {  // bad_quantisation: scales that 8 bits cannot serve
    std::fprintf(stderr, "integer_calibration: %s\n", attend::status_text(status));
    return 1;
  }
  std::printf("constexpr attend::Quantisation<attend::Integer<Wake>> quantisation(%.7g, {%.7g, %d}, {%.7g, %d}, {%.7g, %d});\n",
              scales.query.scale, scales.key.scale, scales.key.zero_point, scales.value.scale, scales.value.zero_point,
              scales.output.scale, scales.output.zero_point);

  // [error]
  double worst = 0, squares = 0, largest = 0;
  const float* exact = unseen.output.data[0][0];
  for_each(output, [&](std::int8_t step) {
    const double error = scales.output.scale * (step - scales.output.zero_point) - double(*exact);
    worst = std::max(worst, std::abs(error));
    squares += error * error;
    largest = std::max(largest, std::abs(double(*exact++)));
  });
  // [/error]
  const double count = sizeof output.data;
  std::printf("largest output: %.3f, largest error: %.4f (%.1f steps), root mean square: %.4f (%.2f steps)\n", largest, worst,
              worst / scales.output.scale, std::sqrt(squares / count), std::sqrt(squares / count) / scales.output.scale);
}
