// What layers are made of, from C: projections, packed weights, normalisation, activations and rotary positions have the bits
// of the typed calls.
#include "c_layer_cases.h"

using namespace attend_test;
using attend::Status;
using attend::Vectors;

namespace {

template <class Format, int tokens>
void check_projections() {
  constexpr int inputs = std::is_same<Format, attend::int4>::value ? 64 : 37, outputs = 21, others = 16;
  Random random(3);
  attend::Weights<outputs, inputs, Format> weights;
  attend::Weights<others, inputs> more;
  attend::PackedWeights<outputs, inputs, Format> packed;
  fill(weights, random), fill(more, random);
  attend::pack(weights, packed);
  float bias[outputs];
  random.fill(bias, outputs);
  Vectors<tokens, inputs> x;
  random.fill(x[0], tokens * inputs);
  Vectors<tokens, outputs> y, expected;
  Vectors<tokens, others> z, expected_more;
  REQUIRE(attend::project(x, attend::into(weights, bias, expected), attend::into(more, expected_more)) == Status::ok);

  attend_weights rows = c_weights(weights, bias), panels;
  const std::size_t bytes = attend_packed_size(&rows);
  CHECK(bytes == sizeof packed.data);
  Aligned memory(bytes), work(ATTEND_PROJECTION_WORKSPACE_SIZE);
  CHECK(attend_pack_weights(&rows, memory.data(), bytes, &panels) == ATTEND_OK);
  CHECK(std::memcmp(memory.data(), packed.data, bytes) == 0);
  for (const attend_weights& seen : {rows, panels, c_weights(packed, bias)}) {
    for (const bool works : {false, true}) {
      const attend_projection to[] = {{seen, y[0]}, {c_weights(more), z[0]}};
      std::memset(&y, 0xff, sizeof y), std::memset(&z, 0xff, sizeof z);
      const attend_status status = works ? attend_project(x[0], tokens, to, 2, work.data(), ATTEND_PROJECTION_WORKSPACE_SIZE)
                                         : attend_project(x[0], tokens, to, 2, nullptr, 0);
      CHECK(status == ATTEND_OK);
      CHECK(same(y, expected));
      CHECK(same(z, expected_more));
    }
  }
  // Packed in its own place: the struct may be overwritten.
  CHECK(attend_pack_weights(&rows, memory.data(), bytes, &rows) == ATTEND_OK);
  CHECK(rows.data == memory.data());
  CHECK(rows.layout == ATTEND_PANELS);
}

template <class Format>
void check_conversion() {
  constexpr int inputs = std::is_same<Format, attend::int4>::value ? 64 : 37, outputs = 21;
  Random random(4);
  attend::Weights<outputs, inputs> weights;
  attend::Weights<outputs, inputs, Format> expected, found;
  fill(weights, random);
  float bias[outputs];
  std::memset(&found, 0xff, sizeof found), std::memset(&expected, 0xff, sizeof expected);
  REQUIRE(attend::convert(weights, expected) == attend::Status::ok);
  attend_weights seen = c_weights(weights, bias), wanted = c_weights(found, bias);
  CHECK(attend_convert_weights(&seen, wanted.format, found.data, sizeof found.data, const_cast<float*>(wanted.scales), &seen) ==
        ATTEND_OK);
  CHECK(same(found, expected));
  CHECK(same(seen, wanted));
}

template <attend::Activation activation>
void check_activation(int of_c) {
  constexpr int count = 53;
  float x[count], up[count], y[count], expected[count];
  Random(5).fill(x, count), Random(6).fill(up, count);
  attend::activate<activation>(x, expected);
  CHECK(attend_activate(of_c, x, nullptr, count, y) == ATTEND_OK);
  CHECK(same(y, expected));
  attend::activate<activation>(x, up, expected);
  std::memcpy(y, up, sizeof y);
  CHECK(attend_activate(of_c, x, y, count, y) == ATTEND_OK);
  CHECK(same(y, expected));
}

}  // namespace

