// Ranges of keys in the typed surface: the bits of a mask that says the same; and what calls with ranges or documents refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "../support/rounds.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Words {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 20, value_dim = 13, max_tokens = 96;
};
struct Bytes : Words {
  using arithmetic = attend::integer;
};
constexpr int tokens = 90;
struct LastWords {
  static constexpr int window = 60, sink_tokens = 3, tokens_at_once = 90;
};
constexpr attend::Quantisation<Bytes> quantisation(0.03, 0.03, 0.02, 0.01);

// Arrays, caches and what calls take, of a shape; integers take their quantisation besides.
template <class Shape>
struct World {
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  attend::Output<Shape, tokens> output, expected;
  attend::OptionWorkspace<Shape, tokens> work;
  attend::OptionWorkspace<Shape, tokens, attend::over_ring<LastWords>> work_of_ring;
  attend::KvCache<Shape> cache, pool;
  attend::RingCache<Shape, LastWords> ring;
  attend::PagedCache<attend::KvCache<Shape>, 32, 3> paged;
  attend::Ranges<tokens> ranges;
  attend::Mask<tokens, 1, Shape::max_tokens> mask;

  explicit World(std::uint64_t seed) {
    fill_array(query, seed);
    fill_array(key, seed + 1);
    fill_array(value, seed + 2);
    REQUIRE(cache.append(key, value) == Status::ok);
    REQUIRE(ring.append(key, value) == Status::ok);
    for (const int page : {2, 0, 1}) REQUIRE(paged.add_page(pool, page) == Status::ok);
    REQUIRE(paged.append(key, value) == Status::ok);
  }

  // Ranges, and the mask that says the same.
  template <class Range>
  void set(Range range) {
    for (int i = 0; i < tokens; ++i) {
      range(i, ranges.first[i], ranges.end[i]);
      for (int j = 0; j < Shape::max_tokens; ++j) mask[i][0][j] = j >= ranges.first[i] && j < ranges.end[i];
    }
  }

  template <class Options, class... Part>
  Status over(int place, const Options& options, attend::Output<Shape, tokens>& to, const Part&... part) {
    const auto call = [&](const auto&... rest) {
      if (place == 0) return attend::attention(query, key, value, to, work, rest...);
      if (place == 1) return attend::prefill(query, cache, to, work, rest...);
      if (place == 2) return attend::prefill(query, paged, to, work, rest...);
      return attend::prefill(query, ring, to, work_of_ring, rest...);
    };
    if constexpr (std::is_same_v<Shape, Bytes>) {
      return call(quantisation, options, part...);
    } else {
      return call(options, part...);
    }
  }
};

void chunks(int i, std::int32_t& first, std::int32_t& end) { first = i / 24 * 24, end = i + 1; }
void prefix(int i, std::int32_t& first, std::int32_t& end) { first = 0, end = std::max(i + 1, 37); }
void spans(int i, std::int32_t& first, std::int32_t& end) {
  const bool image = i / 10 % 3 == 1;
  first = std::max(0, i - 40), end = image ? i / 10 * 10 + 10 : i + 1;
}
void falling(int i, std::int32_t& first, std::int32_t& end) { first = (tokens - i) / 2, end = tokens - i / 3; }
// Far from the query's own key, where positions are or are not asked for.
void ahead(int i, std::int32_t& first, std::int32_t& end) { first = i + 11, end = i + 30; }
void behind(int i, std::int32_t& first, std::int32_t& end) { first = std::max(0, i - 50), end = std::max(0, i - 9); }
void beyond(int, std::int32_t& first, std::int32_t& end) { first = end = 0x7fffffff; }
void any(int i, std::int32_t& first, std::int32_t& end) {
  Random random(std::uint64_t(i) + 7);
  first = random.between(0, tokens + 4), end = first + random.between(0, 60);
}

template <class Shape>
void check_ranges() {
  auto w = std::make_unique<World<Shape>>(5);
  int taken = 0;
  for (const auto range : {chunks, prefix, spans, falling, ahead, behind, beyond, any}) {
    w->set(range);
    for (int place = 0; place < 4; ++place) {
      for (int option = 0; option < 4; ++option) {
        if (taken++ % stride() != 0) continue;
        attend::RangedOptions<Shape> options;
        options.causal = option % 2 == 0;
        if (option > 1) options.window_left = 25, options.sink_tokens = 2;
        if (option == 3) options.window_right = 0;
        if (options.causal.number || option > 1) options.offset = 0;
        if (place == 3 && !options.offset.given) options.offset = 0;
        // The ring has the last tokens, and what all see of the first is gone.
        if (place == 3) options.offset = tokens, options.causal = false;
        attend::ScoreOptions<Shape> masked = options;
        options.ranges = w->ranges;
        masked.mask = w->mask;
        fill_array(w->output, 8), fill_array(w->expected, 9);
        REQUIRE(w->over(place, masked, w->expected) == Status::ok);
        REQUIRE(w->over(place, options, w->output) == Status::ok);
        CHECK(same_array(w->output, w->expected));
        fill_array(w->output, 10);
        for (int part = 0; part < 5; ++part) REQUIRE(w->over(place, options, w->output, attend::Part{part, 5}) == Status::ok);
        CHECK(same_array(w->output, w->expected));
      }
    }
  }
}

}  // namespace

TEST_CASE("ranges: over arrays, a cache, pages and a ring they have the bits of a mask, in floats, in integers and in parts") {
  check_ranges<Words>();
  check_ranges<Bytes>();
}

