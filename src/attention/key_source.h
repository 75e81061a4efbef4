// Keys and values of a block as the tiles read them, wherever and in whatever format they lie: as panels and rows. What is like
// that and in one piece is read where it lies, the rest is brought to work memory first, as floats.
#pragma once

#include "../../include/attend/work_memory.h"
#include "../kernel/pack.h"
#include "../kernel/tiles.h"
#include "../numerics/formats.h"
#include "features.h"
#include "paging.h"
#include "visibility.h"

namespace attend {
namespace {

// Keys that a single row takes at a time. Between scores and values nothing is read, and the shorter that takes, the more of it
// is covered by what was asked for before. That pays for halves; of floats the processor asks for enough by itself, and int8 is
// bound by arithmetic.
inline int decode_block(const core::Options& options) {
  return bytes_of_number(options.key_format) == 2 ? 128 : config::decode_keys;
}

template <class Isa, class Features>
class KeySource {
 public:
  KeySource(const core::Problem& problem, const core::Options* options, const core::HostWorkMemory& at)
      : problem_(problem),
        options_(options),
        panels_(problem.scratch + at.panels),
        values_(problem.scratch + at.values),
        group_(problem.scratch + at.group),
        key_scales_(problem.scratch + at.key_scales),
        value_scales_(problem.scratch + at.value_scales) {}

  // Some keys: those of positions key + from ... key + to - 1, where `from` is a whole number of panels. All that is read of
  // them is indexed from position `key` on.
  struct Block {
    int key;
    int from;
    int to;
    bool begun;          // whether the rows' sums of the segment have begun
    bool gathers;        // whether it pays to have values side by side that lie apart
    signed char finite;  // whether all values are; -1: not known yet
    Panels panels;
    Values values;            // in another format than float32 only where they are read as they lie
    const float* key_scales;  // of panels of floats; those of others are theirs
    const float* value_scales;
  };

  // The keys of a key/value head from now on.
  void take_head(int head) {
    keys_of_head_ = moved(problem_.key.data, head * problem_.key.head_stride, key_format());
    values_of_head_ = moved(problem_.value.data, head * problem_.value.head_stride, value_format());
    if constexpr (Features::sources) {
      const auto scales_of_head = [head](const float* scales, ptrdiff_t stride) {
        return scales == nullptr ? nullptr : scales + head * stride;
      };
      key_scales_of_head_ = scales_of_head(options_->key_scales, options_->key_scale_stride);
      value_scales_of_head_ = scales_of_head(options_->value_scales, options_->value_scale_stride);
    }
  }

  // Keys for so many rows.
  Block block(int key, int from, int to, const BlockVisibility& visibility, int rows) {
    Block made;  // not zeroed first: for so few fields GCC writes a loop that takes as long as a small call
    made.key = key;
    made.from = from;
    made.to = to;
    made.begun = false;
    made.finite = -1;
    made.key_scales = nullptr;
    // When several tiles of rows read them, and when many do if they lie close together: far apart, they share few sets of the
    // cache.
    made.gathers = rows > (problem_.value.token_stride <= 256 ? 12 : 3) * Isa::tile_rows && !problem_.key_panels;
    // A few rows read other formats where they lie, for more it pays to widen them once.
    const bool few = Features::sources && rows <= typed_rows && in_place(key, from, to, visibility);
    if (few && problem_.key_panels && key_format() != core::Format::float32) {
      made.panels = {panels_in_place(key, from), key_format(), scales(key_scales_of_head_, made, visibility, key_scales_),
                     problem_.head_dim, panel_keys};
    } else {
      made.panels = panels(key, from, to, visibility);
      made.key_scales = scales(key_scales_of_head_, made, visibility, key_scales_);
    }
    if (few && value_format() != core::Format::float32) {
      made.values = {values_in_place(key, from), value_format(), problem_.value.token_stride, chain_keys};
    } else {
      made.values = values(made, visibility);
    }
    made.value_scales = scales(value_scales_of_head_, made, visibility, value_scales_);
    return made;
  }

  // Whether so many rows read keys and values in their format, where they lie, if these are in one piece.
  bool widens_in_registers(int rows) const {
    return rows <= typed_rows && problem_.key_panels && key_format() != core::Format::float32 &&
           value_format() != core::Format::float32;
  }

