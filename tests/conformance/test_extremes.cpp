// Where the exponential changes its ways, and rows that see nothing of some segments: the defined bits on every backend.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../support/instance.h"
#include "option_random.h"
#include "option_ways.h"

using namespace attend_test;

namespace {

// One query of 1 and keys that are the scores: with this scale they are in base 2 as they stand. Values of the keys that score
// like the first are multiplied by a factor.
Instance with_scores(const std::vector<float>& scores, float factor_of_first) {
  constexpr float base2 = 0.693147180559945f;  // ln 2
  Instance instance({1, 1, 1, 9, 1, int(scores.size()), false, 0, base2, 1.0f}, 3);
  instance.query[0] = 1.0f;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    instance.key[j] = scores[j];
    for (std::size_t c = 0; c < 9; ++c) instance.value[j * 9 + c] *= scores[j] == scores[0] ? factor_of_first : 1.0f;
  }
  return instance;
}

}  // namespace

TEST_CASE("maxima on both sides of every limit of the exponential") {
  Random random(9);
  for (const float magnitude :
       {0.0f, 0x1p20f, 0x1.fffffp20f, 0x1p21f, 0x1p22f, 0x1.8p22f, 0x1p23f, 0x1.4p23f, 0x1p24f, 1e30f}) {
    for (const float sign : {1.0f, -1.0f}) {
      std::vector<float> scores;
      for (int j = 0; j < 40; ++j) scores.push_back(sign * magnitude + float(random.between(-120, 0)) * 0.25f);
      const Instance instance = with_scores(scores, 1.0f);
      const std::vector<float> expected = instance.defined();
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", magnitude * sign);
        CHECK(same_bits(instance.one_shot(), expected));
        CHECK(same_bits(instance.chunks(1, false), expected));
      });
    }
  }
}

TEST_CASE("far maxima, even and odd, that rise, with ties among the scores") {
  for (const float far : {0x1p21f, 0x1p21f + 1.0f, 0x1p21f + 2.0f, 0x1p22f - 1.0f, 0x1p22f + 1.0f, 0x1p23f + 3.0f}) {
    for (const float max : {far, -far}) {
      std::vector<float> scores;
      for (int j = 0; j < 150; ++j) scores.push_back(max + (j < 70 ? 0.0f : 5.0f) - float(j % 40) * 0.5f);
      const Instance instance = with_scores(scores, 1.0f);
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", max);
        CHECK(same_bits(instance.one_shot(), instance.defined()));
        CHECK(same_bits(instance.one_shot({2, 64}), instance.defined()));
      });
    }
  }
}

TEST_CASE("a row with an infinite score changes no other row of its tile, whose maxima rise later") {
  constexpr int tokens = 13, keys = 150, dims = 9;
  for (int infinite = 0; infinite < tokens; ++infinite) {
    Instance instance({1, 1, 1, dims, tokens, keys, false, 0, 1.0f, 1.0f}, 3);
    for (int t = 0; t < tokens; ++t) instance.query[std::size_t(t)] = t == infinite ? 3e38f : 1.0f + float(t);
    for (std::size_t j = 0; j < keys; ++j) instance.key[j] = j == 5 ? 2.0f : j < 70 ? 0.01f * float(j) : 0.2f * float(j);
    const std::vector<float> expected = instance.defined();
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend), " ", infinite);
      const std::vector<float> found = instance.one_shot();
      for (int i = 0; i < tokens * dims; ++i) {
        const float a = found[std::size_t(i)], b = expected[std::size_t(i)];
        CHECK((i / dims == infinite ? a != a && b != b : std::memcmp(&a, &b, sizeof a) == 0));
      }
    });
  }
}

