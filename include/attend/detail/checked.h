// What programs that are compiled with -DATTEND_CHECKED stop at: misuse that a call cannot notice at no cost. Without it
// nothing here is a byte or an instruction of a program.
#pragma once

#include "../shape.h"

#ifdef ATTEND_CHECKED
#ifndef ATTEND_MISUSE
// What a misuse does, with a string literal about it. A program's own definition must not return; hosted/checked.h prints it.
#define ATTEND_MISUSE(sentence) ATTEND_TRAP()
#endif
#endif

namespace attend::detail {

// The time in which a call uses its work memory, or none.
#ifdef ATTEND_CHECKED
class InUse {
 public:
  // is_first: whether this is the only thread of the call, or the one that marks the memory that all of them share.
  template <class Work>
  explicit InUse(Work& work, bool is_first = true) {
    if constexpr (work_floats(null_of<Work>()) > 0) {
      if (is_first) mark_ = &work.in_use;
    }
    if (mark_ != nullptr && exchanged(used) == used) {
      ATTEND_MISUSE(
          "attend: one work memory is used by two calls at the same time: give each thread, task and interrupt its own");
    }
  }
  ~InUse() {
    if (mark_ != nullptr) exchanged(0);
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  static constexpr uint32_t used = 0x5ac3e971u;  // what memory that nobody has initialised does not hold
  uint32_t exchanged(uint32_t number) const { return exchange(mark_, number); }
  volatile uint32_t* mark_ = nullptr;
};
#else
struct [[maybe_unused]] InUse {
  template <class Work>
  [[gnu::always_inline]] explicit constexpr InUse(Work&, bool /*is_first*/ = true) {}
};
#endif

}  // namespace attend::detail
