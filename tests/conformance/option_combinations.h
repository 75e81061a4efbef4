// Random combinations of all options, in eight sizes, of which a board runs those that its memory holds: a hash over each size,
// the same on every target. Each is computed in two ways that must agree anyway: one of them has poison in the keys and values
// that no query sees, stops, or has other blocks. Freestanding, as plain_digest.h.
#pragma once

#include "option_digest.h"

namespace attend_test {

constexpr int combination_count = 200;
constexpr int combination_sizes = 8;
constexpr size_t largest_of_size[combination_sizes] = {6700,  10200, 13400, 17200,
                                                       19700, 24100, 33900, 122000};  // by usual_bytes
constexpr uint64_t combination_hashes[combination_sizes] = {0xd885ed839d387c47, 0x774c074e1314a69d, 0x3b925349edfce208,
                                                            0x2195ef458e752c76, 0x20faf31f73bdd225, 0xb40326969d0a74c9,
                                                            0x8f39be17532b8c55, 0xb16274f7ccd3d820};

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

// About the bytes of a case on embedded processors: its arrays, and an estimate of the work memory, of which targets take more
// or less. A size has the same combinations on every target.
inline size_t usual_bytes(const OptionCase& c) {
  Supply all(nullptr), work(nullptr);
  memory_of(c, all);
  work.take(attend::core::option_scratch_floats(c.row_block, c.key_block, c.head_dim, c.value_dim));
  return (all.used() - work.used()) * sizeof(float) + sizeof(float) * size_t(c.row_block) * size_t(96 + 24 * c.value_dim);
}

inline bool is_of_size(int size, const OptionCase& one, const OptionCase& other) {
  const size_t a = usual_bytes(one), b = usual_bytes(other), bytes = a > b ? a : b;
  return (size == combination_sizes - 1 || bytes <= largest_of_size[size]) && (size == 0 || bytes > largest_of_size[size - 1]);
}

// The memory that the combinations of a size take, in bytes.
inline size_t combination_bytes(int size) {
  size_t most = 0;
  for (int number = 0; number < combination_count; ++number) {
    const Combination combination(number);
    const OptionCase one = combination.drawn(), other = combination.other_way();
    if (!is_of_size(size, one, other)) continue;
    const size_t a = digest_bytes(one), b = digest_bytes(other), bytes = a > b ? a : b;
    if (bytes > most) most = bytes;
  }
  return most;
}

// Gives the hash of a size, or 0 when a combination has other bits the other way; then which is its number.
inline uint64_t hash_combinations(int size, float* memory, int& number) {
  uint64_t hash = hash_begin;
  for (number = 0; number < combination_count; ++number) {
    const Combination combination(number);
    const OptionCase one = combination.drawn(), other = combination.other_way();
    if (!is_of_size(size, one, other)) continue;
    const uint64_t digest = compute_digest(one, memory);
    if (compute_digest(other, memory) != digest) return 0;
    hash = (hash ^ digest) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace attend_test