  // Whole panels of keys for such rows, which see them all; or nothing, where they are not in one piece.
  bool typed_block(int key, int keys, Block& made) const {
    if (!in_one_piece(key, 0, keys)) return false;
    made = Block{};
    made.key = key;
    made.to = keys;
    made.begun = true;
    made.finite = 1;  // nobody asks where all is seen
    made.panels = {panels_in_place(key, 0), key_format(), scales_in_place(key_scales_of_head_, key, 0), problem_.head_dim,
                   panel_keys};
    made.values = {values_in_place(key, 0), value_format(), problem_.value.token_stride, chain_keys};
    made.value_scales = scales_in_place(value_scales_of_head_, key, 0);
    return true;
  }

  // The block's values as floats from now on.
  void widen_values(Block& block, const BlockVisibility& visibility) {
    if (block.values.format != core::Format::float32) block.values = values(block, visibility);
  }

  // Whether no value of a block, or no scale of one, is infinite or no number: looked for once.
  bool are_finite(Block& block, const BlockVisibility& visibility) {
    if (block.finite < 0) {
      block.finite = value_format() == core::Format::int8 ? scales_are_finite(block) : values_are_finite(block, visibility);
    }
    return block.finite > 0;
  }

 private:
  core::Format key_format() const {
    if constexpr (Features::sources) return options_->key_format;
    return core::Format::float32;
  }
  core::Format value_format() const {
    if constexpr (Features::sources) return options_->value_format;
    return core::Format::float32;
  }
  // Position of the first key of an array.
  int origin() const {
    if constexpr (Features::sources) return options_->origin;
    return 0;
  }
  int slot_of(int key) const {
    if constexpr (Features::sources) return attend::slot_of(options_->paging, problem_.keys, key);
    return key;
  }

  // Whether the groups of some keys lie one after another.
  bool in_one_piece(int key, int from, int to) const {
    if constexpr (!Features::sources) return true;
    const int group = (key + from) / panel_keys, groups = (whole_panels(to) - from) / panel_keys;
    return run_length(options_->paging, keys_taken(options_->paging, problem_.keys), group, groups) >= groups;
  }

  // Whether some keys may be read where they lie. A group that nobody sees may be gone.
  bool in_place(int key, int from, int to, const BlockVisibility& visibility) const {
    if constexpr (!Features::sources) return true;
    return in_one_piece(key, from, to) && visibility.has_all_groups(key + from, key + to);
  }

  bool is_seen(int group, const BlockVisibility& visibility) const {
    return !Features::visibility || visibility.has_any(group, group + panel_keys);
  }

  // Where the panels of a cache lie; the first is that of position key.
  const float* panels_in_place(int key, int from) const {
    const ptrdiff_t slot = slot_of(key + from) - from;
    return moved(keys_of_head_, slot * problem_.head_dim, key_format());
  }

