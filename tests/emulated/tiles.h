// The instructions of AMX, number by number, in place of the library's assembly. One that a processor would refuse aborts, with
// tiles that nobody has shaped or whose shapes do not fit, and so does a shape that is left over. To be included after begin.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../../src/isa/tile_shapes.h"

namespace attend::ATTEND_ISA {
namespace {

class EmulatedTiles {
 public:
  static void shape(const TileShapes& shapes) {
    require(shapes.palette == 1 && shapes.start_row == 0 && state().shapes.palette == 0);
    for (const std::uint8_t zero : shapes.unused) require(zero == 0);
    for (int tile = 0; tile < 8; ++tile) require(shapes.rows[tile] <= 16 && shapes.bytes[tile] <= 64);
    state() = {};
    state().shapes = shapes;
  }
  static void release() {
    require(state().shapes.palette == 1);
    state() = {};
  }

  template <int tile>
  static void clear() {
    std::memset(state().bytes[shaped(tile)], 0, sizeof state().bytes[tile]);
  }
  template <int tile>
  static void load(const void* from, std::ptrdiff_t stride) {
    clear<tile>();
    const std::int8_t* row = static_cast<const std::int8_t*>(from);
    for (int r = 0; r < rows(tile); ++r) {
      std::memcpy(state().bytes[tile][r], row, bytes(tile));
      if (r + 1 < rows(tile)) row += stride;
    }
  }
  template <int tile>
  static void store(void* to, std::ptrdiff_t stride) {
    std::int8_t* row = static_cast<std::int8_t*>(to);
    for (int r = 0; r < rows(shaped(tile)); ++r) {
      std::memcpy(row, state().bytes[tile][r], bytes(tile));
      if (r + 1 < rows(tile)) row += stride;
    }
  }
  template <int sums, int a, int b>
  static void add_signed() {
    add<std::int8_t>(sums, a, b);
  }
  template <int sums, int a, int b>
  static void add_unsigned() {
    add<std::uint8_t>(sums, a, b);
  }

 private:
  struct State {
    TileShapes shapes;
    std::int8_t bytes[8][16][64] = {};

    State() { shapes.palette = 0; }
  };
  static State& state() {
    static thread_local State of_thread;
    return of_thread;
  }

  static void require(bool is_so) {
    if (!is_so) std::abort();
  }
  static int shaped(int tile) {
    require(state().shapes.palette == 1 && state().shapes.rows[tile] > 0 && state().shapes.bytes[tile] > 0);
    return tile;
  }
  static int rows(int tile) { return state().shapes.rows[tile]; }
  static std::size_t bytes(int tile) { return state().shapes.bytes[tile]; }

  template <class First>
  static void add(int sums, int a, int b) {
    require(shaped(sums) != shaped(a) && sums != shaped(b) && a != b);
    require(rows(sums) == rows(a) && bytes(sums) == bytes(b) && bytes(a) == std::size_t(4 * rows(b)));
    const auto& first = state().bytes[a];
    const auto& second = state().bytes[b];
    for (int r = 0; r < rows(a); ++r) {
      std::uint32_t row[16];
      std::memcpy(row, state().bytes[sums][r], sizeof row);
      for (int q = 0; q < rows(b); ++q) {
        for (int i = 0; i < int(bytes(b)); ++i) row[i / 4] += std::uint32_t(First(first[r][4 * q + i % 4]) * second[q][i]);
      }
      std::memcpy(state().bytes[sums][r], row, sizeof row);
    }
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#define AmxTiles EmulatedTiles
