// Random problems with random options.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../support/random.h"
#include "option_instance.h"

namespace attend_test {

class OptionDraw {
 public:
  OptionDraw(OptionInstance& instance, const Random& random, int least_keys, const OptionShape* shape, bool small = false)
      : in(instance), random_(random) {
    draw_shape(least_keys);
    if (small) draw_small_shape();
    if (shape != nullptr) in.s = *shape;
    draw_lists();
    draw_visibility();
    draw_biases();
    draw_memory();
    draw_numbers();
    if (in.has(lse)) in.options.lse_base2 = chance(2);
    if (in.has(soft_caps) && in.has(bias_masks)) in.options.bias_before_cap = chance(2) && in.options.bias.data != nullptr;
  }

 private:
  bool chance(int of) { return random_.between(1, of) == 1; }

  template <class T, std::size_t n>
  T one_of(const T (&choices)[n]) {
    return choices[std::size_t(random_.between(0, int(n) - 1))];
  }

  // Ragged lengths on both sides of panels, chains and segments.
  void draw_shape(int least_keys) {
    const int heads_of_group = random_.between(1, 4);
    in.s.kv_heads = random_.between(1, 3);
    in.s.head_dim = chance(4) ? one_of({40, 48, 64, 80, 96, 128}) : random_.between(1, 33);
    in.s.value_dim = chance(3) ? random_.between(1, 70) : in.s.head_dim;
    const int kind = random_.between(0, 9);
    in.s.keys = kind == 0   ? one_of({63, 64, 65, 127, 128, 129, 511, 512, 513, 576, 577, 640})
                : kind == 1 ? random_.between(480, 700)
                : kind < 4  ? random_.between(0, 16)
                            : random_.between(1, 200);
    in.s.keys = std::max(in.s.keys, least_keys);
    if (in.s.keys > 200)
      in.s.kv_heads = 1, in.s.head_dim = std::min(in.s.head_dim, 20), in.s.value_dim = std::min(in.s.value_dim, 20);
    if (in.has(int4_formats)) {
      in.s.head_dim = in.s.keys > 200 ? 32 : one_of({32, 64, 96});
      in.s.value_dim = in.s.keys > 200 ? 32 : one_of({32, 64, 128});
    }
    in.s.query_heads = in.s.kv_heads * heads_of_group;
    in.s.queries = random_.between(1, 40);
    // The scalar backend takes its time.
    while (in.s.queries > 1 && double(in.s.queries) * in.s.keys * in.s.query_heads * (in.s.head_dim + in.s.value_dim) > 1e5) {
      in.s.queries = (in.s.queries + 1) / 2;
    }
    in.s.causal = chance(2);
    const int where = random_.between(0, 19);
    in.s.offset = where == 0
                      ? one_of({-1000000000, std::numeric_limits<int>::min(), 2000000000, std::numeric_limits<int>::max()})
                  : where < 10 ? in.s.keys - in.s.queries
                  : where < 15 ? random_.between(-5, in.s.keys)
                               : random_.between(-60, in.s.keys + 60);
    if (in.has(alibi_slopes | rings) && where == 0) in.s.offset = in.s.keys - in.s.queries;
    in.s.scale = one_of({attend::default_scale(in.s.head_dim), attend::default_scale(in.s.head_dim), 0.25f, -0.7f, 1.0f});
    in.s.spread = one_of({0.1f, 1.0f, 1.0f, 8.0f, 60.0f});
    in.gap = random_.between(0, 1) * 3;
  }

  // A few microseconds for the definition: many problems instead of large ones.
  void draw_small_shape() {
    const bool long_one = chance(256), longer = chance(8);
    in.s.kv_heads = chance(4) ? 2 : 1, in.s.query_heads = in.s.kv_heads * (chance(4) ? 2 : 1);
    in.s.head_dim = random_.between(1, chance(8) ? 20 : 6), in.s.value_dim = random_.between(1, 6);
    if (in.has(int4_formats)) in.s.head_dim = in.s.value_dim = 32;
    in.s.keys = random_.between(0, long_one ? 80 : longer ? 20 : 6);
    in.s.queries = chance(2) ? 1 : random_.between(2, long_one ? 8 : 3);
    if (in.s.offset > -70 && in.s.offset < 900) in.s.offset = random_.between(-2, in.s.keys);
    // Positions of tokens must not overflow where there are windows.
    in.s.offset = std::min(in.s.offset, std::numeric_limits<int>::max() - in.s.queries);
  }

