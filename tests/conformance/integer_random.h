// Random problems of integer attention, and every way to compute one, each of which must give the bytes of the model.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "integer_run.h"

namespace attend_test {

// Embedded processors take at most a tile's.
inline int some_rows(Random& random) { return random.between(1, 20); }
inline int some_keys(Random& random) { return 32 * random.between(1, 9); }

inline IntegerCase random_shape(Random& random) {
  IntegerCase c;
  c.kv_heads = random.between(1, 2);
  c.query_heads = c.kv_heads * random.between(1, 3);
  c.head_dim = random.between(0, 2) == 0 ? random.between(1, 130) : random.between(1, 40);
  c.value_dim = random.between(0, 2) == 0 ? random.between(1, 130) : random.between(1, 40);
  c.queries = random.between(1, 7);
  c.keys = random.between(0, 3) == 0 ? random.between(1, 1100) : random.between(1, 140);
  c.causal = random.between(0, 2) > 0;
  c.offset = random.between(0, 3) == 0 ? random.between(-5, c.keys + 5) : c.keys - c.queries;
  // From weights that are all alike to weights of which one is left.
  c.score_step = std::ldexp(1.0 + double(random.uniform()) * 0.5, -random.between(8, 18));
  if (random.between(0, 9) == 0) c.score_step = std::ldexp(0.99, -random.between(0, 50));
  c.output_steps = std::ldexp(1.0 + double(random.uniform()) * 0.5, random.between(0, 3));
  c.value_zero = random.between(0, 1) * random.between(-128, 127);
  c.zero = random.between(0, 1) * random.between(-128, 127);
  c.head_scales = random.between(0, 3) == 0 && c.value_zero < 120;
  if (c.score_step * (1.0 + 0.25 * c.query_heads) >= 1.0) c.head_scales = false;
  c.seed = random.bits();
  return c;
}

inline void add_options(Random& random, IntegerCase& c) {
  if (random.between(0, 2) == 0) c.left = random.between(0, c.keys);
  if (random.between(0, 3) == 0) c.right = random.between(0, 30);
  if (c.left >= 0) c.sink_tokens = random.between(0, 1) * random.between(0, 80);
  c.mask = IntegerMask(random.between(0, 2));
  c.mask_keys = random.between(0, 2) == 0 ? random.between(0, c.keys) : c.keys;
  if (random.between(0, 2) == 0) c.query_zero = random.between(-128, 127);
  c.key_scales = random.between(0, 2) == 0;
  c.value_scales = random.between(0, 2) == 0;
  constexpr Format formats[] = {Format::int8, Format::int16, Format::float32};
  c.format = formats[random.between(0, 2)];
  if (c.format == Format::int16) c.output_steps *= 128;
}

// Keys in a ring that has all that the window and the sink tokens need.
inline void put_into_ring(Random& random, IntegerCase& c) {
  c.causal = true;
  c.offset = c.keys - c.queries;
  c.left = random.between(0, 120);
  c.sink_tokens = random.between(0, 1) * random.between(1, 70);
  c.ring_chunks = (c.left + c.queries + 30) / 32 + 1 + random.between(0, 2);
  c.sink_chunks = (c.sink_tokens + 31) / 32;
}

// A problem with options. where: 1 keeps keys in a ring, 2 leaves out the first segment if it can.
inline IntegerCase random_options(Random& random, int where) {
  IntegerCase c = random_shape(random);
  add_options(random, c);
  if (where == 1) put_into_ring(random, c);
  if (where == 2 && c.keys > 600) c.origin = 512;
  return c;
}

// Calls check(output, way) of each way. What no query sees holds other bytes afterwards.
template <class Check>
void each_integer_way(IntegerRun& run, Random& random, Check check) {
  const bool dense = run.c.ring_chunks == 0 && run.c.origin == 0;
  check(run.whole(run.c.row_block, run.c.key_block), "whole");
  check(run.whole(some_rows(random), some_keys(random)), "other blocks");
  check(run.with_options(some_rows(random), some_keys(random)), "call with options");
  check(run.parts(random.between(2, 5), some_rows(random), some_keys(random)), "parts");
  if (dense) check(run.in_steps(32 * random.between(1, 20), some_rows(random), some_keys(random)), "in steps");
  run.panels = !attend::config::embedded;
  if (run.panels) {
    check(run.whole(some_rows(random), some_keys(random)), "panels");
    check(run.whole(random.between(1, 2), some_keys(random)), "panels, few rows");
    check(run.parts(random.between(2, 5), some_rows(random), some_keys(random)), "panels, parts");
    if (dense) check(run.in_steps(32 * random.between(1, 20), some_rows(random), some_keys(random)), "panels, in steps");
  }
  run.poison();
  if (run.panels) check(run.whole(random.between(1, 3), some_keys(random)), "panels, poison where none sees");
  run.panels = false;
  check(run.whole(some_rows(random), some_keys(random)), "poison where none sees");
}

}  // namespace attend_test
