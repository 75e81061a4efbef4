// Where tensors of the C surface lie, as ranges of addresses, if they can exist.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

// Moves one end of a range of numbers by what an axis spans: false when that cannot be counted.
bool reach(const Axis& axis, ptrdiff_t& low, ptrdiff_t& high) {
  ptrdiff_t distance;
  if (__builtin_mul_overflow(axis.count - 1, axis.stride, &distance)) return false;
  ptrdiff_t& end = distance < 0 ? low : high;
  return !__builtin_add_overflow(end, distance, &end);
}

// How far it is from one element of an axis to the next, whichever way.
size_t distance(const Axis& axis) { return axis.stride < 0 ? size_t(0) - size_t(axis.stride) : size_t(axis.stride); }

}  // namespace

attend_status check_span(const void* data, const Extent& extent, int bits, attend_status none, Range& range) {
  const attend_status unaligned = attend_status(none + 1), huge = attend_status(none + 2);
  const ptrdiff_t size = bits < 8 ? 1 : bits / 8, most = PTRDIFF_MAX / size;
  if (data == nullptr) return none;
  if (!aligned(data, size_t(size))) return unaligned;
  ptrdiff_t low = 0, high = extent.width;
  if (!reach(extent.batch, low, high) || !reach(extent.token, low, high) || !reach(extent.head, low, high)) return huge;
  if (bits < 8) high = high / 8 + (high % 8 != 0);
  if (low < -most || high > most + low) return huge;
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  const size_t before = size_t(-low) * size_t(size), after = size_t(high) * size_t(size);
  if (before > at || after > UINTPTR_MAX - at) return huge;
  range = {at - before, at + after};
  return ATTEND_OK;
}

bool array_range(const void* data, size_t count, size_t size, Range& range) {
  range.begin = reinterpret_cast<uintptr_t>(data);
  if (!aligned(data, size) || count > (UINTPTR_MAX - range.begin) / size) return false;
  range.end = range.begin + count * size;
  return true;
}

// Each axis, beginning with the shortest step, steps over all that those before it span. Sums cannot overflow.
bool apart(const Extent& extent) {
  const Axis* axes[] = {&extent.head, &extent.token, &extent.batch};
  for (int sorted = 1; sorted < 3; ++sorted) {
    for (int i = sorted; i > 0 && distance(*axes[i]) < distance(*axes[i - 1]); --i) {
      const Axis* longer = axes[i - 1];
      axes[i - 1] = axes[i];
      axes[i] = longer;
    }
  }
  size_t spanned = size_t(extent.width);
  for (const Axis* axis : axes) {
    if (axis->count <= 1) continue;
    if (distance(*axis) < spanned) return false;
    spanned += size_t(axis->count - 1) * distance(*axis);
  }
  return true;
}

attend_status check_size(const void* whole, size_t size, size_t first, size_t known) {
  if ((size < known && size != first) || size > largest_struct) return ATTEND_BAD_STRUCT_SIZE;
  const unsigned char* bytes = static_cast<const unsigned char*>(whole);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return ATTEND_NEWER_STRUCT;
  }
  return ATTEND_OK;
}

}  // namespace c_surface
}  // namespace attend
