// Every backend's integer projections, of packed weights and of rows, give what the definition says, and touch no byte before
// or behind what they are given: all widths, numbers of outputs and tokens, zero points and formats of outputs.
#if defined(__unix__) || defined(__APPLE__)

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../src/layers/list.h"
#include "../support/guarded.h"
#include "../support/rounds.h"
#include "attend/integer.h"
#include "integer_projection.h"
#include "replaced_integer_layers.h"

using namespace attend_test;
namespace core = attend::core;
using Run = void (*)(const core::IntegerLinear&, bool packed);

namespace {

template <class Output>
void run_chosen(const core::IntegerLinear& linear, bool packed) {
  packed ? core::run_packed_integer_linear<sizeof(Output)>(linear) : core::run_integer_linear<sizeof(Output)>(linear);
}

template <class Backend, class Output>
void run_with(const core::IntegerLinear& linear, bool packed) {
  Backend::run_integer_linear(linear, int(sizeof(Output)), packed);
}

class RandomProjection {
 public:
  explicit RandomProjection(Random& random) : RandomProjection(shape(random), random) {}
  RandomProjection(const ProjectionShape& of, Random& random)
      : of_(of), memory_(projection_bytes(of_)), flush_(random.between(0, 1) == 1 ? Flush::end : Flush::begin) {
    linear_ = random_projection(of_, random, memory_.data());
    linear_.input_stride = linear_.weight_stride = of_.inputs;
    linear_.output_stride = of_.outputs;
  }

  // Compares by all ways of computing.
  template <class Output>
  void check(const std::string& name, Run run) const {
    INFO(name, ", ", sizeof(Output), " bytes: ", of_.inputs, " inputs, ", of_.outputs, " outputs, ", of_.tokens,
         " tokens, zero ", of_.input_zero);
    const std::size_t in = std::size_t(of_.inputs), out = std::size_t(of_.outputs), tokens = std::size_t(of_.tokens);
    std::vector<Output> expected(tokens * out), nothing(tokens * out, Output(77));
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = Output(projected<Output>(linear_, int(i / out), int(i % out)));
    std::vector<std::int8_t> packed(core::packed_integer_weight_bytes(of_.outputs, of_.inputs));
    core::pack_integer_weights(WeightRows{linear_.weights, of_.inputs}, of_.outputs, of_.inputs, packed.data());
    GuardedCopy input(linear_.input, tokens * in, flush_), rows(linear_.weights, out * in, flush_);
    GuardedCopy panels(packed.data(), packed.size(), flush_);
    GuardedCopy multipliers(linear_.multipliers, (of_.one_multiplier ? 1 : out) * sizeof(core::IntegerMultiplier), flush_);
    GuardedCopy bias(linear_.bias, linear_.bias == nullptr ? 0 : out * sizeof(std::int32_t), flush_);
    for (const bool is_packed : {false, true}) {
      GuardedCopy output(nothing.data(), nothing.size() * sizeof(Output), flush_);
      core::IntegerLinear linear = linear_;
      linear.input = input.as<std::int8_t>(), linear.weights = (is_packed ? panels : rows).as<std::int8_t>();
      linear.multipliers = multipliers.as<core::IntegerMultiplier>(), linear.output = output.as<Output>();
      if (linear.bias != nullptr) linear.bias = bias.as<std::int32_t>();
      run(linear, is_packed);
      CAPTURE(is_packed);
      CHECK(std::memcmp(linear.output, expected.data(), expected.size() * sizeof(Output)) == 0);
    }
  }

 private:
  static ProjectionShape shape(Random& random) {
    ProjectionShape of{};
    of.inputs = random.between(0, 9) == 0 ? random.between(0, 2000) : random.between(1, 130);
    if (random.between(0, 2) == 0) of.inputs &= -16;
    of.outputs = random.between(1, 70);
    of.tokens = random.between(0, 1) == 0 ? random.between(1, 3) : random.between(1, random.between(0, 3) == 0 ? 70 : 20);
    of.input_zero = random.between(0, 2) == 0 ? 0 : random.between(-128, 127);
    of.output_zero = random.between(-128, 127);
    of.bias = random.between(0, 1) == 1, of.one_multiplier = random.between(0, 1) == 1;
    return of;
  }

  const ProjectionShape of_;
  std::vector<char> memory_;
  const Flush flush_;
  core::IntegerLinear linear_{};
};

template <class Output>
void check_all(const RandomProjection& projection) {
  const std::string before = attend::active_backend();
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::use_backend(attend::backend_name(i))) continue;
    projection.check<Output>(attend::backend_name(i), run_chosen<Output>);
    for_each_replaced_layers(
        [&](const char* name, auto backend) { projection.check<Output>(name, run_with<decltype(backend), Output>); });
  }
  attend::use_backend(before.c_str());
}

}  // namespace

TEST_CASE("integer projections: every backend gives the bits of the definition, in memory of exactly their size") {
  Random random(31);
  for (int round = 0; round < rounds(600); ++round) {
    const RandomProjection projection(random);
    check_all<std::int8_t>(projection);
    check_all<std::int16_t>(projection);
    check_all<std::int32_t>(projection);
  }
}

TEST_CASE("integer projections: blocks of inputs and of tokens, whole ones and their rests") {
  Random random(32);
  for (const ProjectionShape& of : {ProjectionShape{1100, 37, 50, -3, 4, true, false},
                                    {1024, 32, 65, 0, 0, true, true},
                                    {515, 70, 33, 7, -1, false, false},
                                    {2111, 33, 100, 127, 0, true, false}}) {
    const RandomProjection projection(of, random);
    check_all<std::int8_t>(projection);
    check_all<std::int16_t>(projection);
    check_all<std::int32_t>(projection);
  }
}

#endif
