// Calls in integers, and how many instructions an emulator counts of each: for worst_main.cpp.
#pragma once

#include "attend/worst_case.h"

#include <string.h>

#include <new>
#include <utility>

#include "attend/layers.h"

#include "../../bench/boards/instructions.h"
#include "../../bench/boards/platform.h"
#include "../support/random.h"

namespace {

using attend::InstructionCounts;
using attend::detail::CountedCall;

#ifdef __OPTIMIZE_SIZE__
namespace measured = attend::gcc_12_Os;
constexpr bool is_small = true;
#else
namespace measured = attend::gcc_12_O2;
constexpr bool is_small = false;
#endif
#if defined(__ARM_ARCH_6M__)
constexpr const InstructionCounts& counts = measured::cortex_m0_plus;
#elif defined(__ARM_ARCH_7M__)
constexpr const InstructionCounts& counts = measured::cortex_m3;
#elif defined(__ARM_ARCH_7EM__)
constexpr const InstructionCounts& counts = measured::cortex_m4;
#else
constexpr const InstructionCounts& counts = measured::cortex_m33;
#endif

attend_test::Random numbers(1);
template <class Array>
void fill(Array& array) {
  for (auto& head : array[0]) {
    for (int8_t& number : head) number = int8_t(numbers.between(-128, 127));
  }
}

// Of one call. It is repeated, because the clock's steps are some 40 instructions.
template <class Work>
uint64_t count(int64_t about, Work work) {
  const uint64_t times = about > 500'000 ? 4 : about > 60'000 ? 40 : 160;
  return (firmware::count_instructions([&] {
            for (uint64_t i = 0; i < times; ++i) work();
          }) +
          times / 2) /
         times;
}

void print_row(const int* row, int size) {
  for (int i = 0; i < size; ++i) {
    firmware::print(row[i] < 0 ? "-" : "");
    firmware::print_number(uint64_t(row[i] < 0 ? -row[i] : row[i]));
    firmware::print(i + 1 < size ? " " : "\n");
  }
}

// ---- Calls of the typed surface.

constexpr int most_tokens = 1100;
template <int heads, int groups, int dims, int values>
struct Sized {
  using arithmetic = attend::integer;
  static constexpr int query_heads = heads, kv_heads = groups, head_dim = dims, value_dim = values, max_tokens = most_tokens;
};

template <class Shape>
class Typed {
  // A cache that says that it has so many of its tokens.
  struct Cache : attend::KvCache<Shape> {
    void set_length(int tokens) { this->length_ = this->queries_without_length_ = tokens; }
  };
  static inline Cache cache;
  static constexpr attend::Quantisation<Shape> quantisation{0.031, 0.027, {0.02, 4}, {0.02, -3}};

 public:
  Typed() {
    attend::Key<Shape> key;
    attend::Value<Shape> value;
    for (int i = 0; i < most_tokens; ++i) {
      fill(key);
      fill(value);
      if (cache.append(key, value) != attend::Status::ok) firmware::print("the cache takes no token\n");
    }
  }

  template <int queries>
  static CountedCall call_of(int keys) {
    return {Shape::head_dim, Shape::value_dim, Shape::query_heads, Shape::kv_heads, queries, keys, true};
  }

