// What malformed calls are made of: memory that sees whether it is touched, and problems without a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "../support/random.h"
#include "attend/attend_c.h"

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
    std::memset(pages.data, 0, pages.size);  // page 0, and then 1
    pages.data[1 * sizeof(std::int32_t)] = 1;
    pages.remember();
  }

  static constexpr int held = 13;        // tokens in the cache
  static constexpr int head_bytes = 48;  // of which any change is seen
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
    if (random.between(0, 1) == 0) ask_for_more(p, random, over_cache);
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

  // Options, each of which may be there or not.
  void ask_for_more(attend_problem& p, Random& random, bool over_cache) {
    const auto maybe = [&] { return random.between(0, 2) == 0; };
    const std::ptrdiff_t keys = p.keys == ATTEND_ALL_KEYS ? std::ptrdiff_t(held) : p.keys;
    if (maybe()) p.options |= ATTEND_WINDOW_LEFT, p.window_left = random.between(0, 9);
    if (maybe()) p.options |= ATTEND_WINDOW_RIGHT, p.window_right = random.between(0, 9);
    if (maybe()) p.pinned_keys = random.between(0, 3);
    if (maybe()) add_mask(p, random.between(0, 1) == 0 ? ATTEND_MASK_BYTES : ATTEND_MASK_BITS);
    if (maybe()) add_bias(p);
    if (maybe()) p.slopes = options.floats();
    if (maybe()) add_relative(p);
    if (maybe()) p.sinks = options.floats() + 16;
    if (maybe()) p.soft_cap = 3.0f;
    if (maybe()) p.query_format = random.between(0, 2);
    if (maybe()) p.key_format = random.between(0, 3);
    if (maybe()) p.value_format = random.between(0, 3);
    if (maybe()) p.output_format = random.between(0, 2);
    if (!over_cache && maybe()) p.origin = random.between(0, int(keys));
    if (!over_cache && p.origin == 0 && maybe()) add_pages(p);
    add_scales(p);
    if (maybe()) p.lse.data = lse.floats();
    if (maybe()) add_scores(p, random.between(0, 2), keys + random.between(0, 2));
    if (maybe()) {
      p.states = states.floats();
      p.first_key = random.between(0, int(keys));
      if (maybe()) p.options |= ATTEND_STATE_BEGINS, p.first_key = 0;
    } else if (maybe()) {
      p.options |= ATTEND_QUERIES_LAST;
    }
  }

  void add_mask(attend_problem& p, int kind) {
    p.mask = {options.data + 256, 16 * most_tokens * most_heads, 16 * most_tokens, 16, most_tokens, kind};
  }
  void add_bias(attend_problem& p) { p.bias = {options.floats() + 512, 0, 16 * most_tokens, 16, 16, ATTEND_MASK_FLOATS}; }
  void add_relative(attend_problem& p) { p.relative = {options.floats() + 2048, 9, 5, 3}; }
  void add_pages(attend_problem& p) { p.pages = {static_cast<std::int32_t*>(static_cast<void*>(pages.data)), 0, 16, 2}; }
  void add_scales(attend_problem& p) {
    p.key_scales = {options.floats() + 2200, 64, 32};
    p.value_scales = {options.floats() + 2400, 64, 32};
  }
  // Of dense strides.
  void add_scores(attend_problem& p, int stage, std::ptrdiff_t keys) {
    p.scores = {scores.floats(), 0, 0, keys, keys, stage};
    p.scores.head_stride = keys * p.queries;
    p.scores.batch_stride = p.scores.head_stride * p.query_heads;
  }

  bool inputs_changed() const {
    return query.changed() || key.changed() || value.changed() || cache.changed() || options.changed() || pages.changed();
  }
  bool results_changed() const { return output.changed() || lse.changed() || scores.changed() || states.changed(); }
  bool changed() const { return inputs_changed() || results_changed() || workspace.changed(); }
  void restore() {
    for (Block* block : {&output, &lse, &scores, &states, &workspace}) block->restore();
  }

  Block query{4 * 13 * most_heads * most_width * most_batch}, key{4 * 13 * most_heads * most_width * most_batch};
  Block value{4 * 13 * most_heads * most_width * most_batch}, output{4 * 13 * most_heads * most_width * most_batch, 0x40};
  Block cache{8192}, workspace{1 << 17};
  Block options{1 << 15}, pages{256}, lse{1 << 15, 0x40}, scores{1 << 15, 0x40}, states{1 << 15, 0x40};
  std::vector<float> large = std::vector<float>(std::size_t(1) << 19);  // for one output

 private:
  Block problem_{8192}, lengths_{8192};  // so large that an output that begins there ends there
};

}  // namespace attend_test
