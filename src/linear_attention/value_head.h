// Linear attention of a value head: its state takes tokens in blocks. For each block gates are computed once;
// then each group of columns stays in the first-level cache while all tokens of the block pass.

// Vectors of columns that pass together, at most: what they sum up to stays in registers. With fewer than four, sums would wait
// for each other where vectors are wide; but the rule without a gate would wait longer for stores to the first-level cache.
template <class Isa, LinearRule rule>
constexpr int column_vecs = Isa::lanes == 16 && rule == LinearRule::delta ? 2
                            : Isa::lanes == 1 || Isa::lanes >= 8          ? 4
                                                                          : 2;
constexpr int group_floats = 8192;  // of the state, of so many columns: 32 KB

// The gates of key dimensions of a block's tokens are made beforehand, and keys times these, in so many floats of the stack;
// where the head is too wide for that they are made anew for each chain. What one number multiplies is always made for each
// chain: from a buffer it would take more room in the cache than time.
constexpr int block_tokens = 32, block_floats = config::decode_stack_floats;

template <class Isa, LinearRule rule, Decay decay>
class ValueHead {
  using Vec = typename Isa::Vec;
  static constexpr bool gated = core::has_gate(rule), is_delta = core::has_beta(rule);
  static constexpr bool by_key = gated && decay == Decay::per_key, by_head = gated && !by_key;
  static constexpr bool makes_next = is_delta && gated;  // without a gate it is the key
  static constexpr int made_rows = 1 + makes_next;
  static constexpr bool looks_ahead = is_delta;
  static constexpr int vecs = column_vecs<Isa, rule>, lanes = Isa::lanes, group_columns = vecs * lanes;

 public:
  ValueHead(const core::LinearAttention& call, int head, int first_panel, int end_panel)
      : c_(call),
        head_(head),
        queries_(call.query.data == nullptr ? 0 : at_least(call.query_heads / call.value_heads, 1)),
        query_head_(queries_ * head / at_least(call.value_heads / call.query_heads, 1)),
        key_head_(head / (call.value_heads / call.kv_heads)),
        first_(first_panel),
        end_(end_panel),
        room_(by_key ? at_most(block_floats / (made_rows * call.head_dim) - looks_ahead, block_tokens) : block_tokens) {}

  ATTEND_NOINLINE void run() {
    const int panels = core::panel_count(c_.value_dim);
    const size_t floats = core::linear_head_floats(c_.head_dim, c_.value_dim);
    const bool moves = c_.state != nullptr && !is_plain();
    const float* const from = moves ? c_.state : c_.from;
    float* kept = nullptr;
    float decayed = 0.0f;
    if (from != nullptr && !is_plain()) {
      kept = const_cast<float*>(from) + size_t(c_.value_heads) * floats + size_t(head_) * size_t(panels);
      decayed = kept[first_];
    } else if (from != nullptr) {
      decayed = least_log_gate;
    }
    state_ = c_.state != nullptr ? c_.state + size_t(head_) * floats : c_.work;
    if (!moves && from == nullptr) clear();
    if (!moves && from != nullptr) begin_ = from + size_t(head_) * floats;
    int document = 1;
    for (token_ = c_.first; token_ < c_.tokens; token_ += count_) {
      bool begins = false;
      for (; document < c_.documents && c_.boundaries[document] <= token_; ++document) begins = true;
      if (begins) clear(), decayed = 0.0f;
      const int end = document < c_.documents ? at_most(c_.boundaries[document], c_.tokens) : c_.tokens;
      begin_block(at_most(end - token_, at_least(room_, 1)), end, decayed);
      for_each_group();
    }
    if (document < c_.documents) clear(), decayed = 0.0f;         // documents behind the last token have none yet
    if (begin_ != nullptr) sweeps_ = false, bring(first_, end_);  // there was no token
    for (int panel = first_; panel < end_ && moves; ++panel) kept[panel] = decayed;
  }

