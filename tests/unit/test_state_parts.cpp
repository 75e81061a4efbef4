// Keys in parts: states of some segments each, made anywhere by any backend and merged, have the bits of the whole.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/backend.h"
#include "attend/core/attention.h"
#include "attend/core/options.h"

using namespace attend_test;

namespace {

const float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// An instance in parts of its keys, over arrays or over a cache, each into states of its own. Scratch, states and cache have
// exactly the promised sizes and are poisoned, so that an address sanitizer sees every step beyond them.
class StateParts {
 public:
  StateParts(const Instance& instance, int parts, bool cached, Blocks blocks = {}) : instance_(instance), blocks_(blocks) {
    const Shape& s = instance.s;
    output = poison(std::size_t(s.queries * s.query_heads * s.value_dim));
    nodes_ = attend::core::state_nodes(s.keys) + 2;  // on the way, parts may lie apart
    row_ = std::ptrdiff_t(attend::core::state_floats(s.value_dim, nodes_));
    for (int part = 0; part < parts; ++part) states_.push_back(poison(std::size_t(s.queries * s.query_heads * row_)));
    if (!cached) return;
    const int capacity = s.keys + instance.keys_beyond;
    keys_ = poison(attend::core::cache_key_floats(s.kv_heads, s.head_dim, capacity));
    values_ = poison(attend::core::cache_value_floats(s.kv_heads, s.value_dim, capacity));
    const attend::core::Problem p = instance.arrays(output);
    attend::core::store({keys_.data(), values_.data(), s.kv_heads, s.head_dim, s.value_dim, capacity}, 0, s.keys,
                        numbers_of<float>(p.key), numbers_of<float>(p.value));
  }

  attend::core::Problem problem() {
    const Shape& s = instance_.s;
    attend::core::Problem p = instance_.arrays(output);
    if (!keys_.empty()) {
      p.key = {keys_.data(), 0, std::ptrdiff_t(keys_.size()) / s.kv_heads};
      p.value = {values_.data(), s.value_dim, std::ptrdiff_t(values_.size()) / s.kv_heads};
      p.key_panels = true;
    }
    p.row_block = blocks_.rows;
    p.key_block = blocks_.keys;
    return p;
  }

  // The keys of whole segments, and in the last part what is left, as a typed call takes them.
  void run(int part) {
    attend::core::Problem p = problem();
    p.output.data = nullptr;  // it is not needed yet
    attend::core::Options options = with_states(part);
    std::vector<float> scratch =
        poison(attend::core::option_scratch_floats(p.row_block, p.key_block, p.head_dim, p.value_dim, 0));
    p.scratch = scratch.data();
    const int parts = int(states_.size()), keys = p.keys, last = keys / attend::segment_keys;
    const auto cut = [=](int n) { return n == parts ? keys : last * n / parts * attend::segment_keys; };
    options.begins = true;
    attend::core::SeenKeys{0, 0, keys}.go_over(
        cut(part), cut(part + 1),
        [&](int from, int to) {
          options.first_key = from;
          p.keys = to;
          attend::core::Floats::run(p, options);
          options.begins = false;
        },
        [](int, int) {});
    if (!options.begins) return;
    p.keys = options.first_key = cut(part);
    attend::core::Floats::run(p, options);
  }

  // Merges the others into the last one, which may have an open segment: the first ones last.
  const std::vector<float>& add() {
    attend::core::Problem p = problem();
    const int last = int(states_.size()) - 1;
    for (int part = last - 1; part >= 0; --part) {
      attend::core::Floats::merge(states_[std::size_t(last)].data(), states_[std::size_t(part)].data(), false,
                                  p.queries * p.query_heads, p.value_dim, nodes_);
    }
    p.query.data = p.key.data = p.value.data = nullptr;  // they are not needed any more
    attend::core::Floats::finish(p, with_states(last));
    return output;
  }

  const std::vector<float>& all() {
    for (int part = int(states_.size()) - 1; part >= 0; --part) run(part);  // any order will do
    return add();
  }

  std::vector<float> output;

 private:
  attend::core::Options with_states(int part) {
    attend::core::Options options;
    options.states = {states_[std::size_t(part)].data(), instance_.s.query_heads * row_, row_};
    return options;
  }

