// Kernels and attention for one instruction set, in order: see begin.h.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../kernel/vectors.h"
#include "../kernel/exponential.h"
#include "../kernel/sigmoid.h"
#include "../kernel/pack.h"
#include "../kernel/tile_sizes.h"
#include "../kernel/widen.h"
#include "../kernel/row_softmax.h"
#include "../kernel/epilogue.h"
#include "../kernel/scaled_query.h"

#include "../sums/segment_tree.h"
#include "../sums/nodes.h"
#include "../sums/float_sum.h"
#include "../sums/integer_sum.h"
#include "../sums/row_state.h"

#include "../attention/rows.h"
#include "../attention/features.h"
#include "../attention/visibility.h"
#include "../attention/paging.h"
#include "../attention/parts.h"
#include "../attention/score_mod.h"
#include "../attention/ranged_calls.h"
#include "../attention/shrunk_query.h"
#include "../attention/embedded_keys.h"
#include "../attention/embedded_rows.h"
#include "../attention/embedded_tiles.h"
#include "../attention/embedded.h"
#include "../attention/integer_keys.h"
#include "../attention/integer_host.h"
#include "../attention/integer.h"

#if !ATTEND_EMBEDDED  // hosts: tiles, and walks over blocks of keys
#include "../kernel/finite.h"
#include "../kernel/score_steps.h"
#include "../kernel/score_tile.h"
#include "../kernel/value_steps.h"
#include "../kernel/narrow_value_tile.h"
#include "../kernel/value_tile.h"
#include "../kernel/online_softmax.h"
#include "../kernel/int4_panel.h"
#include "../kernel/int4_row.h"
#include "../kernel/tiles.h"
#include "../sums/row_sums.h"
#include "../attention/key_rows.h"
#include "../attention/key_source.h"
#include "../attention/row_block.h"
#include "../attention/plain_walk.h"
#include "../attention/stretches.h"
#include "../attention/feature_walk.h"
#include "../attention/host.h"
#endif
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
