// A problem with options as a few numbers, from which its data follow. Freestanding, as plain_digest.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attend/core/ranges.h"

namespace attend_test {

// Which masks, biases and results there are; some exclude each other.
enum Extra : unsigned {
  byte_mask = 1,
  bit_mask = 2,
  bias_mask = 4,
  slope_numbers = 8,
  relative_table = 16,
  sink_numbers = 32,
  lse_results = 64,
  all_extras = 127
};

enum class Place : uint8_t { arrays, cache, pages, ring };  // where keys and values lie; all but arrays as a cache has them

struct OptionCase {
  int query_heads = 2, kv_heads = 1, head_dim = 20, value_dim = 13, queries = 4, keys = 150, offset = 143;
  float scale = 0.25f;
  float spread = 2.0f;      // queries within -spread ... spread
  float key_spread = 1.0f;  // keys likewise, where they are floats
  int subnormals = 0;       // every fifth float of keys, values, biases and scales is subnormal (1), and of queries (2)
  bool causal = true;
  int left = -1, right = -1, sink_tokens = 0;
  unsigned extras = 0;
  int mask_keys = 150;     // of masks and biases
  unsigned mask_rows = 3;  // they differ: 1, from token to token; 2, from head to head
  int shown_of_8 = 6;      // elements of masks and biases that hide nothing
  int relative_left = 0, relative_right = 0;
  float soft_cap = 0.0f;
  bool bias_before_cap = false;
  int stage = -1;  // of the scores; -1: none are asked for
  attend::core::Format query_format = attend::core::Format::float32, key_format = attend::core::Format::float32,
                       value_format = attend::core::Format::float32, output_format = attend::core::Format::float32;
  Place place = Place::arrays;
  int page_panels = 1, ring_panels = 0, sink_panels = 0, origin = 0;
  int chunk = 0;        // ranges: causal chunks of so many keys, whose first quarter sees itself both ways; 0: none
  int longest = 0;      // documents of 1, 2, 3 … tokens up to so many, then from 1 again; 0: none
  int state_keys = 0;   // states that stop after so many keys and go on; 0: none
  bool merged = false;  // states of one segment each, merged
  int row_block = 8, key_block = 64;
  bool poisoned = false;  // keys that no query sees hold NaN, infinities and huge numbers
  uint64_t seed = 1;

  // How the cases of digests.inc are written.
  constexpr OptionCase heads(int query, int kv) const {
    OptionCase c = *this;
    c.query_heads = query, c.kv_heads = kv;
    return c;
  }
  constexpr OptionCase dims(int head, int value) const {
    OptionCase c = *this;
    c.head_dim = head, c.value_dim = value;
    return c;
  }
  constexpr OptionCase tokens(int count, int of_keys, int at) const {
    OptionCase c = *this;
    c.queries = count, c.keys = c.mask_keys = of_keys, c.offset = at;
    return c;
  }
  constexpr OptionCase scaled(float by) const {
    OptionCase c = *this;
    c.scale = by;
    return c;
  }
  constexpr OptionCase factors(float of_scale, float of_queries, float of_keys) const {
    OptionCase c = *this;
    c.scale = of_scale, c.spread = of_queries, c.key_spread = of_keys;
    return c;
  }
  constexpr OptionCase subnormal(int where) const {
    OptionCase c = *this;
    c.subnormals = where;
    return c;
  }
  constexpr OptionCase at(int position) const {
    OptionCase c = *this;
    c.offset = position;
    return c;
  }
  constexpr OptionCase both_ways() const {
    OptionCase c = *this;
    c.causal = false;
    return c;
  }
  constexpr OptionCase window(int to_left, int to_right) const {
    OptionCase c = *this;
    c.left = to_left, c.right = to_right;
    return c;
  }
  constexpr OptionCase pin(int count) const {
    OptionCase c = *this;
    c.sink_tokens = count;
    return c;
  }
  constexpr OptionCase with(unsigned more) const {
    OptionCase c = *this;
    c.extras |= more;
    return c;
  }
  constexpr OptionCase mask(int keys_of_it, unsigned rows, int shown) const {
    OptionCase c = *this;
    c.mask_keys = keys_of_it, c.mask_rows = rows, c.shown_of_8 = shown;
    return c;
  }
  constexpr OptionCase relative(int to_left, int to_right) const {
    OptionCase c = with(relative_table);
    c.relative_left = to_left, c.relative_right = to_right;
    return c;
  }
  constexpr OptionCase cap(float most) const {
    OptionCase c = *this;
    c.soft_cap = most;
    return c;
  }
  constexpr OptionCase before_cap() const {
    OptionCase c = *this;
    c.bias_before_cap = true;
    return c;
  }
  constexpr OptionCase scores(attend::core::Scores shown) const {
    OptionCase c = *this;
    c.stage = int(shown);
    return c;
  }
  constexpr OptionCase queries_in(attend::core::Format query, attend::core::Format output) const {
    OptionCase c = *this;
    c.query_format = query, c.output_format = output;
    return c;
  }
  constexpr OptionCase keys_in(attend::core::Format key, attend::core::Format value) const {
    OptionCase c = *this;
    c.key_format = key, c.value_format = value;
    return c;
  }
  constexpr OptionCase cached() const {
    OptionCase c = *this;
    c.place = Place::cache;
    return c;
  }
  constexpr OptionCase pages(int groups) const {
    OptionCase c = *this;
    c.place = Place::pages, c.page_panels = groups;
    return c;
  }
  constexpr OptionCase ring(int panels, int sinks) const {
    OptionCase c = *this;
    c.place = Place::ring, c.ring_panels = panels, c.sink_panels = sinks;
    return c;
  }
  constexpr OptionCase from(int position) const {
    OptionCase c = *this;
    c.origin = position;
    return c;
  }
  constexpr OptionCase stopping(int every) const {
    OptionCase c = *this;
    c.state_keys = every;
    return c;
  }
  constexpr OptionCase merging() const {
    OptionCase c = *this;
    c.merged = true;
    return c;
  }
  constexpr OptionCase chunks(int of_keys) const {
    OptionCase c = *this;
    c.chunk = of_keys;
    return c;
  }
  constexpr OptionCase documents(int up_to) const {
    OptionCase c = *this;
    c.longest = up_to;
    return c;
  }
  constexpr OptionCase rows(int count) const {
    OptionCase c = *this;
    c.row_block = count;
    return c;
  }

  bool has(unsigned extra) const { return (extras & extra) != 0; }
  bool shows(attend::core::Scores shown) const { return stage == int(shown); }
};

constexpr int groups_of(int keys) { return attend::core::panel_count(keys); }

// Whether the key is in memory.
inline bool exists(const OptionCase& c, int key) {
  const int group = key / attend::panel_keys;
  if (c.place == Place::ring) return group >= groups_of(c.keys) - c.ring_panels || group < c.sink_panels;
  return key >= c.origin;
}

}  // namespace attend_test
