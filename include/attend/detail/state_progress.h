// The progress of a state through the keys of its queries, for State of states.h and IntegerState of integer_states.h.
#pragma once

#include "../core/attention.h"
#include "../options.h"

namespace attend {
namespace detail {

class Progress {
 public:
  // Forgets everything: the next key to take is `key`, a multiple of segment_keys.
  constexpr Status begin(int key) {
    if (key < 0 || key % segment_keys != 0) return Status::bad_begin;
    *this = Progress();
    first_ = next_ = key;
    return Status::ok;
  }

  // The next key.
  constexpr int next() const { return next_; }
  // The number of queries of the state, and whether it has taken a call, be it one without keys, since begin().
  constexpr int queries() const { return queries_; }
  constexpr bool begun() const { return begun_; }

  // Whether a call over so many keys can take those before up_to.
  constexpr Status can_take(int up_to, int keys, int queries) const {
    if (up_to < next_ || (begun_ && up_to > next_ && next_ == keys)) return Status::bad_up_to;
    return next_ > keys || (begun_ && queries != queries_) ? Status::bad_state : Status::ok;
  }
  constexpr void take(int end, int queries) {
    next_ = end;
    queries_ = queries;
    begun_ = true;
    finished_ = false;
  }

  // Whether the state has taken something since begin() and since the last finish.
  constexpr bool can_finish() const { return begun_ && !finished_; }
  constexpr void finish() { finished_ = true; }

  // Whether `later` is of the same queries, and began where this one stopped.
  constexpr bool can_merge(const Progress& later) const {
    return begun_ && later.begun_ && later.first_ == next_ && later.queries_ == queries_;
  }
  constexpr void merge(const Progress& later) {
    next_ = later.next_;
    finished_ = false;
  }

 private:
  int first_ = 0;  // key that the state began at
  int next_ = 0;
  int queries_ = 0;
  bool begun_ = false;
  bool finished_ = false;  // whether nothing was taken since finish()
};

}  // namespace detail
}  // namespace attend
