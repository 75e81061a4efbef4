// What attend/worst_case.h says of calls in integers, beside what an emulator counts: `worst outside 0`, where each bound is as
// large as what was counted and at most 3 % larger. With the argument `loops` it prints what the constants are computed from.
// For an emulator whose clock moves with the instructions (instructions.h).
#include "attend/worst_case.h"

#include <string.h>

#include "attend/layers.h"
#include "attend/linear_attention.h"

#include "../../bench/boards/instructions.h"
#include "../../bench/boards/platform.h"
#include "../support/random.h"

namespace {

using attend::InstructionCounts;
using attend::detail::CountedCall;
using attend::detail::CountedLoops;

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
void compare(const char* what, const CountedCall& call, uint64_t found, int64_t bound, int slack = 60) {
  const bool right =
      uint64_t(bound) >= found && (uint64_t(bound) * 100 <= found * 103 || uint64_t(bound) <= found + uint64_t(slack));
  ++calls;
  outside += !right;
  firmware::print(right ? "" : "outside: ");
  firmware::print(what);
  const int row[] = {call.query_heads, call.kv_heads, call.head_dim, call.value_dim,
                     call.queries,     call.keys,     int(found),    int(bound)};
  print_row(row, 8);
}

// ---- Calls of the typed surface.

volatile int far = 1 << 30;  // a token whose segment has another number in most bits than the segment before
constexpr int most_tokens = 1100;
template <int heads, int groups, int dims, int values, int tokens = most_tokens>
struct Sized {
  using arithmetic = attend::integer;
  static constexpr int query_heads = heads, kv_heads = groups, head_dim = dims, value_dim = values, max_tokens = tokens;
};

template <int query_heads_, int kv_heads_, int value_heads_, int dims, int values, attend::LinearRule rule_>
struct LinearSized {
  using arithmetic = attend::integer;
  static constexpr attend::LinearRule rule = rule_;
  static constexpr int query_heads = query_heads_, kv_heads = kv_heads_, value_heads = value_heads_, head_dim = dims,
                       value_dim = values;
};

template <class Shape>
struct PerKey : Shape {
  static constexpr attend::Decay decay = attend::Decay::per_key;
};
template <int window_, int sinks_>
struct RingSizes {
  static constexpr int window = window_, sink_tokens = sinks_;
};

// A cache that says that it has so many tokens.
template <class Base>
struct Opened : Base {
  void set_length(int tokens) { this->length_ = this->queries_without_length_ = tokens & 0x7fffffff; }  // known to be positive
};

template <class Shape>
class Typed {
  static inline Opened<attend::KvCache<Shape>> cache;
  static constexpr attend::Quantisation<Shape> quantisation{0.031, 0.027, {0.02, 4}, {0.02, -3}};

