// Partials: over every cache and with every option, keys in any number of parts give the bits of one call.
#include <doctest/doctest.h>

#include <string>

#include "../support/typed_objects.h"

using namespace attend_test;
using attend::bfloat16;
using attend::float16;
using attend::int8;
using attend::Part;
using attend::ScoreStage;
using attend::Status;

namespace {

struct Long {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 6, value_dim = 5, max_tokens = 1500;
};
struct Short {
  static constexpr int query_heads = 2, kv_heads = 2, head_dim = 6, max_tokens = 40;
};
struct Endless {  // names no max_tokens, which a ring does not need
  static constexpr int query_heads = 3, kv_heads = 1, head_dim = 7, value_dim = 4;
};

static_assert(sizeof(attend::Partials<Long, 3>) - (4 * 3 * 3 * (5 + 2) + 2 * 3) * sizeof(float) < attend::config::alignment,
              "heads, tokens, segments, row; and a mark for each key/value head and segment");

// A cache that has been given `length` tokens, a few at a time.
template <class Cache, class Shape, int at_once>
Cache& filled(int length) {
  static Cache cache;
  static attend::Key<Shape, at_once> key;
  static attend::Value<Shape, at_once> value;
  cache.clear();
  for (int from = 0; from < length; from += at_once) {
    fill_array(key, std::uint64_t(from) + 8);
    fill_array(value, std::uint64_t(from) + 9);
    REQUIRE(cache.append(key, value, std::min(at_once, length - from)) == Status::ok);
  }
  return cache;
}

// What calls over caches of floats with Options do without, and others need.
struct NoWork {};

template <class Call>
auto with(NoWork&, Call call) {
  return call();
}
template <class Work, class Call>
auto with(Work& work, Call call) {
  return call(work);
}

// Calls for `tokens` tokens in parts, compared with one call of prefill, or of decode for one.
template <class Shape, int tokens, class Sizes, class Cache, class Work, class AnyOptions>
void check(const Cache& cache, Work& work, const AnyOptions& options) {
  static attend::Query<Shape, tokens> query;
  static attend::Partials<Shape, tokens, Sizes> partials;
  static attend::Output<Shape, tokens> whole, found;
  fill_array(query, 10, 3.0f);
  poison_array(whole);
  REQUIRE(with(work, [&](auto&... its) {
            if constexpr (tokens == 1) {
              return attend::decode(query, cache, whole, its..., options);
            } else if constexpr (sizeof...(its) == 0) {
              static attend::Workspace<Shape, tokens> plain_work;
              return attend::prefill(query, cache, whole, plain_work, options);
            } else {
              return attend::prefill(query, cache, whole, its..., options);
            }
          }) == Status::ok);
  for (const int count : {1, 2, 3, 4, 5, 6, 7, 16}) {
    CAPTURE(count);
    std::memset(static_cast<void*>(&partials), 0xff, sizeof partials);  // NaN
    poison_array(found);
    for (int i = count - 1; i >= 0; --i) {
      REQUIRE(with(work, [&](auto&... its) {
                return attend::accumulate(query, cache, partials, its..., options, Part{i, count});
              }) == Status::ok);
    }
    REQUIRE(attend::finish(cache, partials, found, options) == Status::ok);
    CHECK(same_array(found, whole));
  }
}

// Everything that ScoreOptions can point to for a shape.
template <class Shape, int tokens, int keys>
struct Arrays {
  using Options = attend::ScoreOptions<Shape>;
  static constexpr int heads = Shape::query_heads;
  attend::Mask<tokens, heads, keys> mask;
  attend::BitMask<1, 1, keys> bits;
  attend::Bias<tokens, 1, keys> bias;
  attend::RelativeBias<heads, 40, 3> relative;
  float alibi_slopes[heads], sink_logits[heads];

  Arrays() {
    Random random(7);
    for (auto& of_token : mask.data) {
      for (auto& of_head : of_token) {
        for (auto& visible : of_head) visible = std::uint8_t(random.between(0, 2));
      }
    }
    for (int key = 0; key < keys; ++key)
      bits.set(0, 0, key, random.between(0, 5) != 0 && key / 512 != 1);  // a segment is hidden
    fill_array(bias, 3, 2.0f);
    bias[0][0][17] = -std::numeric_limits<float>::infinity();
    fill_array(relative, 4);
    for (int head = 0; head < heads; ++head) alibi_slopes[head] = 0.01f * float(head), sink_logits[head] = float(2 * head - 3);
  }

