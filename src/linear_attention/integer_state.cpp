// Linear attention in integers, panel by panel of columns: see src/guide/integers.md.
#include "../../include/attend/linear_attention/core_linear_integer.h"
#include "../call/portable.h"
#include "list.h"

namespace attend {
namespace core {
namespace {

using portable::high_product;  // by name: others of these names may stand nearer
using portable::larger_of;

// Numbers of a state are S * 2^exponent. Every linear_run tokens they are shifted so that they lie below 2^29 and the exponent
// is as large as it may be. A token adds at most 2^7 * 2^19 to each, so that they stay below 2^30.
// A state that diverges, which only delta rules do whose keys are longer than 1, stays within 32 bits all the same.
constexpr int32_t scaled_bits = 29;
constexpr int32_t most_update = (1 << 19) - 1, most_retrieved = 1 << 20;
// Sums take so many bits of a number of the state, and its sign.
constexpr int32_t read_bits = 15;
static_assert(linear_run * (int64_t(128) * most_update) + (int64_t(1) << scaled_bits) < int64_t(1) << 30, "below 2^30");
static_assert((int64_t(most_linear_dims) << (7 + read_bits)) <= int64_t(1) << 30, "at most 2^30 in size");

// x * a / 2^15 rounded down, where x is negative of -x - 1, whose sign comes back: so -1 stays -1. |x| < 2^30, a at most 2^15.
ATTEND_ALWAYS_INLINE int32_t decayed(int32_t x, uint32_t a) {
  const int32_t sign = x >> 31;
  const uint32_t size = uint32_t(x ^ sign);
#if defined(__arm__) && !defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  const uint32_t kept = (size >> 16) * (2 * a) + ((size & 0xffffu) * a >> 15);
#else
  const uint32_t kept = uint32_t(uint64_t(size << 1) * (a << 16) >> 32);
#endif
  return int32_t(kept) ^ sign;
}

// A sum of scaled numbers: sum * factor / 2^31, shifted right by `right`, rounded to the nearest; or left, after it is clamped
// so that it is about `most` then, a power of two.
struct Scaling {
  int32_t factor, right, left, limit;
};
Scaling scaling_of(int32_t factor, int32_t shift, int32_t most) {
  const int32_t left = smaller_of_numbers(larger_of(-shift, 0), 30);
  return {factor, clamped(shift, 0, 31), left, larger_of(most >> left, 1)};
}
int32_t scaled(int32_t sum, const Scaling& by) {
  const int32_t number = high_product(smaller_of_numbers(sum, (1 << 30) - 1) * 2, by.factor);
  const int32_t rounded = (number + int32_t((1u << by.right) >> 1)) >> by.right;
  return int32_t(uint32_t(clamped(rounded, -by.limit, by.limit)) << by.left);
}

// What a token brings, of one value head.
struct IntegerToken {
  const int8_t *key, *query;
  const uint16_t* gates;
  int32_t shift;  // of numbers of the state before they are multiplied
};

// More than 1 counts as 1: nothing grows by its gate.
template <Decay decay>
ATTEND_ALWAYS_INLINE uint32_t gate_of_key(const IntegerToken& token, int d) {
  return uint32_t(smaller_of_numbers(token.gates[decay == Decay::per_key ? d : 0], 1 << 15));
}

// Some columns of a panel, over all key dimensions: they decay and are read … (The token is a copy, because stores might go to
// what a reference names.)
template <int columns, Decay decay, bool decays>
void read_integers(int32_t* row, int width, int dims, const IntegerToken token, int32_t* sums) {
  int32_t sum[columns] = {};
  for (int d = 0; d < dims; ++d, row += width) {
    const int32_t factor = token.key[d];
    const uint32_t gate = decays ? gate_of_key<decay>(token, d) : 0;
    ATTEND_UNROLL
    for (int c = 0; c < columns; ++c) {
      if constexpr (decays) row[c] = decayed(row[c], gate);
      sum[c] += factor * (row[c] >> token.shift);
    }
  }
  ATTEND_UNROLL
  for (int c = 0; c < columns; ++c) sums[c] = sum[c];
}
// … or take a token, and are read behind it.
template <int columns, Decay decay, bool decays>
void update_integers(int32_t* row, int width, int dims, const IntegerToken token, const int32_t* values, int32_t* sums) {
  int32_t sum[columns] = {}, value[columns];
  ATTEND_UNROLL
  for (int c = 0; c < columns; ++c) value[c] = values[c];
  for (int d = 0; d < dims; ++d, row += width) {
    const int32_t key = token.key[d], query = token.query[d];
    const uint32_t gate = decays ? gate_of_key<decay>(token, d) : 0;
    ATTEND_UNROLL
    for (int c = 0; c < columns; ++c) {
      int32_t number = row[c];
      if constexpr (decays) number = decayed(number, gate);
      number += key * value[c];
      row[c] = number;
      sum[c] += query * (number >> token.shift);
    }
  }
  ATTEND_UNROLL
  for (int c = 0; c < columns; ++c) sums[c] = sum[c];
}

template <class Number>
int32_t bits_of_all(const Number* numbers, int count) {
  int32_t bits = 0;
  for (int i = 0; i < count; ++i) bits |= numbers[i] ^ (numbers[i] >> 31);
  return bits;  // the first bit is that of the largest
}
int32_t bits_of(uint32_t number) { return 32 - leading_zeros(number | 1); }

template <LinearRule rule, Decay decay>
class IntegerPanel {
  static constexpr bool gated = has_gate(rule), is_delta = has_beta(rule);

