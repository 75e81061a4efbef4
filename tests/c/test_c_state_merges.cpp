// States of the C surface that took different keys, in floats and in integers: merged in any order they have the bits of one
// call; what cannot be merged or finished is refused, and nothing is changed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "../support/rounds.h"
#include "c_state_world.h"

using namespace attend_test;
using namespace attend_test::taken_apart;

namespace {

// Merges any two until all are one.
Merged::States merge_all(const Merged& merged, std::vector<Merged::States> all, Random& random) {
  while (all.size() > 1) {
    const auto from = all.begin() + random.between(0, int(all.size()) - 1);
    const Merged::States other = *from;
    all.erase(from);
    const attend_status status = merged.merge(all[std::size_t(random.between(0, int(all.size()) - 1))], other);
    REQUIRE_MESSAGE(status == ATTEND_OK, explain(status));
  }
  return all[0];
}

}  // namespace

TEST_CASE("c states: three to six of different keys, merged in any order, have the bits of one call") {
  for_each_arithmetic(40, [](bool integers, Random& random) {
    const int tail = random.between(0, 2) == 0 ? 0 : random.between(1, segment - 1);
    Merged merged(integers, segment * random.between(6, 12) + tail, random.between(1, 2), random.between(1, 3), random);
    if (random.between(0, 1) == 0) merged.p.options = ATTEND_CAUSAL, merged.p.offset = merged.keys - merged.p.queries;
    // Some rows end before others, and before some states begin.
    const std::ptrdiff_t lengths[] = {random.between(0, merged.keys), random.between(0, merged.keys)};
    if (random.between(0, 1) == 0) merged.p.key_lengths = lengths;
    const std::vector<float> whole = merged.whole();
    Merged::States states = merge_all(merged, cut(merged, random.between(3, 6), random), random);
    CHECK(merged.finish(states, merged.keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
  });
}

TEST_CASE("c states: rows of a batch that end early have the bits of one call, whoever goes on") {
  for_each_arithmetic(40, [](bool integers, Random& random) {
    Merged merged(integers, segment * random.between(2, 7) + random.between(1, 500), 2, 1, random);
    const std::ptrdiff_t lengths[] = {random.between(0, merged.keys), merged.keys};
    merged.p.key_lengths = lengths;
    const std::vector<float> whole = merged.whole();
    Merged::States states = merged.took(0, merged.keys, random);
    CHECK(merged.finish(states, merged.keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
  });
}

TEST_CASE("c states: the same keys twice, and others after keys that are still to come, are not merged") {
  for_each_arithmetic(2, [](bool integers, Random& random) {
    const Merged merged(integers, 5 * segment, 1, 2, random);
    const attend_status no = wrong(ATTEND_MISMATCH, ATTEND_ARG_LATER);
    const Merged::States first = merged.took(0, 2 * segment, random), second = merged.took(segment, 3 * segment, random);
    const Merged::States open = merged.took(2 * segment, 2 * segment + 32, random),
                         last = merged.took(3 * segment, 5 * segment, random);
    Merged::States to = first;
    CHECK(merged.merge(to, first) == no);
    CHECK(merged.merge(to, second) == no);
    CHECK(merged.merge(to = second, first) == no);
    CHECK(merged.merge(to = open, last) == no);
    CHECK(merged.merge(to = last, open) == no);
    CHECK(merged.merge(to = open, open) == no);
    CHECK(merged.merge(to = open, second) == no);
    CHECK(merged.merge(to = first, open) == ATTEND_OK);
    CHECK(merged.merge(to, last) == no);
    CHECK(merged.merge(to, open) == no);
    CHECK(merged.merge(to = merged.took(3 * segment, 3 * segment + 64, random), first) == ATTEND_OK);  // a gap between
    CHECK(merged.merge(to, open) == no);
    CHECK(merged.merge(to, merged.took(2 * segment, 3 * segment, random)) == ATTEND_OK);
    CHECK(merged.merge(to, merged.took(4 * segment, 5 * segment, random)) == no);
  });
}

TEST_CASE("c states: keys that a query sees must not be missing at the end; those before a window may") {
  for_each_arithmetic(3, [](bool integers, Random& random) {
    constexpr int keys = 7 * segment + 100, left = 2 * segment;
    Merged merged(integers, keys, 1, 2, random);
    merged.p.offset = keys - 2, merged.p.window_left = left, merged.p.sink_tokens = 3;  // from segment 5 on, and segment 0
    const std::vector<float> whole = merged.whole();
    const Merged::States first = merged.took(0, segment, random), before_last = merged.took(5 * segment, 6 * segment, random);
    const Merged::States last = merged.took(6 * segment, keys, random), between = merged.took(2 * segment, 3 * segment, random);
    Merged::States states = last;
    const attend_status missing = wrong(ATTEND_MISMATCH, ATTEND_ARG_STATES);
    CHECK(merged.finish(states, keys) == missing);
    CHECK(merged.merge(states, first) == ATTEND_OK);
    CHECK(merged.finish(states, keys) == missing);
    CHECK(merged.merge(states, between) == ATTEND_OK);
    CHECK(merged.finish(states, keys) == missing);
    CHECK(merged.merge(states, before_last) == ATTEND_OK);
    CHECK(merged.finish(states, keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
    CHECK(merged.finish(states, 6 * segment) == wrong(ATTEND_MISMATCH, ATTEND_ARG_KEYS));
    merged.p.window_left = left + segment;
    CHECK(merged.finish(states, keys) == missing);
    merged.p.window_left = ATTEND_NO_LIMIT, merged.p.sink_tokens = 0, merged.p.offset = ATTEND_DEFAULT_OFFSET;
    CHECK(merged.finish(states, keys) == missing);
    merged.p.window_left = left, merged.p.offset = keys - 2;  // without the first tokens
    CHECK(merged.merge(states = last, before_last) == ATTEND_OK);
    CHECK(merged.finish(states, keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), merged.whole()));
  });
}

TEST_CASE("c states: causal queries see the keys of their own tokens, which must not be missing, unless lengths end before") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    constexpr int end = 3 * segment;
    Merged merged(integers, 4 * segment, 1, 1, random);
    merged.p.options = ATTEND_CAUSAL, merged.p.offset = 4 * segment - 1;
    const std::vector<float> whole = merged.whole();
    Merged::States states = merge_all(
        merged,
        {merged.took(0, segment, random), merged.took(segment, 2 * segment, random), merged.took(2 * segment, end, random)},
        random);
    const Merged::States none = merged.took(end, end, random);  // of a machine without keys
    CHECK(merged.merge(states, none) == ATTEND_OK);
    CHECK(merged.finish(states, end) == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATES));
    const std::ptrdiff_t lengths[] = {end};
    attend_problem saved = merged.p;
    merged.p.key_lengths = lengths;
    CHECK(merged.finish(states, end) == ATTEND_OK);
    const std::vector<float> found = merged.output();
    CHECK(same_bits(found, merged.whole()));
    merged.p = saved;
    CHECK(merged.merge(states, merged.took(end, 4 * segment, random)) == ATTEND_OK);
    CHECK(merged.finish(states, 4 * segment) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
  });
}

TEST_CASE("c states: they have as much room as was asked for, and refuse what needs more") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 23 * segment + 9, 1, 2, random);
    const std::vector<float> whole = merged.whole();
    const attend_status no = wrong(ATTEND_TOO_SMALL, ATTEND_ARG_STATE_NODES);
    for (int room = 0; room <= 8; ++room) {
      merged.p.state_nodes = room;
      const std::size_t numbers = 4 * merged.floats_of_state(room) + (integers ? value_dim : 0);
      CHECK(attend_state_size(&merged.p) == 64 + 4 * numbers);
      Merged::States states = merged.took(0, 0, random);
      attend_problem q = merged.p;
      q.states = states.data(), q.origin = 0;
      // Of 22 segments one after the other there are at most four nodes at once: 8, 4, 2, 1.
      for (int segments = 1; segments <= 22; segments += stride()) {
        int most = 0;
        for (int i = 1; i <= segments; ++i) most = std::max(most, attend::core::node_count(0, i));
        q.keys = segments * segment + 5;
        const Merged::States before = states;
        const attend_status status = run_with_exact_workspace(q);
        CHECK(status == (most <= room ? ATTEND_OK : no));
        if (status != ATTEND_OK) CHECK(same_bits(states, before));
        REQUIRE(attend_begin(&q) == ATTEND_OK);
      }
      if (room < 2) continue;
      states = merged.took(3 * segment, 4 * segment, random);
      CHECK(merged.merge(states, merged.took(5 * segment, 6 * segment, random)) == ATTEND_OK);
      const Merged::States next = merged.took(9 * segment, 10 * segment, random);
      CHECK(merged.merge(states, next) == (room >= 3 ? ATTEND_OK : no));
      CHECK(merged.merge(states, merged.took(4 * segment, 5 * segment, random)) == ATTEND_OK);  // joined with another
      CHECK(merged.merge(states, merged.took(2 * segment, 3 * segment, random)) == ATTEND_OK);
    }
    merged.p.state_nodes = 6;
    Merged::States states = merge_all(merged, cut(merged, 3, random), random);
    CHECK(merged.finish(states, merged.keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
    for (const std::ptrdiff_t wrong_room : {-1, ATTEND_MAX_STATE_NODES + 1}) {
      merged.p.state_nodes = wrong_room;
      CHECK(attend_state_size(&merged.p) == 0);
    }
  });
  // The default is enough for all keys among the first 131,072.
  CHECK(attend::core::state_nodes(131072) == ATTEND_DEFAULT_STATE_NODES);
}

TEST_CASE("c states: those in floats and those in integers are not taken for each other") {
  Random random(1);
  Merged floats(false, 9, 1, 1, random), integers(true, 9, 1, 1, random);
  floats.p.query_heads = integers.p.query_heads = 1;  // one state, which is like all others
  Merged::States states = floats.took(0, 9, random);
  states.resize(states.size() + value_dim);
  attend_problem q = integers.p;
  q.states = states.data();
  CHECK(attend_finish(&q) == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES));
}
