// Rings of integer attention from C: a sequence without end has the bits of the same windows over whole arrays.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/rounds.h"
#include "c_integer_world.h"

using namespace attend_test;

namespace {

// A sequence in arrays, [token][head][dim], and in a ring.
struct Sequence {
  static constexpr int heads = 2, dim = 5, value_dim = 3, tokens = 400;
  attend_integer_ring ring;
  std::ptrdiff_t rows;
  std::vector<std::int8_t> query, key, value, ring_key, ring_value;
  std::vector<std::uint16_t> scales, ring_scales;
  attend_integer_constants constants = prepared(integer_scales(), dim);
  int taken = 0;

  Sequence(attend_integer_ring of, Random& random)
      : ring(of),
        rows(attend_integer_ring_rows(&of)),
        query(random_bytes(tokens * heads * dim, random)),
        key(random_bytes(tokens * heads * dim, random)),
        value(random_bytes(tokens * heads * value_dim, random)),
        ring_key(random_bytes(std::size_t(rows * heads * dim), random)),
        ring_value(random_bytes(std::size_t(rows * heads * value_dim), random)),
        ring_scales(std::size_t(rows * heads), 0xffff) {
    for (int i = 0; i < tokens * heads; ++i) scales.push_back(std::uint16_t(random.between(0, 32768)));
  }

  void append() {
    put(attend_integer_ring_row(&ring, taken));
    if (taken < ring.sink_tokens) put(taken);
    ++taken;
  }
  void put(std::ptrdiff_t row) {
    const int width = heads * dim, value_width = heads * value_dim;
    std::memcpy(ring_key.data() + row * width, key.data() + taken * width, width);
    std::memcpy(ring_value.data() + row * value_width, value.data() + taken * value_width, value_width);
    for (int head = 0; head < heads; ++head) {
      ring_scales[std::size_t(head * rows + row)] = scales[std::size_t(head * tokens + taken)];
    }
  }

  // The last tokens, with a window and sink tokens; over the arrays first.
  attend_integer_problem problem(int queries, std::ptrdiff_t window_left, bool scaled) const {
    attend_integer_problem p;
    attend_integer_problem_init(&p, sizeof p);
    p.batch = 1, p.query_heads = p.kv_heads = heads, p.head_dim = dim, p.value_dim = value_dim;
    p.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST;
    p.queries = queries, p.keys = taken, p.window_left = window_left, p.sink_tokens = ring.sink_tokens;
    p.query.data = query.data() + (taken - queries) * heads * dim;
    p.key.data = key.data(), p.value.data = value.data(), p.constants = &constants;
    if (scaled) p.key_scales = p.value_scales = {scales.data(), 0, tokens};
    return p;
  }
  attend_integer_problem over_ring(attend_integer_problem p) const {
    p.key.data = ring_key.data(), p.value.data = ring_value.data(), p.ring = ring;
    if (p.key_scales.data != nullptr) p.key_scales = p.value_scales = {ring_scales.data(), ATTEND_DENSE, ATTEND_DENSE};
    return p;
  }
};

}  // namespace

TEST_CASE("c integer: a ring has the bits of windows over whole arrays") {
  Random random(45);
  for (int round = 0; round < rounds(30); ++round) {
    const int window_left = random.between(0, 90), at_once = random.between(1, 40), sinks = random.between(0, 40);
    Sequence sequence({window_left + at_once, sinks}, random);
    while (sequence.taken < Sequence::tokens) {
      const int queries = random.between(1, at_once);
      for (int i = 0; i < queries && sequence.taken < Sequence::tokens; ++i) sequence.append();
      if (queries > sequence.taken) continue;
      attend_integer_problem p = sequence.problem(queries, window_left, round % 2 == 1);
      std::vector<std::int8_t> expected(std::size_t(queries) * Sequence::heads * Sequence::value_dim), found = expected;
      p.output.data = expected.data();
      REQUIRE(run_integers(p) == ATTEND_OK);
      p = sequence.over_ring(p);
      p.output.data = found.data();
      const attend_status status = run_integers(p);
      INFO(round, " ", sequence.taken, " ", explain(status));
      REQUIRE(status == ATTEND_OK);
      REQUIRE(found == expected);
    }
  }
}

TEST_CASE("c integer, refused: what a ring no longer holds") {
  Random random(46);
  Sequence sequence({64, 3}, random);
  std::vector<std::int8_t> output(40 * Sequence::heads * Sequence::value_dim);
  const auto check = [&](std::ptrdiff_t window_left, std::ptrdiff_t sinks) {
    attend_integer_problem p = sequence.over_ring(sequence.problem(1, window_left, false));
    p.output.data = output.data();
    p.sink_tokens = sinks;
    if (window_left < 0) p.options = 0;
    return attend_integer_check(&p);
  };
  const attend_status lost = wrong(ATTEND_LOST, ATTEND_ARG_RING);
  CHECK(attend_integer_ring_rows(&sequence.ring) == 4 * 32);
  while (sequence.taken < 96) sequence.append();
  CHECK(check(ATTEND_NO_LIMIT, 0) == ATTEND_OK);  // its three chunks still hold all
  CHECK(check(4, 4) == ATTEND_OK);
  sequence.append();
  CHECK(check(ATTEND_NO_LIMIT, 0) == lost);
  CHECK(check(64, 3) == ATTEND_OK);
  CHECK(check(65, 3) == lost);
  CHECK(check(64, 4) == lost);
}

TEST_CASE("c integer: rows of rings that are refused, and of positions that no ring has") {
  const attend_integer_ring ring = {8, 3}, refused[] = {{-1, 0}, {8, -1}, {ATTEND_MAX_TOKENS + 1, 0}, {8, PTRDIFF_MAX}};
  for (const attend_integer_ring& one : refused) {
    CHECK(attend_integer_ring_rows(&one) == 0);
    CHECK(attend_integer_ring_row(&one, 0) == -1);
  }
  CHECK(attend_integer_ring_row(&ring, -1) == -1);
  CHECK(attend_integer_ring_row(&ring, ATTEND_MAX_TOKENS) == -1);
  CHECK(attend_integer_ring_rows(nullptr) == 0);
  CHECK(attend_integer_ring_row(nullptr, 0) == -1);
}
