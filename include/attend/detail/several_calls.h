// Attention in several calls, of floats or of integers, into a State: all calls must have the same settings, or the result
// would be of none of them; and how a state is filled.
#pragma once

#include "../core/saved.h"
#include "../integer.h"

namespace attend::detail {

// The settings that decide the numbers of attention. Numbers by their bits; of arrays whether there are any, because a State
// may be moved to where they lie elsewhere; of sink logits, which decide in the last call, and of queries a hash of all
// numbers. In integers `scale` is a hash of the scores' scales, and `soft_cap` the queries' zero point.
struct CallSettings {
  enum Word { scale, soft_cap, flags, offset, left, right, sink_tokens, sink_logits, query, count };
  enum Flag : uint32_t {
    causal = 1,
    mask = 2,
    bias = 4,
    alibi_slopes = 8,
    relative_bias = 16,
    lse = 32,
    key_scales = 64,
    value_scales = 128,
    lse_base2 = 256,
    bias_before_cap = 512
  };
  uint32_t words[count];
};

// 0 where there are none.
inline uint32_t hash_of_heads(const float* numbers, int heads) {
  uint32_t hash = 0;
  for (int head = 0; numbers != nullptr && head < heads; ++head) hash = core::hash_with(hash + 1, bits_of(numbers[head]));
  return hash;
}

inline uint32_t word_of(float number) { return bits_of(number); }
inline uint32_t word_of(int8_t number) { return uint32_t(number); }

template <class Number>
uint32_t hash_of_queries(const core::Problem& problem) {
  uint32_t hash = 0;
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const Number* const row = static_cast<const Number*>(problem.query.data) + core::distance(problem.query, token, head);
      for (int i = 0; i < problem.head_dim; ++i) hash = core::hash_with(hash, word_of(row[i]));
    }
  }
  return hash;
}

inline uint32_t hash_of_scales(const core::ScoreScale* scales, int stride, int heads) {
  uint32_t hash = 0;
  for (int head = 0; head < heads; ++head, scales += stride) {
    hash = core::hash_with(core::hash_with(hash, scales->factor), uint32_t(scales->right));
  }
  return hash;
}

template <class Number>
CallSettings settings_of(const core::Problem& problem, const core::Options& options) {
  using Set = CallSettings;
  static_assert(core::option_count == 34, "attend: must all calls into a state have the same of the new option?");
  constexpr bool integers = sizeof(Number) == 1;
  const bool by_distance = options.alibi_slopes != nullptr || options.relative != nullptr;
  const bool positioned = problem.causal || options.left >= 0 || options.right >= 0 || by_distance;
  const auto flag = [](bool is_set, Set::Flag set) { return is_set ? uint32_t(set) : 0u; };
  const uint32_t flags = flag(problem.causal, Set::causal) | flag(options.mask.data != nullptr, Set::mask) |
                         flag(options.bias.data != nullptr, Set::bias) |
                         flag(options.alibi_slopes != nullptr, Set::alibi_slopes) |
                         flag(options.relative != nullptr, Set::relative_bias) | flag(options.lse.data != nullptr, Set::lse) |
                         flag(options.lse_base2, Set::lse_base2) | flag(options.bias_before_cap, Set::bias_before_cap) |
                         flag(integers && options.key_scales != nullptr, Set::key_scales) |
                         flag(integers && options.value_scales != nullptr, Set::value_scales);
  const int heads = problem.query_heads;
  return {{integers ? hash_of_scales(problem.score_scales, problem.scale_stride, heads) : bits_of(problem.scale),
           integers ? uint32_t(options.query_zero) : bits_of(options.soft_cap), flags,
           positioned ? uint32_t(problem.offset) : 0u, uint32_t(options.left), uint32_t(options.right),
           uint32_t(options.sink_tokens), hash_of_heads(options.sink_logits, heads), hash_of_queries<Number>(problem)}};
}

inline bool same_settings(const CallSettings& a, const CallSettings& b) {
  for (int i = 0; i < CallSettings::count; ++i) {
    if (a.words[i] != b.words[i]) return false;
  }
  return true;
}

