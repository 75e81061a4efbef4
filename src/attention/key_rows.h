// Scores of keys that stay in rows, for all query rows of a block at once: the lanes of a vector are queries, which are packed
// as panels once, and its factors are keys. Each score is the same sum in the same order as over panels of keys.
//
// Otherwise keys are packed as panels, which transposes them. Where heads are wide and query rows few, as with latents of 576
// dimensions under 128 query heads, that takes long beside what the rows make of it. Here the scores are transposed instead:
// 128 numbers for each key in place of 576.

// Whether so many query rows are whole panels and few beside the dimensions. The room where keys would be packed, head_dim
// floats for each, holds its scores twice: score_keys floats as they are computed, and `rows` floats transposed.
inline bool keeps_key_rows(int rows, int head_dim) {
  return rows % panel_keys == 0 && rows > panel_keys && rows <= config::score_keys && rows + config::score_keys <= head_dim;
}

// Scores of keys from ... to - 1, where `from` is a whole number of panels.
//   queries   panels [rows / 16][head_dim][16], scaled
//   key_rows  key_rows(k, count): keys k ... k + count - 1, at most 16, as floats, [count][head_dim]
//   scores    [keys / 16][rows][16]. In the last panel, keys from `to` on have the score of the key before. Behind them
//             lie scores as they are computed, [keys][score_keys]
template <class Isa, class KeyRows>
ATTEND_NOINLINE void score_key_rows(const float* queries, int rows, int head_dim, KeyRows key_rows, int from, int to,
                                    float* scores) {
  static_assert(Isa::tile_rows <= panel_keys, "");
  const Panels panels = {queries, core::Format::float32, nullptr, head_dim};
  float* const key_scores = scores + ptrdiff_t(whole_panels(to)) * rows;
  for (int k = from, count; k < to; k += count) {
    count = at_most(to - k, Isa::tile_rows);
    Tiles<Isa>::score(count, key_rows(k, count), panels, 0, rows, key_scores + k * config::score_keys);
  }
  for (int k = from; k < to; k += panel_keys) {
    pack_panel<Isa>(key_scores + k * config::score_keys, config::score_keys, at_most(to - k, panel_keys), rows,
                    scores + ptrdiff_t(k) * rows);
  }
}

// Copies the scores of `count` query rows, from row r on, to where a tile has them: [count][score_keys].
template <class Isa>
ATTEND_NOINLINE void copy_scores(const float* scores, int rows, int r, int count, int from, int to, float* tile) {
  for (int k = from; k < to; k += panel_keys) {
    const float* const panel = scores + ptrdiff_t(k) * rows + r * panel_keys;
    for (int i = 0; i < count; ++i) {
      ATTEND_UNROLL
      for (int v = 0; v < panel_keys; v += Isa::lanes)
        Isa::store(tile + i * config::score_keys + k + v, Isa::load(panel + i * panel_keys + v));
    }
  }
}
