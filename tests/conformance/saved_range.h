// Rows whose scores, values and sinks lie far apart, taken into states in pieces that are saved and loaded on the way: what
// random tests of saved states share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "../support/random.h"
#include "attend/core/saved.h"

namespace attend_test {
namespace saved_range {

namespace core = attend::core;

constexpr int segment = attend::segment_keys, most_segments = 5, room = 8;

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

inline float uniform(Random& random, float from, float to) { return from + (to - from) * (0.5f + 0.5f * random.uniform()); }

// One query and as many heads as there are sinks. A score is its key: head_dim, query and scale are 1.
class RangeCase {
 public:
  explicit RangeCase(std::uint64_t seed) : random_(seed * 7919 + 17) {
    keys = 1 + int(random_.bits() % (most_segments * segment));
    if (random_.bits() % 4 == 0) keys = 1 + int(random_.bits() % 70);
    heads = 1 + int(random_.bits() % 2), value_dim = 1 + int(random_.bits() % 9);
    draw_scores();
    draw_values();
    draw_sinks();
    scratch_.resize(core::option_scratch_floats(4, 64, 1, value_dim) + 16);
  }

  int keys, heads, value_dim;

  // Whether every way of taking the keys promises the same bits: keys times the largest value is below 8e37, values of small
  // weights do not outweigh those of large ones, and beside a sink not all weights are near 2^-125, 86.6 nats.
  bool is_ordinary() const {
    const float highest = *std::max_element(scores_.begin(), scores_.end());
    for (const float sink : sinks_) {
      if (sink - highest > 84.0f && sink - highest < 90.0f) return false;
    }
    return value_kind_ == 3 || value_kind_ == 4;
  }
  // Whether no weight is near 2^-125 of the largest one, and no contribution below 2^-126: then saved bytes are the same too.
  bool is_clear() const { return (value_kind_ == 3 || value_kind_ == 5) && score_kind_ != 0 && score_kind_ != 4; }

  struct State {
    Floats numbers;
    int next = 0;
  };

  State begin(int first) const {
    State state;
    state.numbers.assign(std::size_t(heads) * row(), std::numeric_limits<float>::quiet_NaN());
    state.next = first;
    core::Options o;
    o.states = {state.numbers.data(), std::ptrdiff_t(std::size_t(heads) * row()), std::ptrdiff_t(row())};
    core::Floats::begin(problem(first), o);
    return state;
  }
  void take(State& state, int end) {
    core::Problem p = problem(end);
    core::Options o;
    o.states = {state.numbers.data(), std::ptrdiff_t(std::size_t(heads) * row()), std::ptrdiff_t(row())};
    o.first_key = state.next;
    core::Floats::run(p, o);
    state.next = end;
  }
  // Keys up to the end, in calls that stop anywhere, with or without a journey as bytes between some of them.
  State through(int first, int end, bool travels) {
    State state = begin(first);
    while (state.next < end) {
      const int left = end - state.next;
      take(state, random_.bits() % 3 == 0 ? end : state.next + 1 + int(random_.bits() % unsigned(left)));
      const bool now = random_.bits() % 2 == 0;
      if (travels && now) state = loaded(saved(state));
    }
    return state;
  }
  // States of pieces that begin at segments, merged in any order, saved and loaded on the way.
  State in_pieces() {
    std::vector<State> all;
    for (int first = 0; first < keys;) {
      const int end = std::min(keys, first + segment * (1 + int(random_.bits() % 3)));
      all.push_back(through(first, end, true));
      first = end;
    }
    while (all.size() > 1) {
      const std::size_t a = random_.bits() % all.size(), b = (a + 1 + random_.bits() % (all.size() - 1)) % all.size();
      if (random_.bits() % 2 == 0) all[a] = loaded(saved(all[a]));
      if (random_.bits() % 2 == 0) all[b] = loaded(saved(all[b]));
      const auto set = core::segments_of(all[a].numbers.data(), value_dim),
                 added = core::segments_of(all[b].numbers.data(), value_dim);
      const int next = core::next_of_both(set, all[a].next, added, all[b].next);
      core::Floats::merge(all[a].numbers.data(), all[b].numbers.data(), all[b].next % segment != 0, heads, value_dim, room);
      all[a].next = next;
      all.erase(all.begin() + std::ptrdiff_t(b));
    }
    return all[0];
  }

  Bytes saved(const State& state) const {
    core::SavedHead head{};
    head.batch = 1, head.queries = 1, head.query_heads = heads, head.value_dim = value_dim, head.next_key = state.next;
    const int nodes = core::segments_of(state.numbers.data(), value_dim).count;
    Bytes bytes(4 * core::saved_words(false, heads, value_dim, nodes, state.next % segment != 0));
    core::save(head, state.numbers.data(), room, bytes.data());
    return bytes;
  }
  State loaded(const Bytes& bytes) const {
    core::SavedHead head;
    State state;
    state.numbers.assign(std::size_t(heads) * row(), std::numeric_limits<float>::quiet_NaN());
    if (core::read_head(bytes.data(), bytes.size(), head) != core::Loaded::ok) return state;
    core::load(head, bytes.data(), state.numbers.data(), room);
    state.next = head.next_key;
    return state;
  }

