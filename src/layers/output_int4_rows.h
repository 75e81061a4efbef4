// Outputs of a projection of one token against weights of 4 bits that lie in rows: groups are gathered as packed ones lie.

// A group of 16 outputs that lie in rows, `stride` groups apart, as it is packed.
template <class Isa>
ATTEND_ALWAYS_INLINE void gather_group(const core::Int4Group* rows, ptrdiff_t stride, core::Int4Panel& to) {
  const core::Int4Group* row = rows;
  ATTEND_UNROLL
  for (int o = 0; o < panel_keys; ++o, row = opaque(row + stride)) {
    to.scales[o] = uint16_t(numbers_of(*row).scale);
    keep_loads_in_order();  // or GCC collects them in vectors, which takes longer than loads and stores
  }
  ATTEND_UNROLL
  for (int o = 0; o < panel_keys; o += Isa::lanes) {
    typename Isa::Vec words[4];
    Isa::columns_of_rows(rows[o * stride].numbers, stride * ptrdiff_t(sizeof *rows), words);
    void* const numbers = to.numbers[0][o];
    ATTEND_UNROLL
    for (int w = 0; w < 4; ++w) Isa::store(static_cast<float*>(numbers) + w * panel_keys, words[w]);
  }
}

// The groups of rows. Some are gathered while earlier ones are computed: a load of scales waits for all of their stores.
template <class Isa, int groups>
struct GatheredGroups {
  const core::Int4Group* rows;  // of the group that is gathered next
  ptrdiff_t stride;
  int left;
  core::Int4Panel *now, *later;  // [groups] each

  ATTEND_ALWAYS_INLINE void gather() {
    ATTEND_UNROLL
    for (int g = 0; g < groups; ++g) {
      if (left-- > 0) gather_group<Isa>(rows++, stride, later[g]);
    }
  }
  template <int any>
  ATTEND_ALWAYS_INLINE const core::Int4Panel* operator()(Constant<any>) {
    core::Int4Panel* const gathered = later;
    later = now;
    now = gathered;
    gather();
    return gathered;
  }
};

// Outputs of 16 rows and one token (output_rows.h).
//   gathered  groups that are gathered, and those before them that are computed
template <class Isa>
ATTEND_NOINLINE void output_int4_rows(const OverRows& of, core::Int4Panel (&gathered)[2][2], const core::Int4Group* rows,
                                      float* output) {
  constexpr int groups = int4_groups<Isa>;
  static_assert(groups <= 2, "there is room for two");
  GatheredGroups<Isa, groups> next = {rows, of.row_stride, of.inputs / core::int4_group, gathered[0], gathered[1]};
  next.gather();
  output_groups<Isa, groups, 1>(of.input, of.inputs, next, output);
}
