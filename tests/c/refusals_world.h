// A problem of floats, and all that rows of the tables ask of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory_block.h"
#include "refusals.h"

namespace attend_test {

inline attend_problem initial_problem() {
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  return p;
}

// A problem in memory of its own, and a call of attend_run_part with it.
class World : public Choices {
  Block problem_{8192}, lengths_{8192};  // so large that an output that begins there ends there

 public:
  static constexpr int most_heads = 4, most_width = 9, most_tokens = 12, most_batch = 3, capacity = 20;
  static constexpr int most_head_dim = ATTEND_MAX_WIDTH;
  static constexpr int held = 13;        // tokens in the cache
  static constexpr int head_bytes = 52;  // of a cache, of which any change is seen
  static constexpr int columns = 16;     // of masks, biases and scores: more than there are keys

  explicit World(Random* random = nullptr) : Choices(random), p(*problem_.as<attend_problem>()) {
    const attend_cache_shape shape = shape_of(2, 5, 3, capacity);
    if (attend_cache_init(&shape, cache.data, attend_cache_size(&shape), nullptr) != ATTEND_OK) std::abort();
    const attend_input keys = {query.as(), 0, 10, 5}, values = {query.as(), 0, 6, 3};
    if (attend_cache_append(cache.as<attend_cache>(), held, &keys, &values) != ATTEND_OK) std::abort();
    cache.remember();
    std::memset(pages.data, 0, pages.size);  // page 0, and then 1
    pages.as<std::int32_t>()[1] = 1;
    pages.remember();
    fill_lists();
  }

  static attend_cache_shape shape_of(int kv_heads, int head_dim, int value_dim, int max_tokens) {
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = value_dim, shape.max_tokens = max_tokens;
    return shape;
  }

  std::ptrdiff_t* lengths() { return lengths_.as<std::ptrdiff_t>(); }
  std::int32_t* boundaries() { return lists.as<std::int32_t>() + 2 * most_batch * most_tokens; }

  // All fields as they are initialised, and the call whole.
  void begin_problem() {
    std::memset(problem_.data, 0, 2 * sizeof p + 64);
    fill_lists();
    p = initial_problem();
    passed = &p, part = 0, parts = 1, work = workspace.data, work_size = workspace.size;
  }

  // What rows ask for.
  static attend_problem initial() { return initial_problem(); }
  bool cached() const { return p.cache != nullptr; }
  bool has_states() const { return p.states != nullptr; }
  bool has_arrays() const { return !cached() && p.keys > 0 && p.keys > p.origin; }
  bool is_plain() const { return !cached() && p.pages.table == nullptr; }
  bool has_rows() const { return has_arrays() && is_plain(); }
  bool is_positioned() const {
    return (p.options & ATTEND_CAUSAL) != 0 || p.window_left != ATTEND_NO_LIMIT || p.window_right != ATTEND_NO_LIMIT ||
           p.alibi_slopes != nullptr || p.relative_bias.data != nullptr;
  }
  // Whether it is clear where queries stand that are positioned.
  bool is_clear() const { return cached() ? p.queries <= held : p.queries == p.keys; }
  std::ptrdiff_t keys() const { return p.keys == ATTEND_ALL_KEYS ? held : p.keys; }
  static std::ptrdiff_t least_keys() { return -1; }
  std::ptrdiff_t most_keys() const { return cached() ? std::ptrdiff_t(held) : ATTEND_MAX_TOKENS; }
  std::ptrdiff_t most_length() const { return has_states() ? ATTEND_MAX_TOKENS : keys(); }
  std::size_t needed() const { return attend_workspace_size(passed); }
  unsigned char& after(int byte) { return problem_.data[sizeof p + std::size_t(byte)]; }  // the struct
  std::ptrdiff_t* give_lengths() { return add(ATTEND_ARG_KEY_LENGTHS), lengths(); }
  void unplace() {
    p.options = 0, p.offset = ATTEND_DEFAULT_OFFSET;
    if (cached()) p.queries = held + 1;
  }
  void break_page(std::int32_t number) {
    pages.as<std::int32_t>()[8] = number;
    pages.remember();
    p.pages.table += 8;
  }
  // More work than can be counted: all keys and queries are one.
  void all_are_one() {
    static std::vector<float> large(1 << 19);
    p = initial_problem();
    p.query_heads = p.kv_heads = p.head_dim = p.value_dim = 1, p.queries = 1 << 19, p.keys = 1 << 28;
    p.query = {query.data, 0, 0, 0}, p.key = p.value = {key.data, 0, 0, 0};
    p.output.data = large.data();
  }
  // A problem of those two documents.
  void pack_documents() {
    p = initial_problem();
    p.batch = p.query_heads = p.kv_heads = p.head_dim = p.value_dim = 1, p.queries = p.keys = 9;
    p.query.data = query.data, p.key.data = key.data, p.value.data = value.data, p.output.data = output.data;
    p.documents = {boundaries(), 2};
  }
  void change_list(std::int32_t& number, std::int32_t to) {
    number = to;
    lists.remember();
  }
  // Dense keys that no address space holds.
  void beyond_memory(int format) {
    p = initial_problem();
    p.query_heads = p.kv_heads = p.value_dim = 1, p.head_dim = ATTEND_MAX_WIDTH, p.queries = 0;
    p.batch = p.keys = ATTEND_MAX_TOKENS, p.key_format = p.value_format = format;
    p.query.data = query.data, p.key.data = key.data, p.value.data = value.data, p.output.data = output.data;
  }

