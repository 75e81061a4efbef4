// Which keys a call with features goes over together: chains in which some row may see a key, by position and masks.

// Whether from a key on all rows see by position what the last row sees.
inline bool all_in_range(int key, const BlockVisibility& visibility) {
  return visibility.latest.window_begin <= key && visibility.latest.call_begin <= key;
}

// Whether masks let any of some rows see any of some keys.
ATTEND_NOINLINE inline bool lets_any(const core::Options& options, const QueryRow* row, int rows, int key, int count) {
  for (int r = 0; r < rows; ++r) {
    if (lets_any_through(options, row[r].mask_at, row[r].bias_at, key, count)) return true;
  }
  return false;
}

// Keys of one segment that are gone over together, at positions key + from ... key + to - 1.
struct Stretch {
  int key;
  int count;  // of keys to the next stretch: whole chains, or 0, when there are no more
  int from;
  int to;
  bool scores_stay;  // whether all rows see all of these keys, and nothing happens to their scores
};

// The stretches of some rows.
struct Stretches {
  const core::Options& options;
  const BlockVisibility& visibility;  // of the rows
  const QueryRow* row;
  int rows;
  bool modifies_scores;  // whether something happens to scores
  int key_block;         // the most keys of a stretch: one chain from the C++ surface; plans of the C surface may have more

  // The first one from `key` on, a whole number of chains, before `end`. A chain that begins before `begin` goes alone.
  ATTEND_NOINLINE Stretch next(int key, int begin, int end) const {
    int count;
    for (; key < end; key += count) {
      const int key_limit = key < begin ? chain_keys : at_most(key_block, segment_keys - key % segment_keys);
      // What all rows see, in whole chains, if its scores stay as they are.
      const bool stay = !modifies_scores && all_in_range(key, visibility);
      count = stay ? at_most(key_limit, visibility.earliest.end - key) & -chain_keys : 0;
      if (count > 0) return {key, count, 0, count, true};
      count = chain_keys;
      if (!visibility.has_any(key, key + chain_keys)) {
        count = at_least(count, (visibility.earliest.window_begin & -chain_keys) - key);
        continue;
      }
      // Two segments ahead at most, where masks differ: rows that hide everything are looked at again with the next stretch.
      const bool same_mask = row[0].mask_at == row[rows - 1].mask_at;
      const int hidden = hidden_from(key, same_mask ? end : key + at_most(end - key, 2 * segment_keys));
      if (hidden >= at_most(end - key, chain_keys)) {
        count = at_least(count, hidden & -chain_keys);
      } else if (lets_any_chain(key, end)) {
        while (count < key_limit && key + count < end && goes_on(key + count, end)) count += chain_keys;
        return visible_panels(key, count, end);
      }
    }
    return {key, 0, 0, 0, false};
  }

 private:
  // Whether the bias lets any row see any key of a chain.
  bool lets_any_chain(int key, int end) const {
    return options.bias.data == nullptr || visibility.shows_masked ||
           lets_any(options, row, rows, key, at_most(end - key, chain_keys));
  }

  // Whether a stretch goes on with a chain: some row may see a key of the panels on both sides of where it begins. Keys that
  // lie apart are better off in two stretches, whose outer panels are left out.
  bool goes_on(int key, int end) const {
    const int count = at_most(end - key, panel_keys);
    return visibility.has_any(key, key + chain_keys) && hidden_from(key, key + count) < count &&
           hidden_from(key - panel_keys, key) < panel_keys && lets_any_chain(key, end);
  }

  // The number of keys from `key` on, up to `end`, that the boolean mask hides from all rows. Few of very many may be shown, as
  // where another model has chosen blocks of them.
  int hidden_from(int key, int end) const {
    if (options.mask.data == nullptr || visibility.shows_masked) return 0;
    int hidden = end - key;
    ptrdiff_t before = 0;  // rows mostly share a row of the mask
    for (int r = 0; r < rows && hidden > 0; ++r) {
      if (r > 0 && row[r].mask_at == before) continue;
      before = row[r].mask_at;
      const int there = at_least(at_most(hidden, options.mask.keys - key), 0);
      const int found = hidden_elements(options, before + key, there);
      if (found < there) hidden = found;
    }
    return hidden;
  }

  // Leaves out panels at both ends that nobody sees.
  Stretch visible_panels(int key, int count, int end) const {
    int to = at_most(count, end - key), from = at_least(visibility.earliest.call_begin - key, 0) & -panel_keys;
    const auto any_sees = [&](int first, int last) {
      return visibility.has_any(key + first, key + last) && hidden_from(key + first, key + last) < last - first;
    };
    while (from < to && !any_sees(from, at_most(from + panel_keys, to))) from += panel_keys;
    for (int last; from < to && (last = (to - 1) & -panel_keys, !any_sees(last, to));) to = last;
    return {key, count, from, to, false};
  }
};
