// Calls with options on parts short of memory, and on the scalar backend: row by row, and of a row chain by chain.
//
//   for each query head and token
//     for each chain of keys that it sees any of by position
//       scores of groups of 16 keys -> options -> weights
//       for each key that it sees:  chain of sums += weight * value
//       the chain's sums join the segment's, and at its end the segment's the total
//     divide
//
// A row's sums lie in a state (option_state.h), the caller's if there are states. Numbers that are not floats are widened a
// group of keys, or a value, at a time.
#pragma once

#include "../kernel/epilogue.h"
#include "../numerics/formats.h"
#include "../simd/chains.h"
#include "paging.h"
#include "row_state.h"
#include "score_mod.h"

namespace attend {
namespace {

// Where a row's work memory has what, in floats from its beginning: a state, the scores of a chain, the scaled query, a group
// of keys, a value.
struct EmbeddedMemory {
  ptrdiff_t scores, query, group, value, end;

  constexpr EmbeddedMemory(int head_dim, int value_dim)
      : scores(ptrdiff_t(core::state_floats(value_dim))),
        query(scores + chain_keys),
        group(query + head_dim),
        value(group + ptrdiff_t(head_dim) * panel_keys),
        end(value + value_dim) {}
};

constexpr bool fits_embedded_memory() {
  constexpr int dims[] = {1, 7, 64, 576};
  for (const int head_dim : dims) {
    for (const int value_dim : dims) {
      const size_t promised = core::option_scratch_floats(1, chain_keys, head_dim, value_dim);
      if (size_t(EmbeddedMemory(head_dim, value_dim).end) > promised) return false;
    }
  }
  return true;
}
static_assert(fits_embedded_memory(), "attend: core::option_scratch_floats must count what a row takes");

template <class Isa>
class EmbeddedOptions {
 public:
  EmbeddedOptions(const core::Problem& problem, const core::Options& options)
      : problem_(problem), options_(options), score_mod_(problem, options) {
    const EmbeddedMemory at(problem.head_dim, problem.value_dim);
    state_ = problem.scratch;
    scores_ = problem.scratch + at.scores;
    query_ = problem.scratch + at.query;
    group_ = problem.scratch + at.group;
    value_ = problem.scratch + at.value;
  }

  void run() {
    const int group = problem_.query_heads / problem_.kv_heads;
    for (int head = 0; head < problem_.query_heads; ++head) {
      for (int token = 0; token < problem_.queries; ++token) row(token, head, head / group);
    }
  }

 private:
  void row(int token, int head, int kv_head) {
    token_ = token;
    head_ = head;
    visibility_ = visibility_of(problem_, options_, token);
    keys_ = moved(problem_.key.data, kv_head * problem_.key.head_stride, options_.key_format);
    values_ = moved(problem_.value.data, kv_head * problem_.value.head_stride, options_.value_format);
    key_scales_ = options_.key_scales == nullptr ? nullptr : options_.key_scales + kv_head * options_.key_scale_stride;
    value_scales_ = options_.value_scales == nullptr ? nullptr : options_.value_scales + kv_head * options_.value_scale_stride;
    const ptrdiff_t query = token * problem_.query.token_stride + head * problem_.query.head_stride;
    widen_row<Isa>(options_.query_format, moved(problem_.query.data, query, options_.query_format), problem_.head_dim, query_);
    multiply_row<Isa>(query_, problem_.head_dim, Isa::broadcast(score_mod_.query_scale()), query_);

    const bool states = has_states(options_);
    const RowState state(states ? element(options_.states, token, head) : state_, problem_.value_dim);
    if (!states || options_.begins) state.template begin<Isa>();
    score_mod_.begin(token, head);
    go_over(state);
    if (states) return;
    const float* sink = options_.sinks == nullptr ? nullptr : options_.sinks + head;
    const Denominator all = denominator_of(state.total_sum(), state.max(), sink);
    if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
      finish_weights<Scalar>(score_mod_.shown(token, head), options_.score_keys, state.max(), all, scores_);
    }
    epilogue_row<Isa>(problem_, options_, token, head, state.total(), all);
  }

  void go_over(const RowState& state) {
    int key = has_states(options_) ? options_.first_key & -chain_keys : visibility_.begin & -chain_keys;  // of the open chain
    const auto go_to = [&](int next) {
      if (next / chain_keys != key / chain_keys) state.template end_chain<Isa>();
      if (next / segment_keys != key / segment_keys) state.template end_segment<Isa>();
      key = next;
    };
    const int stop = has_states(options_) ? problem_.keys : past_all_keys;
    const int end = shows_hidden(options_) ? problem_.keys : visibility_.end;
    if (visibility_.begin < end) go_to(visibility_.begin & -chain_keys);
    while (key < end && visibility_.begin < end) {
      const int to = at_most(end - key, chain_keys);
      if (visibility_.has_any(key, key + to) || shows_hidden(options_)) {
        chain(state, key, to);
        go_to(at_most(key + chain_keys, stop));
      } else {
        go_to(at_most(at_least(key + chain_keys, visibility_.first & -chain_keys), stop));
      }
    }
    go_to(stop);
  }

