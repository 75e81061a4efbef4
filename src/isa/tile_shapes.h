// How tiles are shaped, where an instruction set has some: registers of rows of bytes, which products of matrices are made of.
#ifndef ATTEND_ISA_TILE_SHAPES_H
#define ATTEND_ISA_TILE_SHAPES_H

#include <stdint.h>

#include "../numerics/float_rules.h"

namespace attend::ATTEND_ISA {
namespace {

// The shapes of the eight tiles of AMX, as its instruction reads them.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t unused[14] = {};
  uint16_t bytes[16] = {};  // of a row
  uint8_t rows[16] = {};

  void set(int tile, int rows_of_tile, int bytes_of_row) {
    rows[tile] = uint8_t(rows_of_tile);
    bytes[tile] = uint16_t(bytes_of_row);
  }
};
static_assert(sizeof(TileShapes) == 64, "as the instruction reads it");

// Runs with tiles of these shapes. No destructor releases them: compilers that know of exceptions would have to catch them for
// it.
template <class Tiles, class Run>
ATTEND_ALWAYS_INLINE void with_tiles(const TileShapes& shapes, Run run) {
  Tiles::shape(shapes);
  run();
  Tiles::release();
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
