// The settings that decide the numbers of attention in several calls, with a State or with Partials: all of them must set the
// same, or the result would be of none of them.
#pragma once

#include "../options.h"

namespace attend {
namespace detail {

// Numbers by their bits; of arrays whether there are any, because a State may be moved to where they lie elsewhere; of sink
// logits, which decide in the last call, and of queries a hash of all numbers.
struct CallSettings {
  enum Word { scale, soft_cap, flags, offset, left, right, sink_tokens, sink_logits, query, count };
  enum Flag : uint32_t { causal = 1, mask = 2, bias = 4, alibi_slopes = 8, relative_bias = 16, lse = 32 };
  uint32_t words[count];
};

inline uint32_t bits_of(float number) {
  uint32_t bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  return bits;
}

// Each step loses nothing: another word makes another hash.
inline uint32_t hash_with(uint32_t hash, uint32_t word) {
  hash = (hash ^ word) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

// 0 where there are none.
inline uint32_t hash_of_heads(const float* numbers, int heads) {
  uint32_t hash = 0;
  for (int head = 0; numbers != nullptr && head < heads; ++head) hash = hash_with(hash + 1, bits_of(numbers[head]));
  return hash;
}

inline uint32_t hash_of_queries(const core::Problem& problem) {
  uint32_t hash = 0;
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const float* const numbers = problem.query.data + token * problem.query.token_stride + head * problem.query.head_stride;
      for (int i = 0; i < problem.head_dim; ++i) hash = hash_with(hash, bits_of(numbers[i]));
    }
  }
  return hash;
}

// Of all but the queries, which Partials do not look at.
inline CallSettings settings_of(const core::Problem& problem, const core::Options& options = {}) {
  using Set = CallSettings;
  const bool by_distance = options.alibi_slopes != nullptr || options.relative != nullptr;
  const bool positioned = problem.causal || options.left >= 0 || options.right >= 0 || by_distance;
  const uint32_t flags = (problem.causal ? uint32_t(Set::causal) : 0u) |
                         (options.visible.data != nullptr ? uint32_t(Set::mask) : 0u) |
                         (options.bias.data != nullptr ? uint32_t(Set::bias) : 0u) |
                         (options.alibi_slopes != nullptr ? uint32_t(Set::alibi_slopes) : 0u) |
                         (options.relative != nullptr ? uint32_t(Set::relative_bias) : 0u) |
                         (options.lse.data != nullptr ? uint32_t(Set::lse) : 0u);
  return {{bits_of(problem.scale), bits_of(options.soft_cap), flags, positioned ? uint32_t(problem.offset) : 0u,
           uint32_t(options.left), uint32_t(options.right), uint32_t(options.sink_tokens),
           hash_of_heads(options.sink_logits, problem.query_heads), 0}};
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
bool are_settings(const CallSettings& settings, const ScoreOptions<Shape>& options) {
  using Set = CallSettings;
  const auto same = [&](const auto& setting, Set::Word word) {
    return !setting.given || settings.words[word] == uint32_t(setting.number);
  };
  const uint32_t flags = settings.words[Set::flags];
  const auto had = [&](const void* array, Set::Flag flag) { return array == nullptr || (flags & flag) != 0; };
  return (!options.scale.given || settings.words[Set::scale] == bits_of(options.scale.number)) &&
         (bits_of(options.soft_cap) << 1 == 0 || settings.words[Set::soft_cap] == bits_of(options.soft_cap)) &&
         options.causal.or_else((flags & Set::causal) != 0) == ((flags & Set::causal) != 0) &&
         same(options.offset, Set::offset) && same(options.window_left, Set::left) && same(options.window_right, Set::right) &&
         same(options.sink_tokens, Set::sink_tokens) && had(options.mask.mask.data, Set::mask) &&
         had(options.bias.mask.data, Set::bias) && had(options.alibi_slopes.data, Set::alibi_slopes) &&
         had(options.relative_bias.data, Set::relative_bias) && (options.lse.data != nullptr || (flags & Set::lse) == 0) &&
         hash_of_heads(options.sink_logits.data, Checked<Shape>::query_heads) == settings.words[Set::sink_logits];
}

}  // namespace detail
}  // namespace attend
