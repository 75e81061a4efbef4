// Sums are associative to the bit: whatever sets the segments of a sequence are divided into, and in whatever order states of
// these are merged, the saved bytes are those of one state that took all keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/core/integer.h"
#include "attend/core/saved.h"
#include "digest.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

constexpr int queries = 2, heads = 2, head_dim = 4, value_dim = 3, rows = queries * heads, room = 64;
constexpr int segment = attend::segment_keys, most_keys = 100 * segment;

using Bytes = std::vector<std::uint8_t>;

// Sets of segments of one sequence, as states.
template <class Number>
struct States {
  std::vector<Number> numbers;
  int next_key = 0;
};

// A problem of floats, and the same of integers.
template <class Number>
struct Sequence;

template <>
struct Sequence<float> {
  static constexpr std::size_t row = core::state_floats(value_dim, room);

  Sequence(int keys, std::uint64_t seed) : key(std::size_t(keys) * head_dim), value(std::size_t(keys) * value_dim) {
    Random random(seed);
    // Scores are far from 0 now and then, where whole numbers are 2 to 64 apart; but no weight is 2^-125 of another one.
    const float spreads[] = {0.1f, 1.0f, 8.0f}, places[] = {0.0f, -300.0f, 1e6f, 1.2e7f, -1.5e7f, 5e7f, 5e8f};
    random.fill(query, rows * head_dim, spreads[random.bits() % 3]);
    random.fill(key.data(), key.size());
    const float place = places[random.bits() % 7];
    for (int r = 0; r < rows; ++r) query[r * head_dim] = place;
    for (int k = 0; k < keys; ++k) key[std::size_t(k) * head_dim] = 1.0f;
    random.fill(value.data(), value.size());
    problem.query = {query, heads * head_dim, head_dim};
    problem.key = {key.data(), head_dim, 0};
    problem.value = {value.data(), value_dim, 0};
    problem.scale = 1.0f;
    problem.row_block = 4, problem.key_block = 64;
    memory.resize(core::option_scratch_floats(4, 64, head_dim, value_dim, 0) + 16);
    problem.scratch = aligned_to_line(memory.data());
  }
  static float* aligned_to_line(float* data) { return data + (64 - reinterpret_cast<std::uintptr_t>(data) % 64) % 64 / 4; }

  float query[rows * head_dim];
  std::vector<float> key, value, memory;
  core::Problem problem{};
};

template <>
struct Sequence<std::int32_t> {
  static constexpr std::size_t row = core::integer_state_numbers(value_dim, room);

  Sequence(int keys, std::uint64_t seed) : key(std::size_t(keys) * head_dim), value(std::size_t(keys) * value_dim) {
    Random random(seed);
    const auto fill = [&](std::int8_t* to, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) to[i] = std::int8_t(random.bits() >> 24);
    };
    fill(query, sizeof query);
    fill(key.data(), key.size());
    fill(value.data(), value.size());
    score = core::score_scale(random.bits() % 2 ? 1e-4 : 2e-3);
    output = core::output_scale(1.0);
    problem.query = {query, heads * head_dim, head_dim};
    problem.key = {key.data(), head_dim, 0};
    problem.value = {value.data(), value_dim, 0};
    problem.score_scales = &score, problem.output_scales = &output;
    problem.row_block = 4, problem.key_block = 64;
    memory.resize(core::integer_scratch_bytes(4, 64, head_dim, value_dim, 0) / 8 + 8);
    char* const begin = reinterpret_cast<char*>(memory.data());
    problem.scratch = begin + (64 - reinterpret_cast<std::uintptr_t>(begin) % 64) % 64;
  }

  std::int8_t query[rows * head_dim];
  std::vector<std::int8_t> key, value;
  std::vector<std::uint64_t> memory;
  core::ScoreScale score;
  core::OutputScale output;
  core::Problem problem{};
};

template <class Number>
class Trees {
 public:
  Trees(int all_keys, std::uint64_t seed) : keys(all_keys), sequence_(keys, seed), random_(seed + 1) {
    auto& p = sequence_.problem;
    p.query_heads = heads, p.kv_heads = 1, p.head_dim = head_dim, p.value_dim = value_dim, p.queries = queries;
    p.causal = true, p.offset = keys - queries;
    if (seed % 3 == 0) options_.left = int(random_.bits() % unsigned(keys)), options_.sink_tokens = int(random_.bits() % 600);
  }

