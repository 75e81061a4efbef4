// Caches of other formats, rings and pages: what is stored is there, where it should be.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/tested.h"

#include "../support/number_formats.h"
#include "../support/random.h"

namespace {

using attend::core::Format;
using attend::core::Paging;
using attend_test::Random;

constexpr Format formats[] = {Format::float32, Format::float16, Format::bfloat16, Format::int8};

// A cache with its memory, and the tokens that were given to it: [tokens][kv_heads][dims].
struct World {
  static constexpr int heads = 2;

  World(Format keys, Format values, int head_dim, int value_dim, int capacity, int token_count, Paging paging = {})
      : tokens(token_count),
        key_bytes(attend::core::format_cache_key_bytes(keys, heads, head_dim, capacity), 0x7f),
        value_bytes(attend::core::format_cache_value_bytes(values, heads, value_dim, capacity), 0x7f),
        key_scales(attend::core::format_cache_rows(heads, capacity), -1.0f),
        value_scales(key_scales),
        key(std::size_t(tokens * heads * head_dim)),
        value(std::size_t(tokens * heads * value_dim)),
        cache{key_bytes.data(),
              value_bytes.data(),
              key_scales.data(),
              value_scales.data(),
              keys,
              values,
              heads,
              head_dim,
              value_dim,
              capacity,
              paging} {
    if (keys != Format::int8) cache.key_scales = nullptr;
    if (values != Format::int8) cache.value_scales = nullptr;
    Random random(std::uint64_t(head_dim * 1000 + token_count));
    random.fill(key.data(), key.size(), 3.0f);
    random.fill(value.data(), value.size(), 0.01f);
  }

  void store(int position, int count) {
    const int d = cache.head_dim, c = cache.value_dim;
    attend::core::store(cache, position, count, {key.data() + position * heads * d, heads * d, d},
                        {value.data() + position * heads * c, heads * c, c});
  }

  // What is stored of a token's key or value, as a float.
  float stored_key(int slot, int head, int d) const {
    const int groups = attend::core::panel_count(cache.capacity);
    const auto at = std::size_t(((head * groups + slot / 16) * cache.head_dim + d) * 16 + slot % 16);
    return number(cache.key_format, cache.keys, at, cache.key_scales, std::size_t(head * groups * 16 + slot));
  }
  float stored_value(int slot, int head, int c) const {
    const int slots = attend::core::panel_count(cache.capacity) * 16;
    const auto at = std::size_t((head * slots + slot) * cache.value_dim + c);
    return number(cache.value_format, cache.values, at, cache.value_scales, std::size_t(head * slots + slot));
  }

  static float number(Format format, const void* data, std::size_t at, const float* scales, std::size_t scale) {
    float wide;
    attend::widen_row<attend::Scalar>(format, static_cast<const char*>(data) + at * attend::core::format_bytes(format), 1,
                                      &wide);
    return format == Format::int8 ? wide * scales[scale] : wide;
  }

  // What it should be: the number itself, but for int8 within half a step.
  static bool is_rounded(Format format, float stored, const float* row, int count, int i) {
    if (format == Format::float32) return stored == row[i];
    if (format == Format::float16) return stored == attend::widen(attend::to_half(row[i]));
    if (format == Format::bfloat16) return stored == attend::widen(attend::to_bfloat(row[i]));
    float largest = 0.0f;
    for (int j = 0; j < count; ++j) largest = std::fmax(largest, std::fabs(row[j]));
    return std::fabs(double(stored) - double(row[i])) <= double(largest) * (0.5 / 127 + 1e-6);
  }

  // Numbers of a token that are not at its slot as they should be.
  int wrong_at(int slot, int token) const {
    int wrong = 0;
    for (int head = 0; head < heads; ++head) {
      const float* key_row = key.data() + (token * heads + head) * cache.head_dim;
      const float* value_row = value.data() + (token * heads + head) * cache.value_dim;
      for (int d = 0; d < cache.head_dim; ++d)
        wrong += !is_rounded(cache.key_format, stored_key(slot, head, d), key_row, cache.head_dim, d);
      for (int c = 0; c < cache.value_dim; ++c)
        wrong += !is_rounded(cache.value_format, stored_value(slot, head, c), value_row, cache.value_dim, c);
    }
    return wrong;
  }

  // Of the keys' group, by what the kernels go by.
  int slot_of(int token, int keys) const { return attend::slot_panel(cache.paging, keys, token / 16) * 16 + token % 16; }

  int tokens;
  std::vector<std::uint8_t> key_bytes, value_bytes;  // of vectors: aligned for any number
  std::vector<float> key_scales, value_scales;
  std::vector<float> key, value;
  attend::core::FormatCache cache;
};

}  // namespace

