// Projections on hosts.
//
//   one token:   weights that a cache holds: for each panel or 16 rows of outputs, chains side by side, or one where it takes
//                long enough (output_panel.h, output_rows.h); others: panels side by side (linear_blocks.h)
//   a few:       16 rows of outputs, chains side by side; over panels, blocks
//   several:     blocks (linear_blocks.h)

template <class Isa, core::Format format>
class HostLinear {
  using Number = NumberOf<format>;

 public:
  explicit HostLinear(const core::Linear& linear) : linear_(linear), weights_(static_cast<const Number*>(linear.weights)) {}

  void run() const {
    if (linear_.tokens == 0) return;
    if constexpr (Isa::transposes_rows) {
      if (takes_rows()) return run_over_rows();
    }
    if (linear_.tokens == 1 && linear_.panels) {
      const ptrdiff_t bytes = weight_bytes();
      if constexpr (side_by_side) {
        if (bytes > most_for_chains) return LinearBlocks<Isa, Number>(linear_, format).run_in_place();
      }
      if constexpr (most_for_chains > second_cache && panel_chains<Isa> != 1) {
        if (bytes > second_cache) return run_token<true>();
      }
      return run_token<false>();
    }
    const bool works = linear_.work != nullptr && linear_.tokens > 1;
    if constexpr (!in_groups<Number>) {
      constexpr int few_tokens = widens<Number> ? most_widening_rows : Isa::tile_rows;
      if (linear_.panels && !(works && linear_.tokens > few_tokens)) {
        return LinearBlocks<Isa, Number>(linear_, format).run_in_place();
      }
    }
    const LinearBlocks<Isa, float> blocks(linear_, format);
    works ? blocks.run_with_work() : blocks.run_packed();
  }

 private:
  static constexpr int second_cache = 1 << 20;  // bytes that the second-level cache holds nearly everywhere
  static constexpr int third_cache = 1 << 24;   // and that the third may hold

  // Whether a tile of one row takes four panels or more. They are as many streams, each read from its beginning to its end,
  // which processors prefetch best; chains of one panel are streams that end after 16 steps.
  static constexpr bool side_by_side = !in_groups<Number> && Isa::tile_vecs(1) * Isa::lanes >= 4 * panel_keys;
  // Bytes of weights up to which chains of one panel are faster all the same. They hide the conversion of other formats better,
  // which counts as long as the third-level cache may hold these.
  static constexpr ptrdiff_t most_for_chains = !side_by_side ? PTRDIFF_MAX : widens<Number> ? third_cache : 1 << 17;

  // One token over panels.
  template <bool prefetch>
  void run_token() const {
    const Number* panel = weights_;
    const ptrdiff_t step = ptrdiff_t(panel_keys) * (linear_.inputs / group_inputs<Number>);
    for (int o = 0; o < linear_.outputs; o += panel_keys, panel += step) {
      const int count = at_most(linear_.outputs - o, panel_keys);
      float last[panel_keys];
      float* const sums = count == panel_keys ? linear_.output + o : last;
      if constexpr (in_groups<Number>) {
        output_int4_panel<Isa, prefetch>(linear_.input, static_cast<const core::Int4Panel*>(static_cast<const void*>(panel)),
                                         linear_.inputs, sums);
      } else {
        output_panel<Isa, Number, prefetch>(linear_.input, panel, linear_.inputs, false, sums);
      }
      end_projection<Isa>(linear_, sums, o, count);
      if (count < panel_keys) copy_row<Isa>(last, count, linear_.output + o);
    }
  }

  // The most tokens that go over rows as they lie: of floats as many as have their sums in registers; of other formats as many
  // as take less time to widen 16 rows for each of them than once for all.
  static constexpr int row_tokens = in_groups<Number> ? 1
                                    : widens<Number>  ? Isa::row_tokens(sizeof(Number))
                                                      : 8 * Isa::lanes / panel_keys;

  bool takes_rows() const {
    if (linear_.panels || linear_.outputs < panel_keys || linear_.inputs < piece_inputs<Number>) return false;
    const bool packs = linear_.inputs < 128 && linear_.work != nullptr;  // faster for short rows and more than five tokens
    return linear_.tokens <= (packs ? at_most(row_tokens, 5) : row_tokens);
  }

  ptrdiff_t weight_bytes() const {
    return ptrdiff_t(sizeof(Number)) * linear_.outputs * (linear_.inputs / group_inputs<Number>);
  }

  // Whether rows are prefetched: long rows, above all adjacent ones, of weights that do not fit the second-level cache; or the
  // third, where more than two tokens of floats would wait for the instructions. Numbers of 4 bits gain nothing.
  static constexpr bool may_prefetch = Isa::rows_ahead > 0 && !in_groups<Number>;
  bool prefetches_rows() const {
    const ptrdiff_t cached = !widens<Number> && linear_.tokens > 2 ? third_cache : second_cache;
    const int least = (linear_.weight_stride == linear_.inputs ? 1 : 2) * Isa::rows_ahead / int(sizeof(Number));
    return may_prefetch && weight_bytes() > cached && linear_.inputs >= least;
  }

  ATTEND_NOINLINE void run_over_rows() const {
    const OverRows of = {linear_.input,  linear_.input_stride,  linear_.weight_stride / group_inputs<Number>,
                         linear_.inputs, linear_.output_stride, prefetches_rows()};
    if constexpr (in_groups<Number>) {
      alignas(config::alignment) core::Int4Panel gathered[2][2];
      for_each_16(of, [&](const Number* rows, float* output)
                          ATTEND_INLINE_LAMBDA { output_int4_rows<Isa>(of, gathered, rows, output); });
    } else if constexpr (widens<Number>) {
      for_each_16(of, [&](const Number* rows, float* output) ATTEND_INLINE_LAMBDA {
        of.prefetch ? output_rows<Isa, may_prefetch>(of, linear_.tokens, rows, output)
                    : output_rows<Isa, false>(of, linear_.tokens, rows, output);
      });
    } else {
      with_rows<AnyNumber, row_tokens>(linear_.tokens, FloatRows{*this, of});
    }
  }

  struct FloatRows {
    const HostLinear& linear;
    const OverRows& of;
    template <int tokens>
    ATTEND_ALWAYS_INLINE void operator()(Constant<tokens>) const {
      linear.for_each_16(
          of, [&](const Number* rows, float* output) ATTEND_INLINE_LAMBDA { output_rows<Isa, tokens>(of, rows, output); });
    }
  };

  // Calls with 16 rows and their outputs at a time, and ends the outputs. The last 16 may repeat rows, with the same outputs.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_16(const OverRows& of, Call call) const {
    for (int o = 0; o < linear_.outputs; o += panel_keys) {
      const int first = at_most(o, linear_.outputs - panel_keys);
      float* const output = linear_.output + first;
      call(weights_ + first * of.row_stride, output);
      for (int t = 0; t < linear_.tokens; ++t) {
        end_projection<Isa>(linear_, output + t * of.output_stride, first, panel_keys);
      }
    }
  }

  const core::Linear& linear_;
  const Number* const weights_;
};
