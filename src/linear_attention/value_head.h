// Linear attention of a value head: its state takes tokens in blocks. For each block gates and scaled queries are computed
// once; then each group of columns stays in the first-level cache while all tokens of the block pass.

// Vectors of columns that pass together: what they sum up to, and what they are updated with, stays in registers.
template <class Isa>
constexpr int column_vecs = Isa::lanes == 1 && !ATTEND_SOFT_FLOAT ? 4
                            : config::embedded                    ? 1
                                                                  : 2;

// Hosts make the factors of a block's tokens beforehand, in so many floats of the stack; where the head is too wide for that,
// and on embedded processors, they are made anew for each chain.
constexpr int block_tokens = config::embedded ? 1 : 32, block_floats = config::embedded ? 1 : config::decode_stack_floats;

template <class Isa, LinearRule rule, Decay decay>
class ValueHead {
  using Vec = typename Isa::Vec;
  static constexpr bool gated = core::has_gate(rule), is_delta = core::has_beta(rule);
  static constexpr bool by_key = gated && decay == Decay::per_key, by_head = gated && !by_key;
  static constexpr bool makes_next = is_delta && gated;  // without a gate it is the key

 public:
  ValueHead(const core::LinearAttention& call, int head, int first_panel, int end_panel)
      : c_(call),
        head_(head),
        queries_(call.query.data == nullptr ? 0 : at_least(call.query_heads / call.value_heads, 1)),
        query_head_(queries_ * head / at_least(call.value_heads / call.query_heads, 1)),
        first_(first_panel),
        end_(end_panel),
        row_((queries_ + makes_next + by_key) * call.head_dim),
        room_(row_ > 0 ? at_most(block_floats / row_, block_tokens) : block_tokens) {}

  ATTEND_NOINLINE void run() {
    const int panels = core::panel_count(c_.value_dim);
    const size_t floats = core::linear_head_floats(c_.head_dim, c_.value_dim);
    const float* from = c_.state != nullptr ? c_.state : c_.from;
    float* kept = nullptr;
    float decayed = 0.0f;
    if (from != nullptr) kept = const_cast<float*>(from) + size_t(c_.value_heads) * floats + size_t(head_) * size_t(panels);
    if (kept != nullptr) decayed = kept[first_];
    state_ = c_.state != nullptr ? c_.state + size_t(head_) * floats : c_.work;
    if (c_.state == nullptr && from == nullptr) clear();
    if (c_.state == nullptr && from != nullptr) {
      const size_t begin = panel_at(first_);
      copy_row<Isa>(from + size_t(head_) * floats + begin, int(panel_at(end_) - begin), state_ + begin);
    }
    int document = 1;
    for (token_ = c_.first; token_ < c_.tokens; token_ += count_) {
      bool begins = false;
      for (; document < c_.documents && c_.boundaries[document] <= token_; ++document) begins = true;
      if (begins) clear(), decayed = 0.0f;
      const int end = document < c_.documents ? at_most(c_.boundaries[document], c_.tokens) : c_.tokens;
      begin_block(at_most(end - token_, at_least(room_, 1)), decayed);
      for_each_group();
    }
    if (document < c_.documents) clear(), decayed = 0.0f;  // documents behind the last token have none yet
    for (int panel = first_; panel < end_ && c_.state != nullptr; ++panel) kept[panel] = decayed;
  }

 private:
  size_t panel_at(int panel) const { return size_t(at_most(panel * panel_keys, c_.value_dim)) * size_t(c_.head_dim); }
  void clear() { fill_row<Isa>(0.0f, int(panel_at(end_) - panel_at(first_)), state_ + panel_at(first_)); }