TEST_CASE("one token of heads side by side over few keys, with scores of very different sizes") {
  constexpr float sizes[] = {1.0f, 1e-3f, 100.0f, -3e4f, 0x1p21f, 1.0f, 0x1.3p23f, 1e30f, -1e8f, 0.0f, 8.0f};
  for (const int keys : {0, 1, 3, 4, 5, 8, 9, 15, 16, 17, 40}) {
    for (const int head_dim : {1, 11, 16, 39}) {
      Instance instance({11, 11, head_dim, head_dim + 5, 1, keys, false, 0, 1.0f, 1.0f}, std::uint64_t(keys));
      for (int i = 0; i < 11 * head_dim; ++i) instance.query[std::size_t(i)] *= sizes[i / head_dim];
      const std::vector<float> expected = instance.defined();
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", keys, " ", head_dim);
        CHECK(same_bits(instance.chunks(1, false, {1, 64}), expected));
        CHECK(same_bits(instance.one_shot({1, 64}), expected));
        CHECK(same_bits(instance.one_shot(), expected));
      });
    }
  }
}

TEST_CASE("several tokens over few keys, with scores of very different sizes") {
  constexpr float sizes[] = {1.0f, 1e-3f, 100.0f, -3e4f, 0x1p21f, 1.0f, 0x1.3p23f, 1e30f, -1e8f, 0.0f, 8.0f};
  for (std::size_t huge = 0; huge < std::size(sizes); ++huge) {
    for (const int keys : {2, 3, 4}) {
      Instance instance({3, 3, 39, 20, 4, keys, keys == 3, 0, 1.0f, 1.0f}, std::uint64_t(keys));
      for (std::size_t i = 0; i < 4 * 3 * 39; ++i) instance.query[i] *= i / 39 == huge ? sizes[huge] : 1.0f;
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", keys, " ", huge);
        CHECK(same_bits(instance.one_shot(), instance.defined()));
      });
    }
  }
}

TEST_CASE("values up to the promised limit, and scores that pass the maximum by the least where floats are 4 apart") {
  for (const float first : {0x1.000002p25f, 0x1.000004p25f, -0x1.000002p25f, -0x1.000004p25f}) {
    std::vector<float> scores(128, first);
    for (std::size_t j = 64; j < 128; ++j) scores[j] = std::nextafter(first, std::numeric_limits<float>::infinity());
    Instance instance = with_scores(scores, 1.0f);
    for (float& value : instance.value) value = 7.9e37f / 128.0f;
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend), " ", first);
      for (const int keys : {64, 128}) CHECK(same_bits(instance.one_shot({2, keys}), instance.defined()));
    });
  }
}

TEST_CASE("the least weight is 2^-125") {
  for (const float max : {0.0f, 100.0f, 0x1p22f}) {
    for (const float below : {124.0f, 125.0f, 125.25f, 126.0f, 127.0f}) {
      std::vector<float> scores(20, max - below);
      scores[0] = max;
      Instance instance = with_scores(scores, 0.0f);  // so that only the least weights show
      // Values of 1 to 3: a weight times a value that is subnormal may count as zero, and does where the processor flushes.
      for (std::size_t i = 9; i < 20 * 9; ++i) instance.value[i] += 2.0f;
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", max, " ", below);
        CHECK(same_bits(instance.one_shot(), instance.defined()));
      });
    }
  }
}

TEST_CASE("scores of the lowest float weigh nothing, before others and alone") {
  constexpr float lowest = -std::numeric_limits<float>::max();
  for (const int others : {0, 1, 40, 100}) {
    std::vector<float> scores(70, lowest);
    for (int j = 0; j < others; ++j) scores.push_back(float(j % 7));
    for (const int keys : {int(scores.size()), 9}) {
      scores.resize(std::size_t(keys));
      const Instance instance = with_scores(scores, 1.0f);
      const std::vector<float> expected = instance.defined();
      if (others == 0) CHECK(expected == std::vector<float>(9, 0.0f));
      RandomInstance in(1, lse, {1, 1, 1, 9, 1, keys, 0, instance.s.scale, 1.0f, false});
      in.query = instance.query;
      in.key.assign(instance.key.begin(), instance.key.begin() + keys);
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", others, " ", keys);
        for (const int rows : {1, 2}) {
          CHECK(same_bits(instance.one_shot({rows, 64}), expected));
          CHECK(same_bits(instance.chunks(1, false, {rows, 64}), expected));
        }
        for (const Way& way : some_ways(in)) CHECK(difference(in, run_options(in, way), defined_results(in), true) == "");
      });
    }
  }
}

