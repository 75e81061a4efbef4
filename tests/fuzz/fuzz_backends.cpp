// For libFuzzer: bytes become a problem with options, by the generator of the unit tests. Every backend of the machine must
// have the bits that the definition says, and those must be within the error bound of the float64 oracle. Keys that no query
// sees hold NaN, infinities and huge numbers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../conformance/option_random.h"
#include "../conformance/option_ways.h"
#include "../conformance/oracle.h"
#include "small.h"

namespace {

using namespace attend_test;

constexpr unsigned all_wishes = (1u << wish_count) - 1;

struct Counts {
  long problems = 0, free = 0, calls = 0, same_as_scalar = 0;
  unsigned wishes = 0;
  ~Counts() {
    std::printf(
        "fuzz: %ld problems, %ld of them left out for a weight near 2^-125, %ld calls, %ld byte for byte as scalar code, %s "
        "option\n",
        problems, free, calls, same_as_scalar, wishes == all_wishes ? "every" : "not every");
  }
} counts;

[[noreturn]] void stop(const char* backend, const OptionInstance& in, const Way& way, const std::string& wrong) {
  std::fprintf(stderr, "found: %s: %s; call %d, %s rows %d keys %d parts %d states %d%s; %s\n", backend, wrong.c_str(),
               int(way.call), way.panels ? "panels" : "arrays", way.rows, way.keys, way.parts, way.state_keys,
               way.merged ? " merged" : "", in.text().c_str());
  std::abort();
}

unsigned drawn_wishes(Random& random) {
  const unsigned some = random.bits(), fewer = some & random.bits();
  const int how_many = random.between(0, 7);
  if (!small) return how_many == 0 ? 0 : how_many < 4 ? fewer : some;
  // Groups of int4 make a problem large.
  const unsigned few = fewer & random.bits(), without = random.between(0, 3) == 0 ? 0u : unsigned(int4_formats);
  return (how_many < 5 ? few : how_many < 7 ? fewer : some) & ~without;
}

// How the problem is computed, but for what its options exclude.
Way drawn_way(Random& random) {
  Way way;
  way.call = Call(random.between(0, 2));
  way.panels = random.between(0, 1) != 0;
  const int rows[] = {96, 48, 13, 6, 2, 1}, keys[] = {64, 128, 512};
  const bool bigger = !small || random.between(0, 15) == 0;
  way.rows = rows[random.between(bigger ? 0 : 3, 5)];
  way.keys = keys[random.between(0, !bigger ? 0 : way.rows == 1 ? 2 : 1)];
  way.parts = random.between(0, 2) == 0 ? random.between(2, small ? 3 : 9) : 1;
  const int states = random.between(0, 5);
  if (states == 1) way.state_keys = random.between(1, 130);
  way.merged = states == 2;
  return way;
}

void adapt(Way& way, const OptionInstance& in) {
  if (!in.fits_panels()) way.panels = false;
  // A ring holds its last keys only, scores that are weights need the whole row, and states take no ranges.
  const bool whole = in.has(rings | range_lists | document_lists) || in.options.score_stage == core::Scores::weights;
  if (whole) way.state_keys = 0, way.merged = false;
  if (in.wishes != 0) way.call = Call::options;
}

// The one freedom of the arithmetic: a weight below 2^-125 of the row's largest may be absent, present or rounded. Where exact
// sums of bytes lie in the middle between two floats, it decides to which they are rounded.
bool has_free_weights(const OptionInstance& in) {
  for (int token = 0; token < in.s.queries; ++token) {
    for (int head = 0; head < in.s.query_heads; ++head) {
      const std::vector<float> scores = defined_row(in.row(token, head)).biased;
      const float largest = scores.empty() ? minus_infinity : *std::max_element(scores.begin(), scores.end());
      const auto is_free = [&](float score) { return largest - score > 85.0f && largest - score < 115.0f; };  // 2^-123 … 2^-165
      if (std::any_of(scores.begin(), scores.end(), is_free)) return true;
    }
  }
  return false;
}

bool same_bytes(const OptionResults& a, const OptionResults& b) {
  return same_bits(a.output, b.output) && same_bits(a.lse, b.lse) && same_bits(a.scores, b.scores);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Random random(data, size);
  const unsigned wishes = drawn_wishes(random);
  Way way = drawn_way(random);
  RandomInstance in(random, wishes, small);
  adapt(way, in);
  ++counts.problems;
  if (!small && has_free_weights(in)) {
    ++counts.free;
    return 0;
  }
  const OptionResults defined = defined_results(in);
  counts.wishes |= in.wishes & all_wishes;
  if (small) {
    const char* const backend = backend_for_a_while(counts.problems);
    const std::string wrong = difference(in, run_options(in, way), defined, true);
    const bool is_free = !wrong.empty() && has_free_weights(in);
    if (!wrong.empty() && !is_free) stop(backend, in, way, "not as defined: " + wrong);
    ++(is_free ? counts.free : counts.calls);
    if (counts.problems % 16 != 0) return 0;
  } else {
    attend::use_backend("scalar");
    const OptionResults scalar = run_options(in, way);
    for_each_backend([&](const char* backend) {
      const OptionResults found = run_options(in, way);
      ++counts.calls;
      counts.same_as_scalar += same_bytes(found, scalar);
      std::string wrong = difference(in, found, scalar, false);
      if (!wrong.empty()) stop(backend, in, way, "not as scalar code: " + wrong);
      wrong = difference(in, found, defined, true);
      if (!wrong.empty()) stop(backend, in, way, "not as defined: " + wrong);
    });
  }
  for (int token = 0; token < in.s.queries; ++token) {
    for (int head = 0; head < in.s.query_heads; ++head) {
      const double error = definition_error(in.row(token, head));
      if (!(error <= 1.0)) stop("definition", in, way, "an error of " + std::to_string(error) + " of the bound");
    }
  }
  return 0;
}
