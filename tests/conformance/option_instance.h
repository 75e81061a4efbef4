// One problem with options and its data, and what its rows are made of; what masks which key is said here once more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../support/number_formats.h"
#include "attend/attend.h"
#include "definition.h"

namespace attend_test {

namespace core = attend::core;

// Which options an instance has; the numbers in them are random.
enum Wish : unsigned {
  windows = 1,
  pins = 2,
  byte_masks = 4,
  bit_masks = 8,
  bias_masks = 16,
  alibi_slopes = 32,
  relative_tables = 64,
  soft_caps = 128,
  sink_logits = 256,
  lse = 512,
  scores = 1024,
  half_formats = 2048,
  int8_formats = 4096,
  page_tables = 8192,
  rings = 16384,
  origins = 32768,
  range_lists = 65536,
  document_lists = 131072,
  int4_formats = 262144
};
constexpr int wish_count = 19;
constexpr const char* wish_names[wish_count] = {"windows",      "pins",         "byte_masks", "bit_masks",   "bias_masks",
                                                "alibi_slopes", "relative",     "caps",       "sink_logits", "lse",
                                                "scores",       "half_formats", "int8",       "pages",       "rings",
                                                "origins",      "ranges",       "documents",  "int4"};
constexpr unsigned score_wishes = half_formats - 1;  // all but those about how numbers lie in memory

const float bad_numbers[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), minus_infinity,
                             3e38f};

struct OptionShape {
  int query_heads, kv_heads, head_dim, value_dim, queries, keys, offset;
  float scale, spread;
  bool causal;
};

struct OptionInstance {
  OptionInstance() = default;
  OptionInstance(const OptionInstance&) = delete;  // options point into it

  bool has(unsigned wish) const { return (wishes & wish) != 0; }

  int group() const { return s.query_heads / s.kv_heads; }

  // Where key j lies in one long array, counted from the first key there is memory for.
  int place(int j) const {
    const int g = j / 16;
    int slot = g;
    if (has(page_tables))
      slot = pages[std::size_t(g / options.paging.page_panels)] * options.paging.page_panels + g % options.paging.page_panels;
    if (has(rings) && in_ring(j)) slot = options.paging.sink_panels + g % options.paging.ring_panels;
    return slot * 16 + j % 16 - options.origin;
  }

  // Whether keys that begin with this one can lie in the panels of a cache.
  bool fits_panels() const { return options.origin % 16 == 0 && !has(document_lists); }

  bool exists(int j) const { return j >= options.origin && (!has(rings) || in_ring(j) || j / 16 < options.paging.sink_panels); }

  // The first key of a token's document, and where its keys end; of an instance without documents, all keys.
  int document_begin(int token) const {
    int begin = 0;
    for (const int boundary : boundaries) begin = boundary <= token ? boundary : begin;
    return begin;
  }
  int document_end(int token) const {
    for (const int boundary : boundaries) {
      if (boundary > token) return boundary;
    }
    return s.keys;
  }

  bool sees(int token, int head, int j) const {
    const long long p = 0LL + s.offset + token;
    const core::Options& o = options;
    if (!exists(j) || (s.causal && j > p) || (o.right >= 0 && j > p + o.right)) return false;
    const int first = document_begin(token);
    if (j < first || j >= document_end(token)) return false;
    if (o.left >= 0 && j < p - o.left && j - first >= o.sink_tokens) return false;
    const auto t = std::size_t(token);
    if (has(range_lists) && (j < range_first[t] || j >= range_end[t])) return false;
    if (o.mask.data != nullptr && (j >= o.mask.keys || !mask_element(token, head, j))) return false;
    if (o.bias.data != nullptr && (j >= o.bias.keys || bias_element(token, head, j) == minus_infinity)) return false;
    return !has(relative_tables) || relative_element(token, head, j) != minus_infinity;
  }

  OptionRow row(int token, int head) const {
    OptionRow r;
    const auto h = std::size_t(head);
    const int kv = head / group();
    r.query = &query[std::size_t((token * s.query_heads + head) * s.head_dim)];
    r.head_dim = s.head_dim, r.value_dim = s.value_dim, r.scale = s.scale, r.soft_cap = options.soft_cap;
    r.bias_before_cap = options.bias_before_cap;
    if (has(alibi_slopes)) r.slope = slope_numbers[h];
    if (has(sink_logits)) r.sink = sink_numbers[h];
    r.keys.reserve(std::size_t(s.keys));
    for (int j = document_begin(token); j < document_end(token); ++j) {
      OptionKey k;
      const long long distance = 0LL + j - s.offset - token;
      k.distance = distance;
      k.seen = sees(token, head, j);
      if (exists(j)) {
        k.key = &key[std::size_t((j * s.kv_heads + kv) * s.head_dim)];
        k.value = &value[std::size_t((j * s.kv_heads + kv) * s.value_dim)];
        if (options.key_scales != nullptr) k.key_scale = key_scales[scale_index(kv, j)];
        if (options.value_scales != nullptr) k.value_scale = value_scales[scale_index(kv, j)];
      }
      if (options.bias.data != nullptr && j < options.bias.keys) k.bias = bias_element(token, head, j);
      if (has(relative_tables)) k.relative = relative_element(token, head, j);
      r.keys.push_back(k);
    }
    return r;
  }