  // Up to a chain of keys.
  void chain(const RowState& state, int key, int to) {
    const QueryRow row = query_row(problem_, options_, token_, head_);
    int from = to;
    for (int k = at_least(visibility_.begin - key, 0) & -panel_keys; k < to; k += panel_keys) {
      if (is_needed(row, key + k, at_most(to - k, panel_keys))) {
        from = at_most(from, k);
        score_group(key + k, at_most(to - k, panel_keys), scores_ + k);
      } else {
        fill_row<Isa>(-__builtin_inff(), panel_keys, scores_ + k);
      }
    }
    score_mod_.apply(scores_, &row, 1, {key, from, to}, nullptr, true);
    const int visible = at_most(visibility_.end - key, to);
    if (visible <= from) return;
    // The chain lies before the sums that follow the maximum, and does so too.
    online_softmax_row<Isa>(scores_ + from, visible - from, state.max(), state.lane_sums(), state.chain(),
                            2 * problem_.value_dim);
    for (int k = from; k < visible; ++k) {
      const int at = key + k;
      float weight = scores_[k];
      if (!visibility_.has(at) || (magnitude(weight) == 0 && !is_let_through(problem_, options_, token_, head_, at))) continue;
      const int slot = slot_of(at) - options_.origin;
      if (value_scales_ != nullptr) weight = Scalar::mul(weight, value_scales_[slot]);
      const ptrdiff_t distance = slot * problem_.value.token_stride;
      const float* value = moved(values_, distance, options_.value_format);
      if (options_.value_format != core::Format::float32) {
        widen_row<Isa>(options_.value_format, value, problem_.value_dim, value_);
        value = value_;
      }
      multiply_add_row<Isa>(value, problem_.value_dim, Isa::broadcast(weight), state.chain(), state.chain());
    }
  }

  bool is_needed(const QueryRow& row, int key, int count) const {
    return shows_hidden(options_) ||
           (visibility_.has_any(key, key + count) && lets_any_through(options_, row.visible, row.bias, key, count));
  }

  int slot_of(int key) const { return attend::slot_of(options_.paging, problem_.keys, key); }

  // Scores of a group of 16 keys, or of the first of them.
  void score_group(int key, int count, float* scores) {
    const int dims = problem_.head_dim, slot = slot_of(key);
    const bool panel = problem_.key_panels, floats = options_.key_format == core::Format::float32;
    const ptrdiff_t stride = panel ? dims : problem_.key.token_stride;
    int first = at_least(options_.origin - key, 0);  // of an array, the keys before do not exist
    const float* keys = moved(keys_, (slot + first - options_.origin) * stride, options_.key_format);
    if (panel) first = 0;
    Chains chains;
    chains.b_step = panel ? panel_keys : 1;
    chains.b_stride = panel ? 1 : floats ? stride : dims;
    if (!floats) {
      const int rows = panel ? 1 : count - first;
      for (int i = 0; i < rows; ++i) {
        widen_row<Isa>(options_.key_format, moved(keys, i * stride, options_.key_format), panel ? panel_keys * dims : dims,
                       group_ + ptrdiff_t(i) * dims);
      }
      keys = group_;
    }
    float* const to = scores + first;
    chains.rows = 1;
    chains.to = &to;
    chains.a_stride = dims;
    chains.a_scale = 1.0f;
    const int wide = Isa::columns(1, !panel);
    for (chains.column = 0; chains.column < count - first; chains.column += wide) {
      chains.columns = panel ? wide : at_most(count - first - chains.column, wide);
      chains.a = query_;
      chains.b = keys + chains.column * chains.b_stride;
      for (int left = dims; left > 0; left -= chain_dims) {
        chains.adds = left != dims;
        chains.steps = at_most(left, chain_dims);
        Isa::chains(chains);
        chains.a += chain_dims;
        chains.b += chain_dims * chains.b_step;
      }
    }
    if (key_scales_ == nullptr) return;
    for (int i = panel ? 0 : first; i < count; ++i) {
      scores[i] = Scalar::mul(scores[i], key_scales_[slot + i - options_.origin]);
    }
  }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreMod<Scalar> score_mod_;
  float *state_, *scores_, *query_, *group_, *value_;
  int token_ = 0, head_ = 0;
  Visibility visibility_{};
  const float *keys_ = nullptr, *values_ = nullptr, *key_scales_ = nullptr, *value_scales_ = nullptr;
};

}  // namespace
}  // namespace attend
