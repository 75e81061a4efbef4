// Integer attention said once more, a row at a time, in wide numbers: from the contract of src/guide/integers.md, with
// nothing of the library's. It notices what would not fit into the numbers of 32 bits that the library has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "integer_case.h"

namespace attend_test {

class IntegerModel {
 public:
  IntegerModel(const IntegerCase& integer_case, const IntegerData& data) : c_(integer_case), d_(data) {}

  // The output's bytes, as the library must write them.
  std::vector<char> output() {
    std::vector<char> all(c_.output_bytes());
    const std::size_t row_bytes = c_.rows() > 0 ? c_.output_bytes() / c_.rows() : 0;
    for (int token = 0; token < c_.queries; ++token) {
      for (int head = 0; head < c_.query_heads; ++head) {
        write_row(token, head, all.data() + std::size_t(token * c_.query_heads + head) * row_bytes);
      }
    }
    return all;
  }

  // Whether everything so far fitted into 32 bits.
  bool fits() const { return fits_; }

  bool sees(int token, int head, int key) const {
    const std::int64_t position = std::int64_t(c_.offset) + token;
    if (key < c_.origin || (c_.causal && key > position) || (c_.right >= 0 && key > position + c_.right)) return false;
    if (c_.left >= 0 && key < position - c_.left && key >= c_.sink_tokens) return false;
    if (c_.mask == IntegerMask::none) return true;
    if (key >= c_.mask_keys) return false;
    const std::int64_t element = 1 + (std::int64_t(token) * c_.query_heads + head) * c_.mask_row() + key;
    return c_.mask == IntegerMask::bytes ? d_.visible[element] != 0 : (d_.visible[element / 8] >> element % 8 & 1) != 0;
  }

  // Where a key lies that is seen.
  int slot(int key) const {
    if (c_.ring_chunks == 0) return key - c_.origin;
    const int chunk = key / 32, last = (c_.keys - 1) / 32;
    return (chunk > last - c_.ring_chunks ? c_.sink_chunks + chunk % c_.ring_chunks : chunk) * 32 + key % 32;
  }

 private:
  using Wide = std::int64_t;  // scores, factors and their shifts have 55 bits at most

  // Sums that stand for sum * 2^(exponent - 7), and their denominator for denominator * 2^(exponent - 15).
  struct Sums {
    bool empty = true;
    std::int64_t exponent = 0;
    std::int64_t denominator = 0;
    std::vector<std::int64_t> values;
  };

  // A step of scores, in 2048ths of an octave: mantissa * 2^(exponent - 16), of which scores lose their lowest bits first.
  struct Step {
    std::int64_t mantissa;
    int exponent;
  };

  std::int64_t fitting(Wide number, int bits = 31) {
    if (number >= Wide(1) << bits || number < -(Wide(1) << bits)) fits_ = false;
    return std::int64_t(number);
  }

  static Wide floor_shift(Wide number, std::int64_t bits) {
    return bits <= 0 ? number * (Wide(1) << -bits) : bits > 62 ? (number < 0 ? -1 : 0) : number >> bits;
  }
  static Wide nearest_shift(Wide number, std::int64_t bits) {
    return bits <= 0 ? number : bits > 62 ? 0 : (number + (Wide(1) << (bits - 1))) >> bits;
  }

  Step step_of(int head) const {
    const double step = c_.score_step * (1.0 + 0.25 * (c_.head_scales ? head : 0));
    if (!(step > 0)) return {0, -13};
    int exponent;
    const double part = std::frexp(step * 2048, &exponent);
    std::int64_t mantissa = std::int64_t(std::floor(part * 65536 + 0.5));
    if (mantissa == 65536) mantissa = 32768, ++exponent;
    if (exponent > 11) mantissa = 65535, exponent = 11;
    if (exponent >= -13) return {mantissa, exponent};
    return {std::int64_t(floor_shift(mantissa, -13 - exponent)), -13};
  }

  std::int64_t score(int token, int head, int key) {
    const int kv_head = head / (c_.query_heads / c_.kv_heads);
    const std::int8_t* const q = d_.query + (std::ptrdiff_t(token) * c_.query_heads + head) * c_.head_dim;
    const std::int8_t* const k = d_.key + (std::ptrdiff_t(slot(key)) * c_.kv_heads + kv_head) * c_.head_dim;
    std::int64_t sum = 0;
    for (int i = 0; i < c_.head_dim; ++i) sum += (q[i] - c_.query_zero) * k[i];
    if (c_.key_scales) sum = std::int64_t(floor_shift(Wide(sum) * d_.key_scales[kv_head * c_.places() + slot(key)], 15));
    return fitting(sum, 27);
  }

  // In 2^-15, of a score so far below its chunk's largest; `added` is what rounds that one's own octave up.
  std::int64_t weight(std::int64_t distance, const Step& step, std::int64_t added) {
    const Wide kept = distance >> std::max(0, -step.exponent);
    const Wide below = floor_shift(kept * step.mantissa, 16 - std::max(0, step.exponent));
    if (below >= 15 * 2048) return 0;
    fitting(floor_shift(kept * step.mantissa, -std::max(0, step.exponent)), 32);
    const std::int64_t t = std::int64_t(below) + added, x = t % 2048;
    const std::int64_t inner = 15075 - x * 2554 / 2048, middle = 45287 - x * inner / 2048, power = 65531 - x * middle / 2048;
    return fitting(nearest_shift(floor_shift(power, t / 2048), 1), 15);
  }