  // Says where the queries stand, where it must be said.
  void place(bool always = false) {
    if (!is_positioned()) {
      p.offset = ATTEND_DEFAULT_OFFSET, p.options &= ~ATTEND_QUERIES_LAST;
    } else if ((p.options & ATTEND_QUERIES_LAST) == 0 && p.offset == ATTEND_DEFAULT_OFFSET) {
      if (always || p.queries != keys()) p.offset = always ? -3 : 0;
    }
  }

  // Whether a call looks at an argument once it is added.
  bool reads(int argument) const {
    switch (argument) {
      case ATTEND_ARG_KEY:
      case ATTEND_ARG_VALUE:
      case ATTEND_ARG_KEY_SCALES:
      case ATTEND_ARG_VALUE_SCALES:
        return has_arrays();
      case ATTEND_ARG_PAGES:
        return !cached() && p.keys > 0;
      case ATTEND_ARG_OUTPUT:
      case ATTEND_ARG_LSE:
        return !has_states();
      case ATTEND_ARG_RANGES:
        return !has_states() && (p.scores.data == nullptr || p.scores.stage > ATTEND_SCORES_CAPPED) && p.queries > 0 &&
               p.batch > 0;
      default:
        return true;
    }
  }

  // What an argument needs to be looked at, if it is not there.
  void add(int argument, bool then_place = true) {
    const std::ptrdiff_t row = columns, head = row * most_tokens, batch = head * most_heads;
    if (argument == ATTEND_ARG_MASK && p.mask.data == nullptr)
      p.mask = {options.data + 256, batch, head, row, columns, ATTEND_MASK_BYTES};
    if (argument == ATTEND_ARG_BIAS && p.bias.data == nullptr) p.bias = {options.as() + 1024, 0, head, row, columns};
    if (argument == ATTEND_ARG_ALIBI_SLOPES) p.alibi_slopes = options.as();
    if (argument == ATTEND_ARG_RELATIVE_BIAS) p.relative_bias = {options.as() + 2048, 9, 5, 3};
    if (argument == ATTEND_ARG_SINK_LOGITS) p.sink_logits = options.as() + 16;
    if (argument == ATTEND_ARG_KEY_SCALES) {
      p.key_format = ATTEND_INT8, p.key_scales = {options.as() + 2208, 64, 32};
      if (p.value_format == ATTEND_DEFAULT_FORMAT) p.value_format = ATTEND_FLOAT32;
    }
    if (argument == ATTEND_ARG_VALUE_SCALES) {
      p.value_format = ATTEND_INT8, p.value_scales = {options.as() + 2400, 64, 32};
      if (p.key_format == ATTEND_DEFAULT_FORMAT) p.key_format = ATTEND_FLOAT32;
    }
    if (argument == ATTEND_ARG_LSE) p.lse.data = lse.data;
    if (argument == ATTEND_ARG_SCORES) {
      if (p.scores.data == nullptr) p.scores = {scores.as(), batch, head, row, columns, ATTEND_SCORES_RAW};
      if (p.ranges.first != nullptr && p.scores.stage < ATTEND_SCORES_BIASED) p.scores.stage = ATTEND_SCORES_BIASED;
    }
    if (argument == ATTEND_ARG_KEY_LENGTHS) {
      for (int b = 0; b < most_batch; ++b) lengths()[b] = 0;
      p.key_lengths = lengths();
    }
    if (argument == ATTEND_ARG_PAGES) p.pages = {pages.as<std::int32_t>(), 0, 16, 2}, p.origin = 0;
    if (argument == ATTEND_ARG_STATES) {
      p.ranges = initial().ranges;
      add_states();
    }
    if (argument == ATTEND_ARG_RANGES) {
      if (p.batch == ATTEND_DEFAULT_BATCH) p.batch = 1;
      p.ranges = {lists.as<std::int32_t>(), lists.as<std::int32_t>() + most_batch * most_tokens, most_tokens};
    }
    if (then_place) place();
  }