 public:
  IntegerPanel(const IntegerLinearAttention& call, int head, int panel)
      : c_(call),
        head_(head),
        column_(panel * panel_keys),
        width_(at_most(call.value_dim - column_, panel_keys)),
        queries_(call.query.data == nullptr ? 0 : at_least(call.query_heads / call.value_heads, 1)),
        query_head_(queries_ * head / at_least(call.value_heads / call.query_heads, 1)),
        scale_(call.scales[head * call.scale_stride]) {}

  void run() {
    const size_t head_numbers = linear_head_floats(c_.head_dim, c_.value_dim);
    const size_t place = size_t(column_) * size_t(c_.head_dim);
    const size_t end =
        size_t(c_.value_heads) * head_numbers + 3 * size_t(head_ * panel_count(c_.value_dim) + column_ / panel_keys);
    const int32_t* const from = c_.state != nullptr ? c_.state : c_.from;
    state_ = (c_.state != nullptr ? c_.state + size_t(head_) * head_numbers : c_.work) + place;
    if (from == nullptr) clear();
    if (from != nullptr) {
      ATTEND_MEMCPY(&by_, from + end, sizeof by_);
      if (c_.state == nullptr) ATTEND_MEMCPY(state_, from + size_t(head_) * head_numbers + place, sizeof(int32_t) * count());
    }
    int document = 1;
    const auto begin_documents = [&](int token) {
      for (; document < c_.documents && c_.boundaries[document] <= token; ++document) clear();
    };
    for (int token = c_.first; token < c_.tokens; ++token) {
      begin_documents(token);
      take(token);
    }
    begin_documents(c_.tokens);
    if (c_.state != nullptr) ATTEND_MEMCPY(c_.state + end, &by_, sizeof by_);
  }

 private:
  struct ScaledBy {
    int32_t exponent, bound, tokens;
  };

  size_t count() const { return size_t(c_.head_dim) * size_t(width_); }
  void clear() {
    for (size_t i = 0; i < count(); ++i) state_[i] = 0;
    by_ = {0, 0, 0};
  }
  template <class Number>
  static Number* at(const Tensor<Number>& tensor, int token, int head) {
    return tensor.data + token * tensor.token_stride + head * tensor.head_stride;
  }

  // Where a run of tokens begins. Negative numbers are moved towards zero by one, so that what has decayed becomes 0.
  void scale() {
    int32_t bits = 0;
    for (size_t i = 0; i < count(); ++i) {
      state_[i] -= state_[i] >> 31;
      bits |= state_[i] ^ (state_[i] >> 31);
    }
    const int32_t room = scaled_bits - bits_of(uint32_t(bits)),
                  left = smaller_of_numbers(room, most_linear_exponent - by_.exponent);
    const int32_t up = larger_of(left, 0), down = larger_of(-left, 0);
    for (size_t i = 0; i < count(); ++i) state_[i] = int32_t(uint32_t(state_[i]) << up) >> down;
    by_.exponent = larger_of(by_.exponent + left, least_linear_exponent);
    by_.bound = int32_t(uint32_t(bits + 1) << up) >> down;
  }

