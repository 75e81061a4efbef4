// Other ways to compute attention, timed beside ours in the same process.
//
// Nothing of the library is included here: peers are compiled with flags of their own, such as -ffast-math, and an inline
// function that exists in two versions could put theirs into ours.
#pragma once

#include <cstddef>

namespace bench {

// Query and output are [token][head][head_dim] without gaps; keys and values have the same two strides, in floats. When causal,
// query i sees keys 0 … keys - queries + i.
struct PeerProblem {
  const float* query;
  const float* key;
  const float* value;
  float* output;
  std::ptrdiff_t kv_token_stride, kv_head_stride;
  int query_heads, kv_heads;
  int head_dim;
  int queries, keys;
  float scale;
  bool causal;
};

struct Peer {
  const char* name;
  void (*run)(const PeerProblem& problem);
  int longest;  // queries beyond which it is too slow to be worth the time
};

// Those that were found when this was built.
int peer_count();
const Peer& peer(int index);

extern const Peer peer_naive;
extern const Peer peer_eigen;
extern const Peer peer_openblas;

}  // namespace bench
