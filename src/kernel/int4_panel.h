// Products of one token, or of one query, and numbers of 4 bits, 16 outputs or keys of a group of 32 inputs or dimensions at a
// time, widened in registers: kernel/widen.h.

// Bytes ahead of their use that packed weights are prefetched into the first-level cache; into the second: far_behind_tile.
constexpr int near_weights = 2048;

// Vectors of outputs, and groups, whose chains go side by side: some four chains, so that none waits for another. Chains of
// rows, which are gathered meanwhile, take a vector at a time: there are no registers for more.
template <class Isa>
constexpr int int4_vecs = Isa::lanes == 8 ? 2 : 1;
template <class Isa>
constexpr int int4_groups = Isa::lanes == 16 ? 2 : 1;

// The products of four inputs of each of the two chains of some groups, from byte `byte` of a word on.
template <class Isa, int byte, int groups, int vecs>
ATTEND_ALWAYS_INLINE void add_words(const float* input, const typename Isa::Vec (&words)[groups][vecs],
                                    const Int4Scales<Isa> (&by)[groups][vecs], typename Isa::Vec (&sums)[groups][vecs][2]) {
  ATTEND_UNROLL
  for (int g = 0; g < groups; ++g) {
    const float* const x = input + g * core::int4_group + byte;
    const typename Isa::Factor factors[2] = {Isa::factor(x[0]), Isa::factor(x[chain_dims])};
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      typename Isa::Vec(&sum)[2] = sums[g][v];
      sum[0] = Isa::template add_product<Isa>(factors[0], int4_weight<Isa, bit_of_byte(byte)>(words[g][v], by[g][v]), sum[0]);
      sum[1] =
          Isa::template add_product<Isa>(factors[1], int4_weight<Isa, bit_of_byte(byte) + 4>(words[g][v], by[g][v]), sum[1]);
    }
    keep_loads_in_order();  // Clang would load all inputs first, and spill
  }
  if constexpr (byte < 3) add_words<Isa, byte + 1>(input, words, by, sums);
}

// to += the sums of the two chains of each of some groups, over some vectors of outputs from `output` on.
template <class Isa, int groups, int vecs>
ATTEND_ALWAYS_INLINE void add_groups(const float* input, const core::Int4Panel* panels, int output, float* to) {
  using Vec = typename Isa::Vec;
  Vec sums[groups][vecs][2];
  Int4Scales<Isa> by[groups][vecs];
  ATTEND_UNROLL
  for (int g = 0; g < groups; ++g) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      sums[g][v][0] = sums[g][v][1] = Isa::zero();
      by[g][v] = int4_scales<Isa>(panels[g], output + v * Isa::lanes);
    }
  }
  ATTEND_UNROLL
  for (int w = 0; w < 4; ++w) {
    input = opaque(input);  // or compilers keep the inputs of one vector of outputs for the next, in memory
    Vec words[groups][vecs];
    ATTEND_UNROLL
    for (int g = 0; g < groups; ++g) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) words[g][v] = Isa::load(int4_words(panels[g], output + v * Isa::lanes) + w * panel_keys);
    }
    add_words<Isa, 0>(input + 4 * w, words, by, sums);
  }
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    Vec total = Isa::load(to + v * Isa::lanes);
    ATTEND_UNROLL
    for (int g = 0; g < groups; ++g) total = Isa::add(Isa::add(total, sums[g][v][0]), sums[g][v][1]);
    Isa::store(to + v * Isa::lanes, total);
  }
}

// to[o] = sum over i of weights[i][o] * input[i] for the 16 outputs of a panel, in chains of chain_dims inputs. Sums of whole
// chains stay in memory, because registers are full of what a chain needs.
//   next  gives the panels of the next `groups` groups, or of a single one
template <class Isa, int groups, int vecs, class Next>
ATTEND_ALWAYS_INLINE void output_groups(const float* input, int inputs, Next next, float* to) {
  constexpr int block = groups * core::int4_group, step = vecs * Isa::lanes;
  // To -0 the first chain is added without a change, even of a zero's sign.
  for (int o = 0; o < panel_keys; o += Isa::lanes) Isa::store(to + o, Isa::broadcast(-0.0f));
  for (; inputs >= block; inputs -= block, input += block) {
    const core::Int4Panel* const panels = next(Constant<groups>());
    for (int o = 0; o < panel_keys; o += step) add_groups<Isa, groups, vecs>(input, panels, o, to + o);
  }
  if (groups > 1 && inputs > 0) {
    const core::Int4Panel* const panels = next(Constant<1>());
    for (int o = 0; o < panel_keys; o += step) add_groups<Isa, 1, vecs>(input, panels, o, to + o);
  }
}

// The groups of packed weights, one behind another; prefetched as other formats are.
template <bool prefetch>
struct PackedGroups {
  const core::Int4Panel* panels;

  template <int groups>
  ATTEND_ALWAYS_INLINE const core::Int4Panel* operator()(Constant<groups>) {
    const void* const at = panels;
    const char* const near = static_cast<const char*>(at) + near_weights;
    if (prefetch) prefetch_lines<groups* int(sizeof *panels)>(near, near + far_behind_tile - near_weights);
    panels = opaque(panels + groups);
    return panels - groups;
  }
};

template <class Isa, bool prefetch>
ATTEND_NOINLINE void output_int4_panel(const float* input, const core::Int4Panel* panels, int inputs, float* to) {
  output_groups<Isa, int4_groups<Isa>, int4_vecs<Isa>>(input, inputs, PackedGroups<prefetch>{panels}, to);
}
