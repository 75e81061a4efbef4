// Ranges of keys and packed documents in the typed surface: the bits of a mask that says the same, and of separate calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "../support/random.h"
#include "attend/attend.h"

using attend::Status;
using attend_test::Random;

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

template <class Array>
void fill(Array& array, std::uint64_t seed) {
  Random random(seed);
  auto* const first = &array.data[0][0][0];
  for (std::size_t i = 0; i < sizeof array / sizeof *first; ++i) {
    if constexpr (sizeof *first == 1) {
      first[i] = static_cast<std::int8_t>(random.bits() >> 24);
    } else {
      first[i] = random.uniform();
    }
  }
}
template <class Array>
bool same(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

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
    fill(query, seed);
    fill(key, seed + 1);
    fill(value, seed + 2);
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
  for (const auto range : {chunks, prefix, spans, falling, ahead, behind, beyond, any}) {
    w->set(range);
    for (int place = 0; place < 4; ++place) {
      for (int option = 0; option < 4; ++option) {
        attend::RangedOptions<Shape> options;
        options.causal = option % 2 == 0;
        if (option > 1) options.window_left = 25, options.sink_tokens = 2;
        if (options.causal.number || option > 1) options.offset = 0;
        if (place == 3 && !options.offset.given) options.offset = 0;
        // The ring has the last tokens, and what all see of the first is gone.
        if (place == 3) options.offset = tokens, options.causal = false;
        attend::ScoreOptions<Shape> masked = options;
        options.ranges = w->ranges;
        masked.mask = w->mask;
        fill(w->output, 8), fill(w->expected, 9);
        REQUIRE(w->over(place, masked, w->expected) == Status::ok);
        REQUIRE(w->over(place, options, w->output) == Status::ok);
        CHECK(same(w->output, w->expected));
        fill(w->output, 10);
        for (int part = 0; part < 5; ++part) REQUIRE(w->over(place, options, w->output, attend::Part{part, 5}) == Status::ok);
        CHECK(same(w->output, w->expected));
      }
    }
  }
}

}  // namespace

TEST_CASE("ranges: over arrays, a cache, pages and a ring they have the bits of a mask, in floats, in integers and in parts") {
  check_ranges<Words>();
  check_ranges<Bytes>();
}

namespace {

struct Packed {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 12, value_dim = 9;
};
struct PackedBytes : Packed {
  using arithmetic = attend::integer;
};
constexpr attend::Quantisation<PackedBytes> of_packed(0.03, 0.03, 0.02, 0.01);
constexpr int lengths[] = {37, 1000, 1, 0, 513, 100}, packed_tokens = 1651;

template <class Shape>
struct PackedWorld {
  attend::Query<Shape, packed_tokens> query;
  attend::Key<Shape, packed_tokens> key;
  attend::Value<Shape, packed_tokens> value;
  attend::Output<Shape, packed_tokens> output, expected, alone;
  attend::OptionWorkspace<Shape, packed_tokens, packed_tokens> work;
  attend::Documents<6> documents;
};

template <class Shape>
void check_documents(bool causal, bool windowed) {
  auto w = std::make_unique<PackedWorld<Shape>>();
  fill(w->query, 1), fill(w->key, 2), fill(w->value, 3);
  attend::RangedOptions<Shape> options;
  options.causal = causal;
  if (windowed) options.window_left = 30, options.sink_tokens = 4;
  options.documents = w->documents;
  const auto call = [&](const auto& with, auto& to, const auto&... part) {
    if constexpr (std::is_same_v<Shape, PackedBytes>) {
      return attend::attention(w->query, w->key, w->value, to, w->work, of_packed, with, part...);
    } else {
      return attend::attention(w->query, w->key, w->value, to, w->work, with, part...);
    }
  };
  // Each alone: the first tokens of the same arrays, to which it is moved.
  int first = 0;
  const auto packed_query = w->query;
  const auto packed_key = w->key;
  const auto packed_value = w->value;
  for (const int length : lengths) {
    REQUIRE(w->documents.add(length) == Status::ok);
    attend::ScoreOptions<Shape> of_one = options;
    of_one.query_length = of_one.key_length = length;
    const auto move = [&](auto& to, const auto& from) {
      const auto bytes = sizeof to.data[0] * std::size_t(length);
      std::memcpy(to.data, &from.data[first], bytes);
    };
    move(w->query, packed_query), move(w->key, packed_key), move(w->value, packed_value);
    REQUIRE(call(of_one, w->alone) == Status::ok);
    std::memcpy(&w->expected.data[first], w->alone.data, sizeof w->alone.data[0] * std::size_t(length));
    first += length;
  }
  REQUIRE(first == packed_tokens);
  w->query = packed_query, w->key = packed_key, w->value = packed_value;
  REQUIRE(call(options, w->output) == Status::ok);
  CHECK(same(w->output, w->expected));
  fill(w->output, 4);
  for (int part = 0; part < 3; ++part) REQUIRE(call(options, w->output, attend::Part{part, 3}) == Status::ok);
  CHECK(same(w->output, w->expected));
}

}  // namespace

