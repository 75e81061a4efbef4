// Keys and values of a block as the tiles read them, wherever and in whatever format they lie: as panels of floats and rows of
// floats. What is like that and in one piece is read where it lies, the rest is brought to work memory first.
#pragma once

#include "../kernel/pack.h"
#include "../kernel/tiles.h"
#include "../numerics/formats.h"
#include "paging.h"
#include "visibility.h"
#include "work_memory.h"

namespace attend {
namespace {

// What a block of rows sees by position: anything that any of its rows does.
struct BlockVisibility {
  Visibility earliest;  // of the first row: begins where it does
  Visibility latest;    // of the last row
  bool all;             // hidden keys count too

  bool has_any(int key, int to) const {
    const int low = at_least(key, earliest.begin), high = at_most(to, latest.end);
    return all || (low < high && (high > earliest.first || low < latest.pinned));
  }
  // Whether any row sees some of each group of keys, of which it sees some of the first and of the last.
  bool has_all_groups(int key, int to) const {
    return all || key + panel_keys > earliest.first || to - panel_keys < latest.pinned;
  }
};

// Keys that a single row takes at a time. Between scores and values nothing is read, and the shorter that takes, the more of it
// is covered by what was asked for before. That pays for halves; of floats the processor asks for enough by itself, and int8 is
// bound by arithmetic.
inline int decode_block(const core::Options& options) {
  return bytes_of_number(options.key_format) == 2 ? 128 : config::decode_keys;
}

// Values of consecutive keys, `stride` floats apart.
struct FloatValues {
  const float* data;
  ptrdiff_t stride;
};

template <class Isa>
class OptionKeys {
 public:
  OptionKeys(const core::Problem& problem, const core::Options& options, const BlockMemory& at)
      : problem_(problem),
        options_(options),
        panels_(problem.scratch + at.panels),
        values_(problem.scratch + at.values),
        rows_(problem.scratch + at.group),
        key_scales_(problem.scratch + at.key_scales),
        value_scales_(problem.scratch + at.value_scales) {}

  // Some keys, [from] of them on, a whole number of panels.
  struct Block {
    int key;
    int from;
    int to;
    bool gathers;
    signed char finite;         // whether all values are; -1: not known yet
    const float* panels;        // null where typed_panels is read
    const float* typed_panels;  // where they lie, of the key format; null if that is not to be read
    FloatValues values;         // null where typed_values is read, until somebody needs them
    const float* typed_values;
    const float* typed_scales;  // of typed_panels, which scores take as they are stored
    const float* key_scales;    // of panels
    const float* value_scales;
  };

  // The keys of a key/value head from now on.
  void take_head(int head) {
    keys_of_head_ = moved(problem_.key.data, head * problem_.key.head_stride, options_.key_format);
    values_of_head_ = moved(problem_.value.data, head * problem_.value.head_stride, options_.value_format);
    key_scales_of_head_ = options_.key_scales == nullptr ? nullptr : options_.key_scales + head * options_.key_scale_stride;
    value_scales_of_head_ =
        options_.value_scales == nullptr ? nullptr : options_.value_scales + head * options_.value_scale_stride;
  }

  // Keys for so many rows. `gathers`: whether it pays to have values side by side that lie apart.
  Block block(int key, int from, int to, const BlockVisibility& visibility, int rows, bool gathers) {
    Block made{};
    made.key = key;
    made.from = from;
    made.to = to;
    made.gathers = gathers;
    made.finite = -1;
    // A few rows read other formats where they lie, for more it pays to widen them once.
    const bool few = rows <= typed_rows && in_place(key, from, to, visibility);
    if (few && problem_.key_panels && options_.key_format != core::Format::float32) {
      made.typed_panels = panels_in_place(key, from);
    } else {
      made.panels = panels(key, from, to, visibility);
    }
    if (few && options_.value_format != core::Format::float32) {
      made.typed_values = values_in_place(key, from);
    } else {
      made.values = values(key, from, to, visibility, gathers);
    }
    (made.typed_panels != nullptr ? made.typed_scales : made.key_scales) =
        scales(key_scales_of_head_, key, from, to, visibility, key_scales_);
    made.value_scales = scales(value_scales_of_head_, key, from, to, visibility, value_scales_);
    return made;
  }

  // Whether so many rows read keys and values in their format, where they lie, if these are in one piece.
  bool widens_in_registers(int rows) const {
    return rows <= typed_rows && problem_.key_panels && options_.key_format != core::Format::float32 &&
           options_.value_format != core::Format::float32;
  }