  void draw_lists() {
    if (in.has(document_lists)) {
      in.s.queries = in.s.keys = std::clamp(in.s.keys, 1, 60);
      in.s.offset = 0;
      in.boundaries.push_back(0);
      while (in.boundaries.back() < in.s.keys || chance(4)) {
        in.boundaries.push_back(std::min(in.s.keys, in.boundaries.back() + one_of({0, 1, 3, 17, 60})));
      }
    }
    if (!in.has(range_lists)) return;
    const int kind = random_.between(0, 5), size = one_of({1, 3, 16, 40}), size2 = random_.between(0, 20);
    for (int t = 0; t < in.s.queries; ++t) {
      const int p = int(std::clamp(0LL + in.s.offset + t, 0LL, 0LL + in.s.keys + 3)), span = p / size * size;
      int first = 0, end = in.s.keys;
      if (kind == 0) first = span, end = span + size;                                             // chunks
      if (kind == 1) end = std::max(p + 1, 2 * size);                                             // a prefix
      if (kind == 2) end = p / size % 2 == 0 ? p + 1 : span + size, first = std::max(0, p - 40);  // spans
      if (kind == 3) first = std::max(0, p - size), end = p + 1 + size2;                          // windows
      if (kind == 4) first = random_.between(0, in.s.keys), end = first + random_.between(0, 20);
      if (kind == 5) end = std::max(0, in.s.keys - t), first = end / 2;  // falling
      in.range_first.push_back(first);
      in.range_end.push_back(std::max(end, first));
    }
  }

  void draw_visibility() {
    const int far = one_of({3, 40, 300, 800});
    if (in.has(windows)) {
      const int kind = random_.between(0, 5);
      if (kind != 0) in.options.left = kind == 5 ? 0 : random_.between(0, far);
      if (kind == 0 || kind >= 3) in.options.right = kind == 5 ? random_.between(0, 1) : random_.between(0, far);
      if (chance(20)) in.options.left = in.options.right = std::numeric_limits<int>::max();
    }
    if (in.has(pins)) {
      in.options.sink_tokens = one_of({1, 4, 16, 64, 70, in.s.keys, in.s.keys + 5, random_.between(0, 200)});
      if (!in.has(windows)) in.options.left = random_.between(0, far);
    }
    if (in.has(rings)) draw_ring();
    if (in.has(byte_masks | bit_masks)) {
      in.options.mask_bits = in.has(bit_masks);
      const std::size_t count = draw_mask(in.options.mask);
      const int of_10 = one_of({1, 5, 9, 10});
      // What lies between and behind the elements would show keys.
      in.visible.assign(in.options.mask_bits ? (count + 7) / 8 : count, in.options.mask_bits ? 0xff : 1);
      bool runs = chance(2), shown = true;
      for (std::size_t n = 0; n < count; ++n) {
        if (!runs || n % 32 == 0) shown = random_.between(1, 10) <= of_10;
        if (!in.options.mask_bits) {
          in.visible[n] =
              shown ? one_of({std::uint8_t(1), std::uint8_t(2), std::uint8_t(0x80), std::uint8_t(0xff)}) : std::uint8_t(0);
        } else if (!shown) {
          in.visible[n / 8] = std::uint8_t(in.visible[n / 8] & ~(1 << n % 8));
        }
      }
      in.options.mask.data = in.visible.data();
    }
  }