  // The outputs, then the log-sum-exps.
  Floats finish(const State& state) const {
    core::Problem p = problem(keys);
    core::Options o;
    Floats numbers = state.numbers, results(std::size_t(heads * (value_dim + 1)));
    o.states = {numbers.data(), std::ptrdiff_t(std::size_t(heads) * row()), std::ptrdiff_t(row())};
    set_results(p, o, results);
    core::Floats::finish(p, o);
    return results;
  }
  Floats one_call() {
    core::Problem p = problem(keys);
    core::Options o;
    Floats results(std::size_t(heads * (value_dim + 1)));
    set_results(p, o, results);
    core::Floats::run(p, o);
    return results;
  }

 private:
  std::size_t row() const { return core::state_floats(value_dim, room); }

  core::Problem problem(int end) const {
    core::Problem p{};
    p.query_heads = heads, p.kv_heads = 1, p.head_dim = 1, p.value_dim = value_dim, p.queries = 1, p.keys = end;
    p.query = {query_, 0, 0}, p.scale = 1.0f;
    p.key = {scores_.data(), 1, 0}, p.value = {values_.data(), value_dim, 0};
    p.row_block = 4, p.key_block = 64;
    const auto address = reinterpret_cast<std::uintptr_t>(scratch_.data());
    p.scratch = const_cast<float*>(scratch_.data()) + (64 - address % 64) % 64 / 4;
    return p;
  }
  void set_results(core::Problem& p, core::Options& o, Floats& results) const {
    p.output = {results.data(), std::ptrdiff_t(heads) * value_dim, value_dim};
    o.lse = {results.data() + heads * value_dim, heads, 1};
    if (!sinks_.empty()) o.sink_logits = sinks_.data();
  }

  void draw_scores() {
    score_kind_ = int(random_.bits() % 6);
    scores_.assign(std::size_t(keys), -300.0f);
    const auto at = [&]() -> float& { return scores_[random_.bits() % unsigned(keys)]; };
    if (score_kind_ == 2) {
      at() = uniform(random_, -85.5f, -60.0f), at() = uniform(random_, -85.5f, -60.0f), at() = 0.0f;
      return;
    }
    float level = uniform(random_, -200.0f, 200.0f);
    const float around = level;
    for (int k = 0; k < keys; ++k) {
      if (score_kind_ == 1 && k % segment == 0) level = around + uniform(random_, -75.0f, 0.0f);
      if (score_kind_ == 4 && random_.bits() % 100 == 0) level = uniform(random_, -200.0f, 200.0f);
      if (score_kind_ == 5) level = around - 0.1f * float(k % 700);
      const float spread = score_kind_ == 3 ? 0.0f : 3.0f;
      scores_[std::size_t(k)] =
          score_kind_ == 0 ? uniform(random_, -200.0f, 200.0f) : level + uniform(random_, -spread, spread);
    }
  }

  void draw_values() {
    value_kind_ = int(random_.bits() % 6);
    Floats sizes(std::size_t(value_dim), 3e37f);
    for (float& size : sizes) {
      if (value_kind_ == 2) size = std::ldexp(1.5f, random_.between(-115, 123));
      if (value_kind_ == 3 || value_kind_ == 5) size = 7.9e37f / float(keys);
      if (value_kind_ == 4) size = 1.0f;
    }
    for (int k = 0; k < keys; ++k) {
      for (const float size : sizes) {
        float value = uniform(random_, -1.0f, 1.0f) * size;
        if (value_kind_ == 1) value = std::ldexp(value, random_.between(-220, 0));
        if (value_kind_ == 5 && random_.bits() % 8 != 0) value = 0.0f;
        values_.push_back(value);
      }
    }
  }

  void draw_sinks() {
    const unsigned kind = random_.bits() % 3;
    const float highest = *std::max_element(scores_.begin(), scores_.end());
    for (int head = 0; kind != 0 && head < heads; ++head) {
      sinks_.push_back(kind == 1 ? uniform(random_, -200.0f, 200.0f) : highest + uniform(random_, 60.0f, 95.0f));
    }
  }

  Random random_;
  const float query_[1] = {1.0f};
  int score_kind_, value_kind_;
  Floats scores_, values_, sinks_, scratch_;
};

// Whether results are the same. Of zero and NaN only that they are is promised.
inline bool same_results(const Floats& expected, const Floats& found) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool both = std::isnan(expected[i]) ? std::isnan(found[i]) : expected[i] == 0 && found[i] == 0;
    if (!both && std::memcmp(&expected[i], &found[i], sizeof(float)) != 0) return false;
  }
  return true;
}
// Whether they are wherever those expected are finite. Not compared is what contributions below 2^-126 can change.
inline bool same_where_finite(const Floats& expected, const Floats& found) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(expected[i]) || (std::fabs(expected[i]) < 0x1p-100f && std::fabs(found[i]) < 0x1p-100f)) continue;
    if (std::memcmp(&expected[i], &found[i], sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace saved_range
}  // namespace attend_test
