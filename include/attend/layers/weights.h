// The weights of linear projections (linear.h): in rows as layers are stored, or packed.
#pragma once

#include "core_linear.h"
#include "../detail/cache_rows.h"

namespace attend {

namespace detail {

template <int outputs, int inputs, class Format>
constexpr bool are_weights() {
  static_assert(outputs >= 1 && inputs >= 1, "attend: weights have at least 1 output and 1 input");
  static_assert(FormatOf<Format>::value && !saturates<Format>,
                "attend: weights are of float, attend::float16, attend::bfloat16, attend::int8 or attend::int4");
  static_assert(!Same<Format, int4>::value || inputs % core::int4_group == 0,
                "attend: weights of attend::int4 have a multiple of 32 inputs, which share a scale");
  return true;
}

constexpr size_t panels_of(int outputs) { return size_t(core::panel_count(outputs)); }
// Numbers of an output, or groups of them.
template <class Format>
constexpr size_t numbers_of(int inputs) {
  return in_groups<Format> ? size_t((inputs + core::int4_group - 1) / core::int4_group) : size_t(inputs);
}

}  // namespace detail

// weights[output][input], as layers are usually stored. float16 and bfloat16 are kept as their bits; int8 has a scale for each
// output: a weight is data[output][input] * scales[output]. int4 has a scale for each 32 inputs of an output, and lies as GGUF
// files have it, where it is called Q4_0: data[output][input / 32] of core::Int4Group.
template <int outputs, int inputs, class Format = float>
struct Weights {
  static_assert(detail::are_weights<outputs, inputs, Format>(), "");
  typename detail::FormatOf<Format>::Number data[size_t(outputs)][detail::numbers_of<Format>(inputs)];

  constexpr auto& operator[](int output) { return data[output]; }
  constexpr const auto& operator[](int output) const { return data[output]; }
};
template <int outputs, int inputs>
struct Weights<outputs, inputs, int8> {
  static_assert(detail::are_weights<outputs, inputs, int8>(), "");
  int8_t data[size_t(outputs)][size_t(inputs)];
  float scales[size_t(outputs)];

  constexpr auto& operator[](int output) { return data[output]; }
  constexpr const auto& operator[](int output) const { return data[output]; }
};

// The same as the fastest loops read them, made by pack(): panels of 16 outputs, input by input,
// data[output / 16][input][output % 16]. Behind the last output there are zeros.
template <int outputs, int inputs, class Format = float>
struct alignas(config::alignment) PackedWeights {
  static_assert(detail::are_weights<outputs, inputs, Format>(), "");
  typename detail::FormatOf<Format>::Number data[detail::panels_of(outputs)][size_t(inputs)][panel_keys];
};
template <int outputs, int inputs>
struct alignas(config::alignment) PackedWeights<outputs, inputs, int8> {
  static_assert(detail::are_weights<outputs, inputs, int8>(), "");
  int8_t data[detail::panels_of(outputs)][size_t(inputs)][panel_keys];
  float scales[size_t(outputs)];  // as in the weights
};
template <int outputs, int inputs>
struct alignas(config::alignment) PackedWeights<outputs, inputs, int4> {
  static_assert(detail::are_weights<outputs, inputs, int4>(), "");
  core::Int4Panel data[detail::panels_of(outputs)][detail::numbers_of<int4>(inputs)];
};

// Packs weights, as a constant of the program or at run time:
//
//   constexpr attend::PackedWeights<64, 48> packed = attend::pack(weights);   // the compiler packs
//   static attend::PackedWeights<64, 48> memory;
//   attend::pack(weights, memory);                                            // the program does
//
// Compilers limit how much they compute: some 100,000 weights need GCC's -fconstexpr-ops-limit or Clang's
// -fconstexpr-steps, so large layers are packed by a program that writes the array.
template <int outputs, int inputs, class Format>
constexpr void pack(const Weights<outputs, inputs, Format>& weights, PackedWeights<outputs, inputs, Format>& packed) {
  for (int output = 0; output < int(detail::panels_of(outputs)) * panel_keys; ++output) {
    for (int input = 0; input < inputs; ++input) {
      auto& number = packed.data[output / panel_keys][input][output % panel_keys];
      if (output < outputs) {
        number = weights.data[output][input];
      } else {
        number = 0;
      }
    }
  }
  if constexpr (detail::Same<Format, int8>::value) {
    for (int output = 0; output < outputs; ++output) packed.scales[output] = weights.scales[output];
  }
}
template <int outputs, int inputs>
constexpr void pack(const Weights<outputs, inputs, int4>& weights, PackedWeights<outputs, inputs, int4>& packed) {
  for (int first = 0; first < outputs; first += panel_keys) {
    const int count = outputs - first < panel_keys ? outputs - first : panel_keys;
    for (int group = 0; group < int(detail::numbers_of<int4>(inputs)); ++group) {
      core::pack_int4_group(weights.data, first, count, group, packed.data[first / panel_keys][group]);
    }
  }
}
template <int outputs, int inputs, class Format>
constexpr PackedWeights<outputs, inputs, Format> pack(const Weights<outputs, inputs, Format>& weights) {
  PackedWeights<outputs, inputs, Format> packed{};
  pack(weights, packed);
  return packed;
}

// Converts weights of float to a smaller format, at run time: float16 and bfloat16 to the nearest finite number, ties to even;
// int8 to one of 127 steps to each side of 0, where scales[output] is 1 / 127 of the output's largest magnitude (0 where that
// is not much above 1e-43), or NaN where a weight is not finite. The same bits on every target. int4 is rounded as GGUF's
// reference does: core::convert_weights. Where a finite weight is too large for float16 or int4, the status is out_of_range,
// and nothing is written.
//
//   static attend::Weights<64, 48, attend::int8> bytes;
//   const attend::Status status = attend::convert(weights, bytes);
template <int outputs, int inputs, class From, int new_outputs, int new_inputs, class Format>
Status convert(const Weights<outputs, inputs, From>& weights, Weights<new_outputs, new_inputs, Format>& converted) {
  static_assert(detail::Same<From, float>::value, "attend: convert takes weights of float");
  static_assert(!detail::Same<Format, float>::value, "attend: convert makes weights of float16, bfloat16, int8 or int4");
  static_assert(outputs == new_outputs && inputs == new_inputs,
                "attend: convert makes weights with as many outputs and inputs");
  bool fits = true;
  if constexpr (detail::Same<From, float>::value && detail::Same<Format, int8>::value) {
    fits = core::convert_weights<core::Format::int8>(weights.data[0], outputs, inputs, converted.data, converted.scales);
  } else if constexpr (detail::Same<From, float>::value && !detail::Same<Format, float>::value) {
    fits = core::convert_weights<detail::FormatOf<Format>::format>(weights.data[0], outputs, inputs, converted.data, nullptr);
  }
  return fits ? Status::ok : Status::out_of_range;
}

}  // namespace attend
