// Gates and beta of linear attention in integers from what a projection of 8 bits gives, z: by tables of 256 numbers of 15
// bits, best made where a program is compiled.
//
//   constexpr attend::GateTable decay[] = {{-1.5, 0.2, 0.05}, {-0.3, -1.0, 0.05}};   // of each value head
//   constexpr auto beta = attend::GateTable::sigmoid(0.04);                          // of all of them
//   attend::look_up(z, decay, gates.decay);   // z: int8_t[tokens][2]
//   attend::look_up(z, beta, gates.beta);
#pragma once

#include "../detail/float_arrays.h"
#include "../detail/integer_calls.h"

namespace attend {
namespace detail {

// Numbers have 31 bits behind the point, so that neither a rounding mode nor a contraction decides a bit.
inline constexpr int64_t table_one = int64_t(1) << 31;
constexpr int64_t fixed_point(double a, int bits) { return int64_t(a * double(int64_t(1) << bits)); }  // rounded towards 0

// 2^-a of a >= 0: 1 - t (1 - t/2 (1 - t/3 …)) of its fraction, t = that times ln 2.
constexpr int64_t power_of_minus(int64_t a) {
  const int64_t t = (a & (table_one - 1)) * 1488522236 >> 31;
  int64_t sum = table_one;
  for (int k = 11; k > 0; --k) sum = table_one - (t * sum >> 31) / k;
  return (a >> 31) > 31 ? 0 : sum >> (a >> 31);
}
// log2(1 + p), 0 <= p <= 1: 2 log2(e) (s + s^3 / 3 + s^5 / 5 …) of s = p / (2 + p) <= 1/3.
constexpr int64_t log2_of_one_and(int64_t p) {
  const int64_t s = p * table_one / (2 * table_one + p), square = s * s >> 31;
  int64_t sum = 0;
  for (int k = 21; k > 0; k -= 2) sum = table_one / k + (square * sum >> 31);
  return (s * sum >> 31) * 3098164009 >> 30;
}

// log2(e) * (z * scale + bias), below 2^7 in size, and e^-size.
static_assert((128 * 0.125 + 64) * 1.4426950408889634 < 128, "it has 38 bits");
struct TableInput {
  int64_t number, power;

  static constexpr bool is_valid(double scale, double bias) { return scale > 0 && scale <= 0.125 && bias >= -64 && bias <= 64; }
  constexpr TableInput(double scale, double bias, int z)
      : number((z * fixed(scale) + fixed(bias)) >> 9), power(power_of_minus(number < 0 ? -number : number)) {}
  static constexpr int64_t fixed(double a) { return fixed_point(core::product(a, 1.4426950408889634), 40); }

  constexpr int64_t sigmoid(int bits) const {  // * 2^bits, at most 2^32
    return (((number < 0 ? power : table_one) << bits) + (table_one + power) / 2) / (table_one + power);
  }
};

}  // namespace detail

// 256 numbers of 15 bits, at most 0.501 steps off. The scale of z is above 0 and at most 1/8, the bias -64 … 64, and the rate
// -32 … 0. Where the status is bad_quantisation all numbers are 0, and a constant does not compile.
class GateTable {
 public:
  // The gates e^(rate * softplus(z * scale + bias)) of a head: its rate is -e^A_log of a model, its bias is dt_bias.
  constexpr GateTable(double rate, double bias, double scale)
      : GateTable(detail::TableInput::is_valid(scale, bias) && rate >= -32 && rate <= 0) {
    static_assert((int64_t(1) << (38 - 17)) * (int64_t(32) << 36) <= int64_t(1) << 62, "both halves of a product fit");
    const int64_t factor = status_ == Status::ok ? detail::fixed_point(-rate, 36) : 0;
    for (int z = -128; z < 128 && status_ == Status::ok; ++z) {
      const detail::TableInput x(scale, bias, z);
      const int64_t softplus = (x.number > 0 ? x.number : 0) + detail::log2_of_one_and(x.power);
      const int64_t product = ((softplus >> 17) * factor >> 19) + ((softplus & 0x1ffff) * factor >> 36);
      numbers_[z + 128] = uint16_t((detail::power_of_minus(product) + (1 << 15)) >> 16);
    }
  }
  // sigmoid(z * scale + bias), as beta.
  static constexpr GateTable sigmoid(double scale, double bias = 0) {
    GateTable table(detail::TableInput::is_valid(scale, bias));
    for (int z = -128; z < 128 && table.status_ == Status::ok; ++z)
      table.numbers_[z + 128] = uint16_t(detail::TableInput(scale, bias, z).sigmoid(15));
    return table;
  }

  constexpr uint16_t operator[](int z) const { return numbers_[z + 128]; }  // -128 … 127
  constexpr Status status() const { return status_; }

 private:
  explicit constexpr GateTable(bool valid)
      : numbers_{}, status_(valid ? Status::ok : detail::refused(Status::bad_quantisation)) {}

  uint16_t numbers_[256];
  Status status_;
};

namespace detail {
template <int heads, class Z, class Numbers>
void look_up_numbers(const Z& z, const GateTable* tables, Numbers& numbers) {
  using From = VectorsOf<Z, true>;
  using To = VectorsOf<Numbers, true>;
  constexpr bool is_z = Same<const typename From::Number, const int8_t>::value && From::size % heads == 0;
  static_assert(is_z,
                "attend: look_up takes an int8_t[tokens][heads], say, and then a table, or an array of one for each head");
  static_assert(From::tokens == To::tokens && From::size == To::size,
                "attend: the result of look_up is an array like its first");
  const int8_t* const from = first_number(z);
  auto* const to = first_number(numbers);
  for (int i = 0; i < From::tokens * From::size; ++i) to[i] = tables[i % From::size / (From::size / heads)][from[i]];
}
}  // namespace detail

// numbers[token][i] = table[z[token][i]]. With a table for each head z has a number for each head of a token, or several.
template <class Z, size_t heads, class Numbers>
void look_up(const Z& z, const GateTable (&tables)[heads], Numbers& numbers) {
  detail::look_up_numbers<int(heads)>(z, tables, numbers);
}
template <class Z, class Numbers>
void look_up(const Z& z, const GateTable& table, Numbers& numbers) {
  detail::look_up_numbers<1>(z, &table, numbers);
}

}  // namespace attend
