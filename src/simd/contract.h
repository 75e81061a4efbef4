// What an instruction set must offer, checked by the compiler: the first error names the operation and says what it must do.
// src/README.md ("Adding a backend") has the same as a table, with what a compiler cannot check; tests/unit/operations.h runs
// it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/config.h"

namespace attend {
namespace {

struct Half;
struct Bfloat;
template <class Number>
struct ChainsOf;

// Whether `use` may be called with an Isa.
template <class Isa, class Use>
constexpr auto has(Use use) -> decltype(use(Isa()), true) {
  return true;
}
template <class Isa>
constexpr bool has(...) {
  return false;
}

// What every instruction set has.
template <class Isa>
constexpr bool has_common_operations() {
  using Vec = typename Isa::Vec;
  using Factor = typename Isa::Factor;
  static_assert(panel_keys % Isa::lanes == 0, "attend: lanes: floats of a Vec, a divisor of 16");
  static_assert(Isa::tile_rows >= 1 && Isa::tile_rows <= config::tile_rows,
                "attend: tile_rows: rows of the largest tile, at most config::tile_rows, which work memory has room for");
  constexpr bool has_zero = has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)()>(&decltype(isa)::zero)) { return {}; });
  static_assert(has_zero, "attend: Vec zero(): all lanes 0");
  constexpr bool has_broadcast =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(float)>(&decltype(isa)::broadcast)) { return {}; });
  static_assert(has_broadcast, "attend: Vec broadcast(float a): all lanes a");
  constexpr bool has_factor =
      has<Isa>([](auto isa) -> decltype(static_cast<Factor (*)(float)>(&decltype(isa)::factor)) { return {}; });
  static_assert(has_factor,
                "attend: Factor factor(float a): a number that multiplies vectors, in whatever register fma takes it from");
  constexpr bool has_load =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(const float*)>(&decltype(isa)::load)) { return {}; });
  static_assert(has_load, "attend: Vec load(const float* from): lanes floats from any address of a float");
  constexpr bool has_store =
      has<Isa>([](auto isa) -> decltype(static_cast<void (*)(float*, Vec)>(&decltype(isa)::store)) { return {}; });
  static_assert(has_store, "attend: void store(float* to, Vec a): lanes floats to any address of a float");
  constexpr bool has_load_first =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(const float*, int)>(&decltype(isa)::load_first)) { return {}; });
  static_assert(
      has_load_first,
      "attend: Vec load_first(const float* from, int count): the first 1 to lanes - 1 floats; no memory behind them is "
      "touched, and other lanes hold anything");
  constexpr bool has_store_first =
      has<Isa>([](auto isa) -> decltype(static_cast<void (*)(float*, Vec, int)>(&decltype(isa)::store_first)) { return {}; });
  static_assert(
      has_store_first,
      "attend: void store_first(float* to, Vec a, int count): the first 1 to lanes - 1 lanes; no memory behind them is "
      "touched");
  constexpr bool has_add =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec)>(&decltype(isa)::add)) { return {}; });
  static_assert(has_add, "attend: Vec add(Vec a, Vec b): a + b");
  constexpr bool has_sub =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec)>(&decltype(isa)::sub)) { return {}; });
  static_assert(has_sub, "attend: Vec sub(Vec a, Vec b): a - b");
  constexpr bool has_mul =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec)>(&decltype(isa)::mul)) { return {}; });
  static_assert(has_mul, "attend: Vec mul(Vec a, Vec b): a * b");
  constexpr bool has_fma =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec, Vec)>(&decltype(isa)::fma)) { return {}; });
  static_assert(has_fma, "attend: Vec fma(Vec a, Vec b, Vec c): a * b + c, rounded once");
  constexpr bool has_fma_by_factor =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Factor, Vec, Vec)>(&decltype(isa)::fma)) { return {}; });
  static_assert(has_fma_by_factor, "attend: Vec fma(Factor a, Vec b, Vec c): a * b + c, rounded once");
  constexpr bool has_max =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec)>(&decltype(isa)::max)) { return {}; });
  static_assert(has_max, "attend: Vec max(Vec a, Vec b): the larger, and a where b is NaN; on hosts, where a is NaN too");
  constexpr bool has_highest_lane =
      has<Isa>([](auto isa) -> decltype(static_cast<float (*)(Vec)>(&decltype(isa)::highest_lane)) { return {}; });
  static_assert(has_highest_lane, "attend: float highest_lane(Vec a): the largest lane of a, which has no NaN");
  constexpr bool has_scale_by_power =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec)>(&decltype(isa)::scale_by_power)) { return {}; });
  static_assert(has_scale_by_power,
                "attend: Vec scale_by_power(Vec a, Vec n): a * 2^n for whole n <= 0, exact; 0 where n < -125; NaN where a is");
  return true;
}

