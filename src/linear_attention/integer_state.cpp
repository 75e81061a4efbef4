// Linear attention in integers, panel by panel of columns: see src/guide/integers.md.
#include "../../include/attend/linear_attention/core_linear_integer.h"
#include "list.h"

#define ATTEND_ISA linear_integers
#include "../backend/begin.h"

#include "../isa/integer_columns.h"

#include "../backend/body.h"

namespace attend::linear_integers {
namespace {

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

// The panel of a value head: its numbers, and what they are scaled by, as they lie behind all numbers of a state.
struct Panel {
  int head, column;
  Token token;
  int32_t* state;
  int32_t exponent, bound, tokens;

  int count() const { return token.dims * token.width; }
  void clear() {
    for (int i = 0; i < count(); ++i) state[i] = 0;
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
};

template <class Number>
Number* at(const core::Tensor<Number>& tensor, int token, int head) {
  return tensor.data + token * tensor.token_stride + head * tensor.head_stride;
}
int quotient_of(int a, int b) { return int(unsigned(a) / unsigned(b)); }

template <LinearRule rule, Decay decay>
ATTEND_NOINLINE void take(const Call& c, int t, Panel& p) {
  constexpr bool gated = core::has_gate(rule), is_delta = core::has_beta(rule);
  if (p.tokens == 0) p.scale();
  p.tokens = (p.tokens + 1) & (core::linear_run - 1);
  Token token = p.token;
  token.key = token.query = at(c.key, t, quotient_of(p.head, quotient_of(c.value_heads, c.kv_heads)));
  if constexpr (gated) token.gates = at(c.gates, t, p.head);
  alignas(4 * lanes) int32_t values[panel_keys], sums[panel_keys];
  const core::LinearScale& scale = c.scales[p.head * c.scale_stride];
  Scaling by{};
  int32_t beta = 0;
  if constexpr (is_delta) {
    token.shift = p.shift();
    pass_all<decay, gated, false, true>(p.state, token, values, sums);
    by = scaling_of(scale.retrieved, scale.retrieved_shift - token.shift, most_retrieved);
    beta = *at(c.beta, t, p.head) << 9;
  }
  const int8_t* const value = at(c.value, t, p.head) + p.column;
  const int32_t up = larger_of(p.exponent, 0), down = larger_of(-p.exponent, 0);
  Vec sizes = Columns::zero(), key_sizes = sizes;
  for_each_vector<Columns>(token.width, [&](int i, int n) ATTEND_INLINE_LAMBDA {
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
  p.bound += (Columns::all_bits(key_sizes) + 1) * (Columns::all_bits(sizes) + 1);

  token.shift = p.shift();
  constexpr bool decays = gated && !is_delta;
  const bool reads = c.query.data != nullptr;
  if constexpr (!code_is_small) {
    if (!reads) return pass_all<decay, decays, true, false>(p.state, token, values, sums);
  }
  const int queries = reads ? at_least(quotient_of(c.query_heads, c.value_heads), 1) : 0;
  const int first = quotient_of(queries * p.head, at_least(quotient_of(c.value_heads, c.query_heads), 1));
  for (int q = 0; q < at_least(queries, 1); ++q) {
    if (reads) token.query = at(c.query, t, first + q);
    if (q == 0) {
      pass_all<decay, decays, true, true>(p.state, token, values, sums);
    } else if constexpr (Columns::is_small) {  // one loop less
      for (int32_t& number : values) number = 0;
      pass_all<decay, false, true, true>(p.state, token, values, sums);
    } else {
      pass_all<decay, false, false, true>(p.state, token, values, sums);
    }
    if (!reads) return;
    const Scaling of = scaling_of(scale.output, scale.output_shift + p.exponent - token.shift, 256);
    int8_t* const output = at(c.output, t, queries > 1 ? first + q : p.head) + p.column;
    for_each_vector<Columns>(token.width, [&](int i, int n) ATTEND_INLINE_LAMBDA {
      Columns::store(output + i, Columns::clamped(scaled(Columns::load(sums + i, lanes), of), -128, 127), n);
    });
  }
}

// A panel of a value head takes all tokens of a call.
template <LinearRule rule, Decay decay>
void run_panel(const Call& c, int head, int panel, int panels) {
  const int column = panel * panel_keys;
  Panel p{head, column, {nullptr, nullptr, nullptr, 0, c.head_dim, at_most(c.value_dim - column, panel_keys)}, nullptr, 0,
          0,    0};
  const size_t numbers = core::linear_head_floats(c.head_dim, c.value_dim), place = size_t(column) * size_t(c.head_dim);
  const size_t scaled_by = size_t(c.value_heads) * numbers + 3 * size_t(head * panels + panel);
  const int32_t* const from = c.state != nullptr ? c.state : c.from;
  p.state = (c.state != nullptr ? c.state + size_t(head) * numbers : c.work) + place;
  if (from == nullptr) {
    p.clear();
  } else {
    ATTEND_MEMCPY(&p.exponent, from + scaled_by, 3 * sizeof(int32_t));
    if (c.state == nullptr) ATTEND_MEMCPY(p.state, from + size_t(head) * numbers + place, sizeof(int32_t) * size_t(p.count()));
  }
  core::for_each_document(c, [&](bool begins, int token, int end) {
    if (begins) p.clear();
    for (; token < end; ++token) take<rule, decay>(c, token, p);
  });
  if (c.state != nullptr) ATTEND_MEMCPY(c.state + scaled_by, &p.exponent, 3 * sizeof(int32_t));
}

template <LinearRule rule, Decay decay>
void run_panels(const Call& call, int part, int parts) {
  const int panels = core::panel_count(call.value_dim), units = call.value_heads * panels;
  const int end = count_before(units, part + 1, parts).whole;
  for (int unit = count_before(units, part, parts).whole; unit < end; ++unit) {
    const int head = quotient_of(unit, panels);
    run_panel<rule, decay>(call, head, unit - head * panels, panels);
  }
}

}  // namespace
}  // namespace attend::linear_integers

namespace attend {
namespace core {

template <LinearRule rule, Decay decay>
void run_linear_attention(const IntegerLinearAttention& call, int part, int parts) {
  linear_integers::run_panels<rule, decay>(call, part, parts);
}
#define ATTEND_RUN(name, rule, decay) \
  template void run_linear_attention<LinearRule::rule, Decay::decay>(const IntegerLinearAttention&, int, int);
ATTEND_EACH_LINEAR_RULE(ATTEND_RUN)
#undef ATTEND_RUN

}  // namespace core
}  // namespace attend

#include "../backend/end.h"
