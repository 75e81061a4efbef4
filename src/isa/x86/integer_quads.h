// The kernels of one row over panels (core/integer.h), for instruction sets that add products of quads of bytes. What is
// of a vector's length or of an instruction is in the parameter, a struct with
//
//   Vector, lanes                   of 32 bits
//   load, load_lanes, store_lanes   whole vectors, or the first `count` lanes; the others are zeros, and are not touched
//   all, flip, shift_up             a number in all lanes; bytes with their signs flipped; lanes times 2^8
//   shift_down                      lanes shifted right, each by its own number
//   add_quads                       sum += four products of bytes without a sign and bytes with one
//   cut_weights                     weights of a chunk, as their lower and upper bytes
#ifndef ATTEND_ISA_X86_INTEGER_QUADS_H
#define ATTEND_ISA_X86_INTEGER_QUADS_H

#include "../../numerics/opaque.h"
#include "../integer_tile.h"
#include "integer_vectors.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Operations>
struct PanelKernels {
  using Vector = typename Operations::Vector;

  // Scores of `count` chunks with a query, whose scores begin at `first`. Two sums for each key, so that few products wait for
  // the ones before.
  static ATTEND_ALWAYS_INLINE void scores(int32_t first, const int8_t* query, const int8_t* const* panels, int count,
                                          int head_dim, int32_t (*scores)[integer_chunk]) {
    constexpr int vectors = integer_chunk / Operations::lanes;
    for (int i = 0; i < count; ++i) {
      const int8_t* keys = panels[i];
      Vector sums[2][vectors];
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) sums[0][v] = Operations::all(first), sums[1][v] = Operations::all(0);
      const auto add_quad = [&](int d, int which) __attribute__((always_inline)) {
        const Vector quad = Operations::all(number_at(query + d));
        ATTEND_UNROLL
        for (int v = 0; v < vectors; ++v, keys += 4 * Operations::lanes) {
          prefetch(keys);
          Operations::add_quads(sums[which][v], Operations::flip(Operations::load(keys)), quad);
        }
      };
      int d = 0;
      for (; head_dim - d > 4; d += 8) add_quad(d, 0), add_quad(d + 4, 1);
      if (d < head_dim) add_quad(d, 0);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) {
        Operations::store_lanes(scores[i] + v * Operations::lanes, sum(sums[0][v], sums[1][v]), Operations::lanes);
      }
    }
  }

  // Adds the values of `count` chunks, times their weights, to the sums of a row.
  static ATTEND_ALWAYS_INLINE void values(int32_t (*weights)[integer_chunk], const int8_t* const* panels, int count, int width,
                                          const RowMerges& merges, int32_t* sums) {
    Bytes bytes[8];
    const Chunks chunks = {bytes, panels, count, width, merges};
    for (int i = 0; i < count; ++i) Operations::cut_weights(weights[i], bytes[i].low, bytes[i].high);
    int c = 0;
    for (; c + 4 * Operations::lanes <= width; c += 4 * Operations::lanes) {
      columns<4>(chunks, c, Operations::lanes, sums + c);
    }
    for (; c < width; c += Operations::lanes) columns<1>(chunks, c, width - c, sums + c);
  }

 private:
  static constexpr int bytes_ahead = 4096;

  struct Bytes {
    alignas(32) uint8_t low[integer_chunk];
    alignas(32) uint8_t high[integer_chunk];
  };

  // Chunks of values, `width` columns each, with the weights of a row.
  struct Chunks {
    const Bytes* bytes;
    const int8_t* const* panels;
    int count;
    int width;
    const RowMerges& merges;
  };

  static ATTEND_ALWAYS_INLINE int32_t number_at(const void* from) {
    int32_t number;
    __builtin_memcpy(&number, from, sizeof number);
    return number;
  }
  static ATTEND_ALWAYS_INLINE void prefetch(const int8_t* from) { __builtin_prefetch(from + bytes_ahead); }

  // `vectors` vectors of columns from column c on; `lanes` of each.
  template <int vectors>
  static ATTEND_ALWAYS_INLINE void columns(const Chunks& chunks, int c, int lanes, int32_t* to) {
    for (int chunk = 0; chunk < chunks.count; ++chunk) {
      const int8_t* from = chunks.panels[chunk] + 4 * c;
      Vector low[vectors], high[vectors];
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) low[v] = high[v] = Operations::all(0);
      const Bytes* const of_chunk = opaque(chunks.bytes + chunk);
      const int quads = opaque(integer_chunk / 4);
      for (int k = 0; k < quads; ++k, from += 4 * ptrdiff_t(chunks.width)) {
        const Vector low_quad = Operations::all(number_at(of_chunk->low + 4 * k));
        const Vector high_quad = Operations::all(number_at(of_chunk->high + 4 * k));
        ATTEND_UNROLL
        for (int v = 0; v < vectors; ++v) {
          const int8_t* const at = from + v * 4 * Operations::lanes;
          const Vector values = Operations::load_lanes(at, lanes);
          prefetch(at);
          Operations::add_quads(low[v], low_quad, values);
          Operations::add_quads(high[v], high_quad, values);
        }
      }
      const Merge merge = chunks.merges[chunk];
      const Vector total = Operations::all(merge.total), shift = Operations::all(merge.chunk);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) {
        int32_t* const sums = to + v * Operations::lanes;
        const Vector added = sum(sum(low[v], Operations::shift_up(high[v])), Operations::all(merge.half));
        const Vector before = Operations::shift_down(Operations::load_lanes(sums, lanes), total);
        Operations::store_lanes(sums, sum(before, Operations::shift_down(added, shift)), lanes);
      }
    }
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
