// Integers with AMX-INT8, whose tiles hold 16 times as many products as a vector of AVX-512 VNNI, which keeps what has few
// rows. Chunks of keys lie as for it, but with their signs, and so does each of values, as
//
//   [blocks of 16 columns][8 quads of keys][16 columns][4 keys] of 8 bits
//
// Eight rows of weights are a tile of 16, their lower bytes and then their upper ones.
#pragma once

#include "../avx512vnni/integers.h"
#include "tiles.h"

namespace attend::ATTEND_ISA {
namespace {

struct IntegerAmx : IntegerAvx512Vnni {
  static constexpr bool has_tiles = true;
  using Tiles = AmxTiles;
  using WithoutTiles = IntegerAvx512Vnni;  // projections of few tokens, and of weights in rows

  // Of projections by tiles, measured: tokens, and products, which shaping the tiles must be worth.
  static constexpr int least_tokens = 3, least_products = 32768;

  // 64 bytes: zeros, then `count` bytes of `from` in their places, then zeros. None of the others is read.
  static ATTEND_ALWAYS_INLINE void copy_part(const int8_t* from, int zeros, int count, int8_t* to) {
    const __mmask64 bytes = Quads512::bytes_of(zeros + count) & ~Quads512::bytes_of(zeros);
    Quads512::store(to, Quads512::load_some(from, bytes));
  }

