// Applies options to a row of scores, in the order of the header: scale of the key, cap, biases, masks.
//
// Each option that is on goes over the row once, while it is in the first-level cache; a row has 128 scores at most.

ATTEND_HOT_DATA constexpr float lane_numbers[panel_keys] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// The factors that are the same for all rows of a call.
struct ScoreFactors {
  float query;  // of queries: scores come out in base 2, or with a cap in what tanh_half takes
  float raw;    // from there to natural units
  float cap;    // of the capped score, in base 2
  float bias;   // of biases, in what scores are when they are added

  explicit ScoreFactors(const core::Problem& problem, const core::Options& options)
      : query(base2_scale(problem.scale)), raw(ln_2), cap(0.0f), bias(log2_e) {
    if (magnitude(options.soft_cap) == 0) return;
    const float by_cap = Scalar::mul(2.0f, Scalar::reciprocal(options.soft_cap));
    query = Scalar::mul(query, by_cap);
    if (options.bias_before_cap) bias = Scalar::mul(bias, by_cap);
    raw = Scalar::mul(Scalar::mul(options.soft_cap, 0.5f), ln_2);
    cap = base2_scale(options.soft_cap);
  }
};

// tanh(y * ln(2) / 2) = (2^y - 1) / (2^y + 1)
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec tanh_half(typename Isa::Vec y) {
  using Vec = typename Isa::Vec;
  const Vec shift = Isa::broadcast(whole_shift);
  y = Isa::min(Isa::max(y, Isa::broadcast(-32.0f)), Isa::broadcast(32.0f));
  const Vec whole = Isa::add(y, shift), less_one = power_less_one<Isa>(whole, Isa::sub(y, Isa::sub(whole, shift)));
  return Isa::mul(less_one, near_minus_reciprocal<Isa>(Isa::sub(Isa::broadcast(-2.0f), less_one)));
}

// Caps scores of whole panels; some vectors side by side, as each is a long chain of operations.
template <class Isa>
ATTEND_NOINLINE void cap_scores(float* scores, int count, float cap) {
  constexpr int panel_vecs = panel_keys / Isa::lanes, step_size = Isa::lanes == 1 || panel_vecs < 2 ? 1 : 2;
  const typename Isa::Vec by = Isa::broadcast(cap);
  for (int k = 0; k < count; k += step_size * Isa::lanes) {
    typename Isa::Vec capped[step_size];
    ATTEND_UNROLL
    for (int i = 0; i < step_size; ++i) capped[i] = Isa::mul(by, tanh_half<Isa>(Isa::load(scores + k + i * Isa::lanes)));
    ATTEND_UNROLL
    for (int i = 0; i < step_size; ++i) Isa::store(scores + k + i * Isa::lanes, capped[i]);
  }
}

// A score plus its bias. The bias is in natural units; `unit` is one of these in units of the score. -inf where the bias is
// -inf, whatever the score was.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec biased(typename Isa::Vec score, typename Isa::Vec bias, typename Isa::Vec unit) {
  const typename Isa::Vec lowest = Isa::broadcast(-ATTEND_INFINITY);
  return Isa::where_equal(bias, lowest, lowest, Isa::fma(bias, unit, score));
}

template <class Isa>
ATTEND_ALWAYS_INLINE void add_biases(float* scores, const float* bias, int count, float by = log2_e) {
  const typename Isa::Vec unit = Isa::broadcast(by);
  int k = 0;
  for (; count - k >= 4 * Isa::lanes; k += 4 * Isa::lanes) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      float* const at = scores + k + i * Isa::lanes;
      Isa::store(at, biased<Isa>(Isa::load(at), Isa::load(bias + k + i * Isa::lanes), unit));
    }
  }
  map_row<Isa>(scores + k, count - k, scores + k, [&](typename Isa::Vec score, int i, int lanes) {
    return biased<Isa>(score, load_some<Isa>(bias + k + i, lanes), unit);
  });
}

template <class Isa>
void mask_by_bias(float* scores, const float* bias, int count) {
  const typename Isa::Vec lowest = Isa::broadcast(-ATTEND_INFINITY);
  map_row<Isa>(scores, count, scores, [&](typename Isa::Vec score, int k, int lanes) {
    return Isa::where_equal(load_some<Isa>(bias + k, lanes), lowest, lowest, score);
  });
}