// Whether a power of two is given for 1 to tile_rows rows.
template <class Isa>
constexpr bool gives_powers_of_two(int (*vecs)(int rows)) {
  for (int rows = 1; rows <= Isa::tile_rows; ++rows) {
    if (vecs(rows) < 1 || (vecs(rows) & (vecs(rows) - 1)) != 0) return false;
  }
  return true;
}

// What the instruction sets of hosts have besides: attention/host.h.
template <class Isa>
constexpr bool has_host_operations() {
  using Vec = typename Isa::Vec;
  static_assert(has_common_operations<Isa>(), "");
  static_assert(Isa::lanes >= 4, "attend: lanes: at least 4 on hosts");
  static_assert(Isa::tile_rows >= 2, "attend: tile_rows: at least 2 on hosts");
  constexpr bool has_kernel_rows =
      has<Isa>([](auto isa) -> decltype(static_cast<int (*)(int)>(&decltype(isa)::kernel_rows)) { return {}; });
  static_assert(has_kernel_rows,
                "attend: int kernel_rows(int left): rows of the next kernel, of so many rows that are left of a tile");
  constexpr bool has_tile_vecs =
      has<Isa>([](auto isa) -> decltype(static_cast<int (*)(int)>(&decltype(isa)::tile_vecs)) { return {}; });
  static_assert(has_tile_vecs,
                "attend: int tile_vecs(int rows): vectors of keys or columns in a tile of so many rows, a power of two");
  static_assert(gives_powers_of_two<Isa>(Isa::tile_vecs),
                "attend: int tile_vecs(int rows): a power of two for all rows of tiles");
  constexpr bool has_widening_vecs =
      has<Isa>([](auto isa) -> decltype(static_cast<int (*)(int)>(&decltype(isa)::widening_vecs)) { return {}; });
  static_assert(
      has_widening_vecs,
      "attend: int widening_vecs(int rows): the same where numbers are widened in registers, at most typed_rows rows");
  constexpr bool has_softmax_rows =
      has<Isa>([](auto isa) -> decltype(static_cast<int (*)(int)>(&decltype(isa)::softmax_rows)) { return {}; });
  static_assert(has_softmax_rows,
                "attend: int softmax_rows(int left): rows whose weights are computed side by side, of so many that are left");
  constexpr bool has_prefetch_ahead = has<Isa>([](auto isa) -> decltype(int(decltype(isa)::prefetch_ahead)) { return 0; });
  static_assert(has_prefetch_ahead,
                "attend: int prefetch_ahead: by how many floats values are prefetched for one row; 0: no tile prefetches");
  constexpr bool has_load_of_halves =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(const Half*)>(&decltype(isa)::load)) { return {}; });
  static_assert(has_load_of_halves, "attend: Vec load(const Half* from): lanes halves, widened exactly");
  constexpr bool has_load_of_bfloats =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(const Bfloat*)>(&decltype(isa)::load)) { return {}; });
  static_assert(has_load_of_bfloats, "attend: Vec load(const Bfloat* from): lanes bfloats, widened exactly");
  constexpr bool has_load_of_bytes =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(const int8_t*)>(&decltype(isa)::load)) { return {}; });
  static_assert(has_load_of_bytes,
                "attend: Vec load(const int8_t* from): lanes bytes, widened exactly; no byte behind them is read");
  constexpr bool has_transposed = has<Isa>([](auto isa) -> decltype(int(decltype(isa)::transposed)) { return 0; });
  static_assert(has_transposed, "attend: int transposed: how many rows and columns transpose takes, a divisor of 16");
  static_assert(panel_keys % Isa::transposed == 0, "attend: int transposed: a divisor of 16");
  constexpr bool has_transpose =
      has<Isa>([](auto isa) -> decltype(static_cast<void (*)(const float* const*, int, float*)>(&decltype(isa)::transpose)) {
        return {};
      });
  static_assert(has_transpose,
                "attend: void transpose(const float* const* rows, int column, float* to): to[16 i + j] = rows[j][column + i]");
  constexpr bool has_columns_of_four = has<Isa>([](auto isa) -> decltype(int(decltype(isa)::columns_of_four)) { return 0; });
  static_assert(has_columns_of_four, "attend: int columns_of_four: how many columns transpose_four takes");
  constexpr bool has_transpose_four = has<Isa>([](auto isa) -> decltype(static_cast<void (*)(const float* const*, int, float*)>(
                                                                &decltype(isa)::transpose_four)) { return {}; });
  static_assert(has_transpose_four,
                "attend: void transpose_four(const float* const* rows, int column, float* to): to[4 i + j] = rows[j][column + "
                "i], 4 rows");
  constexpr bool has_min =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec)>(&decltype(isa)::min)) { return {}; });
  static_assert(has_min, "attend: Vec min(Vec a, Vec b): the smaller, and a where one is NaN");
  constexpr bool has_first_of =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec, int)>(&decltype(isa)::first_of)) { return {}; });
  static_assert(has_first_of, "attend: Vec first_of(Vec a, Vec b, int count): the first lanes of a, the others of b");
  constexpr bool has_any_above =
      has<Isa>([](auto isa) -> decltype(static_cast<bool (*)(Vec, Vec)>(&decltype(isa)::any_above)) { return {}; });
  static_assert(has_any_above, "attend: bool any_above(Vec a, Vec b): whether any lane of a is above that of b; a NaN is not");
  constexpr bool has_minus_reciprocal_guess =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec)>(&decltype(isa)::minus_reciprocal_guess)) { return {}; });
  static_assert(has_minus_reciprocal_guess,
                "attend: Vec minus_reciprocal_guess(Vec a): the float whose bits are 0xfef311c7 less those of a");
  constexpr bool has_where_equal =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec, Vec, Vec)>(&decltype(isa)::where_equal)) { return {}; });
  static_assert(
      has_where_equal,
      "attend: Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise): lane by lane, then where a == b; a NaN equals nothing");
  constexpr bool has_where_bytes = has<Isa>(
      [](auto isa) -> decltype(static_cast<Vec (*)(const uint8_t*, Vec, Vec)>(&decltype(isa)::where_bytes)) { return {}; });
  static_assert(
      has_where_bytes,
      "attend: Vec where_bytes(const uint8_t* bytes, Vec a, Vec b): a where the lane's byte is not 0, else b; no byte behind "
      "those of the lanes is read");
  constexpr bool has_where_bits =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(unsigned, Vec, Vec)>(&decltype(isa)::where_bits)) { return {}; });
  static_assert(
      has_where_bits,
      "attend: Vec where_bits(unsigned bits, Vec a, Vec b): a where the lane's bit, from the lowest on, is 1, else b; higher "
      "bits are anything");
  constexpr bool has_two_to =
      has<Isa>([](auto isa) -> decltype(static_cast<Vec (*)(Vec)>(&decltype(isa)::two_to)) { return {}; });
  static_assert(has_two_to, "attend: Vec two_to(Vec n): 2^k for the whole number k in the low bits of n, -126 to 127");
  constexpr bool has_scale_by_low_bits = has<Isa>(
      [](auto isa) -> decltype(static_cast<Vec (*)(Vec, Vec, Vec, Vec)>(&decltype(isa)::scale_by_low_bits)) { return {}; });
  static_assert(
      has_scale_by_low_bits,
      "attend: Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest): a times the float whose bits are those of bias plus "
      "those of n moved up by 23, exact; 0 where n < lowest; NaN where a is");
  constexpr bool has_sum_lanes =
      has<Isa>([](auto isa) -> decltype(static_cast<float (*)(const float*)>(&decltype(isa)::sum_lanes)) { return {}; });
  static_assert(has_sum_lanes,
                "attend: float sum_lanes(const float* sums): 16 floats added in pairs: (i, i+8), (i, i+4), (i, i+2), (i, i+1)");
  return true;
}

