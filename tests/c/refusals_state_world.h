// States, and a cache, without a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attend/core/options.h"
#include "refusals_world.h"

namespace attend_test {

inline float* last_float() { return reinterpret_cast<float*>(UINTPTR_MAX - 3); }

// New states, those to merge them with, and what they are finished to; neither query nor keys.
struct StateWorld : World {
  enum Calls { begin = 1, finish = 2, merge = 4, save = 8, load = 16 };

  StateWorld() {
    begin_problem();
    p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
    p.batch = 2, p.query_heads = 2, p.value_dim = 5, p.queries = 3, p.keys = 0;
    p.output.data = output.data, p.lse.data = lse.data, p.sink_logits = options.as();
    begin_with(ATTEND_DEFAULT_STATE_NODES);
    save_of(p);
  }
  void begin_with(int nodes) {
    p.state_nodes = nodes;
    for (Block* block : {&scores, &states}) {
      p.states = block->data;
      CHECK(attend_begin(&p) == ATTEND_OK);
    }
  }
  // The numbers of one of the 12 states. They say of all that they have been through some nodes, and stopped at a key.
  float* numbers(Block& block, int row) const {
    return block.as() + 16 + row * int(attend::core::state_floats(5, int(p.state_nodes)));
  }
  void take(Block& block, std::int32_t next, const std::vector<std::int32_t>& nodes, std::int32_t count = -2) const {
    for (int row = 0; row < 12; ++row) {
      float* const state = numbers(block, row);
      if (count == -2) count = std::int32_t(nodes.size());
      std::memcpy(state, &count, sizeof count);
      std::memcpy(state + 1, &next, sizeof next);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        float *const end = state + attend::core::state_floats(5, int(n) + 1), *const max = end - 2;
        std::memcpy(end - 1, &nodes[n], sizeof nodes[n]);
        *max = 0.0f;
      }
    }
  }
  // The queries are the last of so many keys, and see `left` before them.
  void see_last(int keys, int left) { p.keys = keys, p.offset = keys - p.queries, p.window_left = left; }
  attend_status call(unsigned which) {
    const attend_status status = which == begin    ? attend_begin(passed)
                                 : which == finish ? attend_finish(passed)
                                 : which == save   ? attend_save(passed, bytes_passed, size, saved)
                                 : which == load   ? attend_load(passed, bytes_passed, size)
                                                   : attend_merge(passed, later);
    if (status == ATTEND_OK) CHECK(!inputs_changed());
    if (status == ATTEND_OK && which == finish) CHECK(output.changed());
    return status;
  }

  // Saved states, new ones, from an odd address on; a change of one of their words, with the sum left as it is.
  void change(int word, unsigned char by) { saved_at()[4 * word] = static_cast<unsigned char>(saved_at()[4 * word] ^ by); }
  // Those of another problem.
  void save_of(attend_problem other) {
    std::vector<float> of_other(attend_state_size(&other) / sizeof(float));
    other.states = of_other.data();
    CHECK(attend_begin(&other) == ATTEND_OK);
    CHECK(attend_save(&other, saved_at(), saved_size, nullptr) == ATTEND_OK);
  }
  unsigned char* saved_at() const { return workspace.data + 1; }

  static constexpr std::size_t saved_size = 80;
  void* later = scores.data;
  void* bytes_passed = saved_at();
  std::size_t size = saved_size, *saved = lse.as<std::size_t>();
};

// A cache, the shape of another and memory for it, and tokens to append.
struct CacheWorld : World {
  enum Calls { check = 1, init = 2, append = 4, truncate = 8 };

  attend_status call(unsigned which) {
    attend_cache* made = nullptr;
    if (which == init) return attend_cache_init(shape_passed, to, to_size, &made);
    if (which == append) return attend_cache_append(head, tokens, keys_passed, values_passed);
    if (which == truncate) return attend_cache_truncate(head, tokens);
    const attend_status status = status_of(shape_passed);
    CHECK((attend_cache_size(shape_passed) == 0) == (status != ATTEND_OK));
    return status;
  }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all = World::bytes();
    const auto* const first = reinterpret_cast<const unsigned char*>(&shape);
    all.insert(all.end(), first, first + sizeof shape);
    return all;
  }

  attend_cache_shape shape = shape_of(2, 5, 3, capacity);
  const attend_cache_shape* shape_passed = &shape;
  void* to = workspace.data;
  std::size_t to_size = attend_cache_size(&shape);
  attend_cache* head = cache.as<attend_cache>();
  attend_input new_keys = {key.data, 0, 10, 5}, new_values = {value.data, 0, ATTEND_DENSE, ATTEND_DENSE};
  const attend_input *keys_passed = &new_keys, *values_passed = &new_values;
  std::ptrdiff_t tokens = 2;
};

}  // namespace attend_test
