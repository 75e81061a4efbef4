// The state of linear attention: one matrix for each value head, of the same size after any number of tokens.
#pragma once

#include "linear_quantisation.h"

namespace attend {

// Work memory of attention(), which leaves the state as it is: a copy of one head.
template <class Shape>
struct LinearWorkspace {
  using Dims = detail::LinearChecked<Shape>;
  alignas(config::alignment)
      typename detail::LinearTypes<Shape>::Number data[core::linear_head_floats(Dims::head_dim, Dims::value_dim)];
};

namespace detail {

struct LinearAccess {
  template <class State>
  static auto& data(State& state) {
    return state.data_;
  }
  template <class State>
  static uint64_t& tokens(State& state) {
    return state.tokens_;
  }
  template <class State>
  static core::LinearHead head(const State&) {
    return State::saved_head;
  }
};

// Whether these are the arrays of a call of a shape and so many tokens; what is not, the compiler reports.
template <class Shape, int tokens, class KeyArray, class ValueArray, class GateArray>
constexpr bool are_linear_arrays() {
  constexpr bool is_key = Same<KeyArray, Key<Shape, tokens>>::value;
  constexpr bool is_value = is_key && Same<ValueArray, Value<Shape, tokens>>::value;
  constexpr bool are_gates = is_value && Same<GateArray, Gates<Shape, tokens>>::value;
  static_assert(is_key, "attend: linear attention takes an attend::Key of the state's shape, with as many tokens as the query");
  static_assert(is_value || !is_key, "attend: linear attention takes an attend::Value, like its key, behind it");
  static_assert(are_gates || !is_value, "attend: linear attention takes an attend::Gates, like its key, behind the value");
  return are_gates;
}

inline void clear_rest(core::LinearAttention& call) { call.scale = 0.0f, call.is_plain = false; }
inline void clear_rest(core::IntegerLinearAttention&) {}  // scales are set behind

// A call over keys, values and gates.
template <class Shape, int tokens>
void set_linear(typename LinearTypes<Shape>::Call& call, const Key<Shape, tokens>& key, const Value<Shape, tokens>& value,
                const Gates<Shape, tokens>& gates) {
  using Dims = LinearChecked<Shape>;
  call.boundaries = nullptr, call.documents = call.first = 0;  // one by one: `call = {}` would call memset
  call.query = {}, call.output = {};
  call.state = call.work = nullptr, call.from = nullptr;
  clear_rest(call);
  call.key = {key.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim};
  call.value = {value.data[0][0], ptrdiff_t(Dims::value_heads) * Dims::value_dim, Dims::value_dim};
  call.gates = gates.gates(), call.beta = gates.betas();
  call.query_heads = Dims::query_heads, call.kv_heads = Dims::kv_heads, call.value_heads = Dims::value_heads;
  call.head_dim = Dims::head_dim, call.value_dim = Dims::value_dim;
  call.tokens = tokens;
}

// What states of linear attention and of convolutions have in common: their numbers, and the head with which these are saved.
template <uint32_t rule, uint32_t decay, int heads, int rows, int columns>
class StateNumbers {
 protected:
  static constexpr bool has_bytes = rule == core::integer_rule + core::conv_rule;
  using Wide = typename Choice<(rule >= core::integer_rule), int32_t, float>::Type;
  using Number = typename Choice<has_bytes, int8_t, Wide>::Type;
  static constexpr core::LinearHead saved_head = {0, 0, 0, rule, decay, heads, rows, columns, {0, 0}};

 public:
  // The bytes that save writes.
  static constexpr size_t saved_bytes = sizeof saved_head + 4 * core::saved_numbers(saved_head);

  constexpr StateNumbers() : data_{}, tokens_(0) {}

  // Forgets all tokens, and whatever infinities and NaN they brought.
  constexpr void clear() {
    for (Number& number : data_) number = 0;
    tokens_ = 0;
  }

  // Tokens that it has taken, documents before the last one too.
  constexpr uint64_t tokens() const { return tokens_; }

 protected:
  friend LinearAccess;
  alignas(config::alignment) Number data_[core::saved_numbers(saved_head) * (has_bytes ? 4 : 1)];
  uint64_t tokens_;
};
template <class Shape>
using LinearNumbers = StateNumbers<uint32_t(LinearChecked<Shape>::rule) + (is_integer<Shape> ? core::integer_rule : 0),
                                   uint32_t(LinearChecked<Shape>::decay), LinearChecked<Shape>::value_heads,
                                   LinearChecked<Shape>::head_dim, LinearChecked<Shape>::value_dim>;
}  // namespace detail

// S[value head][key dimension][value column], and how many tokens it has taken: sizeof is all the memory. It begins empty. It
// may be copied: a copy is a snapshot, for example behind a prefix that several sequences share.
template <class Shape>
class LinearState : public detail::LinearNumbers<Shape> {
  using Dims = detail::LinearChecked<Shape>;