  // A ring holds what every token's window reaches.
  void draw_ring() {
    const int groups = (in.s.keys + 15) / 16;
    in.options.paging.ring_panels = random_.between(1, std::max(1, groups + 1));
    in.options.paging.sink_panels = random_.between(0, 3);
    const int first = std::max(0, (groups - in.options.paging.ring_panels) * 16);
    in.s.offset = std::max(in.s.offset, first);
    in.options.left = std::min(in.options.left < 0 ? in.s.keys : in.options.left, in.s.offset - first);
    in.options.sink_tokens = std::min(in.options.sink_tokens, in.options.paging.sink_panels * 16);
  }

  // Strides of a mask, and the number of its elements up to the last.
  std::size_t draw_mask(core::Mask& mask) {
    mask.first = one_of({0, 0, 3, 13});
    mask.keys = chance(2) ? in.s.keys : random_.between(0, in.s.keys + 20);
    const int row = mask.keys + one_of({0, 0, 1, 9});
    const bool per_token = chance(2), per_head = chance(2);
    mask.head_stride = per_head ? row : 0;
    mask.token_stride = per_token ? row * (per_head ? in.s.query_heads : 1) : 0;
    const std::ptrdiff_t last = (in.s.queries - 1) * mask.token_stride + (in.s.query_heads - 1) * mask.head_stride;
    return std::size_t(mask.first + last) + std::size_t(mask.keys);
  }

  void draw_biases() {
    if (in.has(bias_masks)) {
      const std::size_t count = draw_mask(in.options.bias);
      in.biases.assign(count, 0.0f);
      const int masked_of_100 = one_of({0, 10, 50});
      for (float& b : in.biases) b = random_.between(1, 100) <= masked_of_100 ? minus_infinity : random_.uniform() * 3.0f;
      in.options.bias.data = in.biases.data();
    }
    if (in.has(alibi_slopes)) {
      for (int h = 0; h < in.s.query_heads; ++h) in.slope_numbers.push_back(random_.uniform() * one_of({0.01f, 0.5f}));
      in.options.alibi_slopes = in.slope_numbers.data();
    }
    if (in.has(relative_tables)) {
      in.options.relative_left = one_of({0, 1, 7, 128, 900});
      in.options.relative_right = one_of({0, 1, 7, 128});
      const int width = in.options.relative_left + 1 + in.options.relative_right;
      const bool shared = chance(4);
      in.options.relative_head_stride = shared ? 0 : width + in.gap;
      in.relative.resize(std::size_t((in.s.query_heads - 1) * in.options.relative_head_stride + width));
      random_.fill(in.relative.data(), in.relative.size(), 2.0f);
      if (chance(3)) {
        for (float& b : in.relative) b = chance(4) ? minus_infinity : b;
      }
      in.options.relative = in.relative.data();
    }
    if (in.has(soft_caps)) in.options.soft_cap = one_of({0.5f, 5.0f, 30.0f, 50.0f});
    if (in.has(sink_logits)) {
      for (int h = 0; h < in.s.query_heads; ++h) {
        in.sink_numbers.push_back(
            one_of({minus_infinity, 100.0f, -100.0f, 0.0f, 4.0f * random_.uniform(), 4.0f * random_.uniform()}));
      }
      in.options.sink_logits = in.sink_numbers.data();
    }
    if (in.has(scores)) {
      in.options.score_stage = core::Scores(random_.between(in.has(rings | range_lists) ? 2 : 0, 3));
      in.options.score_keys = in.s.keys + one_of({0, 0, 1, 20});
    }
  }

