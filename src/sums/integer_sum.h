// Sums in integers, and how they become outputs. Nodes are added at the higher exponent, which rounds: their order counts.

// Sums at a common exponent, added up. Sums that somebody made up (core/saved.h) may wrap around.
ATTEND_ALWAYS_INLINE int32_t merged_sum(int32_t total, int32_t added, const Merge& merges) {
  const int32_t rounded = int32_t(uint32_t(added) + uint32_t(merges.half)) >> merges.chunk;
  return int32_t(uint32_t(total >> merges.total) + uint32_t(rounded));
}

struct SumInIntegers {
  using Number = int32_t;
  using Node = SumNode<int32_t>;
  static constexpr int columns = config::embedded ? 4 : 8;
  static constexpr size_t state_numbers(int value_dim, int nodes) { return core::integer_state_numbers(value_dim, nodes); }

  // Sums without a denominator are zero, and add exactly on both sides.
  static ATTEND_NOINLINE void join(const Node& to, const Node& added, int value_dim, bool is_behind = true) {
    const Node &first = is_behind ? to : added, &second = is_behind ? added : to;
    if (second.numbers[1] == 0) {
      if (!is_behind) copy(first, value_dim, to);
      return;
    }
    IntegerSoftmaxState total = state_of(first);
    Merge merges;
    merge<0>(total, second.numbers[0], uint32_t(second.numbers[1]), merges);
    to.set(total.exponent, int32_t(total.denominator));
    int c = 0;
    if constexpr (!config::embedded) {
      // Loops of a known length, with results that lie elsewhere: compilers make them vectors.
      constexpr int at_once = 16;
      for (; c + at_once <= value_dim; c += at_once) {
        int32_t sums[at_once];
        for (int i = 0; i < at_once; ++i) sums[i] = merged_sum(first.sums[c + i], second.sums[c + i], merges);
        for (int i = 0; i < at_once; ++i) to.sums[c + i] = sums[i];
      }
    }
    for (; c < value_dim; ++c) to.sums[c] = merged_sum(first.sums[c], second.sums[c], merges);
  }

  static IntegerSoftmaxState state_of(const Node& node) { return {node.numbers[0], uint32_t(node.numbers[1])}; }

  static void copy(const Node& from, int value_dim, const Node& to) {
    for (int c = 0; c < value_dim; ++c) to.sums[c] = from.sums[c];
    to.set(from.numbers[0], from.numbers[1]);
  }
  static void clear(const Node& node, int value_dim) {
    for (int c = 0; c < value_dim; ++c) node.sums[c] = 0;
    node.set(lowest_exponent, 0);
  }

  // The open segment of a row of a state is a node already. Chains are not kept.
  struct Open {
    Node at;
    int width;

    void begin_open() const { clear(at, width); }
    void begin_segment() const { clear(at, width); }
    void end_chain() const {}
    Node node(int32_t*) const { return at; }
    int32_t sum(int c) const { return at.sums[c]; }
    void take(const Open& other) const { copy(other.at, width, at); }
    template <class Words>
    void save(Words& words) const {
      words.numbers(at.sums, width + 1);
      words.end(at.numbers[1]);
    }
  };
  static Open open(int32_t* state, int value_dim) { return {node_at(state + core::state_owner + 1, value_dim), value_dim}; }
};

// Not inlined: else compilers load its constants into registers of floats before it is known whether outputs are floats at all,
// and other calls must do without these. Of calls in integers, only this depends on the floating-point environment.
inline ATTEND_NOINLINE void store_floats(const int32_t* sums, const RowEnd& end, int value_dim, const float& scale,
                                         float* output) {
  const core::CallersFloats callers = core::begin_floats();
  for (int c = 0; c < value_dim; ++c) output[c] = FloatArithmetic::mul(unrounded_output_of(sums[c], end), scale);
  core::end_floats(callers);
}

// A row's output, in the format of the options of a call that has any.
template <class Isa, class Options>
void store_integer_row(const core::Problem& problem, const Options& options, const SumNode<int32_t>& all, int token, int head) {
  const RowEnd end = row_end(SumInIntegers::state_of(all), problem.output_scales[head * problem.scale_stride]);
  if constexpr (sizeof options > 1) {
    if (options.output_format == core::Format::float32) {
      return store_floats(all.sums, end, problem.value_dim, options.float_scale, element<float>(problem.output, token, head));
    }
    if (options.output_format == core::Format::int16) {
      int16_t* const output = element<int16_t>(problem.output, token, head);
      for (int c = 0; c < problem.value_dim; ++c) output[c] = int16_t(clamped(output_of(all.sums[c], end), -32768, 32767));
      return;
    }
  }
  Isa::outputs(all.sums, end, problem.value_dim, element<int8_t>(problem.output, token, head));
}
