// Random combinations of all options, small enough for every board: one hash over them, the same on every target. Each is
// computed in two ways that must agree anyway: one of them has poison in the keys and values that no query sees, stops, or has
// other blocks. Freestanding, as plain_digest.h.
#pragma once

#include "option_digest.h"

namespace attend_test {

constexpr int combination_count = 200;
constexpr uint64_t combinations_hash = 0x3d2d3707d269a45c;

class Combination {
 public:
  explicit Combination(int number) : random_(uint64_t(number) + 5000) {
    c_.seed = uint64_t(number) + 100;
    c_.poisoned = number % 2 != 0;
    draw_shape();
    draw_visibility();
    draw_scores();
    draw_place();
    draw_formats();
  }

  OptionCase drawn() const { return c_; }

  // The same bits again. Scores before masks show what masked keys hold.
  OptionCase other_way() const {
    OptionCase c = c_;
    if (!c.shows(raw) && !c.shows(capped)) c.poisoned = !c.poisoned;
    c.row_block = c.row_block == 1 ? 6 : 1;
    if (c.place != Place::ring && !c.shows(weights)) c.state_keys = c.keys > 90 ? 101 : 7;
    const bool floats = c.key_format == float32 && c.value_format == float32;
    if (c.place == Place::arrays && floats && c.origin == 0) c.place = Place::cache;
    return c;
  }

 private:
  bool chance(int of) { return random_.between(1, of) == 1; }

  template <class T, size_t n>
  T one_of(const T (&choices)[n]) {
    return choices[random_.between(0, int(n) - 1)];
  }

  void draw_shape() {
    const bool segments = chance(10);
    c_.kv_heads = segments ? 1 : random_.between(1, 2);
    c_.query_heads = c_.kv_heads * random_.between(1, 3);
    c_.head_dim = random_.between(1, segments ? 6 : 20);
    c_.value_dim = random_.between(1, segments ? 6 : 20);
    c_.queries = random_.between(1, segments ? 2 : 5);
    c_.keys = segments ? random_.between(500, 600) : random_.between(1, chance(4) ? 140 : 80);
    c_.causal = chance(2);
    const int where = random_.between(0, 3);
    c_.offset = where == 0   ? random_.between(-40, c_.keys + 40)
                : where == 1 ? random_.between(-5, c_.keys)
                             : c_.keys - c_.queries;
    c_.scale = one_of({0.25f, 0.25f, 1.0f, -0.7f});
    c_.spread = one_of({0.1f, 1.0f, 8.0f, 60.0f});
    c_.row_block = one_of({1, 2, 8});
  }

  void draw_visibility() {
    if (chance(2)) c_.left = random_.between(0, one_of({3, 40, 300}));
    if (chance(4)) c_.right = random_.between(0, one_of({3, 40, 300}));
    if (chance(3)) c_.sink_tokens = random_.between(0, one_of({4, 70, 150}));
    c_.extras = random_.bits() & all_extras;
    if (chance(2)) c_.extras &= random_.bits();
    if (c_.has(bit_mask)) c_.extras &= ~unsigned(byte_mask);
    c_.mask_keys = chance(2) ? c_.keys : random_.between(0, c_.keys + 20);
    c_.mask_rows = unsigned(random_.between(0, 3));
    c_.shown_of_8 = one_of({1, 5, 7, 8});
    c_.relative_left = one_of({0, 1, 7, 130});
    c_.relative_right = one_of({0, 1, 7, 130});
  }

  void draw_scores() {
    if (chance(3)) c_.soft_cap = one_of({0.5f, 5.0f, 30.0f});
    if (chance(3)) c_.stage = random_.between(0, 3);
  }

  void draw_place() {
    c_.place = one_of({Place::arrays, Place::arrays, Place::cache, Place::pages, Place::ring});
    c_.page_panels = one_of({1, 2, 5});
    if (c_.place == Place::arrays && chance(3)) c_.origin = random_.between(0, c_.keys);
    if (c_.place != Place::ring) return;
    // A ring holds what every token's window reaches.
    const int groups = groups_of(c_.keys);
    c_.ring_panels = random_.between(1, groups + 1);
    c_.sink_panels = random_.between(0, 2);
    int first = (groups - c_.ring_panels) * attend::panel_keys;
    if (first < 0) first = 0;
    if (c_.offset < first) c_.offset = first;
    if (c_.left < 0 || c_.left > c_.offset - first) c_.left = c_.offset - first;
    if (c_.sink_tokens > c_.sink_panels * attend::panel_keys) c_.sink_tokens = c_.sink_panels * attend::panel_keys;
    if (c_.shows(raw) || c_.shows(capped)) c_.stage = int(biased);
  }

  void draw_formats() {
    constexpr Format halves[] = {float32, float16, bfloat16}, all[] = {float32, float16, bfloat16, int8};
    if (chance(2)) c_.query_format = one_of(halves), c_.output_format = one_of(halves);
    if (chance(2)) c_.key_format = one_of(all), c_.value_format = one_of(all);
  }

  OptionCase c_;
  Random random_;
};

// Gives the hash, or 0 when a combination has other bits the other way, or needs more memory; then which is its number.
inline uint64_t hash_combinations(float* memory, size_t floats, int& number) {
  uint64_t hash = hash_begin;
  for (number = 0; number < combination_count; ++number) {
    const Combination combination(number);
    const OptionCase one = combination.drawn(), other = combination.other_way();
    if (digest_bytes(one) > floats * sizeof(float) || digest_bytes(other) > floats * sizeof(float)) return 0;
    const uint64_t digest = compute_digest(one, memory);
    if (compute_digest(other, memory) != digest) return 0;
    hash = (hash ^ digest) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace attend_test