 public:
  Typed() {
    cache.clear();
    attend::Key<Shape> key;
    attend::Value<Shape> value;
    for (int i = 0; i < Shape::max_tokens; ++i) {
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
    const uint64_t found = count(CountedLoops{counts, call_of<queries>(keys)}.most(), [&] {
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
    compare("", call, counted<queries>(keys), CountedLoops{counts, call}.most());
  }
};

// Append of a token whose arrays lie at an odd address, at the worst of some places.
template <class Cache, class Shape>
uint64_t count_append(int length) {
  static Opened<Cache> cache;
  static struct {
    alignas(4) char odd[1];
    attend::Key<Shape> key;
    attend::Value<Shape> value;
  } token;
  attend::Status status{};
  uint64_t most = 0;
  for (int place = length; place < length + 4; ++place) {
    const uint64_t here = count(500, [&] {
      cache.set_length(place);
      status = cache.append(token.key, token.value);
    });
    most = here > most ? here : most;
  }
  return status == attend::Status::ok ? most : 0;
}

// Decode over a ring, with `first` as in CountedLoops::ring.
template <class Shape, class Sizes>
uint64_t count_ring(int first) {
  static Opened<attend::RingCache<Shape, Sizes>> cache;
  static attend::Query<Shape> query;
  static attend::Output<Shape> output;
  static attend::Workspace<Shape, 1, attend::over_ring<Sizes>> work;
  constexpr attend::Quantisation<Shape> quantisation{0.031, 0.027, {0.02, 4}, {0.02, -3}};
  cache.set_length(far + first + Sizes::window - (first + Sizes::window > 32 ? 32 : 0));
  fill(query);
  attend::Status status{};
  const uint64_t found = count(100'000, [&] { status = attend::decode(query, cache, output, work, quantisation); });
  return status == attend::Status::ok ? found : 0;
}

template <int outputs, int inputs, int tokens, bool zero>
uint64_t count_projection() {
  static attend::Weights<outputs, inputs, attend::integer> weights;
  static attend::Vectors<tokens, inputs, int8_t> x;
  static attend::Vectors<tokens, outputs, int8_t> y;
  constexpr attend::TensorScale from = {0.02, zero ? -3 : 0}, to = {0.04, 10};
  constexpr attend::ProjectionScales<> scales[] = {{from, 0.005, to}, {from, 8, to}};  // shifts above 32 bits, and below
  for (auto& row : weights.data) {
    for (int8_t& number : row) number = int8_t(numbers.between(-128, 127));
  }
  attend::Status status{};
  uint64_t most = 0;
  for (const auto& by : scales) {
    const uint64_t here = count(outputs * inputs * tokens * 2, [&] { status = attend::project(x, weights, by, y); });
    most = here > most ? here : most;
  }
  return status == attend::Status::ok ? most : 0;
}

// A token of linear attention, whose panels are scaled.
template <class Work>
uint64_t count_state(int32_t* scaled, int panels, Work work) {
  const auto reset = [=] {
    for (int i = 0; i < panels; ++i) const_cast<volatile int32_t*>(scaled)[3 * i + 2] = 0;
  };
  return count(70'000, [&] { reset(), work(); }) - count(70'000, reset);
}
template <class Shape>
uint64_t count_state() {
  using Dims = attend::detail::LinearChecked<Shape>;
  static attend::LinearState<Shape> state;
  static attend::Query<Shape> query;
  static attend::Key<Shape> key;
  static attend::Value<Shape> value;
  static attend::Gates<Shape> gates;
  static attend::Output<Shape> output;
  constexpr attend::LinearQuantisation<Shape> quantisation(0.02, 1.0 / 127, 0.02, 0.02);
  fill(query), fill(key), fill(value);
  attend::Status status{};
  constexpr int panels = Dims::value_heads * attend::core::panel_count(Dims::value_dim);
  int32_t* const numbers_of_state = attend::detail::LinearAccess::data(state);
  const uint64_t found = count_state(numbers_of_state + Dims::value_heads * Dims::head_dim * Dims::value_dim, panels,
                                     [&] { status = attend::decode(query, key, value, gates, state, output, quantisation); });
  return status == attend::Status::ok ? found : 0;
}

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

// The other calls. Of a short one, append, the bound may be some instructions above.
template <class Cache, class Shape>
void check_append(int length) {
  compare("append: ", Typed<Shape>::template call_of<1>(1), count_append<Cache, Shape>(length),
          attend::worst_append_instructions<Cache>(counts), 200);
}
template <class Shape, int window, int sinks>
void check_ring() {
  using Sizes = RingSizes<window, sinks>;
  using Ring = attend::RingCache<Shape, Sizes>;
  check_append<attend::KvCache<Shape>, Shape>(2), check_append<Ring, Shape>(sinks > 0 ? 0 : far);
  uint64_t found = 0;
  for (int first = 0; first < 32; ++first) {
    const uint64_t here = count_ring<Shape, Sizes>(first);
    found = here > found ? here : found;
  }
  compare("ring: ", Typed<Shape>::template call_of<1>(window), found, attend::worst_ring_instructions<Ring>(counts));
}
template <int outputs, int inputs, int tokens, bool zero>
void check_projection() {
  compare("project: ", {inputs, outputs, 1, 1, tokens, zero, false}, count_projection<outputs, inputs, tokens, zero>(),
          attend::worst_project_instructions<outputs, inputs, tokens, zero>(counts));
}
template <class Shape>
void check_state() {
  const CountedCall call = {
      Shape::head_dim, Shape::value_dim, Shape::query_heads, Shape::kv_heads, int(Shape::rule), Shape::value_heads, false};
  compare("linear: ", call, count_state<Shape>(), attend::worst_linear_instructions<Shape>(counts));
}
void check_others() {
  using attend::LinearRule;
  check_ring<Sized<4, 2, 32, 32, 8>, 64, 0>();
  check_ring<Sized<6, 2, 24, 20, 8>, 100, 4>();
  check_ring<Sized<2, 2, 72, 40, 8>, 33, 0>();
  check_ring<Sized<1, 1, 16, 48, 8>, 600, 33>();
  check_ring<Sized<5, 1, 10, 14, 8>, 17, 1>();
  check_projection<128, 64, 1, true>(), check_projection<96, 128, 1, false>(), check_projection<40, 200, 1, true>();
  check_projection<50, 70, 4, false>(), check_projection<17, 33, 3, true>(), check_projection<16, 16, 1, true>();
  check_state<LinearSized<2, 1, 2, 32, 32, LinearRule::gated_delta>>();
  check_state<PerKey<LinearSized<2, 2, 2, 24, 40, LinearRule::gated_delta>>>();
  check_state<LinearSized<4, 2, 2, 16, 20, LinearRule::gated>>();
  check_state<PerKey<LinearSized<1, 1, 1, 40, 13, LinearRule::gated>>>();
  check_state<LinearSized<3, 3, 3, 10, 24, LinearRule::linear>>();
  check_state<LinearSized<2, 1, 4, 20, 16, LinearRule::delta>>();
}

void check_all() {
  check_shape<Sized<4, 2, 32, 32>>(100);
  check_shape<Sized<1, 1, 16, 16>>(64);
  check_shape<Sized<8, 8, 64, 64, 560>>(39);
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
  check_others();
  firmware::print("worst calls ");
  firmware::print_number(uint64_t(calls));
  firmware::print("\nworst outside ");
  firmware::print_number(uint64_t(outside));
  firmware::print("\n");
}

// ---- What the constants are computed from: for each call which array of constants it has beside those of attention, whether
// it is one of the typed surface, whether it is causal, its instructions, and how many times each constant is in the formula.

constexpr int numbers_of_counts = sizeof(InstructionCounts) / sizeof(int16_t), divisions = 7;
enum Kind { attention, append, ring, projection, state };

template <class Formula>
void print_row_of(Kind kind, bool typed, const CountedCall& call, uint64_t found, Formula formula) {
  int row[4 + numbers_of_counts] = {kind, typed, call.causal, int(found)};
  for (int i = 0; i < numbers_of_counts; ++i) {
    InstructionCounts one{};
    memcpy(&one, &counts, divisions * sizeof(int16_t));
    int16_t unit = 1;
    if (i >= divisions) memcpy(reinterpret_cast<char*>(&one) + i * int(sizeof unit), &unit, sizeof unit);
    memcpy(&unit, reinterpret_cast<const char*>(&one) + i * int(sizeof unit), sizeof unit);
    row[4 + i] = i < divisions ? unit : int(formula(CountedLoops{one, call}));
  }
  print_row(row, 4 + numbers_of_counts);
}

void print_loops(bool typed, const CountedCall& call, uint64_t found) {
  print_row_of(attention, typed, call, found, [](const CountedLoops& loops) { return loops.instructions(); });
}

// Calls below the surface, whose shapes may be any.
int32_t memory[5][38'000];
int8_t* numbers_at(int array) { return reinterpret_cast<int8_t*>(memory[array]); }

struct Call {
  attend::core::ScoreScale score_scale = attend::core::score_scale(0x1p-12);
  attend::core::OutputScale output_scale = attend::core::output_scale(4);
  attend::core::Problem problem{};

  // places: of a head in the cache
  Call(const CountedCall& call, int places) {
    using namespace attend;
    const int heads = call.query_heads;
    problem.query = {numbers_at(0), heads * call.head_dim, call.head_dim};
    problem.key = {numbers_at(1), call.head_dim, places * call.head_dim};
    problem.value = {numbers_at(2), call.value_dim, places * call.value_dim};
    problem.output = {numbers_at(3), heads * call.value_dim, call.value_dim};
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
    problem.scratch = memory[4];
  }
};

void print_loops(const CountedCall& call) {
  if (call.value_dim < counts.columns || (counts.value_keys > 1 && call.head_dim < 4)) return;  // other loops, which take less
  const Call of(call, call.keys);
  const int64_t about = int64_t(call.query_heads) * call.queries * (call.keys + 32) * (call.head_dim + call.value_dim + 20) * 6;
  print_loops(false, call, count(about, [&] { attend::core::Integers::run(of.problem); }));
}

// Over a ring, its window across a boundary of segments far from the first token, where most bits of their numbers differ.
void print_ring(CountedCall call, int window, int sinks, int first) {
  const int chunks = (first + window + 31) / 32, sink_chunks = (sinks + 31) / 32;
  call.keys = far + first + window - (chunks > 1 ? 32 : 0);
  const Call of(call, (chunks + 2 + sink_chunks) * 32);
  attend::core::Options options;
  options.paging = {nullptr, 0, chunks + 2, sink_chunks, call.keys};
  options.left = window - 1;
  options.sink_tokens = sinks;
  options.output_format = attend::core::Format::int8;
  print_row_of(ring, false, call, count(400'000, [&] { attend::core::Integers::run(of.problem, options); }),
               [=](const CountedLoops& loops) { return loops.ring(window, sinks, first); });
}

template <int heads, int dims, int values, class Sizes = void>
void print_append() {
  using Shape = Sized<heads, heads, dims, values, 8>;
  const CountedCall call = Typed<Shape>::template call_of<1>(1);
  print_row_of(append, false, call, count_append<attend::KvCache<Shape>, Shape>(1),
               [](const CountedLoops& loops) { return loops.append(1, false); });
  if constexpr (!attend::detail::Same<Sizes, void>::value) {
    using Ring = attend::RingCache<Shape, Sizes>;
    constexpr bool sinks = Sizes::sink_tokens > 0;
    print_row_of(append, false, call, count_append<Ring, Shape>(sinks ? 1 : far),
                 [](const CountedLoops& loops) { return loops.append(1 + sinks, true); });
    for (int first = 0; first < 32; first += 5) {
      print_row_of(ring, true, call, count_ring<Shape, Sizes>(first),
                   [=](const CountedLoops& loops) { return loops.ring(Sizes::window, Sizes::sink_tokens, first); });
    }
  }
}

void print_projection(int outputs, int inputs, int tokens, bool zero) {
  using namespace attend;
  if (counts.value_keys > 1 && inputs % 64 >= 1 && inputs % 64 <= 3) return;  // other loops, which take less
  uint64_t most = 0;
  for (int shift = 20; shift <= 40; shift += 20) {
    const core::IntegerMultiplier by = {1 << 30, shift};
    const core::IntegerLinear linear = {numbers_at(0), numbers_at(1), numbers_at(2), memory[3], &by,    0,    inputs,
                                        outputs,       inputs,        inputs,        outputs,   tokens, zero, 3};
    const uint64_t here = count(outputs * inputs * tokens * 2, [&] { core::run_integer_linear<1>(linear); });
    most = here > most ? here : most;
  }
  print_row_of(projection, false, {}, most,
               [=](const CountedLoops& loops) { return loops.projection(outputs, inputs, tokens, zero, false); });
}
template <int outputs, int inputs>
void print_typed_projection() {
  print_row_of(projection, false, {}, count_projection<outputs, inputs, 1, false>(),
               [=](const CountedLoops& loops) { return loops.projection(outputs, inputs, 1, false, true); });
}

template <attend::LinearRule rule, attend::Decay decay>
void print_state(const CountedCall& call, int value_heads) {
  using namespace attend;
  int32_t* const state_numbers = memory[4];
  const uint16_t* const gates = reinterpret_cast<uint16_t*>(memory[2]);
  constexpr core::LinearScale scale = core::linear_scale(1.0 / 127, 0x1p-12);
  core::IntegerLinearAttention linear{};
  linear.query_heads = call.query_heads, linear.kv_heads = call.kv_heads, linear.value_heads = value_heads;
  linear.head_dim = call.head_dim, linear.value_dim = call.value_dim, linear.tokens = 1;
  linear.query = {numbers_at(0), 0, call.head_dim}, linear.key = {numbers_at(0), 0, call.head_dim};
  linear.value = {numbers_at(1), 0, call.value_dim}, linear.output = {numbers_at(3), 0, call.value_dim};
  linear.gates = {gates, 0, call.head_dim}, linear.beta = {gates, 0, 1};
  linear.state = state_numbers, linear.scales = &scale;
  const uint64_t found =
      count_state(state_numbers + value_heads * call.head_dim * call.value_dim, value_heads * core::panel_count(call.value_dim),
                  [&] { core::run_linear_attention<rule, decay>(linear, 0, 1); });
  print_row_of(state, false, call, found,
               [=](const CountedLoops& loops) { return loops.state(int(rule), int(decay), value_heads); });
}
void print_states(int query_heads, int kv_heads, int value_heads, int dims, int values) {
  using attend::LinearRule, attend::Decay;
  const CountedCall call = {dims, values, query_heads, kv_heads, 1, 1, false};
  print_state<LinearRule::linear, Decay::per_head>(call, value_heads);
  print_state<LinearRule::gated, Decay::per_head>(call, value_heads);
  print_state<LinearRule::gated, Decay::per_key>(call, value_heads);
  print_state<LinearRule::delta, Decay::per_head>(call, value_heads);
  print_state<LinearRule::gated_delta, Decay::per_head>(call, value_heads);
  print_state<LinearRule::gated_delta, Decay::per_key>(call, value_heads);
}

void print_others() {
  print_append<1, 32, 32, RingSizes<64, 0>>(), print_append<2, 16, 24, RingSizes<60, 4>>(),
      print_append<4, 8, 8, RingSizes<200, 4>>();
  print_append<2, 128, 96>(), print_append<3, 65, 70>(), print_append<1, 7, 13>(), print_append<4, 64, 64>(),
      print_append<8, 40, 40>(), print_append<2, 5, 100>();
  const auto random = [](int low, int high) { return int(numbers.between(low, high)); };
  for (int i = 0; i < 120; ++i) {
    const int kv_heads = random(1, 3);
    print_ring({random(4, 64), random(4, 64), kv_heads * random(1, 4), kv_heads, 1, 0, true},
               i % 4 == 0 ? random(1, 40) : random(20, i % 4 == 1 ? 700 : 150), i % 3 == 0 ? random(1, 40) : 0, random(0, 31));
  }
  for (int i = 0; i < 160; ++i)
    print_projection(random(1, i % 2 == 0 ? 20 : 100), i % 4 == 3 ? random(4, 12) : random(4, 300),
                     i % 3 == 0 ? random(1, 5) : 1, i % 2 == 1);
  print_typed_projection<10, 8>(), print_typed_projection<33, 40>(), print_typed_projection<64, 20>();
  for (int i = 0; i < 60; ++i) {
    const int kv_heads = random(1, 2), value_heads = kv_heads * random(1, 2), queries = i % 3 == 0 ? random(1, 3) : 1;
    print_states(i % 5 == 0 ? kv_heads : value_heads * queries, kv_heads, value_heads, random(1, 48),
                 i % 2 == 0 ? 4 * random(1, 10) : random(1, 40));
  }
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
  print_others();
}

}  // namespace

int firmware::run() {
  if (!start_counting()) return 1;
  char argument[16];
  if (!read_arguments(argument, sizeof argument)) return 1;
  argument[0] == 'l' ? print_all() : check_all();
  return 0;
}
