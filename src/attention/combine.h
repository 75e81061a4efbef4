// Segments by themselves, and rows whose keys come in several calls: how their sums are kept, and how they are added up, in the
// order of core/segments.h. Two nodes are added by bringing both to the higher of their maxima, times 2^(lower - higher), which
// is exact. So maxima only move exponents: a segment that starts without that of the keys before has the same digits.

// The sums of some segments of a row: [value_dim] weighted values; their denominator, and the maximum that all are relative to.
struct Node {
  float* sums;
  float* numbers;
};
inline Node node_at(float* data, int value_dim) { return {data, data + value_dim}; }

// Nodes of a row, in work memory or in a state.
struct Nodes {
  float* first;
  ptrdiff_t apart;
  int value_dim;
  Node operator[](int n) const { return node_at(first + n * apart, value_dim); }
};

constexpr uint32_t smallest_normal = 0x00800000;  // the bits of 2^-126

// Adds a node to the one before it. Exact but for the additions.
template <class Isa>
ATTEND_NOINLINE void join(const Node& to, const Node& added, int value_dim) {
  const bool rises = Scalar::less(to.numbers[1], added.numbers[1]);
  const Node &lower = rises ? to : added, &higher = rises ? added : to;
  const float max = higher.numbers[1];
  const typename Isa::Vec factor = rescale_factor<Isa>(lower.numbers[1], max);
  to.numbers[0] = Scalar::fma(lower.numbers[0], Isa::highest_lane(factor), higher.numbers[0]);
  to.numbers[1] = max;
  if constexpr (Isa::lanes == 1 && !config::embedded) {
    // A product by a power of two is exact unless it is subnormal: no fused multiply-add is needed, which code for all
    // processors of a kind may compute by software.
    const float by = Isa::highest_lane(factor);
    for (int c = 0; c < value_dim; ++c) {
      const float product = Scalar::mul(lower.sums[c], by);
      const bool exact = magnitude(product) >= smallest_normal || magnitude(lower.sums[c]) == 0;
      to.sums[c] = exact ? Scalar::add(product, higher.sums[c]) : Scalar::fma(lower.sums[c], by, higher.sums[c]);
    }
  } else {
    multiply_add_row<Isa>(lower.sums, value_dim, factor, higher.sums, to.sums);
  }
}

// A segment ends, or a row does: its node is joined with the last `joins` of the nodes 0 ... depth - 1, or becomes node
// `depth`.
template <class Isa>
ATTEND_NOINLINE void push_node(const Nodes& nodes, int depth, int joins, Node top) {
  if (joins == 0) {
    const Node place = nodes[depth];
    if (top.sums != place.sums) copy_row<Isa>(top.sums, nodes.value_dim, place.sums);
    place.numbers[0] = top.numbers[0];
    place.numbers[1] = top.numbers[1];
  }
  for (; joins > 0; --joins) {
    const Node before = nodes[--depth];
    join<Isa>(before, top, nodes.value_dim);
    top = before;
  }
}

// Keeps a row as it is after the last key of a segment.
template <class Isa>
void store_partial_row(const float* sums, int value_dim, float denominator, float max, float* to) {
  if (sums != to) copy_row<Isa>(sums, value_dim, to);
  to[value_dim] = denominator;
  to[value_dim + 1] = max;
}

// A row of a call without options: its output, or what is kept of its segment.
template <class Isa>
ATTEND_ALWAYS_INLINE void end_row(const float* sums, int value_dim, float denominator, float max, bool divides, float* output) {
  if (divides) return divide_row<Isa>(sums, value_dim, denominator, output);
  store_partial_row<Isa>(sums, value_dim, denominator, max, output);
}

// The denominator of a row, and the maximum that it and the row's sums are relative to.
struct RowTotal {
  float sum;
  float max;
};

// Some numbers of a node, side by side.
struct Columns {
  static constexpr int most = config::embedded ? 1 : 4;  // each takes a float of stack for each level of the tree
  float numbers[most];

