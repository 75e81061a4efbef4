// Random problems of floats without a fault.
#pragma once

#include "../support/random.h"
#include "refusals_world.h"

namespace attend_test {

struct RandomWorld : World {
  using World::World;

  // A problem without a fault, of random extents, over arrays or over the cache.
  void good(Random& random, bool over_cache) {
    begin_problem();
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
      for (int row = 0; row < most_batch; ++row) lengths()[row] = random.between(0, int(keys()));
      p.key_lengths = lengths();
    }
    if (random.between(0, 1) == 0) add_some(random);
    place(random.between(0, 2) == 0);
    parts = random.between(0, 2) == 0 ? random.between(1, 9) : 1, part = random.between(0, int(parts) - 1);
  }

  // Options, each of which may be there or not.
  void add_some(Random& random) {
    const auto maybe = [&] { return random.between(0, 2) == 0; };
    if (maybe()) p.window_left = random.between(0, 9);
    if (p.window_left >= 0 && maybe()) p.sink_tokens = random.between(0, 3);
    if (maybe()) p.window_right = random.between(0, 9);
    for (const int argument : {ATTEND_ARG_MASK, ATTEND_ARG_BIAS, ATTEND_ARG_ALIBI_SLOPES, ATTEND_ARG_RELATIVE_BIAS,
                               ATTEND_ARG_SINK_LOGITS, ATTEND_ARG_LSE, ATTEND_ARG_SCORES}) {
      if (maybe()) add(argument);
    }
    if (p.mask.data != nullptr && maybe()) p.mask.kind = ATTEND_MASK_BITS;
    if (maybe()) p.soft_cap = 3.0f;
    if (p.soft_cap > 0 && p.bias.data != nullptr && maybe()) p.bias_stage = ATTEND_BIAS_BEFORE_CAP;
    if (maybe()) p.query_format = random.between(0, 2), p.output_format = random.between(0, 2);
    if (p.cache == nullptr) {
      if (maybe()) p.key_format = random.between(0, 2), p.value_format = random.between(0, 2);
      if (maybe()) add(ATTEND_ARG_KEY_SCALES);
      if (maybe()) add(ATTEND_ARG_VALUE_SCALES);
      if (maybe()) p.origin = random.between(0, int(p.keys));
      if (p.origin <= 0 && maybe()) add(ATTEND_ARG_PAGES);
    }
    if (maybe()) {
      add(ATTEND_ARG_STATES);
    } else if (maybe()) {
      p.options |= ATTEND_QUERIES_LAST, p.offset = ATTEND_DEFAULT_OFFSET;
    }
    if (p.scores.data != nullptr) p.scores.stage = random.between(1, p.states == nullptr ? 4 : 3);
    if (maybe() && reads(ATTEND_ARG_RANGES)) add(ATTEND_ARG_RANGES);
  }
};

}  // namespace attend_test
