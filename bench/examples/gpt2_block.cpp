// A GPT-2 block. A prompt goes through it in one call, or token by token: the bits are the same.
#include <attend/layers.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

using attend::Status;

struct Gpt2 {  // the smallest published one: 12 heads of 64, 1024 tokens
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 8, max_tokens = 16;
};
constexpr int width = Gpt2::query_heads * Gpt2::head_dim, hidden = 4 * width, prompt = 12;

// Uniform numbers in the place of a checkpoint, the same on every machine.
template <int outputs, int inputs>
void fill(float (&rows)[outputs][inputs], std::uint32_t seed, float scale) {
  for (auto& row : rows) {
    for (float& number : row) {
      seed = seed * 1664525u + 1013904223u;
      number = float(int(seed >> 16) - 32768) / 32768.0f * scale;
    }
  }
}

// [weights]
struct Block {
  float norm_gain[2][width], norm_bias[2][width];
  attend::Weights<width, width> wq, wk, wv, wo;  // [output][input]
  float bq[width], bk[width], bv[width], bo[width];
  attend::Weights<hidden, width> up;
  attend::Weights<width, hidden> down;
  float up_bias[hidden], down_bias[width];
};

// GPT-2's c_attn is one array for queries, keys and values, and its rows are inputs: it is cut in three and turned around.
void set_attention(Block& block, const float (&c_attn)[width][3 * width], const float (&bias)[3 * width]) {
  for (int output = 0; output < width; ++output) {
    for (int input = 0; input < width; ++input) {
      block.wq[output][input] = c_attn[input][output];
      block.wk[output][input] = c_attn[input][width + output];
      block.wv[output][input] = c_attn[input][2 * width + output];
    }
    block.bq[output] = bias[output];
    block.bk[output] = bias[width + output];
    block.bv[output] = bias[2 * width + output];
  }
}
// [/weights]

// [block]
// Work memory for up to `prompt` tokens, which serves single ones too. One for each call that is under way.
struct Work {
  attend::LayerWorkspace<Gpt2, prompt> attention;
  attend::Workspace<attend::Projections> mlp;
};

// x += attention(norm(x)), then x += down(gelu(up(norm(x)))). The tokens of x are those after what the cache holds.
template <int tokens>
Status run(const Block& block, attend::Vectors<tokens, width>& x, attend::KvCache<Gpt2>& cache, Work& work) {
  using attend::biased;
  const auto layer = attend::multi_head<Gpt2>(biased(block.wq, block.bq), biased(block.wk, block.bk),
                                              biased(block.wv, block.bv), biased(block.wo, block.bo));
  attend::Vectors<tokens, width> normal, y;
  attend::Vectors<tokens, hidden> opened;

  Status status = attend::layer_norm(x, block.norm_gain[0], block.norm_bias[0], normal);
  if (status == Status::ok) status = attend::self_attention(normal, layer, cache, y, work.attention);  // the cache may be full
  if (status != Status::ok) return status;
  attend::add(y, x);

  status = attend::layer_norm(x, block.norm_gain[1], block.norm_bias[1], normal);
  if (status == Status::ok) status = attend::project(normal, block.up, block.up_bias, opened, work.mlp);
  if (status != Status::ok) return status;
  attend::activate<attend::Activation::gelu_tanh>(opened);
  status = attend::project(opened, block.down, block.down_bias, y, work.mlp);
  if (status != Status::ok) return status;
  attend::add(y, x);
  return Status::ok;
}
// [/block]

Block block;
attend::KvCache<Gpt2> cache;
Work work;

void make_weights() {
  static float c_attn[width][3 * width], biases[1][3 * width];
  fill(c_attn, 1, 0.4f), fill(biases, 2, 0.1f);
  set_attention(block, c_attn, biases[0]);
  fill(block.wo.data, 3, 0.2f), fill(block.up.data, 4, 0.2f), fill(block.down.data, 5, 0.1f);
  fill(block.norm_bias, 6, 0.1f);
  for (auto& gains : block.norm_gain) {
    for (float& gain : gains) gain = 1;
  }
}

int refused(Status status) {
  std::fprintf(stderr, "gpt2_block: %s\n", attend::status_text(status));
  return 1;
}

}  // namespace

int main() {
  make_weights();
  static attend::Vectors<prompt, width> at_once, by_token;
  fill(at_once.data, 7, 1.0f);
  by_token = at_once;

  // [calls]
  if (const Status status = run(block, at_once, cache, work); status != Status::ok) return refused(status);

  cache.clear();
  for (auto& token : by_token.data) {
    attend::Vectors<1, width> x;
    std::memcpy(x.data, token, sizeof x);
    if (const Status status = run(block, x, cache, work); status != Status::ok) return refused(status);
    std::memcpy(token, x.data, sizeof x);
  }
  // [/calls]

  const float(&last)[width] = at_once[prompt - 1];
  std::printf("the last of %d tokens: %.6f %.6f %.6f\n", prompt, double(last[0]), double(last[1]), double(last[2]));
  const bool same = std::memcmp(&at_once, &by_token, sizeof at_once) == 0;
  std::printf("token by token: %s\n", same ? "the same bits" : "OTHER BITS");
  return same ? 0 : 1;
}
