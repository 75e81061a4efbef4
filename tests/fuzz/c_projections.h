// Bytes become a projection in integers and changes of it. What attend_integer_project takes and refuses is found by other
// means than the library's, and its results are those of the definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../conformance/integer_projection.h"
#include "attend/c/layers.h"
#include "c_reach.h"

namespace fuzz {

using attend_test::Random;

struct Projection {
  attend_integer_linear linear;
  const std::int8_t* x;
  std::ptrdiff_t tokens;
  void* y;
};

// In the arena: x, weights in rows and packed, y, and as many multipliers and biases as outputs can be.
constexpr std::size_t x_at = 0, rows_at = 2048, y_at = 8192, multipliers_at = 12288, bias_at = 14336, packed_at = 16384;
constexpr int most_outputs = 40, most_inputs = 100;

// One without a fault.
inline Projection new_projection(Random& random) {
  Random numbers(random.bits());
  for (std::size_t i = 0; i < y_at; ++i) arena[i] = static_cast<unsigned char>(numbers.bits() >> 24);
  auto* const multipliers = reinterpret_cast<attend_integer_multiplier*>(arena + multipliers_at);
  auto* const bias = reinterpret_cast<std::int32_t*>(arena + bias_at);
  for (int o = 0; o < most_outputs; ++o) {
    multipliers[o] = {std::int32_t(1u << 30 | numbers.bits() >> 2), numbers.between(30, 50)};
    bias[o] = numbers.between(-(1 << 23), (1 << 23) - 1);
  }
  attend_integer_linear linear = {};
  linear.weights.data = arena + rows_at;
  linear.weights.outputs = random.between(1, most_outputs), linear.weights.inputs = random.between(1, most_inputs);
  linear.weights.format = ATTEND_INT8, linear.weights.layout = ATTEND_INTEGER_ROWS;
  const int choices = random.between(0, 15);
  if ((choices & 1) != 0) {
    const std::size_t size = attend_packed_size(&linear.weights);
    REQUIRE(attend_pack_weights(&linear.weights, arena + packed_at, size, &linear.weights) == ATTEND_OK);
  }
  linear.multipliers = multipliers, linear.multiplier_count = (choices & 2) != 0 ? 1 : linear.weights.outputs;
  linear.bias = (choices & 4) != 0 ? bias : nullptr;
  linear.output_format = (choices & 8) != 0 ? ATTEND_INT8 : ATTEND_INT16;
  linear.input_zero_point = random.between(-128, 127), linear.output_zero_point = random.between(-128, 127);
  return {linear, reinterpret_cast<std::int8_t*>(arena + x_at), random.between(0, 5), arena + y_at};
}

// The largest bias that so many inputs take.
inline std::int32_t most_bias(const attend_integer_linear& linear) {
  const std::ptrdiff_t inputs = linear.weights.inputs;
  return std::int32_t(INT32_MAX - 32640 * (inputs < 1 || inputs > ATTEND_INTEGER_MAX_INPUTS ? 1 : inputs));
}

inline void change_projection(Projection& p, Random& random) {
  attend_integer_linear& linear = p.linear;
  attend_weights& weights = linear.weights;
  // Null, in the arena, or anywhere.
  const auto address = [&]() -> void* {
    const int kind = random.between(0, 15);
    if (kind == 0) return nullptr;
    if (kind == 1) return reinterpret_cast<void*>(std::uintptr_t(random.bits()) << 32 | random.bits());
    return arena + (kind < 8 ? random.between(0, 1 << 14) : 4 * random.between(0, 1 << 12));
  };
  // At an edge, small, or any.
  const auto number = [&]() -> std::ptrdiff_t {
    constexpr std::ptrdiff_t edges[] = {ATTEND_MAX_TOKENS, ATTEND_INTEGER_MAX_INPUTS, PTRDIFF_MAX, PTRDIFF_MIN, 0};
    const int kind = random.between(0, 9);
    if (kind < 5) return std::ptrdiff_t(std::size_t(edges[kind]) + std::size_t(random.between(-1, 1)));
    return kind < 9 ? random.between(1, 12) : std::ptrdiff_t(std::uint64_t(random.bits()) << 32 | random.bits());
  };
  const auto near = [&](std::int32_t limit) { return limit + random.between(-1, 1); };
  constexpr std::int32_t limits[] = {127, -128, 32767, -32768};
  const int output = random.between(0, 3);
  attend_integer_multiplier& multiplier = reinterpret_cast<attend_integer_multiplier*>(arena + multipliers_at)[output];
  std::int32_t& bias = reinterpret_cast<std::int32_t*>(arena + bias_at)[output];
  const int kind = random.between(0, 18);
  if (kind == 0) weights.outputs = number();
  if (kind == 1) weights.inputs = number();
  if (kind == 2) linear.multiplier_count = number();
  if (kind == 3) p.tokens = number();
  if (kind == 4) weights.format = random.between(-1, 4);
  if (kind == 5) weights.layout = random.between(-1, 4);
  if (kind == 6) linear.input_zero_point = near(random.between(0, 1) == 0 ? 127 : -128);
  if (kind == 7) linear.output_zero_point = near(limits[random.between(0, 3)]);
  if (kind == 8) linear.output_format = random.between(-1, 4);
  if (kind == 9) p.x = static_cast<std::int8_t*>(address());
  if (kind == 10 || kind == 11) p.y = address();
  if (kind == 12) weights.data = address();
  if (kind == 13) linear.bias = static_cast<std::int32_t*>(address());
  if (kind == 14) linear.multipliers = static_cast<attend_integer_multiplier*>(address());
  if (kind == 15) multiplier.factor = near(1 << 30);
  if (kind == 16) multiplier.shift = near(random.between(0, 1) == 0 ? 62 : 1);
  if (kind == 17) bias = near(random.between(0, 1) == 0 ? most_bias(linear) : -most_bias(linear) - 1);
  if (kind == 18) (random.between(0, 1) == 0 ? weights.scales : weights.bias) = static_cast<float*>(address());
  // What is not memory must not be said to be.
  const auto is_array = [](const void* data, std::ptrdiff_t count, int size) {
    return count < 1 || count > std::ptrdiff_t(arena_bytes) || in_arena(data, {1, 1, 1}, {0, 0, 0}, count * size, 8);
  };
  const bool too_many = weights.outputs > std::ptrdiff_t(arena_bytes);
  if (too_many || !is_array(linear.bias, weights.outputs, 4)) linear.bias = nullptr;
  if (too_many || !is_array(linear.multipliers, linear.multiplier_count, 8)) linear.multipliers = nullptr;
}

// Arrays of a projection, as bytes.
struct Span {
  const void* data;
  __int128 bytes;
  int alignment;
};
inline bool is_memory(const Span& of) {
  const auto at = reinterpret_cast<std::uintptr_t>(of.data);
  return of.data != nullptr && at % unsigned(of.alignment) == 0 && at + of.bytes <= __int128(UINTPTR_MAX) &&
         of.bytes < __int128(PTRDIFF_MAX);
}
inline bool overlap(const Span& a, const Span& b) {
  const __int128 a_at = reinterpret_cast<std::uintptr_t>(a.data), b_at = reinterpret_cast<std::uintptr_t>(b.data);
  return a_at < b_at + b.bytes && b_at < a_at + a.bytes;
}

// Whether everything is as the header says; then the call reads `read` and writes `written`.
inline bool is_right(const Projection& p, std::vector<Span>& read, Span& written) {
  const attend_integer_linear& linear = p.linear;
  const attend_weights& weights = linear.weights;
  const auto within = [](std::ptrdiff_t number, std::ptrdiff_t low, std::ptrdiff_t high) {
    return number >= low && number <= high;
  };
  const bool wide = linear.output_format == ATTEND_INT16, panels = weights.layout == ATTEND_INTEGER_PANELS;
  if (!within(weights.outputs, 1, ATTEND_MAX_TOKENS) || !within(weights.inputs, 1, ATTEND_INTEGER_MAX_INPUTS) ||
      !within(p.tokens, 0, ATTEND_MAX_TOKENS) || weights.format != ATTEND_INT8 ||
      !within(weights.layout, ATTEND_INTEGER_ROWS, ATTEND_INTEGER_PANELS) || weights.scales != nullptr ||
      weights.bias != nullptr || !(wide || linear.output_format == ATTEND_INT8) ||
      !within(linear.input_zero_point, -128, 127) ||
      !within(linear.output_zero_point, wide ? -32768 : -128, wide ? 32767 : 127) ||
      (linear.multiplier_count != 1 && linear.multiplier_count != weights.outputs)) {
    return false;
  }
  const __int128 outputs = weights.outputs, inputs = weights.inputs, tokens = p.tokens;
  read = {{&linear, sizeof linear, 1},
          {linear.multipliers, __int128(linear.multiplier_count) * 8, 4},
          {weights.data, panels ? __int128(attend_packed_size(&weights)) : outputs * inputs, 1}};
  if (linear.bias != nullptr) read.push_back({linear.bias, outputs * 4, 4});
  if (tokens > 0) read.push_back({p.x, tokens * inputs, 1});
  written = {p.y, tokens * outputs * (wide ? 2 : 1), wide ? 2 : 1};
  for (const Span& of : read) {
    if (!is_memory(of) || (tokens > 0 && overlap(of, written))) return false;
  }
  if (tokens > 0 && !is_memory(written)) return false;
  for (std::ptrdiff_t i = 0; i < linear.multiplier_count; ++i) {
    if (linear.multipliers[i].factor < 1 << 30 || !within(linear.multipliers[i].shift, 1, 62)) return false;
  }
  for (std::ptrdiff_t o = 0; linear.bias != nullptr && o < weights.outputs; ++o) {
    if (!within(linear.bias[o], -most_bias(linear) - 1, most_bias(linear))) return false;
  }
  return true;
}

// rows: the weights, of which some are packed.
template <class Output>
void check_projection(const Projection& p, const std::int8_t* rows) {
  const attend_integer_linear& linear = p.linear;
  const int inputs = int(linear.weights.inputs), outputs = int(linear.weights.outputs), tokens = int(p.tokens);
  const attend::core::IntegerLinear of = {p.x,
                                          p.y,
                                          rows,
                                          linear.bias,
                                          reinterpret_cast<const attend::core::IntegerMultiplier*>(linear.multipliers),
                                          linear.multiplier_count == 1 ? 0 : 1,
                                          inputs,
                                          outputs,
                                          inputs,
                                          inputs,
                                          outputs,
                                          tokens,
                                          linear.input_zero_point,
                                          linear.output_zero_point};
  std::vector<Output> expected;
  for (int i = 0; i < tokens * outputs; ++i)
    expected.push_back(Output(attend_test::projected<Output>(of, i / outputs, i % outputs)));
  REQUIRE(attend_integer_project(&linear, p.x, p.tokens, p.y) == ATTEND_OK);
  const std::size_t bytes = expected.size() * sizeof(Output);
  REQUIRE(bytes == 0 || std::memcmp(p.y, expected.data(), bytes) == 0);
  if (bytes > 0) std::memcpy(p.y, untouched + (static_cast<unsigned char*>(p.y) - arena), bytes);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);  // nothing else was written
}