TEST_CASE("documents: of 1, 37, 100, 513 and 1,000 tokens and of none, side by side, each has the bits that it has alone") {
  for (const bool causal : {false, true}) {
    for (const bool windowed : {false, true}) {
      check_documents<Packed>(causal, windowed);
      check_documents<PackedBytes>(causal, windowed);
    }
  }
}

TEST_CASE("documents: their list refuses what does not fit; boundaries are its tokens") {
  attend::Documents<2> documents;
  CHECK(documents.tokens() == 0);
  CHECK(documents.add(-1) == Status::bad_count);
  CHECK(documents.add(7) == Status::ok);
  CHECK(documents.add(0x7fffffff - 6) == Status::bad_count);
  CHECK(documents.add(0x7fffffff - 7) == Status::ok);
  CHECK(documents.add(0) == Status::bad_count);
  CHECK(documents.count() == 2);
  CHECK(documents.tokens() == 0x7fffffff);
  CHECK(documents.first_token(1) == 7);
  documents.clear();
  CHECK(documents.add(3) == Status::ok);
  CHECK(documents.tokens() == 3);
}

TEST_CASE("ranges and documents: what is wrong is refused before anything is written") {
  auto w = std::make_unique<World<Words>>(5);
  w->set(chunks);
  attend::RangedOptions<Words> options = attend::causal();
  options.ranges = w->ranges;
  fill(w->output, 1);
  w->expected = w->output;
  const auto refused = [&](Status status, int place = 0) {
    CHECK(w->over(place, options, w->output) == status);
    CHECK(same(w->output, w->expected));
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
  CHECK(!same(w->output[19], w->expected[19]));
  CHECK(same(w->output[20], w->expected[20]));
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
  CHECK(same(w->output, w->expected));
  both.causal = one.causal = false;
  one.ranges = to;
  w->set([&](int i, std::int32_t& first, std::int32_t& end) { first = 0, end = to.end[i]; });
  REQUIRE(w->over(0, both, w->expected) == Status::ok);
  REQUIRE(w->over(0, one, w->output) == Status::ok);
  CHECK(same(w->output, w->expected));
  to.end[5] = -1;
  CHECK(w->over(0, one, w->output) == Status::bad_ranges);
  from.first[5] = -1, one.ranges = from;
  CHECK(w->over(0, one, w->output) == Status::bad_ranges);
}

namespace {

// A layer over 40 tokens, by itself and by hand.
struct Small {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 8, max_tokens = 40;
};

}  // namespace

TEST_CASE("ranges: a layer takes them, in one call and block by block, and documents where no step needs positions") {
  static attend::Weights<16, 16> wq, wo;
  static attend::Weights<8, 16> wk, wv;
  Random random(3);
  for (auto* weights : {&wq, &wo}) random.fill(&weights->data[0][0], 16 * 16, 0.5f);
  for (auto* weights : {&wk, &wv}) random.fill(&weights->data[0][0], 8 * 16, 0.5f);
  static attend::Vectors<40, 16> x, y, expected;
  random.fill(&x.data[0][0], 40 * 16, 1.0f);
  const auto layer = attend::multi_head<Small>(wq, wk, wv, wo);
  static attend::LayerWorkspace<Small, 40, 40, attend::with_options> work;
  static attend::LayerWorkspace<Small, 40, attend::over_cache, attend::with_options> over_cache;
  static attend::Ranges<40> ranges;
  static attend::Mask<40, 1, 40> mask;
  for (int i = 0; i < 40; ++i) {
    ranges.first[i] = i / 11 * 11, ranges.end[i] = i % 7 == 0 ? i + 1 : i / 11 * 11 + 11;
    for (int j = 0; j < 40; ++j) mask[i][0][j] = j >= ranges.first[i] && j < ranges.end[i];
  }
  attend::ScoreOptions<Small> masked;
  masked.mask = mask;
  attend::RangedOptions<Small> ranged;
  ranged.ranges = ranges;
  REQUIRE(attend::self_attention(x, layer, expected, work, masked) == Status::ok);
  REQUIRE(attend::self_attention(x, layer, y, work, ranged) == Status::ok);
  CHECK(same(y, expected));
  static attend::KvCache<Small> cache;
  masked.causal = ranged.causal = false;
  random.fill(&y.data[0][0], 40 * 16, 1.0f);
  REQUIRE(attend::self_attention(x, layer, cache, y, over_cache, ranged) == Status::ok);
  CHECK(same(y, expected));

  attend::Documents<4> documents;
  attend::RangedOptions<Small> packed = attend::causal();
  packed.documents = documents;
  for (const int length : {13, 20, 7}) REQUIRE(documents.add(length) == Status::ok);
  for (int i = 0; i < 40; ++i) {
    const int first = i < 13 ? 0 : i < 33 ? 13 : 33;
    for (int j = 0; j < 40; ++j) mask[i][0][j] = j >= first && j <= i;
  }
  masked = {};
  masked.mask = mask;
  REQUIRE(attend::self_attention(x, layer, expected, work, masked) == Status::ok);
  REQUIRE(attend::self_attention(x, layer, y, work, packed) == Status::ok);
  // Chains of 64 keys begin with each document: the last bit may be another.
  for (int i = 0; i < 40; ++i) {
    for (int c = 0; c < 16; ++c) CHECK(y[i][c] == doctest::Approx(double(expected[i][c])).epsilon(1e-5));
  }
  // Steps that take no notice of positions are the same in documents: here with outputs of half of what they were.
  static float gain[8];
  static attend::Weights<16, 16> gate;  // zeros, whose sigmoid is 0.5
  std::fill(gain, gain + 8, 1.0f);
  const auto normed = attend::multi_head<Small>(wq, wk, wv, wo, attend::head_norm(gain, gain));
  const auto halved = attend::multi_head<Small>(wq, wk, wv, wo, attend::head_norm(gain, gain), attend::gated(gate));
  REQUIRE(attend::self_attention(x, normed, expected, work, packed) == Status::ok);
  REQUIRE(attend::self_attention(x, halved, y, work, packed) == Status::ok);
  for (int i = 0; i < 40; ++i) {
    for (int c = 0; c < 16; ++c) CHECK(y[i][c] * 2 == expected[i][c]);
  }
  static attend::Rotary<8> rotary;
  REQUIRE(rotary.init() == Status::ok);
  const auto turning = attend::multi_head<Small>(wq, wk, wv, wo, attend::rotated<attend::RotaryPairs::halves>(rotary));
  CHECK(attend::self_attention(x, turning, y, work, packed) == Status::bad_documents);
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
  CHECK(same(outputs, expected));
}
