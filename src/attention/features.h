// What a call can be asked for beyond core::Problem, as compile-time policies of the pipelines.
//
// A plain call is the call with none of it: the pipelines ask `if constexpr`, so that it has not one instruction more. Both
// sets are objects of their own (backend_<isa>.cpp, backend_<isa>_options.cpp), so that a program holds only what it calls.
#pragma once

namespace attend {
namespace {

struct NoFeatures {
  static constexpr bool any = false;
  static constexpr bool visibility = false;  // windows, pinned keys, boolean masks
  static constexpr bool score_mods = false;  // soft cap, biases, scores as a result
  static constexpr bool sources = false;     // other number formats than float32, scales of keys and values, rings, pages
  static constexpr bool states = false;      // keys in several calls
  static constexpr bool results = false;     // sinks, log-sum-exp, weights, outputs in other formats
};

struct AllFeatures {
  static constexpr bool any = true;
  static constexpr bool visibility = true;
  static constexpr bool score_mods = true;
  static constexpr bool sources = true;
  static constexpr bool states = true;
  static constexpr bool results = true;
};

}  // namespace
}  // namespace attend
