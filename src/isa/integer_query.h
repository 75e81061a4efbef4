// What kernels of integer attention are called with: work memory of the query of a row of a tile, for those that keep it in an
// order of their own, and the sums of the rows of a tile.

namespace attend::ATTEND_ISA {
namespace {

struct IntegerQueryMemory {
  void* tile;  // of all rows of the tile, which some kernels mix
  void* own;   // of this row
  int row;     // of the tile
  int rows;
};

// The sums that weighted values of a chunk are added to, of a tile of two rows at most, and how.
struct IntegerSums {
  int32_t* data;  // [row][width]
  int width;
  Merge merges[2];
};

}  // namespace
}  // namespace attend::ATTEND_ISA