 private:
  bool is_plain() const { return c_.is_plain; }
  // Where the numbers of some panels lie side by side, and how many.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_run(int first, int end, Call call) const {
    const int column = first * panel_keys, columns = at_most(end * panel_keys, c_.value_dim) - column;
    if (!is_plain()) return call(size_t(column) * size_t(c_.head_dim), columns * c_.head_dim);
    for (int d = 0; d < c_.head_dim; ++d) call(size_t(d) * size_t(c_.value_dim) + size_t(column), columns);
  }
  void clear() {
    begin_ = nullptr;
    for_each_run(first_, end_, [&](size_t at, int count) ATTEND_INLINE_LAMBDA { fill_row<Isa>(0.0f, count, state_ + at); });
  }

  // Numbers of tokens of the block, and factors of theirs in the order of the buffer.
  template <class Number>
  static Number* at(const core::Tensor<Number>& tensor, int token, int head) {
    return tensor.data + token * tensor.token_stride + head * tensor.head_stride;
  }
  const float* key(int i) const { return at(c_.key, token_ + i, key_head_); }
  const float* gates(int i) const { return at(c_.gates, token_ + i, head_); }
  Factors query(int i, int number) const { return {at(c_.query, token_ + i, query_head_ + number), nullptr, c_.scale, false}; }
  bool is_made() const { return by_key && room_ > 0; }
  Factors made(int i, int number) const { return {buffer_ + (i * made_rows + number) * c_.head_dim, nullptr, 1.0f, true}; }
  Factors gates_of(int i) const { return is_made() ? made(i, 0) : Factors{nullptr, gates(i), 1.0f, false}; }
  Factors read_factors(int i) const {
    if (!makes_next) return {key(i), nullptr, 1.0f, true};
    if (is_made()) return made(i, 1);
    return {key(i), by_key ? gates(i) : nullptr, by_head ? gate_[i] : 1.0f, false};
  }

  // A block of at most so many tokens: it ends where numbers of the state must be swept to 0, which is done before its first
  // token. Its last token reads for the one behind it, if that is before `end` and nothing is swept in between.
  void begin_block(int most, [[maybe_unused]] int end, float& decayed) {
    if constexpr (looks_ahead) has_read_ = reads_ahead_, reads_ahead_ = false;
    count_ = 0, sweeps_ = false;
    for (int i = 0; i < most + looks_ahead; ++i) {
      const bool ahead = looks_ahead && i == most;
      if (ahead && (queries_ == 0 || token_ + i == end)) break;
      if constexpr (gated || is_delta) {
        float lowest = token_log_decay;
        if constexpr (by_head) lowest = lower_log_gate<Scalar>(lowest, *gates(i));
        if constexpr (by_key) lowest = lowest_log_gate<Isa>(gates(i), c_.head_dim);
        const float sum = Scalar::add(decayed, lowest);
        if (Scalar::less(sum, least_log_gate)) {
          if (i > 0) break;
          sweeps_ = true;
          decayed = lowest;
        } else if (!ahead) {
          decayed = sum;
        }
        if constexpr (by_head) gate_[i] = *gates(i);
      }
      if constexpr (by_key) {
        if (is_made()) make_rows(i);
      }
      if constexpr (looks_ahead) reads_ahead_ = ahead;
      if (!ahead) ++count_;
    }
    if constexpr (by_head) {
      map_row<Isa>(gate_, count_ + reads_ahead_, gate_, [&](Vec g, int, int) ATTEND_INLINE_LAMBDA { return gate_of<Isa>(g); });
    }
  }
  void make_rows(int i) {
    const int dims = c_.head_dim;
    float* const to = buffer_ + i * made_rows * dims;
    make_factors<Isa, decay>({nullptr, gates(i), 1.0f, false}, 0, dims, to);
    if constexpr (makes_next) {
      const float* const k = key(i);
      map_row<Isa>(to, dims, to + dims,
                   [&](Vec a, int d, int count) ATTEND_INLINE_LAMBDA { return Isa::mul(a, load_some<Isa>(k + d, count)); });
    }
  }

  // Some panels before their tokens: they come from what the call begins with, and where they are swept, numbers below 2^-100
  // become +0. NaN stays NaN.
  ATTEND_NOINLINE void bring(int first, int end) {
    const float* const from = begin_ != nullptr ? begin_ : state_;
    for_each_run(first, end, [&](size_t at, int count) ATTEND_INLINE_LAMBDA {
      if (!sweeps_) return copy_row<Isa>(from + at, count, state_ + at);
      map_row<Isa>(from + at, count, state_ + at, [&](Vec a, int, int) ATTEND_INLINE_LAMBDA {
        return where_at_least<Isa>(size_of<Isa>(a), Isa::broadcast(least_of_state), a, Isa::sub(a, a));
      });
    });
  }

  // Groups of columns, as many side by side as stay in the first-level cache.
  void for_each_group() {
    const int end = at_most(end_ * panel_keys, c_.value_dim);
    for (int column = first_ * panel_keys, count; column < end; column += count) {
      const int panel = column / panel_keys, left = end - column;
      count = at_most(left, lanes);
      if (vecs > 1 && lanes > 1 && left >= 2 * lanes) count = 2 * lanes;
      if (vecs == 4 && left >= 4 * lanes && (lanes == 1 || c_.head_dim * 4 * lanes <= group_floats)) count = 4 * lanes;
      if ((sweeps_ || begin_ != nullptr) && column % panel_keys == 0) bring(panel, core::panel_count(column + count));
      StateColumns columns = {state_ + column, c_.value_dim, panel_keys, count, c_.head_dim};
      if (!is_plain()) {
        columns.data = state_ + size_t(panel * panel_keys) * size_t(c_.head_dim) + column % panel_keys;
        columns.stride = at_most(c_.value_dim - panel * panel_keys, panel_keys);
        columns.apart = ptrdiff_t(panel_keys) * c_.head_dim;
      }
      pass(columns, column);
    }
    begin_ = nullptr;
  }

  // The tokens of a block pass through a group of columns.
  ATTEND_NOINLINE void pass(const StateColumns& columns, int column) {
    alignas(config::alignment) float u[group_columns];
    const float* has = nullptr;  // u of token i
    if (looks_ahead && has_read_) has = output_row(0, 0) + column;
    Read next{};
    for (int i = 0; i < count_;) {
      next.to = nullptr;
      if constexpr (!is_delta) {
        if (count_ - i >= 2 && queries_ <= 1) {
          take<2, false>(columns, column, i, nullptr, next);
          i += 2;
          continue;
        }
      }
      if constexpr (is_delta) {
        if (has == nullptr) this->read(columns, before(i, column, u)), has = u;
      }
      if constexpr (looks_ahead) {
        if (i + 1 < count_) next = before(i + 1, column, u);
        if (i + 1 == count_ && reads_ahead_) next = before(i + 1, column, output_row(i + 1, 0) + column);
        if (next.to != nullptr && queries_ > 0) take<1, true>(columns, column, i, has, next);
      }
      if (next.to == nullptr || queries_ == 0) take<1, false>(columns, column, i, has, next);
      has = next.to;
      ++i;
    }
  }
  const float* value(int i, int column) const { return at(c_.value, token_ + i, head_) + column; }
  Read readout(int i, int number, int column) const {
    return {query(i, number), output_row(i, number) + column, nullptr, 0.0f};
  }
  Read before(int i, int column, float* to) const {
    return {read_factors(i), to, value(i, column), *at(c_.beta, token_ + i, head_)};
  }

  template <int tokens, bool reads>
  ATTEND_ALWAYS_INLINE void take(const StateColumns& columns, int column, int i, const float* u, const Read& next) {
    Taken with[tokens];
    alignas(config::alignment) float none[group_columns];
    for (int t = 0; t < tokens; ++t) {
      with[t].key = key(i + t);
      with[t].gate = by_head ? gate_[i + t] : 1.0f;
      if constexpr (by_key) with[t].gates = gates_of(i + t);
      with[t].u = is_delta ? u : value(i + t, column);
      with[t].output = Read{{key(i + t), nullptr, 1.0f, true}, none, nullptr, 0.0f};
      if (queries_ > 0) with[t].output = readout(i + t, 0, column);
      if (looks_ahead && queries_ == 0 && next.to != nullptr) with[t].output = next;  // no outputs: it takes their place
    }
    update<tokens, reads>(columns, with, next);
    for (int q = 1; q < queries_; ++q) this->read(columns, readout(i, q, column));  // tokens is 1 then
  }
  float* output_row(int i, int number) const { return at(c_.output, token_ + i, queries_ > 1 ? query_head_ + number : head_); }

  // The loops for so many columns.
  template <int tokens, bool reads>
  ATTEND_ALWAYS_INLINE static void update(const StateColumns& s, const Taken (&with)[tokens], const Read& next) {
    if (s.count == vecs * lanes) return update_columns<Isa, rule, decay, tokens, vecs, true, reads>(s, with, next);
    if constexpr (vecs == 4 && lanes > 1) {
      if (s.count == 2 * lanes) return update_columns<Isa, rule, decay, tokens, 2, true, reads>(s, with, next);
    }
    update_columns<Isa, rule, decay, tokens, 1, lanes == 1, reads>(s, with, next);
  }
  static void read(const StateColumns& s, const Read& read) {
    if (s.count == vecs * lanes) return read_columns<Isa, decay, vecs, true>(s, read);
    if constexpr (vecs == 4 && lanes > 1) {
      if (s.count == 2 * lanes) return read_columns<Isa, decay, 2, true>(s, read);
    }
    read_columns<Isa, decay, 1, lanes == 1>(s, read);
  }

  const core::LinearAttention& c_;
  const int head_, queries_, query_head_, key_head_, first_, end_;  // queries_: heads that read this state
  const int room_;                                                  // tokens of a block
  float* state_ = nullptr;
  const float* begin_ = nullptr;                 // what the call begins with, until it was copied
  int token_ = 0, count_ = 0;                    // of the block
  bool sweeps_ = false;                          // whether numbers of the state are swept to 0 before it
  bool has_read_ = false, reads_ahead_ = false;  // where delta rules read ahead, u is where its output will be
  float gate_[block_tokens + looks_ahead];
  alignas(config::alignment) float buffer_[by_key ? block_floats : 1];  // [tokens][made_rows][head_dim]
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
