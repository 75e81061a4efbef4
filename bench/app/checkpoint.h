// A Llama-architecture checkpoint in the "version 0" format of llama2.c: seven int32, then float32 arrays, little endian.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "input_file.h"
#include "matrix.h"

namespace app {

// Far beyond any model; keeps sums of two extents within an int.
constexpr std::int64_t largest_extent = std::int64_t(1) << 24;

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
  float norm_epsilon = 1e-5f;
  float rotation_base = 10000.0f;  // 2 to 1e12
  float rotation_factor = 1.0f;    // positions are divided by it: 1 to 65536

  int head_dim() const { return dim / heads; }
  int kv_dim() const { return kv_heads * head_dim(); }
};

struct Layer {
  const float* attention_norm;  // [dim]
  Matrix query;                 // [dim][dim]
  Matrix key, value;            // [kv_dim][dim]
  Matrix output;                // [dim][dim]
  const float* feed_norm;       // [dim]
  Matrix gate;                  // [hidden_dim][dim], w1: goes through silu
  Matrix down;                  // [dim][hidden_dim], w2
  Matrix up;                    // [hidden_dim][dim], w3
};

// All matrices of a layer.
constexpr Matrix Layer::*layer_matrices[] = {&Layer::query, &Layer::key,  &Layer::value, &Layer::output,
                                             &Layer::gate,  &Layer::down, &Layer::up};

struct Weights {
  Matrix token_embedding;  // [vocab_size][dim]
  std::vector<Layer> layers;
  const float* final_norm;                  // [dim]
  Matrix classifier;                        // [vocab_size][dim]
  const float* rotation_factors = nullptr;  // [head_dim / 2], how many times more slowly each pair turns; or none
};

// Fails where heads do not divide what they should, or rotation would not find pairs.
void check_heads(const Config& config, const InputFile& file);

struct Checkpoint {
  Config config;
  Weights weights;  // in storage
  std::vector<std::shared_ptr<const void>> storage;
};

// The same with its matrices packed, as hosts compute fastest.
Checkpoint packed(const Checkpoint& checkpoint);

// Throws Failure, with the file's name, when the file is not exactly what its own header asks for. The weights stay where the
// file lies in memory.
Checkpoint load_checkpoint(const std::string& path);

}  // namespace app
