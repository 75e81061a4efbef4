// What the C surface refuses, as rows {calls, error, argument, what is set}, and the driver of the tables: for every row and
// call it makes a fresh world without a fault, sets what the row says, makes the call, and checks the error, the argument, the
// text, and that nothing was written.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "../support/random.h"
#include "c_run.h"

namespace attend_test {

inline constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

// The choices of a row among several values. The driver goes through all of them; with a source of random numbers one is drawn.
class Choices {
 public:
  explicit Choices(Random* random = nullptr) : source(random) {}

  template <class First, class... Rest>
  First one_of(First first, Rest... rest) {
    const First all[] = {first, static_cast<First>(rest)...};
    return all[choose(1 + int(sizeof...(rest)))];
  }
  int between(int low, int high) {
    return source != nullptr ? source->between(low, high) : one_of(low, high, low + (high - low) / 2);
  }
  std::ptrdiff_t outside(std::ptrdiff_t low, std::ptrdiff_t high) {
    const std::ptrdiff_t above = high == PTRDIFF_MAX ? low - 1 : high + 1;
    const auto number = one_of(low - 1, above, PTRDIFF_MIN + 1, PTRDIFF_MAX, PTRDIFF_MIN / 2, PTRDIFF_MAX / 2, -2);
    return number < low || number > high ? number : source != nullptr ? outside(low, high) : low - 1;
  }
  int unknown(int first) { return one_of(first, first + between(0, 900), -2, -between(3, 9)); }

  Random* source;
  int choice = 0, choices = 1;  // which of the choices, of how many

 private:
  int choose(int count) {
    if (source != nullptr) return source->between(0, count - 1);
    if (choices < count) choices = count;
    return choice % count;
  }
};

template <class World>
struct Refusal {
  unsigned calls;  // which of the world's calls answer so, as bits
  attend_error error;
  attend_argument argument;
  const char* text;
  bool (*set)(World&);            // false where this world has no place for it
  attend_status (*made)(World&);  // the row is a call itself
};

// clang-format off
#define REFUSED(calls, error, argument, ...) \
  {calls, ATTEND_##error, ATTEND_ARG_##argument, #__VA_ARGS__, [](World& w) { (void)w; __VA_ARGS__; return true; }, nullptr},
#define REFUSED_CALL(error, argument, ...) \
  {1, ATTEND_##error, ATTEND_ARG_##argument, #__VA_ARGS__, nullptr, [](World& w) -> attend_status { (void)w; return __VA_ARGS__; }},
#define WHERE(condition) if (!(condition)) return false
#define ADD(argument) WHERE(w.finds(ATTEND_ARG_##argument))
// clang-format on

template <class Number>
Number* shifted(Number* address, std::ptrdiff_t bytes) {
  return reinterpret_cast<Number*>(reinterpret_cast<std::uintptr_t>(address) + std::uintptr_t(bytes));
}
template <class Pointer>
void shift(Pointer& pointer, std::ptrdiff_t bytes = 1) {
  pointer = shifted(pointer, bytes);
}

// The bytes of a world, and so many of each memory that it points to.
template <class World, class... Memories>
std::vector<unsigned char> bytes_with(const World& world, std::size_t count, Memories&... memories) {
  const auto* const own = reinterpret_cast<const unsigned char*>(&world);
  std::vector<unsigned char> all(own, own + sizeof world);
  for (Aligned* const each : {&memories...}) {
    const auto* const from = static_cast<const unsigned char*>(each->data());
    all.insert(all.end(), from, from + count);
  }
  return all;
}

// An answer says what it should, in numbers and in words.
inline bool is_answer(attend_status status, attend_error error, attend_argument argument) {
  static const std::string no_text = attend_error_text(-1);
  return status == wrong(error, argument) && error_of(status) == error && argument_of(status) == argument &&
         attend_error_text(status) != no_text && (argument == ATTEND_ARG_NONE || attend_argument_name(status) != std::string());
}

// The statuses that were seen. World::calls calls: World::call(bit), and World::bytes, all that a call could touch.
template <class World, std::size_t count>
std::set<int> check_refusals(const Refusal<World> (&rows)[count]) {
  std::set<int> seen;
  for (const Refusal<World>& row : rows) {
    INFO(std::string(row.text), ": expected ", explain(wrong(row.error, row.argument)));
    bool placed = false;
    for (unsigned bit = 1; bit <= row.calls; bit *= 2) {
      if ((row.calls & bit) == 0) continue;
      for (int choice = 0, choices = 1; choice < choices; ++choice) {
        World world;
        world.choice = choice;
        const bool found = row.set == nullptr || row.set(world);
        choices = world.choices;
        if (!found) continue;
        placed = true;
        const std::vector<unsigned char> before = world.bytes();
        const attend_status status = row.made != nullptr ? row.made(world) : world.call(bit);
        choices = world.choices;
        CHECK_MESSAGE(is_answer(status, row.error, row.argument), "call ", bit, ", choice ", choice, ": ", explain(status));
        CHECK_MESSAGE((status == ATTEND_OK || world.bytes() == before), "call ", bit, ", choice ", choice, " wrote");
        seen.insert(status);
      }
    }
    CHECK(placed);
  }
  return seen;
}

inline void check_arguments(const std::set<int>& statuses, attend_argument first, attend_argument last) {
  std::set<int> arguments;
  for (const int status : statuses) arguments.insert(argument_of(status));
  for (int argument = first; argument <= last; ++argument) {
    CHECK_MESSAGE(arguments.count(argument) == 1, attend_argument_name(wrong(ATTEND_MISSING, attend_argument(argument))));
  }
}

}  // namespace attend_test
