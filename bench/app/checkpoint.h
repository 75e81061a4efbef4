// A Llama-architecture checkpoint in the "version 0" format of llama2.c: seven int32, then float32 arrays, little endian.
#pragma once

#include <memory>
#include <string>

#include "input_file.h"

namespace app {

// Every extent is 1 … 2^24; heads divides dim, kv_heads divides heads, head_dim() is even, vocab_size is at least 3.
struct Config {
  int dim;
  int hidden_dim;
  int layers;
  int heads;
  int kv_heads;
  int vocab_size;
  int seq_len;             // tokens of context
  bool shared_classifier;  // the classifier is the token embedding

  int head_dim() const { return dim / heads; }
  int kv_dim() const { return kv_heads * head_dim(); }
};

// Matrices are stored as [outputs][inputs], each array for all layers in turn.
struct Weights {
  const float* token_embedding;  // [vocab_size][dim]
  const float* attention_norm;   // [layers][dim]
  const float* query;            // [layers][dim][dim]
  const float* key;              // [layers][kv_dim][dim]
  const float* value;            // [layers][kv_dim][dim]
  const float* output;           // [layers][dim][dim]
  const float* feed_norm;        // [layers][dim]
  const float* gate;             // [layers][hidden_dim][dim], w1: goes through silu
  const float* down;             // [layers][dim][hidden_dim], w2
  const float* up;               // [layers][hidden_dim][dim], w3
  const float* final_norm;       // [dim]
  const float* classifier;       // [vocab_size][dim]
};

// Fails where heads do not divide what they should, or rotation would not find pairs.
void check_heads(const Config& config, const InputFile& file);

struct Checkpoint {
  Config config;
  Weights weights;                   // into storage
  std::unique_ptr<float[]> storage;  // the file after its header
};

// Throws Failure, with the file's name, when the file is not exactly what its own header asks for. Nothing larger than the
// header is allocated before that is known.
Checkpoint load_checkpoint(const std::string& path);

}  // namespace app
