// One query row over keys and values of 4 bits.

// Scores of the keys from ... to - 1 and the rest of the last one's panel: keys are what outputs of packed weights are.
template <class Isa>
ATTEND_NOINLINE void score_int4_row(const float* query, const Panels& keys, int from, int to, float* scores) {
  const int groups = keys.head_dim / core::int4_group;
  const auto* panel = static_cast<const core::Int4Panel*>(keys.data) + ptrdiff_t(from / panel_keys) * groups;
  for (; from < to; from += panel_keys, panel += groups) {
    output_int4_panel<Isa, true>(query, panel, keys.head_dim, scores + from);
  }
}

// The scales of a chain's values, of one group of columns: widened together, before they are read one by one.
template <class Isa>
struct ValueScales {
  uint16_t halves[chain_keys];
  float scales[chain_keys], less[chain_keys];

  ATTEND_ALWAYS_INLINE void load(const core::Int4Group* value, ptrdiff_t stride, int keys) {
    int k = 0;
    for (; k + 4 <= keys; k += 4, value = opaque(value + 4 * stride)) {
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) halves[k + i] = uint16_t(numbers_of(value[i * stride]).scale);
    }
    for (; k < keys; ++k, value += stride) halves[k] = uint16_t(numbers_of(*value).scale);
    for (; k % Isa::lanes != 0; ++k) halves[k] = 0;
    for (k = 0; k < keys; k += Isa::lanes) {
      const void* const from = halves + k;
      const typename Isa::Vec wide = Isa::load(static_cast<const Half*>(from));
      Isa::store(scales + k, wide);
      Isa::store(less + k, Isa::mul(wide, Isa::broadcast(-8.0f)));
    }
  }
};

// The weighted sums of some groups of columns: a chain of the first first_chain keys, then one of each chain_keys.
//   by  [groups], memory for the scales
template <class Isa, int groups>
ATTEND_ALWAYS_INLINE void add_int4_columns(const float* weights, const core::Int4Group* value, ptrdiff_t stride, int keys,
                                           int first_chain, ValueScales<Isa>* by, float* sums) {
  using Vec = typename Isa::Vec;
  constexpr int vecs = core::int4_group / Isa::lanes;
  Vec chain[groups][vecs];
  for (int in_chain = at_most(keys, first_chain); keys > 0; keys -= in_chain, in_chain = at_most(keys, chain_keys)) {
    set_to_zero<Isa>(chain);
    ATTEND_UNROLL
    for (int g = 0; g < groups; ++g) by[g].load(value + g, stride, in_chain);
    for (int k = 0; k < in_chain; ++k, ++weights, value += stride) {
      const typename Isa::Factor weight = Isa::factor(*weights);
      const char* const at = static_cast<const char*>(static_cast<const void*>(value));
      prefetch_lines<1>(at + near_values / 2, at + far_values);
      ATTEND_UNROLL
      for (int g = 0; g < groups; ++g) {
        widen_row_group<Isa>(value[g], Isa::broadcast(by[g].scales[k]), Isa::broadcast(by[g].less[k]),
                             [&](int v, Vec numbers) ATTEND_INLINE_LAMBDA {
                               chain[g][v] = Isa::template add_product<Isa>(weight, numbers, chain[g][v]);
                             });
      }
    }
    ATTEND_UNROLL
    for (int g = 0; g < groups; ++g) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* const to = sums + g * core::int4_group + v * Isa::lanes;
        Isa::store(to, Isa::add(Isa::load(to), chain[g][v]));
      }
    }
  }
}

// Groups of columns that go side by side, so that their multiply-adds do not wait for each other.
template <class Isa>
constexpr int value_groups = Isa::lanes >= 8 ? 2 : 1;

// The weighted sums of `keys` values.
template <class Isa>
ATTEND_NOINLINE void value_int4_row(const float* weights, const Values& values, int keys, const Sums& sums) {
  constexpr int groups = value_groups<Isa>;
  const auto* value = static_cast<const core::Int4Group*>(values.data);
  const ptrdiff_t stride = values.stride / core::int4_group;
  void* const work = values.work;
  auto* const by = static_cast<ValueScales<Isa>*>(work);
  static_assert(groups * sizeof *by <= sizeof(float) * chain_keys * core::int4_group, "work memory has a chain of values");
  float* to = sums.data;
  int left = sums.value_dim / core::int4_group;
  for (; left >= groups; left -= groups, value += groups, to += groups * core::int4_group) {
    add_int4_columns<Isa, groups>(weights, value, stride, keys, values.first_chain, by, to);
  }
  if (groups > 1 && left > 0) add_int4_columns<Isa, 1>(weights, value, stride, keys, values.first_chain, by, to);
}
