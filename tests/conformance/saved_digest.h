// The digest of saved states (core/saved.h): their bytes, which every backend and byte order writes alike, in whatever order
// sets of keys were merged. Freestanding, as plain_digest.h.
#pragma once

#include "../support/core_numbers.h"
#include "attend/core/saved.h"
#include "hash.h"
#include "integer_digest.h"
#include "option_digest.h"

namespace attend_test {

// A problem of whose keys several states take some each, first … end - 1, and are merged. Problem: OptionCase or IntegerCase.
template <class Problem>
struct SavedCase {
  struct Range {
    int first, end;
  };
  Problem problem;
  Range ranges[8] = {};
  int count = 0;

  constexpr SavedCase took(int first, int end) const {
    SavedCase c = *this;
    c.ranges[c.count++] = {first, end};
    return c;
  }
};
template <class Problem>
constexpr SavedCase<Problem> saved(const Problem& problem) {
  return {problem};
}

constexpr int saved_case_nodes = 8;

// The call of a problem, and the numbers of a state of one row.
template <class Its>
struct StateCall {
  using Number = Its;
  attend::core::Problem problem;
  attend::core::Options options;
  size_t row;
};
inline auto state_call_of(const OptionCase& c, void* memory) {
  Supply supply(static_cast<float*>(memory));
  const OptionMemory m = memory_of(c, supply);
  if (memory != nullptr) draw_data(c, m);
  return StateCall<float>{memory == nullptr ? attend::core::Problem{} : problem_of(c, m), options_of(c, m),
                          attend::core::state_floats(c.value_dim, saved_case_nodes)};
}
inline auto state_call_of(const IntegerCase& c, void* memory) {
  Bytes bytes(memory);
  const IntegerData d = integer_data_of(c, bytes);
  if (memory != nullptr) draw_integer_data(c, d);
  return StateCall<int32_t>{integer_problem_of(c, d), integer_options_of(c, d),
                            attend::core::integer_state_numbers(c.value_dim, saved_case_nodes)};
}

template <class Problem>
class SavedStates {
 public:
  SavedStates(const SavedCase<Problem>& of, Bytes& bytes)
      : c_(of),
        call_(state_call_of(of.problem, bytes.take<char>(digest_bytes(of.problem)))),
        rows_(of.problem.queries * of.problem.query_heads),
        sum_(bytes.take<Number>(size_t(rows_) * call_.row)),
        other_(bytes.take<Number>(size_t(rows_) * call_.row)),
        saved_(
            bytes.take<uint8_t>(4 * attend::core::saved_words(integers, rows_, of.problem.value_dim, saved_case_nodes, true))) {
  }

  // Of the merged states' bytes, after all but the first one has been saved and loaded.
  uint64_t hash(bool from_last_to_first) {
    const auto at = [&](int n) { return c_.ranges[from_last_to_first ? c_.count - 1 - n : n]; };
    int next = take(at(0), sum_);
    for (int n = 1; n < c_.count; ++n) {
      const int others = take(at(n), other_);
      if (!pass_on(others)) return 0;
      next = attend::core::next_of_both(segments(sum_), next, segments(other_), others);
      Arithmetic<Number>::merge(sum_, other_, others % attend::segment_keys != 0, rows_, c_.problem.value_dim,
                                saved_case_nodes);
    }
    const attend::core::SavedHead head = save(sum_, next);
    return hash_bytes(hash_begin, saved_, 4 * size_t(head.words));
  }

 private:
  using Call = decltype(state_call_of(*static_cast<const Problem*>(nullptr), nullptr));
  using Number = typename Call::Number;
  static constexpr bool integers = Number(0.5f) == 0;

  attend::core::SegmentSet segments(const Number* states) const {
    return attend::core::segments_of(states, c_.problem.value_dim);
  }

  int take(const typename SavedCase<Problem>::Range& range, Number* states) {
    auto p = call_.problem;
    auto o = call_.options;
    o.states = {states, ptrdiff_t(size_t(p.query_heads) * call_.row), ptrdiff_t(call_.row)};
    o.begins = true, o.first_key = range.first, p.keys = range.end;
    Arithmetic<Number>::run(p, o);
    return range.end;
  }

  attend::core::SavedHead save(const Number* states, int next) {
    attend::core::SavedHead head{};
    head.batch = 1, head.queries = c_.problem.queries, head.query_heads = c_.problem.query_heads;
    head.value_dim = c_.problem.value_dim, head.next_key = next;
    attend::core::save(head, states, saved_case_nodes, saved_);
    return head;
  }

  // What another machine would receive of other_.
  bool pass_on(int next) {
    attend::core::SavedHead head = save(other_, next);
    const size_t bytes = 4 * size_t(head.words);
    if (attend::core::read_head(saved_, bytes, head) != attend::core::Loaded::ok) return false;
    __builtin_memset(other_, 0x55, size_t(rows_) * call_.row * sizeof(Number));
    attend::core::load(head, saved_, other_, saved_case_nodes);
    return head.next_key == next;
  }

  const SavedCase<Problem>& c_;
  const Call call_;
  const int rows_;
  Number *const sum_, *const other_;
  uint8_t* const saved_;
};

template <class Problem>
size_t digest_bytes(const SavedCase<Problem>& c) {
  Bytes bytes(nullptr);
  SavedStates<Problem>(c, bytes);
  return bytes.used();
}

// The same in both orders of merging.
template <class Problem>
uint64_t compute_digest(const SavedCase<Problem>& c, void* memory) {
  Bytes bytes(memory);
  SavedStates<Problem> states(c, bytes);
  const uint64_t hash = states.hash(false);
  return states.hash(true) == hash ? hash : ~hash;
}

}  // namespace attend_test