TEST_CASE_TEMPLATE("c layers: projections and packed weights", Format, float, attend::float16, attend::bfloat16, attend::int8,
                   attend::int4) {
  check_projections<Format, 1>();
  check_projections<Format, 5>();
}

TEST_CASE_TEMPLATE("c layers: weights of floats in another format", Format, attend::float16, attend::bfloat16, attend::int8,
                   attend::int4) {
  check_conversion<Format>();
}

TEST_CASE("c layers: 256 projections of the same vectors are taken, and 257 are not") {
  constexpr int width = 3, most = 256;
  attend::Weights<width, width> weights;
  Random random(5);
  fill(weights, random);
  Vectors<1, width> x, expected;
  random.fill(x[0], width);
  REQUIRE(attend::project(x, weights, expected) == Status::ok);
  Vectors<1, width> y[most + 1];
  attend_projection projections[most + 1];
  for (int i = 0; i <= most; ++i) projections[i] = {c_weights(weights), y[i][0]};
  std::memset(y, 0xff, sizeof y);
  const attend_status status = attend_project(x[0], 1, projections, most + 1, nullptr, 0);
  CHECK(error_of(status) == ATTEND_OUT_OF_RANGE);
  CHECK(argument_of(status) == ATTEND_ARG_COUNT);
  for (const Vectors<1, width>& each : y) CHECK(std::memcmp(&each, &y[most], sizeof each) == 0);
  CHECK(attend_project(x[0], 1, projections, most, nullptr, 0) == ATTEND_OK);
  for (int i = 0; i < most; ++i) CHECK(same(y[i], expected));
}

