// Faults that all addresses, and all strides, of a problem of floats have alike: null, not aligned, beyond the address space,
// in the place of something else; too large, shared, set for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "refusals_world.h"

namespace attend_test {

// What a call may be answered with; nothing where it had no place for the fault.
using Answers = std::vector<attend_status>;

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

inline std::uintptr_t size_of(int format) { return format <= ATTEND_FLOAT32 ? 4 : format == ATTEND_INT8 ? 1 : 2; }

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
    {ATTEND_ARG_RANGES, offsetof(P, ranges.first), optional, 0},
    {ATTEND_ARG_RANGES, offsetof(P, ranges.end), optional, 0},
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
    {ATTEND_ARG_RANGES, offsetof(P, ranges.batch_stride), offsetof(P, batch), optional},
};

// The alignment of an address's numbers.
inline std::uintptr_t size_at(const attend_problem& p, const Address& address) {
  if (address.argument == ATTEND_ARG_MASK) return 1;
  if (address.argument == ATTEND_ARG_KEY_LENGTHS) return sizeof(std::ptrdiff_t);
  return address.format == 0 ? 4 : size_of(get<int>(p, address.format));
}

// What must be there is null.
inline Answers make_null(World& w, const Address& address) {
  if ((address.access & needed) == 0 || !w.finds(address.argument)) return {};
  put<void*>(w.p, address.at, nullptr);
  return {wrong(ATTEND_MISSING, address.argument)};
}

inline Answers make_unaligned(World& w, const Address& address) {
  if (!w.finds(address.argument)) return {};
  const std::uintptr_t size = size_at(w.p, address), off = std::uintptr_t(w.between(0, int(size) - 1));
  put(w.p, address.at, get<std::uintptr_t>(w.p, address.at) + off);
  return off == 0 ? Answers{} : Answers{wrong(ATTEND_UNALIGNED, address.argument)};
}

// The last number of the address space: nothing fits behind it.
inline Answers make_last(World& w, const Address& address) {
  if (!w.finds(address.argument)) return {};
  const bool bits = address.argument == ATTEND_ARG_MASK && w.p.mask.kind == ATTEND_MASK_BITS;
  put(w.p, address.at, UINTPTR_MAX - size_at(w.p, address) + 1);
  return bits ? Answers{} : Answers{wrong(ATTEND_TOO_LARGE, address.argument)};
}

// What is written moves to where something else lies: another tensor, the problem, the cache.
inline Answers make_overlap(World& w, const Address& address) {
  const Address& other = addresses[w.between(0, int(sizeof addresses / sizeof *addresses) - 1)];
  if ((address.access & written) == 0 || other.argument == address.argument || !w.finds(address.argument)) return {};
  if (!w.finds(other.argument) || !w.reads(address.argument)) return {};  // states take the place of outputs
  const int kind = w.between(0, 9);
  const std::uintptr_t places[] = {reinterpret_cast<std::uintptr_t>(&w.p),
                                   w.cached() ? reinterpret_cast<std::uintptr_t>(w.p.cache) + 64 : 0,
                                   get<std::uintptr_t>(w.p, other.at)};
  put(w.p, address.at, places[kind == 0 ? 0 : kind == 1 && w.cached() ? 1 : 2]);
  Answers answers = {wrong(ATTEND_OVERLAP, address.argument)};
  if ((other.access & written) != 0) answers.push_back(wrong(ATTEND_OVERLAP, other.argument));
  return answers;
}

// Into the workspace; but not what says where to look further.
inline Answers make_work(World& w, const Address& address) {
  const std::size_t bytes = w.needed();
  if (bytes == 0 || !w.finds(address.argument) || w.needed() != bytes) return {};
  if (address.argument == ATTEND_ARG_PAGES || address.argument == ATTEND_ARG_KEY_LENGTHS) return {};
  if (address.argument == ATTEND_ARG_RANGES) return {};
  put(w.p, address.at,
      reinterpret_cast<std::uintptr_t>(w.workspace.data) + std::uintptr_t(w.between(0, int(bytes) / 8 - 1)) * 8);
  Answers answers = {wrong(ATTEND_OVERLAP, ATTEND_ARG_WORKSPACE)};
  if ((address.access & written) != 0) answers.push_back(wrong(ATTEND_OVERLAP, address.argument));
  return answers;
}

inline bool is_in_bits(const World& w, const Stride& stride) {
  return stride.argument == ATTEND_ARG_MASK && w.p.mask.kind == ATTEND_MASK_BITS;
}
inline bool has_steps(World& w, const Stride& stride) {
  return w.finds(stride.argument) && get<std::ptrdiff_t>(w.p, stride.count) >= 2;
}

inline Answers make_huge(World& w, const Stride& stride) {
  if (!has_steps(w, stride)) return {};
  const bool bits = is_in_bits(w, stride), up = w.between(0, 1) == 0;
  put(w.p, stride.at, up ? PTRDIFF_MAX : PTRDIFF_MIN + 1);
  if (bits && up && get<std::ptrdiff_t>(w.p, stride.count) == 2) return {};
  return {wrong(ATTEND_TOO_LARGE, stride.argument), wrong(ATTEND_AMBIGUOUS, stride.argument),
          bits ? wrong(ATTEND_OUT_OF_RANGE, stride.argument) : -1};
}

inline Answers make_shared(World& w, const Stride& stride) {
  if ((stride.access & written) == 0 || !has_steps(w, stride)) return {};
  put(w.p, stride.at, std::ptrdiff_t(0));
  return {wrong(ATTEND_SHARED_ELEMENTS, stride.argument)};
}

inline Answers make_negative(World& w, const Stride& stride) {
  if (!has_steps(w, stride) || !is_in_bits(w, stride)) return {};
  put(w.p, stride.at, std::ptrdiff_t(-w.between(1, 9)));
  return {wrong(ATTEND_OUT_OF_RANGE, stride.argument)};
}

// A stride of what is not there.
inline Answers make_idle(World& w, const Stride& stride) {
  if ((stride.access & optional) == 0 || !w.can_remove(stride.argument)) return {};
  w.remove(stride.argument);
  put(w.p, stride.at, std::ptrdiff_t(w.between(0, 9)));
  return {wrong(ATTEND_NO_EFFECT, stride.argument)};
}

inline constexpr Answers (*address_faults[])(World&, const Address&) = {make_null, make_unaligned, make_last, make_overlap,
                                                                        make_work};
inline constexpr Answers (*stride_faults[])(World&, const Stride&) = {make_huge, make_shared, make_negative, make_idle};

}  // namespace attend_test