// Whether options are those that a call was made with, or not set. Sink logits and a log-sum-exp must be set again, because
// they take effect only now.
template <class Shape>
bool are_visibility(const CallSettings& settings, const VisibilityOptions<Shape>& options) {
  using Set = CallSettings;
  const auto same = [&](const auto& setting, Set::Word word) {
    return !setting.given || settings.words[word] == uint32_t(setting.number);
  };
  const bool causal = (settings.words[Set::flags] & Set::causal) != 0;
  return options.causal.or_else(causal) == causal && same(options.offset, Set::offset) &&
         same(options.window_left, Set::left) && same(options.window_right, Set::right) &&
         same(options.sink_tokens, Set::sink_tokens) &&
         (options.mask.mask.data == nullptr || (settings.words[Set::flags] & Set::mask) != 0);
}
// A log-sum-exp that earlier calls had is there, in the same base; without one there is no base.
inline bool is_lse(uint32_t flags, const float* lse, LseBase base) {
  using Set = CallSettings;
  const bool base2 = base == LseBase::two;
  if (lse == nullptr) return (flags & Set::lse) == 0 && !base2;
  return (flags & Set::lse) == 0 || base2 == ((flags & Set::lse_base2) != 0);
}
template <class Shape>
bool are_settings(const CallSettings& settings, const ScoreOptions<Shape, float>& options, const Whole&) {
  using Set = CallSettings;
  const uint32_t flags = settings.words[Set::flags];
  const auto had = [&](const void* array, Set::Flag flag) { return array == nullptr || (flags & flag) != 0; };
  return are_visibility(settings, options) &&
         (!options.scale.given || settings.words[Set::scale] == bits_of(options.scale.number)) &&
         (bits_of(options.soft_cap) << 1 == 0 || settings.words[Set::soft_cap] == bits_of(options.soft_cap)) &&
         had(options.bias.mask.data, Set::bias) &&
         (options.bias_stage == BiasStage::after_cap || (flags & Set::bias_before_cap) != 0) &&
         had(options.alibi_slopes.data, Set::alibi_slopes) && had(options.relative_bias.data, Set::relative_bias) &&
         is_lse(flags, options.lse.data, options.lse_base) &&
         hash_of_heads(options.sink_logits.data, Checked<Shape>::query_heads) == settings.words[Set::sink_logits];
}
template <class Shape, int heads>
bool are_settings(const CallSettings& settings, const ScoreOptions<Shape, integer>& options,
                  const Quantisation<Shape, heads>& quantisation) {
  using Set = CallSettings;
  const uint32_t zero = settings.words[Set::soft_cap], flags = settings.words[Set::flags];
  const auto had = [&](const void* array, Set::Flag flag) { return array == nullptr || (flags & flag) != 0; };
  return are_visibility(settings, options) && !options.scale.given && had(options.key_scales.data, Set::key_scales) &&
         had(options.value_scales.data, Set::value_scales) && uint32_t(quantisation.query_zero()) == zero &&
         hash_of_scales(quantisation.scores(), quantisation.head_stride, Checked<Shape>::query_heads) ==
             settings.words[Set::scale];
}

// What decides which keys queries see by position, in a problem that finishes a state.
inline void set_visibility(core::Problem& problem, core::Options& options, const CallSettings& settings) {
  using Set = CallSettings;
  problem.causal = (settings.words[Set::flags] & Set::causal) != 0;
  problem.offset = int(settings.words[Set::offset]);
  options.left = int(settings.words[Set::left]);
  options.right = int(settings.words[Set::right]);
  options.sink_tokens = int(settings.words[Set::sink_tokens]);
}

// The progress of a state through the keys of its queries.
class Progress {
 public:
  // Forgets everything: the next key to take is `key`, a multiple of segment_keys.
  constexpr Status begin(int key) {
    if (key < 0 || key % segment_keys != 0) return Status::bad_begin;
    *this = Progress();
    next_ = end_ = key;
    return Status::ok;
  }

  // The next key, and the key that the state has come to: keys between are seen by no query. Where they reach into another
  // segment, that one has not begun.
  constexpr int next() const { return next_; }
  constexpr int end() const { return end_; }
  // The number of queries of the state, and whether it has taken a call, be it one without keys, since begin().
  constexpr int queries() const { return queries_; }
  constexpr bool begun() const { return begun_; }

  // Whether a call over so many keys can take those before up_to; there may be none.
  constexpr Status can_take(int up_to, int keys, int queries) const {
    if (up_to < end_) return Status::bad_up_to;
    return next_ > keys || (begun_ && queries != queries_) ? Status::bad_state : Status::ok;
  }
  constexpr void take(int end, int next, int queries) {
    end_ = end;
    next_ = next;
    queries_ = queries;
    begun_ = true;
    finished_ = false;
  }

  // Whether the state is new, or has taken something since the last finish.
  constexpr bool can_finish() const { return !finished_; }
  constexpr void finish() { finished_ = true; }

