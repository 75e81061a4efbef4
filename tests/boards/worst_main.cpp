// What attend/worst_case.h says of calls in integers, beside what an emulator counts: `worst outside 0`, where each bound is as
// large as what was counted and at most 3 % larger, or three times of append. With the argument `loops` it prints what the
// constants are computed from. For an emulator whose clock moves with the instructions (instructions.h).
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

// ---- Bounds beside counts.

int calls = 0, outside = 0;
template <int size>
void compare(const char* what, bool right, const int (&row)[size]) {
  ++calls;
  outside += !right;
  firmware::print(right ? what : "outside: ");
  print_row(row, size);
}
bool within(uint64_t found, int64_t bound, int more = 0) {
  return uint64_t(bound) >= found && (uint64_t(bound) * 100 <= found * 103 || uint64_t(bound) <= found + uint64_t(more));
}
void compare(const char* what, const CountedCall& call, uint64_t found, int64_t bound) {
  compare(what, within(found, bound),
          {call.query_heads, call.kv_heads, call.head_dim, call.value_dim, call.queries, call.keys, int(found), int(bound)});
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

  template <int queries>
  void check(int keys) const {
    const CountedCall call = call_of<queries>(keys);
    compare("", call, counted<queries>(keys), attend::detail::CountedLoops{counts, call}.most());
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

// ---- The test.

template <unsigned seed>
void check_drawn() {
  using P = DrawnProjection<seed>;
  using A = DrawnAppend<seed>;
  const uint64_t found = P::counted(), append = A::counted();
  constexpr int64_t bound = attend::worst_project_instructions<P::outputs, P::inputs, P::tokens, P::zero>(counts),
                    of_append = attend::worst_append_instructions<typename A::Shape>(counts);
  compare("project: ", within(found, bound, 120), {P::outputs, P::inputs, P::tokens, P::zero, int(found), int(bound)});
  // Short appends may take a third of it.
  compare("append: ", of_append >= int64_t(append) && of_append <= int64_t(3 * append + 100),
          {A::heads, A::dims, A::values, int(append), int(of_append)});
}
template <unsigned... seed>
void check_others(std::integer_sequence<unsigned, seed...>) {
  (check_drawn<1000 + seed>(), ...);
  for (int i = 0; i < 100; ++i) {
    const int outputs = int(numbers.between(1, i % 9 == 0 ? 1000 : 70)),
              inputs = int(numbers.between(4, i % 9 == 1 ? 1000 : 200)), tokens = i % 3 == 0 ? int(numbers.between(1, 16)) : 1,
              zero = i % 2;
    const uint64_t found = count_projection(outputs, inputs, tokens, zero);
    const int64_t bound = of_core(counts, outputs, inputs, tokens, zero) / 16 + 1;
    compare("project: ", within(found, bound, 120), {outputs, inputs, tokens, zero, int(found), int(bound)});
  }
}

template <class Shape>
void check_shape(int keys) {
  const Typed<Shape> typed;
  typed.template check<1>(1 + keys % 5);
  typed.template check<1>(32 + keys % 3 * 32);
  typed.template check<1>(keys);
  typed.template check<1>(keys + 512);
  typed.template check<3>(3 + keys % 7);
  typed.template check<10>(keys);
}

// worst_instructions, beside all numbers of keys that may be the worst.
template <class Shape, int keys>
void check_worst() {
  const Typed<Shape> typed;
  uint64_t found = 0;
  for (int fewer = 0; fewer < 32 && fewer < keys; ++fewer) {
    const uint64_t here = typed.template counted<1>(keys - fewer);
    if (here > found) found = here;
  }
  constexpr int64_t bound = attend::worst_instructions<Shape, keys>(counts);
  compare("worst: ", typed.template call_of<1>(keys), found, bound);
}

void check_all() {
  check_shape<Sized<4, 2, 32, 32>>(100);
  check_shape<Sized<1, 1, 16, 16>>(64);
  check_shape<Sized<8, 8, 64, 64>>(39);
  check_shape<Sized<6, 3, 24, 40>>(250);
  check_shape<Sized<5, 1, 10, 14>>(33);
  check_shape<Sized<3, 1, 33, 7>>(511);
  check_shape<Sized<2, 1, 128, 96>>(77);
  check_shape<Sized<12, 4, 9, 13>>(95);
  check_shape<Sized<1, 1, 5, 31>>(12);
  check_shape<Sized<16, 2, 48, 48>>(30);
  check_worst<Sized<4, 2, 32, 32>, 64>();
  check_worst<Sized<1, 1, 16, 16>, 60>();
  check_worst<Sized<5, 1, 10, 14>, 17>();
  check_worst<Sized<4, 4, 8, 8>, 200>();
  check_others(std::make_integer_sequence<unsigned, 12>());
  firmware::print("worst calls ");
  firmware::print_number(uint64_t(calls));
  firmware::print("\nworst outside ");
  firmware::print_number(uint64_t(outside));
  firmware::print("\n");
}

// ---- What the constants are computed from: for each call whether it is one of attention, a projection or append, whether it
// is one of the typed surface, whether it is causal, its instructions, and how many times each constant is in the formula.

constexpr int numbers_of_counts = sizeof(InstructionCounts) / sizeof(int16_t), divisions = 5;

template <class Formula>
void print_loops(int kind, bool typed, bool causal, uint64_t found, Formula formula) {
  int row[4 + numbers_of_counts] = {kind, typed, causal, int(found)};
  for (int i = 0; i < numbers_of_counts; ++i) {
    InstructionCounts one{};
    memcpy(&one, &counts, divisions * sizeof(int16_t));
    int16_t unit = 1;
    if (i >= divisions) memcpy(reinterpret_cast<char*>(&one) + i * int(sizeof unit), &unit, sizeof unit);
    memcpy(&unit, reinterpret_cast<const char*>(&one) + i * int(sizeof unit), sizeof unit);
    row[4 + i] = i < divisions ? unit : int(formula(one));
  }
  print_row(row, 4 + numbers_of_counts);
}
void print_loops(bool typed, const CountedCall& call, uint64_t found) {
  print_loops(0, typed, call.causal, found, [&](const InstructionCounts& one) {
    return attend::detail::CountedLoops{one, call}.instructions();
  });
}

void print_projection(int outputs, int inputs, int tokens, bool zero, uint64_t typed = 0) {
  print_loops(1, typed > 0, false, typed > 0 ? typed : count_projection(outputs, inputs, tokens, zero), [=](const auto& one) {
    return typed > 0 ? attend::detail::counted_projection(one, outputs, inputs, tokens, zero)
                     : of_core(one, outputs, inputs, tokens, zero);
  });
}
template <unsigned... seed>
void print_others(std::integer_sequence<unsigned, seed...>) {
  for (int zero = 0; zero < 2; ++zero) {
    for (int i = 1; i <= 18; ++i) print_projection(i, 8, 1, zero), print_projection(i, 19, 2, zero);
    for (int i = 4; i <= 20; ++i) print_projection(5, i, 1, zero), print_projection(16, i, 3, zero);
    for (int i = 60; i <= 84; ++i) print_projection(8, i, 1 + i % 2, zero);
    for (int i = 125; i <= 134; ++i) print_projection(7, i, 1, zero), print_projection(2, i, 4, zero);
    for (int i = 1; i <= 16; i += 3) print_projection(20, 40, i, zero), print_projection(1, 3 + i, i, zero);
    for (int i = 4; i <= 1000; i += 199) print_projection(1000, i / 8 + 4, 1, zero), print_projection(1, i, 1, zero);
  }
  for (int i = 0; i < 220; ++i) {
    const auto random = [](int low, int high) { return int(numbers.between(low, high)); };
    print_projection(random(1, i % 4 == 0 ? 1000 : 70),
                     random(4, i % 4 == 1   ? 1000
                               : i % 4 == 2 ? 40
                                            : 300),
                     i % 3 == 0 ? random(1, 16) : 1, i % 2);
  }
  const auto append = [](auto drawn) {
    print_loops(2, true, false, drawn.counted(), [=](const InstructionCounts& one) {
      return attend::detail::counted_append(one, drawn.heads, drawn.dims, drawn.values);
    });
  };
  const auto projection = [](auto drawn) {
    print_projection(drawn.outputs, drawn.inputs, drawn.tokens, drawn.zero, drawn.counted());
  };
  (append(DrawnAppend<seed>()), ...);
  (append(DrawnAppend<40 + seed>()), ...);
  (append(DrawnAppend<80 + seed>()), ...);
  (projection(DrawnProjection<seed>()), ...);
}

// A call below the surface, whose shape may be any.
void print_loops(const CountedCall& call) {
  using namespace attend;
  if (call.value_dim < counts.columns || (counts.value_keys > 1 && call.head_dim < 4)) return;  // other loops, which take less
  static int8_t arrays[4][150'000];
  static int32_t work[20'000];
  const core::ScoreScale score_scale = core::score_scale(0x1p-12);
  const core::OutputScale output_scale = core::output_scale(4);
  const int heads = call.query_heads;
  core::Problem problem{};
  problem.query = {arrays[0], heads * call.head_dim, call.head_dim};
  problem.key = {arrays[1], call.head_dim, call.keys * call.head_dim};
  problem.value = {arrays[2], call.value_dim, call.keys * call.value_dim};
  problem.output = {arrays[3], heads * call.value_dim, call.value_dim};
  problem.query_heads = heads;
  problem.kv_heads = call.kv_heads;
  problem.head_dim = call.head_dim;
  problem.value_dim = call.value_dim;
  problem.queries = call.queries;
  problem.keys = call.keys;
  problem.offset = call.keys - call.queries;
  problem.causal = call.causal;
  problem.score_scales = &score_scale;
  problem.output_scales = &output_scale;
  problem.row_block = detail::smaller(call.queries * heads / call.kv_heads, config::integer_row_block);
  problem.key_block = config::integer_key_block;
  problem.scratch = work;
  const int64_t about = int64_t(heads) * call.queries * (call.keys + 32) * (call.head_dim + call.value_dim + 20) * 6;
  print_loops(false, call, count(about, [&] { core::Integers::run(problem); }));
}

template <class Shape>
void print_typed() {
  const Typed<Shape> typed;
  for (int keys = 3; keys < 70; keys += 11) {
    CountedCall call = typed.template call_of<1>(keys);
    call.causal = false;
    print_loops(true, call, typed.template counted<1>(keys));
    print_loops(true, typed.template call_of<3>(keys), typed.template counted<3>(keys));
  }
}

void print_all() {
  constexpr int dims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 17, 20, 30, 35, 48, 64};
  constexpr int some_keys[] = {1, 4, 6, 7, 32}, many_keys[] = {500, 512, 513, 1024, 1025, 1537, 2049, 2561, 3600};
  for (int heads = 1; heads <= 2; ++heads) {
    for (const int width : dims) {
      for (const int keys : some_keys)
        print_loops({width, 8, heads, 1, 1, keys, false}), print_loops({8, width, heads, 1, 1, keys, false});
    }
    for (int keys = 1; keys <= 70; ++keys) print_loops({8, 12, heads, 1, 1, keys, false});
    for (const int keys : many_keys)
      print_loops({4, 4, heads, 1, 1, keys, false}), print_loops({4, 8, heads, 1, 1, keys, false});
  }
  for (int heads = 1; heads <= 4; ++heads) {
    for (int group = 1; group <= 5; ++group) print_loops({8, 8, heads * group, heads, 1, 7, false});
  }
  const auto random = [](int low, int high) { return int(numbers.between(low, high)); };
  for (int i = 0; i < 300; ++i) {
    const int kv_heads = random(1, 3), queries = random(1, 5);
    print_loops(
        {random(4, 70), random(4, 70), kv_heads * random(1, 4), kv_heads, queries, queries + random(0, 100), i % 3 != 0});
  }
  print_typed<Sized<2, 1, 12, 20>>();
  print_typed<Sized<3, 3, 7, 8>>();
  print_typed<Sized<8, 2, 40, 11>>();
#ifdef ATTEND_LOOPS  // board.sh build: it compiles for long
  print_others(std::make_integer_sequence<unsigned, 40>());
#endif
}

}  // namespace

int firmware::run() {
  if (!start_counting()) return 1;
  char argument[16];
  if (!read_arguments(argument, sizeof argument)) return 1;
  argument[0] == 'l' ? print_all() : check_all();
  return 0;
}
