// The algorithm for processors that are short of memory: as in host.h, which is for hosts, with less code and no copies.
//
//   for each block of rows: a tile's rows; with options the rows of a few tiles
//     for each chain of 64 keys that any row sees some of by position:
//       for each run of keys that lie together:    scores of all rows, a tile at a time
//       for each row:    score modifications, masks -> online softmax -> weights
//       for each tile:   sums += weights * values
//     at the end of a segment: add its sums to the sums of segments before it, in the tree's order
//     divide by the denominator
//
// Keys are read as they lie, panels or not. Left-over rows go one by one; so do rows that see different numbers of a chain's
// keys, in the value step. A masked value is never read. Rows with a masked key between visible ones go by runs of adjacent
// keys; so do rows of a chain that a call with states begins or leaves in its middle, and few rows where a ring wraps.

template <class Isa, class Features>
class EmbeddedPipeline : EmbeddedTiles<Isa, Features> {
  using Tiles = EmbeddedTiles<Isa, Features>;
  using Tiles::tile_rows, Tiles::rows_, Tiles::keys_, Tiles::seen_, Tiles::count, Tiles::problem;
  static_assert(has_embedded_operations<Isa>(), "");

 public:
  // Takes a problem and, with features, its options.
  template <class... Call>
  ATTEND_ALWAYS_INLINE explicit EmbeddedPipeline(const Call&... call) : Tiles(call...) {}

  void run() {
    int group = 0;  // query heads that share a key/value head; without a division, which some processors lack
    for (int heads = problem().query_heads; heads > 0; heads -= problem().kv_heads) ++group;
    for (int first_head = 0; first_head < problem().query_heads; first_head += group) {
      int token = 0, head = 0;
      for (int left = group * problem().queries; left > 0; left -= count()) {
        Tiles::count_ = rows_.take(left);
        rows_.begin_block();
        for (int r = 0; r < count(); ++r) {
          rows_.begin(r, token, first_head + head);
          if (++head == group) {
            head = 0;
            ++token;
          }
        }
        add_keys();
        if (rows_.has_states()) continue;
        for (int r = 0; r < count(); ++r) rows_.finish(r);
      }
      keys_.next_head(problem());
    }
  }

 private:
  // All keys, for the rows that were begun.
  ATTEND_ALWAYS_INLINE void add_keys() {
    int key = 0, end;
    if constexpr (Features::any) {
      key = rows_.row(0).at.visibility.call_begin & -chain_keys;
      end = rows_.shows_masked() ? problem().keys : rows_.row(count() - 1).at.visibility.end;
      seen_.all = false;
      open_ = rows_.has_states() ? rows_.options().first_key & -chain_keys : -1;
    } else {
      end = rows_.end(count() - 1);  // never falls from row to row
      open_ = 0;
    }
    while (key < end) {
      if (find_visible(key, end)) {
        close_before(key);
        chain(key);
        key += chain_keys;
      } else if constexpr (Features::any) {
        key = at_least(key + chain_keys, rows_.row(0).at.visibility.window_begin & -chain_keys);
      }
    }
    if (rows_.has_states()) close_before(problem().keys);
  }

  // Finds the keys of a chain that rows see; returns whether there are any.
  bool find_visible(int key, int end) {
    if constexpr (!Features::any) {
      seen_.to = at_most(end - key, chain_keys);
      return true;
    } else {
      const Visibility &earliest = rows_.row(0).at.visibility, &latest = rows_.row(count() - 1).at.visibility;
      if (key < at_least(latest.window_begin, latest.call_begin) || key + chain_keys > earliest.end)
        return find_visible_by_rows(key);
      if (seen_.all) return true;  // as before
      for (int r = 0; r < count(); ++r) rows_.row(r).sees = {0, chain_keys, false};
      seen_ = {0, chain_keys, false, true};
      return true;
    }
  }

  ATTEND_NOINLINE bool find_visible_by_rows(int key) {
    const int count_here = at_most(problem().keys - key, chain_keys);
    seen_ = {count_here, 0, false, false};
    for (int r = 0; r < count(); ++r) {
      EmbeddedRow& row = rows_.row(r);
      row.sees = range_in_chain(row.at.visibility, key, count_here);
      if (row.sees.from >= row.sees.to) continue;
      seen_.from = at_most(seen_.from, row.sees.from);
      seen_.to = at_least(seen_.to, row.sees.to);
      seen_.gap = seen_.gap || row.sees.gap;
    }
    if (rows_.shows_masked()) {
      seen_.from = at_least(rows_.row(0).at.visibility.call_begin - key, 0);
      seen_.to = count_here;
    }
    return seen_.from < seen_.to;
  }

  // Whether a call with states begins or leaves a chain in its middle.
  bool is_cut(int key) const {
    if constexpr (Features::states)
      return rows_.has_states() && (key < rows_.options().first_key || key + chain_keys > problem().keys);
    return false;
  }