  // Key and value j of a key/value head become what must not show where they are masked.
  void poison(int kv, int j, float bad) {
    const auto fill = [&](std::vector<float>& numbers, int width, Format format, std::vector<float>& scales) {
      const auto first = numbers.begin() + std::ptrdiff_t(j * s.kv_heads + kv) * width;
      std::fill(first, first + width,
                format == Format::int8   ? 127.0f
                : format == Format::int4 ? std::numeric_limits<float>::quiet_NaN()
                                         : rounded_to(format, bad));
      if (format == Format::int8) scales[scale_index(kv, j)] = bad;
    };
    fill(key, s.head_dim, options.key_format, key_scales);
    fill(value, s.value_dim, options.value_format, value_scales);
  }

  // Keys that nobody sees hold what would show if anything of them came through.
  void poison_masked(int first = 0) {
    for (int kv = 0; kv < s.kv_heads; ++kv) {
      for (int j = 0; j < s.keys; ++j) {
        bool seen = !exists(j);
        for (int t = 0; t < s.queries && !seen; ++t) {
          for (int h = kv * group(); h < (kv + 1) * group(); ++h) seen = seen || sees(t, h, j);
        }
        if (!seen) poison(kv, j, bad_numbers[(first + j) % 4]);
      }
    }
  }

  // The scale of a group of int4, of number i of `key` or `value` and those beside it.
  static float int4_scale(std::size_t i) { return float(33 + i / 32 * 37 % 31) * 0x1p-8f; }

  std::size_t scale_index(int kv, int j) const { return std::size_t(kv * options.key_scale_stride + place(j)); }

  std::string text() const {
    const auto number = [](const char* name, double n) {
      std::string digits = std::to_string(n);
      digits.erase(digits.find_last_not_of('0') + 1);
      if (digits.back() == '.') digits.pop_back();
      return std::string(" ") + name + "=" + digits;
    };
    std::string t = "options:";
    for (int i = 0; i < wish_count; ++i) t += has(1u << i) ? std::string(" ") + wish_names[i] : "";
    t += ";" + number("query_heads", s.query_heads) + number("kv_heads", s.kv_heads) + number("head_dim", s.head_dim) +
         number("value_dim", s.value_dim) + number("queries", s.queries) + number("keys", s.keys) + number("causal", s.causal) +
         number("offset", s.offset) + number("scale", double(s.scale)) + number("spread", double(s.spread));
    t += number("left", options.left) + number("right", options.right) + number("sink_tokens", options.sink_tokens);
    t += number("mask.keys", options.mask.keys) + number("bias.keys", options.bias.keys);
    t += number("cap", double(options.soft_cap)) + number("bias_before_cap", options.bias_before_cap) +
         number("stage", int(options.score_stage)) + number("lse_base2", options.lse_base2) + number("origin", options.origin);
    t += number("relative_left", options.relative_left) + number("relative_right", options.relative_right);
    t += number("query_format", int(options.query_format)) + number("key_format", int(options.key_format)) +
         number("value_format", int(options.value_format)) + number("output_format", int(options.output_format));
    t += number("page_panels", options.paging.page_panels) + number("ring_panels", options.paging.ring_panels) +
         number("sink_panels", options.paging.sink_panels);
    return t;
  }

  unsigned wishes = 0;
  OptionShape s{};
  core::Options options;          // but for its results and states
  std::vector<float> query;       // [queries][query_heads][head_dim]
  std::vector<float> key, value;  // [keys][kv_heads][width], in the order of positions
  std::vector<float> key_scales, value_scales, slope_numbers, sink_numbers, relative, biases;
  std::vector<std::uint8_t> visible;
  std::vector<std::int32_t> pages, range_first, range_end, boundaries;
  int places = 0;  // keys that there is memory for
  int gap = 0;     // numbers between rows of outputs

 private:
  bool in_ring(int j) const { return j / 16 > (s.keys - 1) / 16 - options.paging.ring_panels; }

  static std::ptrdiff_t element(const core::Mask& mask, int token, int head, int j) {
    return mask.first + token * mask.token_stride + head * mask.head_stride + j;
  }

  bool mask_element(int token, int head, int j) const {
    const auto n = std::size_t(element(options.mask, token, head, j));
    return options.mask_bits ? (visible[n / 8] >> n % 8 & 1) != 0 : visible[n] != 0;
  }

  float relative_element(int token, int head, int j) const {
    const long long distance = 0LL + j - s.offset - token;
    const long long n = std::clamp(distance, 0LL - options.relative_left, 0LL + options.relative_right) + options.relative_left;
    return relative[std::size_t(head * options.relative_head_stride + n)];
  }

  float bias_element(int token, int head, int j) const { return biases[std::size_t(element(options.bias, token, head, j))]; }
};

}  // namespace attend_test