  // Whole panels of keys for such rows, which see them all; or nothing, where they are not in one piece.
  bool typed_block(int key, int keys, Block& made) const {
    if (!in_one_piece(key, 0, keys)) return false;
    made = Block{};
    made.key = key;
    made.to = keys;
    made.finite = 1;  // nobody asks where all is seen
    made.typed_panels = panels_in_place(key, 0);
    made.typed_values = values_in_place(key, 0);
    made.typed_scales = scales_in_place(key_scales_of_head_, key, 0);
    made.value_scales = scales_in_place(value_scales_of_head_, key, 0);
    return true;
  }

  // Scores of rows, [rows][head_dim] from `query` on, against keys from ... most - 1 of a block; without key_scales.
  void score(int rows, const float* query, const Block& block, int from, int most, float* scores) const {
    const bool typed = block.typed_panels != nullptr;
    const Panels panels = {typed ? block.typed_panels : block.panels, typed ? options_.key_format : core::Format::float32,
                           typed ? block.typed_scales : nullptr, problem_.head_dim, panel_keys};
    score_tiles<Isa>(rows, query, panels, from, most, scores);
  }

  // Whether add_values takes several chains at a time, where all rows see all keys.
  bool takes_chains(int rows, const Block& block) const { return rows <= typed_rows && reads_values_in_place(block); }

  // Chains of the values of keys begin ... end - 1, of which each row sees the first visible[row].
  void add_values(int rows, const float* weights, Block& block, const BlockVisibility& visibility, int begin, int end,
                  const int* visible, const Sums& sums) {
    const int first_chain = chain_keys - begin % chain_keys;
    if (rows <= typed_rows && reads_values_in_place(block) && visible[0] == end - begin) {
      const ptrdiff_t stride = problem_.value.token_stride;
      const void* const data = moved(block.typed_values, begin * stride, options_.value_format);
      return value_tiles<Isa>(rows, weights + begin, {data, options_.value_format, stride, first_chain}, visible, sums);
    }
    const FloatValues values = values_of(block, visibility);
    value_tiles<Isa>(rows, weights + begin,
                     {values.data + begin * values.stride, core::Format::float32, values.stride, first_chain}, visible, sums);
  }

  // As floats.
  FloatValues values_of(Block& block, const BlockVisibility& visibility) {
    if (block.values.data == nullptr) block.values = values(block.key, block.from, block.to, visibility, block.gathers);
    return block.values;
  }

  // Whether no value of a block, or no scale of one, is infinite or no number: looked for once.
  bool are_finite(Block& block, const BlockVisibility& visibility) {
    if (block.finite < 0)
      block.finite =
          options_.value_format == core::Format::int8 ? scales_are_finite(block) : values_are_finite(block, visibility);
    return block.finite > 0;
  }

 private:
  // Not once they were widened: what no row sees was left out then, and may be anything where it lies.
  static bool reads_values_in_place(const Block& block) { return block.values.data == nullptr; }

  // Whether the groups of some keys lie one after another.
  bool in_one_piece(int key, int from, int to) const {
    const int group = (key + from) / panel_keys, groups = (whole_panels(to) - from) / panel_keys;
    return run_length(options_.paging, keys_taken(options_.paging, problem_.keys), group, groups) >= groups;
  }

  // Whether some keys may be read where they lie. A group that nobody sees may be gone.
  bool in_place(int key, int from, int to, const BlockVisibility& visibility) const {
    return in_one_piece(key, from, to) && visibility.has_all_groups(key + from, key + to);
  }

  // Where the panels of a cache lie; the first is that of position key.
  const float* panels_in_place(int key, int from) const {
    const ptrdiff_t slot = slot_of(key + from) - from;
    return moved(keys_of_head_, slot * problem_.head_dim, options_.key_format);
  }

