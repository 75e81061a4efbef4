#include "visible.h"

#include <cstring>

namespace attend_ggml {
namespace {

constexpr std::uint16_t hidden = 0xfc00;  // minus infinity
constexpr std::uint64_t four_hidden = 0xfc00fc00fc00fc00;

struct Row {
  std::vector<Run> runs;
  std::int64_t count = 0;
  bool adds = false;
};

void read_row(const char* mask, std::int64_t cells, Row& row) {
  row.runs.clear(), row.count = 0, row.adds = false;
  bool inside = false;
  const auto change = [&](std::int64_t cell, bool seen) {
    if (seen == inside) return;
    inside = seen;
    if (seen) {
      row.runs.push_back({cell, cells});
    } else {
      row.runs.back().end = cell;
    }
  };
  std::int64_t cell = 0;
  while (cell < cells) {
    if (cells - cell >= 4) {  // four at a time, where they are alike
      std::uint64_t four;
      std::memcpy(&four, mask + cell * 2, sizeof four);
      if (four == 0 || four == four_hidden) {
        change(cell, four == 0);
        cell += 4;
        continue;
      }
    }
    const std::int64_t end = cell + 4 < cells ? cell + 4 : cells;
    for (; cell < end; ++cell) {
      std::uint16_t number;
      std::memcpy(&number, mask + cell * 2, sizeof number);
      change(cell, number != hidden);
      if (number != hidden && (number & 0x7fff) != 0) row.adds = true;
    }
  }
  for (const Run& run : row.runs) row.count += run.end - run.first;
}

// Whether the cells of a row are the first of another one's.
bool is_beginning(const std::vector<Run>& part, const std::vector<Run>& all) {
  if (part.size() > all.size()) return false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool last = i + 1 == part.size();
    if (part[i].first != all[i].first || (last ? part[i].end > all[i].end : part[i].end != all[i].end)) return false;
  }
  return true;
}

}  // namespace

std::vector<QueryGroup> visible_cells(const char* mask, std::size_t row_stride, std::int64_t queries, std::int64_t cells) {
  std::vector<QueryGroup> groups;
  if (mask == nullptr) {
    groups.push_back({0, {{0, cells}}, std::vector<std::int32_t>(std::size_t(queries), std::int32_t(cells)), false});
    return groups;
  }
  Row row;
  for (std::int64_t i = 0; i < queries; ++i) {
    read_row(mask + std::size_t(i) * row_stride, cells, row);
    if (!groups.empty()) {
      QueryGroup& group = groups.back();
      const bool less = is_beginning(row.runs, group.runs);
      if (less || is_beginning(group.runs, row.runs)) {
        if (!less) group.runs = row.runs;
        group.counts.push_back(std::int32_t(row.count));
        group.adds |= row.adds;
        continue;
      }
    }
    groups.push_back({i, row.runs, {std::int32_t(row.count)}, row.adds});
  }
  return groups;
}

const std::vector<QueryGroup>& VisibleCells::of(const Tensor* mask, std::int64_t head, std::int64_t batch, std::int64_t queries,
                                                std::int64_t cells) {
  if (mask != nullptr) {
    head %= mask->extents[2];
    batch %= mask->extents[3];
  } else {
    head = batch = 0;
  }
  for (const Known& known : known_) {
    if (known.mask == mask && known.head == head && known.batch == batch && known.queries == queries && known.cells == cells)
      return known.groups;
  }
  const char* const data = mask == nullptr ? nullptr
                                           : static_cast<const char*>(mask->data) + std::size_t(head) * mask->strides[2] +
                                                 std::size_t(batch) * mask->strides[3];
  known_.push_back(
      {mask, head, batch, queries, cells, visible_cells(data, mask == nullptr ? 0 : mask->strides[1], queries, cells)});
  return known_.back().groups;
}

}  // namespace attend_ggml
