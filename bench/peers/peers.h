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

// output[t][o] = sum over i of weights[o][i] * input[t][i], all without gaps.
struct PeerLinear {
  const float* input;
  const float* weights;
  float* output;
  int tokens, inputs, outputs;
};

struct Peer {
  const char* name;
  void (*run)(const PeerProblem& problem);
  int longest;                                // queries beyond which it is too slow to be worth the time
  void (*project)(const PeerLinear& linear);  // null: it is not timed
};

// Those that were found when this was built.
int peer_count();
const Peer& peer(int index);

extern const Peer peer_naive;
extern const Peer peer_eigen;
extern const Peer peer_openblas;

}  // namespace bench
