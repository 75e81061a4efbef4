// Work memory of the query of a row of a tile, for kernels that keep it in an order of their own.
#pragma once

namespace attend {
namespace {

struct IntegerQueryMemory {
  void* tile;  // of all rows of the tile, which some kernels mix
  void* own;   // of this row
  int row;     // of the tile
  int rows;
  operator void*() const { return own; }
};

}  // namespace
}  // namespace attend
