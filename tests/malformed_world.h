// What malformed calls are made of: memory that sees whether it is touched, and problems without a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "attend/attend_c.h"
#include "random.h"

namespace attend_test {

// Memory of its own for everything that a call can touch, so that an address sanitizer sees each step beyond it.
class Block {
 public:
  explicit Block(std::size_t bytes, int pattern = 0x35)
      : size(bytes), memory_(new unsigned char[bytes + 2 * ATTEND_ALIGNMENT]) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory_.get()) % ATTEND_ALIGNMENT;
    data = memory_.get() + (ATTEND_ALIGNMENT - past);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<unsigned char>(pattern + int(i % 7));  // ordinary floats
    before_.assign(data, data + size);
  }
  float* floats() { return static_cast<float*>(static_cast<void*>(data)); }
  bool changed() const { return std::memcmp(data, before_.data(), size) != 0; }
  void remember() { before_.assign(data, data + size); }
  void restore() { std::memcpy(data, before_.data(), size); }

  const std::size_t size;
  unsigned char* data;

 private:
  std::unique_ptr<unsigned char[]> memory_;
  std::vector<unsigned char> before_;
};

// A call of attend_run_part that would be fine: what it needs, and pointers to it.
struct Call {
  attend_problem* problem;
  std::ptrdiff_t part, parts;
  void* workspace;
  std::size_t workspace_size;
};

class World {
 public:
  static constexpr int most_heads = 4, most_width = 9, most_tokens = 12, most_batch = 3, capacity = 20;

  World() {
    attend_cache_shape shape = shape_of(2, 5, 3, capacity);
    if (attend_cache_init(&shape, cache.data, attend_cache_size(&shape), nullptr) != ATTEND_OK) std::abort();
    const attend_input keys = {query.floats(), 0, 10, 5}, values = {query.floats(), 0, 6, 3};
    if (attend_cache_append(cache_head(), held, &keys, &values) != ATTEND_OK) std::abort();
    cache.remember();
  }

  static constexpr int held = 13;  // tokens in the cache
  static attend_cache_shape shape_of(int kv_heads, int head_dim, int value_dim, int max_tokens) {
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = value_dim, shape.max_tokens = max_tokens;
    return shape;
  }

  attend_cache* cache_head() { return static_cast<attend_cache*>(static_cast<void*>(cache.data)); }
  attend_problem* problem() { return static_cast<attend_problem*>(static_cast<void*>(problem_.data)); }
  std::ptrdiff_t* lengths() { return static_cast<std::ptrdiff_t*>(static_cast<void*>(lengths_.data)); }
  unsigned char* lengths_bytes() { return lengths_.data; }

  // A problem without a fault, of random extents, over arrays or over the cache.
  Call good(Random& random, bool over_cache) {
    attend_problem& p = *problem();
    std::memset(problem_.data, 0, 2 * sizeof(attend_problem) + 64);
    attend_problem_init(&p, sizeof p);
    p.batch = over_cache ? 1 : random.between(1, most_batch);
    p.kv_heads = over_cache ? 2 : random.between(1, 2);
    p.query_heads = p.kv_heads * random.between(1, 2);
    p.head_dim = over_cache ? 5 : random.between(1, most_width);
    p.value_dim = over_cache ? 3 : random.between(1, most_width);
    p.queries = random.between(1, most_tokens);
    if (!over_cache) p.keys = random.between(0, 5) == 0 ? 0 : random.between(1, most_tokens);
    if (over_cache && random.between(0, 1) == 0) p.keys = random.between(0, held);
    if (random.between(0, 1) == 0) p.options |= ATTEND_CAUSAL;
    if (random.between(0, 1) == 0) p.offset = random.between(-20, 20);
    if (random.between(0, 1) == 0) p.scale = random.uniform();
    p.query.data = query.floats();
    p.output.data = output.floats();
    attend_problem_set_layout(&p, random.between(0, 1));
    if (over_cache) {
      p.cache = cache_head();
    } else {
      p.key.data = key.floats();
      p.value.data = value.floats();
    }
    if (random.between(0, 2) == 0) {
      const std::ptrdiff_t keys = p.keys == ATTEND_ALL_KEYS ? held : p.keys;
      for (int row = 0; row < p.batch; ++row) lengths()[row] = random.between(0, int(keys));
      p.key_lengths = lengths();
    }
    const std::ptrdiff_t parts = random.between(0, 2) == 0 ? random.between(1, 9) : 1;
    return {&p, random.between(0, int(parts) - 1), parts, workspace.data, workspace.size};
  }

  bool changed() const {
    return query.changed() || key.changed() || value.changed() || output.changed() || cache.changed() || workspace.changed();
  }

  Block query{4 * 13 * most_heads * most_width * most_batch}, key{4 * 13 * most_heads * most_width * most_batch};
  Block value{4 * 13 * most_heads * most_width * most_batch}, output{4 * 13 * most_heads * most_width * most_batch, 0x40};
  Block cache{8192}, workspace{1 << 15};
  std::vector<float> large = std::vector<float>(std::size_t(1) << 19);  // for one output

 private:
  Block problem_{8192}, lengths_{8192};  // so large that an output that begins there ends there
};

}  // namespace attend_test
