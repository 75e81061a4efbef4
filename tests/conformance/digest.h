// The reader of digests.inc: digests<Case> are the rows of one kind of case. Each kind has digest_bytes(c), the memory that it
// takes, and compute_digest(c, memory), in memory that is aligned to config::alignment and whose bytes are all 0xff, which as
// floats are NaN. Where a case has several ways that must give the same bits and one of them does not, its digest is wrong.
// Freestanding; a program holds only the rows of the kinds that it looks at.
#pragma once

#include "convolution_digest.h"
#include "gate_digest.h"
#include "integer_digest.h"
#include "integer_convolution_digest.h"
#include "layer_digest.h"
#include "linear_attention_digest.h"
#include "linear_digest.h"
#include "linear_integer_digest.h"
#include "option_digest.h"
#include "plain_digest.h"
#include "saved_digest.h"
#include "subnormal_digest.h"

namespace attend_test {

template <class Case>
struct Digest {
  Case c;
  int line;  // of digests.inc
  uint64_t value;
};

namespace digest_table {

// Takes the rows of its kind, or only counts them.
template <class Case>
struct Reader {
  Digest<Case>* to = nullptr;
  int count = 0;
  constexpr void row(const Case& c, int line, uint64_t value) {
    if (to != nullptr) to[count] = {c, line, value};
    ++count;
  }
  template <class Other>
  constexpr void row(const Other&, int, uint64_t) {}
};

template <class Case>
constexpr int read(Digest<Case>* to) {
  Reader<Case> reader{to};
#define DIGEST(c, value) reader.row(c, __LINE__, value);
#include "digests.inc"
#undef DIGEST
  return reader.count;
}

template <class Case>
struct Rows {
  Digest<Case> of_case[read<Case>(nullptr)] = {};
  constexpr Rows() { read<Case>(of_case); }
};
template <class Case>
constexpr Rows<Case> rows{};

}  // namespace digest_table

template <class Case>
constexpr const auto& digests = digest_table::rows<Case>.of_case;

}  // namespace attend_test
