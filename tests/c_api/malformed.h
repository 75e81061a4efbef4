// Calls of the C surface with a fault, and what they may be answered with. The faults are made here from what the header says,
// and share nothing with the code that looks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "malformed_world.h"

namespace attend_test {

// What a call may be answered with; nothing where it had no place for the fault.
using Answers = std::vector<attend_status>;
using Fault = std::function<Answers(World&, Call&, Random&)>;

using P = attend_problem;

// A field of it, by the place where it lies.
template <class Type>
Type get(const attend_problem& p, std::size_t at) {
  Type value;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(&p) + at, sizeof value);
  return value;
}
template <class Type>
void put(attend_problem& p, std::size_t at, Type value) {
  std::memcpy(reinterpret_cast<unsigned char*>(&p) + at, &value, sizeof value);
}

inline std::ptrdiff_t outside(std::ptrdiff_t low, std::ptrdiff_t high, Random& random) {
  const std::ptrdiff_t above = high == PTRDIFF_MAX ? low - 1 : high + 1;
  const std::ptrdiff_t numbers[] = {low - 1, above, PTRDIFF_MIN + 1, PTRDIFF_MAX, PTRDIFF_MIN / 2, PTRDIFF_MAX / 2, -2};
  for (;;) {
    const std::ptrdiff_t number = numbers[random.between(0, 6)];
    if (number < low || number > high) return number;
  }
}

inline std::uintptr_t size_of(int format) { return format <= ATTEND_FLOAT32 ? 4 : format == ATTEND_INT8 ? 1 : 2; }

struct Number {
  attend_argument argument, needs;
  std::size_t at;
  std::ptrdiff_t low, high;
};
inline constexpr Number numbers[] = {
    {ATTEND_ARG_BATCH, ATTEND_ARG_NONE, offsetof(P, batch), 0, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_QUERIES, ATTEND_ARG_NONE, offsetof(P, queries), 0, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_QUERY_HEADS, ATTEND_ARG_NONE, offsetof(P, query_heads), 1, ATTEND_MAX_WIDTH},
    {ATTEND_ARG_KV_HEADS, ATTEND_ARG_NONE, offsetof(P, kv_heads), 1, ATTEND_MAX_WIDTH},
    {ATTEND_ARG_HEAD_DIM, ATTEND_ARG_NONE, offsetof(P, head_dim), 1, ATTEND_MAX_WIDTH},
    {ATTEND_ARG_VALUE_DIM, ATTEND_ARG_NONE, offsetof(P, value_dim), 1, ATTEND_MAX_WIDTH},
    {ATTEND_ARG_KEYS, ATTEND_ARG_NONE, offsetof(P, keys), -1, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_WINDOW_LEFT, ATTEND_ARG_NONE, offsetof(P, window_left), -1, PTRDIFF_MAX},
    {ATTEND_ARG_WINDOW_RIGHT, ATTEND_ARG_NONE, offsetof(P, window_right), -1, PTRDIFF_MAX},
    {ATTEND_ARG_SINK_TOKENS, ATTEND_ARG_NONE, offsetof(P, sink_tokens), 0, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_OFFSET, ATTEND_ARG_ALIBI_SLOPES, offsetof(P, offset), -ATTEND_MAX_TOKENS, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_MASK_KEYS, ATTEND_ARG_MASK, offsetof(P, mask.keys), -1, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_BIAS_KEYS, ATTEND_ARG_BIAS, offsetof(P, bias.keys), -1, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_SCORES_KEYS, ATTEND_ARG_SCORES, offsetof(P, scores.keys), -1, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_RELATIVE_BIAS_LEFT, ATTEND_ARG_RELATIVE_BIAS, offsetof(P, relative_bias.left), 0, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_RELATIVE_BIAS_RIGHT, ATTEND_ARG_RELATIVE_BIAS, offsetof(P, relative_bias.right), 0, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_PAGES_PAGE_KEYS, ATTEND_ARG_PAGES, offsetof(P, pages.page_keys), 1, ATTEND_MAX_TOKENS},
    {ATTEND_ARG_PAGES_COUNT, ATTEND_ARG_PAGES, offsetof(P, pages.count), 1, ATTEND_MAX_TOKENS / 16},
    {ATTEND_ARG_FIRST_KEY, ATTEND_ARG_STATES, offsetof(P, first_key), 0, World::most_tokens + 1},
    {ATTEND_ARG_ORIGIN, ATTEND_ARG_KEY, offsetof(P, origin), -1, World::most_tokens},
};

