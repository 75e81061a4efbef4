// Projections on processors that are short of memory: weights are read where they lie.
//
//   for each tile of tokens:
//     for some outputs, as many as Isa::chains takes:
//       for each chain of 16 inputs:  output += chain
//     scale and bias
//
// Weights of other formats are widened in registers for a single token. For several tokens, and where they lie in rows and the
// instruction set wants columns side by side, the weights of a chain are widened to memory first.

// The properties of a projection that are known when it is compiled, so that the code of all others is left out.
struct AnyLinear {
  static constexpr bool known_layout = false, panels = false, one_token = false;
};
template <bool in_panels, bool one>
struct KnownLinear {
  static constexpr bool known_layout = true, panels = in_panels, one_token = one;
};

template <class Isa, class Number, class Known = AnyLinear>
class EmbeddedLinear {
 public:
  explicit EmbeddedLinear(const core::Linear& linear) : linear_(linear), weights_(static_cast<const Number*>(linear.weights)) {}

  ATTEND_ALWAYS_INLINE void run() const {
    if (one_token()) {
      if constexpr (row_outputs > 0 && !widens<Number>) {
        if (panels()) return run_token<panel_keys>();
      }
      if constexpr (row_outputs > 0 && !in_groups<Number>) {
        if (!panels() && Isa::takes_rows(weights_, linear_.weight_stride)) return run_token<row_outputs>();
      }
    }
    if constexpr (in_groups<Number>) {
      if (one_token()) return run_groups();
    }
    if constexpr (widens<Number>) {
      if (!one_token() && linear_.work != nullptr) return widen_chains<panel_keys>(linear_.work);
      if (in_groups<Number> || (!panels() && !Isa::widens_apart)) {
        float widened[widened_columns * chain_dims];
        return widen_chains<widened_columns>(widened);
      }
    }
    if constexpr (!in_groups<Number>) {
      for (int token = 0; token < (Known::one_token ? 1 : linear_.tokens);) token += whole_tile(token);
    }
  }

 private:
  bool panels() const { return Known::known_layout ? Known::panels : linear_.panels; }
  bool one_token() const { return Known::one_token || linear_.tokens == 1; }
  // Whether the weights of an input lie side by side, where they are added: groups of panels are widened output by output.
  bool side_by_side() const { return panels() && !in_groups<Number>; }

  static constexpr int row_outputs = Isa::template row_outputs<Number>;

  // Rows of weights whose chain is widened at a time where there is no work memory.
  static constexpr int widened_columns = 4;

  // One token, by the loops that an instruction set has for it: the whole chains of some outputs, then what is left.
  template <int outputs_at_once>
  ATTEND_NOINLINE void run_token() const {
    const int whole = linear_.inputs / chain_dims, rest = linear_.inputs % chain_dims;
    float* to = linear_.output;
    ChainsOf<Number> chains;
    begin_tile(chains, &to, 0, linear_.weight_stride);
    for (int output = 0; output < linear_.outputs; output += outputs_at_once) {
      // The last outputs of rows are computed with some before them once more, which is faster than one by one.
      if (!panels() && whole > 0 && linear_.outputs - output < outputs_at_once)
        output = at_least(linear_.outputs - outputs_at_once, 0);
      const bool all = whole > 0 && linear_.outputs - output >= outputs_at_once;
      if (all) {
        const OutputChains<Number> outputs = {linear_.input, first_weight(output), linear_.weight_stride, whole,
                                              linear_.output + output};
        if constexpr (outputs_at_once == panel_keys) {
          Isa::panel_outputs(outputs);
        } else {
          Isa::outputs_of_rows(outputs);
        }
      }
      const int end = at_most(output + outputs_at_once, linear_.outputs);
      if (!all || rest > 0) add_columns(chains, output, end, all ? whole * chain_dims : 0);
    }
    end_outputs<Isa>(linear_.output, linear_.outputs, linear_.scales, linear_.bias);
  }

  // One token, by the loop that an instruction set has for groups of 4 bits.
  ATTEND_NOINLINE void run_groups() const {
    const int at_once = panels() ? panel_keys : linear_.outputs;
    for (int output = 0; output < linear_.outputs; output += at_once) {
      Isa::outputs_of_groups({linear_.input, panels() ? panel_of(output) : nullptr, weights_,
                              linear_.weight_stride / core::int4_group, linear_.inputs / core::int4_group,
                              at_most(linear_.outputs - output, at_once), linear_.output + output});
    }
    end_outputs<Isa>(linear_.output, linear_.outputs, linear_.scales, linear_.bias);
  }
  const core::Int4Panel* panel_of(int output) const {
    return static_cast<const core::Int4Panel*>(linear_.weights) +
           output / panel_keys * ptrdiff_t(linear_.inputs / core::int4_group);
  }