TEST_CASE("cache formats: every format of keys and values, in pieces, comes back") {
  for (const Format keys : formats) {
    for (const Format values : formats) {
      World world(keys, values, 7, 5, 50, 41);
      for (int position = 0, count = 1; position < world.tokens; position += count++) {
        world.store(position, attend::at_most(count, world.tokens - position));
      }
      int wrong = 0;
      for (int token = 0; token < world.tokens; ++token) wrong += world.wrong_at(token, token);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("cache formats: nothing is written but the tokens") {
  World world(Format::float16, Format::int8, 3, 4, 32, 32);
  const std::vector<std::uint8_t> keys = world.key_bytes, values = world.value_bytes;
  world.store(17, 2);
  int keys_changed = 0, values_changed = 0, scales_changed = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool theirs = (i / 2 % 16 == 1 || i / 2 % 16 == 2) && i / 2 / 16 / 3 % 2 == 1;
    keys_changed += !theirs && world.key_bytes[i] != keys[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values_changed += (i / 4 % 32 != 17 && i / 4 % 32 != 18) && world.value_bytes[i] != values[i];
  }
  for (std::size_t i = 0; i < world.value_scales.size(); ++i) {
    scales_changed += (i % 32 != 17 && i % 32 != 18) && world.value_scales[i] != -1.0f;
    scales_changed += world.key_scales[i] != -1.0f;
  }
  CHECK(keys_changed == 0);
  CHECK(values_changed == 0);
  CHECK(scales_changed == 0);
}

TEST_CASE("cache formats: int4 has the groups that weights are converted to, where they belong, and writes nothing else") {
  constexpr int head_dim = 64, value_dim = 96;
  const std::int32_t pages[] = {5, 0, 3, 4};
  for (const Paging& paging : {Paging(), Paging{nullptr, 0, 4, 1}, Paging{pages, 2, 0, 0}}) {
    World world(Format::int4, Format::int4, head_dim, value_dim, 6 * 2 * 16, 60, paging);
    for (int position = 0, count = 1; position < world.tokens; position += count++) {
      world.store(position, attend::at_most(count, world.tokens - position));
    }
    const std::size_t slots = world.key_scales.size() / World::heads;
    attend_test::Numbers keys(Format::int4, World::heads * slots * head_dim, true);
    attend_test::Numbers values(Format::int4, World::heads * slots * value_dim);
    REQUIRE(keys.bytes() == world.key_bytes.size());
    REQUIRE(values.bytes() == world.value_bytes.size());
    std::memset(keys.data(), 0x7f, keys.bytes());
    std::memset(values.data(), 0x7f, values.bytes());
    const auto put = [](const float* row, int width, attend_test::Numbers& to, std::size_t first, std::size_t step) {
      std::vector<attend::core::Int4Group> groups(std::size_t(width) / 32);
      attend::core::convert_weights<Format::int4>(row, 1, width, groups.data(), nullptr);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        to.set_scale(first + 32 * g * step, std::uint16_t(groups[g].scale[0] | groups[g].scale[1] << 8));
        for (std::size_t i = 0; i < 32; ++i) {
          to.set_code(first + (32 * g + i) * step, groups[g].numbers[i % 16] >> (i < 16 ? 0 : 4) & 15);
        }
      }
    };
    for (int token = 0; token < world.tokens; ++token) {
      for (int head = 0; head < World::heads; ++head) {
        const auto row = std::size_t(token * World::heads + head);
        const bool is_sink = paging.ring_panels > 0 && token < 16;  // which is kept besides
        for (const int slot : {world.slot_of(token, world.tokens), is_sink ? token : world.slot_of(token, world.tokens)}) {
          const std::size_t at = std::size_t(head) * slots + std::size_t(slot), lane = at % 16;
          put(&world.key[row * head_dim], head_dim, keys, (at - lane) * head_dim + lane, 16);
          put(&world.value[row * value_dim], value_dim, values, at * value_dim, 1);
        }
      }
    }
    CHECK(std::memcmp(keys.data(), world.key_bytes.data(), keys.bytes()) == 0);
    CHECK(std::memcmp(values.data(), world.value_bytes.data(), values.bytes()) == 0);
  }
}

TEST_CASE("cache formats: a ring holds the last groups over many rounds, and those of sink tokens besides") {
  for (const int sink_tokens : {0, 1, 3}) {
    for (const int chunk : {1, 5, 16, 37, 300}) {
      const Paging paging = {nullptr, 0, 4, sink_tokens};
      World world(Format::float16, Format::bfloat16, 2, 3, (4 + sink_tokens) * 16, 300, paging);
      int wrong = 0;
      for (int position = 0; position < world.tokens; position += chunk) {
        const int end = attend::at_most(position + chunk, world.tokens);
        world.store(position, end - position);
        for (int token = 0; token < end; ++token) {
          const bool in_ring = (end - 1) / 16 - token / 16 < 4;
          if (in_ring) wrong += world.slot_of(token, end) != sink_tokens * 16 + token % (4 * 16);
          if (!in_ring && token / 16 >= sink_tokens) continue;
          wrong += world.wrong_at(world.slot_of(token, end), token);
          if (token / 16 < sink_tokens) wrong += world.wrong_at(token, token);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("cache formats: pages in any order") {
  const std::int32_t pages[] = {5, 0, 3, 4};
  const Paging paging = {pages, 2, 0, 0};
  World world(Format::int8, Format::float32, 4, 4, 6 * 2 * 16, 4 * 2 * 16, paging);
  world.store(0, 3);
  world.store(3, world.tokens - 3);
  int wrong = 0;
  for (int token = 0; token < world.tokens; ++token) {
    const int slot = pages[token / 32] * 32 + token % 32;
    wrong += world.slot_of(token, world.tokens) != slot;
    wrong += world.wrong_at(slot, token);
  }
  CHECK(wrong == 0);
}

TEST_CASE("paging: runs are as long as groups lie one after another") {
  const std::int32_t pages[] = {5, 0, 3, 4, 6};
  const Paging all[] = {{}, {nullptr, 0, 4, 0}, {nullptr, 0, 4, 3}, {nullptr, 0, 1, 1}, {nullptr, 0, 5, 2}, {pages, 2, 0, 0}};
  for (const Paging& paging : all) {
    for (int keys = 1; keys <= 160; ++keys) {
      const int groups = attend::core::panel_count(keys);
      for (int group = 0; group < groups; ++group) {
        const bool exists = paging.ring_panels == 0 || groups - 1 - group < paging.ring_panels || group < paging.sink_panels;
        if (!exists) continue;
        for (int most = 1; most <= groups - group; ++most) {
          const int length = attend::run_length(paging, keys, group, most);
          REQUIRE(length >= 1);
          REQUIRE(length <= most);
          for (int i = 1; i < length; ++i) {
            REQUIRE(attend::slot_panel(paging, keys, group + i) == attend::slot_panel(paging, keys, group) + i);
          }
        }
      }
    }
  }
  CHECK(attend::run_length({}, 1000, 3, 20) == 20);
  CHECK(attend::run_length({pages, 2, 0, 0}, 160, 5, 5) == 3);
  CHECK(attend::run_length({pages, 2, 0, 0}, 160, 4, 3) == 3);
  CHECK(attend::run_length({nullptr, 0, 4, 3}, 160, 6, 4) == 2);
}

TEST_CASE("cache formats: int8 rows of all sizes, of zeros, and with numbers that are none") {
  constexpr int dims = 9;
  for (int exponent = -149; exponent <= 127; ++exponent) {
    World world(Format::int8, Format::int8, dims, dims, 16, 16);
    for (float& number : world.key) number = std::ldexp(number, exponent - 1);
    world.key[4] = std::ldexp(1.9f, exponent);
    world.store(0, 16);
    int wrong = 0;
    for (int token = 0; token < 16; ++token) {
      for (int d = 0; d < dims; ++d) {
        const auto byte = std::int8_t(world.key_bytes[std::size_t(d * 16 + token)]);
        wrong += byte == -128;
      }
      if (exponent > -115) wrong += world.wrong_at(token, token);  // where scales are subnormal, they have fewer digits
    }
    CHECK(wrong == 0);
    CHECK(int(world.key_bytes[4 * 16]) == 127);
  }
  World world(Format::int8, Format::int8, dims, dims, 16, 4);
  for (int d = 0; d < 2 * dims; ++d) world.key[std::size_t(d)] = d % 2 == 0 ? 0.0f : -0.0f;
  world.key[2 * dims + 3] = NAN;
  world.key[4 * dims + 3] = -INFINITY;
  for (int d = 0; d < dims; ++d) world.key[std::size_t(6 * dims + d)] = float(d - 4) * 127.0f / 4.0f;
  world.store(0, 4);
  CHECK(world.key_scales[0] == 0.0f);
  CHECK(std::isnan(world.key_scales[1]));
  CHECK(std::isnan(world.key_scales[2]));
  CHECK(world.key_scales[3] == 127.0f * (1.0f / 127.0f));
  const int ties_to_even[] = {-127, -95, -64, -32, 0, 32, 64, 95, 127};  // of -127, -95.25, -63.5, -31.75 …
  for (int d = 0; d < dims; ++d) {
    for (int token = 0; token < 3; ++token) CHECK(int(world.key_bytes[std::size_t(d * 16 + token)]) == 0);
    CHECK(int(std::int8_t(world.key_bytes[std::size_t(d * 16 + 3)])) == ties_to_even[d]);
  }
}