// Numbers of a list.
struct Choice {
  attend_argument argument, needs;
  std::size_t at;
  int first_unknown;
};
inline constexpr Choice choices[] = {
    {ATTEND_ARG_LAYOUT, ATTEND_ARG_NONE, offsetof(P, layout), 2},
    {ATTEND_ARG_QUERY_FORMAT, ATTEND_ARG_NONE, offsetof(P, query_format), ATTEND_INT8},
    {ATTEND_ARG_KEY_FORMAT, ATTEND_ARG_NONE, offsetof(P, key_format), 4},
    {ATTEND_ARG_VALUE_FORMAT, ATTEND_ARG_NONE, offsetof(P, value_format), 4},
    {ATTEND_ARG_OUTPUT_FORMAT, ATTEND_ARG_OUTPUT, offsetof(P, output_format), ATTEND_INT8},
    {ATTEND_ARG_MASK_KIND, ATTEND_ARG_MASK, offsetof(P, mask.kind), 3},
    {ATTEND_ARG_SCORES_STAGE, ATTEND_ARG_SCORES, offsetof(P, scores.stage), 5},
};

// Addresses. Those of the first kind are needed once something else is set, which `add` does.
enum Access { needed = 1, optional = 2, written = 4 };
struct Address {
  attend_argument argument;
  std::size_t at;
  int access;
  std::size_t format;  // 0: floats
};
inline constexpr Address addresses[] = {
    {ATTEND_ARG_QUERY, offsetof(P, query.data), needed, offsetof(P, query_format)},
    {ATTEND_ARG_KEY, offsetof(P, key.data), needed, offsetof(P, key_format)},
    {ATTEND_ARG_VALUE, offsetof(P, value.data), needed, offsetof(P, value_format)},
    {ATTEND_ARG_OUTPUT, offsetof(P, output.data), needed | written, offsetof(P, output_format)},
    {ATTEND_ARG_MASK, offsetof(P, mask.data), needed, 0},
    {ATTEND_ARG_BIAS, offsetof(P, bias.data), optional, 0},
    {ATTEND_ARG_ALIBI_SLOPES, offsetof(P, alibi_slopes), optional, 0},
    {ATTEND_ARG_RELATIVE_BIAS, offsetof(P, relative_bias.data), optional, 0},
    {ATTEND_ARG_SINK_LOGITS, offsetof(P, sink_logits), optional, 0},
    {ATTEND_ARG_KEY_SCALES, offsetof(P, key_scales.data), needed, 0},
    {ATTEND_ARG_VALUE_SCALES, offsetof(P, value_scales.data), needed, 0},
    {ATTEND_ARG_LSE, offsetof(P, lse.data), optional | written, 0},
    {ATTEND_ARG_SCORES, offsetof(P, scores.data), needed | written, 0},
    {ATTEND_ARG_PAGES, offsetof(P, pages.table), optional, 0},
    {ATTEND_ARG_KEY_LENGTHS, offsetof(P, key_lengths), optional, 0},
    {ATTEND_ARG_STATES, offsetof(P, states), optional | written, 0},
};

