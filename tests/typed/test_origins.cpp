// States over arrays and caches that hold only the tokens of one machine, and begin with a later key than 0.
#include <cstring>

#include "integer_world.h"
#include "states_world.h"

using namespace attend_test;

namespace {

using attend::Status;

// The tokens of a machine, of three: whole segments, and the last one as it comes.
constexpr int begins[] = {0, 512, 1024, 1300};

template <class All, class Some>
void copy_tokens(const All& all, int first, int count, Some& some) {
  poison_array(some);
  std::memcpy(some.data, all.data[first], sizeof all.data[0] * std::size_t(count));
}

// States of three machines, each of which has a cache of its own tokens alone, give the bits of one cache of all.
template <class Cache>
void check_caches(const Cache& all) {
  states::World& w = states::world();
  static Cache caches[3];
  static states::State parts[3];
  static attend::Key<states::Wake, 512> key;
  static attend::Value<states::Wake, 512> value;
  attend::ScoreOptions<states::Wake> options = w.all_options();
  options.lse = w.expected_lse, options.offset = states::keys - states::queries;
  CHECK(attend::prefill(w.query, all, w.expected, w.work, options) == Status::ok);
  for (int n = 0; n < 3; ++n) {
    const int first = begins[n], count = begins[n + 1] - first;
    copy_tokens(w.key, first, count, key), copy_tokens(w.value, first, count, value);
    caches[n].clear();
    CHECK(caches[n].append(key, value, count) == Status::ok);
    options.origin = first;
    CHECK(parts[n].begin(first) == Status::ok);
    for (const int up_to : {first + 100, first + 133, begins[n + 1]})
      CHECK(attend::accumulate(w.query, caches[n], parts[n], up_to, w.work, options) == Status::ok);
  }
  CHECK(attend::merge(parts[2], parts[0]) == Status::ok);
  CHECK(attend::merge(parts[2], parts[1]) == Status::ok);
  options.lse = w.lse;
  poison_array(w.found), poison_array(w.lse);
  CHECK(attend::finish(parts[2], w.found, options) == Status::ok);
  CHECK(same_array(w.found, w.expected));
  CHECK(same_array(w.lse, w.expected_lse));
}

}  // namespace

TEST_CASE("origins: states over caches of one machine's tokens have the bits of one cache") {
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    check_caches(states::world().plain);
    check_caches(states::world().bytes);
  });
}

TEST_CASE("origins: states over arrays of some tokens have the bits of all, in floats and in integers") {
  states::World& w = states::world();
  static states::State state;
  static attend::Key<states::Wake, 512> key;
  static attend::Value<states::Wake, 512> value;
  attend::ScoreOptions<states::Wake> options = w.all_options();
  options.offset = states::keys - states::queries;
  CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, options) == Status::ok);
  CHECK(state.begin() == Status::ok);
  for (int n = 0; n < 3; ++n) {
    const int count = begins[n + 1] - begins[n];
    copy_tokens(w.key, begins[n], count, key), copy_tokens(w.value, begins[n], count, value);
    options.origin = begins[n], options.key_length = begins[n + 1];
    CHECK(attend::accumulate(w.query, key, value, state, begins[n + 1], w.work, options) == Status::ok);
  }
  poison_array(w.found);
  CHECK(attend::finish(state, w.found, options) == Status::ok);
  CHECK(same_array(w.found, w.expected));

  using integers::Talk;
  const auto all = integers::world(1100);
  static attend::KvCache<Talk> later;
  static attend::State<Talk> parts[2];
  static attend::Key<Talk, 588> keys;
  static attend::Value<Talk, 588> values;
  static attend::KvCache<Talk> cache;
  static attend::Key<Talk, 1100> all_keys;
  static attend::Value<Talk, 1100> all_values;
  integers::fill(all_keys, 5), integers::fill(all_values, 6);
  std::memcpy(keys.data, all_keys.data[512], sizeof keys.data);
  std::memcpy(values.data, all_values.data[512], sizeof values.data);
  CHECK(cache.append(all_keys, all_values) == Status::ok);
  CHECK(later.append(keys, values) == Status::ok);
  CHECK(attend::decode(all->query, cache, all->expected, all->work, integers::quantisation) == Status::ok);
  attend::ScoreOptions<Talk> of_integers = attend::causal();
  of_integers.offset = 1099;
  CHECK(parts[0].begin() == Status::ok);
  CHECK(attend::accumulate(all->query, cache, parts[0], 512, all->work, integers::quantisation, of_integers) == Status::ok);
  of_integers.origin = 512;
  for (const bool arrays : {false, true}) {
    CHECK(parts[1].begin(512) == Status::ok);
    for (const int up_to : {544, 1100}) {
      CHECK((arrays
                 ? attend::accumulate(all->query, keys, values, parts[1], up_to, all->work, integers::quantisation, of_integers)
                 : attend::accumulate(all->query, later, parts[1], up_to, all->work, integers::quantisation, of_integers)) ==
            Status::ok);
    }
    CHECK(attend::merge(parts[1], parts[0]) == Status::ok);
    std::memset(&all->output, 0x5a, sizeof all->output);
    CHECK(attend::finish(parts[1], all->output, integers::quantisation, of_integers) == Status::ok);
    CHECK(integers::same(all->output, all->expected));
  }
}

