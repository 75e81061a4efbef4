// Streams that run for years: a state takes the tokens of a ring in slices, at positions from 700 to two thousand million. The
// bits are those of decode, the number of slices does not grow, and where the clock counts instructions (board.sh count), a
// slice takes as many as in the first minute.
#include <string.h>

#include "../support/random.h"
#include "attend/states.h"
#if defined(ATTEND_COUNT)
#include "../../bench/boards/instructions.h"
#endif
#include "../../bench/boards/platform.h"

namespace {

using attend::Status;

struct Floats {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 16;
};
struct Integers {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 16;
};
template <int sinks>
struct Last {
  static constexpr int window = 96, sink_tokens = sinks;
};

int passed, failed;
void check(bool right, const char* what, const char* stream, int position) {
  ++(right ? passed : failed);
  if (right) return;
  firmware::print(stream);
  firmware::print(" at token ");
  firmware::print_number(uint64_t(position));
  firmware::print(": ");
  firmware::print(what);
  firmware::print("\n");
}

// A ring whose next token has the position that a test needs, without the years before it. Sink tokens stay.
template <class Shape, int sinks>
struct FarRing : attend::RingCache<Shape, Last<sinks>> {
  void go_to(int position) { this->length_ = this->queries_without_length_ = position; }
};

template <class Shape, int sinks>
struct Memory {
  using Type = attend::OptionWorkspace<Shape, 1, attend::over_ring<Last<sinks>>>;
};
template <int sinks>
struct Memory<Integers, sinks> {
  using Type = attend::Workspace<Integers, 1>;
};

attend_test::Random numbers(1);
void fill(float& number) { number = numbers.uniform(); }
void fill(int8_t& number) { number = int8_t(numbers.between(-128, 127)); }
template <class Array>
void fill_token(Array& array) {
  for (auto& head : array[0]) {
    for (auto& number : head) fill(number);
  }
}

#if defined(ATTEND_COUNT)
template <class Work>
uint64_t counted(Work work) {
  return firmware::count_instructions(work);
}
#else
template <class Work>
uint64_t counted(Work work) {
  work();
  return 1;
}
#endif

template <class Shape, int sinks, class... Rest>
class Stream {
 public:
  Stream(const char* name, const Rest&... rest) : name_(name) {
    for (int i = 0; i < sinks; ++i) append();
    // Alike to the ring, which has 112 places, and to segments; at 712 the sink tokens' segment has ended.
    constexpr int minute = 712, steps = 7 * attend::segment_keys;
    const uint64_t first = at(minute, rest...);
    constexpr int some[] = {28, 279, 558036};
    for (const int step : some) {
      const int position = minute + step * steps;
      const uint64_t now = at(position, rest...);
      check(now * 50 <= first * 51 && now * 51 >= first * 50, "the longest slice takes another number of instructions", name,
            position);
    }
    // Over the ends of segments, one after 2^16 - 512 tokens among them.
    at(64'700, rest...);
    for (int i = 1; i < 340; ++i) {
      append();
      slices(64'700 + i, rest...);
    }
  }

 private:
  uint64_t at(int position, const Rest&... rest) {
    ring.go_to(position - 100);
    numbers = attend_test::Random(2);  // the same tokens, since a maximum that grows takes instructions
    for (int i = 0; i < 100; ++i) append();
    return slices(position, rest...);
  }
  void append() {
    fill_token(key);
    fill_token(value);
    check(ring.append(key, value) == Status::ok, "the ring takes no token", name_, ring.length());
  }

  // One query in slices of 32 keys, and by decode; the instructions of its longest slice.
  uint64_t slices(int position, const Rest&... rest) {
    fill_token(query);
    Status status = state.begin();
    int slices = 0;
    uint64_t most = 0;
    for (; status == Status::ok && state.next() < ring.length(); ++slices) {
      const uint64_t count =
          counted([&] { status = attend::accumulate(query, ring, state, state.next() + 32, work, rest...); });
      if (count > most) most = count;
    }
    if (status == Status::ok) status = attend::finish(state, output, rest...);
    check(status == Status::ok, attend::status_text(status), name_, position);
    check(slices <= 6, "there are more slices than its window and its sink tokens have", name_, position);
    check(attend::decode(query, ring, expected, work, rest...) == Status::ok, "decode refuses it", name_, position);
    check(memcmp(&output, &expected, sizeof output) == 0, "other bits than those of decode", name_, position);
#if defined(ATTEND_COUNT)
    firmware::print(name_);
    firmware::print(" at token ");
    firmware::print_number(uint64_t(position));
    firmware::print(": ");
    firmware::print_number(most);
    firmware::print(" instructions\n");
#endif
    return most;
  }

  const char* name_;
  static inline FarRing<Shape, sinks> ring;
  static inline attend::State<Shape, 1, 2> state;  // nodes for the sink tokens' segment and for one that a window has left
  static inline typename Memory<Shape, sinks>::Type work;
  static inline attend::Query<Shape> query;
  static inline attend::Key<Shape> key;
  static inline attend::Value<Shape> value;
  static inline attend::Output<Shape> output, expected;
};

constexpr attend::Quantisation<Integers> quantisation(0.031, 0.027, {0.02, 4}, {0.02, -3});

}  // namespace

int firmware::run() {
#if defined(ATTEND_COUNT)
  if (!start_counting()) return 1;
#endif
  Stream<Floats, 0>("floats");
  Stream<Floats, 4>("floats with sink tokens");
  Stream<Integers, 0, attend::Quantisation<Integers>>("integers", quantisation);
  Stream<Integers, 4, attend::Quantisation<Integers>>("integers with sink tokens", quantisation);
  print("streams: ");
  print_number(uint64_t(passed));
  print(" passed, ");
  print_number(uint64_t(failed));
  print(" failed\n");
  return failed == 0 ? 0 : 1;
}