  // Numbers of tokens of the block, and factors of theirs in the order of the buffer.
  template <class Number>
  static Number* at(const core::Tensor<Number>& tensor, int token, int head) {
    return tensor.data + token * tensor.token_stride + head * tensor.head_stride;
  }
  const float* key(int i) const { return at(c_.key, token_ + i, head_ / (c_.value_heads / c_.kv_heads)); }
  const float* gates(int i) const { return at(c_.gates, token_ + i, head_); }
  bool is_made() const { return !config::embedded && room_ > 0; }
  Factors made(int i, int number) const {
    return {const_cast<float*>(buffer_) + i * row_ + number * c_.head_dim, nullptr, 1.0f, true};
  }
  Factors query(int i, int number) const {
    if (is_made()) return made(i, number);
    return {at(c_.query, token_ + i, query_head_ + number), nullptr, c_.scale, false};
  }
  Factors gates_of(int i) const {
    if (is_made()) return made(i, queries_);
    return {nullptr, gates(i), 1.0f, false};
  }
  Factors read_factors(int i) const {
    if (!makes_next) return {key(i), nullptr, 1.0f, true};
    if (is_made()) return made(i, queries_ + by_key);
    return {key(i), by_key ? gates(i) : nullptr, by_head ? gate_[i] : 1.0f, false};
  }

  // A block of at most so many tokens: it ends where numbers of the state must be swept to 0, which is done before its first
  // token.
  void begin_block(int most, float& decayed) {
    count_ = 0;
    for (int i = 0; i < most; ++i, ++count_) {
      if constexpr (gated || is_delta) {
        float lowest = token_log_decay;
        if constexpr (by_head) lowest = lower_log_gate<Scalar>(lowest, *gates(i));
        if constexpr (by_key) lowest = lowest_log_gate<Isa>(gates(i), c_.head_dim);
        const float sum = Scalar::add(decayed, lowest);
        if (Scalar::less(sum, least_log_gate)) {
          if (i > 0) break;
          sweep();
          decayed = lowest;
        } else {
          decayed = sum;
        }
        if constexpr (by_head) gate_[i] = gate_of<Scalar>(*gates(i));
      }
      if constexpr (!config::embedded) {
        if (room_ > 0) make_rows(i);
      }
    }
  }
  void make_rows(int i) {
    float* to = buffer_ + i * row_;
    const int dims = c_.head_dim;
    for (int q = 0; q < queries_; ++q, to += dims) {
      make_factors<Isa, Decay::per_head>({at(c_.query, token_ + i, query_head_ + q), nullptr, c_.scale, false}, 0, dims, to);
    }
    if constexpr (by_key) {
      make_factors<Isa, decay>({nullptr, gates(i), 1.0f, false}, 0, dims, to);
      to += dims;
      if constexpr (makes_next) {
        const float* const k = key(i);
        map_row<Isa>(to - dims, dims, to,
                     [&](Vec a, int d, int lanes) ATTEND_INLINE_LAMBDA { return Isa::mul(a, load_some<Isa>(k + d, lanes)); });
      }
    } else if constexpr (makes_next) {
      make_factors<Isa, decay>({key(i), nullptr, gate_[i], false}, 0, dims, to);
    }
  }

  // Numbers of the state below 2^-100 become +0. NaN stays NaN.
  ATTEND_NOINLINE void sweep() {
    float* const state = state_ + panel_at(first_);
    map_row<Isa>(state, int(panel_at(end_) - panel_at(first_)), state, [&](Vec a, int, int) ATTEND_INLINE_LAMBDA {
      return where_at_least<Isa>(size_of<Isa>(a), Isa::broadcast(least_of_state), a, Isa::sub(a, a));
    });
  }

  void for_each_group() {
    constexpr int vecs = column_vecs<Isa>;
    for (int panel = first_; panel < end_; ++panel) {
      const int column = panel * panel_keys, width = at_most(c_.value_dim - column, panel_keys);
      float* const data = state_ + panel_at(panel);
      int done = 0;
      if constexpr (vecs * Isa::lanes > panel_keys) {  // two panels
        if (panel + 1 < end_ && c_.value_dim - column >= 2 * panel_keys) {
          pass<vecs, true>({data, width, ptrdiff_t(panel_keys) * c_.head_dim, 0}, column);
          ++panel;
          continue;
        }
      } else {
        for (; width - done >= vecs * Isa::lanes; done += vecs * Isa::lanes) {
          pass<vecs, true>({data + done, width, Isa::lanes, 0}, column + done);
        }
      }
      for (; done < width; done += Isa::lanes) {
        pass<1, Isa::lanes == 1>({data + done, width, 0, at_most(width - done, Isa::lanes)}, column + done);
      }
    }
  }