  const Instance& instance_;
  Blocks blocks_;
  int nodes_;
  std::ptrdiff_t row_;
  std::vector<std::vector<float>> states_;
  std::vector<float> keys_, values_;
};

std::vector<float> in_state_parts(const Instance& instance, int parts, bool cached, Blocks blocks = {}) {
  return StateParts(instance, parts, cached, blocks).all();
}

// Of sizes that the scalar backend gets done.
Shape random_shape(Random& random) {
  Shape s{};
  s.kv_heads = random.between(1, 3);
  s.query_heads = s.kv_heads * random.between(1, 3);
  s.head_dim = random.between(1, 20);
  s.value_dim = random.between(1, 20);
  s.queries = random.between(1, 5);
  static constexpr int around[] = {1, 511, 512, 513, 1023, 1024, 1025, 1536, 1537, 2048};
  s.keys = random.between(0, 1) == 0 ? random.between(0, 1800) : around[random.between(0, 9)];
  s.causal = random.between(0, 2) > 0;
  static constexpr int offsets[] = {-7, -2, 0, 300, 509, 511, 512, 1022};
  s.offset = random.between(0, 1) == 0 ? s.keys - s.queries : offsets[random.between(0, 7)];
  static constexpr float spreads[] = {0.1f, 1.0f, 1.0f, 8.0f, 60.0f};
  s.spread = spreads[random.between(0, 4)];
  static constexpr float scales[] = {0.0f, 0.0f, -0.7f, 1.0f};
  s.scale = scales[random.between(0, 3)];
  return s;
}

}  // namespace

TEST_CASE("state parts: 100 random shapes have the defined bits in 1 to 16 parts") {
  Random random(31);
  for (int number = 0; number < rounds(100); ++number) {
    const int keys_beyond = number % 2 == 0 ? 19 : 0;
    const Instance instance(random_shape(random), std::uint64_t(number) + 500, keys_beyond);
    const std::vector<float> expected = instance.defined();
    const std::string text = instance.text();
    INFO(number, text);
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend));
      const bool scalar = std::string(backend) == "scalar";
      for (const int parts : {1, 2, 3, 4, 5, 7, 16}) {
        if (scalar && parts != 1 + number % 7) continue;  // a fused multiply-add in software takes its time
        CHECK(same_bits(in_state_parts(instance, parts, false), expected));
        CHECK(same_bits(in_state_parts(instance, parts, true), expected));
        CHECK(same_bits(in_state_parts(instance, parts, true, {1, 512}), expected));
      }
      if (scalar) return;
      for (const int rows : {1, 2, 5, 13}) CHECK(same_bits(in_state_parts(instance, 4, false, {rows, 64}), expected));
      for (const int keys : {64, 128, 448, 512, 576}) CHECK(same_bits(in_state_parts(instance, 3, true, {1, keys}), expected));
    });
  }
}

TEST_CASE("state parts: many keys, and lengths on both sides of segments") {
  for (const int keys : {512, 1024, 1025, 3000, 4095, 5000}) {
    for (const int queries : {1, 4}) {
      const Instance instance({2, 1, 6, 9, queries, keys, true, keys - queries, 0.0f, 4.0f}, std::uint64_t(keys));
      const std::vector<float> expected = instance.defined();
      INFO(keys, " ", queries);
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend));
        for (int parts = 1; parts <= 16; ++parts) {
          if (std::string(backend) == "scalar" && parts % 8 != 3) continue;
          CHECK(same_bits(in_state_parts(instance, parts, true), expected));
        }
      });
    }
  }
}

TEST_CASE("state parts: in threads, and each on another backend") {
  const Instance instance({6, 3, 24, 20, 2, 2100, true, 2098, 0.0f, 2.0f}, 7);
  const std::vector<float> expected = instance.defined();
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend));
    for (const int parts : {2, 4, 16}) {
      StateParts ways(instance, parts, true);
      std::vector<std::thread> threads;
      for (int part = 0; part < parts; ++part) threads.emplace_back([&ways, part] { ways.run(part); });
      for (std::thread& thread : threads) thread.join();
      CHECK(same_bits(ways.add(), expected));
    }
  });
  const std::string before = attend::active_backend();
  for (int first = 0; first < attend::backend_count(); ++first) {
    StateParts ways(instance, 7, false);
    for (int part = 0; part <= 7; ++part) {
      attend::use_backend(attend::backend_name((first + part) % attend::backend_count()));
      if (part < 7) ways.run(part);
    }
    CHECK(same_bits(ways.add(), expected));
  }
  attend::use_backend(before.c_str());
}

