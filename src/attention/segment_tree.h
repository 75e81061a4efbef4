// The walk through the tree of core/segments.h while keys come in ascending order: which finished nodes a segment is joined
// with when it ends.

inline int segment_of(int key) { return int(uint32_t(key) / segment_keys); }

// The nodes that a call keeps, a stack of them with the latest on top. What was left out before a segment is zero, and joined
// without being there.
class SegmentTree {
 public:
  int depth() const { return depth_; }

  // Ends `segment`; `next` is the next segment that is not zero. Returns with how many nodes, from the top, the segment is
  // joined; then it is on top itself.
  int close(int segment, int next) {
    int joins = 0;
    uint32_t level = 1;
    for (uint32_t left = uint32_t(segment ^ next); left > 1; left >>= 1, level <<= 1) {
      if ((held_ & level) == 0) continue;
      held_ ^= level;
      ++joins;
    }
    held_ |= level;
    depth_ += 1 - joins;
    return joins;
  }

 private:
  uint32_t held_ =
      0;  // bit l: whether a node at level l, or what there is of it, is on the stack; the highest one is at the bottom
  int depth_ = 0;
};

// The same without a hole, from segment 0 on: what close() returns, and the number of nodes while a segment is open.
inline int joins_from_zero(int segment) {
  int joins = 0;
  for (; (segment & 1) != 0; segment >>= 1) ++joins;
  return joins;
}
inline int nodes_before(int segment) {
  int nodes = 0;
  for (; segment != 0; segment &= segment - 1) ++nodes;
  return nodes;
}

// The sum of one number of many segments or nodes, which are given by their first segments, ascending.
template <class Number, class Add>
class TreeSum {
 public:
  explicit TreeSum(Add add) : add_(add) {}

  void take(int segment, const Number& number) {
    if (begun_) {
      join(tree_.close(last_, segment));
      stack_[count_++] = open_;
    }
    open_ = number;
    last_ = segment;
    begun_ = true;
  }
  const Number& total() {
    join(count_);
    return open_;
  }

 private:
  void join(int nodes) {
    while (nodes-- > 0) open_ = add_(stack_[--count_], open_);
  }

  Add add_;
  SegmentTree tree_;
  Number stack_[core::most_levels];
  Number open_{};
  int count_ = 0, last_ = 0;
  bool begun_ = false;
};