template <class Isa>
void add_same_bias(float* scores, float bias, int count) {
  if (bits_to<uint32_t>(bias) == minus_infinity) return fill_row<Isa>(bias, count, scores);
  const typename Isa::Vec unit = Isa::broadcast(log2_e), b = Isa::broadcast(bias);
  map_row<Isa>(scores, count, scores, [&](typename Isa::Vec score, int, int) { return Isa::fma(b, unit, score); });
}

// scores[k] += slope * (distance + k)
template <class Isa>
void add_slope(float* scores, float slope, int64_t distance, int count) {
  const float factor = base2_scale(slope);
  if (distance >= -(1 << 22) && distance < (1 << 22)) {  // sums are exact
    const typename Isa::Vec by = Isa::broadcast(factor), step = Isa::broadcast(float(Isa::lanes));
    typename Isa::Vec far = Isa::sub(Isa::add(Isa::broadcast(whole_to_float(distance)), Isa::load(lane_numbers)), step);
    map_row<Isa>(scores, count, scores, [&](typename Isa::Vec score, int, int) {
      far = Isa::add(far, step);
      return Isa::fma(by, far, score);
    });
  } else {
    for (int k = 0; k < count; ++k) scores[k] = Scalar::fma(factor, whole_to_float(distance + k), scores[k]);
  }
}

// The table of relative positions, for keys from `distance` after the query's position on.
template <class Isa>
void add_relative(float* scores, const float* table, int left, int right, int64_t distance, int count) {
  const auto keys_before = [&](int64_t position) {
    return position <= distance ? 0 : position - distance < count ? int(position - distance) : count;
  };
  const int begin = keys_before(-int64_t(left)), end = keys_before(int64_t(right) + 1);
  add_same_bias<Isa>(scores, table[0], begin);
  if (begin < end) add_biases<Isa>(scores + begin, table + (distance + begin + left), end - begin);
  add_same_bias<Isa>(scores + end, table[left + right], count - end);
}

// Masks the keys whose byte is 0.
template <class Isa>
void mask_by_bytes(float* scores, const uint8_t* mask, int count) {
  int k = 0;
  if constexpr (Isa::lanes > 1) {
    const typename Isa::Vec lowest = Isa::broadcast(-ATTEND_INFINITY);
    for (; count - k >= Isa::lanes; k += Isa::lanes) {
      Isa::store(scores + k, Isa::where_bytes(mask + k, Isa::load(scores + k), lowest));
    }
  }
  for (; k < count; ++k) {
    if (mask[k] == 0) scores[k] = -ATTEND_INFINITY;
  }
}

// The bits of a panel's keys, from bit `first` on. Reads only bytes that hold one of them.
inline unsigned bits_of_panel(const uint8_t* mask, ptrdiff_t first) {
  static_assert(panel_keys == 16, "two bytes have the bits of a panel, or three");
  const uint8_t* bytes = mask + (first >> 3);
  const unsigned shift = unsigned(first & 7), two = bytes[0] | unsigned(bytes[1]) << 8;
  return shift == 0 ? two : (two | unsigned(bytes[2]) << 16) >> shift;
}

// Masks the keys whose bit is 0; the first key has bit `first`.
template <class Isa>
void mask_by_bits(float* scores, const uint8_t* mask, ptrdiff_t first, int count) {
  int k = 0;
  if constexpr (Isa::lanes > 1) {
    const typename Isa::Vec lowest = Isa::broadcast(-ATTEND_INFINITY);
    for (; count - k >= panel_keys; k += panel_keys) {
      const unsigned bits = bits_of_panel(mask, first + k);
      ATTEND_UNROLL
      for (int i = 0; i < panel_keys; i += Isa::lanes) {
        Isa::store(scores + k + i, Isa::where_bits(bits >> i, Isa::load(scores + k + i), lowest));
      }
    }
  }
  for (; k < count; ++k) {
    if (!bit_of(mask, first + k)) scores[k] = -ATTEND_INFINITY;
  }
}

// Some keys of a row, at positions key + from ... key + to - 1, where `from` is a whole number of panels.
struct KeySpan {
  int key;
  int from;
  int to;
};

// The changes that a call makes to scores.
struct ScoreUse {
  bool modifies_scores;  // anything but scales of keys and what tokens see by position
  bool has_masks;        // a mask may leave out keys between others
};

inline ScoreUse score_use(const core::Options& options) {
  static_assert(core::option_count == 34, "attend: what does the new option do to scores?");
  const bool has_bias = options.bias.data != nullptr, has_mask = options.mask.data != nullptr;
  const bool has_relative = options.relative != nullptr,
             others = options.scores.data != nullptr || options.alibi_slopes != nullptr;
  return {others || has_relative || has_bias || has_mask || magnitude(options.soft_cap) != 0,
          has_bias || has_mask || has_relative};
}

