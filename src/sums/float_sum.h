// Sums in floats. Two nodes are added by bringing both to the higher of their maxima, times 2^(lower - higher), which is exact.
// So maxima only move exponents: a segment that starts without the maximum of the keys before it has the same digits.

template <class Isa>
struct SumInFloats {
  using Number = float;
  using Node = SumNode<float>;
  static constexpr int columns =
      config::embedded ? 1 : 4;  // each takes a float of stack for each level of the tree, and a node two more
  static constexpr size_t state_numbers(int value_dim, int nodes) { return core::state_floats(value_dim, nodes); }

  // Exact but for the additions, and the same whichever comes first.
  static ATTEND_NOINLINE void join(const Node& to, const Node& added, int value_dim, bool = true) {
    const bool rises = Scalar::less(to.numbers[1], added.numbers[1]);
    const Node &lower = rises ? to : added, &higher = rises ? added : to;
    const float max = higher.numbers[1];
    const typename Isa::Vec factor = rescale_factor<Isa>(lower.numbers[1], max);
    to.numbers[1] = max;
    if constexpr (Isa::lanes == 1 && !config::embedded) {
      // A product by a power of two is exact unless it is subnormal: no fused multiply-add is needed, which code for all
      // processors of a kind may compute by software.
      const auto sum_of = [by = Isa::highest_lane(factor)](float low, float high) {
        const float product = Scalar::mul(low, by);
        const bool exact = magnitude(product) >= 0x00800000 || magnitude(low) == 0;  // 2^-126
        return exact ? Scalar::add(product, high) : Scalar::fma(low, by, high);
      };
      to.numbers[0] = sum_of(lower.numbers[0], higher.numbers[0]);
      for (int c = 0; c < value_dim; ++c) to.sums[c] = sum_of(lower.sums[c], higher.sums[c]);
    } else {
      to.numbers[0] = Scalar::fma(lower.numbers[0], Isa::highest_lane(factor), higher.numbers[0]);
      multiply_add_row<Isa>(lower.sums, value_dim, factor, higher.sums, to.sums);
    }
  }

  static void copy(const Node& from, int value_dim, const Node& to) {
    copy_row<Isa>(from.sums, value_dim, to.sums);
    to.set(from.numbers[0], from.numbers[1]);
  }
  static void clear(const Node& node, int value_dim) {
    fill_row<Isa>(0.0f, value_dim, node.sums);
    node.set(0.0f, lowest_max);
  }

  // The open segment of a row, wherever it lies.
  struct Open {
    float* max;        // that all of it is relative to
    float* lane_sums;  // [panel_keys] partial sums of the denominator
    float* chain;      // [width] sums of the open chain, if it was begun in another call or goes key by key
    float* sums;       // [width] sums of the chains before it
    int width;

    void begin_open() const {
      fill_row<Isa>(0.0f, width, chain);
      begin_segment();
    }
    // A segment without chain, of which nothing was seen.
    void begin_segment() const {
      *max = lowest_max;
      clear();
    }
    void clear() const {  // the maximum, which segments before it may have left, stays
      fill_row<Isa>(0.0f, panel_keys, lane_sums);
      fill_row<Isa>(0.0f, width, sums);
    }
    void end_chain() const {
      multiply_add_row<Isa>(chain, width, Isa::broadcast(1.0f), sums, sums);
      fill_row<Isa>(0.0f, width, chain);
    }
    // What it has so far, as a node: without the open chain, and with it.
    Node node(float* numbers) const {
      numbers[0] = denominator();
      numbers[1] = *max;
      return {sums, numbers};
    }
    float sum(int c) const { return Scalar::add(sums[c], chain[c]); }
    float denominator() const {
      if constexpr (Isa::lanes > 1 && !config::embedded) return Isa::sum_lanes(lane_sums);
      float lanes[panel_keys];
      copy_row<Isa>(lane_sums, panel_keys, lanes);
      return add_lanes<Isa>(lanes);
    }

    void take(const Open& other) const {
      copy_row<Isa>(other.lane_sums, panel_keys, lane_sums);
      copy_row<Isa>(other.chain, width, chain);
      copy_row<Isa>(other.sums, width, sums);
      *max = *other.max;
    }
    template <class Words>
    void save(Words& words) const {
      words.begin(lane_sums, panel_keys);
      words.numbers(lane_sums, panel_keys);
      words.numbers(sums, width);
      words.numbers(chain, width);
      words.end(*max);
    }
  };
  static Open open(float* state, int value_dim) {
    float* const chain = state + core::state_head + panel_keys;
    return {state + core::state_max, state + core::state_head, chain, chain + value_dim, value_dim};
  }
};