  // Some of the options; a ring has a window and sink tokens of its own, and may have fewer.
  std::vector<Options> all(int window, int sink_tokens) const {
    std::vector<Options> some(1);
    const auto add = [&](auto change) {
      some.emplace_back();
      change(some.back());
    };
    add([](Options& o) { o.causal = false, o.scale = -0.5f; });
    add([&](Options& o) { o.window_left = window - 1; });
    add([&](Options& o) { o.window_left = window / 2, o.sink_tokens = std::min(sink_tokens, 3), o.soft_cap = 4.0f; });
    add([&](Options& o) { o.causal = false, o.window_left = window / 3, o.window_right = 9; });
    add([&](Options& o) { o.sink_logits = sink_logits; });
    add([&](Options& o) { o.mask = mask, o.alibi_slopes = alibi_slopes; });
    add([&](Options& o) { o.mask = bits, o.sink_logits = sink_logits; });
    add([&](Options& o) { o.bias = bias, o.relative_bias = relative, o.window_left = std::max(window - 2, 0); });
    return some;
  }
};

template <class Shape, int tokens, class Sizes, class Cache>
void check_all_options(const Cache& cache, int window, int sink_tokens) {
  static const Arrays<Shape, tokens, 1500> arrays;
  static attend::OptionWorkspace<Shape, tokens> work;
  static attend::Lse<Shape, tokens> lse;
  int number = 0;
  for (auto options : arrays.all(window, sink_tokens)) {
    ++number;
    CAPTURE(number);
    options.lse = lse;
    check<Shape, tokens, Sizes>(cache, work, options);
  }
}

template <class KeyFormat, class ValueFormat>
void check_formats(bool thorough) {
  using Cache = attend::KvCache<Long, KeyFormat, ValueFormat>;
  static attend::OptionWorkspace<Long> work;
  static attend::OptionWorkspace<Long, 3> work_of_three;
  for (const int length : {3, 512, 513, 1500}) {
    if (!thorough && length < 1500) continue;
    CAPTURE(length);
    const Cache& cache = filled<Cache, Long, 300>(length);
    if constexpr (!attend::detail::CacheTraits<Cache>::plain) {
      check<Long, 1, attend::detail::NoRing>(cache, work, attend::Options{});
      check<Long, 3, attend::detail::NoRing>(cache, work_of_three, attend::causal(length - 2));
    }
    check_all_options<Long, 1, attend::detail::NoRing>(cache, 700, 3);
    check_all_options<Long, 3, attend::detail::NoRing>(cache, 700, 3);
  }
}

template <class Sizes, class KeyFormat, class ValueFormat>
void check_ring(std::initializer_list<int> lengths) {
  using Cache = attend::RingCache<Endless, Sizes, KeyFormat, ValueFormat>;
  static attend::OptionWorkspace<Endless, Sizes::tokens_at_once> work;
  for (const int length : lengths) {
    CAPTURE(length);
    const Cache& cache = filled<Cache, Endless, Sizes::tokens_at_once>(length);
    check<Endless, 1, Sizes>(cache, work, attend::Options{});
    check<Endless, Sizes::tokens_at_once, Sizes>(cache, work, attend::Options{});
    if (length > 1500) continue;  // masks have no more keys
    check_all_options<Endless, 1, Sizes>(cache, Sizes::window, Sizes::sink_tokens);
    check_all_options<Endless, Sizes::tokens_at_once, Sizes>(cache, Sizes::window, Sizes::sink_tokens);
  }
}

bool is_scalar(const char* backend) { return std::string(backend) == "scalar"; }

}  // namespace

