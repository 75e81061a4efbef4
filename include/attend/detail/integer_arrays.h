// Arrays and caches of integer attention: 8-bit numbers, and the scales that give them their meaning. Caches keep them as they
// are appended, in the order in which kernels read them.
#pragma once

#include "../core/integer.h"
#include "../kv_cache.h"

namespace attend {

// As Query, Key, Value and Output, of 8-bit numbers.
template <class Shape, int tokens = 1>
struct IntegerQuery : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::head_dim, int8_t> {};
template <class Shape, int tokens = 1>
struct IntegerKey : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::head_dim, int8_t> {};
template <class Shape, int tokens = 1>
struct IntegerValue : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::value_dim, int8_t> {};
template <class Shape, int tokens = 1>
struct IntegerOutput : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::value_dim, int8_t> {};

// An output of 16-bit numbers, for what follows to round.
template <class Shape, int tokens = 1>
struct Int16Output : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::value_dim, int16_t> {};

// The scale of a tensor: a number stands for scale * (number - zero_point).
struct TensorScale {
  double scale;
  int zero_point;

  constexpr TensorScale(double of_one_step, int zero = 0) : scale(of_one_step), zero_point(zero) {}
};

// The scales of a call. Made once, best as a constant: the call itself computes with integers only.
//
//   constexpr attend::Quantisation<Wake> quantisation(0.031, 0.027, 0.02, {0.008, -3});
//
// The scales of queries, keys, values and outputs are finite and above 0; `scale`, that of the scores, is 0 or above. log2(e) *
// scale * query scale * key scale must be below 1 (scale * query scale * key scale below ln 2), and value scale / output scale
// within 2^-10 … 2^18; calls refuse others with bad_quantisation. The zero point of the keys makes no difference to a softmax
// and has no place here; that of the queries is an option. `heads` is 1, or query_heads: then set_head sets each head's.
template <class Shape, int heads = 1>
class Quantisation {
  using Dims = detail::Checked<Shape>;
  static_assert(heads == 1 || heads == Dims::query_heads,
                "attend: a Quantisation is of 1 head, for all of them, or of the shape's query heads");

 public:
  constexpr Quantisation(double query_scale, double key_scale, TensorScale of_values, TensorScale of_outputs,
                         double scale = double(default_scale(Dims::head_dim)))
      : scores_{}, outputs_{}, status_(Status::ok) {
    for (int head = 0; head < heads; ++head) set_head(head, query_scale, key_scale, of_values, of_outputs, scale);
  }

  constexpr void set_head(int head, double query_scale, double key_scale, TensorScale of_values, TensorScale of_outputs,
                          double scale = double(default_scale(Dims::head_dim))) {
    const double step = 1.4426950408889634 * scale * query_scale * key_scale, steps = of_values.scale / of_outputs.scale;
    const bool ordinary = query_scale > 0 && key_scale > 0 && of_values.scale > 0 && of_outputs.scale > 0;
    if (!ordinary || !core::is_score_step(step) || !core::is_output_step(steps)) {
      status_ = Status::bad_quantisation;
    } else if (!is_zero_point(of_values.zero_point) || !is_zero_point(of_outputs.zero_point)) {
      status_ = Status::bad_zero_point;
    } else {
      scores_[head] = core::score_scale(step);
      outputs_[head] = core::output_scale(steps, of_values.zero_point, of_outputs.zero_point);
    }
  }

  // ok, bad_quantisation or bad_zero_point: for a static_assert.
  constexpr Status status() const { return status_; }

  constexpr const core::ScoreScale* scores() const { return scores_; }
  constexpr const core::OutputScale* outputs() const { return outputs_; }
  static constexpr int head_stride = heads == 1 ? 0 : 1;

 private:
  static constexpr bool is_zero_point(int zero) { return zero >= -128 && zero <= 127; }

  core::ScoreScale scores_[size_t(heads)];
  core::OutputScale outputs_[size_t(heads)];
  Status status_;
};

// The options of an integer call beyond Options, as ScoreOptions are for calls in floats. Options::scale is refused: it is part
// of the Quantisation.
template <class Shape>
struct IntegerOptions : detail::VisibilityOptions<Shape> {
  Setting<int> query_zero_point{};  // -128 … 127; 0

