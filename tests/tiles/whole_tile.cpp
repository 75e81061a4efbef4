// Twenty-four queries over 256 keys of 64 dimensions, all visible: tiles of six rows over blocks of 64 keys, one after another.
// whole_tile.py follows one of them, instruction by instruction.
#include <attend/attend.h>

namespace {

struct Shape {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 64, max_tokens = 256;
};
constexpr int queries = 24;

attend::KvCache<Shape> cache;
attend::Key<Shape, Shape::max_tokens> key;
attend::Value<Shape, Shape::max_tokens> value;
attend::Query<Shape, queries> query;
attend::Output<Shape, queries> output;
attend::Workspace<Shape, queries> work;

// Numbers from -1 to 1: scores stay so near each other that no row's maximum is raised after its first keys.
void fill(float* to, unsigned long count) {
  static unsigned seed = 1;
  for (unsigned long i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = float(int(seed >> 8)) * 0x1p-23f - 1.0f;
  }
}

}  // namespace

int main() {
  fill(&query[0][0][0], sizeof query / sizeof(float));
  fill(&key[0][0][0], sizeof key / sizeof(float));
  fill(&value[0][0][0], sizeof value / sizeof(float));
  if (cache.append(key, value) != attend::Status::ok) return 1;
  attend::Options options;
  options.causal = false;
  return attend::prefill(query, cache, output, work, options) == attend::Status::ok ? 0 : 1;
}
