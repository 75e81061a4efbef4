// Partials: what calls refuse, and what finish refuses of the parts that it finds.
#include <doctest/doctest.h>

#include <string>

#include "partial_arrays.h"

using namespace attend_test;
using attend::Part;
using attend::ScoreStage;
using attend::Status;

TEST_CASE("partials: what is out of range is refused with a status, and nothing is touched") {
  auto& cache = filled<attend::KvCache<Long>, Long, 300>(600);
  static attend::Query<Long, 3> query;
  static attend::Partials<Long, 3> partials, partials_before;
  static attend::Output<Long, 3> output, output_before;
  static attend::OptionWorkspace<Long, 3, attend::over_ring<RingOf<20, 0, 3>>> work;
  fill_array(query, 10);
  std::memset(static_cast<void*>(&partials), 0xff, sizeof partials);  // NaN
  fill_array(output, 12);
  std::memcpy(static_cast<void*>(&partials_before), static_cast<const void*>(&partials), sizeof partials);
  output_before = output;
  const auto untouched = [&] {
    CHECK(std::memcmp(&partials, &partials_before, sizeof partials) == 0);
    CHECK(same_array(output, output_before));
  };
  const auto refuse = [&](const attend::Options& options, Status status) {
    CHECK(attend::accumulate(query, cache, partials, options, Part{0, 1}) == status);
    CHECK(attend::accumulate(query, cache, partials, work, attend::ScoreOptions<Long>(options), Part{0, 1}) == status);
    CHECK(attend::finish(cache, partials, output, options) == status);
    CHECK(attend::finish(cache, partials, output, attend::ScoreOptions<Long>(options)) == status);
    untouched();
  };
  attend::Options options;
  for (const int keys : {-1, 601}) options.key_length = keys, refuse(options, Status::bad_key_length);
  options = {};
  for (const int queries : {-1, 4}) options.query_length = queries, refuse(options, Status::bad_query_length);
  options = {};
  options.scale = std::numeric_limits<float>::quiet_NaN();
  refuse(options, Status::bad_scale);
  options = {};
  options.causal = false;
  options.offset = 3;
  refuse(options, Status::no_effect);
  for (const Part part : {Part{-1, 2}, Part{2, 2}, Part{0, 0}, Part{0, -1}, Part{0, 65536}}) {
    CHECK(attend::accumulate(query, cache, partials, part) == Status::bad_part);
    CHECK(attend::accumulate(query, cache, partials, work, attend::ScoreOptions<Long>(), part) == Status::bad_part);
  }
  static attend::Scores<Long, 3, 600> scores;
  attend::ScoreOptions<Long> with_scores;
  with_scores.scores = scores;
  with_scores.score_stage = ScoreStage::weights;
  CHECK(attend::accumulate(query, cache, partials, work, with_scores) == Status::bad_scores);

  struct Sizes : RingOf<20, 0, 3> {};
  static attend::RingCache<Long, Sizes> ring;
  static attend::Partials<Long, 3, Sizes> of_ring;
  with_scores.score_stage = ScoreStage::biased;
  CHECK(attend::accumulate(query, ring, of_ring, work) == Status::bad_query_length);  // the last of no tokens
  options = {};
  options.causal = false;  // a ring's window counts positions too
  CHECK(attend::accumulate(query, ring, of_ring, work, options) == Status::bad_query_length);
  CHECK(attend::finish(ring, of_ring, output, options) == Status::bad_query_length);
  CHECK(attend::prefill(query, ring, output, work, options) == Status::bad_query_length);
  static attend::Key<Long, 3> key;
  static attend::Value<Long, 3> value;
  REQUIRE(ring.append(key, value) == Status::ok);
  CHECK(attend::accumulate(query, ring, of_ring, work, with_scores) == Status::bad_scores);

  REQUIRE(cache.truncate(2) == Status::ok);
  refuse(attend::causal(), Status::bad_query_length);
}

TEST_CASE("partials: finish refuses parts that are missing, of other options, or of another length of the cache") {
  auto& cache = filled<attend::KvCache<Long>, Long, 300>(1400);
  static const Arrays<Long, 1, 1500> arrays;
  static attend::OptionWorkspace<Long> work;
  static attend::Query<Long> query;
  static attend::Partials<Long> partials;
  attend::Output<Long> output, before;
  fill_array(query, 10);
  poison_array(output);
  before = output;
  const auto refused = [&](const attend::ScoreOptions<Long>& options) {
    CHECK(attend::finish(cache, partials, output, options) == Status::bad_partials);
    CHECK(same_array(output, before));
  };
  CHECK(attend::finish(cache, partials, output) == Status::bad_partials);  // zeros
  for (int i = 0; i < 3; ++i) CHECK(attend::accumulate(query, cache, partials, Part{i, 4}) == Status::ok);
  refused({});
  CHECK(attend::accumulate(query, cache, partials, Part{3, 4}) == Status::ok);
  CHECK(attend::finish(cache, partials, output) == Status::ok);
  poison_array(output);
  const attend::ScoreOptions<Long> none;
  attend::ScoreOptions<Long> options = none;
  options.sink_logits = arrays.sink_logits, refused(options), options = none;
  options.scale = 0.25f, refused(options), options = none;
  options.causal = true, refused(options), options = none;
  options.window_left = 5, refused(options), options = none;
  options.window_right = 5, refused(options), options = none;
  options.soft_cap = 2.0f, refused(options), options = none;
  options.mask = arrays.mask, refused(options), options = none;
  options.bias = arrays.bias, refused(options), options = none;
  options.alibi_slopes = arrays.alibi_slopes, refused(options), options = none;
  options.relative_bias = arrays.relative, refused(options), options = none;
  options.key_length = 1399, refused(options), options = none;
  options.query_length = 0, refused(options), options = none;

  // What was a sink logit of one part must be the same of all.
  options.sink_logits = arrays.sink_logits;
  for (int i = 0; i < 2; ++i) {
    CHECK(attend::accumulate(query, cache, partials, work, options, Part{i, 2}) == Status::ok);
  }
  refused(none);
  static const float others[4] = {-3.0f, -1.0f, 1.0f, 4.0f};
  options.sink_logits = others;
  refused(options);
  CHECK(attend::accumulate(query, cache, partials, work, options, Part{0, 2}) == Status::ok);
  refused(options);  // part 1 is of the others
  REQUIRE(cache.truncate(1399) == Status::ok);
  CHECK(attend::accumulate(query, cache, partials, work, options, Part{1, 2}) == Status::ok);
  refused(options);  // part 0 is of one token more
  CHECK(attend::accumulate(query, cache, partials, work, options, Part{0, 2}) == Status::ok);
  CHECK(attend::finish(cache, partials, output, options) == Status::ok);
}
