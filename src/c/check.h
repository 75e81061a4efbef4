// The checks of the C surface, and the ranges of addresses that a call reads or writes.
#pragma once

#include "../../include/attend/core/options.h"  // first: it refuses compilers that will not do

#include <stdint.h>

#include "../../include/attend/attend_c.h"

namespace attend::c_surface {

// Bytes begin … end - 1 of the address space.
struct Range {
  uintptr_t begin;
  uintptr_t end;
};

constexpr bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }
// alignment: a power of two
inline bool aligned(const void* address, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(address) & (alignment - 1)) == 0;
}

// A tensor with `width` numbers side by side. Of axes along which there is nowhere to step, the stride is 0.
struct Extent {
  struct Counts {
    ptrdiff_t batch, tokens, heads, width;
  } counts;
  struct Strides {
    ptrdiff_t batch, token, head;
  } strides;
  ptrdiff_t dense;  // all numbers, where all strides are ATTEND_DENSE, or 0; PTRDIFF_MAX if they cannot be counted
  bool clear;       // whether those that were given and those of a dense array can be of one array
};

// The defaults of problems. An unset field is refused.
constexpr ptrdiff_t dense_stride = ATTEND_DENSE, unset = -1;
constexpr attend_input no_input = {nullptr, dense_stride, dense_stride, dense_stride};
constexpr attend_output no_output = {nullptr, dense_stride, dense_stride, dense_stride};
constexpr attend_ranges no_ranges = {nullptr, nullptr, dense_stride};
constexpr attend_mask no_mask = {nullptr, dense_stride, dense_stride, dense_stride, ATTEND_ALL_KEYS, ATTEND_MASK_NONE};

// Whether a tensor, or one that may be left out, determines where each batch row is.
template <class Tensor>
bool steps_by_rows(const Tensor& tensor) {
  return tensor.batch_stride != ATTEND_DENSE && tensor.batch_stride != 0;
}
template <class Tensor>
bool is_given_by_rows(const Tensor& tensor) {
  return tensor.data != nullptr && steps_by_rows(tensor);
}

constexpr int float_bits = 8 * int(sizeof(float));
// A format of a problem, which may be ATTEND_DEFAULT_FORMAT.
constexpr core::Format core_format(int format) { return core::Format(format < 0 ? ATTEND_FLOAT32 : format); }
constexpr int format_bits(int format) { return 8 * int(core::format_bytes(core_format(format))); }
constexpr size_t largest_struct = 4096;  // no header will have such a one

// The first error of a call that was found.
class Check {
 public:
  bool failed() const { return status_ != ATTEND_OK; }
  // Takes over what another one has found.
  void take(const Check& other) {
    if (!failed()) status_ = other.status_;
  }
  attend_status status() const { return status_; }

  void require(bool right, attend_error error, attend_argument argument) {
    if (!right && !failed()) status_ = int(error) | int(argument) << 8;
  }
  // What the call leaves as it was initialised.
  void left_out(bool is_unset, attend_argument argument) { require(is_unset, ATTEND_CONFLICT, argument); }
  void within(ptrdiff_t number, ptrdiff_t low, ptrdiff_t high, attend_argument argument) {
    require(number >= low && number <= high, ATTEND_OUT_OF_RANGE, argument);
  }
  void format(int format, int first, int last, attend_argument argument) {
    require(format >= first && format <= last, ATTEND_UNKNOWN, argument);
  }
  // One of a pair of a problem's formats. The format behind one pointer leaves the other open, so one that was
  // not set is float32 only where the other is not smaller.
  void format_of_pair(int format, int other, int last, attend_argument argument) {
    this->format(format, ATTEND_DEFAULT_FORMAT, last, argument);
    const bool is_smaller = other > ATTEND_FLOAT32 && other <= last;
    require(format != ATTEND_DEFAULT_FORMAT || !is_smaller, ATTEND_AMBIGUOUS, argument);
  }