// Strides, and how many steps of them there are.
struct Stride {
  attend_argument argument;
  std::size_t at, count;
  int access;
};
inline constexpr Stride strides[] = {
    {ATTEND_ARG_QUERY, offsetof(P, query.batch_stride), offsetof(P, batch), needed},
    {ATTEND_ARG_QUERY, offsetof(P, query.token_stride), offsetof(P, queries), needed},
    {ATTEND_ARG_QUERY, offsetof(P, query.head_stride), offsetof(P, query_heads), needed},
    {ATTEND_ARG_KEY, offsetof(P, key.head_stride), offsetof(P, kv_heads), needed},
    {ATTEND_ARG_VALUE, offsetof(P, value.head_stride), offsetof(P, kv_heads), needed},
    {ATTEND_ARG_OUTPUT, offsetof(P, output.batch_stride), offsetof(P, batch), needed | written},
    {ATTEND_ARG_OUTPUT, offsetof(P, output.token_stride), offsetof(P, queries), needed | written},
    {ATTEND_ARG_OUTPUT, offsetof(P, output.head_stride), offsetof(P, query_heads), needed | written},
    {ATTEND_ARG_MASK, offsetof(P, mask.batch_stride), offsetof(P, batch), optional},
    {ATTEND_ARG_MASK, offsetof(P, mask.query_stride), offsetof(P, queries), optional},
    {ATTEND_ARG_MASK, offsetof(P, mask.head_stride), offsetof(P, query_heads), optional},
    {ATTEND_ARG_BIAS, offsetof(P, bias.batch_stride), offsetof(P, batch), optional},
    {ATTEND_ARG_BIAS, offsetof(P, bias.query_stride), offsetof(P, queries), optional},
    {ATTEND_ARG_BIAS, offsetof(P, bias.head_stride), offsetof(P, query_heads), optional},
    {ATTEND_ARG_RELATIVE_BIAS, offsetof(P, relative_bias.head_stride), offsetof(P, query_heads), optional},
    {ATTEND_ARG_LSE, offsetof(P, lse.batch_stride), offsetof(P, batch), optional | written},
    {ATTEND_ARG_LSE, offsetof(P, lse.token_stride), offsetof(P, queries), optional | written},
    {ATTEND_ARG_LSE, offsetof(P, lse.head_stride), offsetof(P, query_heads), optional | written},
    {ATTEND_ARG_SCORES, offsetof(P, scores.batch_stride), offsetof(P, batch), optional | written},
    {ATTEND_ARG_SCORES, offsetof(P, scores.query_stride), offsetof(P, queries), optional | written},
    {ATTEND_ARG_SCORES, offsetof(P, scores.head_stride), offsetof(P, query_heads), optional | written},
    {ATTEND_ARG_KEY_SCALES, offsetof(P, key_scales.head_stride), offsetof(P, kv_heads), optional},
    {ATTEND_ARG_VALUE_SCALES, offsetof(P, value_scales.head_stride), offsetof(P, kv_heads), optional},
    {ATTEND_ARG_PAGES, offsetof(P, pages.batch_stride), offsetof(P, batch), optional},
};

// Whether a call looks at an argument, when World::add has added it.
inline bool is_read(const attend_problem& p, attend_argument argument) {
  switch (argument) {
    case ATTEND_ARG_KEY:
    case ATTEND_ARG_VALUE:
    case ATTEND_ARG_KEY_SCALES:
    case ATTEND_ARG_VALUE_SCALES:
      return World::has_arrays(p);
    case ATTEND_ARG_PAGES:
      return p.cache == nullptr && p.keys > 0;
    case ATTEND_ARG_OUTPUT:
    case ATTEND_ARG_LSE:
      return p.states == nullptr;
    default:
      return true;
  }
}

// The alignment of an address's numbers.
inline std::uintptr_t size_at(const attend_problem& p, const Address& address) {
  if (address.argument == ATTEND_ARG_MASK) return 1;
  if (address.argument == ATTEND_ARG_KEY_LENGTHS) return sizeof(std::ptrdiff_t);
  return address.format == 0 ? 4 : size_of(get<int>(p, address.format));
}