  // Inputs from `input` on of the outputs begin ... end - 1.
  ATTEND_NOINLINE void add_columns(ChainsOf<Number>& chains, int begin, int end, int input) const {
    for (; input < linear_.inputs; input += chain_dims) {
      chains.adds = input > 0;
      chains.steps = at_most(linear_.inputs - input, chain_dims);
      chains.column = begin;
      chains.columns = end - begin;
      chains.a = linear_.input + input;
      chains.b = first_weight(begin) + input * chains.b_step;
      Isa::single_chains(chains);
    }
  }

  // The tile of tokens from `token` on; returns how many these are.
  ATTEND_NOINLINE int whole_tile(int token) const {
    ChainsOf<Number> chains;
    float* to[Isa::tile_rows];
    begin_tile(chains, to, token, linear_.weight_stride);
    chains.a = linear_.input + token * linear_.input_stride;
    const int wide = chain_columns<Isa>(chains, !panels());
    for (chains.column = 0; chains.column < linear_.outputs; chains.column += wide) {
      chains.columns = at_most(linear_.outputs - chains.column, wide);
      chains.b = first_weight(chains.column);
      const float* const input = chains.a;
      for (int left = linear_.inputs; left > 0; left -= chain_dims) {
        chains.adds = left != linear_.inputs;
        chains.steps = at_most(left, chain_dims);
        Isa::chains(chains);
        chains.a += chain_dims;
        chains.b += chain_dims * chains.b_step;
      }
      chains.a = input;
    }
    for (int r = 0; r < chains.rows; ++r) end_outputs<Isa>(to[r], linear_.outputs, linear_.scales, linear_.bias);
    return chains.rows;
  }

  template <class Numbers>
  ATTEND_ALWAYS_INLINE void begin_tile(ChainsOf<Numbers>& chains, float** to, int token, ptrdiff_t stride) const {
    chains.rows = Known::one_token || linear_.tokens - token < Isa::tile_rows ? 1 : Isa::tile_rows;
    chains.a_stride = linear_.input_stride;
    chains.a_scale = 1.0f;
    chains.b_step = side_by_side() ? panel_keys : 1;
    chains.b_stride = side_by_side() ? 1 : stride;
    chains.to = to;
    for (int r = 0; r < chains.rows; ++r) to[r] = linear_.output + (token + r) * linear_.output_stride;
  }

  // The weight of an output and input 0.
  const Number* first_weight(int output) const {
    if (!panels()) return weights_ + output * linear_.weight_stride;
    const int lane = output % panel_keys;
    return weights_ + (output - lane) * ptrdiff_t(linear_.inputs) + lane;
  }

  // For some outputs at a time, each chain is widened to memory, and all tokens add it to their sums.
  template <int column_limit>
  ATTEND_NOINLINE void widen_chains(float* wide) const {
    for (int output = 0; output < linear_.outputs; output += column_limit) {
      const int columns = at_most(linear_.outputs - output, column_limit);
      for (int input = 0; input < linear_.inputs; input += chain_dims) {
        const int steps = at_most(linear_.inputs - input, chain_dims);
        if constexpr (in_groups<Number>) {
          for (int c = 0; c < columns; ++c) widen_chain_of(output + c, input, wide + c * chain_dims);
        } else {
          const Number* const from = first_weight(output) + input * ptrdiff_t(panels() ? panel_keys : 1);
          if (panels()) {
            Isa::widen(from, steps * panel_keys, wide);
          } else {
            for (int c = 0; c < columns; ++c) Isa::widen(from + c * linear_.weight_stride, steps, wide + c * chain_dims);
          }
        }
        add_widened(wide, output, columns, input, steps);
      }
    }
    for (int t = 0; t < linear_.tokens; ++t) {
      end_outputs<Isa>(linear_.output + t * linear_.output_stride, linear_.outputs, linear_.scales, linear_.bias);
    }
  }

  // The chain of an output that begins with an input, of weights that lie in groups.
  void widen_chain_of(int output, int input, float* wide) const {
    const int group = input / core::int4_group, chain = input / chain_dims % 2;
    const Int4Numbers numbers = panels() ? numbers_of(panel_of(output)[group], output % panel_keys)
                                         : numbers_of(weights_[output * (linear_.weight_stride / core::int4_group) + group]);
    Isa::widen_chain(numbers, chain, wide, 1);
  }

  ATTEND_NOINLINE void add_widened(const float* wide, int output, int columns, int input, int steps) const {
    ChainsOf<float> chains;
    float* to[Isa::tile_rows];
    chains.adds = input > 0;
    chains.steps = steps;
    for (int token = 0; token < linear_.tokens; token += chains.rows) {
      begin_tile(chains, to, token, chain_dims);
      chains.a = linear_.input + token * linear_.input_stride + input;
      chains.b = wide;
      const int column_limit = chain_columns<Isa>(chains, !side_by_side());
      for (int c = 0; c < columns; c += column_limit) {
        chains.column = output + c;
        chains.columns = at_most(columns - c, column_limit);
        Isa::chains(chains);
        chains.b += column_limit * chains.b_stride;
      }
    }
  }

  const core::Linear& linear_;
  const Number* const weights_;
};
