// Where the keys and values of the embedded pipeline lie: with options anywhere, in panels of 16, in any number format.
//
// A run is keys of a chain whose panels lie one after another in memory. Rows of one tile read numbers where they lie, and
// widen them in registers. For more rows, and of int4 for any, a panel of keys or some columns of a chain's values are widened
// once, in work memory; and values are brought together there where a chain has several runs.

struct KeyRun {
  int place;  // of the first key: how many keys of memory lie before it
  int count;  // of keys
};

template <class Isa, class Features>
class EmbeddedKeys {
 public:
  EmbeddedKeys(const core::Problem& problem, const core::Options& options)
      : problem_(problem),
        options_(options),
        keys_(problem.key.data),
        values_(problem.value.data),
        key_scales_(static_cast<const float*>(options.key_scales)),
        value_scales_(static_cast<const float*>(options.value_scales)) {}

  template <class Number>
  const Number* keys() const {
    return numbers_of<Number>(keys_);
  }
  template <class Number>
  const Number* values() const {
    return numbers_of<Number>(values_);
  }
  core::Format key_format() const { return Features::arrays ? options_.key_format : Features::format; }
  core::Format value_format() const { return Features::arrays ? options_.value_format : Features::format; }

  // The scales of the key/value head's keys or values, by places; null if they have none.
  const float* key_scales() const { return key_format() == core::Format::int8 ? key_scales_ : nullptr; }
  const float* value_scales() const { return value_format() == core::Format::int8 ? value_scales_ : nullptr; }

  // To the next key/value head.
  void next_head(const core::Problem&) {
    if (Features::arrays && problem_.keys <= origin()) return;  // there may be no arrays either
    keys_ = moved(keys_, problem_.key.head_stride, key_format());
    values_ = moved(values_, problem_.value.head_stride, value_format());
    if (key_scales_ != nullptr) key_scales_ += options_.key_scale_stride;
    if (value_scales_ != nullptr) value_scales_ += options_.value_scale_stride;
  }

  // The first run of `count` keys, from the first of a panel on.
  KeyRun run_at(int key, int count) const {
    if (options_.paging.pages == nullptr && options_.paging.ring_panels == 0) return {key - origin(), count};
    return paged_run(key, count);
  }

  // Calls call(place, begin, end) for each run of a chain's keys from ... to - 1, counted from the chain's first; place is
  // where key 0 of the chain would lie if it were in that run.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_unit(int key, int from, int to, Call call) const {
    for (int k = from & -panel_keys; k < to;) {
      const KeyRun next = run_at(key + k, to - k);
      call(next.place - k, at_least(k, from), k + next.count);
      k += next.count;
    }
  }

  // A panel of keys as floats: of a cache its panel, of arrays so many keys.
  void widen_panel(int place, int count, float* to) const {
    const int dims = problem_.head_dim;
    const bool panels = !Features::arrays || problem_.key_panels;
    const ptrdiff_t stride = panels ? dims : problem_.key.token_stride;
    const void* const from = moved(keys_, place * stride, key_format());
    if (panels && key_format() == core::Format::int4) return ATTEND_ISA::widen_panel<Isa>(core::Format::int4, from, dims, to);
    widen_rows(key_format(), from, stride, panels ? 1 : count, 0, panels ? panel_keys * dims : dims, to);
  }

  // Columns of values as floats, side by side.
  void widen_values(int place, int count, int column, int columns, float* to) const {
    const ptrdiff_t stride = problem_.value.token_stride;
    widen_rows(value_format(), moved(values_, place * stride, value_format()), stride, count, column, columns, to);
  }

 private:
  int origin() const { return Features::arrays ? options_.origin : 0; }

  // Some columns of rows.
  ATTEND_NOINLINE static void widen_rows(core::Format format, const void* from, ptrdiff_t stride, int count, int column,
                                         int width, float* to) {
    for (int i = 0; i < count; ++i) {
      if (format == core::Format::int4) {
        widen_columns<Isa>(numbers_of<core::Int4Group>(from), column, width, to);
      } else if constexpr (Features::arrays) {
        widen_row<Isa>(format, moved(from, column, format), width, to);
      } else if constexpr (Features::format != core::Format::int4) {
        Isa::widen(numbers_of<NumberOf<Features::format>>(from) + column, width, to);
      }
      from = moved(from, stride, format);
      to += width;
    }
  }

  ATTEND_NOINLINE KeyRun paged_run(int key, int count) const {
    const core::Paging& paging = options_.paging;
    const int panel = key / panel_keys, taken = keys_taken(paging, problem_.keys);
    return {slot_panel(paging, taken, panel) * panel_keys - origin(),
            at_most(run_length(paging, taken, panel, whole_panels(count) / panel_keys) * panel_keys, count)};
  }

  const core::Problem& problem_;
  const core::Options& options_;

  const void *keys_, *values_;  // of the key/value head, as the scales are
  const float *key_scales_, *value_scales_;
};

// The keys and values of a plain call: floats that lie one after another.
template <class Isa>
class EmbeddedKeys<Isa, NoFeatures> {
 public:
  ATTEND_ALWAYS_INLINE explicit EmbeddedKeys(const core::Problem& problem)
      : keys_(static_cast<const float*>(problem.key.data)), values_(static_cast<const float*>(problem.value.data)) {}

  template <class Number>
  const Number* keys() const {
    return keys_;
  }
  template <class Number>
  const Number* values() const {
    return values_;
  }
  ATTEND_ALWAYS_INLINE void next_head(const core::Problem& problem) {
    keys_ = stepped(keys_, problem.key.head_stride);
    values_ = stepped(values_, problem.value.head_stride);
  }
  static KeyRun run_at(int key, int count) { return {key, count}; }

 private:
  // By the address, because a problem without keys may have no arrays either, and from null there is nowhere to step.
  static const float* stepped(const float* from, ptrdiff_t floats) {
    return reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(from) + uintptr_t(floats) * sizeof(float));
  }

  const float *keys_, *values_;  // of the key/value head
};