TEST_CASE("ranges and documents: what is wrong is refused before anything is written") {
  auto w = std::make_unique<World<Words>>(5);
  w->set(chunks);
  attend::RangedOptions<Words> options = attend::causal();
  options.ranges = w->ranges;
  fill_array(w->output, 1);
  w->expected = w->output;
  const auto refused = [&](Status status, int place = 0) {
    CHECK(w->over(place, options, w->output) == status);
    CHECK(same_array(w->output, w->expected));
  };
  w->ranges.first[tokens - 1] = -1, refused(Status::bad_ranges);
  w->set(chunks), w->ranges.end[3] = w->ranges.first[3] - 1, refused(Status::bad_ranges);
  w->ranges.end[3] = -1, w->ranges.first[3] = -2, refused(Status::bad_ranges);
  w->set(chunks);
  attend::Ranges<tokens - 1> few = {};
  options.ranges = few, refused(Status::bad_ranges);
  options.query_length = tokens - 1, options.offset = 0;
  CHECK(w->over(0, options, w->output) == Status::ok);
  w->output = w->expected;
  options = attend::causal();
  options.ranges = w->ranges;
  static attend::Scores<Words, tokens, tokens> scores;
  options.scores = scores;
  options.score_stage = attend::ScoreStage::capped, refused(Status::bad_scores);
  options.score_stage = attend::ScoreStage::biased;
  CHECK(w->over(0, options, w->output) == Status::ok);
  CHECK(scores.data[30][0][23] < -3e38f);
  CHECK(scores.data[30][0][24] > -1e3f);
  w->output = w->expected;

  attend::Documents<2> documents;
  options = attend::causal();
  options.documents = documents;
  REQUIRE(documents.add(tokens) == Status::ok);
  refused(Status::bad_documents, 1);
  options.offset = 0, refused(Status::bad_documents);
  options.offset = {};
  options.query_length = tokens - 1, refused(Status::bad_documents);
  options.query_length = tokens, options.key_length = tokens - 1, refused(Status::bad_documents);
  options.key_length = tokens;
  CHECK(w->over(0, options, w->output) == Status::ok);
  w->output = w->expected;
  options.scores = scores, options.score_stage = attend::ScoreStage::raw, refused(Status::bad_scores);
  options.scores = {}, options.score_stage = {};
  options.query_length = {}, options.key_length = {};
  REQUIRE(documents.add(1) == Status::ok);
  refused(Status::bad_documents);
  documents.clear();
  REQUIRE(documents.add(20) == Status::ok);
  CHECK(w->over(0, options, w->output) == Status::ok);  // those after the last document stay as they are
  CHECK(!same_array(w->output[19], w->expected[19]));
  CHECK(same_array(w->output[20], w->expected[20]));
}

TEST_CASE("ranges: one limit alone is as both are where the other is that of all keys") {
  auto w = std::make_unique<World<Words>>(6);
  attend::FirstKeys<tokens> from;
  attend::EndKeys<tokens> to;
  for (int i = 0; i < tokens; ++i) from.first[i] = i / 24 * 24, to.end[i] = std::max(i + 1, 37);
  attend::RangedOptions<Words> both = attend::causal(), one = attend::causal();
  both.ranges = w->ranges;
  one.ranges = from;
  w->set([&](int i, std::int32_t& first, std::int32_t& end) { first = from.first[i], end = tokens; });
  REQUIRE(w->over(0, both, w->expected) == Status::ok);
  REQUIRE(w->over(0, one, w->output) == Status::ok);
  CHECK(same_array(w->output, w->expected));
  both.causal = one.causal = false;
  one.ranges = to;
  w->set([&](int i, std::int32_t& first, std::int32_t& end) { first = 0, end = to.end[i]; });
  REQUIRE(w->over(0, both, w->expected) == Status::ok);
  REQUIRE(w->over(0, one, w->output) == Status::ok);
  CHECK(same_array(w->output, w->expected));
  to.end[5] = -1;
  CHECK(w->over(0, one, w->output) == Status::bad_ranges);
  from.first[5] = -1, one.ranges = from;
  CHECK(w->over(0, one, w->output) == Status::bad_ranges);
}

TEST_CASE("ranges: each row of a batch has its own, and all are checked before the first is computed") {
  static attend::Query<Words, tokens> queries[2];
  static attend::KvCache<Words> caches[2];
  static attend::Output<Words, tokens> outputs[2], expected[2];
  static attend::Ranges<tokens> ranges[2];
  static attend::OptionWorkspace<Words, tokens> work;
  attend::RangedOptions<Words> options[2];
  for (int row = 0; row < 2; ++row) {
    auto w = std::make_unique<World<Words>>(std::uint64_t(row) + 20);
    queries[row] = w->query, caches[row] = w->cache;
    w->set(row == 0 ? chunks : spans);
    ranges[row] = w->ranges;
    options[row].causal = false;
    options[row].ranges = ranges[row];
    REQUIRE(attend::prefill(queries[row], caches[row], expected[row], work, options[row]) == Status::ok);
  }
  ranges[1].first[0] = -1;
  std::memset(static_cast<void*>(outputs), 0, sizeof outputs);
  CHECK(attend::prefill(queries, caches, outputs, work, options) == Status::bad_ranges);
  CHECK(outputs[0][0][0][0] == 0.0f);
  ranges[1].first[0] = 0;
  REQUIRE(attend::prefill(queries, caches, outputs, work, options) == Status::ok);
  CHECK(same_array(outputs, expected));
}