  template <int queries>
  static uint64_t counted(int keys) {
    static attend::Query<Shape, queries> query;
    static attend::Output<Shape, queries> output;
    static attend::Workspace<Shape, queries> work;
    fill(query);
    cache.set_length(keys);
    attend::Status status{};
    const uint64_t found = count(attend::detail::CountedLoops{counts, call_of<queries>(keys)}.most(), [&] {
      if constexpr (queries == 1) {
        status = attend::decode(query, cache, output, work, quantisation);
      } else {
        status = attend::prefill(query, cache, output, work, quantisation);
      }
    });
    return status == attend::Status::ok ? found : 0;
  }
};

// ---- Projections and append.

alignas(64) int8_t room[500'000], from[33'000], to[16'000];  // weights or a cache, inputs or a token, and outputs
uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
uint64_t count_projection(int outputs, int inputs, int tokens, bool zero) {
  constexpr int stride = 400;  // of weights, which lie in one another: no count depends on it
  static const int32_t bias[1000] = {};
  uint64_t most = 0;
  for (int shift = 20; shift <= 40; shift += 20) {  // below 32 bits, and above
    const attend::core::IntegerMultiplier by = {1 << 30, shift};
    const attend::core::IntegerLinear linear = {from,   to,     room,    bias,   &by,          0, inputs, outputs,
                                                stride, inputs, outputs, tokens, zero ? 5 : 0, 3};
    most = larger(most, count(int64_t(outputs) * inputs * tokens * 3, [&] { attend::core::run_integer_linear<1>(linear); }));
  }
  return most;
}

// The formula without what the typed surface adds.
int64_t of_core(InstructionCounts of, int outputs, int inputs, int tokens, bool zero) {
  of.project[6] = of.project[7] = 0;
  return attend::detail::counted_projection(of, outputs, inputs, tokens, zero);
}

// The numbers of a shape that nobody chose.
constexpr unsigned drawn(unsigned seed, int number) {
  unsigned x = (seed * 64 + unsigned(number) + 1) * 2654435761u;
  x = (x ^ x >> 15) * 2246822519u;
  return (x ^ x >> 13) * 3266489917u >> 8;
}
template <unsigned seed>
struct DrawnProjection {
  static constexpr int outputs = 1 + int(drawn(seed, 0)) % (seed % 2 ? 300 : 40),
                       inputs = 4 + int(drawn(seed, 1)) % (seed % 3 ? 90 : 400),
                       tokens = seed % 4 == 3 ? 1 + int(drawn(seed, 2)) % 16 : 1;
  static constexpr bool zero = seed / 2 % 2;
  static uint64_t counted() {
    auto& weights = *new (room) attend::Weights<outputs, inputs, attend::integer>{};
    const auto& x = *new (from) attend::Vectors<tokens, inputs, int8_t>;
    auto& y = *new (to) attend::Vectors<tokens, outputs, int8_t>;
    static constexpr attend::TensorScale input = {0.02, zero ? -3 : 0}, output = {0.04, 10};
    static constexpr attend::ProjectionScales<> scales[] = {{input, 8, output}, {input, 0.005, output}};
    attend::Status status{};
    uint64_t most = 0;
    for (const auto& by : scales)
      most = larger(most, count(int64_t(outputs) * inputs * tokens * 3, [&] { status = attend::project(x, weights, by, y); }));
    return status == attend::Status::ok ? most : 0;
  }
};

// Append where the arrays, and the places in the cache, lie worst.
template <unsigned seed>
struct DrawnAppend {
  static constexpr int most = seed % 2   ? 256
                              : seed % 4 ? 64
                                         : 12,
                       heads = 1 + int(drawn(seed, 2)) % (seed % 5 ? 6 : 64), dims = 1 + int(drawn(seed, 0)) % most,
                       values = seed % 3 ? 1 + int(drawn(seed, 1)) % most : dims;
  struct Shape : Sized<heads, heads, dims, values> {
    static constexpr int places = int(sizeof room) / (heads * (dims + values)) - 1,
                         max_tokens = 4 + int(drawn(seed, 3)) % ((places < 1000 ? places : 1000) - 4);
  };
  static uint64_t counted() {
    struct Token {
      attend::Key<Shape> key;
      attend::Value<Shape> value;
    };
    struct Cache : attend::KvCache<Shape> {
      void set_length(int tokens) { this->length_ = this->queries_without_length_ = tokens & 0xffff; }
    };
    Cache& cache = *new (room) Cache;
    uint64_t worst = 0;
    bool right = true;
    for (int i = 0; i < 16; ++i) {
      const Token& token = *new (from + i % 4) Token;
      worst = larger(worst, count(500, [&] {
                       cache.set_length(Shape::max_tokens - 1 - i / 4);
                       right &= cache.append(token.key, token.value) == attend::Status::ok;
                     }));
    }
    return right ? worst : 0;
  }
};

}  // namespace