 public:
  // Takes the first `count` tokens and reads nothing: drafts that were accepted. Then it holds what prefill would have left.
  // Returns bad_count and changes nothing when that is negative, or more than the arrays have. In integers it takes the scales
  // of its calls behind the gates.
  template <class KeyArray, class ValueArray, class GateArray>
  Status append(const KeyArray& key, const ValueArray& value, const GateArray& gates,
                int count = detail::Traits<KeyArray>::tokens) {
    static_assert(!detail::is_integer<Shape>,
                  "attend: append in integers takes an attend::LinearQuantisation behind the gates");
    return append_with(key, value, gates, nullptr, count);
  }
  template <class KeyArray, class ValueArray, class GateArray, int heads>
  Status append(const KeyArray& key, const ValueArray& value, const GateArray& gates,
                const LinearQuantisation<Shape, heads>& quantisation, int count = detail::Traits<KeyArray>::tokens) {
    return append_with(key, value, gates, quantisation, count);
  }

  // Number d of a column of a head's matrix; in integers before it is scaled.
  constexpr typename detail::LinearTypes<Shape>::Number at(int head, int d, int column) const {
    return this->data_[core::linear_state_index(Dims::head_dim, Dims::value_dim, head, d, column)];
  }

 private:
  template <class KeyArray, class ValueArray, class GateArray, class Scales>
  Status append_with(const KeyArray& key, const ValueArray& value, const GateArray& gates, const Scales& scales, int count) {
    constexpr int most = detail::Traits<KeyArray>::tokens;
    if constexpr (detail::are_linear_arrays<Shape, most, KeyArray, ValueArray, GateArray>()) {
      if (count < 0 || count > most) return Status::bad_count;
      typename detail::LinearTypes<Shape>::Call call;
      detail::set_linear(call, key, value, gates);
      const Status status = detail::set_scales(call, scales);
      if (status != Status::ok) return status;
      call.state = this->data_, call.tokens = count;
      core::run_linear_attention<Dims::rule, Dims::decay>(call, 0, 1);
      this->tokens_ += uint64_t(count);
    }
    return Status::ok;
  }
};

// Whether no number of a state is infinite or NaN, or in integers too large for its exponents. What keys, values and gates
// brought of these stays until it is cleared.
template <class Shape>
bool is_finite(const LinearState<Shape>& state) {
  return core::are_finite(detail::LinearAccess::head(state), detail::LinearAccess::data(state));
}

// Writes a LinearState or a ConvState as bytes that are the same on every target: uint8_t[saved_bytes].
template <uint32_t rule, uint32_t decay, int heads, int rows, int columns, size_t room>
void save(const detail::StateNumbers<rule, decay, heads, rows, columns>& state, uint8_t (&bytes)[room]) {
  static_assert(room >= detail::StateNumbers<rule, decay, heads, rows, columns>::saved_bytes,
                "attend: save takes an array of at least saved_bytes of the state second");
  core::LinearHead head = detail::LinearAccess::head(state);
  head.tokens[0] = uint32_t(state.tokens() & 0xffffffffu), head.tokens[1] = uint32_t(state.tokens() >> 32);
  core::save(head, detail::LinearAccess::data(state), bytes);
}

// Makes a state what was saved: `size` bytes, or the first ones of them. Returns bad_saved, other_bits or other_shape (of other
// extents, rule or decay) and changes nothing where it cannot.
template <uint32_t rule, uint32_t decay, int heads, int rows, int columns>
Status load(detail::StateNumbers<rule, decay, heads, rows, columns>& state, const uint8_t* bytes, size_t size) {
  core::LinearHead head = detail::LinearAccess::head(state);
  const core::LinearLoaded loaded = core::load(head, bytes, size, detail::LinearAccess::data(state));
  if (loaded == core::LinearLoaded::damaged) return Status::bad_saved;
  if (loaded == core::LinearLoaded::other_bits) return Status::other_bits;
  if (loaded == core::LinearLoaded::other_shape) return Status::other_shape;
  detail::LinearAccess::tokens(state) = uint64_t(head.tokens[1]) << 32 | head.tokens[0];
  return Status::ok;
}

}  // namespace attend