TEST_CASE("c layers: norms around linear attention") {
  constexpr int rows = 5, width = 24;
  float x[rows][width], gate[rows][width], weight[width], y[rows][width], expected[rows][width];
  Random random(11);
  random.fill(x[0], rows * width), random.fill(gate[0], rows * width, 3.0f), random.fill(weight, width);
  REQUIRE(attend::l2_norm(x, expected) == Status::ok);
  CHECK(attend_l2_norm(x[0], rows, width, 1e-6f, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  using attend::GateOrder;
  attend_gated_norm norm = {{weight, nullptr, width, 0.25f}, 1, ATTEND_SIGMOID, ATTEND_GATE_LAST};
  const auto last = attend::gated_rms_norm<GateOrder::last, 1, attend::Activation::sigmoid>(x, gate, weight, expected, 0.25f);
  REQUIRE(last == Status::ok);
  CHECK(attend_gated_rms_norm(&norm, x[0], gate[0], rows, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  // Groups, without a weight; y is x, and then the gate.
  norm = {{nullptr, nullptr, width, 1e-5f}, 3, ATTEND_SILU, ATTEND_GATE_FIRST};
  REQUIRE(attend::gated_rms_norm<GateOrder::first, 3>(x, gate, weight, expected) == Status::ok);
  norm.norm.weight = weight;
  std::memcpy(y, x, sizeof y);
  CHECK(attend_gated_rms_norm(&norm, y[0], gate[0], rows, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  CHECK(attend_gated_rms_norm(&norm, x[0], gate[0], rows, gate[0]) == ATTEND_OK);
  CHECK(same(gate, expected));
  CHECK(attend_gated_rms_norm(&norm, nullptr, nullptr, 0, nullptr) == ATTEND_OK);
  // What a row of any width is multiplied by is what the compiler makes of it.
  float wide[1][65536], made[1][65536], defined[1][65536];
  random.fill(wide[0], 65536);
  const auto check_width = [&](auto& from, auto& to) {
    constexpr int count = sizeof from / sizeof(float);
    REQUIRE(attend::l2_norm(from, to) == Status::ok);
    CHECK(attend_l2_norm(from, 1, count, 1e-6f, made[0]) == ATTEND_OK);
    CHECK(std::memcmp(to, made[0], sizeof to) == 0);
  };
  check_width(wide[0], defined[0]);
  float few[3], of_few[3], some[107], of_some[107];
  random.fill(few, 3), random.fill(some, 107);
  check_width(few, of_few), check_width(some, of_some);
}

TEST_CASE("c layers: normalisation, activations and residual addition") {
  constexpr int rows = 3, width = 21;
  float x[rows][width], weight[width], bias[width], y[rows][width], expected[rows][width];
  Random random(7);
  random.fill(x[0], rows * width), random.fill(weight, width), random.fill(bias, width);
  attend_norm norm = {weight, nullptr, width, 0.25f};
  REQUIRE(attend::rms_norm(x, weight, expected, 0.25f) == Status::ok);
  CHECK(attend_rms_norm(&norm, x[0], rows, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  norm.bias = bias;
  REQUIRE(attend::layer_norm(x, weight, bias, expected, 0.25f) == Status::ok);
  std::memcpy(y, x, sizeof y);
  CHECK(attend_layer_norm(&norm, y[0], rows, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  norm = {nullptr, nullptr, width, 1e-5f};
  REQUIRE(attend::layer_norm(x, attend::none, attend::none, expected) == Status::ok);
  CHECK(attend_layer_norm(&norm, x[0], rows, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  attend::add(x, expected, 1.5f);
  CHECK(attend_add(x[0], 1.5f, rows * width, y[0]) == ATTEND_OK);
  CHECK(same(y, expected));
  check_activation<attend::Activation::relu>(ATTEND_RELU);
  check_activation<attend::Activation::silu>(ATTEND_SILU);
  check_activation<attend::Activation::gelu>(ATTEND_GELU);
  check_activation<attend::Activation::gelu_tanh>(ATTEND_GELU_TANH);
  check_activation<attend::Activation::sigmoid>(ATTEND_SIGMOID);
  check_activation<attend::Activation::tanh>(ATTEND_TANH);
  check_activation<attend::Activation::exp>(ATTEND_EXP);
  check_activation<attend::Activation::erf>(ATTEND_ERF);
}

TEST_CASE("c layers: scaled rotary positions are those of typed calls") {
  constexpr int dim = 8;
  const float factors[dim / 2] = {1.0f, 1.5f, 4.0f, 60.0f};
  const double frequencies[dim / 2] = {1.0, 0.25, 0.0, 1e-6};
  const auto check = [&](float base, const attend_rotary_scaling& scaling, const attend::Rotary<dim>& typed) {
    float x[3][2][dim], expected[3][2][dim];
    Random(9).fill(x[0][0], 3 * 2 * dim);
    std::memcpy(expected, x, sizeof expected);
    std::uint64_t turns[dim / 2];
    attend_rotary rotary;
    CHECK(attend_rotary_init_scaled(&rotary, turns, dim, ATTEND_HALVES, base, &scaling) == ATTEND_OK);
    const attend_output in = {x, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    CHECK(attend_rotate(&rotary, &in, 3, 2, dim, 99999) == ATTEND_OK);
    CHECK(typed.rotate<attend::RotaryPairs::halves>(expected, 99999) == Status::ok);
    CHECK(same(x, expected));
  };
  attend::Rotary<dim> typed;
  const auto check_scaling = [&](const attend_rotary_scaling& scaling, const attend::RotaryScaling& of_typed) {
    REQUIRE(typed.init(500000.0f, of_typed) == Status::ok);
    check(500000.0f, scaling, typed);
  };
  using attend::RotaryScaling;
  check_scaling({ATTEND_ROTARY_LINEAR, 8, 0, 0, 0, 0, nullptr, 0, nullptr, 0}, RotaryScaling::linear(8));
  check_scaling({ATTEND_ROTARY_LLAMA3, 8, 8192, 1, 4, 0, nullptr, 0, nullptr, 0}, RotaryScaling::llama3(8, 8192));
  check_scaling({ATTEND_ROTARY_YARN, 32, 4096, 1, 32, 0, nullptr, 0, nullptr, 0}, RotaryScaling::yarn(32, 4096));
  check_scaling({ATTEND_ROTARY_YARN, 32, 4096, 1, 32, 1, nullptr, 0, nullptr, 2},
                RotaryScaling::yarn(32, 4096).with_fractions().with_attention_factor(2));
  check_scaling({ATTEND_ROTARY_LONG, 32, 4096, 0, 0, 0, factors, 0, nullptr, 0}, RotaryScaling::long_rope(factors, 32, 4096));
  check_scaling({ATTEND_ROTARY_PROPORTIONAL, 0, 0, 0, 0, 0, nullptr, 3, nullptr, 0}, RotaryScaling::proportional(3));
  REQUIRE(typed.init(frequencies, 0.5f) == Status::ok);
  check(0.0f, {ATTEND_ROTARY_FREQUENCIES, 0, 0, 0, 0, 0, nullptr, 0, frequencies, 0.5f}, typed);
}

TEST_CASE("c layers: positions of each token on several axes are those of typed calls") {
  constexpr int dim = 24, tokens = 3, heads = 2;
  const int positions[tokens][3] = {{1, -2, 3}, {40000, 5, 6}, {-7, 8, 9}};
  float x[tokens][heads][dim], expected[tokens][heads][dim];
  std::uint64_t turns[dim / 2];
  attend_rotary rotary;
  CHECK(attend_rotary_init(&rotary, turns, dim, ATTEND_HALVES, 10000.0f, 1.0f) == ATTEND_OK);
  attend::Rotary<dim> typed;
  REQUIRE(typed.init(10000.0f) == Status::ok);
  for (const int interleaved : {0, 1}) {
    Random(10).fill(x[0][0], tokens * heads * dim);
    std::memcpy(expected, x, sizeof expected);
    const attend::RotaryAxes<3> axes = {{6, 2, 4}, interleaved == 1};
    CHECK(typed.rotate<attend::RotaryPairs::halves>(expected, positions, axes) == Status::ok);
    const attend_output in = {x, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    const attend_positions at = {positions[0], 3, interleaved, {6, 2, 4}};
    CHECK(attend_rotate_positions(&rotary, &in, tokens, heads, dim, &at) == ATTEND_OK);
    CHECK(same(x, expected));
  }
}

TEST_CASE("c layers: rotary positions, of dense arrays and within a fused one") {
  constexpr int tokens = 3, heads = 2, dim = 41, rotary_dim = 38, position = 1234;
  attend::Rotary<rotary_dim> typed;
  REQUIRE(typed.init(20000.0f, 4.0f) == Status::ok);
  float x[tokens][heads][dim], expected[tokens][heads][dim], fused[tokens][3][heads][dim];
  std::uint64_t turns[rotary_dim / 2];
  attend_rotary rotary;
  for (const attend_rotary_pairs pairs : {ATTEND_NEIGHBOURS, ATTEND_HALVES}) {
    Random(8).fill(x[0][0], tokens * heads * dim);
    for (int t = 0; t < tokens; ++t) {
      for (auto& part : fused[t]) std::memcpy(part, x[t], sizeof part);
    }
    std::memcpy(expected, x, sizeof expected);
    if (pairs == ATTEND_NEIGHBOURS) {
      REQUIRE(typed.rotate<attend::RotaryPairs::neighbours>(expected, position) == Status::ok);
    } else {
      REQUIRE(typed.rotate<attend::RotaryPairs::halves>(expected, position) == Status::ok);
    }
    CHECK(attend_rotary_init(&rotary, turns, rotary_dim, pairs, 20000.0f, 4.0f) == ATTEND_OK);
    float before[heads][dim];
    std::memcpy(before, x[1], sizeof before);
    attend_output in = {x, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    CHECK(attend_rotate(&rotary, &in, tokens, heads, dim, position) == ATTEND_OK);
    CHECK(same(x, expected));
    in = {fused[0][1], 0, 3 * heads * dim, dim};
    CHECK(attend_rotate(&rotary, &in, tokens, heads, dim, position) == ATTEND_OK);
    for (int t = 0; t < tokens; ++t) CHECK(same(fused[t][1], expected[t]));
    CHECK(same(fused[1][0], before));
    CHECK(same(fused[1][2], before));
  }
}
