// The sums of a block's rows on hosts, while it goes over its keys: of the open segment, and of the segments before it.

// A row of a call without options: its output, or what is kept of its segment.
template <class Isa>
ATTEND_ALWAYS_INLINE void end_row(const SumNode<float>& all, int value_dim, bool divides, float* output) {
  if (divides) return divide_row<Isa>(all.sums, value_dim, all.numbers[0], output);
  SumInFloats<Isa>::copy(all, value_dim, node_at(output, value_dim));
}

template <class Isa, class Features>
class RowSums {
 public:
  using State = RowState<SumInFloats<Isa>>;

  RowSums(float* work, const core::HostWorkMemory& at, int rows, int value_dim, bool has_states)
      : maxima(static_cast<RowMaximum*>(static_cast<void*>(work + at.maxima))),
        raises_always(Features::states && has_states),
        rows_(rows),
        dims_(value_dim),
        lane_sums_(work + at.lane_sums),
        sums_(work + at.sums),
        chain_(work + at.chain),
        nodes_(work + at.nodes) {}

  RowMaximum* const maxima;  // [rows]
  bool raises_always;        // whether each higher score raises the maximum: in states, and in segments made for them

  float* lane_sums(int r) const { return lane_sums_ + r * panel_keys; }
  float* sums(int r) const { return sums_ + ptrdiff_t(r) * dims_; }
  float* chain(int r) const { return chain_ + ptrdiff_t(r) * dims_; }
  SumNodes<float> nodes(int r, int n) const { return nodes_of_row(nodes_, r, rows_, dims_, n); }

  // The open segment of a row.
  typename State::Open row(int r) const { return {&maxima[r].max, lane_sums(r), chain(r), sums(r), dims_}; }

  // From row r on.
  Sums segment_sums(int r, bool begun) const { return {sums(r), dims_, begun, raises_always}; }

  // A row that has seen nothing. What is not read before it is written keeps what it has: in plain calls all rows begin a
  // segment together, and their first keys store sums instead of adding to them.
  void begin(int r) const {
    maxima[r] = no_maximum();
    if constexpr (Features::any) row(r).clear();
    if (Features::states && raises_always) fill_row<Isa>(0.0f, dims_, chain(r));
  }

  // The open chains of rows follow their maxima, which were `before`.
  void scale_chains(int r, int count, const float* before) const {
    for (int i = 0; i < count; ++i) {
      if (!Scalar::less(before[i], maxima[r + i].max)) continue;
      multiply_row<Isa>(chain(r + i), dims_, rescale_factor<Isa>(before[i], maxima[r + i].max), chain(r + i));
    }
  }

  void end_segment(int r, int depth, int joins) const {
    float numbers[2];
    SumNode<float> top = row(r).node(numbers);
    join_or_keep<SumInFloats<Isa>>(nodes(r, depth), joins, top);
    if constexpr (Features::any) row(r).clear();  // not the maximum: join() only moves exponents, so no digit depends on it
  }
  // Into a state, whose bits must not depend on keys before; `next` is the next segment in which any row sees a key.
  void end_segment(int r, const State& state, int segment, int next) const {
    float numbers[2];
    state.push(segment, row(r).node(numbers), next);
    maxima[r] = no_maximum();
    row(r).clear();
  }

  // The sums of all segments: of `depth` nodes and of the open segment, if there is one.
  SumNode<float> all(int r, int depth, bool is_open, float* numbers) const {
    if (!is_open) return nodes(r, 0).node();
    SumNode<float> top = row(r).node(numbers);
    if (depth > 0) join_or_keep<SumInFloats<Isa>>(nodes(r, depth), depth, top);
    return top;
  }

 private:
  const int rows_;  // of a block, at most
  const int dims_;  // of a value
  float* const lane_sums_;
  float* const sums_;
  float* const chain_;
  float* const nodes_;
};
