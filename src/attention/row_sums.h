// The sums of a block's rows on hosts, while it goes over its keys: of the open segment, and of the segments before it.

template <class Isa, class Features>
class RowSums {
 public:
  RowSums(float* work, const core::HostWorkMemory& at, int rows, int value_dim, bool has_states)
      : softmax(static_cast<SoftmaxState*>(static_cast<void*>(work + at.softmax))),
        follow(Features::states && has_states),
        rows_(rows),
        dims_(value_dim),
        lane_sums_(work + at.lane_sums),
        sums_(work + at.sums),
        chain_(work + at.chain),
        nodes_(work + at.nodes) {}

  SoftmaxState* const softmax;  // [rows]
  bool follow;                  // whether each higher score raises the maximum: in states, and in segments made for them

  float* lane_sums(int r) const { return lane_sums_ + r * panel_keys; }
  float* sums(int r) const { return sums_ + ptrdiff_t(r) * dims_; }
  float* chain(int r) const { return chain_ + ptrdiff_t(r) * dims_; }
  Nodes nodes(int r) const {
    const ptrdiff_t row = partial_row_floats(dims_);
    return {nodes_ + r * row, rows_ * row, dims_};
  }

  // From row r on.
  Sums of_segment(int r, bool begun) const { return {sums(r), dims_, begun, follow}; }
  float denominator(int r) const { return Isa::sum_lanes(lane_sums(r)); }

  // A row that has seen nothing. What is not read before it is written keeps what it has: in plain calls all rows begin a
  // segment together, and their first keys store sums instead of adding to them.
  void begin(int r) const {
    softmax[r] = empty_softmax_state();
    if constexpr (Features::any) clear(r);
    if (!Features::states || !follow) return;
    fill_row<Isa>(0.0f, dims_, chain(r));
  }

  void load(int r, const RowState& state) const {
    softmax[r] = softmax_state_of(state.max());
    copy_row<Isa>(state.lane_sums(), panel_keys, lane_sums(r));
    copy_row<Isa>(state.chain(), dims_, chain(r));
    copy_row<Isa>(state.sums(), dims_, sums(r));
  }

  void save(int r, const RowState& state) const {
    state.max() = softmax[r].max;
    state.owner() = 0.0f;
    copy_row<Isa>(lane_sums(r), panel_keys, state.lane_sums());
    copy_row<Isa>(chain(r), dims_, state.chain());
    copy_row<Isa>(sums(r), dims_, state.sums());
  }

  // The open chains of rows follow their maxima, which were `before`.
  void scale_chains(int r, int count, const float* before) const {
    for (int i = 0; i < count; ++i) {
      if (!Scalar::less(before[i], softmax[r + i].max)) continue;
      multiply_row<Isa>(chain(r + i), dims_, rescale_factor<Isa>(before[i], softmax[r + i].max), chain(r + i));
    }
  }

  void end_chain(int r) const {
    multiply_add_row<Isa>(chain(r), dims_, Isa::broadcast(1.0f), sums(r), sums(r));
    fill_row<Isa>(0.0f, dims_, chain(r));
  }

  // The open segment of a row ends: push_node.
  void end_segment(int r, int depth, int joins) const {
    float numbers[2] = {denominator(r), softmax[r].max};
    push_node<Isa>(nodes(r), depth, joins, {sums(r), numbers});
    if constexpr (Features::any) clear(r);
  }

  // The same into a state.
  void end_segment(int r, const RowState& state, int segment) const {
    float numbers[2] = {denominator(r), softmax[r].max};
    state.push<Isa>(segment, {sums(r), numbers});
    softmax[r] = empty_softmax_state();
    clear(r);
  }

  // The sums of all segments: of `depth` nodes and of the open segment.
  struct Result {
    float* sums;
    float denominator;
  };
  Result result(int r, int depth) const {
    if (depth == 0) return {sums(r), denominator(r)};
    end_segment(r, depth, depth);
    return first_node(r);
  }
  Result first_node(int r) const {
    const Node first = nodes(r)[0];
    return {first.sums, first.numbers[0]};
  }

 private:
  // The sums of a segment begin.
  void clear(int r) const {
    fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
    fill_row<Isa>(0.0f, dims_, sums(r));
  }

  const int rows_;  // of a block, at most
  const int dims_;  // of a value
  float* const lane_sums_;
  float* const sums_;
  float* const chain_;
  float* const nodes_;
};