  // Panels of keys from `from` on, at from * head_dim of what is returned.
  Panels panels(int key, int from, int to, const BlockVisibility& visibility) {
    const auto floats = [this](const float* data, int width) {
      return Panels{data, core::Format::float32, nullptr, problem_.head_dim, width};
    };
    if (problem_.key_panels && key_format() == core::Format::float32 && in_place(key, from, to, visibility)) {
      return floats(panels_in_place(key, from), panel_keys);
    }
    if (!Features::any && problem_.keys <= few_panel_keys) {
      static_assert(chain_keys >= panel_keys, "the smallest key_block has room for one, and for what is read behind it");
      pack_few<Isa>(keys_of_head_, problem_.key.token_stride, to, problem_.head_dim, panels_);
      return floats(panels_, few_panel_keys);
    }
    for (int k = from; k < to; k += panel_keys) {
      if (!is_seen(key + k, visibility)) continue;  // scores of what lies there are masked, whatever they are
      pack_group(key + k, at_most(to - k, panel_keys), panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return floats(panels_, panel_keys);
  }

  // One panel of floats.
  void pack_group(int key, int count, float* panel) {
    const int dims = problem_.head_dim, slot = slot_of(key);
    if (problem_.key_panels) {
      const float* from = moved(keys_of_head_, ptrdiff_t(slot) * dims, key_format());
      return widen_row<Isa>(key_format(), from, panel_keys * dims, panel);
    }
    const ptrdiff_t stride = problem_.key.token_stride;
    const int first = at_least(origin() - key, 0);  // keys before do not exist
    const float* from = moved(keys_of_head_, (slot + first - origin()) * stride, key_format());
    if (first == 0 && key_format() == core::Format::float32) {
      return pack_panel<Isa, panel_keys>(from, stride, count, dims, panel);
    }
    for (int i = 0; i < count; ++i) {
      const ptrdiff_t steps = at_least(i - first, 0);
      widen_row<Isa>(key_format(), moved(from, steps * stride, key_format()), dims, group_ + ptrdiff_t(i) * dims);
    }
    pack_panel<Isa, panel_keys>(group_, dims, count, dims, panel);
  }

  // Where values lie; the first is that of position key.
  const float* values_in_place(int key, int from) const {
    const ptrdiff_t slot = slot_of(key + from) - from;
    return moved(values_of_head_, (slot - origin()) * problem_.value.token_stride, value_format());
  }

  // Values of a block's keys as floats.
  Values values(const Block& block, const BlockVisibility& visibility) {
    const ptrdiff_t stride = problem_.value.token_stride;
    const int dims = problem_.value_dim;
    if (value_format() == core::Format::float32 && in_place(block.key, block.from, block.to, visibility) &&
        (!block.gathers || stride == dims)) {
      return {values_in_place(block.key, block.from), core::Format::float32, stride, chain_keys};
    }
    for (int k = block.from; k < block.to; k += panel_keys)
      gather_values(block.key, k, at_most(k + panel_keys, block.to), visibility);
    return {values_, core::Format::float32, dims, chain_keys};
  }

  // A group of them.
  void gather_values(int key, int from, int to, const BlockVisibility& visibility) {
    const int dims = problem_.value_dim;
    const bool seen = is_seen(key + from, visibility);
    const ptrdiff_t slot = seen ? slot_of(key + from) - origin() : 0;
    for (int i = from; i < to; ++i) {
      float* const row = values_ + ptrdiff_t(i) * dims;
      if (!seen || key + i < origin()) {
        fill_row<Isa>(0.0f, dims, row);
        continue;
      }
      const float* const value = moved(values_of_head_, (slot + i - from) * problem_.value.token_stride, value_format());
      if (value_format() == core::Format::float32) {
        copy_row<Isa>(value, dims, row);
      } else {
        widen_row<Isa>(value_format(), value, dims, row);
      }
    }
  }

  const float* scales_in_place(const float* of_head, int key, int from) const {
    if (of_head == nullptr) return nullptr;
    return of_head + (slot_of(key + from) - from - origin());
  }

  // Scales of a block's keys or values, for whole panels; null if there are none.
  const float* scales(const float* of_head, const Block& block, const BlockVisibility& visibility, float* work) const {
    if (!Features::sources || of_head == nullptr) return nullptr;
    const int key = block.key, from = block.from, to = block.to;
    if (to % panel_keys == 0 && key + from >= origin() && in_place(key, from, to, visibility)) {
      return scales_in_place(of_head, key, from);
    }
    for (int k = from; k < to; k += panel_keys) {
      fill_row<Isa>(0.0f, panel_keys, work + k);  // of keys that nobody sees, or that do not exist
      if (!is_seen(key + k, visibility)) continue;
      const int first = at_least(origin() - key - k, 0), end = at_most(to - k, panel_keys);
      copy_row<Isa>(of_head + (slot_of(key + k) + first - origin()), end - first, work + k + first);
    }
    return work;
  }

  static bool scales_are_finite(const Block& block) {
    for (int k = block.from; k < block.to; ++k) {
      if (magnitude(block.value_scales[k]) >= 0x7f800000u) return false;
    }
    return true;
  }

  bool values_are_finite(Block& block, const BlockVisibility& visibility) {
    widen_values(block, visibility);
    const float* const values = static_cast<const float*>(block.values.data);
    const int dims = problem_.value_dim;
    typename Isa::Vec zeros = Isa::zero();
    for (int k = at_least(block.from, visibility.earliest.begin - block.key); k < block.to; ++k) {
      const float* value = values + k * block.values.stride;
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

  const core::Problem& problem_;
  const core::Options* const options_;  // null in plain calls
  float* const panels_;
  float* const values_;
  float* const group_;
  float* const key_scales_;
  float* const value_scales_;
  const float *keys_of_head_ = nullptr, *values_of_head_ = nullptr;
  const float *key_scales_of_head_ = nullptr, *value_scales_of_head_ = nullptr;
};

}  // namespace
}  // namespace attend
