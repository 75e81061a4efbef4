// The same bits everywhere: the definition, every backend, and every way to cut the work.
#include <doctest/doctest.h>

#include "../support/instance.h"
#include "../support/rounds.h"

using namespace attend_test;

namespace {

// All head dims 1 … 33, common and odd larger ones, ragged lengths on both sides of panels and segments.
Shape random_shape(Random& random, int number) {
  static constexpr int dims[] = {40, 48, 64, 80, 96, 128, 7, 10, 1, 100};
  const int group = random.between(1, 4);
  Shape s{};
  s.kv_heads = random.between(1, 3);
  s.query_heads = s.kv_heads * group;
  s.head_dim = number % 43 < 33 ? number % 43 + 1 : dims[number % 43 - 33];
  s.value_dim = random.between(0, 2) == 0 ? random.between(1, 70) : s.head_dim;
  s.keys = random.between(0, 3) == 0 ? random.between(1, 16) : random.between(1, 150);
  s.queries = random.between(0, 1) == 0 ? s.keys : random.between(1, 40);
  if (number % 25 == 24)
    s.keys = random.between(480, 1600), s.queries = random.between(1, 3), s.kv_heads = 1, s.query_heads = group;
  // The scalar backend counts every operation: stay near 100,000 of them.
  while (s.queries > 1 && double(s.queries) * s.keys * s.query_heads * (s.head_dim + s.value_dim) > 1e5)
    s.queries = (s.queries + 1) / 2;
  s.causal = random.between(0, 2) > 0;
  s.offset = random.between(0, 1) == 0 ? s.keys - s.queries : random.between(-5, s.keys);
  static constexpr float spreads[] = {0.1f, 1.0f, 1.0f, 8.0f, 60.0f};
  s.spread = spreads[random.between(0, 4)];
  static constexpr float scales[] = {0.0f, 0.0f, 0.25f, -0.7f, 1.0f};
  s.scale = scales[random.between(0, 4)];
  if (number % 50 == 49) {  // rows of a block that end on both sides of a segment's end
    const int end = attend::segment_keys * (3 - number / 50 % 3);
    s.keys = end + random.between(1, 40), s.queries = 3, s.causal = true, s.offset = end - 2;
  }
  return s;
}

}  // namespace

TEST_CASE("one token over one to four keys of wide heads: the defined bits") {
  for (int keys = 1; keys <= 4; ++keys) {
    for (const int head_dim : {63, 64, 65, 127, 128, 129, 160, 255, 256, 257, 300}) {
      const Instance instance({3, 3, head_dim, 20, 1, keys, false, 0, 1.0f, 1.0f}, std::uint64_t(head_dim + keys), 0);
      const std::vector<float> expected = instance.defined();
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", keys, " ", head_dim);
        CHECK(same_bits(instance.one_shot({1, 64}), expected));
        CHECK(same_bits(instance.one_shot(), expected));
        CHECK(same_bits(instance.heads_apart({1, 64}), expected));
      });
    }
  }
}

TEST_CASE("several tokens over one to four keys: the defined bits") {
  int number = 0, taken = 0;
  for (const int head_dim : {1, 16, 31, 32, 33, 63, 64, 65, 96, 128, 140, 200}) {
    for (int keys = 1; keys <= 4; ++keys) {
      for (int queries = 2; queries <= 7; ++queries, ++number) {
        const int kv_heads = 1 + number % 7, group = 1 + number % 3;
        const Shape shape = {kv_heads * group,
                             kv_heads,
                             head_dim,
                             1 + number % 37,
                             queries,
                             keys,
                             number % 4 > 0,
                             number % 5 - 1,
                             0.0f,
                             number % 6 == 0 ? 200.0f : 1.0f};
        if (!is_tried(taken)) continue;
        const Instance instance(shape, std::uint64_t(number), 0);
        const std::vector<float> expected = instance.defined();
        for_each_backend([&](const char* backend) {
          INFO(std::string(backend), " ", instance.text());
          CHECK(same_bits(instance.one_shot(), expected));
          CHECK(same_bits(instance.heads_apart({1, 64}), expected));
        });
      }
    }
  }
}

TEST_CASE("heads so wide that few queries read their keys in rows: the defined bits") {
  int taken = 0;
  for (const int head_dim : {160, 191, 240, 257}) {
    for (const int keys : {1, 15, 17, 64, 65, 130, 200, 520}) {
      if (!is_tried(taken)) continue;
      const Instance instance({32, 1, head_dim, 20, 3, keys, keys % 2 == 0, keys - 3, 0.0f, 2.0f},
                              std::uint64_t(head_dim + keys), 0);
      const std::vector<float> expected = instance.defined();
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", keys, " ", head_dim);
        for (const int rows : {32, 48, 80, 96})
          CHECK(same_bits(instance.one_shot({rows, keys % 128 == 1 ? 128 : 64}), expected));
        CHECK(same_bits(instance.parts(3), expected));
      });
    }
  }
}