  void draw_memory() {
    constexpr Format halves[] = {Format::float32, Format::float16, Format::bfloat16};
    if (in.has(half_formats)) {
      in.options.query_format = one_of(halves), in.options.key_format = one_of(halves);
      in.options.value_format = one_of(halves), in.options.output_format = one_of(halves);
    }
    if (in.has(int8_formats)) {
      const int which = random_.between(1, 3);
      if (which & 1) in.options.key_format = Format::int8;
      if (which & 2) in.options.value_format = Format::int8;
    }
    if (in.has(int4_formats)) {
      const int which = random_.between(1, 3);
      if (which & 1) in.options.key_format = Format::int4;
      if (which & 2) in.options.value_format = Format::int4;
    }
    const int groups = (in.s.keys + 15) / 16;
    if (in.has(page_tables)) {
      in.options.paging.page_panels = one_of({1, 2, 5});
      const int count = (groups + in.options.paging.page_panels - 1) / in.options.paging.page_panels;
      std::vector<std::int32_t> free;
      for (int page = 0; page < count + 2; ++page) free.push_back(page);
      for (int page = 0; page < count; ++page) {
        const auto next = std::size_t(random_.between(0, int(free.size()) - 1));
        in.pages.push_back(free[next]);
        free.erase(free.begin() + std::ptrdiff_t(next));
      }
      in.options.paging.pages = in.pages.data();
    }
    if (in.has(origins)) in.options.origin = random_.between(0, in.s.keys) & (chance(2) ? -1 : -16);
    for (int j = 0; j < in.s.keys; ++j) {
      if (in.exists(j)) in.places = std::max(in.places, in.place(j) + 1);
    }
    if (chance(2)) in.places += 19;  // without, memory ends where the keys do
  }

  float number(Format format, float spread) {
    return format == Format::int8 ? float(random_.between(-127, 127)) : rounded_to(format, random_.uniform() * spread);
  }

  void draw_rows(Format format, std::vector<float>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = format == Format::int4 ? float(random_.between(-8, 7)) * OptionInstance::int4_scale(i) : number(format, 1.0f);
    }
  }

  void draw_numbers() {
    const core::Options& o = in.options;
    in.query.resize(std::size_t(in.s.queries * in.s.query_heads * in.s.head_dim));
    in.key.resize(std::size_t(in.s.keys * in.s.kv_heads * in.s.head_dim));
    in.value.resize(std::size_t(in.s.keys * in.s.kv_heads * in.s.value_dim));
    for (float& x : in.query) x = number(o.query_format, in.s.spread);
    draw_rows(o.key_format, in.key);
    draw_rows(o.value_format, in.value);
    const int scales = in.places;
    if (o.key_format == Format::int8) in.key_scales = scale_row(scales, 0x1p-8f), in.options.key_scales = in.key_scales.data();
    if (o.value_format == Format::int8)
      in.value_scales = scale_row(scales, 0x1p2f), in.options.value_scales = in.value_scales.data();
    in.options.key_scale_stride = in.options.value_scale_stride = scales;
  }

  // Scales of values are large, so that no weight becomes subnormal by them: processors that take such numbers for zero would
  // round sums of a few short numbers, which often lie in the middle between two floats, to the other one.
  std::vector<float> scale_row(int count, float spread) {
    std::vector<float> row(std::size_t(count * in.s.kv_heads));
    for (float& x : row) x = (1.5f + random_.uniform()) * spread;
    return row;
  }

  OptionInstance& in;
  Random random_;
};

struct RandomInstance : OptionInstance {
  RandomInstance(std::uint64_t seed, unsigned wished, int least_keys = 0)
      : RandomInstance(Random(seed), wished, least_keys, nullptr) {
    poison_masked(int(seed % 4));
  }
  RandomInstance(std::uint64_t seed, unsigned wished, const OptionShape& shape)
      : RandomInstance(Random(seed), wished, 0, &shape) {}
  // Whatever the source of the numbers is.
  RandomInstance(const Random& random, unsigned wished, bool small) : RandomInstance(random, wished, 0, nullptr, small) {
    poison_masked();
  }

 private:
  RandomInstance(const Random& random, unsigned wished, int least_keys, const OptionShape* shape, bool small = false) {
    // These exclude each other: two kinds of mask, and three ways for keys not to lie side by side from the first on; documents
    // lie in no other way, and a given shape has none.
    if (shape != nullptr) wished &= ~unsigned(document_lists);
    if (wished & document_lists) wished &= ~unsigned(rings | page_tables | origins);
    if (wished & bit_masks) wished &= ~unsigned(byte_masks);
    if (wished & rings) wished &= ~unsigned(page_tables);
    if (wished & (rings | page_tables)) wished &= ~unsigned(origins);
    wishes = wished;
    OptionDraw(*this, random, least_keys, shape, small);
  }
};

}  // namespace attend_test
