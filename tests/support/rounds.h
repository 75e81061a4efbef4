// How often random tests try: an emulator is 30 times slower, and repeats what the host has tried. ATTEND_QUICK=N asks for an
// Nth of the rounds; N is 12 where it is 1.
#pragma once

#include <cstdlib>

namespace attend_test {

inline bool is_quick() { return std::getenv("ATTEND_QUICK") != nullptr; }

inline int quick_share() {
  if (!is_quick()) return 1;
  const int asked = std::atoi(std::getenv("ATTEND_QUICK"));
  return asked > 1 ? asked : 12;
}

// Where each entry of a list of cases is dear and has others like it beside it: one of so many is tried, and with
// ATTEND_QUICK=2 every one. An inner loop whose length is a multiple of 3 or 7 would always try the same: is_tried is for
// these.
inline int stride() { return quick_share() > 12 ? 7 : quick_share() > 2 ? 3 : 1; }

inline int rounds(int all) { return (all + quick_share() - 1) / quick_share(); }

// The round that runs; -1: none does. What says how a failure is repeated reads it.
inline int& round_now() {
  static int now = -1;
  return now;
}

// Rounds whose problems have seeds of their own: for (const int number : each_round(600)). ATTEND_ROUND=17 runs that one alone.
class Rounds {
 public:
  Rounds(int begin, int end) : begin_(begin), end_(end) {}

  class Iterator {
   public:
    explicit Iterator(int at) : at_(at) {}
    int operator*() const { return round_now() = at_; }
    Iterator& operator++() {
      round_now() = -1;
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    int at_;
  };
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  int begin_, end_;
};

inline Rounds each_round(int all) {
  const char* const asked = std::getenv("ATTEND_ROUND");
  if (asked == nullptr) return {0, rounds(all)};
  return {std::atoi(asked), std::atoi(asked) + 1};
}

// Whether the next of a list of cases, counted in `taken`, is one of those that are tried. Every 7th, 13th or 37th: lists are
// made of loops whose lengths have small factors, and each of their entries gets its turn. ATTEND_QUICK=2 tries every one.
inline bool is_tried(int& taken) { return taken++ % (quick_share() > 2 ? quick_share() + 1 : 1) == 0; }

}  // namespace attend_test
