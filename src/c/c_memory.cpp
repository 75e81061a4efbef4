// Where tensors and structs of the C surface lie, as ranges of addresses, if they can exist.
#include "checks.h"

#include "../call/portable.h"

namespace attend::c_surface {
namespace {

// Moves one end of a range of numbers by what an axis spans: false when that cannot be counted.
bool reach(ptrdiff_t count, ptrdiff_t stride, ptrdiff_t& low, ptrdiff_t& high) {
  ptrdiff_t distance;
  if (ATTEND_MUL_OVERFLOW(count - 1, stride, &distance)) return false;
  ptrdiff_t& end = distance < 0 ? low : high;
  return !ATTEND_ADD_OVERFLOW(end, distance, &end);
}

// The range of numbers of an extent with elements, in numbers from its data on: false when they cannot be counted.
bool reach_all(const Extent& extent, ptrdiff_t& low, ptrdiff_t& high) {
  const auto& [counts, strides, dense, clear] = extent;
  low = 0, high = counts.width;
  return reach(counts.batch, strides.batch, low, high) && reach(counts.tokens, strides.token, low, high) &&
         reach(counts.heads, strides.head, low, high);
}

// Of a dense array: what cannot be counted is as long as can be, which no tensor with more than one of it fits.
ptrdiff_t product(ptrdiff_t a, ptrdiff_t b) {
  ptrdiff_t both;
  return ATTEND_MUL_OVERFLOW(a, b, &both) ? PTRDIFF_MAX : both;
}

// The distance from one element of an axis to the next, in either direction.
size_t distance(ptrdiff_t stride) { return stride < 0 ? size_t(0) - size_t(stride) : size_t(stride); }

// Each axis, beginning with the shortest step, steps over all that those before it span. Sums cannot overflow.
bool apart(const Extent& extent) {
  struct Axis {
    ptrdiff_t count;
    size_t distance;
  };
  Axis axes[] = {{extent.counts.heads, distance(extent.strides.head)},
                 {extent.counts.tokens, distance(extent.strides.token)},
                 {extent.counts.batch, distance(extent.strides.batch)}};
  for (int sorted = 1; sorted < 3; ++sorted) {
    for (int i = sorted; i > 0 && axes[i].distance < axes[i - 1].distance; --i) {
      const Axis longer = axes[i - 1];
      axes[i - 1] = axes[i];
      axes[i] = longer;
    }
  }
  size_t spanned = size_t(extent.counts.width);
  for (const Axis& axis : axes) {
    if (axis.count <= 1) continue;
    if (axis.distance < spanned) return false;
    spanned += size_t(axis.count - 1) * axis.distance;
  }
  return true;
}

// The strides of an array from the innermost axis to the outermost, and whether they are clear. A dense stride is not clear
// outside of an axis that was given another stride than a dense array has, nor directly inside of one: a batch stride alone may
// mean room for more tokens, or tokens of a fused array, which are further apart. The innermost axis of a tensor is the
// exception (is_free), since heads lie side by side in fused arrays too; it must fit within what was given.
struct Steps {
  explicit Steps(ptrdiff_t width) : dense(width) {}

  ptrdiff_t dense;          // the stride of the next axis, if it is that of a dense array
  ptrdiff_t spanned = 0;    // by the dense axes so far
  bool has_gaps = false;    // an axis so far was given another stride than a dense array has
  bool must_agree = false;  // the axis before is dense, and clear only if the next is as well
  bool clear = true;