TEST_CASE("origins: of integers, no query sees more keys than its sums hold") {
  using integers::Talk;
  static attend::KvCache<Talk> cache;
  static attend::State<Talk> state, before;
  const auto all = integers::world(1100);
  static attend::Key<Talk, 1024> keys;
  static attend::Value<Talk, 1024> values;
  integers::fill(keys, 5), integers::fill(values, 6);
  CHECK(cache.append(keys, values) == Status::ok);
  const auto taken = [&](const attend::ScoreOptions<Talk>& options) {
    CHECK(state.begin(options.origin) == Status::ok);
    before = state;
    const int end = options.key_length.or_else(options.origin + 1024);
    const Status status = attend::accumulate(all->query, cache, state, end, all->work, integers::quantisation, options);
    if (status == Status::ok) CHECK(state.next() == end);
    if (status != Status::ok) CHECK(same_array(state, before));
    return status;
  };
  attend::ScoreOptions<Talk> options;
  options.causal = false;
  options.origin = 65536 - 1024;
  CHECK(taken(options) == Status::bad_origin);
  options.key_length = attend::integer_keys;
  CHECK(taken(options) == Status::ok);
  options.key_length = {};
  options.origin = 1 << 20;
  CHECK(taken(options) == Status::bad_origin);
  options.causal = true, options.offset = attend::integer_keys;
  CHECK(taken(options) == Status::bad_origin);
  options.offset = attend::integer_keys - 1;
  CHECK(taken(options) == Status::ok);
  options.offset = (1 << 20) + 1023, options.window_left = attend::integer_keys - 1;
  CHECK(taken(options) == Status::ok);
  options.sink_tokens = 1;
  CHECK(taken(options) == Status::bad_origin);
  options.window_left = attend::integer_keys - 2;
  CHECK(taken(options) == Status::ok);
}

TEST_CASE("origins: where arrays and caches cannot begin is refused, and nothing is touched") {
  states::World& w = states::world();
  static states::State state, before;
  attend::ScoreOptions<states::Wake> options = attend::causal();
  options.offset = 5000;
  const auto refused = [&](Status expected, const auto& cache) {
    before = state;
    CHECK(attend::accumulate(w.query, cache, state, 3000, w.work, options) == expected);
    CHECK(same_array(state, before));
  };
  CHECK(state.begin(1024) == Status::ok);
  for (const int origin : {-512, 1, 500, 513, 1536, attend::detail::any_number - 511})
    options.origin = origin, refused(Status::bad_origin, w.plain);
  options.origin = 512, refused(Status::bad_origin, w.ring);
  // Positions would overflow an int.
  static attend::KvCache<states::Wake> few;
  few = w.plain;
  CHECK(few.truncate(511) == Status::ok);
  CHECK(state.begin(attend::detail::most_tokens) == Status::ok);
  options.offset = attend::detail::most_tokens - 512, options.origin = attend::detail::most_tokens;
  refused(Status::bad_origin, few);
  CHECK(state.begin(attend::detail::most_tokens - 512) == Status::ok);
  options.origin -= 512;
  CHECK(attend::accumulate(w.query, few, state, options.origin + 511, w.work, options) == Status::ok);
  options.offset = 5000, options.origin = 512;
  CHECK(state.begin(1024) == Status::ok);
  options.key_length = 511, refused(Status::bad_key_length, w.plain);
  options.key_length = 512 + states::keys + 1, refused(Status::bad_key_length, w.plain);
  options.key_length = 512 + states::keys;
  CHECK(attend::accumulate(w.query, w.plain, state, 3000, w.work, options) == Status::ok);
  CHECK(state.next() == 512 + states::keys);
  poison_array(w.found), w.expected = w.found;
  CHECK(attend::prefill(w.query, w.plain, w.found, w.work, options) == Status::bad_origin);
  CHECK(same_array(w.found, w.expected));
}
