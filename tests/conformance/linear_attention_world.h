// Linear attention beside its definition: a case, its data, and what must come of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "linear_attention_digest.h"
#include "linear_definition.h"

namespace attend_test {

struct LinearKind {
  LinearRule rule;
  Decay decay;
};
constexpr LinearKind linear_kinds[] = {{LinearRule::linear, Decay::per_head},      {LinearRule::gated, Decay::per_head},
                                       {LinearRule::gated, Decay::per_key},        {LinearRule::delta, Decay::per_head},
                                       {LinearRule::gated_delta, Decay::per_head}, {LinearRule::gated_delta, Decay::per_key}};

// A case with its data, and what its definition makes of it: all outputs, then S[head][key][column].
struct LinearWorld {
  explicit LinearWorld(const LinearAttentionCase& of, std::uint64_t seed = 1)
      : c(of),
        memory(digest_bytes(of) / sizeof(float), std::numeric_limits<float>::quiet_NaN()),
        d(linear_data(of, memory.data())) {
    draw_linear(c, d, seed);
    clear();
  }
  LinearWorld(const LinearWorld&) = delete;
  void clear() { std::fill_n(d.state, state_floats(c), 0.0f); }
  void poison_outputs() { std::fill_n(d.output, outputs(), std::numeric_limits<float>::quiet_NaN()); }
  std::size_t outputs() const { return std::size_t(c.tokens) * token_floats(c).output; }

  // What was computed, with the state as the definition has it.
  std::vector<float> found() const {
    std::vector<float> all(d.output, d.output + outputs());
    const int panels = (c.value_dim + 15) / 16;
    for (int h = 0; h < c.value_heads; ++h) {
      for (int k = 0; k < c.head_dim; ++k) {
        for (int v = 0; v < c.value_dim; ++v) {
          const int width = std::min(16, c.value_dim - v / 16 * 16);
          all.push_back(d.state[(h * c.value_dim + v / 16 * 16) * c.head_dim + k * width + v % 16]);
        }
      }
    }
    const float* const decayed = d.state + c.value_heads * c.head_dim * c.value_dim;
    for (int i = 0; i < c.value_heads * panels; ++i) all.push_back(decayed[i]);
    return all;
  }

  // Tokens whose number is in `starts` begin with an empty state; the others than first … end - 1 are not there.
  std::vector<float> defined(int first, int end, const std::vector<int>& starts = {}) const {
    const LinearTokenFloats t = token_floats(c);
    std::vector<float> all(outputs(), std::numeric_limits<float>::quiet_NaN()), states, decayed;
    const int readers = std::max(c.query_heads / c.value_heads, 1), width = int(gate_width(c));
    for (int h = 0; h < c.value_heads; ++h) {
      DefinedLinearHead head(c.head_dim, c.value_dim);
      for (int i = first; i < end; ++i) {
        if (std::count(starts.begin(), starts.end(), i) > 0) head = DefinedLinearHead(c.head_dim, c.value_dim);
        const std::size_t n = std::size_t(i);
        const float* const gates = t.gates == 0 ? nullptr : d.gates + n * t.gates + std::size_t(h * width);
        head.take(d.key + n * t.key + h / (c.value_heads / c.kv_heads) * c.head_dim, d.value + n * t.value + h * c.value_dim,
                  gates, c.decay == Decay::per_key ? 1 : 0, t.beta == 0 ? nullptr : d.beta + n * t.beta + h);
        for (int r = 0; r < readers; ++r) {
          const int query = c.query_heads >= c.value_heads ? h * readers + r : h / (c.value_heads / c.query_heads);
          head.read(d.query + n * t.query + query * c.head_dim, 0.75f,
                    &all[n * t.output + std::size_t((h * readers + r) * c.value_dim)]);
        }
      }
      if (std::count(starts.begin(), starts.end(), end) > 0) head = DefinedLinearHead(c.head_dim, c.value_dim);
      states.insert(states.end(), head.state.begin(), head.state.end());
      decayed.insert(decayed.end(), std::size_t((c.value_dim + 15) / 16), head.decayed);
    }
    all.insert(all.end(), states.begin(), states.end());
    all.insert(all.end(), decayed.begin(), decayed.end());
    return all;
  }

  std::string text() const {
    return "rule " + std::to_string(int(c.rule)) + (c.decay == Decay::per_key ? " by key, " : ", ") +
           std::to_string(c.query_heads) + " " + std::to_string(c.kv_heads) + " " + std::to_string(c.value_heads) +
           " heads of " + std::to_string(c.head_dim) + " x " + std::to_string(c.value_dim) + ", " + std::to_string(c.tokens) +
           " tokens";
  }

  LinearAttentionCase c;
  std::vector<float> memory;
  LinearData d;
};

// Whether all bits are the same, where outputs that nobody wrote are NaN.
inline bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i)
    same = std::memcmp(&a[i], &b[i], sizeof a[i]) == 0 || (std::isnan(a[i]) && std::isnan(b[i]));
  return same;
}

// The tokens first … end - 1 in calls of so many, and parts.
inline void run_in_calls(LinearWorld& w, int first, int end, int tokens, int parts = 1) {
  for (int i = first; i < end; i += tokens) {
    for (int part = parts; part-- > 0;) run_linear_case(w.c, linear_call(w.c, w.d, i, std::min(i + tokens, end)), part, parts);
  }
}

// A key of norm 1, or a little less.
inline void make_unit(float* key, std::size_t count) {
  double size = 1e-30;
  for (std::size_t n = 0; n < count; ++n) size += double(key[n]) * double(key[n]);
  for (std::size_t n = 0; n < count; ++n) key[n] = float(double(key[n]) / std::sqrt(size) * 0.999999);
}

}  // namespace attend_test