  // A chunk: the exact sums of its weights and of its weighted values.
  void add_chunk(int token, int head, int first, Sums& to) {
    const int kv_head = head / (c_.query_heads / c_.kv_heads);
    const Step step = step_of(head);
    std::vector<int> keys;
    std::vector<std::int64_t> scores;
    for (int key = first; key < std::min(first + 32, c_.keys); ++key) {
      if (!sees(token, head, key)) continue;
      keys.push_back(key);
      scores.push_back(score(token, head, key));
    }
    if (keys.empty()) return;
    const std::int64_t largest = *std::max_element(scores.begin(), scores.end());
    const Wide place = floor_shift(Wide(largest) * step.mantissa, 16 - step.exponent);
    const std::int64_t octave = std::int64_t(floor_shift(place, 11));
    Sums chunk{false, octave + 1, 0, std::vector<std::int64_t>(std::size_t(c_.value_dim))};
    for (std::size_t n = 0; n < keys.size(); ++n) {
      std::int64_t p = weight(largest - scores[n], step, 2048 * (octave + 1) - std::int64_t(place));
      chunk.denominator += p;
      const std::ptrdiff_t at = slot(keys[n]);
      if (c_.value_scales) p = std::int64_t(nearest_shift(Wide(p) * d_.value_scales[kv_head * c_.places() + at], 15));
      const std::int8_t* const v = d_.value + (at * c_.kv_heads + kv_head) * c_.value_dim;
      for (std::size_t i = 0; i < chunk.values.size(); ++i) chunk.values[i] = fitting(Wide(chunk.values[i]) + p * v[i], 30);
    }
    add(chunk, 8, to);
  }

  // Brings sums to the higher exponent, and those that are added to `bits` bits fewer besides.
  void add(const Sums& from, int bits, Sums& to) {
    if (from.empty) return;
    if (to.empty) to = {false, from.exponent, 0, std::vector<std::int64_t>(from.values.size())};
    const std::int64_t common = std::max(to.exponent, from.exponent);
    const std::int64_t old = common - to.exponent, added = std::min(common - from.exponent, std::int64_t(30 - bits));
    to.exponent = fitting(common, 29);
    to.denominator = fitting(floor_shift(to.denominator, old) + nearest_shift(from.denominator, added));
    for (std::size_t i = 0; i < to.values.size(); ++i) {
      to.values[i] = fitting(floor_shift(to.values[i], old) + nearest_shift(from.values[i], added + bits));
    }
  }

  void write_row(int token, int head, char* output) {
    std::vector<Sums> nodes(1);  // segments, then what neighbours give, beginning with an even one
    for (int first = 0; first < c_.keys; first += 32) {
      nodes.resize(std::size_t(first / 512 + 1));
      add_chunk(token, head, first, nodes.back());
    }
    for (; nodes.size() > 1; nodes.resize((nodes.size() + 1) / 2)) {
      for (std::size_t i = 0; i < nodes.size(); i += 2) {
        Sums left = nodes[i];
        if (i + 1 < nodes.size()) add(nodes[i + 1], 0, left);
        nodes[i / 2] = left;
      }
    }
    const Sums total = nodes[0];
    const int n = c_.head_scales ? head : 0;
    int shift;
    std::int64_t factor = std::int64_t(std::floor(std::frexp(c_.output_steps * (1.0 + 0.5 * n), &shift) * 32768 + 0.5));
    shift = 15 - shift;
    if (factor == 32768) factor = 16384, --shift;
    for (int i = 0; i < c_.value_dim; ++i) {
      const std::int64_t number =
          total.empty ? 0 : quotient(total.values[std::size_t(i)], total.denominator, c_.value_zero + n, factor);
      write(number, shift + 5, c_.zero - n, output, i);
    }
  }

  // Where denominators have 31 bits: (sum / denominator - zero of the values) * factor.
  std::int64_t quotient(std::int64_t sum, std::int64_t denominator, int value_zero, std::int64_t factor) {
    while (denominator < 1 << 30) denominator *= 2, sum *= 2;
    fitting(sum);
    const std::int64_t divisor = std::int64_t(nearest_shift(denominator, 15));
    const std::int64_t reciprocal = ((std::int64_t(1) << 31) + divisor / 2) / divisor;
    const std::int64_t aligned = fitting(floor_shift(sum, 1) - value_zero * (denominator >> 9));
    return fitting(floor_shift(Wide(aligned) * fitting(reciprocal * factor), 32), 30);
  }

  // number / 2^shift: rounded and moved, or as a float.
  void write(std::int64_t number, int shift, int zero, char* output, int at) {
    const std::int64_t whole = fitting(nearest_shift(number, shift)) + zero;
    if (c_.format == Format::int8) {
      output[at] = char(std::int8_t(std::clamp<std::int64_t>(whole, -128, 127)));
    } else if (c_.format == Format::int16) {
      const std::int16_t two = std::int16_t(std::clamp<std::int64_t>(whole, -32768, 32767));
      std::memcpy(output + 2 * at, &two, 2);
    } else {
      std::int64_t unit = 1;  // only 24 bits remain, toward zero
      while (std::llabs(number) / unit >= 1 << 24) unit *= 2;
      const float scaled = float(std::ldexp(double(number / unit * unit), -shift) * double(0.7f));
      std::memcpy(output + 4 * at, &scaled, 4);
    }
  }

  const IntegerCase& c_;
  const IntegerData& d_;
  bool fits_ = true;
};

}  // namespace attend_test