  constexpr IntegerOptions() = default;
  constexpr IntegerOptions(const Options& options) : detail::VisibilityOptions<Shape>(options) {}
};

namespace detail {

constexpr int chunks_of(int tokens) { return core::whole_chunks(tokens) / integer_chunk; }

// The constants of an integer ring: it is cut into chunks.
template <class Sizes>
struct IntegerRingSizes : RingSizes<Sizes> {
  using Base = RingSizes<Sizes>;
  static_assert(Base::window + Base::sink_tokens <= integer_keys,
                "attend: a query of an IntegerRingCache sees at most 65535 tokens: make its window or its sink_tokens smaller");
  static constexpr int ring_chunks = chunks_of(Base::window + Base::tokens_at_once - 2) + 1;
  static constexpr int sink_chunks = chunks_of(Base::sink_tokens);
  static constexpr int places = (ring_chunks + sink_chunks) * integer_chunk;
};

struct NoIntegerRing : NoRing {
  static constexpr int ring_chunks = 0, sink_chunks = 0;
};

// Tokens of each head: one after another, or in panels.
template <class Shape, int places, class Ring>
class IntegerRows {
  using Dims = Checked<Shape>;
  static_assert(Dims::head_dim <= 4096, "attend: integer attention takes a head_dim of at most 4096");
  static constexpr bool panels = config::integer_panels;
  static constexpr int room = panels ? core::whole_chunks(places) : places;
  static constexpr int key_dim = panels ? core::integer_panel_dim(Dims::head_dim) : Dims::head_dim;

 public:
  using Number = int8_t;
  using RingType = Ring;
  static constexpr bool plain = false, cached = true;

  constexpr IntegerRows() : keys_{}, values_{} {}

  void store(int position, int count, const ArrayRows<Shape, int8_t>& tokens) {
    for (int i = 0; i < count; ++i) {
      const int chunk = (position + i) / integer_chunk, within = (position + i) % integer_chunk;
      if constexpr (Ring::ring_chunks > 0) {
        if (chunk < Ring::sink_chunks) store_token(chunk * integer_chunk + within, i, tokens);
        store_token((Ring::sink_chunks + chunk % Ring::ring_chunks) * integer_chunk + within, i, tokens);
      } else {
        store_token(position + i, i, tokens);
      }
    }
  }

  core::Tensor<const int8_t> keys() const { return {keys_, key_dim, ptrdiff_t(room) * key_dim}; }
  core::Tensor<const int8_t> values() const { return {values_, Dims::value_dim, ptrdiff_t(room) * Dims::value_dim}; }

 private:
  void store_token(int place, int token, const ArrayRows<Shape, int8_t>& tokens) {
    core::Tensor<const int8_t> key = tokens.keys(), value = tokens.values();
    key.data += token * key.token_stride;
    value.data += token * value.token_stride;
    if constexpr (panels) {
      core::store({keys_, values_, Dims::kv_heads, Dims::head_dim, Dims::value_dim, room}, place, 1, key, value);
    } else {
      for (int head = 0; head < Dims::kv_heads; ++head) {
        const ptrdiff_t row = ptrdiff_t(head) * room + place;
        __builtin_memcpy(keys_ + row * key_dim, key.data + head * key.head_stride, size_t(key_dim));
        __builtin_memcpy(values_ + row * Dims::value_dim, value.data + head * value.head_stride, size_t(Dims::value_dim));
      }
    }
  }

  alignas(config::alignment) int8_t keys_[size_t(Dims::kv_heads) * size_t(room) * size_t(key_dim)];
  alignas(config::alignment) int8_t values_[size_t(Dims::kv_heads) * size_t(room) * size_t(Dims::value_dim)];
};

}  // namespace detail

// A KvCache of integer attention: Shape::max_tokens tokens of 8-bit keys and values.
template <class Shape>
class IntegerKvCache
    : public detail::FixedCache<Shape, detail::IntegerRows<Shape, detail::Capacity<Shape>::value, detail::NoIntegerRing>> {
  static_assert(detail::Capacity<Shape>::value <= integer_keys,
                "attend: an IntegerKvCache has at most 65535 tokens; an IntegerRingCache has no end");
};

// A RingCache of integer attention, with the same sizes: window, sink_tokens, tokens_at_once.
template <class Shape, class Sizes>
class IntegerRingCache
    : public detail::CacheTokens<
          Shape, detail::IntegerRows<Shape, detail::IntegerRingSizes<Sizes>::places, detail::IntegerRingSizes<Sizes>>,
          detail::most_tokens, detail::IntegerRingSizes<Sizes>::tokens_at_once> {};

}  // namespace attend
