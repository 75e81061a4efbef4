// Work memory of the query of a row of a tile, for kernels that keep it in an order of their own.
#ifndef ATTEND_ISA_INTEGER_QUERY_H
#define ATTEND_ISA_INTEGER_QUERY_H

namespace attend::ATTEND_ISA {
namespace {

struct IntegerQueryMemory {
  void* tile;  // of all rows of the tile, which some kernels mix
  void* own;   // of this row
  int row;     // of the tile
  int rows;
  operator void*() const { return own; }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
