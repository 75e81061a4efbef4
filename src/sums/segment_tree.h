// The walk through the tree of core/segments.h while keys come in ascending order: which finished nodes a segment is joined
// with when it ends.

inline int segment_of(int key) { return int(uint32_t(key) / segment_keys); }

// The nodes that a call keeps, a stack of them with the latest on top. What was left out before a segment joins as zero.
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
  uint32_t held_ = 0;  // bit l: whether a node at level l, or what there is of it, is on the stack, the highest at the bottom
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
