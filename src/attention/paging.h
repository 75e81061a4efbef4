// Where the panels of a sequence lie.

// The keys that a ring has taken; a problem may have only the first of them.
inline int keys_taken(const core::Paging& paging, int keys) { return paging.ring_tokens > 0 ? paging.ring_tokens : keys; }

// The slot of a panel of `group` keys in a sequence of `keys` keys.
inline int slot_panel(const core::Paging& paging, int keys, int panel, int group = panel_keys) {
  if (paging.pages != nullptr)
    return paging.pages[panel / paging.page_panels] * paging.page_panels + panel % paging.page_panels;
  if (paging.ring_panels == 0 || panel < core::first_ring_panel(paging, keys, group)) return panel;
  return paging.sink_panels + panel % paging.ring_panels;
}

// The slot of a key of a problem's first `keys`: 16 for each panel's.
inline int slot_of(const core::Paging& paging, int keys, int key) {
  return slot_panel(paging, keys_taken(paging, keys), key / panel_keys) * panel_keys + key % panel_keys;
}

// The number of panels from `panel` on, at most panel_limit, that lie one after another in memory. All of them must exist.
inline int run_length(const core::Paging& paging, int keys, int panel, int panel_limit) {
  if (paging.pages != nullptr) {
    int page = panel / paging.page_panels, length = paging.page_panels - panel % paging.page_panels;
    for (; length < panel_limit && paging.pages[page + 1] == paging.pages[page] + 1; ++page) length += paging.page_panels;
    return at_most(length, panel_limit);
  }
  if (paging.ring_panels == 0) return panel_limit;
  const int first = core::first_ring_panel(paging, keys);
  return at_most(panel < first ? first - panel : paging.ring_panels - panel % paging.ring_panels, panel_limit);
}