TEST_CASE("row blocks that see nothing, or nothing of later segments, of more than 512 keys") {
  for (const int offset : {-30, -3, 500, 511, 1000}) {
    const Instance instance({2, 1, 5, 11, 20, 1030, true, offset, 0.0f, 2.0f}, 9);
    const std::vector<float> expected = instance.defined();
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend), " ", offset);
      for (const int rows : {1, 3, 8, 96}) {
        CHECK(same_bits(instance.one_shot({rows, 64}), expected));
        CHECK(same_bits(instance.chunks(3, false, {rows, 1024}), expected));
      }
    });
  }
}

TEST_CASE("values up to the promised limit, keys * max|v| < 8e37, change no bit with the way the work is cut") {
  for (const int queries : {1, 7}) {
    Instance instance({2, 1, 8, 10, queries, 300, false, 0, 0.0f, 40.0f}, 12);
    for (int i = 0; i < 300 * 10; ++i) instance.value[std::size_t(i)] *= 2.66e35f;
    const std::vector<float> expected = instance.defined();
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend));
      CHECK(same_bits(instance.one_shot(), expected));
      CHECK(same_bits(instance.chunks(1, false, {1, 64}), expected));
      CHECK(same_bits(instance.chunks(1, false, {1, 512}), expected));
    });
  }
}

TEST_CASE("a subnormal factor of a score, of queries that are subnormal and of normal ones that scale makes so") {
  struct {
    float scale, query, key;
  } const cases[] = {{1e-3f, 1e-36f, 1e38f}, {1.0f, 1e-39f, 1e38f}, {1e-39f, 1e30f, 1e8f}, {-1e3f, -1e-39f, 1e35f}};
  for (const auto& c : cases) {
    for (int queries = 1; queries <= 5; ++queries) {
      Instance instance({1, 1, 8, 3, queries, 2, false, 0, c.scale, 1.0f}, 3);
      std::fill(instance.query.begin(), instance.query.end(), 0.0f);
      std::fill(instance.key.begin(), instance.key.begin() + 16, 0.0f);
      for (int t = 0; t < queries; ++t) instance.query[std::size_t(t * 8 + 5)] = c.query;
      instance.key[5] = c.key;
      std::fill(instance.value.begin(), instance.value.begin() + 3, 1.0f);
      std::fill(instance.value.begin() + 3, instance.value.begin() + 6, 0.0f);
      const std::vector<float> expected = instance.defined();
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", c.scale, " ", c.query, " ", queries);
        const std::vector<float> found = instance.one_shot();
        for (const float x : found) CHECK(double(x) == doctest::Approx(0.5249792).epsilon(1e-6));
        CHECK(same_bits(found, expected));
        CHECK(same_bits(instance.chunks(1, false, {1, 64}), expected));
        CHECK(same_bits(instance.chunks(2, false), expected));
        CHECK(same_bits(instance.parts(2), expected));
      });
    }
  }
}

TEST_CASE("a subnormal key counts as 0 where vectors flush, which is seen with a scaled query above 2^100 alone") {
  for (const float query : {0x1p-20f, 0x1p127f}) {
    Instance instance({1, 1, 1, 1, 3, 2, false, 0, 0.693147180559945f, 1.0f}, 3);
    for (float& q : instance.query) q = query;
    instance.key[0] = 0x1p-128f, instance.key[1] = 0.0f;
    instance.value[0] = 1.0f, instance.value[1] = 0.0f;
#if defined(__arm__)
    const double expected = 0.5;
#else
    const double expected = query > 1.0f ? 0.5857864 : 0.5;  // sqrt(2) / (sqrt(2) + 1)
#endif
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend), " ", query);
      for (const float x : instance.one_shot()) CHECK(double(x) == doctest::Approx(expected).epsilon(1e-6));
    });
  }
}
