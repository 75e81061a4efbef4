// What attend/worst_case.h says of calls in integers, beside what an emulator counts: `worst outside 0`, where each bound is as
// large as what was counted and at most 3 % larger. With the argument `loops` it prints what the constants are computed from.
// For an emulator whose clock moves with the instructions (instructions.h).
#include "attend/worst_case.h"

#include <string.h>

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
void compare(const char* what, const CountedCall& call, uint64_t found, int64_t bound) {
  const bool right = uint64_t(bound) >= found && uint64_t(bound) * 100 <= found * 103;
  ++calls;
  outside += !right;
  firmware::print(right ? what : "outside: ");
  const int row[] = {call.query_heads, call.kv_heads, call.head_dim, call.value_dim,
                     call.queries,     call.keys,     int(found),    int(bound)};
  print_row(row, 8);
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

// ---- The test.

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
  firmware::print("worst calls ");
  firmware::print_number(uint64_t(calls));
  firmware::print("\nworst outside ");
  firmware::print_number(uint64_t(outside));
  firmware::print("\n");
}

// ---- What the constants are computed from: for each call whether it is one of the typed surface, whether it is causal, its
// instructions, and how many times each constant is in the formula.

constexpr int numbers_of_counts = sizeof(InstructionCounts) / sizeof(int16_t), divisions = 5;

void print_loops(bool typed, const CountedCall& call, uint64_t found) {
  int row[3 + numbers_of_counts] = {typed, call.causal, int(found)};
  for (int i = 0; i < numbers_of_counts; ++i) {
    InstructionCounts one{};
    memcpy(&one, &counts, divisions * sizeof(int16_t));
    int16_t unit = 1;
    if (i >= divisions) memcpy(reinterpret_cast<char*>(&one) + i * int(sizeof unit), &unit, sizeof unit);
    memcpy(&unit, reinterpret_cast<const char*>(&one) + i * int(sizeof unit), sizeof unit);
    row[3 + i] = i < divisions ? unit : int(attend::detail::CountedLoops{one, call}.instructions());
  }
  print_row(row, 3 + numbers_of_counts);
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
}

}  // namespace

int firmware::run() {
  if (!start_counting()) return 1;
  char argument[16];
  if (!read_arguments(argument, sizeof argument)) return 1;
  argument[0] == 'l' ? print_all() : check_all();
  return 0;
}