  ptrdiff_t next(ptrdiff_t count, ptrdiff_t given, bool is_free = false) {
    if (given == 0) return 0;  // the array does not have this axis
    const bool is_dense = given == ATTEND_DENSE, agrees = is_dense || given == dense;
    const ptrdiff_t stride = is_dense ? dense : given;
    has_gaps |= !agrees;
    if (count <= 1) return 0;
    clear &= is_dense ? !has_gaps : agrees || (!must_agree && distance(given) >= size_t(spanned));
    dense = product(dense, count);
    if (is_dense) spanned = dense;
    must_agree = is_dense && !is_free;
    return stride;
  }
};

}  // namespace

Extent extent_of(const Extent::Counts& counts, const Extent::Strides& given, Axes axes) {
  Extent extent = {counts, {0, 0, 0}, 0, true};
  const bool heads_first = axes != Axes::token_head;
  if (given.batch == ATTEND_DENSE && given.token == ATTEND_DENSE && given.head == ATTEND_DENSE) {
    const ptrdiff_t outer = product(counts.width, heads_first ? counts.tokens : counts.heads);
    const ptrdiff_t row = product(outer, heads_first ? counts.heads : counts.tokens);
    if (counts.tokens > 1) extent.strides.token = heads_first ? counts.width : outer;
    if (counts.heads > 1) extent.strides.head = heads_first ? outer : counts.width;
    if (counts.batch > 1) extent.strides.batch = row;
    extent.dense = product(row, counts.batch);
    return extent;
  }
  Steps steps(counts.width);
  if (heads_first) extent.strides.token = steps.next(counts.tokens, given.token, axes != Axes::matrix);
  extent.strides.head = steps.next(counts.heads, given.head, !heads_first);
  if (!heads_first) extent.strides.token = steps.next(counts.tokens, given.token);
  extent.strides.batch = steps.next(counts.batch, given.batch);
  extent.clear = steps.clear;
  return extent;
}

Range Check::place(const void* data, const Extent& extent, int bits, attend_argument argument) {
  const auto& [batch, tokens, heads, width] = extent.counts;
  if (failed() || batch == 0 || tokens == 0 || width == 0) return {};  // heads were counted: there is one at least
  const ptrdiff_t size = bits < 8 ? 1 : bits / 8;
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  address(data, size_t(size), argument);
  require(extent.clear, ATTEND_AMBIGUOUS, argument);
  if (extent.dense != 0 && bits >= 8) {  // the same as below, but faster: no axis needs to be looked at
    ptrdiff_t all;
    uintptr_t end = 0;
    const bool counted =
        !ATTEND_MUL_OVERFLOW(extent.dense, size, &all) && all != PTRDIFF_MAX && !ATTEND_ADD_OVERFLOW(at, uintptr_t(all), &end);
    require(counted, ATTEND_TOO_LARGE, argument);
    return failed() ? Range{} : Range{at, end};
  }
  ptrdiff_t low, high, all;  // in numbers, then in bytes
  bool counted = reach_all(extent, low, high);
  if (counted && bits < 8) high = high / 8 + (high % 8 != 0);
  counted = counted && !ATTEND_MUL_OVERFLOW(low, size, &low) && !ATTEND_MUL_OVERFLOW(high, size, &high) &&
            !ATTEND_SUB_OVERFLOW(high, low, &all);
  require(counted, ATTEND_TOO_LARGE, argument);
  if (failed()) return {};
  const size_t before = size_t(0) - size_t(low), after = size_t(high);
  require(before <= at && after <= UINTPTR_MAX - at, ATTEND_TOO_LARGE, argument);
  return {at - before, at + after};
}

void Memory::read_last(Range range) {
  for (int i = 0; i < written_; ++i) {
    require(range.begin == range.end || !overlap(written_ranges_[i], range), ATTEND_OVERLAP, arguments_[i]);
  }
}

void Memory::write(Range range, attend_argument argument) {
  if (range.begin == range.end) return;
  for (int i = 0; i < read_; ++i) require(!overlap(ranges_[i], range), ATTEND_OVERLAP, argument);
  for (int i = 0; i < written_; ++i) require(!overlap(written_ranges_[i], range), ATTEND_OVERLAP, argument);
  arguments_[written_] = argument;
  written_ranges_[written_++] = range;
}

ptrdiff_t Memory::write(const void* data, const Extent& extent, int bits, attend_argument argument) {
  const Range range = place(data, extent, bits, argument);
  require(range.begin == range.end || extent.dense != 0 || apart(extent), ATTEND_SHARED_ELEMENTS, argument);
  write(range, argument);
  return range.begin == range.end ? 0 : extent.strides.batch * (bits / 8);
}

Range Check::memory(const void* memory, size_t size, size_t needed, attend_argument argument) {
  address(memory, config::alignment, argument);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  require(size >= needed, ATTEND_TOO_SMALL, argument);
  require(size <= PTRDIFF_MAX && size <= UINTPTR_MAX - begin, ATTEND_TOO_LARGE, argument);
  return failed() ? Range{} : Range{begin, begin + needed};
}

Range Check::whole_struct(const void* given, size_t alignment, size_t known, attend_argument argument) {
  address(given, alignment, argument);
  if (failed()) return {};
  const size_t size = *static_cast<const size_t*>(given);
  require(size >= known && size <= largest_struct, ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE);
  if (failed()) return {};
  const unsigned char* bytes = static_cast<const unsigned char*>(given);
  for (size_t i = known; i < size; ++i) require(bytes[i] == 0, ATTEND_NEWER, ATTEND_ARG_SIZE);
  return {reinterpret_cast<uintptr_t>(given), reinterpret_cast<uintptr_t>(given) + size};
}

attend_status new_struct(void* given, size_t alignment, size_t known, size_t size, attend_argument argument) {
  Check check;
  check.address(given, alignment, argument);
  check.require(size >= known && size <= largest_struct, ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE);
  if (check.failed()) return check.status();
  ATTEND_MEMSET(given, 0, size);
  *static_cast<size_t*>(given) = size;
  return ATTEND_OK;
}

void check_parts(Check& check, const Parts& parts, ptrdiff_t queries, ptrdiff_t keys) {
  check.within(parts.parts, 1, ATTEND_MAX_PARTS, ATTEND_ARG_PARTS);
  check.within(parts.part, 0, parts.parts > 0 ? parts.parts - 1 : 0, ATTEND_ARG_PART);
  const uint64_t work = uint64_t(queries) * (uint64_t(keys) + 16);
  check.require(parts.parts == 1 || work >> 47 == 0, ATTEND_TOO_LARGE, ATTEND_ARG_PARTS);
}

void check_key_lengths(Memory& check, const ptrdiff_t* lengths, ptrdiff_t batch, ptrdiff_t longest) {
  check.read(check.array(lengths, batch, 8 * int(sizeof *lengths), ATTEND_ARG_KEY_LENGTHS));
  for (ptrdiff_t row = 0; !check.failed() && row < batch; ++row) check.within(lengths[row], 0, longest, ATTEND_ARG_KEY_LENGTHS);
}

}  // namespace attend::c_surface