TEST_CASE("600 random shapes: every backend, split and block size gives the defined bits") {
  Random random(2);
  for (int number = 0; number < rounds(600); ++number) {
    const int keys_beyond = number % 2 == 0 ? 19 : 0;  // with none, memory ends where the keys do
    const Instance instance(random_shape(random, number), std::uint64_t(number) + 1000, keys_beyond);
    const std::vector<float> expected = instance.defined();
    const std::string text = instance.text();
    INFO(number, text);
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend));
      CHECK(same_bits(instance.one_shot(), expected));
      // The scalar reference repeats only some of the ways, because a fused multiply-add in software takes its time.
      if (std::string(backend) == "scalar" && number % 10 != 0 && number % 50 != 24) return;
      CHECK(same_bits(instance.heads_alone(), expected));
      for (const int chunk : {1, 3, 16, 17, 64, 600}) CHECK(same_bits(instance.chunks(chunk, false), expected));
      for (const int parts : {2, 3, 5, 8}) CHECK(same_bits(instance.parts(parts), expected));
      for (const int rows : {1, 2, 5, 6, 7, 13, 48}) CHECK(same_bits(instance.one_shot({rows, 64}), expected));
      for (const int keys : {64, 128, 192, 448, 512, 576}) {
        CHECK(same_bits(instance.one_shot({96, keys}), expected));
        CHECK(same_bits(instance.chunks(16, false, {1, keys}), expected));
      }
    });
  }
}

// Blocks of several chains, of which the last has one chain or less, and rows of a tile that end on both sides of its
// beginning.
TEST_CASE("key blocks of several chains: every row is divided, wherever the causal triangle ends") {
  int taken = 0;
  for (const int keys : {129, 133, 140, 200}) {
    for (int queries = 1; queries <= 30; ++queries) {
      for (const int group : {1, 3}) {
        if (!is_tried(taken)) continue;
        const Instance instance({group, 1, 3, 2, queries, keys, true, keys - queries, 0.0f, 1.0f},
                                std::uint64_t(keys + queries));
        const std::vector<float> expected = instance.one_shot();
        INFO(keys, " ", queries, " ", group);
        for_each_backend([&](const char* backend) {
          INFO(std::string(backend));
          for (const int block : {128, 192}) CHECK(same_bits(instance.one_shot({96, block}), expected));
        });
      }
    }
  }
}

TEST_CASE("self-attention: a growing cache, token by token or in chunks, gives the bits of one call") {
  for (const int tokens : {1, 2, 15, 16, 17, 33, 64, 100, 513, 700, 1300}) {
    if (tokens > 513 && is_quick()) continue;
    const bool small = tokens <= 100;
    const Shape shape{small ? 4 : 2, small ? 2 : 1, small ? 24 : 8, small ? 24 : 9, tokens, tokens, true, 0, 0.0f, 4.0f};
    const Instance instance(shape, std::uint64_t(tokens));
    const std::vector<float> expected = instance.one_shot();
    if (tokens <= 700) CHECK(same_bits(expected, instance.defined()));
    INFO(tokens);
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend));
      if (std::string(backend) == "scalar" && tokens > 700) return;
      for (const int chunk : {1, 3, 16, 17, 64, 600}) {
        if ((std::string(backend) == "scalar" || stride() > 3) && tokens > 100 && chunk < 17) continue;
        CHECK(same_bits(instance.chunks(chunk, true), expected));
      }
    });
  }
}

TEST_CASE("unusual widths: 1, 7, 10, 80, 576, and values wider or narrower than keys") {
  for (const auto& [width, value_width] :
       {std::pair{1, 1}, {7, 7}, {10, 10}, {80, 80}, {576, 512}, {3, 65}, {65, 3}, {1, 130}}) {
    const int head_dim = width, value_dim = value_width;  // INFO cannot capture bindings
    const Instance instance({2, 1, head_dim, value_dim, 9, 37, true, 28, 0.0f, 2.0f}, 5);
    const std::vector<float> expected = instance.defined();
    INFO(head_dim, " ", value_dim);
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend));
      CHECK(same_bits(instance.one_shot(), expected));
      CHECK(same_bits(instance.chunks(4, false), expected));
    });
  }
}

TEST_CASE("row blocks of all the rows that hosts take: values are gathered from near and from afar") {
  for (const Shape& shape :
       {Shape{4, 2, 5, 3, 170, 45, true, -20, 0.0f, 1.0f}, Shape{3, 3, 3, 90, 150, 70, false, 0, 0.0f, 1.0f}}) {
    const Instance instance(shape, 77);
    const std::vector<float> expected = instance.defined();
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend));
      for (const int rows : {120, 150, 384}) CHECK(same_bits(instance.one_shot({rows, 64}), expected));
    });
  }
}