inline void add_number_faults(std::vector<Fault>& faults) {
  for (const Number& number : numbers) {
    faults.push_back([number](World& w, Call& c, Random& r) -> Answers {
      attend_problem& p = *c.problem;
      if (!is_read(p, number.needs)) return {};
      w.add(p, number.needs);
      const bool tokens = number.argument == ATTEND_ARG_KEYS && p.cache != nullptr;
      const std::ptrdiff_t high = tokens ? std::ptrdiff_t(World::held) : number.high;
      if (number.argument == ATTEND_ARG_OFFSET) p.options &= ~ATTEND_QUERIES_LAST;
      put(p, number.at, outside(number.low, high, r));
      if (number.argument == ATTEND_ARG_WINDOW_LEFT || number.argument == ATTEND_ARG_WINDOW_RIGHT) World::place(p);
      return {wrong(ATTEND_OUT_OF_RANGE, number.argument)};
    });
  }
  for (const Choice& choice : choices) {
    faults.push_back([choice](World& w, Call& c, Random& r) -> Answers {
      if (!is_read(*c.problem, choice.needs)) return {};
      w.add(*c.problem, choice.needs);
      put(*c.problem, choice.at, r.between(0, 1) == 0 ? choice.first_unknown + r.between(0, 900) : -r.between(2, 9));
      return {wrong(ATTEND_UNKNOWN, choice.argument)};
    });
  }
}

inline void add_address_faults(std::vector<Fault>& faults) {
  for (const Address& address : addresses) {
    const auto there = [address](World& w, Call& c) {
      if (!is_read(*c.problem, address.argument)) return false;
      w.add(*c.problem, address.argument);
      return true;
    };
    faults.push_back([=](World& w, Call& c, Random&) -> Answers {
      if ((address.access & needed) == 0 || !there(w, c)) return {};
      put<void*>(*c.problem, address.at, nullptr);
      return {wrong(ATTEND_MISSING, address.argument)};
    });
    faults.push_back([=](World& w, Call& c, Random& r) -> Answers {
      if (!there(w, c)) return {};
      const std::uintptr_t size = size_at(*c.problem, address), off = std::uintptr_t(r.between(0, int(size) - 1));
      put(*c.problem, address.at, get<std::uintptr_t>(*c.problem, address.at) + off);
      return off == 0 ? Answers{} : Answers{wrong(ATTEND_UNALIGNED, address.argument)};
    });
    faults.push_back([=](World& w, Call& c, Random&) -> Answers {
      if (!there(w, c)) return {};
      const bool bits = address.argument == ATTEND_ARG_MASK && c.problem->mask.kind == ATTEND_MASK_BITS;
      put(*c.problem, address.at, UINTPTR_MAX - size_at(*c.problem, address) + 1);  // nothing fits behind
      return bits ? Answers{} : Answers{wrong(ATTEND_TOO_LARGE, address.argument)};
    });
    // What is written moves to where something else lies.
    faults.push_back([=](World& w, Call& c, Random& r) -> Answers {
      const Address& other = addresses[r.between(0, int(sizeof addresses / sizeof *addresses) - 1)];
      if ((address.access & written) == 0 || other.argument == address.argument || !there(w, c)) return {};
      if (!is_read(*c.problem, other.argument)) return {};
      w.add(*c.problem, other.argument);
      if (!is_read(*c.problem, address.argument)) return {};  // states take the place of outputs
      const attend_cache* const cache = c.problem->cache;
      const std::uintptr_t places[] = {get<std::uintptr_t>(*c.problem, other.at), reinterpret_cast<std::uintptr_t>(c.problem),
                                       reinterpret_cast<std::uintptr_t>(cache) + 64};
      const int kind = r.between(0, 9);
      put(*c.problem, address.at, places[kind == 0 ? 1 : kind == 1 && cache != nullptr ? 2 : 0]);
      Answers answers = {wrong(ATTEND_OVERLAP, address.argument)};
      if ((other.access & written) != 0) answers.push_back(wrong(ATTEND_OVERLAP, other.argument));
      return answers;
    });
    faults.push_back([=](World& w, Call& c, Random& r) -> Answers {
      const std::size_t bytes = attend_workspace_size(c.problem);
      if (bytes == 0 || !there(w, c) || attend_workspace_size(c.problem) != bytes) return {};
      const std::uintptr_t inside =
          reinterpret_cast<std::uintptr_t>(w.workspace.data) + std::uintptr_t(r.between(0, int(bytes) / 8 - 1)) * 8;
      if (address.argument == ATTEND_ARG_PAGES || address.argument == ATTEND_ARG_KEY_LENGTHS) return {};  // of what they say
      put(*c.problem, address.at, inside);
      Answers answers = {wrong(ATTEND_OVERLAP, ATTEND_ARG_WORKSPACE)};
      if ((address.access & written) != 0) answers.push_back(wrong(ATTEND_OVERLAP, address.argument));
      return answers;
    });
  }
}

