// States: stopping after any key and going on, and merging segments, give the bits of one call.
#include <doctest/doctest.h>

#include "../support/rounds.h"
#include "option_random.h"
#include "option_ways.h"

using namespace attend_test;

namespace {

// Scores that are weights need the whole row, and a ring holds only its last keys.
constexpr unsigned state_wishes = ((1u << wish_count) - 1) & ~unsigned(rings | range_lists | document_lists);

void check_way(RandomInstance& in, int number, const OptionResults& expected, const Way& way, const char* backend) {
  const std::string wrong = difference(in, run_options(in, way), expected, false);
  if (wrong.empty()) return;
  const std::string problem = in.text();
  FAIL_CHECK(number, ": ", wrong, "; ", std::string(backend), " ", std::string(way.panels ? "panels" : "arrays"), " rows ",
             way.rows, " keys ", way.keys, std::string(way.merged ? " merged" : ""), " every ", way.state_keys, "; ", problem);
}

void without_weights(RandomInstance& in) {
  if (in.options.score_stage == core::Scores::weights) in.options.score_stage = core::Scores::biased;
}

// Whether weights may lie further apart than 2^125, beside values of so few digits that a product often lies halfway between two
// floats: a contribution below that may be absent, and decides then which of the two a sum becomes.
bool lets_ties_differ(const RandomInstance& in) { return in.options.value_format == core::Format::int4 && in.s.spread > 40.0f; }

}  // namespace

TEST_CASE("states that stop after 1, 5, 16, 64 or 100 keys and go on give the bits of one call") {
  for (const int number : each_round(240)) {
    Random random(std::uint64_t(number) + 80);
    unsigned wishes = random.bits() & (number % 2 == 0 ? score_wishes : state_wishes);
    if (number % 3 == 0) wishes &= random.bits();
    if (number < 3) wishes = 0;
    RandomInstance in(std::uint64_t(number) + 40000, wishes);
    without_weights(in);
    if (lets_ties_differ(in)) continue;
    const OptionResults expected = defined_results(in), whole = run_options(in);
    const std::string wrong = difference(in, whole, expected, true), problem = in.text();
    if (!wrong.empty()) FAIL_CHECK(number, ": ", wrong, "; one call; ", problem);
    for_each_backend([&](const char* backend) {
      const bool slow = std::string(backend) == "scalar";
      for (const int every : {1, 5, 16, 64, 100}) {
        if ((every == 1 && in.s.keys > 70) || (slow && every < 64 && number % 5 != 0)) continue;
        for (const bool panels : {false, true}) {
          if (panels && !in.fits_panels()) continue;
          Way way;
          way.panels = panels;
          way.state_keys = every;
          way.rows = number % 4 == 0 ? 1 : number % 4 == 1 ? 6 : 48;
          way.keys = number % 2 == 0 ? 64 : 128;
          check_way(in, number, whole, way, backend);
          if (every == 16) way.parts = 3, check_way(in, number, whole, way, backend);
        }
      }
    });
  }
}

TEST_CASE("states of one segment each, merged in ascending order, give the bits of one call") {
  for (const int number : each_round(60)) {
    Random random(std::uint64_t(number) + 81);
    unsigned wishes = random.bits() & (number % 2 == 0 ? score_wishes : state_wishes);
    if (number % 3 == 0) wishes &= random.bits();
    if (number < 3) wishes = 0;
    RandomInstance in(std::uint64_t(number) + 50000, wishes,
                      number % 4 == 0 ? random.between(1000, 1700) : random.between(500, 1040));
    without_weights(in);
    const OptionResults whole = run_options(in);
    for_each_backend([&](const char* backend) {
      if (std::string(backend) == "scalar" && number % 5 != 0) return;
      for (const bool panels : {false, true}) {
        if (panels && !in.fits_panels()) continue;
        Way way;
        way.panels = panels;
        way.merged = true;
        check_way(in, number, whole, way, backend);
      }
    });
  }
}

TEST_CASE("a state that has seen nothing, or rows that see nothing of a stretch of keys, change nothing") {
  // A window of few keys, far from most of them: most stops are before its first key or behind its last.
  for (const int offset : {0, 30, 90, 300, 560}) {
    RandomInstance in(std::uint64_t(offset) + 60000, windows | lse | sink_logits,
                      {4, 2, 12, 9, 20, 570, offset, 0.3f, 2.0f, false});
    in.options.left = 20, in.options.right = 2, in.options.sink_tokens = 0;
    in.poison_masked();
    const OptionResults whole = run_options(in);
    CHECK(difference(in, whole, defined_results(in), true) == "");
    for_each_backend([&](const char* backend) {
      for (const int every : {7, 64, 512}) {
        Way way;
        way.state_keys = every;
        check_way(in, offset, whole, way, backend);
        way.state_keys = 0, way.merged = true;
        check_way(in, offset, whole, way, backend);
      }
    });
  }
  RandomInstance empty(1, lse | windows);
  empty.s.keys = 0;
  Way way;
  way.state_keys = 16;
  // No key lies behind the origin: no head has arrays.
  RandomInstance past(6, lse | origins, {4, 2, 12, 9, 5, 1, 0, 0.3f, 2.0f, false});
  REQUIRE(past.options.origin == past.s.keys);
  for_each_backend([&](const char* backend) {
    check_way(empty, 0, defined_results(empty), way, backend);
    check_way(past, 0, defined_results(past), Way{}, backend);
  });
}

TEST_CASE("a few tokens over long caches of every format, at once and in stretches, have the defined bits") {
  for (const int number : each_round(60)) {
    Random random(std::uint64_t(number) + 90);
    OptionShape shape{};
    shape.kv_heads = random.between(1, 2);
    shape.query_heads = shape.kv_heads * random.between(1, 2);
    shape.head_dim = random.between(1, 40);
    shape.value_dim = random.between(1, 70);
    shape.queries = random.between(1, 3);
    shape.keys = random.between(450, 1300);
    shape.offset = shape.keys - shape.queries - random.between(0, 200) * (number % 2);
    shape.scale = attend::default_scale(shape.head_dim);
    shape.spread = 1.0f;
    shape.causal = true;
    const unsigned wishes = random.bits() & (windows | pins | page_tables | sink_logits);
    RandomInstance in(std::uint64_t(number) + 60000, half_formats | int8_formats | (number % 2 == 0 ? wishes : 0u), shape);
    const OptionResults whole = run_options(in);
    const std::string wrong = difference(in, whole, defined_results(in), true), problem = in.text();
    if (!wrong.empty()) FAIL_CHECK(number, ": ", wrong, "; one call; ", problem);
    for_each_backend([&](const char* backend) {
      for (const int every : {0, 64, 192, 700}) {
        Way way;
        way.panels = true;
        way.state_keys = every;
        way.rows = number % 3 == 0 ? 1 : 6;
        way.keys = way.rows == 1 ? 512 : 128;
        check_way(in, number, whole, way, backend);
      }
    });
  }
}