  // The same where a call looks at it.
  bool finds(int argument) {
    if (!reads(argument)) return false;
    add(argument);
    return true;
  }

  bool can_remove(int argument) const {
    if (argument == ATTEND_ARG_RANGES) return !has_states();
    return argument == ATTEND_ARG_PAGES ? !cached() : argument != ATTEND_ARG_LSE || !has_states();
  }
  void remove(int argument) {
    const attend_problem none = initial();
    if (argument == ATTEND_ARG_MASK) p.mask = none.mask;
    if (argument == ATTEND_ARG_BIAS) p.bias = none.bias, p.bias_stage = none.bias_stage;
    if (argument == ATTEND_ARG_LSE) p.lse = none.lse;
    if (argument == ATTEND_ARG_SCORES) p.scores = none.scores;
    if (argument == ATTEND_ARG_RANGES) p.ranges = none.ranges;
    if (argument == ATTEND_ARG_PAGES) p.pages = none.pages;
    if (argument == ATTEND_ARG_RELATIVE_BIAS) p.relative_bias = none.relative_bias;
    if (argument == ATTEND_ARG_KEY_SCALES) p.key_scales = none.key_scales, p.key_format = ATTEND_FLOAT32;
    if (argument == ATTEND_ARG_VALUE_SCALES) p.value_scales = none.value_scales, p.value_format = ATTEND_FLOAT32;
    place();
  }

  bool inputs_changed() const {
    return query.changed() || key.changed() || value.changed() || cache.changed() || options.changed() || pages.changed() ||
           lists.changed();
  }
  bool results_changed() const { return output.changed() || lse.changed() || scores.changed() || states.changed(); }
  bool changed() const { return inputs_changed() || results_changed() || workspace.changed(); }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all;
    for (const Block* block :
         {&query, &key, &value, &output, &cache, &workspace, &options, &pages, &lists, &lse, &scores, &states, &problem_}) {
      all.insert(all.end(), block->data, block->data + block->size);
    }
    return all;
  }
  void restore() {
    for (Block* block : {&output, &lse, &scores, &states, &workspace}) block->restore();
  }

  attend_problem& p;
  attend_problem* passed = nullptr;  // p, but of rows that pass something else
  std::ptrdiff_t part = 0, parts = 1;
  void* work = nullptr;
  std::size_t work_size = 0;
  Block query{4 * 13 * most_heads * most_width * most_batch}, key{4 * 13 * most_heads * most_width * most_batch};
  Block value{4 * 13 * most_heads * most_width * most_batch}, output{4 * 13 * most_heads * most_width * most_batch, 0x40};
  Block cache{8192}, workspace{1 << 17};
  Block options{1 << 15}, pages{256}, lists{8192}, lse{1 << 15, 0x40}, scores{1 << 15, 0x40}, states{1 << 17, 0x40};

 private:
  // Ranges of all rows, and boundaries of two documents, of 4 and of 5 tokens.
  void fill_lists() {
    for (int i = 0; i < most_batch * most_tokens; ++i) {
      lists.as<std::int32_t>()[i] = i % 3;
      lists.as<std::int32_t>()[i + most_batch * most_tokens] = 2 + i % 9;
    }
    for (int i = 0; i < 3; ++i) boundaries()[i] = 4 * i + i / 2;
    lists.remember();
  }

  // New ones, with strides that do not depend on how many keys there are.
  void add_states() {
    p.options &= ~ATTEND_QUERIES_LAST;
    p.states = states.data, p.first_key = 0;
    if (p.cache == nullptr) p.origin = 0;
    if (p.scores.stage == ATTEND_SCORES_WEIGHTS) p.scores.stage = ATTEND_SCORES_RAW;
    const bool heads_first = p.layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
    for (attend_input* input : {&p.key, &p.value}) {
      if (!has_arrays()) continue;
      input->head_stride = heads_first ? most_tokens * most_width : most_width;
      input->token_stride = heads_first ? most_width : 2 * most_width;
      input->batch_stride = 2 * most_tokens * most_width;
    }
    // Otherwise another fault says why.
    if (attend_state_size(&p) <= states.size && attend_begin(&p) == ATTEND_OK) states.remember();
  }
};

}  // namespace attend_test
