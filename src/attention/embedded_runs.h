// The values of a row of the embedded pipeline by runs of keys that lie together and that the row sees: masked values are never
// touched.
#ifndef ATTEND_ATTENTION_EMBEDDED_RUNS_H
#define ATTEND_ATTENTION_EMBEDDED_RUNS_H

#include "embedded_keys.h"
#include "embedded_rows.h"

namespace attend::ATTEND_ISA {
namespace {

// Goes on with a row's chain: values that lie together. Numbers that are not floats become floats first, a few at a time.
template <class Isa, class Rows, class Keys>
void add_run(const Rows& rows, const Keys& keys, float* const& to, const float* weights, int place, int count) {
  const core::Problem& problem = rows.problem();
  const bool floats = keys.value_format() == core::Format::float32;
  const int room = int(core::EmbeddedOptionMemory::most_numbers(problem.row_block, problem.head_dim)) / panel_keys;
  Chains chains;
  chains.rows = 1;
  chains.to = &to;
  chains.a_scale = 1.0f;
  chains.b_stride = 1;
  chains.adds = false;
  for (int column = 0, end; column < problem.value_dim; column = end) {
    end = floats ? problem.value_dim : at_most(problem.value_dim, column + room);
    for (int k = 0; k < count; k += chains.steps) {
      chains.steps = floats ? count : at_most(count - k, panel_keys);
      chains.a = weights + k;
      chains.b_step = floats ? problem.value.token_stride : end - column;
      chains.b = rows.numbers();
      if (floats) {
        chains.b = keys.template values<float>() + place * problem.value.token_stride;
      } else {
        keys.widen_values(place + k, chains.steps, column, end - column, rows.numbers());
      }
      for (chains.column = column; chains.column < end; chains.column += chains.columns) {
        chains.columns = at_most(end - chains.column, Isa::columns(1, false));
        Isa::continue_chains(chains);
        chains.b += chains.columns;
      }
    }
  }
}

// Adds the values of the chain of a key to the sums of row r, or, of a chain that is cut, to the chain's own.
template <class Isa, class Rows, class Keys>
ATTEND_NOINLINE void add_runs(const Rows& rows, const Keys& keys, int r, int key, bool cut) {
  const EmbeddedRow& row = rows.row(r);
  const RowState state = rows.state(r);
  float* const weights = rows.scores(r);
  const bool all = !rows.has_masks() && !row.sees.gap;
  const auto sees = [&](int k) {
    return row.at.visibility.has(key + k) &&
           (!rows.has_masks() || magnitude(weights[k]) != 0 ||
            is_let_through(rows.problem(), rows.options(), row.at.token, row.at.head, key + k));
  };
  if (!cut) fill_row<Isa>(0.0f, rows.problem().value_dim, state.chain());
  for (int k = row.sees.from, end; k < row.sees.to; k = end) {
    end = k + 1;
    if (!all && !sees(k)) continue;
    const int start = k & -panel_keys;
    const KeyRun run = keys.run_at(key + start, row.sees.to - start);
    const int place = run.place + k - start;
    if (all) end = start + run.count;
    while (end < start + run.count && sees(end)) ++end;
    if (keys.value_scales() != nullptr) Isa::multiply_rows(weights + k, keys.value_scales() + place, end - k);
    add_run<Isa>(rows, keys, state.chain(), weights + k, place, end - k);
  }
  if (!cut) state.template end_chain<Isa>();
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
