// Rows of integer attention: how sums of segments are added up, how they become outputs, and how they are kept in a state.

// Sums at a common exponent, added up. Sums that somebody made up (core/saved.h) may wrap around.
ATTEND_ALWAYS_INLINE int32_t merged_sum(int32_t total, int32_t added, const Merge& merges) {
  const int32_t rounded = int32_t(uint32_t(added) + uint32_t(merges.half)) >> merges.chunk;
  return int32_t(uint32_t(total >> merges.total) + uint32_t(rounded));
}

// Adds the sums of a segment, or of several, to the sums before it. Sums without a denominator are zero, and add exactly on
// both sides.
inline void add_segment_sums(IntegerSoftmaxState& to, int32_t* total, const IntegerSoftmaxState& from, const int32_t* sums,
                             int value_dim) {
  if (from.denominator == 0) return;
  Merge merges;
  merge<0>(to, from.exponent, from.denominator, merges);
  int c = 0;
  if constexpr (!config::embedded) {
    // Loops of a known length, with results that lie elsewhere: compilers make them vectors.
    constexpr int columns = 16;
    for (; c + columns <= value_dim; c += columns) {
      int32_t added[columns];
      for (int i = 0; i < columns; ++i) added[i] = merged_sum(total[c + i], sums[c + i], merges);
      for (int i = 0; i < columns; ++i) total[c + i] = added[i];
    }
  }
  for (; c < value_dim; ++c) total[c] = merged_sum(total[c], sums[c], merges);
}

// Not inlined: else compilers load its constants into registers of floats before it is known whether outputs are floats at all,
// and other calls must do without these. Of calls in integers, only this depends on the floating-point environment.
inline ATTEND_NOINLINE void store_floats(const int32_t* sums, const RowEnd& end, int value_dim, const float& scale,
                                         float* output) {
  const core::CallersFloats callers = core::begin_floats();
  for (int c = 0; c < value_dim; ++c) output[c] = FloatArithmetic::mul(unrounded_output_of(sums[c], end), scale);
  core::end_floats(callers);
}

// A row's output, in the format of the options.
template <class Isa>
void store_integer_row(const core::Problem& problem, const core::Options& options, const IntegerSoftmaxState& state,
                       const int32_t* sums, int token, int head) {
  const RowEnd end = row_end(state, problem.output_scales[head * problem.scale_stride]);
  if (options.output_format == core::Format::int8) {
    return Isa::outputs(sums, end, problem.value_dim, element<int8_t>(problem.output, token, head));
  }
  if (options.output_format == core::Format::float32) {
    return store_floats(sums, end, problem.value_dim, options.float_scale, element<float>(problem.output, token, head));
  }
  int16_t* const output = element<int16_t>(problem.output, token, head);
  for (int c = 0; c < problem.value_dim; ++c) output[c] = int16_t(clamped(output_of(sums[c], end), -32768, 32767));
}

// The sums of some segments of a row: [value_dim] sums, then their exponent and the denominator.
class IntegerNode {
 public:
  IntegerNode(int32_t* numbers, int value_dim) : numbers_(numbers), value_dim_(value_dim) {}

  int32_t* sums() const { return numbers_; }
  IntegerSoftmaxState state() const { return {numbers_[value_dim_], uint32_t(numbers_[value_dim_ + 1])}; }
  void set(const IntegerSoftmaxState& state) const {
    numbers_[value_dim_] = state.exponent;
    numbers_[value_dim_ + 1] = int32_t(state.denominator);
  }
  void set(const IntegerSoftmaxState& state, const int32_t* sums) const {
    for (int c = 0; c < value_dim_; ++c) numbers_[c] = sums[c];
    set(state);
  }
  void clear() const {
    for (int c = 0; c < value_dim_; ++c) numbers_[c] = 0;
    set({lowest_exponent, 0});
  }
  // Adds a node behind this one.
  ATTEND_NOINLINE void join(const IntegerSoftmaxState& added, const int32_t* sums) const {
    IntegerSoftmaxState total = state();
    add_segment_sums(total, numbers_, added, sums, value_dim_);
    set(total);
  }

