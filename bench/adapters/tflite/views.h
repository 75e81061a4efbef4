// How the axes of a product lie in a tensor's memory, seen through the transpositions and reshapes between them: a list of
// extents and strides, outermost first, whose extents multiply to those of the axes.
#pragma once

#include <cstddef>
#include <vector>

namespace attend_tflite {

struct Axis {
  std::ptrdiff_t extent;
  std::ptrdiff_t stride;  // in numbers; 0: all read the same
};
using Axes = std::vector<Axis>;
using Dims = std::vector<std::ptrdiff_t>;

// Strides of a dense tensor.
inline Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Without axes of extent 1, and with neighbours in one where they are as one.
inline Axes merged(const Axes& axes) {
  Axes result;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!result.empty() && result.back().stride == axis.stride * axis.extent) {
      result.back() = {result.back().extent * axis.extent, axis.stride};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

inline std::ptrdiff_t extent_of(const Axes& axes) {
  std::ptrdiff_t extent = 1;
  for (const Axis& axis : axes) extent *= axis.extent;
  return extent;
}

// Cuts axes in two, of which the inner ones have `extent` numbers. False where no axis can be cut there.
inline bool cut(const Axes& axes, std::ptrdiff_t extent, Axes* outer, Axes* inner) {
  outer->clear(), inner->clear();
  std::size_t i = axes.size();
  for (; i > 0 && extent > 1; --i) {
    const Axis& axis = axes[i - 1];
    if (axis.extent <= extent) {
      if (extent % axis.extent != 0) return false;
      inner->insert(inner->begin(), axis);
      extent /= axis.extent;
    } else {
      if (axis.extent % extent != 0) return false;
      inner->insert(inner->begin(), {extent, axis.stride});
      outer->push_back({axis.extent / extent, axis.stride * extent});
      extent = 1;
    }
  }
  if (extent != 1) return false;
  outer->insert(outer->begin(), axes.begin(), axes.begin() + std::ptrdiff_t(i));
  return true;
}

// Axes whose strides count in a dense tensor of `dims`, as they lie where its axis j has the stride strides[j] instead. False
// where a stride does not keep to whole axes.
inline bool moved(const Axes& axes, const Dims& dims, const Dims& strides, Axes* result) {
  const Dims dense = dense_strides(dims);
  result->clear();
  for (Axis axis : axes) {
    if (axis.extent == 1 || axis.stride == 0) {
      result->push_back({axis.extent, 0});
      continue;
    }
    Axes pieces;  // innermost first
    for (std::size_t j = dims.size(); j-- > 0 && axis.extent > 1;) {
      if (dims[j] == 1 || axis.stride >= dense[j] * dims[j]) continue;
      if (axis.stride % dense[j] != 0) return false;
      const std::ptrdiff_t step = axis.stride / dense[j];
      if (dims[j] % step != 0) return false;
      const std::ptrdiff_t room = dims[j] / step;
      const std::ptrdiff_t taken = axis.extent < room ? axis.extent : room;
      if (axis.extent % taken != 0 || (taken < room && taken != axis.extent)) return false;
      pieces.push_back({taken, step * strides[j]});
      axis = {axis.extent / taken, axis.stride * taken};
    }
    if (axis.extent != 1) return false;
    result->insert(result->end(), pieces.rbegin(), pieces.rend());
  }
  return true;
}

// The fewest axes that all lists can be told apart by: each list becomes as many axes, of the same extents. False where they
// are cut differently.
inline bool aligned(std::vector<Axes*> lists) {
  std::vector<Axes> results(lists.size());
  std::vector<Axes> rest;
  for (Axes* list : lists) rest.push_back(merged(*list));
  for (;;) {
    // The innermost axis of each list; the smallest is an axis of all.
    std::ptrdiff_t smallest = 0;
    for (const Axes& list : rest) {
      if (!list.empty() && (smallest == 0 || list.back().extent < smallest)) smallest = list.back().extent;
    }
    if (smallest == 0) break;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i].empty() || rest[i].back().extent % smallest != 0) return false;
      Axis& last = rest[i].back();
      results[i].insert(results[i].begin(), {smallest, last.stride});
      last = {last.extent / smallest, last.stride * smallest};
      if (last.extent == 1) rest[i].pop_back();
    }
  }
  // Neighbours that are as one in every list.
  for (std::size_t j = results.empty() ? 0 : results[0].size(); j-- > 1;) {
    bool one = true;
    for (const Axes& list : results) one = one && list[j - 1].stride == list[j].stride * list[j].extent;
    if (!one) continue;
    for (Axes& list : results) {
      list[j - 1] = {list[j - 1].extent * list[j].extent, list[j].stride};
      list.erase(list.begin() + std::ptrdiff_t(j));
    }
  }
  for (std::size_t i = 0; i < lists.size(); ++i) *lists[i] = results[i];
  return true;
}

}  // namespace attend_tflite
