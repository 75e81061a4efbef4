// Writes a Llama of random weights as a GGUF file: random_llama FILE f32|f16|q8_0|q4_0 [LAYERS]
// 8 layers of 512, 8 heads over 4 heads of keys, context 8192, 1024 pieces without texts.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../support/gguf_writer.h"

namespace {

using namespace attend_test;

constexpr std::uint64_t width = 512, hidden = 1408, heads = 8, kv_heads = 4, pieces = 1024, context = 8192;

struct Random {
  std::uint64_t state = 88172645463325252u;
  float next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return float(std::int64_t(state >> 40) - (1 << 23)) / float(1 << 23);
  }
};

std::string bytes_of(app::NumberKind kind, const std::vector<float>& numbers) {
  if (kind != app::NumberKind::float32) return stored_rows(kind, numbers);
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(&bytes[0], numbers.data(), bytes.size());
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 1;
  const std::string name = arguments[2];
  const app::NumberKind kind = name == "f32"    ? app::NumberKind::float32
                               : name == "f16"  ? app::NumberKind::float16
                               : name == "q8_0" ? app::NumberKind::q8_0
                                                : app::NumberKind::q4_0;
  const int layers = count > 3 ? std::atoi(arguments[3]) : 8;
  Random random;
  GgufWriter file;
  file.text("general.architecture", "llama");
  file.whole("llama.embedding_length", width), file.whole("llama.feed_forward_length", hidden);
  file.whole("llama.block_count", std::uint32_t(layers)), file.whole("llama.context_length", context);
  file.whole("llama.attention.head_count", heads), file.whole("llama.attention.head_count_kv", kv_heads);
  file.whole("llama.rope.dimension_count", width / heads), file.whole("llama.vocab_size", pieces);
  file.real("llama.attention.layer_norm_rms_epsilon", 1e-5f), file.real("llama.rope.freq_base", 10000.0f);
  file.text("tokenizer.ggml.model", "no_vocab");
  const auto matrix = [&](const std::string& tensor, std::uint64_t outputs, std::uint64_t inputs) {
    std::vector<float> numbers(outputs * inputs);
    const float size = std::sqrt(3.0f / float(inputs));
    for (float& number : numbers) number = random.next() * size;
    file.tensor(tensor, {inputs, outputs}, gguf_type(kind), bytes_of(kind, numbers));
  };
  const auto norm = [&](const std::string& tensor) {
    std::vector<float> numbers(width);
    for (float& number : numbers) number = 1 + 0.2f * random.next();
    file.tensor(tensor, {width}, 0, bytes_of(app::NumberKind::float32, numbers));
  };
  matrix("token_embd.weight", pieces, width), matrix("output.weight", pieces, width), norm("output_norm.weight");
  for (int i = 0; i < layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm.weight"), norm(block + "ffn_norm.weight");
    matrix(block + "attn_q.weight", width, width), matrix(block + "attn_output.weight", width, width);
    matrix(block + "attn_k.weight", width / heads * kv_heads, width),
        matrix(block + "attn_v.weight", width / heads * kv_heads, width);
    matrix(block + "ffn_gate.weight", hidden, width), matrix(block + "ffn_up.weight", hidden, width);
    matrix(block + "ffn_down.weight", width, hidden);
  }
  const std::string bytes = file.bytes();
  std::FILE* const to = std::fopen(arguments[1], "wb");
  if (to == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), to) != bytes.size() || std::fclose(to) != 0) return 1;
}
