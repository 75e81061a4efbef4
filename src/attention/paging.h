// Where the groups of a sequence lie.
#pragma once

#include "../../include/attend/core_options.h"
#include "../kernel/pack.h"

namespace attend {
namespace {

// Of the keys that a ring has taken, a problem may have only the first.
inline int keys_taken(const core::Slots& slots, int keys) { return slots.ring_tokens > 0 ? slots.ring_tokens : keys; }

// Of the groups that the sequence's first `keys` keys fill, the first that is still in a ring; may be negative.
inline int first_ring_group(const core::Slots& slots, int keys) { return (keys - 1) / panel_keys - slots.ring_groups + 1; }

// The slot of a group of a sequence of `keys` keys.
inline int slot_group(const core::Slots& slots, int keys, int group) {
  if (slots.pages != nullptr) return slots.pages[group / slots.page_groups] * slots.page_groups + group % slots.page_groups;
  if (slots.ring_groups == 0 || group < first_ring_group(slots, keys)) return group;
  return slots.pinned_groups + group % slots.ring_groups;
}

// The slot of a key of a problem's first `keys`: 16 for each group's.
inline int slot_of(const core::Slots& slots, int keys, int key) {
  return slot_group(slots, keys_taken(slots, keys), key / panel_keys) * panel_keys + key % panel_keys;
}

// How many groups, from this one on and at most so many, have slots one after another. All of these must exist.
inline int run_length(const core::Slots& slots, int keys, int group, int most) {
  if (slots.pages != nullptr) {
    int page = group / slots.page_groups, length = slots.page_groups - group % slots.page_groups;
    for (; length < most && slots.pages[page + 1] == slots.pages[page] + 1; ++page) length += slots.page_groups;
    return at_most(length, most);
  }
  if (slots.ring_groups == 0) return most;
  const int first = first_ring_group(slots, keys);
  return at_most(group < first ? first - group : slots.ring_groups - group % slots.ring_groups, most);
}

}  // namespace
}  // namespace attend
