// The features of a call beyond core::Problem, as compile-time policies of the pipelines.
//
// A plain call has no feature: the pipelines ask `if constexpr`, so that it has no instruction for one. Each
// set has entry points of its own, so that a program holds only what it calls.

struct NoFeatures {
  static constexpr bool any = false;     // windows, sink tokens, other number formats than float32, scales, rings, pages
  static constexpr bool states = false;  // keys in several calls

  // For the embedded form:
  static constexpr bool score_mods = false;  // soft cap, biases, masks, scores as a result
  static constexpr bool arrays = true;       // keys and values lie in arrays too, in any format; else in a cache of `format`
  static constexpr bool one_row = false;     // blocks are of one row
  static constexpr core::Format format = core::Format::float32;  // that chains read in place
};

struct AllFeatures : NoFeatures {
  static constexpr bool any = true;
  static constexpr bool score_mods = true;
  static constexpr bool states = true;
};

// A cache of one format, and a window at most. The embedded form only: hosts run these calls with AllFeatures.
template <core::Format cache_format, bool single_rows>
struct EmbeddedCacheFeatures : NoFeatures {
  static constexpr bool any = true;
  static constexpr bool arrays = false;
  static constexpr bool one_row = single_rows;
  static constexpr core::Format format = cache_format;
};
