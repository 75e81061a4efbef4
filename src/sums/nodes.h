// Sums of segments, and how they are added up in the order of core/segments.h, for every kind of sum: SumInFloats (float_sum.h)
// and SumInIntegers (integer_sum.h). A kind, `Sum`, says
//   Number             what sums are made of
//   join(to, added, width, is_behind)  adds a node to another; is_behind: the added one is of later segments
//   copy, clear        of nodes
//   Open               the open segment of a row: how its chain closes, what node it becomes, and what a state saves of it
//   state_numbers      how many numbers a row of a state has
//   columns            how many columns finish() takes at a time

// The sums of some segments of a row: [value_dim] weighted values; and two numbers that all are relative to. In floats, these
// are the denominator and the maximum; in integers, the exponent and the denominator.
template <class Number>
struct SumNode {
  Number* sums;
  Number* numbers;
  void set(Number first, Number second) const { numbers[0] = first, numbers[1] = second; }
};
template <class Number>
SumNode<Number> node_at(Number* data, int value_dim) {
  return {data, data + value_dim};
}

// A node of a row, with those before it: `apart` numbers from each to the next.
template <class Number>
struct SumNodes {
  Number* at;
  ptrdiff_t apart;
  int value_dim;
  SumNode<Number> node() const { return node_at(at, value_dim); }
  SumNode<Number> before() { return node_at(at -= apart, value_dim); }
};

// Node n of row r of a block in work memory.
template <class Number>
SumNodes<Number> nodes_of_row(Number* work, int r, int rows, int value_dim, int n) {
  const ptrdiff_t row = value_dim + 2;
  return {work + (n * ptrdiff_t(rows) + r) * row, rows * row, value_dim};
}

// Joins a node with so many nodes before it, which before() returns one after another. It becomes what they become.
template <class Sum, class Before>
ATTEND_ALWAYS_INLINE void join_nodes(SumNode<typename Sum::Number>& top, int joins, int value_dim, Before before) {
  for (; joins > 0; --joins) {
    const SumNode<typename Sum::Number> to = before();
    Sum::join(to, top, value_dim);
    top = to;
  }
}

// A segment ends, or a row does: its node is joined with so many nodes before a place, and becomes what they become; or it is
// kept there.
template <class Sum>
ATTEND_NOINLINE void join_or_keep(SumNodes<typename Sum::Number> nodes, int joins, SumNode<typename Sum::Number>& top) {
  if (joins == 0) return Sum::copy(top, nodes.value_dim, nodes.node());
  join_nodes<Sum>(top, joins, nodes.value_dim, [&] { return nodes.before(); });
}

// The sum of some columns of many segments or nodes, which are given by their first segments, ascending.
template <class Sum>
class TreeSum {
  using Number = typename Sum::Number;

 public:
  ATTEND_ALWAYS_INLINE explicit TreeSum(int columns) : columns_(columns) { Sum::clear(open().node(), columns); }

  void take(int segment, const SumNode<Number>& node) {
    if (last_ >= 0) {
      const SumNodes<Number> nodes = open();  // before close() moves it
      join(nodes, tree_.close(last_, segment));
    }
    Sum::copy(node, columns_, open().node());
    last_ = segment;
  }
  SumNode<Number> total() { return join(open(), tree_.depth()); }

 private:
  SumNode<Number> join(SumNodes<Number> nodes, int joins) {
    SumNode<Number> top = nodes.node();
    join_nodes<Sum>(top, joins, columns_, [&] { return nodes.before(); });
    return top;
  }
  SumNodes<Number> open() { return {numbers_ + tree_.depth() * (columns_ + 2), columns_ + 2, columns_}; }

  Number numbers_[(core::most_levels + 1) * (Sum::columns + 2)];
  SegmentTree tree_;
  int last_ = -1;
  const int columns_;
};

// The nodes of a row of a state: the fewest complete nodes of the tree that make up all segments it has taken, ascending. Each
// has its number in the tree behind it.
template <class Sum>
class StateNodes {
  using Number = typename Sum::Number;
  using Node = SumNode<Number>;

 public:
  ATTEND_ALWAYS_INLINE StateNodes(Number* count, Number* first, int width) : count_(count), first_(first), width_(width) {}

  int count() const { return bits_to<int32_t>(*count_); }
  void set_count(int count) const { *count_ = bits_to<Number>(int32_t(count)); }
  int number(int n) const { return bits_to<int32_t>(at(n)[apart() - 1]); }
  void set_number(int n, int number) const { at(n)[apart() - 1] = bits_to<Number>(int32_t(number)); }
  Node operator[](int n) const { return node_at(at(n), width_); }

  // Adds a node behind the others. Only complete nodes are joined, because the keys before them may come later.
  //   top  without sums: zero, which adds exactly
  void push(int number, Node top) const {
    int n = count();
    for (; n > 0 && this->number(n - 1) == core::partner_of(number); number = core::joined(number)) {
      const Node before = (*this)[--n];
      if (top.sums != nullptr) Sum::join(before, top, width_);
      top = before;
    }
    if (top.sums == nullptr) {
      Sum::clear((*this)[n], width_);
    } else if (n == count()) {
      Sum::copy(top, width_, (*this)[n]);
    }
    set_number(n, number);
    set_count(n + 1);
  }

  // Adds nodes of another row; they have no segment in common, and this row has room for both together. First, nodes with a
  // partner here are joined with it, small nodes first, because what they become may be the partner of larger nodes. The rest
  // have no partner and are inserted. So there are never more nodes than at the end.
  void merge(const StateNodes& other) const {
    int sizes = 0;
    for (int n = 0; n < other.count(); ++n) sizes |= core::size_of(other.number(n));
    for (; sizes != 0; sizes &= sizes - 1) {
      for (int n = 0; n < other.count(); ++n) {
        if (core::size_of(other.number(n)) == (sizes & -sizes)) join(other.number(n), other[n]);
      }
    }
    for (int n = 0; n < other.count(); ++n) {
      const int first = core::node_of(other.number(n)).first;
      int at = 0;  // the first node that has a segment from `first` on
      while (at < count() && end(at) <= first) ++at;
      if (at < count() && core::node_of(number(at)).first <= first) continue;  // it was joined
      for (Number* to = this->at(count()); to-- > this->at(at);) to[apart()] = *to;
      for (int i = 0; i < apart(); ++i) this->at(at)[i] = other.at(n)[i];
      set_count(count() + 1);
    }
  }

 private:
  ptrdiff_t apart() const { return width_ + 3; }
  Number* at(int n) const { return first_ + n * apart(); }
  int end(int n) const { return core::node_of(number(n)).first + core::node_of(number(n)).size; }

  // Where a node is, or -1.
  int find(int number) const {
    int n = count();
    while (--n >= 0 && this->number(n) != number) continue;
    return n;
  }

  // Joins a node with its partner, and what they become with the partner of that; returns whether it has one.
  bool join(int number, const Node& added) const {
    int at = find(core::partner_of(number));
    if (at < 0) return false;
    Sum::join((*this)[at], added, width_, core::is_second(number));
    for (;;) {
      set_number(at, number = core::joined(number));
      if (find(core::partner_of(number)) < 0) return true;
      if (core::is_second(number)) --at;
      Sum::join((*this)[at], (*this)[at + 1], width_);
      set_count(count() - 1);
      for (Number* to = this->at(at + 1); to < this->at(count()); ++to) *to = to[apart()];
    }
  }

  Number* count_;
  Number* first_;
  int width_;
};