// Whether a call without options does all that these ask for, of numbers of one format.
inline bool has_no_option(const core::Options& options, const TensorFormats& formats, core::Format plain) {
  static_assert(core::option_count == 34, "attend: does a call without options do without the new one?");
  const bool arrays = options.sink_logits != nullptr || options.lse.data != nullptr || options.states.data != nullptr ||
                      options.key_scales != nullptr || options.value_scales != nullptr;
  const bool all_plain = formats.query == plain && formats.key == plain && formats.value == plain && formats.output == plain;
  return !score_use(options).modifies_scores && !arrays && all_plain && options.left < 0 && options.right < 0 &&
         options.query_zero == 0 && options.paging.pages == nullptr && options.paging.ring_panels == 0 && options.origin == 0 &&
         options.first_key == 0;
}

// Whether any score of whole panels is minus infinity.
template <class Isa>
bool any_masked(const float* scores, int count) {
  typename Isa::Vec deepest = Isa::zero();
  for (int k = 0; k < count; k += Isa::lanes) deepest = Isa::max(deepest, Isa::sub(Isa::zero(), Isa::load(scores + k)));
  return Isa::highest_lane(deepest) > 3.4028235e+38f;  // infinite
}

// A token of a query head, what it sees by position, and where its rows of the masks begin.
struct QueryRow {
  ptrdiff_t bias_at;
  ptrdiff_t mask_at;
  Visibility visibility;
  int token;
  int head;
};

static_assert(sizeof(QueryRow) <= core::HostWorkMemory::query_row_floats * sizeof(float), "the work memory has room for it");

inline QueryRow query_row(const core::Problem& problem, const core::Options& options, int token, int head) {
  return {mask_row(options.bias, token, head), mask_row(options.mask, token, head), visibility_of(problem, options, token),
          token, head};
}

template <class Isa>
class ScoreMod {
 public:
  ATTEND_ALWAYS_INLINE ScoreMod(const core::Problem& problem, const core::Options& options)
      : problem_(problem), options_(options), factors_(problem, options) {}

  float query_scale() const { return factors_.query; }

  // Applies the score modifications in place. Masked keys get -inf, but from visibility.end on the softmax masks.
  //   scores      [rows][score_keys]; [0] is the key at span.key; whole panels are read and written
  //   key_scales  of the same keys, or null
  //   by_position whether some row does not see some key from span.from on before its end
  void apply(float* scores, const QueryRow* rows, int count, const KeySpan& span, const float* key_scales,
             bool by_position) const {
    const int keys = span.to - span.from, key = span.key + span.from, padded = whole_panels(keys);
    const ScoreRows for_rows = {scores + span.from, rows, count};
    if (key_scales != nullptr) {
      for_rows([&](float* row, const QueryRow&) { multiply_rows(row, padded, key_scales + span.from); });
    }
    if (shows(core::Scores::raw)) for_rows([&](float* row, const QueryRow& at) { show(row, at, key, keys, factors_.raw); });
    if (options_.bias_before_cap) add_bias(for_rows, key, keys);
    if (magnitude(factors_.cap) != 0) {
      for_rows([&](float* row, const QueryRow&) { cap_scores<Isa>(row, padded, factors_.cap); });
    }
    if (shows(core::Scores::capped)) for_rows([&](float* row, const QueryRow& at) { show(row, at, key, keys, ln_2); });
    add_all_biases(for_rows, key, keys);
    if (options_.mask.data != nullptr) mask_rows(for_rows, key, keys);
    if (by_position) {  // what lies before the call's first key, and between the sink tokens and the window
      for_rows([&](float* row, const QueryRow& at) {
        mask_between(row, 0, at_most(at.visibility.call_begin - key, keys));
        mask_between(row, at_least(at.visibility.sink_tokens - key, 0), at_most(at.visibility.window_begin - key, keys));
      });
    }
    if (options_.bias.data != nullptr) {
      // ALiBi or the relative table may have added +inf to a masked score, or the cap has made a number of it: mask it again.
      // Keys that the bias has no column for are masked here alone.
      const bool unmasked = options_.alibi_slopes != nullptr || options_.relative != nullptr || options_.bias_before_cap;
      const float* bias = static_cast<const float*>(options_.bias.data) + key;
      const int there = at_least(at_most(keys, options_.bias.keys - key), 0);
      for_rows([&](float* row, const QueryRow& at) {
        if (unmasked) mask_by_bias<Isa>(row, bias + at.bias_at, there);
        mask_between(row, there, keys);
      });
    }
    const bool weights = shows(core::Scores::weights);  // finish_weights goes on from there
    if (weights || shows(core::Scores::biased)) {
      for_rows([&](float* row, const QueryRow& at) {
        show(row, at, key, at_most(at.visibility.end - key, keys), weights ? 1.0f : ln_2);
      });
    }
  }

