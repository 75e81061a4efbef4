// Partials: over every cache and with every option, keys in any number of parts give the bits of one call.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "../support/rounds.h"
#include "partial_arrays.h"

using namespace attend_test;
using attend::bfloat16;
using attend::float16;
using attend::int8;
using attend::Part;
using attend::ScoreStage;
using attend::Status;

namespace {

struct Short {
  static constexpr int query_heads = 2, kv_heads = 2, head_dim = 6, max_tokens = 40;
};
struct Endless {  // names no max_tokens, which a ring does not need
  static constexpr int query_heads = 3, kv_heads = 1, head_dim = 7, value_dim = 4;
};

static_assert(sizeof(attend::Partials<Long, 3>) - (4 * 3 * 3 * (5 + 2) + 2 * 3) * sizeof(float) < attend::config::alignment,
              "heads, tokens, segments, row; and a mark for each key/value head and segment");

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
              static std::conditional_t<sizeof...(its) == 0, attend::Workspace<Shape, tokens>, NoWork> plain_work;
              return attend::prefill(query, cache, whole, plain_work, options);
            } else {
              return attend::prefill(query, cache, whole, its..., options);
            }
          }) == Status::ok);
  for (const int count : {1, 2, 3, 4, 5, 6, 7, 16}) {
    if (is_quick() && count % 2 == 0 && count < 16) continue;
    if (quick_share() > 12 && (count == 5 || count == 7)) continue;
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
    // The next call begins with all of its parts.
    if (cache.length() > 0) CHECK(attend::finish(cache, partials, found, options) == Status::bad_partials);
  }
}

template <class Shape, int tokens, class Sizes, class Cache>
void check_all_options(const Cache& cache, int window, int sink_tokens) {
  static const Arrays<Shape, tokens, 1500> arrays;
  static attend::OptionWorkspace<Shape, tokens, attend::detail::CacheTraits<Cache>::keys> work;
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
  static attend::OptionWorkspace<Endless, Sizes::tokens_at_once, attend::over_ring<Sizes>> work;
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
      const auto of_length = [length](attend::Options options) {
        if (length == 0) options.key_length = 0;  // said, or the empty cache is refused
        return options;
      };
      check<Long, 1, attend::detail::NoRing>(cache, none, of_length({}));
      check<Long, 1, attend::detail::NoRing>(cache, none, of_length(attend::causal()));
      check<Long, 3, attend::detail::NoRing>(cache, none, of_length(everything));
      check<Long, 3, attend::detail::NoRing>(cache, none, of_length(attend::causal(-1)));
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
    check_formats<float, float>(!is_scalar(backend) && !is_quick());
    check_formats<float16, float16>(false);
    check_formats<bfloat16, bfloat16>(false);
    check_formats<int8, int8>(!is_scalar(backend) && !is_quick());
    if (is_quick()) return;
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
    if (!is_scalar(backend) && !is_quick()) check_ring<RingOf<1100, 520, 7>, int8, float>({7, 900, 1499, 5000, 5632});
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