TEST_CASE("partials: over a cache of floats, with Options, they agree with decode and prefill") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    NoWork none;
    attend::Options everything;
    everything.causal = false;
    using Cache = attend::KvCache<Long>;
    for (const int length : {0, 1, 512, 513, 1500}) {
      CAPTURE(length);
      const Cache& cache = filled<Cache, Long, 1500>(length);
      check<Long, 1, attend::detail::NoRing>(cache, none, attend::Options{});
      check<Long, 1, attend::detail::NoRing>(cache, none, attend::causal());
      check<Long, 3, attend::detail::NoRing>(cache, none, everything);
      check<Long, 3, attend::detail::NoRing>(cache, none, attend::causal(-1));
    }
    check<Long, 3, attend::detail::NoRing>(filled<Cache, Long, 1500>(1025), none, attend::causal());
    using Few = attend::KvCache<Short>;
    check<Short, 1, attend::detail::NoRing>(filled<Few, Short, 40>(17), none, attend::Options{});
    check<Short, 5, attend::detail::NoRing>(filled<Few, Short, 40>(40), none, attend::causal());
    attend::Options options = attend::causal();
    options.key_length = 1100;
    options.query_length = 2;
    options.offset = 1030;
    options.scale = -0.5f;
    check<Long, 3, attend::detail::NoRing>(filled<Cache, Long, 1500>(1500), none, options);
  });
}

TEST_CASE("partials: every format of keys and values, with every option") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    check_formats<float, float>(!is_scalar(backend));
    check_formats<float16, float16>(false);
    check_formats<bfloat16, bfloat16>(false);
    check_formats<int8, int8>(!is_scalar(backend));
    check_formats<int8, float16>(false);
    check_formats<float, bfloat16>(false);
  });
}

TEST_CASE("partials: rings of one group and of several segments, before and after they wrap") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    check_ring<RingOf<16, 0, 1>, float, float>({1, 40, 512, 513});
    check_ring<RingOf<1, 600, 5>, int8, int8>({5, 599, 601, 1200});
    check_ring<RingOf<700, 4, 3>, float16, float16>({3, 703, 1500, 3001});
    if (!is_scalar(backend)) check_ring<RingOf<1100, 520, 7>, int8, float>({7, 900, 1499, 5000, 5632});
  });
}

TEST_CASE("partials: log-sum-exp, scores, and sums that another thread or backend has made") {
  const auto& cache = filled<attend::KvCache<Long, int8>, Long, 300>(1500);
  static const Arrays<Long, 2, 1500> arrays;
  static attend::OptionWorkspace<Long, 2> work;
  static attend::Query<Long, 2> query;
  static attend::Partials<Long, 2> partials;
  static attend::Output<Long, 2> whole, found;
  static attend::Lse<Long, 2> whole_lse, lse;
  static attend::Scores<Long, 2, 1500> whole_scores, scores;
  fill_array(query, 4, 3.0f);
  const std::string before = attend::active_backend();
  for (const ScoreStage stage : {ScoreStage::raw, ScoreStage::capped, ScoreStage::biased}) {
    attend::ScoreOptions<Long> options;
    options.window_left = 600;
    options.sink_tokens = 2;
    options.soft_cap = 3.0f;
    options.bias = arrays.bias;
    options.sink_logits = arrays.sink_logits;
    options.lse = whole_lse;
    options.scores = whole_scores;
    options.score_stage = stage;
    REQUIRE(attend::prefill(query, cache, whole, work, options) == Status::ok);
    poison_array(lse);
    poison_array(scores);
    options.lse = lse;
    options.scores = scores;
    for (int i = 0; i < 4; ++i) {
      attend::use_backend(attend::backend_name(i % attend::backend_count()));
      CHECK(attend::accumulate(query, cache, partials, work, options, Part{i, 4}) == Status::ok);
    }
    attend::use_backend(before.c_str());
    CHECK(attend::finish(cache, partials, found, options) == Status::ok);
    CHECK(same_array(found, whole));
    CHECK(same_array(lse, whole_lse));
    CHECK(same_array(scores, whole_scores));
  }
}

TEST_CASE("partials: what is out of range is refused with a status, and nothing is touched") {
  auto& cache = filled<attend::KvCache<Long>, Long, 300>(600);
  static attend::Query<Long, 3> query;
  static attend::Partials<Long, 3> partials, partials_before;
  static attend::Output<Long, 3> output, output_before;
  static attend::OptionWorkspace<Long, 3> work;
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