// And those of the embedded form: attention/embedded.h.
template <class Isa>
constexpr bool has_embedded_operations() {
  static_assert(has_common_operations<Isa>(), "");
  constexpr bool has_columns =
      has<Isa>([](auto isa) -> decltype(static_cast<int (*)(int, bool)>(&decltype(isa)::columns)) { return {}; });
  static_assert(has_columns, "attend: int columns(int rows, bool apart): how many columns chains takes at once");
  constexpr bool has_chains =
      has<Isa>([](auto isa) -> decltype(static_cast<void (*)(const ChainsOf<float>&)>(&decltype(isa)::chains)) { return {}; });
  static_assert(
      has_chains,
      "attend: void chains(const ChainsOf<float>& c): a few rows' and columns' sums of products, as chains.h defines them");
  constexpr bool declares_weights = has<Isa>([](auto isa) -> decltype(bool(decltype(isa)::has_weights)) { return false; });
  static_assert(declares_weights, "attend: bool has_weights: whether weights_of_scores is this one's own");
  if constexpr (Isa::has_weights) {
    constexpr bool has_weights_of_scores =
        has<Isa>([](auto isa) -> decltype(static_cast<void (*)(float*, int, float, const float*, float*)>(
                                  &decltype(isa)::weights_of_scores)) { return {}; });
    static_assert(has_weights_of_scores,
                  "attend: void weights_of_scores(float* scores, int count, float max, const float* coefficients, float* "
                  "lane_sums): as in "
                  "row_softmax.h");
  }
  return true;
}

}  // namespace
}  // namespace attend
