// Problems to time: a shape, the memory for it, and the check that whoever is timed computes attention.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "attend/attend.h"
#include "peers/peers.h"

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
  Case(const Shape& shape, Layout layout);

  // Ours, for one of `parts` threads: the same problem with that thread's own scratch.
  attend::core::Problem ours(int part = 0) const;
  // The problem as peers see it; not for our cache.
  PeerProblem theirs() const;

  // Computes the problem, and throws std::runtime_error if the output is further than `tolerance` from the float64 oracle's.
  // Large problems are checked at some tokens only, the first and the last among them.
  static constexpr double tolerance = 1e-5;
  void check(const std::string& name, const Peer* peer) const;

  static constexpr int most_parts = 2;
  std::size_t key_floats, value_floats;
  Buffer query, output, memory;  // memory holds keys, then values: what decode reads, one after the other
  Buffer scratch[most_parts];

 private:
  attend::core::Problem over_arrays(const float* keys_then_values) const;
  attend::core::Tensor<const float> by_heads(float* to, attend::core::Tensor<const float> rows) const;

  Shape shape_;
  Layout layout_;
  attend::core::Problem problem_{};
};

// Operations that count: two multiply-adds for each visible (query, key) pair and dimension.
double operations(const Shape& shape);

}  // namespace bench