namespace {

// One query over three segments and a bit, whose scores in base 2 are given by segment, less up to 20.
Instance with_scores(const std::vector<float>& segment_scores) {
  constexpr float base2 = 0.693147180559945f;  // ln 2
  Instance instance({1, 1, 1, 9, 1, 1600, false, 0, base2, 1.0f}, 3);
  instance.query[0] = 1.0f;
  Random random(77);
  for (std::size_t j = 0; j < 1600; ++j) instance.key[j] = segment_scores[j / 512] - float(random.between(0, 80)) * 0.25f;
  return instance;
}

template <class Test>
void for_each_way(const Instance& instance, Test test) {
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend), instance.text());
    for (const int parts : {1, 3, 4}) {
      test(in_state_parts(instance, parts, false));
      test(in_state_parts(instance, parts, true, {1, 512}));
    }
  });
}

}  // namespace

TEST_CASE("state parts: maxima that rise, fall, lie far apart, and are huge") {
  for (const std::vector<float>& scores : std::vector<std::vector<float>>{{0, 0, 0, 0},
                                                                          {0, 7, 20, 90},
                                                                          {90, 20, 7, 0},
                                                                          {-40, 10, -60, 5},
                                                                          {0, 300, -300, 5000},
                                                                          {5000, -300, 300, 0},
                                                                          {0x1p21f, 0x1p21f, -0x1p21f, 0},
                                                                          {0x1p22f, 0x1p23f, 0x1p23f, 0x1p22f},
                                                                          {1e30f, -1e30f, 1e30f, 0},
                                                                          {-1e30f, -1e30f, -1e30f, -1e30f}}) {
    const Instance instance = with_scores(scores);
    const std::vector<float> expected = instance.defined();
    for_each_way(instance, [&](const std::vector<float>& output) { CHECK(same_bits(output, expected)); });
  }
}

TEST_CASE(
    "state parts: scores of minus infinity are weight 0, also where a segment has no others; what is NaN or infinity shows") {
  const Instance clean = with_scores({3, 1, 2, 3});
  for (const int segment : {0, 1, 3}) {
    Instance none = clean;
    for (int j = segment * 512; j < std::min(segment * 512 + 512, 1600); ++j) none.key[std::size_t(j)] = -infinity;
    const std::vector<float> expected = none.defined();
    for_each_way(none, [&](const std::vector<float>& output) { CHECK(same_bits(output, expected)); });
    for (const float bad : {infinity, not_a_number}) {
      Instance score = clean, value = clean;
      score.key[std::size_t(segment * 512 + 5)] = bad;
      for_each_way(score, [](const std::vector<float>& output) {
        CHECK(std::all_of(output.begin(), output.end(), [](float v) { return std::isnan(v); }));
      });
      value.value[std::size_t(segment * 512 + 5) * 9 + 4] = bad;
      const std::vector<float> whole = value.one_shot();
      CHECK_FALSE(std::isfinite(whole[4]));
      for_each_way(value, [&](const std::vector<float>& output) {
        for (std::size_t i = 0; i < 9; ++i) CHECK((output[i] == whole[i] || (std::isnan(output[i]) && std::isnan(whole[i]))));
      });
    }
  }
  const Instance nothing = with_scores({-infinity, -infinity, -infinity, -infinity});
  for_each_way(nothing, [](const std::vector<float>& output) { CHECK(output == std::vector<float>(9, 0.0f)); });
}

TEST_CASE("state parts: what a row does not see changes nothing, whatever it is, and a row that sees nothing is zero") {
  for (const float bad : {not_a_number, infinity, 3e38f}) {
    for (const int offset : {-2147483647 - 1, -5, -2, 0, 509, 511, 600, 1022}) {
      Instance instance({2, 2, 5, 7, 4, 1400, true, offset, 0.0f, 2.0f}, 8);
      const std::vector<float> expected = instance.defined();
      const int seen = instance.visible(3);
      std::fill(instance.key.begin() + seen * 2 * 5, instance.key.end(), bad);
      std::fill(instance.value.begin() + seen * 2 * 7, instance.value.end(), bad);
      // Seen by the last row only, whose bits are another test's.
      if (seen > 0) std::fill_n(instance.value.begin() + (seen - 1) * 2 * 7, 2 * 7, bad);
      const std::size_t others = seen > 0 ? std::size_t(3 * 2 * 7) : std::size_t(4 * 2 * 7);
      INFO(bad, " ", offset);
      for_each_way(instance, [&](const std::vector<float>& output) {
        CHECK(std::memcmp(output.data(), expected.data(), others * sizeof(float)) == 0);
      });
    }
  }
  const Instance all({2, 1, 5, 7, 3, 1400, false, 0, 0.0f, 2.0f}, 8);
  const Instance beyond({2, 1, 5, 7, 3, 1400, true, std::numeric_limits<int>::max(), 0.0f, 2.0f}, 8);
  const std::vector<float> expected = all.defined();
  for_each_way(beyond, [&](const std::vector<float>& output) { CHECK(same_bits(output, expected)); });
}