  // Closes the chain and the segment that end before the chain of a key, if they do.
  void close_before(int key) {
    if (!Features::any || open_ >= 0) {
      if constexpr (Features::states) {
        if (is_cut(open_) && (key & -chain_keys) != open_) {
          for (int r = 0; r < count(); ++r) rows_.open_segment(r).end_chain();
        }
      }
      if (((key ^ open_) & -segment_keys) != 0) rows_.end_segments(count(), segment_of(open_), segment_of(key));
    }
    open_ = key & -chain_keys;
  }

  // One chain of keys for all rows.
  ATTEND_HOT ATTEND_NOINLINE void chain(int key) {
    const int start = seen_.from & -panel_keys;
    const KeyRun run = keys_.run_at(key + start, seen_.to - start);
    const bool whole = !Features::any || run.count == seen_.to - start, cut = is_cut(key);
    const bool masked = rows_.has_masks() || seen_.gap;
    const int first = run.place - start;
    if constexpr (Features::any) {
      whole && !masked ? Tiles::score_run(first, seen_.from, seen_.to) : score_by_panels(key);
    } else {
      Tiles::score_run(first, 0, seen_.to);
    }
    for (int r = 0; r < count(); ++r) {
      if constexpr (Features::score_mods) {
        if (rows_.modifies_scores()) modify(r, key);
      }
      weigh(r, key, cut);
    }
    if constexpr (Features::any) {
      if (masked || cut || (!whole && count() <= tile_rows)) {
        for (int r = 0; r < count(); ++r) add_runs<Isa>(rows_, keys_, r, key, cut);
        return;
      }
      if (!whole || !Tiles::reads_in_place(keys_.value_format())) return Tiles::add_widened(key);
      Tiles::scale_rows(keys_.value_scales(), first, seen_.from, seen_.to);
    }
    Tiles::value_tiles(key, keys_.template values<typename Tiles::Chained>(), first, problem().value.token_stride, 0,
                       problem().value_dim);
  }

  // Scores of the chain's keys that any row sees, panel by panel.
  ATTEND_NOINLINE void score_by_panels(int key) {
    const bool by_panels = !rows_.shows_masked() && (rows_.has_masks() || seen_.gap);
    for (int k = seen_.from & -panel_keys; k < seen_.to;) {
      const int keys = by_panels ? at_most(seen_.to - k, panel_keys) : seen_.to - k;
      if (by_panels && !is_needed(key + k, keys)) {
        for (int r = 0; r < count(); ++r) fill_row<Isa>(-ATTEND_INFINITY, panel_keys, rows_.scores(r) + k);
        k += panel_keys;
        continue;
      }
      const KeyRun run = keys_.run_at(key + k, keys);
      Tiles::score_run(run.place - k, at_least(k, seen_.from), k + run.count);
      k += run.count;
    }
  }

  // Whether any row sees any of a panel's keys.
  bool is_needed(int key, int keys) const {
    for (int r = 0; r < count(); ++r) {
      const QueryRow& at = rows_.row(r).at;
      if (!at.visibility.has_any(key, key + keys)) continue;
      if (!rows_.has_masks() || lets_any_through(rows_.options(), at.mask_at, at.bias_at, key, keys)) return true;
    }
    return false;
  }

  ATTEND_NOINLINE void modify(int r, int key) {
    const EmbeddedRow& row = rows_.row(r);
    const int from = rows_.shows_masked() ? seen_.from : row.sees.from, to = rows_.shows_masked() ? seen_.to : row.sees.to;
    if (from < to) rows_.score_mod().apply(rows_.scores(r), &row.at, 1, {key, from & -panel_keys, to}, nullptr, true);
  }

  // Turns a row's scores into weights. A chain that is cut has sums of its own, which lie before the segment's.
  ATTEND_NOINLINE void weigh(int r, int key, bool cut) {
    const ChainRange& sees = rows_.sees(r, key);
    if (sees.from >= sees.to) return;
    const int from = sees.from & -panel_keys;
    float* const scores = rows_.scores(r) + from;
    float* sums = *rows_.sums(r);
    int width = problem().value_dim;
    if constexpr (Features::any) {
      if (!rows_.modifies_scores()) {
        for (int k = 0; k < sees.from - from; ++k) scores[k] = -ATTEND_INFINITY;
        if (sees.gap) {
          const Visibility& by = rows_.row(r).at.visibility;
          for (int k = by.sink_tokens - key; k < by.window_begin - key; ++k) scores[k - from] = -ATTEND_INFINITY;
        }
      }
      if (cut) {
        sums = rows_.open_segment(r).chain;
        width *= 2;
      }
    }
    row_softmax<Isa>(scores, sees.to - from, rows_.max(r), rows_.lane_sums(r), sums, width);
  }

  int open_ = 0;  // the chain whose sums are open
};
