// Batches: attention of several sequences in one call, each with queries, keys and an output of its own.
//
//   static attend::Query<Chat> queries[8];
//   static attend::PagedCache<Pool, 64, 32> caches[8];               // or KvCache, RingCache
//   static attend::Output<Chat> outputs[8];
//   attend::decode(queries, caches, outputs, work);                   // work memory of one sequence
//
// The calls are attention, prefill and decode, whose arrays and caches are C arrays of as many rows. What follows them is
// common to all rows, but that Options and ScoreOptions may be an array of as many rows too: for a query_length or a mask of
// each row, and with query_length 0 for rows that have nothing to do. All rows are checked before the first is computed: a call
// that refuses one has touched nothing. A Part is one of the whole batch: each part computes the same number of whole rows, and
// rows that are left over are divided among all parts. Each row has the bits of a call of its own.
#pragma once

#include "attention.h"

namespace attend {
namespace detail {

// A row of a batch, given to a call in the place of a part: the row's task is performed, or the row is only checked.
template <class AnyTask>
struct RowCall : AnyTask {
  RowCall(const AnyTask& part, bool only_checks) : AnyTask(part), checks(only_checks) {}
  bool checks;
};
template <class AnyTask>
constexpr Kind kind_of(const RowCall<AnyTask>*) {
  return Kind::part;
}
template <class Runner, class AnyTask, class... Problem>
Status perform(const RowCall<AnyTask>& row, const Problem&... problem) {
  return row.checks ? Status::ok : perform<Runner>(static_cast<const AnyTask&>(row), problem...);
}

constexpr Whole part_of_row(const Whole&, int /*row*/, int /*batch*/) { return {}; }
constexpr Part part_of_row(const Part& part, int row, int batch) {
  if (row >= batch - batch % part.count) return part;
  return {0, row % part.count == part.index ? 1 : 0};
}
constexpr bool is_empty(const Whole&) { return false; }
constexpr bool is_empty(const Part& part) { return part.count == 0; }

// What the call for one row gets for an argument: its own options out of an array, `call` for a part, all others as they are.
template <class Type, class Call>
constexpr auto& argument_of_row(Type& argument, int /*row*/, const Call& call) {
  if constexpr (kind_of(null_of<Type>()) == Kind::part) {
    return call;
  } else {
    return argument;
  }
}
template <class Type, size_t batch, class Call>
constexpr Type& argument_of_row(Type (&options)[batch], int row, const Call&) {
  return options[row];
}

// Makes call(row, more...) for each row of a batch: first to check it, then to compute it.
template <int batch, class Call, class... More>
Status run_batch(const Call& call, More&... more) {
  const auto& part = pick<Kind::part>(whole, more...);
  using AnyTask = typename Bare<decltype(part)>::Name;
  constexpr bool has_part = Same<AnyTask, Part>::value;
  if (!is_possible(part)) return Status::bad_part;
  for (int pass = 0; pass < 2; ++pass) {
    const bool checks = pass == 0;
    for (int row = 0; row < batch; ++row) {
      const AnyTask row_task = checks ? part : part_of_row(part, row, batch);
      if (is_empty(row_task)) continue;
      const RowCall<AnyTask> row_call(row_task, checks);
      Status status;
      if constexpr (has_part) {
        status = call(row, argument_of_row(more, row, row_call)...);
      } else {
        status = call(row, argument_of_row(more, row, row_call)..., row_call);
      }
      if (status != Status::ok) return status;
    }
  }
  return Status::ok;
}

}  // namespace detail

// attention (attention.h) of queries[row] over keys[row] and values[row], to outputs[row].
template <class QueryArray, class KeyArray, class ValueArray, class OutputArray, size_t batch, class Work, class... More>
Status attention(const QueryArray (&queries)[batch], const KeyArray (&keys)[batch], const ValueArray (&values)[batch],
                 OutputArray (&outputs)[batch], Work& work, const More&... more) {
  const auto call = [&](int row, const auto&... rest) {
    return attention(queries[row], keys[row], values[row], outputs[row], work, rest...);
  };
  return detail::run_batch<int(batch)>(call, more...);
}

// prefill of queries[row] over caches[row], to outputs[row].
template <class QueryArray, class Cache, class OutputArray, size_t batch, class Work, class... More>
Status prefill(const QueryArray (&queries)[batch], const Cache (&caches)[batch], OutputArray (&outputs)[batch], Work& work,
               const More&... more) {
  const auto call = [&](int row, const auto&... rest) {
    return prefill(queries[row], caches[row], outputs[row], work, rest...);
  };
  return detail::run_batch<int(batch)>(call, more...);
}

// decode of queries[row] over caches[row], to outputs[row].
template <class QueryArray, class Cache, class OutputArray, size_t batch, class... More>
Status decode(const QueryArray (&queries)[batch], const Cache (&caches)[batch], OutputArray (&outputs)[batch], More&&... more) {
  const auto call = [&](int row, auto&... rest) { return decode(queries[row], caches[row], outputs[row], rest...); };
  return detail::run_batch<int(batch)>(call, more...);
}

}  // namespace attend
