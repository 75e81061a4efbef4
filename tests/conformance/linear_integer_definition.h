// Linear attention in integers as src/guide/integers.md defines it, one number at a time, in integers of 64 bits: what the
// library must equal. It shares no code with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace attend_test {

// floor(a / 2^bits), and rounded to the nearest, halves up.
inline std::int64_t floor_shift(std::int64_t a, int bits) {
  return a >= 0 ? a >> bits : -((-a + (std::int64_t(1) << bits) - 1) >> bits);
}
inline std::int64_t near_shift(std::int64_t a, int bits) {
  return bits == 0 ? a : floor_shift(a + (std::int64_t(1) << (bits - 1)), bits);
}
inline int bit_length(std::int64_t a) {
  int bits = 0;
  for (; a > 0; a /= 2) ++bits;
  return bits;
}
// A number without its sign, less one where it is negative.
inline std::int64_t size_of_integer(std::int64_t a) { return a < 0 ? -a - 1 : a; }

// sum * factor / 2^(31 + shift), in two roundings, and within -most … most.
inline std::int64_t scaled_integer(std::int64_t sum, std::int64_t factor, int shift, std::int64_t most) {
  sum = std::min<std::int64_t>(sum, (std::int64_t(1) << 30) - 1);
  const std::int64_t product = near_shift(floor_shift(sum * factor, 31), std::max(0, std::min(shift, 31)));
  const int left = std::min(std::max(-shift, 0), 30);
  const std::int64_t limit = std::max(most >> left, std::int64_t(1));
  return std::min(std::max(product, -limit), limit) * (std::int64_t(1) << left);
}

// The columns of a panel of a value head.
struct DefinedIntegerPanel {
  int keys, columns;
  std::vector<std::int64_t> state;  // [key][column]
  std::int64_t exponent = 0, bound = 0, tokens = 0;

  DefinedIntegerPanel(int key_count, int column_count)
      : keys(key_count), columns(column_count), state(std::size_t(key_count * column_count)) {}
  std::int64_t& at(int d, int c) { return state[std::size_t(d * columns + c)]; }
  int shift() const { return std::max(bit_length(bound) - 15, 0); }

  // gates: null without, or one for each key dimension, apart by gate_step. retrieved: the square of the scale of keys.
  void take(const std::int8_t* key, const std::int8_t* value, const std::uint16_t* gates, int gate_step,
            const std::uint16_t* beta, std::int64_t retrieved, int retrieved_shift) {
    if (tokens == 0) {
      std::int64_t bits = 0;
      for (std::int64_t& number : state) {
        if (number < 0) ++number;
        bits |= size_of_integer(number);
      }
      const int left = int(std::min<std::int64_t>(29 - std::max(bit_length(bits), 1), 10 - exponent));
      const auto moved = [left](std::int64_t a) { return left >= 0 ? a * (std::int64_t(1) << left) : floor_shift(a, -left); };
      for (std::int64_t& number : state) number = moved(number);
      exponent = std::max<std::int64_t>(exponent + left, -16);
      bound = moved(bits + 1);
    }
    tokens = (tokens + 1) % 8;
    if (gates != nullptr) {
      for (int d = 0; d < keys; ++d) {
        for (int c = 0; c < columns; ++c) {
          const std::int64_t kept = floor_shift(size_of_integer(at(d, c)) * std::min<int>(gates[d * gate_step], 32768), 15);
          at(d, c) = at(d, c) < 0 ? -kept - 1 : kept;
        }
      }
    }
    std::int64_t key_bits = 0, bits = 0;  // of all of them: at least the largest
    std::vector<std::int64_t> u;
    for (int c = 0; c < columns; ++c) {
      const std::int64_t v = exponent >= 0 ? value[c] * (std::int64_t(1) << exponent) : near_shift(value[c], int(-exponent));
      if (beta == nullptr) {
        u.push_back(v);
      } else {
        std::int64_t sum = 0;
        for (int d = 0; d < keys; ++d) sum += key[d] * floor_shift(at(d, c), shift());
        const std::int64_t r = scaled_integer(sum, retrieved, retrieved_shift - shift(), 1 << 20);
        u.push_back(
            std::min<std::int64_t>(std::max<std::int64_t>(floor_shift((v - r) * *beta, 15), 1 - (1 << 19)), (1 << 19) - 1));
      }
      bits |= size_of_integer(u.back());
    }
    for (int d = 0; d < keys; ++d) {
      key_bits |= size_of_integer(key[d]);
      for (int c = 0; c < columns; ++c) at(d, c) += key[d] * u[std::size_t(c)];
    }
    bound += (key_bits + 1) * (bits + 1);
  }

  void read(const std::int8_t* query, std::int64_t factor, int factor_shift, std::int8_t* to) {
    for (int c = 0; c < columns; ++c) {
      std::int64_t sum = 0;
      for (int d = 0; d < keys; ++d) sum += query[d] * floor_shift(at(d, c), shift());
      const std::int64_t o = scaled_integer(sum, factor, factor_shift + int(exponent) - shift(), 256);
      to[c] = std::int8_t(std::min<std::int64_t>(std::max<std::int64_t>(o, -128), 127));
    }
  }
};

}  // namespace attend_test
