// Where the groups of a sequence lie.
#pragma once

#include "../../include/attend/core_options.h"
#include "../kernel/pack.h"

namespace attend {
namespace {

// Of the keys that a ring has taken, a problem may have only the first.
inline int keys_taken(const core::Paging& paging, int keys) { return paging.ring_tokens > 0 ? paging.ring_tokens : keys; }

// The slot of a group of a sequence of `keys` keys.
inline int slot_group(const core::Paging& paging, int keys, int group) {
  if (paging.pages != nullptr)
    return paging.pages[group / paging.page_groups] * paging.page_groups + group % paging.page_groups;
  if (paging.ring_groups == 0 || group < core::first_ring_group(paging, keys)) return group;
  return paging.sink_groups + group % paging.ring_groups;
}

// The slot of a key of a problem's first `keys`: 16 for each group's.
inline int slot_of(const core::Paging& paging, int keys, int key) {
  return slot_group(paging, keys_taken(paging, keys), key / panel_keys) * panel_keys + key % panel_keys;
}

// How many groups from `group` on, at most `most`, lie one after another in memory. All of these must exist.
inline int run_length(const core::Paging& paging, int keys, int group, int group_limit) {
  if (paging.pages != nullptr) {
    int page = group / paging.page_groups, length = paging.page_groups - group % paging.page_groups;
    for (; length < group_limit && paging.pages[page + 1] == paging.pages[page] + 1; ++page) length += paging.page_groups;
    return at_most(length, group_limit);
  }
  if (paging.ring_groups == 0) return group_limit;
  const int first = core::first_ring_group(paging, keys);
  return at_most(group < first ? first - group : paging.ring_groups - group % paging.ring_groups, group_limit);
}

}  // namespace
}  // namespace attend