  template <bool decays>
  void read(const IntegerToken& token, int32_t* sums) {
    int c = 0;
    for (; width_ - c >= 4; c += 4) read_integers<4, decay, decays>(state_ + c, width_, c_.head_dim, token, sums + c);
    for (; c < width_; ++c) read_integers<1, decay, decays>(state_ + c, width_, c_.head_dim, token, sums + c);
  }

  ATTEND_NOINLINE void take(int t) {
    if (by_.tokens == 0) scale();
    by_.tokens = (by_.tokens + 1) % linear_run;
    const int32_t dims = c_.head_dim;
    IntegerToken token = {at(c_.key, t, head_ / (c_.value_heads / c_.kv_heads)), nullptr,
                          gated ? at(c_.gates, t, head_) : nullptr, larger_of(bits_of(uint32_t(by_.bound)) - read_bits, 0)};
    int32_t values[panel_keys], sums[panel_keys];
    const int32_t up = larger_of(by_.exponent, 0), down = larger_of(-by_.exponent, 0);
    const int8_t* const value = at(c_.value, t, head_) + column_;
    for (int c = 0; c < width_; ++c) values[c] = (value[c] * (1 << up) + int32_t((1u << down) >> 1)) >> down;
    if constexpr (is_delta) {
      read<gated>(token, sums);
      const Scaling by = scaling_of(scale_.retrieved, scale_.retrieved_shift - token.shift, most_retrieved);
      const int32_t beta = *at(c_.beta, t, head_);
      for (int c = 0; c < width_; ++c) {
        values[c] = clamped(high_product((values[c] - scaled(sums[c], by)) * 256, beta << 9), -most_update, most_update);
      }
    }
    by_.bound += (bits_of_all(token.key, dims) + 1) * (bits_of_all(values, width_) + 1);
    token.shift = larger_of(bits_of(uint32_t(by_.bound)) - read_bits, 0);
    token.query = queries_ > 0 ? at(c_.query, t, query_head_) : token.key;
    constexpr bool decays = gated && !is_delta;
    int column = 0;
    for (; width_ - column >= 4; column += 4)
      update_integers<4, decay, decays>(state_ + column, width_, dims, token, values + column, sums + column);
    for (; column < width_; ++column)
      update_integers<1, decay, decays>(state_ + column, width_, dims, token, values + column, sums + column);
    for (int q = 0; q < queries_; ++q) {
      if (q > 0) {
        token.key = at(c_.query, t, query_head_ + q);  // what numbers are multiplied by
        read<false>(token, sums);
      }
      const Scaling by = scaling_of(scale_.output, scale_.output_shift + by_.exponent - token.shift, 256);
      int8_t* const output = at(c_.output, t, queries_ > 1 ? query_head_ + q : head_) + column_;
      for (int c = 0; c < width_; ++c) output[c] = int8_t(clamped(scaled(sums[c], by), -128, 127));
    }
  }

  const IntegerLinearAttention& c_;
  const int head_, column_, width_, queries_, query_head_;
  const LinearScale& scale_;
  int32_t* state_ = nullptr;
  ScaledBy by_ = {0, 0, 0};
};

}  // namespace

template <LinearRule rule, Decay decay>
void run_linear_attention(const IntegerLinearAttention& call, int part, int parts) {
  const int panels = panel_count(call.value_dim), units = call.value_heads * panels;
  const int end = count_before(units, part + 1, parts).whole;
  for (int unit = count_before(units, part, parts).whole; unit < end; ++unit) {
    IntegerPanel<rule, decay>(call, unit / panels, unit % panels).run();
  }
}
#define ATTEND_RUN(name, rule, decay) \
  template void run_linear_attention<LinearRule::rule, Decay::decay>(const IntegerLinearAttention&, int, int);
ATTEND_EACH_LINEAR_RULE(ATTEND_RUN)
#undef ATTEND_RUN

}  // namespace core
}  // namespace attend