  // Before the first keys of a row: all masked.
  void begin(int token, int head) const {
    if (options_.scores.data == nullptr) return;
    // A call that takes some keys fills only its own columns; other calls may be writing theirs.
    const bool takes_some = has_states(options_);
    const int first = takes_some ? options_.first_key : 0, end = takes_some ? problem_.keys : options_.score_keys;
    fill_row<Isa>(-ATTEND_INFINITY, at_least(end - first, 0), shown(token, head) + first);
  }

  // Where the caller wants to see the scores.
  float* shown(int token, int head) const {
    return options_.scores.data + token * options_.scores.token_stride + head * options_.scores.head_stride;
  }

 private:
  // Calls with the scores of each row, and the row.
  struct ScoreRows {
    float* scores;
    const QueryRow* rows;
    int count;

    template <class Call>
    void operator()(Call call) const {
      float* row = scores;
      for (int i = 0; i < count; ++i, row += config::score_keys) call(row, rows[i]);
    }
  };

  // Adds the bias. Called at two stages, and its code is long.
  ATTEND_NOINLINE void add_bias(const ScoreRows& for_rows, int key, int keys) const {
    const float* bias = static_cast<const float*>(options_.bias.data) + key;
    const int there = at_least(at_most(keys, options_.bias.keys - key), 0);
    for_rows([&](float* row, const QueryRow& at) { add_biases<Isa>(row, bias + at.bias_at, there, factors_.bias); });
  }

  // Adds the bias, unless it was before the cap, the table of relative positions and the slopes.
  ATTEND_ALWAYS_INLINE void add_all_biases(const ScoreRows& for_rows, int key, int keys) const {
    if (options_.bias.data != nullptr && !options_.bias_before_cap) add_bias(for_rows, key, keys);
    if (options_.relative != nullptr) {
      for_rows([&](float* row, const QueryRow& at) {
        add_relative<Isa>(row, options_.relative + at.head * options_.relative_head_stride, options_.relative_left,
                          options_.relative_right, distance(at, key), keys);
      });
    }
    if (options_.alibi_slopes != nullptr) {
      for_rows([&](float* row, const QueryRow& at) {
        add_slope<Isa>(row, options_.alibi_slopes[at.head], distance(at, key), keys);
      });
    }
  }

  // Masks the keys that the boolean mask hides or has no column for.
  ATTEND_ALWAYS_INLINE void mask_rows(const ScoreRows& for_rows, int key, int keys) const {
    const uint8_t* mask = static_cast<const uint8_t*>(options_.mask.data);
    const int there = at_least(at_most(keys, options_.mask.keys - key), 0);
    for_rows([&](float* row, const QueryRow& at) {
      if (options_.mask_bits) {
        mask_by_bits<Isa>(row, mask, at.mask_at + key, there);
      } else {
        mask_by_bytes<Isa>(row, mask + (at.mask_at + key), there);
      }
      mask_between(row, there, keys);
    });
  }

  bool shows(core::Scores stage) const { return options_.scores.data != nullptr && options_.score_stage == stage; }

  int64_t distance(const QueryRow& at, int key) const { return int64_t(key) - problem_.offset - at.token; }

  static void multiply_rows(float* row, int padded, const float* by) {
    for (int k = 0; k < padded; k += Isa::lanes) Isa::store(row + k, Isa::mul(Isa::load(row + k), Isa::load(by + k)));
  }

  static void mask_between(float* row, int from, int to) {
    if (from < to) fill_row<Isa>(-ATTEND_INFINITY, to - from, row + from);
  }

  // Copies to the scores that the caller wants to see, of keys that this call goes over.
  void show(const float* row, const QueryRow& at, int key, int count, float factor) const {
    const int skipped = at_least(at.visibility.call_begin - key, 0);
    if (skipped >= count) return;
    multiply_row<Isa>(row + skipped, count - skipped, Isa::broadcast(factor), shown(at.token, at.head) + key + skipped);
  }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreFactors factors_;
};
