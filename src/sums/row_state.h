// A row of a state, core::state_floats(value_dim, nodes) floats or core::integer_state_numbers of them: how many nodes it has,
// its owner's number, its open segment, its nodes.
template <class Sum>
class RowState : public Sum::Open {
 public:
  using Number = typename Sum::Number;

  ATTEND_ALWAYS_INLINE RowState(Number* data, int value_dim) : Sum::Open(Sum::open(data, value_dim)), data_(data) {}

  StateNodes<Sum> nodes() const { return {data_, data_ + Sum::state_numbers(this->width, 0), this->width}; }
  void begin_nodes() const {
    nodes().set_count(0);
    data_[core::state_owner] = 0;
  }
  void begin() const {
    begin_nodes();
    this->begin_open();
  }

  // It stopped at a key and goes on at another: the open chain ends, and the open segment, where they do.
  void leave(int from, int to) const {
    if (from % chain_keys != 0 && (from ^ to) >= chain_keys) this->end_chain();
    if (from % segment_keys != 0 && segment_of(from) != segment_of(to)) end_segment(segment_of(from), segment_of(from) + 1);
  }

  // Its open segment ends, whose next one has a maximum of its own; `next` is the next segment of which keys are seen.
  void end_segment(int segment, int next) const {
    Number numbers[2];
    push(segment, this->node(numbers), next);
    this->begin_segment();
  }
  // It has been through a segment with these sums.
  void push(int segment, const SumNode<Number>& top, int next) const {
    nodes().push(2 * segment + 1, top);
    push_zeros(segment + 1, next);
  }
  // Nor has any row seen a key of the segments first ... end - 1.
  void push_zeros(int first, int end) const {
    for (core::SegmentNode node; first < end; first += node.size) {
      node = core::first_node(first, end);
      nodes().push(core::number_of(node), {nullptr, nullptr});
    }
  }

  // Writes or reads the words of a saved row (core/saved.h), node by node and then the open segment: begin() gets the first of
  // a node's two numbers, or all lanes of an open denominator; numbers() the sums and that number; end() the second.
  template <class Words>
  void save(int count, bool is_open, Words& words) const {
    for (int n = 0; n < count; ++n) {
      const SumNode<Number> node = nodes()[n];
      words.begin(node.numbers, 1);
      words.numbers(node.sums, this->width + 1);
      words.end(node.numbers[1]);
    }
    if (is_open) Sum::Open::save(words);
  }

  // Adds up all nodes and the open segment; the next key is number `keys`.
  //   call(c, count, node)  the sums of `count` columns from c on, ascending
  template <class Call>
  void add_up(int keys, Call call) const {
    const StateNodes<Sum> of = nodes();
    Number memory[2], open_sums[Sum::columns];
    const SumNode<Number> open = {open_sums, this->node(memory).numbers};
    for (int c = 0, count; c < this->width; c += count) {
      count = at_most(this->width - c, Sum::columns);
      TreeSum<Sum> sum(count);
      for (int n = 0; n < of.count(); ++n) sum.take(core::node_of(of.number(n)).first, {of[n].sums + c, of[n].numbers});
      if (keys % segment_keys != 0) {
        for (int i = 0; i < count; ++i) open_sums[i] = this->sum(c + i);
        sum.take(segment_of(keys), open);
      }
      call(c, count, sum.total());
    }
  }

 private:
  Number* data_;
};

// Calls with the state of each token and query head.
template <class Sum, class Call>
ATTEND_ALWAYS_INLINE void for_each_state(const core::Tensor<void>& states, const core::Problem& problem, Call call) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      call(RowState<Sum>(element<typename Sum::Number>(states, token, head), problem.value_dim), token, head);
    }
  }
}

// Adds other states to states: [rows] of each, with room for so many nodes.
template <class Sum, class Number>
void merge_states(Number* states, const Number* others, bool takes_open, int rows, int value_dim, int nodes) {
  const ptrdiff_t numbers = ptrdiff_t(Sum::state_numbers(value_dim, nodes));
  for (int r = 0; r < rows; ++r, states += numbers, others += numbers) {
    const RowState<Sum> row(states, value_dim), other(const_cast<Number*>(others), value_dim);  // other is only read
    row.nodes().merge(other.nodes());
    if (takes_open) row.take(other);
  }
}

using FloatState = RowState<SumInFloats<Scalar>>;
using IntegerState = RowState<SumInIntegers>;
