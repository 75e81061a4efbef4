// Provides the keys of a block as panels, or as rows where heads are wide and query rows few (key_rows.h), and its values as
// rows. Keys and values that already lie so are read in place; others are copied to work memory first, as floats.

// The most keys per block for one row (C plans up to 512, OptionPlan 64). Nothing is read while scores become weights, and
// prefetches cover more of a shorter pause: that pays for halves. Floats need none, and int8 is bound by arithmetic.
inline int decode_block(const core::Options& options) {
  const bool halves = options.key_format == core::Format::float16 || options.key_format == core::Format::bfloat16;
  return halves ? 128 : config::decode_keys;
}

template <class Isa, class Features>
class KeySource {
 public:
  KeySource(const core::Problem& problem, const core::Options& options, const core::HostWorkMemory& at)
      : problem_(problem),
        options_(options),
        panels_(floats_at(problem, at.panels)),
        values_(floats_at(problem, at.values)),
        panel_rows_(floats_at(problem, at.panel_rows)),
        key_scales_(floats_at(problem, at.key_scales)),
        value_scales_(floats_at(problem, at.value_scales)) {}

  // The keys at positions key + from ... key + to - 1, where `from` is a whole number of panels. Indices into what is read of
  // them count from position `key`.
  struct Block {
    int key;
    int from;
    int to;
    bool begun;          // whether the rows' sums of the segment have begun
    bool together;       // whether their panels lie one after another, and each may be read
    signed char finite;  // whether all values are; -1: not known yet
    ptrdiff_t slot;      // of position `key`, where they lie together
    Panels panels;
    Values values;            // like panels, in another format than float32 only where they are read as they lie
    const float* key_scales;  // of keys that are packed as floats; panels of other formats have theirs
    const float* value_scales;
  };

  // Begins with a key/value head, for so many query rows; together: they all see about the same keys. Rows of keys are read
  // side by side, and only calls with features have memory to copy other keys to.
  void take_head(int head, int rows, bool together) {
    keeps_rows_ = together && !problem_.key_panels && (Features::any || problem_.key.token_stride == problem_.head_dim) &&
                  keeps_key_rows(rows, problem_.head_dim);
    if (problem_.keys <= origin()) return;  // there may be no arrays either
    keys_of_head_ = moved(problem_.key.data, head * problem_.key.head_stride, key_format());
    values_of_head_ = moved(problem_.value.data, head * problem_.value.head_stride, value_format());
    if constexpr (Features::any) {
      const auto scales_of_head = [head](const void* scales, ptrdiff_t stride) {
        return scales == nullptr ? nullptr : static_cast<const float*>(scales) + head * stride;
      };
      key_scales_of_head_ = scales_of_head(options_.key_scales, options_.key_scale_stride);
      value_scales_of_head_ = scales_of_head(options_.value_scales, options_.value_scale_stride);
    }
  }

  // Keys for so many rows. A few rows read other formats in place, a single one int4; for more they are widened, anew for each
  // block of rows and head: work memory has room for a block of keys. Values are gathered when several tiles read them and they
  // lie far apart, because they would then share few sets of the cache.
  Block take_keys(int key, int from, int to, const BlockVisibility& visibility, int rows) {
    Block made;  // not zeroed first: for so few fields GCC writes a loop that takes as long as a small call
    made.key = key;
    made.from = from;
    made.to = to;
    made.begun = false;
    made.together = lie_together(key, from, to, visibility);
    made.finite = -1;
    made.slot = slot_of(key + from) - from;
    const bool widens_in_kernels = Features::any && rows <= most_widening_rows && made.together;
    const bool reads_keys_in_place = widens_in_kernels && problem_.key_panels && widens_in_registers(key_format(), rows);
    const bool gathers = rows > (problem_.value.token_stride <= 256 ? 12 : 3) * Isa::tile_rows && !problem_.key_panels &&
                         lies_apart(problem_.value.token_stride, problem_.value_dim);
    const bool reads_values_in_place = (widens_in_kernels && widens_in_registers(value_format(), rows)) ||
                                       (made.together && !gathers && value_format() == core::Format::float32);
    const float* const key_scales = scales(key_scales_of_head_, made, visibility, key_scales_);
    made.panels = keeps_rows_ ? Panels() : reads_keys_in_place ? panels_in_place(made) : float_panels(made, visibility);
    made.panels.scales = reads_keys_in_place ? key_scales : nullptr;
    made.key_scales = reads_keys_in_place ? nullptr : key_scales;
    made.values = reads_values_in_place ? values_in_place(made) : float_values(made, visibility);
    made.value_scales = scales(value_scales_of_head_, made, visibility, value_scales_);
    return made;
  }

  // Whether keys are read in rows.
  bool keeps_rows() const { return keeps_rows_; }
  // Work memory of as many floats as the keys of a block: where they are packed, or what key_rows.h says.
  float* work() const { return panels_; }

