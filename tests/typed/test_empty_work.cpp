// Calls with nothing to do, as the table of empty work in include/guide/options.md has them: no key gives the output's zero and
// a log-sum-exp of minus infinity, no query writes nothing, and what somebody may have forgotten is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "attend/merged_states.h"

using attend::Status;

namespace {

struct Floats {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 4, max_tokens = 1100;
  static constexpr float zero = 0.0f;
};
struct Integers : Floats {
  using arithmetic = attend::integer;
  static constexpr std::int8_t zero = -3;
};
constexpr attend::Quantisation<Integers> meaning_of_integers(0.03, 0.03, 0.02, {0.01, Integers::zero});

// What is in an output that was poisoned.
enum Found { untouched, zeros, numbers, others };
template <class Shape>
Found found_in(const attend::Output<Shape, 2>& output) {
  attend::Output<Shape, 2> poison;
  std::memset(&poison, 0x55, sizeof poison);
  if (std::memcmp(&output, &poison, sizeof poison) == 0) return untouched;
  int zero = 0, count = 0;
  for (const auto& token : output.data) {
    for (const auto& head : token) {
      for (const auto& number : head) zero += number == Shape::zero, ++count;
    }
  }
  return zero == count ? zeros : zero == 0 ? numbers : others;
}

// meaning: of integers a Quantisation.
template <class Shape, class... Meaning>
void walk(const Meaning&... meaning) {
  static attend::Query<Shape, 2> query;
  static attend::Key<Shape, 5> key;
  static attend::Value<Shape, 5> value;
  static attend::Output<Shape, 2> output;
  static attend::OptionWorkspace<Shape, 2> work;
  static attend::KvCache<Shape> cache;
  using State = attend::State<Shape, 2, 4>;
  static State state, taken, before, fresh;
  static std::uint8_t saved[State::most_saved_bytes];
  std::memset(&query, 1, sizeof query);
  std::memset(&key, 1, sizeof key), std::memset(&value, 1, sizeof value);
  const auto gives = [&](Found expected, Status status) {
    CHECK(status == Status::ok);
    CHECK(found_in<Shape>(output) == expected);
    std::memset(&output, 0x55, sizeof output);
  };
  const auto refused = [&](Status expected, Status status) {
    CHECK(status == expected);
    CHECK(found_in<Shape>(output) == untouched);
  };
  const auto arrays = [&](const auto& options) {
    return attend::attention(query, key, value, output, work, meaning..., options);
  };
  const auto cached = [&](const auto& options) { return attend::prefill(query, cache, output, work, meaning..., options); };
  const auto takes = [&](int up_to, const attend::Options& options) {
    return attend::accumulate(query, key, value, state, up_to, work, meaning..., options);
  };
  const auto takes_of_cache = [&](int up_to, const auto& options) {
    return attend::accumulate(query, cache, state, up_to, work, meaning..., options);
  };
  std::memset(&output, 0x55, sizeof output);
  const auto with = [](auto change) {
    attend::Options options;
    options.causal = false;
    change(options);
    return options;
  };
  const auto no_keys = with([](auto&o) { o.key_length = 0; }), no_queries = with([](auto&o) { o.query_length = 0; });

  // No keys, no queries.
  gives(zeros, arrays(no_keys));
  refused(Status::ambiguous_offset, arrays(with([](auto& o) { o.key_length = 0, o.causal = true; })));
  gives(zeros, arrays(with([](auto& o) { o.key_length = 0, o.causal = true, o.offset = 0; })));
  gives(untouched, arrays(no_queries));
  gives(untouched, arrays(with([](auto& o) { o.query_length = 0, o.causal = true; })));
  gives(untouched, arrays(with([](auto& o) { o.query_length = 0, o.key_length = 0, o.causal = true; })));

  // Keys that nobody sees, and documents without tokens.
  static attend::Mask<1, 1, 5> mask;
  attend::ScoreOptions<Shape> masked;
  masked.mask = mask;
  gives(zeros, arrays(masked));
  const attend::Ranges<2> ranges = {{2, 0}, {2, 0}};
  attend::RangedOptions<Shape> ranged;
  ranged.ranges = ranges;
  gives(zeros, arrays(ranged));
  attend::Documents<3> documents;
  attend::RangedOptions<Shape> of_documents;
  of_documents.documents = documents;
  gives(untouched, arrays(of_documents));
  for (const int tokens : {0, 2, 0}) {
    CHECK(documents.add(tokens) == Status::ok);
    gives(documents.tokens() == 0 ? untouched : numbers, arrays(of_documents));
  }

  // A cache without tokens.
  CHECK(cache.append(key, value, 0) == Status::ok);
  CHECK(cache.length() == 0);
  refused(Status::empty_cache, cached(with([](auto&) {})));
  gives(zeros, cached(no_keys));
  gives(untouched, cached(no_queries));

  // A state that has taken nothing is neutral, whether it was in a call or not.
  CHECK(state.begin(512) == Status::ok);
  refused(Status::missing_keys, attend::finish(state, output, meaning...));
  gives(untouched, attend::save(state, saved));
  CHECK(attend::load(before, saved, sizeof saved) == Status::ok);
  CHECK(before.next() == 512);
  CHECK(state.begin() == Status::ok);
  CHECK(attend::merge(before, state) == Status::ok);
  CHECK(before.next() == 0);
  gives(zeros, attend::finish(state, output, meaning...));
  gives(zeros, attend::finish(before, output, meaning...));
  CHECK(takes_of_cache(0, with([](auto&) {})) == Status::ok);
  CHECK(takes_of_cache(100, no_keys) == Status::ok);
  CHECK(takes(0, with([](auto&) {})) == Status::ok);
  gives(zeros, attend::finish(state, output, meaning...));
  gives(untouched, attend::save(state, saved));
  before = state;
  CHECK(state.begin() == Status::ok);
  CHECK(takes(5, with([](auto&) {})) == Status::ok);
  taken = state;
  for (const int up_to : {5, 100}) CHECK(takes(up_to, with([](auto&) {})) == Status::ok);
  CHECK(std::memcmp(&taken, &state, sizeof state) == 0);
  CHECK(attend::finish(state, output, meaning...) == Status::ok);
  CHECK(attend::finish(state, output, meaning...) == Status::bad_state);  // which a merge with nothing does not change
  state = taken;
  CHECK(fresh.begin(512) == Status::ok);
  CHECK(attend::merge(taken, fresh) == Status::ok);
  CHECK(std::memcmp(&taken, &state, sizeof state) == 0);
  CHECK(attend::merge(fresh, taken) == Status::ok);
  gives(numbers, attend::finish(fresh, output, meaning...));
  CHECK(fresh.begin() == Status::ok);
  gives(zeros, attend::finish(fresh, output, meaning...));
  CHECK(attend::merge(taken, before) == Status::ok);
  gives(numbers, attend::finish(taken, output, meaning...));
  CHECK(attend::merge(before, state) == Status::ok);
  gives(numbers, attend::finish(before, output, meaning...));
  CHECK(state.begin(512) == Status::ok);
  attend::ScoreOptions<Shape> of_other = no_keys;
  of_other.origin = 512, of_other.key_length = 512;
  CHECK(takes_of_cache(512, of_other) == Status::ok);
  CHECK(attend::merge(taken, state) == Status::ok);
  gives(numbers, attend::finish(taken, output, meaning...));
  CHECK(state.begin() == Status::ok);
  CHECK(takes(5, no_queries) == Status::ok);
  gives(untouched, attend::finish(state, output, meaning...));
  gives(untouched, attend::save(state, saved));
}

}  // namespace

TEST_CASE("empty work: floats") {
  walk<Floats>();
  static attend::Query<Floats, 2> query{};
  static attend::Key<Floats, 5> key{};
  static attend::Value<Floats, 5> value{};
  static attend::Output<Floats, 2> output;
  static attend::OptionWorkspace<Floats, 2> work;
  static attend::Lse<Floats, 2> lse;
  attend::ScoreOptions<Floats> options;
  options.key_length = 0, options.lse = lse;
  CHECK(attend::attention(query, key, value, output, work, options) == Status::ok);
  for (const auto& token : lse.data) {
    for (const float number : token) CHECK(number == -INFINITY);
  }
  attend::State<Floats, 2> state;
  std::memset(&lse, 0, sizeof lse);
  CHECK(attend::finish(state, output, options) == Status::ok);
  for (const auto& token : lse.data) {
    for (const float number : token) CHECK(number == -INFINITY);
  }
  CHECK(state.begin() == Status::ok);
  options.lse = {}, options.lse_base = attend::LseBase::two;
  CHECK(attend::finish(state, output, options) == Status::no_effect);
}

TEST_CASE("empty work: integers") { walk<Integers>(meaning_of_integers); }
