// Loads and stores of an instruction set, of floats and of numbers that are widened. Compiled with it, as operations.h is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/tested.h"

#include "operation_numbers.h"

namespace {

template <class Isa>
class LoadTest : LaneNumbers<Isa> {
  using Vec = typename Isa::Vec;
  using LaneNumbers<Isa>::is, LaneNumbers<Isa>::number, LaneNumbers<Isa>::numbers_from;
  static constexpr int lanes = Isa::lanes;

 public:
  static bool moves(float* end) {
    bool right = is(Isa::zero(), [](int) { return 0.0f; }) && is(Isa::broadcast(-3.5f), [](int) { return -3.5f; });
    for (int i = 0; i < lanes; ++i) end[i - lanes] = float(i);
    for (int behind = 0; behind < 4; ++behind) {  // any address of a float
      float* const at = end - lanes - behind;
      Isa::store(at, numbers_from(behind));
      right = right && is(Isa::load(at), [&](int i) { return number(behind + i); });
      for (int i = 0; i < lanes; ++i) right = right && are_same(at[i], number(behind + i));
    }
    return right;
  }

  static bool moves_some(float* end) {
    bool right = true;
    for (int count = 1; count <= lanes; ++count) {
      for (int i = 1; i <= 2 * lanes; ++i) end[-i] = float(i);
      float lane[lanes];
      Isa::store(lane, Isa::load_first(end - count, count));
      for (int i = 0; i < count; ++i) right = right && are_same(lane[i], float(count - i));
      if (count == lanes) break;  // which store_first is not asked for
      Isa::store_first(end - count, numbers_from(count), count);
      for (int i = 0; i < count; ++i) right = right && are_same(end[i - count], number(count + i));
      // With more memory behind, that keeps what it holds.
      for (int i = 1; i <= 2 * lanes; ++i) end[-i] = float(i);
      Isa::store_first(end - 2 * lanes, numbers_from(count), count);
      for (int i = count; i < 2 * lanes; ++i) right = right && are_same(end[i - 2 * lanes], float(2 * lanes - i));
    }
    return right;
  }

  // Every half, bfloat and byte, in the last memory there is.
  template <class Number>
  static bool widens_all(float* end, int values) {
    void* const behind = end;
    Number* const at = static_cast<Number*>(behind) - lanes;
    bool right = true;
    for (int first = 0; first < values; first += lanes) {
      for (int i = 0; i < lanes; ++i) at[i] = Number{static_cast<decltype(Number::bits)>(first + i)};
      right = right && is(Isa::load(at), [&](int i) { return attend::widen(at[i]); });
    }
    return right;
  }

  static bool widens(float* end) {
    void* const behind = end;
    int8_t* const bytes = static_cast<int8_t*>(behind) - lanes;
    bool right = widens_all<attend::Half>(end, 65536) && widens_all<attend::Bfloat>(end, 65536);
    for (int first = -128; first < 128; first += lanes) {
      for (int i = 0; i < lanes; ++i) bytes[i] = int8_t(first + i);
      right = right && is(Isa::load(bytes), [&](int i) { return float(first + i); });
    }
    return right;
  }

  // Any bits around the four.
  template <int at>
  static bool reads_bits_at() {
    bool right = true;
    for (uint32_t first = 0; first < 16; ++first) {
      float words[lanes];
      const auto word = [=](int i) { return 0x9e3779b1u * (uint32_t(i) + 16 * first + 1); };
      for (int i = 0; i < lanes; ++i) words[i] = attend::bits_to<float>(word(i));
      right = right && is(Isa::template four_bits<at>(Isa::load(words)), [&](int i) {
                return Isa::four_bits_above(float(1 << (23 - attend::place_of_bits(at)))) + float(word(i) >> at & 15);
              });
    }
    return right;
  }
  static bool reads_bits() {
    return reads_bits_at<0>() && reads_bits_at<4>() && reads_bits_at<8>() && reads_bits_at<12>() && reads_bits_at<16>() &&
           reads_bits_at<20>() && reads_bits_at<24>() && reads_bits_at<28>();
  }

  // Bytes that end where memory does.
  static bool reads_bytes(float* end) {
    void* const behind = end;
    uint8_t* const bytes = static_cast<uint8_t*>(behind) - 16;
    bool right = true;
    for (int first = 0; first < 256; first += 16) {
      for (int i = 0; i < 16; ++i) bytes[i] = uint8_t((first + i) * 7);
      Vec words[16 / lanes];
      Isa::load_words(bytes, words);
      for (int v = 0; v < 16 / lanes; ++v) {
        const uint8_t* const of_vector = bytes + v * lanes;
        right = right && is(words[v], [=](int i) { return attend::bits_to<float>(uint32_t(of_vector[i])); }) &&
                is(Isa::low_half(words[v]), [=](int i) { return float(of_vector[i] & 15); }) &&
                is(Isa::high_half(words[v]), [=](int i) { return float(of_vector[i] >> 4); });
      }
    }
    constexpr uint16_t halves[] = {0x0000, 0x0001, 0x03ff, 0x3c00, 0xc500, 0x7bff, 0x7c00};
    for (const uint16_t half : halves) {
      const attend::tested::Half number = {half};
      right = right && is(Isa::broadcast_half(number), [=](int) { return attend::tested::widen(number); });
    }
    return right;
  }

  // Four vectors are the same as one and one and one and one.
  template <class Number>
  static bool loads_four(float* end) {
    void* const behind = end;
    const Number* const at = static_cast<const Number*>(behind) - 4 * lanes;
    Vec four[4];
    Isa::load_four(at, four);
    bool right = true;
    for (int v = 0; v < 4; ++v) {
      float expected[lanes];
      Isa::store(expected, Isa::load(at + v * lanes));
      right = right && is(four[v], [&](int i) { return expected[i]; });
    }
    return right;
  }
  static bool loads_each_of_four(const float* end) {
    Vec each[4];
    Isa::load_each_of_four(end - 4 * lanes, each);
    bool right = true;
    for (int v = 0; v < 4; ++v) right = right && is(each[v], [&](int i) { return end[(v - 4) * lanes + i]; });
    return right;
  }

  static bool widens_four(float* end) {
    void* const behind = end;
    for (int i = 1; i <= 4 * lanes * int(sizeof(float)); ++i) static_cast<uint8_t*>(behind)[-i] = uint8_t(37 * i);
    return loads_four<float>(end) && loads_four<attend::Half>(end) && loads_four<attend::Bfloat>(end) &&
           loads_four<int8_t>(end) && loads_each_of_four(end);
  }
};

}  // namespace