  // Through the keys first ... end - 1, in one or more calls.
  States<Number> through(int first, int end) {
    States<Number> states;
    states.numbers.assign(rows * row, Number(0x55));
    auto p = sequence_.problem;
    auto o = options_;
    o.states = {states.numbers.data(), ptrdiff_t(heads * row), ptrdiff_t(row)};
    o.begins = true;
    for (o.first_key = first; o.first_key < end; o.begins = false) {
      p.keys =
          random_.bits() % 4 == 0 ? std::min(end, o.first_key + attend::integer_chunk * int(1 + random_.bits() % 40)) : end;
      attend_test::Arithmetic<Number>::run(p, o);
      o.first_key = p.keys;
    }
    states.next_key = end;
    return states;
  }

  Bytes saved(const States<Number>& states) const {
    core::SavedHead head{};
    head.batch = 1, head.queries = queries, head.query_heads = heads, head.value_dim = value_dim,
    head.next_key = states.next_key;
    const int nodes = core::segments_of(states.numbers.data(), value_dim).count;
    Bytes bytes(
        4 * core::saved_words(sizeof(Number) == 4 && Number(0.5) == 0, rows, value_dim, nodes, states.next_key % segment != 0));
    core::save(head, states.numbers.data(), room, bytes.data());
    return bytes;
  }
  static States<Number> loaded(const Bytes& bytes) {
    core::SavedHead head;
    REQUIRE(core::read_head(bytes.data(), bytes.size(), head) == core::Loaded::ok);
    States<Number> states;
    states.numbers.assign(rows * row, Number(0x55));
    core::load(head, bytes.data(), states.numbers.data(), room);
    states.next_key = head.next_key;
    return states;
  }

  static void merge(States<Number>& to, const States<Number>& other) {
    const auto set = core::segments_of(to.numbers.data(), value_dim),
               added = core::segments_of(other.numbers.data(), value_dim);
    const int next = core::next_of_both(set, to.next_key, added, other.next_key), count = set.count_with(added);
    REQUIRE(next >= 0);
    REQUIRE(count <= room);
    attend_test::Arithmetic<Number>::merge(to.numbers.data(), other.numbers.data(), other.next_key % segment != 0, rows,
                                           value_dim, room);
    to.next_key = next;
    REQUIRE(core::segments_of(to.numbers.data(), value_dim).count == count);
  }

  // States of runs of segments; single ones mostly.
  std::vector<States<Number>> division() {
    std::vector<States<Number>> sets;
    for (int first = 0; first < keys;) {
      const int length = random_.bits() % 8 == 0 ? 1 + int(random_.bits() % 20) : 1,
                end = std::min(keys, first + length * segment);
      sets.push_back(through(first, end));
      first = end;
    }
    return sets;
  }

  // Merges them two by two, by chance, through bytes now and then.
  Bytes by_a_random_tree(std::vector<States<Number>> sets) {
    while (sets.size() > 1) {
      // Not so far apart that there would be too many nodes, which is another test.
      const std::size_t a = random_.bits() % sets.size(),
                        b = (a + 1 + random_.bits() % std::min<std::size_t>(sets.size() - 1, 24)) % sets.size();
      if (random_.bits() % 16 == 0) sets[a] = loaded(saved(sets[a]));
      merge(sets[a], sets[b]);
      if (b + 1 != sets.size()) std::swap(sets[b], sets.back());
      sets.pop_back();
    }
    return saved(sets[0]);
  }

  const int keys;

 private:
  static constexpr std::size_t row = Sequence<Number>::row;
  Sequence<Number> sequence_;
  core::Options options_{};
  Random random_;
};

template <class Number>
void check_trees() {
  std::vector<Bytes> expected;
  for_each_backend([&](const char* backend) {
    const int problems = rounds(40), trees = 250;
    for (int number = 0; number < problems; ++number) {
      Random random(std::uint64_t(number) + 900);
      const int most = number % 4 == 0 ? most_keys : 12 * segment;
      Trees<Number> of(1 + int(random.bits() % unsigned(most)), std::uint64_t(number) + 70);
      const Bytes whole = of.saved(of.through(0, of.keys));
      if (int(expected.size()) == number) expected.push_back(whole);
      INFO(std::string(backend), " ", number, " of ", of.keys, " keys");
      CHECK(whole == expected[std::size_t(number)]);
      const auto sets = of.division();
      int wrong = 0;
      for (int tree = 0; tree < trees; ++tree) wrong += of.by_a_random_tree(sets) != whole;
      CHECK(wrong == 0);
    }
  });
}

}  // namespace

TEST_CASE("saved states of floats: any division into sets, merged by any tree, gives the same bytes") { check_trees<float>(); }
TEST_CASE("saved states of integers: any division into sets, merged by any tree, gives the same bytes") {
  check_trees<std::int32_t>();
}