  // An address that the call needs.
  void address(const void* address, size_t alignment, attend_argument argument) {
    require(address != nullptr, ATTEND_MISSING, argument);
    require(aligned(address, alignment), ATTEND_UNALIGNED, argument);
  }
  // Memory of `size` bytes, of which a call uses `needed`.
  Range memory(const void* memory, size_t size, size_t needed, attend_argument argument);

  // Structs side by side.
  template <class Struct>
  Range structs(const Struct* structs, ptrdiff_t count, attend_argument argument) {
    address(structs, alignof(Struct), argument);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(structs);
    return failed() ? Range{} : Range{begin, begin + size_t(count) * sizeof(Struct)};
  }
  // A struct that begins with its size: `known` is the size of this version. Fields past those that are known, of a struct from
  // a newer header, are all zero.
  Range whole_struct(const void* given, size_t alignment, size_t known, attend_argument argument);
  template <class Struct>
  Range whole_struct(const Struct* given, attend_argument argument) {
    return whole_struct(given, alignof(Struct), sizeof *given, argument);
  }

  // Where a tensor of numbers of so many bits lies. One without elements lies nowhere.
  Range place(const void* data, const Extent& extent, int bits, attend_argument argument);
  // Numbers side by side.
  Range array(const void* data, ptrdiff_t count, int bits, attend_argument argument) {
    return place(data, {{1, 1, 1, count}, {0, 0, 0}, 0, true}, bits, argument);
  }

 private:
  attend_status status_ = ATTEND_OK;
};

// What an init function does before it sets defaults: the struct is all zeros then, but for its size.
attend_status new_struct(void* given, size_t alignment, size_t known, size_t size, attend_argument argument);
template <class Struct>
attend_status new_struct(Struct* given, size_t size, attend_argument argument) {
  return new_struct(given, alignof(Struct), sizeof *given, size, argument);
}

// Its first error, and where everything lies that it reads or writes: what it writes overlaps nothing else.
class Memory : public Check {
 public:
  // A range that is read need not be kept once all ranges that are written are known.
  void read_last(Range range);
  void read(Range range) {
    if (range.begin == range.end) return;
    if (written_ > 0) read_last(range);
    ranges_[read_++] = range;
  }
  void write(Range range, attend_argument argument);
  // A tensor; returns its step from one batch row to the next, in bytes. No two elements of one that is written are one.
  ptrdiff_t read(const void* data, const Extent& extent, int bits, attend_argument argument) {
    const Range range = place(data, extent, bits, argument);
    read(range);
    return range.begin == range.end ? 0 : extent.strides.batch * (bits / 8);
  }
  ptrdiff_t write(const void* data, const Extent& extent, int bits, attend_argument argument);

 private:
  static constexpr int most_read = 18, most_written = 5;
  Range ranges_[most_read];  // the struct, lengths, three inputs, a page table, two kinds of scales, seven other options
  Range written_ranges_[most_written];  // output, lse and scores, or states and scores; work memory; a layer's cache
  attend_argument arguments_[most_written];
  int read_ = 0, written_ = 0;
};

// The order of axes after the batch: those of tensors, and [head][query] of what has a row of numbers for each.
enum class Axes { token_head, head_token, matrix };
inline Axes axes_of(const attend_problem& problem) {
  return problem.layout == ATTEND_BATCH_HEAD_TOKEN_DIM ? Axes::head_token : Axes::token_head;
}

// Strides that are ATTEND_DENSE are those of a dense array without the axes whose stride is 0, and are clear where those that
// were set agree with them.
Extent extent_of(const Extent::Counts& counts, const Extent::Strides& given, Axes axes);
template <class Tensor>
Extent extent_of(const Extent::Counts& counts, const Tensor& tensor, Axes axes) {
  return extent_of(counts, Extent::Strides{tensor.batch_stride, tensor.token_stride, tensor.head_stride}, axes);
}

// A tensor of the core; its data may be of another format.
template <class Float, class Data>
core::Tensor<Float> core_tensor(Data* data, const Extent& extent) {
  return {static_cast<Float*>(data), extent.strides.token, extent.strides.head};
}

}  // namespace attend::c_surface