  constexpr void merge(int next) {
    next_ = end_ = next;
    finished_ = false;
  }

 private:
  int next_ = 0;
  int end_ = 0;
  int queries_ = 0;
  bool begun_ = false;
  bool finished_ = false;  // whether nothing was taken since finish()
};

// The access of calls to states.
struct StateAccess {
  template <class Any>
  static auto& data(Any& any) {
    return any.data_;
  }
  template <class AnyState>
  static auto& progress(AnyState& state) {
    return state.progress_;
  }
  template <class AnyState>
  static auto& settings(AnyState& state) {
    return state.settings_;
  }
};

// The numbers of states: those of a row, and in integers as many more as its sums when it is finished.
template <class Shape>
using SumOf = typename Choice<is_integer<Shape>, int32_t, float>::Type;
template <class Shape>
using ArithmeticCalls = typename Choice<is_integer<Shape>, core::Integers, core::Floats>::Type;
template <class Shape, int nodes>
constexpr size_t state_row = is_integer<Shape> ? core::integer_state_numbers(Checked<Shape>::value_dim, nodes)
                                               : core::state_floats(Checked<Shape>::value_dim, nodes);
template <class Shape>
constexpr size_t finishing_sums = is_integer<Shape> ? size_t(Checked<Shape>::value_dim) : 0;
template <class Shape, class Number, size_t count>
constexpr Number* sums_of(Number (&data)[count]) {
  return data + count - finishing_sums<Shape>;
}

// The states of a call, and how they lie.
template <class Shape, int nodes>
core::Tensor<void> states_of(SumOf<Shape>* data) {
  return {data, ptrdiff_t(state_row<Shape, nodes>) * Checked<Shape>::query_heads, ptrdiff_t(state_row<Shape, nodes>)};
}

// The finished segments of a state, which all its rows have alike.
template <class Shape, class AnyState>
core::SegmentSet finished_segments(const AnyState& state) {
  const Progress& progress = StateAccess::progress(state);
  if (!progress.begun() || progress.queries() == 0) return {0, nullptr, 0};
  return core::segments_of(StateAccess::data(state), Checked<Shape>::value_dim);
}

// A call into a state.
//   up_to  the key to stop before: a multiple of a chunk in integers, unless there are no more keys
template <class Shape, class AnyState>
struct IntoState : OneIntoState {
  IntoState(AnyState& state_, int end) : state(state_), up_to(end) {}
  AnyState& state;
  int up_to;
};
template <class Runner, class Shape, class AnyState>
[[gnu::always_inline]] inline Status perform(const IntoState<Shape, AnyState>& into, core::Problem& problem,
                                             core::Options& options) {
  constexpr int step = is_integer<Shape> ? integer_chunk : 1;
  Progress& progress = StateAccess::progress(into.state);
  const int keys = problem.keys, begin = progress.end();
  const core::SeenKeys seen = Runner::seen_keys(problem, options);
  // A call that would stop at keys which the state has passed over takes none.
  const int up_to = seen.next(into.up_to, keys) >= progress.next() ? larger(into.up_to, begin) : into.up_to;
  const Status status = progress.can_take(up_to, keys, problem.queries);
  if (status != Status::ok) return status;
  const int stop = smaller(up_to, keys), first = seen.next(begin, keys), next = seen.next(stop, keys);
  if (options.origin > first) return Status::bad_origin;
  if ((first < stop && first % step != 0) || (stop % step != 0 && stop != keys && stop != begin)) return Status::bad_up_to;
  const int end = larger(stop, next & -segment_keys);
  const core::SegmentSet segments = finished_segments<Shape>(into.state);
  if (segments.most_with(seen, begin / segment_keys, end / segment_keys) > AnyState::nodes) return Status::too_many_nodes;
  const CallSettings settings = settings_of<NumberOf<Shape>>(problem, options);
  CallSettings& state_settings = StateAccess::settings(into.state);
  if (progress.begun() && !same_settings(settings, state_settings)) return Status::other_options;
  options.lse = {};  // finish() writes it
  options.states = states_of<Shape, AnyState::nodes>(StateAccess::data(into.state));
  options.begins = !progress.begun();
  const auto run = [&](int from, int to) {
    options.first_key = from;
    problem.keys = to;
    Runner::run(problem, options);
    options.begins = false;
  };
  seen.go_over(begin, end, run, [&](int from, int to) { Runner::leave(problem, options, from, to); });
  if (options.begins) run(end, end);
  progress.take(end, next, problem.queries);
  state_settings = settings;
  return Status::ok;
}

}  // namespace attend::detail
