// Boolean masks in the C surface: strides of any sign, and few keys that are shown among very many, whatever says so.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/random.h"
#include "../support/rounds.h"
#include "c_run.h"

using namespace attend_test;

namespace {

// A problem of floats over arrays whose output is kept apart for each way of calling it.
struct Masked {
  Masked(Random& random, int queries, int keys) : p() {
    REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
    p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM;
    p.query_heads = 2, p.kv_heads = 1, p.head_dim = 12, p.value_dim = 7;
    p.queries = queries, p.keys = keys;
    const auto fill = [&](std::vector<float>& numbers, int count) {
      numbers.resize(std::size_t(count));
      random.fill(numbers.data(), numbers.size(), 1.0f);
    };
    fill(query, queries * 2 * 12), fill(key, keys * 12), fill(value, keys * 7);
    p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data();
  }

  std::vector<float> run() {
    std::vector<float> output(std::size_t(p.queries) * 2 * 7, -7.0f);
    p.output.data = output.data();
    REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
    return output;
  }

  attend_problem p;
  std::vector<float> query, key, value;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("c masks: bytes whose rows lie backwards have the bits of those that lie forwards") {
  Random random(3);
  constexpr int queries = 6, keys = 200;
  Masked masked(random, queries, keys);
  std::vector<std::uint8_t> diagonals(queries + keys), dense(queries * keys);
  for (std::uint8_t& shown : diagonals) shown = random.between(0, 5) == 0;
  // Row i begins i bytes before row 0, which begins anywhere.
  const std::uint8_t* const first = diagonals.data() + queries - 1;
  for (int i = 0; i < queries; ++i) std::memcpy(&dense[std::size_t(i * keys)], first - i, keys);
  masked.p.mask = {dense.data(), 0, 0, keys, keys, ATTEND_MASK_BYTES};
  const std::vector<float> expected = masked.run();
  masked.p.mask = {first, 0, 0, -1, keys, ATTEND_MASK_BYTES};
  CHECK(same_bits(masked.run(), expected));
  std::vector<float> in_parts(expected.size(), -7.0f);
  masked.p.output.data = in_parts.data();
  for (int part = 0; part < queries; ++part) REQUIRE(run_with_exact_workspace(masked.p, part, queries) == ATTEND_OK);
  CHECK(same_bits(in_parts, expected));
}

TEST_CASE("c masks: a mask or a bias without columns masks every key") {
  Random random(5);
  Masked masked(random, 3, 20);
  const std::vector<float> nothing(3 * 2 * 7, 0.0f);
  const float bias = 0.0f;
  masked.p.bias.data = &bias, masked.p.bias.keys = 0;
  CHECK(same_bits(masked.run(), nothing));
  Masked bytes(random, 3, 20);
  const std::uint8_t shown = 1;
  bytes.p.mask.data = &shown, bytes.p.mask.kind = ATTEND_MASK_BYTES, bytes.p.mask.keys = 0;
  CHECK(same_bits(bytes.run(), nothing));
}

TEST_CASE("c biases: tables of relative positions that begin or end with a query's own position are biases by position") {
  Random random(7);
  constexpr int queries = 5, keys = 40, offset = 20;
  Masked masked(random, queries, keys);

  const float table[] = {1.5f, -2.0f, 0.25f, 3.0f};
  struct Ends {
    int left, right;
  };
  for (const Ends ends : {Ends{0, 3}, Ends{3, 0}, Ends{0, 0}}) {
    std::vector<float> bias(queries * keys);
    for (int i = 0; i < queries; ++i) {
      for (int j = 0; j < keys; ++j) {
        const int distance = std::max(-ends.left, std::min(ends.right, j - offset - i));
        bias[std::size_t(i * keys + j)] = table[distance + ends.left];
      }
    }
    CAPTURE(ends.left);
    CAPTURE(ends.right);
    masked.p.offset = ATTEND_DEFAULT_OFFSET;
    masked.p.bias = {bias.data(), 0, 0, keys, keys};
    const std::vector<float> expected = masked.run();
    masked.p.bias = {nullptr, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE, ATTEND_ALL_KEYS};
    masked.p.offset = offset;
    masked.p.relative_bias = {table, 0, ends.left, ends.right};
    CHECK(same_bits(masked.run(), expected));
    masked.p.relative_bias = {nullptr, ATTEND_DENSE, -1, -1};
  }
}

TEST_CASE("c masks: few keys that bytes, bits or a bias show among many have the same bits") {
  for (const int round : each_round(12)) {
    Random random(std::uint64_t(round) + 40);
    const int queries = random.between(1, 20), keys = random.between(1000, 4000), block = random.between(1, 90);
    Masked masked(random, queries, keys);
    const std::size_t count = std::size_t(queries * keys);
    std::vector<std::uint8_t> bytes(count), bits(count / 8 + 1);
    std::vector<float> bias(count, -INFINITY);
    for (int i = 0; i < queries; ++i) {
      for (int chosen = random.between(0, 4); chosen > 0; --chosen) {
        const int at = random.between(0, keys - 1);
        for (int j = at; j < at + block && j < keys; ++j) {
          const std::size_t n = std::size_t(i * keys + j);
          bytes[n] = 2, bits[n / 8] = std::uint8_t(bits[n / 8] | 1 << n % 8), bias[n] = 0;
        }
      }
    }
    CAPTURE(round);
    masked.p.bias = {bias.data(), 0, 0, keys, keys};
    const std::vector<float> expected = masked.run();
    masked.p.bias = {nullptr, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE, ATTEND_ALL_KEYS};
    masked.p.mask = {bytes.data(), 0, 0, keys, keys, ATTEND_MASK_BYTES};
    CHECK(same_bits(masked.run(), expected));
    masked.p.mask = {bits.data(), 0, 0, keys, keys, ATTEND_MASK_BITS};
    CHECK(same_bits(masked.run(), expected));
  }
}
