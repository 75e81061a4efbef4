// Rows of bytes that are read where they lie, four at a time.
#ifndef ATTEND_ISA_X86_ROWS_IN_PLACE_H
#define ATTEND_ISA_X86_ROWS_IN_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "../../numerics/arithmetic.h"
#include "../../numerics/bits.h"

namespace attend::ATTEND_ISA {
namespace {

class RowsInPlace {
 public:
  explicit RowsInPlace(ptrdiff_t stride) : stride_(stride), three_(opaque(3 * stride)), ahead_(opaque(rows_ahead * stride)) {}

  ATTEND_ALWAYS_INLINE const int8_t* row(const int8_t* from, int i) const { return i < 3 ? from + i * stride_ : from + three_; }
  // Those that are used some time later.
  ATTEND_ALWAYS_INLINE void prefetch_four(const int8_t* from) const {
    const int8_t* const ahead = opaque(from + ahead_);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) __builtin_prefetch(row(ahead, i));
  }
  ATTEND_ALWAYS_INLINE const int8_t* next(const int8_t* from) const { return opaque(from + 4 * stride_); }

 private:
  static constexpr int rows_ahead = 128;
  const ptrdiff_t stride_, three_, ahead_;
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
