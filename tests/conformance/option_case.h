// A problem with options as a few numbers, from which its data follow. Freestanding, as plain_digest.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attend/core/ranges.h"
#include "changed.h"

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
    return changed(*this, &OptionCase::query_heads, query, &OptionCase::kv_heads, kv);
  }
  constexpr OptionCase dims(int head, int value) const {
    return changed(*this, &OptionCase::head_dim, head, &OptionCase::value_dim, value);
  }
  constexpr OptionCase tokens(int count, int of_keys, int at) const {
    return changed(*this, &OptionCase::queries, count, &OptionCase::keys, of_keys, &OptionCase::mask_keys, of_keys,
                   &OptionCase::offset, at);
  }
  constexpr OptionCase scaled(float by) const { return changed(*this, &OptionCase::scale, by); }
  constexpr OptionCase factors(float of_scale, float of_queries, float of_keys) const {
    return changed(*this, &OptionCase::scale, of_scale, &OptionCase::spread, of_queries, &OptionCase::key_spread, of_keys);
  }
  constexpr OptionCase subnormal(int where) const { return changed(*this, &OptionCase::subnormals, where); }
  constexpr OptionCase at(int position) const { return changed(*this, &OptionCase::offset, position); }
  constexpr OptionCase both_ways() const { return changed(*this, &OptionCase::causal, false); }
  constexpr OptionCase window(int to_left, int to_right) const {
    return changed(*this, &OptionCase::left, to_left, &OptionCase::right, to_right);
  }
  constexpr OptionCase pin(int count) const { return changed(*this, &OptionCase::sink_tokens, count); }
  constexpr OptionCase with(unsigned more) const { return changed(*this, &OptionCase::extras, extras | more); }
  constexpr OptionCase mask(int keys_of_it, unsigned rows, int shown) const {
    return changed(*this, &OptionCase::mask_keys, keys_of_it, &OptionCase::mask_rows, rows, &OptionCase::shown_of_8, shown);
  }
  constexpr OptionCase relative(int to_left, int to_right) const {
    return changed(with(relative_table), &OptionCase::relative_left, to_left, &OptionCase::relative_right, to_right);
  }
  constexpr OptionCase cap(float most) const { return changed(*this, &OptionCase::soft_cap, most); }
  constexpr OptionCase before_cap() const { return changed(*this, &OptionCase::bias_before_cap, true); }
  constexpr OptionCase scores(attend::core::Scores shown) const { return changed(*this, &OptionCase::stage, int(shown)); }
  constexpr OptionCase queries_in(attend::core::Format query, attend::core::Format output) const {
    return changed(*this, &OptionCase::query_format, query, &OptionCase::output_format, output);
  }
  constexpr OptionCase keys_in(attend::core::Format key, attend::core::Format value) const {
    return changed(*this, &OptionCase::key_format, key, &OptionCase::value_format, value);
  }
  constexpr OptionCase cached() const { return changed(*this, &OptionCase::place, Place::cache); }
  constexpr OptionCase pages(int groups) const {
    return changed(*this, &OptionCase::place, Place::pages, &OptionCase::page_panels, groups);
  }
  constexpr OptionCase ring(int panels, int sinks) const {
    return changed(*this, &OptionCase::place, Place::ring, &OptionCase::ring_panels, panels, &OptionCase::sink_panels, sinks);
  }
  constexpr OptionCase from(int position) const { return changed(*this, &OptionCase::origin, position); }
  constexpr OptionCase stopping(int every) const { return changed(*this, &OptionCase::state_keys, every); }
  constexpr OptionCase merging() const { return changed(*this, &OptionCase::merged, true); }
  constexpr OptionCase chunks(int of_keys) const { return changed(*this, &OptionCase::chunk, of_keys); }
  constexpr OptionCase documents(int up_to) const { return changed(*this, &OptionCase::longest, up_to); }
  constexpr OptionCase rows(int count) const { return changed(*this, &OptionCase::row_block, count); }

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