  Columns() = default;
  ATTEND_ALWAYS_INLINE Columns(const float* from, int count, float factor) {
    for (int i = 0; i < most; ++i) numbers[i] = i < count ? Scalar::mul(from[i], factor) : 0.0f;
  }
  struct Add {
    Columns operator()(const Columns& a, const Columns& b) const {
      Columns sum;
      for (int i = 0; i < most; ++i) sum.numbers[i] = Scalar::add(a.numbers[i], b.numbers[i]);
      return sum;
    }
  };
};

// A row's state as it lies in memory, core::state_floats(value_dim, nodes) floats; or a row of work memory, without owner, and
// with its chain and its nodes apart from the rest.
class RowState {
 public:
  RowState(float* data, int value_dim)
      : data_(data), chain_(data + head + panel_keys), sums_(chain_ + value_dim), value_dim_(value_dim) {}
  RowState(float* data, float* chain, int value_dim)
      : data_(data), chain_(chain), sums_(data + head + panel_keys), value_dim_(value_dim) {}

  float& max() const { return data_[core::state_max]; }  // that the open chain and segment are relative to
  float& owner() const { return data_[core::state_owner]; }
  float* lane_sums() const { return data_ + head; }
  float* chain() const { return chain_; }
  float* sums() const { return sums_; }
  StateNodes<float> nodes() const { return {data_, sums_ + value_dim_, value_dim_}; }

  template <class Isa>
  void begin() const {
    nodes().set_nodes(0);
    begin_row<Isa>();
  }
  // The same but for its nodes.
  template <class Isa>
  void begin_row() const {
    fill_row<Isa>(0.0f, value_dim_, chain());
    owner() = 0.0f;
    begin_segment<Isa>();
  }

  // A segment without chain, of which nothing was seen.
  template <class Isa>
  void begin_segment() const {
    max() = lowest_max;
    clear<Isa>();
  }

  // The open chain ends.
  template <class Isa>
  void end_chain() const {
    multiply_add_row<Isa>(chain(), value_dim_, Isa::broadcast(1.0f), sums(), sums());
    fill_row<Isa>(0.0f, value_dim_, chain());
  }

  // The open segment ends, as push_node; or that of a state does, whose next one has a maximum of its own.
  template <class Isa>
  void end_segment(const Nodes& nodes, int depth, int joins) const {
    float numbers[2] = {add_lanes<Isa>(lane_sums()), max()};
    push_node<Isa>(nodes, depth, joins, {sums(), numbers});
    clear<Isa>();
  }
  template <class Isa>
  void end_segment(int segment) const {
    float numbers[2] = {add_lanes<Isa>(lane_sums()), max()};
    push<Isa>(segment, {sums(), numbers});
    begin_segment<Isa>();
  }

  // The state stopped at a key and goes on at another: the open chain ends, and the open segment, where they do.
  template <class Isa>
  void leave(int from, int to) const {
    if (from % chain_keys != 0 && (from ^ to) >= chain_keys) end_chain<Isa>();
    if (from % segment_keys != 0 && segment_of(from) != segment_of(to)) end_segment<Isa>(segment_of(from));
  }

  // The state has been through another segment, with these sums.
  template <class Isa>
  void push(int segment, const Node& top) const {
    const auto [depth, joins] = nodes().push(2 * segment + 1);
    push_node<Isa>(all_nodes(), depth, joins, top);
  }
  // Nor has any row seen a key of the segments first ... end - 1.
  template <class Isa>
  void push_zeros(int first, int end) const {
    for (core::SegmentNode node; first < end; first += node.size) {
      node = core::first_node(first, end);
      const auto [depth, joins] = nodes().push(core::number_of(node));
      const Node top = all_nodes()[joins > 0 ? depth - 1 : depth];
      if (joins > 0) {
        push_node<Isa>(all_nodes(), depth - 1, joins - 1, top);
      } else {
        fill_row<Isa>(0.0f, value_dim_, top.sums);
        top.numbers[0] = 0.0f, top.numbers[1] = lowest_max;
      }
    }
  }

 private:
  static constexpr int head = int(core::state_head);
  template <class Isa>
  void clear() const {
    fill_row<Isa>(0.0f, panel_keys, lane_sums());
    fill_row<Isa>(0.0f, value_dim_, sums());
  }

  Nodes all_nodes() const { return {nodes().sums(0), nodes().apart(), value_dim_}; }

  float* data_;
  float* chain_;
  float* sums_;
  int value_dim_;
};