  // The tokens of a block pass through a group of columns.
  template <int vecs, bool whole>
  void pass(const StateColumns& columns, int column) {
    float read[vecs * Isa::lanes];
    bool has_read = false;
    for (int i = 0; i < count_;) {
      if constexpr (!config::embedded && !is_delta) {
        if (count_ - i >= 2 && queries_ <= 1) {
          take<2, vecs, whole, false>(columns, column, i, read);
          i += 2;
          continue;
        }
      }
      if constexpr (is_delta) {
        if (!has_read) read_columns<Isa, decay, vecs, whole>(columns, c_.head_dim, read_factors(i), read);
      }
      if constexpr (is_delta && !config::embedded) {
        has_read = i + 1 < count_;
        if (has_read) take<1, vecs, whole, true>(columns, column, i, read);
      }
      if (!has_read) take<1, vecs, whole, false>(columns, column, i, read);
      ++i;
    }
  }

  template <int tokens, int vecs, bool whole, bool reads>
  ATTEND_ALWAYS_INLINE void take(const StateColumns& columns, int column, int i, float* read) {
    UpdateFactors with[tokens];
    Vec u[tokens][vecs];
    float outputs[tokens][vecs * Isa::lanes];
    for (int t = 0; t < tokens; ++t) {
      with[t].key = key(i + t);
      with[t].query = queries_ > 0 ? query(i + t, 0) : Factors{key(i + t), nullptr, 1.0f, true};
      with[t].gate = by_head ? gate_[i + t] : 1.0f;
      if constexpr (by_key) with[t].gates = gates_of(i + t);
      if constexpr (reads) with[t].next = read_factors(i + t + 1);
      const float* const value = at(c_.value, token_ + i + t, head_) + column;
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        u[t][v] = load_some<Isa>(value + v * Isa::lanes, whole ? Isa::lanes : columns.count);
        if constexpr (is_delta) {
          u[t][v] = Isa::mul(Isa::broadcast(*at(c_.beta, token_ + i + t, head_)),
                             Isa::sub(u[t][v], Isa::load(read + v * Isa::lanes)));
        }
      }
    }
    update_columns<Isa, rule, decay, tokens, vecs, whole, reads>(columns, c_.head_dim, with, u, outputs[0], read);
    for (int t = 0; t < tokens && queries_ > 0; ++t) store_output<vecs, whole>(columns, column, i + t, 0, outputs[t]);
    for (int q = 1; q < queries_; ++q) {  // tokens is 1 then
      read_columns<Isa, decay, vecs, whole>(columns, c_.head_dim, query(i, q), outputs[0]);
      store_output<vecs, whole>(columns, column, i, q, outputs[0]);
    }
  }

  template <int vecs, bool whole>
  void store_output(const StateColumns& columns, int column, int i, int number, const float* output) const {
    const int head = queries_ > 1 ? query_head_ + number : head_;
    float* const to = at(c_.output, token_ + i, head) + column;
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v)
      store_some<Isa>(to + v * Isa::lanes, Isa::load(output + v * Isa::lanes), whole ? Isa::lanes : columns.count);
  }

  const core::LinearAttention& c_;
  const int head_, queries_, query_head_, first_, end_;  // queries_: heads that read this state
  const int row_, room_;                                 // floats of a token in the buffer, and tokens that it has room for
  float* state_ = nullptr;
  int token_ = 0, count_ = 0;  // of the block
  float gate_[block_tokens];
  alignas(config::alignment) float buffer_[block_floats];
};

// A part: some panels of columns of one value head after another.
template <class Isa, LinearRule rule, Decay decay>
void run_value_heads(const core::LinearAttention& call, int part, int parts) {
  const int panels = core::panel_count(call.value_dim), units = call.value_heads * panels;
  int unit = count_before(units, part, parts).whole;
  const int end = count_before(units, part + 1, parts).whole;
  while (unit < end) {
    const int head = unit / panels, panel = unit - head * panels, last = at_most(panel + end - unit, panels);
    ValueHead<Isa, rule, decay>(call, head, panel, last).run();
    unit += last - panel;
  }
}
