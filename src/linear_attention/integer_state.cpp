// Linear attention in integers, panel by panel of columns: see src/guide/integers.md.
#include "../../include/attend/linear_attention/core_linear_integer.h"
#include "list.h"

#define ATTEND_ISA linear_integers
#include "../backend/begin.h"

#include "../isa/integer_columns.h"

#include "../backend/body.h"

namespace attend::linear_integers {
namespace {

#include "panels.h"

using Call = core::IntegerLinearAttention;
using Vec = Columns::Vec;
constexpr int lanes = Columns::lanes;

// Numbers of a state are S * 2^exponent. Every linear_run tokens they are shifted so that they lie below 2^29 and the exponent
// is as large as it may be. A token adds at most 2^7 * 2^19 to each, so that they stay below 2^30.
// A state that diverges, which only delta rules do whose keys are longer than 1, stays within 32 bits all the same.
constexpr int32_t scaled_bits = 29;
constexpr int32_t most_update = (1 << 19) - 1, most_retrieved = 1 << 20;
// Sums take so many bits of a number of the state, and its sign.
constexpr int32_t read_bits = 15;
static_assert(core::linear_run * (int64_t(128) * most_update) + (int64_t(1) << scaled_bits) < int64_t(1) << 30, "below 2^30");
static_assert((int64_t(core::most_linear_dims) << (7 + read_bits)) <= int64_t(1) << 30, "at most 2^30 in size");

// A sum of scaled numbers: sum * factor / 2^31, shifted right by `right`, rounded to the nearest; or left, after it is clamped
// so that it is about `most` then, a power of two.
struct Scaling {
  int32_t factor, right, left, limit;
};
Scaling scaling_of(int32_t factor, int32_t shift, int32_t most) {
  const int32_t left = smaller_of_numbers(larger_of(-shift, 0), 30);
  return {factor, clamped(shift, 0, 31), left, larger_of(most >> left, 1)};
}
Vec scaled(Vec sum, const Scaling& by) {
  const Vec number = Columns::high_product(Columns::smaller(sum, (1 << 30) - 1) * 2, by.factor);
  const Vec rounded = Columns::shifted(number + int32_t((1u << by.right) >> 1), by.right);
  return Columns::clamped(rounded, -by.limit, by.limit) * (1 << by.left);
}

// Numbers without sign, less one where they are negative. The first bit of their `or` is that of the largest.
ATTEND_ALWAYS_INLINE Vec size_of(Vec a) { return a ^ (a >> 31); }
int32_t bits_of(int32_t number) { return 32 - leading_zeros(uint32_t(number) | 1); }

// What a panel of a value head takes of a token.
struct Token {
  const int8_t *key, *query;
  const uint16_t* gates;
  int32_t shift;  // of numbers of the state before they are multiplied
  int dims, width;
};

// More than 1 counts as 1: nothing grows by its gate.
template <Decay decay>
ATTEND_ALWAYS_INLINE Columns::Gate gate_of_key(const Token& token, int d) {
  return Columns::gate(uint32_t(smaller_of_numbers(token.gates[decay == Decay::per_key ? d : 0], 1 << 15)));
}

// Some columns, over all key dimensions: numbers decay, the token's key times `values` is added, and they are read by its
// query. (The token is a copy, because stores might go to what a reference names.)
template <int vecs, Decay decay, bool decays, bool adds, bool reads>
void pass(int32_t* row, int count, const Token token, const int32_t* values, int32_t* sums) {
  if (vecs > 1) count = lanes;
  Vec sum[vecs], value[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    sum[v] = Columns::zero();
    if constexpr (adds) value[v] = Columns::load(values + v * lanes, lanes);
  }
  Columns::Gate gate{};
  if constexpr (decays && decay == Decay::per_head) gate = gate_of_key<decay>(token, 0);
  for (int d = 0; d < token.dims; ++d, row += token.width) {
    const int32_t key = adds ? token.key[d] : 0, query = reads ? token.query[d] : 0;
    if constexpr (decays && decay == Decay::per_key) gate = gate_of_key<decay>(token, d);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      Vec number = Columns::load(row + v * lanes, count);
      if constexpr (decays) number = Columns::decayed(number, gate);
      if constexpr (adds) number = Columns::add_product(number, value[v], key);
      if constexpr (decays || adds) Columns::store(row + v * lanes, number, count);
      if constexpr (reads) sum[v] = Columns::add_product(sum[v], Columns::shifted(number, token.shift), query);
    }
  }
  ATTEND_UNROLL
  for (int v = 0; v < vecs && reads; ++v) Columns::store(sums + v * lanes, sum[v], lanes);
}

// All columns of a panel.
template <Decay decay, bool decays, bool adds, bool reads>
void pass_all(int32_t* state, const Token& token, const int32_t* values, int32_t* sums) {
  constexpr int vecs = Columns::most<decays, adds>(), step = vecs * lanes;
  int c = 0;
  for (; vecs > 1 && token.width - c >= step; c += step)
    pass<vecs, decay, decays, adds, reads>(state + c, lanes, token, values + c, sums + c);
  for (; c < token.width; c += lanes)
    pass<1, decay, decays, adds, reads>(state + c, at_most(token.width - c, lanes), token, values + c, sums + c);
}

// The panel of a value head, and what its numbers are scaled by, as it lies behind all numbers of a state.
template <LinearRule rule, Decay decay>
struct Panel : HeadPanel<Call, int32_t> {
  static constexpr int kept = 3;
  int32_t exponent = 0, bound = 0, tokens = 0;

