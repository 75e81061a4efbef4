// The nodes of a row of a state: the fewest complete nodes of the tree that make up all segments it has taken, ascending.

// Each node has `width` sums, two numbers that they are relative to, and its number in the tree.
template <class Number>
class StateNodes {
 public:
  StateNodes(Number* count, Number* first, int width) : count_(count), first_(first), width_(width) {}

  int nodes() const { return bits_to<int32_t>(*count_); }
  void set_nodes(int count) const { *count_ = bits_to<Number>(int32_t(count)); }
  Number* sums(int n) const { return first_ + n * apart(); }
  int number(int n) const { return bits_to<int32_t>(sums(n)[width_ + 2]); }
  void set_number(int n, int number) const { sums(n)[width_ + 2] = bits_to<Number>(int32_t(number)); }

  // Adds a node behind the others: `joins` of the last `depth` nodes are joined with it. Only complete nodes are joined,
  // because the keys before them may come later.
  struct Push {
    int depth, joins;
  };
  Push push(int number) const {
    const int depth = nodes();
    int joins = 0;
    for (; joins < depth && core::is_second(number) && this->number(depth - 1 - joins) == core::partner_of(number); ++joins)
      number = core::joined(number);
    set_nodes(depth + 1 - joins);
    set_number(depth - joins, number);
    return {depth, joins};
  }

  // Where a node is, or -1.
  int find(int number) const {
    int n = nodes();
    while (--n >= 0 && this->number(n) != number) continue;
    return n;
  }
  // The first node that has a segment from `first` on.
  int after(int first) const {
    int n = 0;
    for (; n < nodes(); ++n) {
      const core::SegmentNode node = core::node_of(number(n));
      if (node.first + node.size > first) break;
    }
    return n;
  }
  void insert(int at, const Number* node) const {
    for (Number* to = sums(nodes()); to-- > sums(at);) to[apart()] = *to;
    for (int i = 0; i < apart(); ++i) sums(at)[i] = node[i];
    set_nodes(nodes() + 1);
  }
  ptrdiff_t apart() const { return width_ + 3; }
  void remove(int at) const {
    set_nodes(nodes() - 1);
    for (Number* to = sums(at); to < sums(nodes()); ++to) *to = to[apart()];
  }

 private:
  Number* count_;
  Number* first_;
  int width_;
};

// Adds the nodes of `other` to the nodes of a row; they have no segment in common, and the row has room for both together.
// First, nodes of `other` with a partner in the row are joined with it, small nodes first, because what they become may be the
// partner of larger nodes. The rest have no partner and are inserted. So there are never more nodes than at the end.
//   join(n, sums, is_behind)  adds a node, with its numbers behind its sums, to node n; is_behind: it is of later segments
template <class Number, class Join>
void merge_nodes(const StateNodes<Number>& row, const StateNodes<Number>& other, Join join) {
  int sizes = 0;
  for (int n = 0; n < other.nodes(); ++n) sizes |= core::node_of(other.number(n)).size;
  for (; sizes != 0; sizes &= sizes - 1) {
    for (int n = 0; n < other.nodes(); ++n) {
      int number = other.number(n);
      if (core::size_of(number) != (sizes & -sizes)) continue;
      int at = row.find(core::partner_of(number));
      if (at < 0) continue;
      join(at, other.sums(n), core::is_second(number));
      for (;;) {
        row.set_number(at, number = core::joined(number));
        if (row.find(core::partner_of(number)) < 0) break;
        if (core::is_second(number)) --at;
        join(at, row.sums(at + 1), true);
        row.remove(at + 1);
      }
    }
  }
  for (int n = 0; n < other.nodes(); ++n) {
    const int first = core::node_of(other.number(n)).first, at = row.after(first);
    const bool is_joined = at < row.nodes() && core::node_of(row.number(at)).first <= first;
    if (!is_joined) row.insert(at, other.sums(n));
  }
}
