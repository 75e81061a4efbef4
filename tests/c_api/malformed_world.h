// What malformed calls are made of: memory that sees whether it is touched, and problems without a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "../support/random.h"
#include "c_run.h"

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
  template <class Type = float>
  Type* as() {
    return static_cast<Type*>(static_cast<void*>(data));
  }
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
  static constexpr int held = 13;        // tokens in the cache
  static constexpr int head_bytes = 48;  // of a cache, of which any change is seen
  static constexpr int columns = 16;     // of masks, biases and scores: more than there are keys

  World() {
    const attend_cache_shape shape = shape_of(2, 5, 3, capacity);
    if (attend_cache_init(&shape, cache.data, attend_cache_size(&shape), nullptr) != ATTEND_OK) std::abort();
    const attend_input keys = {query.as(), 0, 10, 5}, values = {query.as(), 0, 6, 3};
    if (attend_cache_append(cache.as<attend_cache>(), held, &keys, &values) != ATTEND_OK) std::abort();
    cache.remember();
    std::memset(pages.data, 0, pages.size);  // page 0, and then 1
    pages.as<std::int32_t>()[1] = 1;
    pages.remember();
  }

  static attend_cache_shape shape_of(int kv_heads, int head_dim, int value_dim, int max_tokens) {
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = value_dim, shape.max_tokens = max_tokens;
    return shape;
  }

  attend_problem* problem() { return problem_.as<attend_problem>(); }
  std::ptrdiff_t* lengths() { return lengths_.as<std::ptrdiff_t>(); }

  // A problem without a fault, of random extents, over arrays or over the cache.
  Call good(Random& random, bool over_cache) {
    attend_problem& p = *problem();
    std::memset(problem_.data, 0, 2 * sizeof p + 64);
    attend_problem_init(&p, sizeof p);
    p.layout = random.between(0, 1);
    p.batch = over_cache ? 1 : random.between(1, most_batch);
    p.kv_heads = over_cache ? 2 : random.between(1, 2);
    p.query_heads = p.kv_heads * random.between(1, 2);
    p.head_dim = over_cache ? 5 : random.between(1, most_width);
    p.value_dim = over_cache ? 3 : random.between(1, most_width);
    p.queries = random.between(1, most_tokens);
    if (!over_cache) p.keys = random.between(0, 5) == 0 ? 0 : random.between(1, most_tokens);
    if (over_cache && random.between(0, 1) == 0) p.keys = random.between(0, held);
    if (random.between(0, 1) == 0) p.options |= ATTEND_CAUSAL;
    if (random.between(0, 1) == 0) p.scale = random.uniform();
    p.query.data = query.data, p.output.data = output.data;
    if (over_cache) p.cache = cache.as<attend_cache>();
    if (!over_cache) p.key.data = key.data, p.value.data = value.data;
    if (random.between(0, 2) == 0) {
      for (int row = 0; row < most_batch; ++row) lengths()[row] = random.between(0, int(keys(p)));
      p.key_lengths = lengths();
    }
    if (random.between(0, 1) == 0) add_some(p, random);
    place(p, random.between(0, 2) == 0);
    const std::ptrdiff_t parts = random.between(0, 2) == 0 ? random.between(1, 9) : 1;
    return {&p, random.between(0, int(parts) - 1), parts, workspace.data, workspace.size};
  }

  static std::ptrdiff_t keys(const attend_problem& p) { return p.keys == ATTEND_ALL_KEYS ? held : p.keys; }
  static bool has_arrays(const attend_problem& p) { return p.cache == nullptr && p.keys > 0 && p.keys > p.origin; }
  static bool is_positioned(const attend_problem& p) {
    return (p.options & ATTEND_CAUSAL) != 0 || p.window_left != ATTEND_NO_LIMIT || p.window_right != ATTEND_NO_LIMIT ||
           p.alibi_slopes != nullptr || p.relative_bias.data != nullptr;
  }

  // Says where the queries stand, where it must be said.
  static void place(attend_problem& p, bool always = false) {
    if (!is_positioned(p)) {
      p.offset = ATTEND_DEFAULT_OFFSET, p.options &= ~ATTEND_QUERIES_LAST;
    } else if ((p.options & ATTEND_QUERIES_LAST) == 0 && p.offset == ATTEND_DEFAULT_OFFSET) {
      if (always || p.queries != keys(p)) p.offset = always ? -3 : 0;
    }
  }

  // Options, each of which may be there or not.
  void add_some(attend_problem& p, Random& random) {
    const auto maybe = [&] { return random.between(0, 2) == 0; };
    if (maybe()) p.window_left = random.between(0, 9);
    if (p.window_left >= 0 && maybe()) p.sink_tokens = random.between(0, 3);
    if (maybe()) p.window_right = random.between(0, 9);
    for (const int argument : {ATTEND_ARG_MASK, ATTEND_ARG_BIAS, ATTEND_ARG_ALIBI_SLOPES, ATTEND_ARG_RELATIVE_BIAS,
                               ATTEND_ARG_SINK_LOGITS, ATTEND_ARG_LSE, ATTEND_ARG_SCORES}) {
      if (maybe()) add(p, argument);
    }
    if (p.mask.data != nullptr && maybe()) p.mask.kind = ATTEND_MASK_BITS;
    if (maybe()) p.soft_cap = 3.0f;
    if (maybe()) p.query_format = random.between(0, 2), p.output_format = random.between(0, 2);
    if (p.cache == nullptr) {
      if (maybe()) p.key_format = random.between(0, 2), p.value_format = random.between(0, 2);
      if (maybe()) add(p, ATTEND_ARG_KEY_SCALES);
      if (maybe()) add(p, ATTEND_ARG_VALUE_SCALES);
      if (maybe()) p.origin = random.between(0, int(p.keys));
      if (p.origin == 0 && maybe()) add(p, ATTEND_ARG_PAGES);
    }
    if (maybe()) {
      add(p, ATTEND_ARG_STATES);
    } else if (maybe()) {
      p.options |= ATTEND_QUERIES_LAST, p.offset = ATTEND_DEFAULT_OFFSET;
    }
    if (p.scores.data != nullptr) p.scores.stage = random.between(1, p.states == nullptr ? 4 : 3);
  }

  // What an argument needs to be looked at, if it is not there.
  void add(attend_problem& p, int argument) {
    const std::ptrdiff_t row = columns, head = row * most_tokens, batch = head * most_heads;
    switch (argument) {
      case ATTEND_ARG_MASK:
        if (p.mask.data == nullptr) p.mask = {options.data + 256, batch, head, row, columns, ATTEND_MASK_BYTES};
        break;
      case ATTEND_ARG_BIAS:
        if (p.bias.data == nullptr) p.bias = {options.as() + 1024, 0, head, row, columns};
        break;
      case ATTEND_ARG_ALIBI_SLOPES:
        p.alibi_slopes = options.as();
        break;
      case ATTEND_ARG_RELATIVE_BIAS:
        p.relative_bias = {options.as() + 2048, 9, 5, 3};
        break;
      case ATTEND_ARG_SINK_LOGITS:
        p.sink_logits = options.as() + 16;
        break;
      case ATTEND_ARG_KEY_SCALES:
        p.key_format = ATTEND_INT8, p.key_scales = {options.as() + 2208, 64, 32};
        if (p.value_format == ATTEND_DEFAULT_FORMAT) p.value_format = ATTEND_FLOAT32;
        break;
      case ATTEND_ARG_VALUE_SCALES:
        p.value_format = ATTEND_INT8, p.value_scales = {options.as() + 2400, 64, 32};
        if (p.key_format == ATTEND_DEFAULT_FORMAT) p.key_format = ATTEND_FLOAT32;
        break;
      case ATTEND_ARG_LSE:
        p.lse.data = lse.data;
        break;
      case ATTEND_ARG_SCORES:
        if (p.scores.data == nullptr) p.scores = {scores.as(), batch, head, row, columns, ATTEND_SCORES_RAW};
        break;
      case ATTEND_ARG_KEY_LENGTHS:
        for (int b = 0; b < most_batch; ++b) lengths()[b] = 0;
        p.key_lengths = lengths();
        break;
      case ATTEND_ARG_PAGES:
        p.pages = {pages.as<std::int32_t>(), 0, 16, 2}, p.origin = 0;
        break;
      case ATTEND_ARG_STATES:
        add_states(p);
        break;
      default:
        break;
    }
    place(p);
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

 private:
  // New ones, with strides that do not depend on how many keys there are.
  void add_states(attend_problem& p) {
    p.options &= ~ATTEND_QUERIES_LAST;
    p.states = states.data, p.first_key = 0;
    if (p.cache == nullptr) p.origin = 0;
    if (p.scores.stage == ATTEND_SCORES_WEIGHTS) p.scores.stage = ATTEND_SCORES_RAW;
    const bool heads_first = p.layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
    for (attend_input* input : {&p.key, &p.value}) {
      if (!has_arrays(p)) continue;
      input->head_stride = heads_first ? most_tokens * most_width : most_width;
      input->token_stride = heads_first ? most_width : 2 * most_width;
      input->batch_stride = 2 * most_tokens * most_width;
    }
    // Otherwise another fault says why.
    if (attend_state_size(&p) <= states.size && attend_begin(&p) == ATTEND_OK) states.remember();
  }

  Block problem_{8192}, lengths_{8192};  // so large that an output that begins there ends there
};

}  // namespace attend_test