  // Keys from ... from + count - 1 of a block, at most 16, as floats, [count][head_dim].
  const float* key_rows(const Block& block, int from, int count) const {
    const ptrdiff_t stride = problem_.key.token_stride;
    const int dims = problem_.head_dim;
    if (!Features::any ||
        (block.together && key_format() == core::Format::float32 && stride == dims && block.key + from >= origin())) {
      return static_cast<const float*>(keys_of_head_) + (block.slot + from - origin()) * dims;
    }
    for (int i = 0; i < count; ++i) {
      const int key = at_least(block.key + from + i, origin());  // keys before do not exist
      widen_row<Isa>(key_format(), moved(keys_of_head_, (slot_of(key) - origin()) * stride, key_format()), dims,
                     panel_rows_ + ptrdiff_t(i) * dims);
    }
    return panel_rows_;
  }

  // Calls with the first key and the end of each run of panels of a block that any row sees.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_run(const Block& block, const BlockVisibility& visibility, Call call) const {
    for (int k = block.from, end; k < block.to; k = end + panel_keys) {
      for (end = k; end < block.to && any_sees(block.key + end, visibility); end += panel_keys) {
      }
      if (end > k) call(k, at_most(end, block.to));
    }
  }

  // Prefetches the first lines of keys and of values that come next, but lie elsewhere: they bring the pages' addresses and
  // wake the hardware prefetcher. All lines of a panel would hold up the loads of the keys before.
  void prefetch(int key, int count) const {
    if (count <= 0) return;
    const ptrdiff_t slot = slot_of(key) - origin();
    const ptrdiff_t key_stride = problem_.key_panels ? problem_.head_dim : problem_.key.token_stride;
    prefetch_first(moved(keys_of_head_, slot * key_stride, key_format()));
    prefetch_first(moved(values_of_head_, slot * problem_.value.token_stride, value_format()));
  }

  // Widens the block's values to floats where they are none.
  void widen_values(Block& block, const BlockVisibility& visibility) {
    if (block.values.format != core::Format::float32) block.values = float_values(block, visibility);
  }

  // Whether all values of a block, or their scales, are finite: looked for once.
  bool are_finite(Block& block, const BlockVisibility& visibility) {
    if (block.finite < 0) {
      const int first = at_least(block.from, visibility.earliest.call_begin - block.key);
      if (value_format() == core::Format::int8) {
        block.finite = block.value_scales == nullptr || numbers_are_finite(block.value_scales, block.from, block.to);
      } else {
        widen_values(block, visibility);
        const float* const values = static_cast<const float*>(block.values.data);
        block.finite = rows_are_finite<Isa>(values, block.values.stride, first, block.to, problem_.value_dim);
      }
    }
    return block.finite > 0;
  }

 private:
  static void prefetch_first(const void* data) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      ATTEND_PREFETCH(static_cast<const char*>(data) + i * cache_line);
      keep_loads_in_order();  // or GCC takes a function of nothing but prefetches for one that does nothing
    }
  }

  // In how many of the 64 sets of a first-level cache rows begin that are `stride` floats apart.
  static ptrdiff_t sets_of(ptrdiff_t stride) {
    constexpr ptrdiff_t line_floats = 16, sets = 64;
    if (stride % line_floats != 0) return sets;
    const ptrdiff_t lines = stride / line_floats | sets;
    return sets / (lines & -lines);
  }
  // Whether values had better be gathered: where rows lie at least twice their length apart, or begin in fewer sets of the
  // cache than adjacent rows would.
  static bool lies_apart(ptrdiff_t stride, int dims) {
    return stride != dims && (stride >= 2 * ptrdiff_t(dims) || sets_of(stride) < sets_of(dims));
  }

  core::Format key_format() const { return Features::any ? options_.key_format : core::Format::float32; }
  core::Format value_format() const { return Features::any ? options_.value_format : core::Format::float32; }
  // Whether tiles of so few rows widen numbers of a format in registers.
  static bool widens_in_registers(core::Format format, int rows) {
    return format == core::Format::int4 ? rows == 1 : format != core::Format::float32;
  }
  // Position of the first key of an array or a cache; in a cache a panel begins there.
  int origin() const { return Features::any ? options_.origin : 0; }
  int slot_of(int key) const { return Features::any ? ATTEND_ISA::slot_of(options_.paging, problem_.keys, key) : key; }

  // Whether the panels of some keys lie one after another, and some row sees each: others may be gone.
  bool lie_together(int key, int from, int to, const BlockVisibility& visibility) const {
    if constexpr (!Features::any) return true;
    const int panel = (key + from) / panel_keys, panels = (whole_panels(to) - from) / panel_keys;
    return run_length(options_.paging, keys_taken(options_.paging, problem_.keys), panel, panels) >= panels &&
           visibility.has_all_panels(key + from, key + to);
  }

  bool any_sees(int first_key, const BlockVisibility& visibility) const {  // any of a panel's keys
    return !Features::any || visibility.has_any(first_key, first_key + panel_keys);
  }

  // The panels of a cache where they lie.
  Panels panels_in_place(const Block& block) const {
    return {moved(keys_of_head_, (block.slot - origin()) * problem_.head_dim, key_format()), key_format(), nullptr,
            problem_.head_dim};
  }

  // Panels of floats: keys from block.from on lie from * head_dim behind what is returned.
  Panels float_panels(const Block& block, const BlockVisibility& visibility) {
    if (problem_.key_panels && block.together && key_format() == core::Format::float32) return panels_in_place(block);
    Panels packed = {panels_, core::Format::float32, nullptr, problem_.head_dim};
    for (int k = block.from; k < block.to; k += panel_keys) {
      if (!any_sees(block.key + k, visibility)) continue;  // scores of what lies there are masked, whatever they are
      float_panel(block.key + k, at_most(block.to - k, panel_keys), panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return packed;
  }

  // One panel of floats, widened or packed.
  void float_panel(int key, int count, float* panel) {
    const int dims = problem_.head_dim, slot = slot_of(key);
    if (problem_.key_panels) {
      const void* const from = moved(keys_of_head_, ptrdiff_t(slot - origin()) * dims, key_format());
      return widen_panel<Isa>(key_format(), from, dims, panel);
    }
    const ptrdiff_t stride = problem_.key.token_stride;
    const int first = at_least(origin() - key, 0);  // keys before do not exist
    const void* const from = moved(keys_of_head_, (slot + first - origin()) * stride, key_format());
    if (first == 0 && key_format() == core::Format::float32) {
      return pack_panel<Isa>(static_cast<const float*>(from), stride, count, dims, panel);
    }
    for (int i = 0; i < count; ++i) {
      const ptrdiff_t steps = at_least(i - first, 0);
      widen_row<Isa>(key_format(), moved(from, steps * stride, key_format()), dims, panel_rows_ + ptrdiff_t(i) * dims);
    }
    pack_panel<Isa>(panel_rows_, dims, count, dims, panel);
  }

  Values values_in_place(const Block& block) const {
    const ptrdiff_t stride = problem_.value.token_stride;
    return {moved(values_of_head_, (block.slot - origin()) * stride, value_format()), value_format(), stride, chain_keys,
            values_};
  }

  // A block's values as floats, side by side.
  Values float_values(const Block& block, const BlockVisibility& visibility) {
    for (int k = block.from; k < block.to; k += panel_keys)
      gather_values(block.key, k, at_most(k + panel_keys, block.to), visibility);
    return {values_, core::Format::float32, problem_.value_dim, chain_keys, nullptr};
  }

  // A panel of a block's values as floats.
  void gather_values(int key, int from, int to, const BlockVisibility& visibility) {
    const int dims = problem_.value_dim;
    const bool any_row_sees = any_sees(key + from, visibility);
    const ptrdiff_t slot = any_row_sees ? slot_of(key + from) - origin() : 0;
    for (int i = from; i < to; ++i) {
      float* const row = values_ + ptrdiff_t(i) * dims;
      if (!any_row_sees || key + i < origin()) {
        fill_row<Isa>(0.0f, dims, row);
        continue;
      }
      const void* const value = moved(values_of_head_, (slot + i - from) * problem_.value.token_stride, value_format());
      if (value_format() == core::Format::float32) {
        copy_row<Isa>(static_cast<const float*>(value), dims, row);
      } else {
        widen_row<Isa>(value_format(), value, dims, row);
      }
    }
  }

  // Scales of a block's keys or values, for whole panels; null if there are none.
  const float* scales(const float* scales, const Block& block, const BlockVisibility& visibility, float* work) const {
    if (!Features::any || scales == nullptr) return nullptr;
    if (block.to % panel_keys == 0 && block.key + block.from >= origin() && block.together) {
      return scales + (block.slot - origin());
    }
    return copied_scales(scales, block, visibility, work);
  }
  const float* copied_scales(const float* scales, const Block& block, const BlockVisibility& visibility, float* work) const {
    const int key = block.key, from = block.from, to = block.to;
    for (int k = from; k < to; k += panel_keys) {
      fill_row<Isa>(0.0f, panel_keys, work + k);  // of keys that nobody sees, or that do not exist
      if (!any_sees(key + k, visibility)) continue;
      const int first = at_least(origin() - key - k, 0), end = at_most(to - k, panel_keys);
      copy_row<Isa>(scales + (slot_of(key + k) + first - origin()), end - first, work + k + first);
    }
    return work;
  }

  const core::Problem& problem_;
  const core::Options& options_;
  float* const panels_;
  float* const values_;
  float* const panel_rows_;
  float* const key_scales_;
  float* const value_scales_;
  bool keeps_rows_ = false;
  const void *keys_of_head_ = nullptr, *values_of_head_ = nullptr;
  const float *key_scales_of_head_ = nullptr, *value_scales_of_head_ = nullptr;
};
