// Which cells of a cache each query sees, from a mask of float16 as attention in ggml has it: rows of queries, minus infinity
// where a cell is not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml.h"

namespace attend_ggml {

// Cells first ... end - 1.
struct Run {
  std::int64_t first, end;
};

// Queries of consecutive rows that are computed together: each sees the first cells of a list, whose runs ascend. What counts
// is a cell's rank in the list: the numbers of a query depend on the cells that it sees, in ascending order, and on nothing
// between or before them.
struct QueryGroup {
  std::int64_t row;
  std::vector<Run> runs;
  std::vector<std::int32_t> counts;  // of each row: how many cells of the list it sees
  bool adds;                         // some number of the mask is neither 0 nor minus infinity

  std::int64_t cells() const {
    std::int64_t all = 0;
    for (const Run& run : runs) all += run.end - run.first;
    return all;
  }
};

// The groups of all rows of a mask, queries x cells; without a mask each row sees all cells.
std::vector<QueryGroup> visible_cells(const char* mask, std::size_t row_stride, std::int64_t queries, std::int64_t cells);

// The same, remembered while a graph is computed: layers share masks.
class VisibleCells {
 public:
  const std::vector<QueryGroup>& of(const Tensor* mask, std::int64_t head, std::int64_t batch, std::int64_t queries,
                                    std::int64_t cells);
  void forget() { known_.clear(); }

 private:
  struct Known {
    const Tensor* mask;
    std::int64_t head, batch, queries, cells;
    std::vector<QueryGroup> groups;
  };
  std::vector<Known> known_;
};

}  // namespace attend_ggml