  // Panels of keys from `from` on, at from * head_dim of what is returned.
  const float* panels(int key, int from, int to, const BlockVisibility& visibility) {
    if (problem_.key_panels && options_.key_format == core::Format::float32 && in_place(key, from, to, visibility)) {
      return panels_in_place(key, from);
    }
    for (int k = from; k < to; k += panel_keys) {
      if (!visibility.has_any(key + k, key + k + panel_keys))
        continue;  // scores of what lies there are hidden, whatever they are
      pack_group(key + k, at_most(to - k, panel_keys), panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return panels_;
  }

  // Where values lie; the first is that of position key.
  const float* values_in_place(int key, int from) const {
    const ptrdiff_t slot = slot_of(key + from) - from;
    return moved(values_of_head_, (slot - options_.origin) * problem_.value.token_stride, options_.value_format);
  }

  // Values of the same keys. `gathers`: whether so many rows read them that it pays to have them side by side.
  FloatValues values(int key, int from, int to, const BlockVisibility& visibility, bool gathers) {
    const ptrdiff_t stride = problem_.value.token_stride;
    const int dims = problem_.value_dim;
    if (options_.value_format == core::Format::float32 && in_place(key, from, to, visibility) && (!gathers || stride == dims)) {
      return {values_in_place(key, from), stride};
    }
    for (int k = from; k < to; k += panel_keys) {
      const int end = at_most(k + panel_keys, to);
      const bool seen = visibility.has_any(key + k, key + k + panel_keys);
      const ptrdiff_t slot = seen ? slot_of(key + k) - options_.origin : 0;
      for (int i = k; i < end; ++i) {
        float* const row = values_ + ptrdiff_t(i) * dims;
        if (!seen || key + i < options_.origin) {
          fill_row<Isa>(0.0f, dims, row);
        } else if (options_.value_format == core::Format::float32) {
          copy_row<Isa>(values_of_head_ + (slot + i - k) * stride, dims, row);
        } else {
          widen_row<Isa>(options_.value_format, moved(values_of_head_, (slot + i - k) * stride, options_.value_format), dims,
                         row);
        }
      }
    }
    return {values_, dims};
  }

  static bool scales_are_finite(const Block& block) {
    for (int k = block.from; k < block.to; ++k) {
      if (magnitude(block.value_scales[k]) >= 0x7f800000u) return false;
    }
    return true;
  }

  bool values_are_finite(Block& block, const BlockVisibility& visibility) {
    const FloatValues values = values_of(block, visibility);
    const int dims = problem_.value_dim;
    typename Isa::Vec zeros = Isa::zero();
    for (int k = at_least(block.from, visibility.earliest.begin - block.key); k < block.to; ++k) {
      const float* value = values.data + k * values.stride;
      int c = 0;
      for (; dims - c >= Isa::lanes; c += Isa::lanes) zeros = Isa::fma(Isa::load(value + c), Isa::zero(), zeros);
      for (; c < dims; ++c) {
        if (magnitude(value[c]) >= 0x7f800000u) return false;
      }
    }
    float lanes[Isa::lanes];
    Isa::store(lanes, zeros);
    for (const float lane : lanes) {
      if (magnitude(lane) != 0) return false;
    }
    return true;
  }

  int slot_of(int key) const { return attend::slot_of(options_.paging, problem_.keys, key); }

  // One panel of floats.
  void pack_group(int key, int count, float* panel) {
    const int dims = problem_.head_dim, slot = slot_of(key);
    if (problem_.key_panels) {
      const float* from = moved(keys_of_head_, ptrdiff_t(slot) * dims, options_.key_format);
      return widen_row<Isa>(options_.key_format, from, panel_keys * dims, panel);
    }
    const ptrdiff_t stride = problem_.key.token_stride;
    const int first = at_least(options_.origin - key, 0);  // keys before do not exist
    const float* from = moved(keys_of_head_, (slot + first - options_.origin) * stride, options_.key_format);
    if (first == 0 && options_.key_format == core::Format::float32) {
      return pack_panel<Isa, panel_keys>(from, stride, count, dims, panel);
    }
    for (int i = 0; i < count; ++i) {
      const ptrdiff_t steps = at_least(i - first, 0);
      widen_row<Isa>(options_.key_format, moved(from, steps * stride, options_.key_format), dims, rows_ + ptrdiff_t(i) * dims);
    }
    pack_panel<Isa, panel_keys>(rows_, dims, count, dims, panel);
  }

  const float* scales_in_place(const float* of_head, int key, int from) const {
    if (of_head == nullptr) return nullptr;
    return of_head + (slot_of(key + from) - from - options_.origin);
  }

  // Scales of keys or values, at [from], for whole panels; null if there are none.
  const float* scales(const float* of_head, int key, int from, int to, const BlockVisibility& visibility, float* work) const {
    if (of_head == nullptr) return nullptr;
    if (to % panel_keys == 0 && key + from >= options_.origin && in_place(key, from, to, visibility)) {
      return scales_in_place(of_head, key, from);
    }
    for (int k = from; k < to; k += panel_keys) {
      fill_row<Isa>(0.0f, panel_keys, work + k);  // of keys that nobody sees, or that do not exist
      if (!visibility.has_any(key + k, key + k + panel_keys)) continue;
      const int first = at_least(options_.origin - key - k, 0), end = at_most(to - k, panel_keys);
      copy_row<Isa>(of_head + (slot_of(key + k) + first - options_.origin), end - first, work + k + first);
    }
    return work;
  }

  const core::Problem& problem_;
  const core::Options& options_;
  float* const panels_;
  float* const values_;
  float* const rows_;
  float* const key_scales_;
  float* const value_scales_;
  const float *keys_of_head_ = nullptr, *values_of_head_ = nullptr;
  const float *key_scales_of_head_ = nullptr, *value_scales_of_head_ = nullptr;
};

}  // namespace
}  // namespace attend
