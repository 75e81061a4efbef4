// Other ways to compute attention, timed beside ours in the same process.
//
// Nothing of the library is included here: peers are compiled with flags of their own, such as -ffast-math, and an inline
// function that exists in two versions could put theirs into ours.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace bench {

// How a cache keeps its numbers. With 8 bits there are scales beside them, as each library has them.
enum class Format { float32, float16, int8 };

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
  Format format;  // of the cache that a peer makes of keys and values before it is timed
};

// output[t][o] = sum over i of weights[o][i] * input[t][i], all without gaps.
struct PeerLinear {
  const float* input;
  const float* weights;
  float* output;
  int tokens, inputs, outputs;
};

struct Peer {
  const char* name;  // where it has several ways, "name:way"; the fastest counts
  void (*run)(const PeerProblem& problem);
  int longest;                                // queries beyond which it is too slow to be worth the time
  void (*project)(const PeerLinear& linear);  // null: it is not timed
  int formats = 1;                            // it has so many of Format, the first ones
  // What is done once for a problem, before it is run; run() may be called as long as the result lives. Null: nothing.
  std::shared_ptr<void> (*prepare)(const PeerProblem& problem) = nullptr;
  int (*copies)(const PeerProblem& problem) = nullptr;  // how many times run() computes the problem. Null: once
};

// Those that were found, when this was built or now.
int peer_count();
const Peer& peer(int index);

extern const Peer peer_naive;
extern const Peer peer_eigen;
extern const Peer peer_openblas;
std::vector<const Peer*> ggml_peers();  // none where GGML_LIBRARIES, of the environment, names no folder of such libraries

}  // namespace bench