 private:
  int32_t* numbers_;
  int value_dim_;
};

// As Nodes and push_node of combine.h.
struct IntegerNodes {
  int32_t* first;
  ptrdiff_t apart;
  int value_dim;
  IntegerNode operator[](int n) const { return {first + n * apart, value_dim}; }
};
inline void push_integer_node(const IntegerNodes& nodes, int depth, int joins, IntegerSoftmaxState state, const int32_t* sums) {
  if (joins == 0) return nodes[depth].set(state, sums);
  for (; joins > 0; --joins) {
    const IntegerNode before = nodes[--depth];
    before.join(state, sums);
    state = before.state();
    sums = before.sums();
  }
}

// A row of a state, as core::integer_state_numbers has it.
class IntegerRowState {
 public:
  IntegerRowState(int32_t* numbers, int value_dim) : numbers_(numbers), value_dim_(value_dim) {}

  StateNodes<int32_t> nodes() const { return {numbers_, numbers_ + head + partial_row_floats(value_dim_), value_dim_}; }
  IntegerNode open() const { return {numbers_ + head, value_dim_}; }
  IntegerNode node(int n) const { return all_nodes()[n]; }

  void begin() const {
    for (int i = 0; i < head; ++i) numbers_[i] = 0;
    open().clear();
  }

  // As the functions of RowState with these names.
  void leave(int from, int to) const {
    if (from % segment_keys == 0 || segment_of(from) == segment_of(to)) return;
    push(segment_of(from), open().state(), open().sums());
    open().clear();
  }
  void push(int segment, const IntegerSoftmaxState& state, const int32_t* sums) const {
    const auto [depth, joins] = nodes().push(2 * segment + 1);
    push_integer_node(all_nodes(), depth, joins, state, sums);
  }
  void push_zeros(int first, int end) const {
    for (core::SegmentNode node; first < end; first += node.size) {
      node = core::first_node(first, end);
      const auto [depth, joins] = nodes().push(core::number_of(node));
      const IntegerNode top = all_nodes()[joins > 0 ? depth - 1 : depth];
      if (joins == 0) top.clear();
      if (joins > 0) push_integer_node(all_nodes(), depth - 1, joins - 1, top.state(), top.sums());
    }
  }

 private:
  static constexpr int head = core::state_owner + 1;
  IntegerNodes all_nodes() const { return {nodes().sums(0), nodes().apart(), value_dim_}; }
  int32_t* const numbers_;
  const int value_dim_;
};

// Some columns of a node, and what they are relative to.
struct IntegerColumns {
  static constexpr int most = config::embedded ? 4 : 8;
  IntegerSoftmaxState state = {lowest_exponent, 0};
  int32_t sums[most] = {};

  IntegerColumns() = default;
  ATTEND_ALWAYS_INLINE IntegerColumns(const IntegerSoftmaxState& of, const int32_t* from, int count) : state(of) {
    for (int i = 0; i < most; ++i) sums[i] = i < count ? from[i] : 0;
  }
  struct Add {
    IntegerColumns operator()(const IntegerColumns& a, const IntegerColumns& b) const {
      IntegerColumns sum = a;
      add_segment_sums(sum.state, sum.sums, b.state, b.sums, most);
      return sum;
    }
  };
};

// Adds up nodes of a row. at(n) is one, and segment_at(n) its first segment, ascending.
template <class NodeAt, class SegmentAt>
IntegerSoftmaxState add_integer_nodes(int count, NodeAt at, SegmentAt segment_at, int value_dim, int32_t* sums) {
  IntegerSoftmaxState state = {lowest_exponent, 0};
  for (int c = 0; c < value_dim; c += IntegerColumns::most) {
    const int here = at_most(value_dim - c, IntegerColumns::most);
    TreeSum<IntegerColumns, IntegerColumns::Add> sum{IntegerColumns::Add()};
    for (int n = 0; n < count; ++n) sum.take(segment_at(n), IntegerColumns(at(n).state(), at(n).sums() + c, here));
    const IntegerColumns& total = sum.total();
    for (int i = 0; i < here; ++i) sums[c + i] = total.sums[i];
    state = total.state;
  }
  return state;
}