inline void add_stride_faults(std::vector<Fault>& faults) {
  for (const Stride& stride : strides) {
    faults.push_back([stride](World& w, Call& c, Random& r) -> Answers {
      attend_problem& p = *c.problem;
      if (!is_read(p, stride.argument)) return {};
      w.add(p, stride.argument);
      if (get<std::ptrdiff_t>(p, stride.count) < 2) return {};
      const bool bits = stride.argument == ATTEND_ARG_MASK && p.mask.kind == ATTEND_MASK_BITS;
      switch (r.between(0, 2)) {
        case 0:
          put(p, stride.at, r.between(0, 1) == 0 ? PTRDIFF_MAX : PTRDIFF_MIN + 1);
          if (bits && get<std::ptrdiff_t>(p, stride.at) > 0 && get<std::ptrdiff_t>(p, stride.count) == 2) return {};
          return {wrong(ATTEND_TOO_LARGE, stride.argument), wrong(ATTEND_AMBIGUOUS, stride.argument),
                  bits ? wrong(ATTEND_OUT_OF_RANGE, stride.argument) : -1};
        case 1:
          if ((stride.access & written) == 0) return {};
          put(p, stride.at, std::ptrdiff_t(0));
          return {wrong(ATTEND_SHARED_ELEMENTS, stride.argument)};
        default:
          if (!bits) return {};
          put(p, stride.at, std::ptrdiff_t(-r.between(1, 9)));
          return {wrong(ATTEND_OUT_OF_RANGE, stride.argument)};
      }
    });
    // A stride of what is not there.
    faults.push_back([stride](World&, Call& c, Random& r) -> Answers {
      attend_problem& p = *c.problem;
      attend_problem none;
      attend_problem_init(&none, sizeof none);
      if ((stride.access & optional) == 0 || (p.cache != nullptr && stride.argument == ATTEND_ARG_PAGES)) return {};
      if (stride.argument == ATTEND_ARG_LSE && p.states != nullptr) return {};
      if (stride.argument == ATTEND_ARG_MASK) p.mask = none.mask;
      if (stride.argument == ATTEND_ARG_BIAS) p.bias = none.bias;
      if (stride.argument == ATTEND_ARG_LSE) p.lse = none.lse;
      if (stride.argument == ATTEND_ARG_SCORES) p.scores = none.scores;
      if (stride.argument == ATTEND_ARG_PAGES) p.pages = none.pages;
      if (stride.argument == ATTEND_ARG_RELATIVE_BIAS) p.relative_bias = none.relative_bias;
      if (stride.argument == ATTEND_ARG_KEY_SCALES) p.key_scales = none.key_scales, p.key_format = ATTEND_FLOAT32;
      if (stride.argument == ATTEND_ARG_VALUE_SCALES) p.value_scales = none.value_scales, p.value_format = ATTEND_FLOAT32;
      World::place(p);
      put(p, stride.at, std::ptrdiff_t(r.between(0, 9)));
      return {wrong(ATTEND_NO_EFFECT, stride.argument)};
    });
  }
}

}  // namespace attend_test