  // As eight_outputs, of sixteen: even and odd ones apart, as they are multiplied. Sums whose outputs are past the end of 16
  // bits anyway become smaller ones, as those of AVX2, so that outputs fit into 32 bits.
  template <class Output>
  static ATTEND_ALWAYS_INLINE void sixteen_outputs(const ProjectionEnd& of, int k, Output* to, ptrdiff_t to_stride) {
    const __m512i one = _mm512_set1_epi32(1), none = _mm512_setzero_si512(), zero = _mm512_set1_epi32(of.output_zero);
    __m512i first = _mm512_set1_epi64(load_two(of.by)), second = first;
    if (of.stride != 0) first = Quads512::load(of.by + k), second = Quads512::load(of.by + k + 8);
    const __m512i even = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), second);
    const __m512i odd = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), second);
    const __m512i even_shift = _mm512_srli_epi64(even, 32), odd_shift = _mm512_srli_epi64(odd, 32);
    const __m512i even_half = half_of_shift(even_shift), odd_half = half_of_shift(odd_shift);
    const __m512i below_44 =
        _mm512_sub_epi32(_mm512_set1_epi32(44), _mm512_mask_shuffle_epi32(even_shift, 0xaaaa, odd, _MM_PERM_ENUM(0xf5)));
    const __m512i most = _mm512_srlv_epi32(_mm512_set1_epi32(0x7fffffff), larger(below_44, none));
    const __m512i high = larger(most, one), low = _mm512_sub_epi32(none, high);
    const __m512i bias = of.bias == nullptr ? none : Quads512::load(of.bias + k);
    const __m512i weight_sums = Quads512::load(static_cast<const int32_t*>(of.weight_sums) + k);
    const __m512i starts = _mm512_sub_epi32(bias, _mm512_mullo_epi32(weight_sums, _mm512_set1_epi32(of.input_zero)));
    for (int t = 0; t < of.tokens; ++t, to += to_stride) {
      const __m512i sums = larger(_mm512_min_epi32(sum(Quads512::load(of.sums[t] + k), starts), high), low);
      const __m512i even_product = _mm512_add_epi64(_mm512_mul_epi32(sums, even), even_half);
      const __m512i odd_product = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(sums, 32), odd), odd_half);
      const __m512i even_output = _mm512_srav_epi64(even_product, even_shift);
      const __m512i odd_output = _mm512_srav_epi64(odd_product, odd_shift);
      const __m512i output = sum(_mm512_mask_shuffle_epi32(even_output, 0xaaaa, odd_output, _MM_PERM_ENUM(0xa0)), zero);
      if constexpr (sizeof(Output) == 1) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtsepi32_epi8(output));
      } else {
        store(to, _mm512_cvtsepi32_epi16(output));
      }
    }
  }

  // The tiles of attention. Of values that have more than one block of columns, tiles of scores serve for the others.
  static TileShapes attention_shapes() {
    TileShapes shapes;
    for (int tile = low_scores; tile <= queries; ++tile) shapes.set(tile, tile_rows, 64);
    for (int tile = low_keys; tile <= high_keys; ++tile) shapes.set(tile, depth / 4, 64);
    shapes.set(weights_tile, 2 * tile_rows, integer_chunk);
    shapes.set(values_tile, integer_chunk / 4, 64);
    shapes.set(sums_tile, 2 * tile_rows, 64);
    return shapes;
  }

  // As that of IntegerQuads, with zeros up to a whole tile's row where scores are computed by tiles.
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    WithoutTiles::prepare(query, head_dim, memory);
    int8_t* const to = static_cast<int8_t*>(memory) + query_at;
    if (!scores_by_tiles(head_dim)) return;
    for (int d = (head_dim + 15) & -16; d % depth != 0; d += 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + d), _mm_setzero_si128());
    }
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    pack_quads(keys, stride, count, head_dim, 0, to);
  }
  static void pack_key_panel(const int8_t* panel, int head_dim, int8_t* to) {
    __builtin_memcpy(to, panel, size_t((head_dim + 3) / 4 * 4) * integer_chunk);
  }

  static void pack_values(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* to) {
    for (int c = 0; c < width; c += 64) {
      for (int k = 0; k < integer_chunk; k += 4) {
        __m512i rows[4];
        load_four(values + k * stride + c, stride, count - k, width - c, rows);
        interleave_bytes(rows);
        transpose_parts(rows);  // row q: columns 16 q to 16 q + 15
        ATTEND_UNROLL
        for (int q = 0; q < 4; ++q) {
          if (c + 16 * q < width) Quads512::store(value_block(to, c + 16 * q) + 16 * k, rows[q]);
        }
      }
    }
  }
  static void pack_value_panel(const int8_t* panel, int width, int16_t* to) {
    for (int c = 0; c < width; c += 16) {
      for (int quad = 0; quad < integer_chunk / 4; ++quad) {
        const __m512i columns = Quads512::load_lanes(panel + (ptrdiff_t(quad) * width + c) * 4, width - c);
        Quads512::store(value_block(to, c) + 64 * quad, columns);
      }
    }
  }

  template <int rows>
  static ATTEND_ALWAYS_INLINE void scores(const Query* const* query, const int8_t* keys, int head_dim,
                                          int32_t (*scores)[integer_chunk]) {
    if constexpr (rows == tile_rows) {
      if (scores_by_tiles(head_dim)) {
        return tile_scores(query[0] + query_at, query[1] - query[0], keys, head_dim, scores[0]);
      }
    }
    WithoutTiles::template panel_scores<rows>(query, keys, head_dim, scores);
  }

  // `values` of 8 rows by tiles, in three steps, so that a processor has other work until what it needs is there. Where weights
  // were lie, of each row, its lower bytes and, 64 bytes behind them, its upper ones: a tile of 16 rows.
  template <int rows = tile_rows>
  static ATTEND_ALWAYS_INLINE void cut_weights(int32_t (*weights)[integer_chunk]) {
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      uint8_t* const row = reinterpret_cast<uint8_t*>(weights[r]);
      Quads512::cut_weights(weights[r], row, row + 64);
    }
  }
  // The products of weights and two blocks of columns, [blocks][rows][lower and upper bytes][16 columns] of 32 bits.
  ATTEND_NOINLINE static void multiply_values(int32_t (*weights)[integer_chunk], const int16_t* values, int width,
                                              int32_t* products) {
    Tiles::load<weights_tile>(weights, 64);
    const int8_t* const block = reinterpret_cast<const int8_t*>(values);
    multiply_block<values_tile, sums_tile>(block, products);
    if (width > 16) multiply_block<queries, low_keys>(block + block_bytes, products + block_products);
  }
  // Those of others, and the sums of all: vectors add while tiles are multiplied.
  ATTEND_NOINLINE static void add_products(const int16_t* values, int width, const RowMerges& merges, int32_t* products,
                                           int32_t* sums) {
    const int8_t* block = reinterpret_cast<const int8_t*>(values) + 2 * block_bytes;
    for (int left = width; left > 0; left -= 32, block += 2 * block_bytes, products += 2 * block_products, sums += 32) {
      if (left > 32) multiply_block<values_tile, sums_tile>(block, products + 2 * block_products);
      add_block(products, left, width, merges, sums);
      if (left <= 16) return;
      if (left > 48) multiply_block<queries, low_keys>(block + block_bytes, products + 3 * block_products);
      add_block(products + block_products, left - 16, width, merges, sums + 16);
    }
  }

  template <int rows>
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width,
                                     const RowMerges& merges, int32_t* sums) {
    cut_weights<rows>(weights);
    const int8_t* block = reinterpret_cast<const int8_t*>(values);
    for (int c = 0; c < width; c += 16, block += block_bytes) columns<rows>(weights, block, width - c, width, merges, sums + c);
  }

 private:
  enum { low_scores, high_scores, queries, low_keys, high_keys, weights_tile, values_tile, sums_tile };
  static constexpr int depth = 64, block_bytes = 16 * integer_chunk, block_products = 2 * tile_rows * 16;

  // Work memory has no room for the zeros behind shorter queries.
  static constexpr bool scores_by_tiles(int head_dim) { return head_dim > 16; }

  static ATTEND_ALWAYS_INLINE __m512i half_of_shift(__m512i shift) {
    return _mm512_srli_epi64(_mm512_sllv_epi64(_mm512_set1_epi64(1), shift), 1);
  }

  static int8_t* value_block(int16_t* values, int column) { return reinterpret_cast<int8_t*>(values) + column * integer_chunk; }

  // Of the last dimensions, fewer than 64, queries have zeros; what is read behind the keys of a chunk is work memory.
  ATTEND_NOINLINE static void tile_scores(const int8_t* query, ptrdiff_t stride, const int8_t* keys, int head_dim,
                                          int32_t* scores) {
    constexpr ptrdiff_t row = 4 * integer_chunk;
    Tiles::clear<low_scores>(), Tiles::clear<high_scores>();
    for (int d = 0; d < head_dim; d += depth, query += depth, keys += depth * integer_chunk) {
      Tiles::load<queries>(query, stride);
      Tiles::load<low_keys>(keys, row);
      Tiles::add_signed<low_scores, queries, low_keys>();
      Tiles::load<high_keys>(keys + row / 2, row);
      Tiles::add_signed<high_scores, queries, high_keys>();
    }
    Tiles::store<low_scores>(scores, row), Tiles::store<high_scores>(scores + integer_chunk / 2, row);
  }

  template <int of_values, int of_sums>
  static ATTEND_ALWAYS_INLINE void multiply_block(const int8_t* block, int32_t* products) {
    Tiles::clear<of_sums>();
    Tiles::load<of_values>(block, 64);
    Tiles::add_unsigned<of_sums, weights_tile, of_values>();
    Tiles::store<of_sums>(products, 64);
  }

  static ATTEND_ALWAYS_INLINE void add_block(const int32_t* products, int left, int width, const RowMerges& merges,
                                             int32_t* sums) {
    ATTEND_UNROLL
    for (int r = 0; r < tile_rows; ++r, products += 32, sums += width) {
      const Merge merge = merges[r];
      const Vector low = Quads512::load(products), high = Quads512::load(products + 16);
      merge_columns(sum_of_bytes(low, high, merge), shifts_of(merge), sums, left);
    }
  }

  // Adds the weighted values of one block of columns, `left` columns of so wide a row.
  template <int rows>
  static ATTEND_ALWAYS_INLINE void columns(const int32_t (*bytes)[integer_chunk], const int8_t* block, int left, int width,
                                           const RowMerges& merges, int32_t* sums) {
    Vector low[rows], high[rows];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) low[r] = high[r] = Quads512::all(0);
    const int quads = opaque(integer_chunk / 4);
    for (int k = 0; k < quads; ++k) {
      const Vector values = Quads512::load(block + 64 * k);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        Products::add_quads(low[r], Quads512::all(load_number(bytes[r] + k)), values);
        Products::add_quads(high[r], Quads512::all(load_number(bytes[r] + 16 + k)), values);
      }
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      const Merge merge = merges[r];
      merge_columns(sum_of_bytes(low[r], high[r], merge), shifts_of(merge), sums + r * ptrdiff_t(width), left);
    }
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
