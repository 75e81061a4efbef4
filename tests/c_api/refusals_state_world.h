// States, and a cache, without a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "refusals_world.h"

namespace attend_test {

inline float* last_float() { return reinterpret_cast<float*>(UINTPTR_MAX - 3); }

// New states, those to merge them with, and what they are finished to; neither query nor keys.
struct StateWorld : World {
  enum Calls { begin = 1, finish = 2, merge = 4 };

  StateWorld() {
    begin_problem();
    p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
    p.batch = 2, p.query_heads = 2, p.value_dim = 5, p.queries = 3, p.keys = 0;
    p.output.data = output.data, p.lse.data = lse.data, p.sink_logits = options.as();
    for (Block* block : {&scores, &states}) {
      p.states = block->data;
      CHECK(attend_begin(&p) == ATTEND_OK);
    }
  }
  attend_status call(unsigned which) {
    const attend_status status = which == begin    ? attend_begin(passed)
                                 : which == finish ? attend_finish(passed)
                                                   : attend_merge(passed, later);
    if (status == ATTEND_OK) CHECK(!inputs_changed());
    if (status == ATTEND_OK && which == finish) CHECK(output.changed());
    return status;
  }

  void* later = scores.data;
};

// A cache, the shape of another and memory for it, and tokens to append.
struct CacheWorld : World {
  enum Calls { check = 1, init = 2, append = 4, truncate = 8 };

  attend_status call(unsigned which) {
    attend_cache* made = nullptr;
    if (which == init) return attend_cache_init(shape_passed, to, to_size, &made);
    if (which == append) return attend_cache_append(head, tokens, keys_passed, values_passed);
    if (which == truncate) return attend_cache_truncate(head, tokens);
    const attend_status status = attend_cache_check(shape_passed);
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
