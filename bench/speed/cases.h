// Problems to time: a shape, the memory for it, and the check that whoever is timed computes attention.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "attend/attend.h"
#include "attend/core/options.h"
#include "peers/peers.h"
#include "typed_cache.h"

namespace bench {

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<float[], Free>;

struct Shape {
  int queries, keys, head_dim, query_heads, kv_heads;
  bool causal;

  std::string name() const;
};

// How keys and values lie in memory; the numbers are the same.
enum class Layout {
  tokens,  // [token][head][head_dim], as a layer before attention writes them
  heads,   // [head][token][head_dim]: what a cache looks like that others read, each head in one piece
  cache,   // ours
};

// Memory for one problem. Throws std::bad_alloc, also where the system would promise memory that it does not have.
struct Case {
  // A cache of ours has the numbers in this format. Peers get floats, from which they make their own.
  Case(const Shape& shape, Layout layout, Format format = Format::float32);

  // Ours, for one of `parts` threads: the same problem with that thread's own scratch.
  attend::core::Problem ours(int part = 0) const;
  // The problem as peers see it; not for our cache.
  PeerProblem theirs() const;
  // A call of a peer, or null: of ours. Everything that a call needs and that is not timed has been made.
  std::function<void()> call(const Peer* peer) const;
  // How many times a call computes the problem.
  int copies(const Peer* peer) const { return peer && peer->copies ? peer->copies(theirs()) : 1; }

  // Computes the problem, and throws std::runtime_error if the output is too far from the float64 oracle's, which has floats:
  // further than 1e-5, or with other formats than a part of the output's root mean square that their rounding explains. Large
  // problems are checked at some tokens only, the first and the last among them.
  void check(const std::string& name, const Peer* peer) const;

  // What decode reads: keys, values and their scales in our cache, of as many floats; a peer's lie elsewhere and may be more.
  const float* cache() const { return format_cache_ ? format_cache_->floats() : memory.get(); }
  std::size_t cache_floats() const { return cache_floats_; }

  static constexpr int most_parts = 2;
  std::size_t key_floats, value_floats;
  Buffer query, output, memory;  // memory holds keys, then values, one after the other, as floats
  Buffer scratch[most_parts];

 private:
  attend::core::Problem over_arrays(const float* keys_then_values) const;
  attend::core::Tensor<const float> by_heads(float* to, attend::core::Tensor<const float> rows) const;

  void choose_blocks();
  void lay_out(const float* rows);

  Shape shape_;
  Layout layout_;
  Format format_;
  std::size_t cache_floats_;
  std::unique_ptr<FormatMemory> format_cache_;  // ours, where it has no floats
  attend::core::Options options_;
  attend::core::Problem problem_{};
};

// Operations that count: two multiply-adds for each visible (query, key) pair and dimension.
double operations(const Shape& shape);

}  // namespace bench
