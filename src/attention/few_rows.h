// Several tokens over very few keys of an array: four rows of a key/value head at a time, which are lanes of one softmax with
// those of other heads.
#ifndef ATTEND_ATTENTION_FEW_ROWS_H
#define ATTEND_ATTENTION_FEW_ROWS_H

#include "few_keys.h"
#include "rows.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Isa>
class FewRows {
 public:
  // Whether a problem is one. Of fewer dimensions than two chains, blocks of rows are as fast.
  static bool take(const core::Problem& problem) {
    return !problem.key_panels && problem.keys > 1 && problem.keys <= few_panel_keys && problem.queries > 1 &&
           problem.head_dim >= 2 * chain_dims && visible_keys(problem, 0) > 0;
  }

  // Whether it could weigh all scores. Otherwise nothing of the output counts.
  ATTEND_NOINLINE static bool run(const core::Problem& problem) { return FewRows(problem).run_blocks(); }

 private:
  explicit FewRows(const core::Problem& problem) : problem_(problem), group_(group_of(problem)), scores_(problem.scratch) {
    static_assert(2 * quad_rows * quad_dims + few_panel_keys * Isa::lanes <= chain_keys * 2 * chain_dims,
                  "the smallest key_block has room for its keys, which are not packed here");
  }

  bool run_blocks() {
    bool weighed = true;
    for_each_block(problem_, group_, quad_rows, [&](const Rows& rows) {
      if (!weighed) return;
      score(rows, scores_ + quads_ * quad_rows);
      rows_[quads_++] = rows;
      if (quads_ == quads_at_once<Isa>) weighed = end();
    });
    return weighed && (quads_ == 0 || end());
  }

  void score(const Rows& rows, float* scores) const {
    const float *row[quad_rows], *key[quad_rows];
    for_each_row(rows, group_, [&](int r, int token, int head) { row[r] = element(problem_.query, token, head); });
    for (int r = rows.count; r < quad_rows; ++r) row[r] = row[0];
    for (int k = 0; k < quad_rows; ++k) key[k] = element(problem_.key, at_most(k, problem_.keys - 1), rows.head);
    alignas(config::alignment) float of_keys[quad_rows * quad_rows];
    score_quads<Isa>(row, base2_scale(problem_.scale), key, problem_.head_dim, scores_ + few_panel_keys * Isa::lanes, of_keys);
    for (int k = 0; k < few_panel_keys; ++k) copy_four(of_keys + k * quad_rows, scores + k * Isa::lanes);
  }

  // All rows that have scores: weights and weighted sums. Whether scores could be weighed.
  ATTEND_NOINLINE bool end() {
    for (int k = 0; k < few_panel_keys; ++k) {
      for (int q = quads_; q < quads_at_once<Isa>; ++q) {  // lanes without rows repeat others
        copy_four(scores_ + k * Isa::lanes, scores_ + k * Isa::lanes + q * quad_rows);
      }
    }
    if (problem_.causal) hide();
    bool weighed = false;
    with_rows<AnyNumber, few_panel_keys>(problem_.keys, Weigh{scores_, denominators_, weighed});
    for (int q = 0; weighed && q < quads_; ++q) {
      const float* const value = element(problem_.value, 0, rows_[q].head);
      for_each_row(rows_[q], group_, [&](int r, int token, int head) {
        const int lane = q * quad_rows + r;
        const Value add = {problem_, value, scores_ + lane, denominators_[lane], element(problem_.output, token, head)};
        with_rows<AnyNumber, few_panel_keys>(visible_keys(problem_, token), add);
      });
    }
    quads_ = 0;
    return weighed;
  }

  // Keys that a row does not see have no weight, whatever they score.
  ATTEND_NOINLINE void hide() {
    unsigned seen[few_panel_keys] = {};  // a bit for each lane
    for (int q = 0; q < quads_; ++q) {
      for_each_row(rows_[q], group_, [&](int r, int token, int) {
        for (int k = 0; k < visible_keys(problem_, token); ++k) seen[k] |= 1u << (q * quad_rows + r);
      });
    }
    for (int k = 1; k < problem_.keys; ++k) {
      float* const scores = scores_ + k * Isa::lanes;
      Isa::store(scores, Isa::where_bits(seen[k], Isa::load(scores), Isa::broadcast(-__builtin_inff())));
    }
  }

  static void copy_four(const float* from, float* to) { __builtin_memcpy(to, from, 4 * sizeof(float)); }

  // Steps for a number of keys that the compiler knows.
  template <int keys>
  ATTEND_NOINLINE static bool weigh(float* scores, float* denominators) {
    return weigh_few_keys<Isa, keys>(scores, denominators);
  }
  struct Weigh {
    float* scores;
    float* denominators;
    bool& weighed;
    template <int keys>
    ATTEND_ALWAYS_INLINE void operator()(Constant<keys>) const {
      weighed = weigh<keys>(scores, denominators);
    }
  };
  struct Value {
    const core::Problem& problem;
    const float* value;
    const float* weights;
    float denominator;
    float* output;
    template <int keys>
    ATTEND_NOINLINE void operator()(Constant<keys>) const {
      value_few_keys<Isa, keys>(problem, value, weights, denominator, output);
    }
  };

  const core::Problem& problem_;
  const int group_;
  float* const scores_;            // [key][lane], then weights
  Rows rows_[quads_at_once<Isa>];  // of the lanes, four each
  int quads_ = 0;                  // of these, how many have scores
  float denominators_[Isa::lanes];
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