struct ProjectionCounts {
  long refused = 0, run = 0;
};

inline void fuzz_projection(Random& random, ProjectionCounts& counts) {
  Projection p = new_projection(random);
  const attend_weights given = p.linear.weights;
  for (int changes = random.between(0, 2); changes > 0; --changes) change_projection(p, random);
  std::memcpy(untouched, arena, arena_bytes);
  std::vector<Span> read;
  Span written;
  if (!is_right(p, read, written)) {
    const attend_status status = attend_integer_project(&p.linear, p.x, p.tokens, p.y);
    REQUIRE(error_of(status) > 0 && argument_of(status) > 0);
    REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
    ++counts.refused;
    return;
  }
  // It is run where its memory exists, and panels are those that were packed: others have wrong sums.
  const attend_weights& weights = p.linear.weights;
  const bool panels = weights.layout == ATTEND_INTEGER_PANELS, same = std::memcmp(&weights, &given, sizeof given) == 0;
  read.push_back(written);
  for (std::size_t i = 1; i < read.size() && p.tokens > 0; ++i) {
    if (!in_arena(read[i].data, {1, 1, 1}, {0, 0, 0}, std::ptrdiff_t(read[i].bytes), 8)) return;
  }
  if (panels && !same) return;
  const auto* const rows = static_cast<const std::int8_t*>(panels ? arena + rows_at : weights.data);
  p.linear.output_format == ATTEND_INT16 ? check_projection<std::int16_t>(p, rows) : check_projection<std::int8_t>(p, rows);
  ++counts.run;
}

}  // namespace fuzz
