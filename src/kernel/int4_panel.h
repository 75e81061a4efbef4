// Products of one token, or of one query, and numbers of 4 bits, 16 outputs or keys of a group of 32 inputs or dimensions at a
// time, widened in registers: kernel/widen.h.
#ifndef ATTEND_KERNEL_INT4_PANEL_H
#define ATTEND_KERNEL_INT4_PANEL_H

#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/core/linear.h"
#include "../numerics/int4.h"
#include "multiply_add.h"
#include "output_panel.h"
#include "output_rows.h"
#include "pack.h"
#include "tile_sizes.h"
#include "widen.h"

namespace attend::ATTEND_ISA {
namespace {

// Groups whose chains go side by side for a vector of outputs. With fewer registers processors find the next group's
// themselves, while those of one wait for each other.
template <class Isa>
constexpr int int4_groups = Isa::lanes == 16 ? 2 : 1;

// to += the sums of the two chains of each of some groups, over a vector of outputs from `output` on.
template <class Isa, int groups>
ATTEND_ALWAYS_INLINE void add_groups(const float* input, const core::Int4Panel* panels, int output, float* to) {
  using Vec = typename Isa::Vec;
  Vec sums[groups][2];
  Int4Scales<Isa> by[groups];
  ATTEND_UNROLL
  for (int g = 0; g < groups; ++g) {
    sums[g][0] = sums[g][1] = Isa::zero();
    by[g] = int4_scales<Isa>(panels[g], output);
  }
  ATTEND_UNROLL
  for (int w = 0; w < 4; ++w) {
    input = opaque(input);  // or compilers keep the inputs of one vector of outputs for the next, in memory
    ATTEND_UNROLL
    for (int g = 0; g < groups; ++g) {
      const float* const x = input + g * core::int4_group + 4 * w;
      widen_words<Isa>(Isa::load(int4_words(panels[g], output) + w * panel_keys), by[g],
                       [&](int byte, int chain, Vec weights) ATTEND_INLINE_LAMBDA {
                         Vec& sum = sums[g][chain];
                         sum = Isa::accumulate(Isa::factor(x[chain * chain_dims + byte]), weights, sum);
                         if (chain == 1) keep_loads_in_order();  // Clang would load all inputs first, and spill
                       });
    }
  }
  Vec total = Isa::load(to);
  ATTEND_UNROLL
  for (int g = 0; g < groups; ++g) total = Isa::add(Isa::add(total, sums[g][0]), sums[g][1]);
  Isa::store(to, total);
}

// to[o] = sum over i of weights[i][o] * input[i] for the 16 outputs of a panel, in chains of chain_dims inputs. Sums of whole
// chains stay in memory, because registers are full of what a chain needs.
//   next  gives the panels of the next `groups` groups, or of a single one
template <class Isa, int groups, class Next>
ATTEND_ALWAYS_INLINE void output_groups(const float* input, int inputs, Next next, float* to) {
  constexpr int block = groups * core::int4_group;
  // To -0 the first chain is added without a change, even of a zero's sign.
  for (int o = 0; o < panel_keys; o += Isa::lanes) Isa::store(to + o, Isa::broadcast(-0.0f));
  for (; inputs >= block; inputs -= block, input += block) {
    const core::Int4Panel* const panels = next(Constant<groups>());
    for (int o = 0; o < panel_keys; o += Isa::lanes) add_groups<Isa, groups>(input, panels, o, to + o);
  }
  if (groups > 1 && inputs > 0) {
    const core::Int4Panel* const panels = next(Constant<1>());
    for (int o = 0; o < panel_keys; o += Isa::lanes) add_groups<Isa, 1>(input, panels, o, to + o);
  }
}

// The groups of packed weights, one behind another; prefetched as other formats are (output_panel.h).
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
  output_groups<Isa, int4_groups<Isa>>(input, inputs, PackedGroups<prefetch>{panels}, to);
}

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

// Groups that are gathered, and those before them that are computed.
template <>
struct RowPanel<core::Int4Group> {
  alignas(config::alignment) core::Int4Panel panels[2][2];
};

// The groups of rows. Some are gathered while those before them are computed: a load of scales waits for all of their stores.
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

template <class Isa>
ATTEND_NOINLINE void output_rows(const float* input, const core::Int4Group* rows, ptrdiff_t stride, int inputs,
                                 RowPanel<core::Int4Group>& memory, float* to) {
  constexpr int groups = int4_groups<Isa>;
  GatheredGroups<Isa, groups> next = {rows, stride, inputs / core::int4_group, memory.panels[0], memory.panels[1]};
  next.gather();
  output_groups<Isa, groups>(input, inputs, next, to);
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