  explicit Panel(const Call& call) : HeadPanel(call) {}
  void get(const int32_t* from) { exponent = from[0], bound = from[1], tokens = from[2]; }
  void keep(int32_t* to) const { to[0] = exponent, to[1] = bound, to[2] = tokens; }
  void clear() {
    const int32_t zero = opaque(0);  // or memset would be called
    for (int i = 0; i < count(); ++i) state[i] = zero;
    exponent = bound = tokens = 0;
  }

  // Where a run of tokens begins. Negative numbers are moved towards zero by one, so that what has decayed becomes 0.
  void scale() {
    Vec sizes = Columns::zero();
    for_each_vector<Columns>(count(), [&](int i, int n) ATTEND_INLINE_LAMBDA {
      Vec number = Columns::load(state + i, n);
      number -= number >> 31;
      sizes |= size_of(number);
      Columns::store(state + i, number, n);
    });
    const int32_t bits = Columns::all_bits(sizes),
                  left = smaller_of_numbers(scaled_bits - bits_of(bits), core::most_linear_exponent - exponent);
    const int32_t up = larger_of(left, 0), down = larger_of(-left, 0);
    for_each_vector<Columns>(count(), [&](int i, int n) ATTEND_INLINE_LAMBDA {
      Columns::store(state + i, Columns::shifted(Columns::load(state + i, n) * (1 << up), down), n);
    });
    exponent = larger_of(exponent + left, core::least_linear_exponent);
    bound = int32_t(uint32_t(bits + 1) << up) >> down;
  }
  int32_t shift() const { return larger_of(bits_of(bound) - read_bits, 0); }

  void take(int t) {
    constexpr bool gated = core::has_gate(rule), is_delta = core::has_beta(rule);
    if (tokens == 0) scale();
    tokens = (tokens + 1) & (core::linear_run - 1);
    Token token{nullptr, nullptr, nullptr, 0, c.head_dim, width};
    token.key = token.query = at(c.key, t, key_head);
    if constexpr (gated) token.gates = at(c.gates, t, head);
    alignas(4 * lanes) int32_t values[panel_keys], sums[panel_keys];
    const core::LinearScale& scale = c.scales[head * c.scale_stride];
    Scaling by{};
    int32_t beta = 0;
    if constexpr (is_delta) {
      token.shift = shift();
      pass_all<decay, gated, false, true>(state, token, values, sums);
      by = scaling_of(scale.retrieved, scale.retrieved_shift - token.shift, most_retrieved);
      beta = *at(c.beta, t, head) << 9;
    }
    const int8_t* const value = at(c.value, t, head) + column;
    const int32_t up = larger_of(exponent, 0), down = larger_of(-exponent, 0);
    Vec sizes = Columns::zero(), key_sizes = sizes;
    for_each_vector<Columns>(width, [&](int i, int n) ATTEND_INLINE_LAMBDA {
      Vec u = Columns::shifted(Columns::load(value + i, n) * (1 << up) + int32_t((1u << down) >> 1), down);
      if constexpr (is_delta) {
        u = Columns::high_product((u - scaled(Columns::load(sums + i, lanes), by)) * 256, beta);
        u = Columns::clamped(u, -most_update, most_update);
      }
      sizes |= size_of(u);
      Columns::store(values + i, u, lanes);
    });
    for_each_vector<Columns>(token.dims,
                             [&](int d, int n) ATTEND_INLINE_LAMBDA { key_sizes |= size_of(Columns::load(token.key + d, n)); });
    bound += (Columns::all_bits(key_sizes) + 1) * (Columns::all_bits(sizes) + 1);

    token.shift = shift();
    constexpr bool decays = gated && !is_delta;
    const bool reads = c.query.data != nullptr;
    if constexpr (!code_is_small) {
      if (!reads) return pass_all<decay, decays, true, false>(state, token, values, sums);
    }
    for (int q = 0; q < queries; ++q) {
      if (reads) token.query = at(c.query, t, first_query + q);
      if (q == 0) {
        pass_all<decay, decays, true, true>(state, token, values, sums);
      } else if constexpr (Columns::is_small) {  // one loop less: nothing is added
        pass_all<decay, false, true, true>(state, token, values, sums);
      } else {
        pass_all<decay, false, false, true>(state, token, values, sums);
      }
      if (!reads) return;
      const Scaling of = scaling_of(scale.output, scale.output_shift + exponent - token.shift, 256);
      int8_t* const output = at(c.output, t, queries > 1 ? first_query + q : head) + column;
      for_each_vector<Columns>(width, [&](int i, int n) ATTEND_INLINE_LAMBDA {
        Columns::store(output + i, Columns::clamped(scaled(Columns::load(sums + i, lanes), of), -128, 127), n);
        if constexpr (Columns::is_small) values[i] = 0;
      });
    }
  }
};

}  // namespace
}  // namespace attend::linear_integers

namespace attend::core {

template <LinearRule rule, Decay decay>
void run_linear_attention(const IntegerLinearAttention& call, int part, int parts) {
  linear_integers::run_panels<linear_integers::Panel<rule, decay>>(call, part, parts);
}
#define ATTEND_RUN(name, rule, decay) \
  template void run_linear_attention<LinearRule::rule, Decay::decay>(const IntegerLinearAttention&, int, int);
ATTEND_EACH_LINEAR_RULE(ATTEND_RUN)
#undef ATTEND_RUN

}  // namespace attend::core

#include "../backend/end.h"
