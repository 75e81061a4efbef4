// Attention under masks, with the same bits wherever a sequence lies in its padding. The rule, for all adapters:
//
// Sums follow the positions of keys, so keys in front of the first one that a query's mask or bias shows are left out, and that
// one is the query's position 0: padding on either side, the batch, and the way in which a text was cut into calls change no
// bit. A sliding window that a mask says thus begins at position 0 for every query, as in a call for that token alone, where a
// window that is an argument keeps the positions from the row's first key on: each has its own bits, which differ in the last
// digits.
#pragma once

#include <initializer_list>
#include <limits>

#include "attention.h"
#include "visible.h"

namespace attend_adapter {

// Some batch rows and queries of a problem over its keys from `first` on, so many, which become position 0 and the next ones.
struct Share {
  std::ptrdiff_t row, rows, query, queries, first, keys;
};

inline attend_problem share_of(const attend_problem& problem, const Share& share) {
  attend_problem part = problem;
  const bool integers = problem.constants != nullptr || problem.head_constants != nullptr;
  const auto move = [&](auto& tensor, int format, std::ptrdiff_t numbers) {
    const bool one = format == ATTEND_INT8 || (integers && format == ATTEND_DEFAULT_FORMAT);
    const bool two = format == ATTEND_FLOAT16 || format == ATTEND_BFLOAT16 || format == ATTEND_INT16;
    const std::ptrdiff_t bytes = one ? 1 : two ? 2 : 4;
    tensor.data = (decltype(tensor.data))((char*)tensor.data + numbers * bytes);
  };
  // (What is not there has strides that were never set.)
  const auto move_queries = [&](auto& tensor, int format) {
    if (tensor.data == nullptr) return;
    move(tensor, format, share.row * tensor.batch_stride + share.query * tensor.token_stride);
  };
  const auto move_keys = [&](auto& tensor, int format) {
    if (tensor.data == nullptr) return;
    move(tensor, format, share.row * tensor.batch_stride + share.first * tensor.token_stride);
  };
  const auto move_columns = [&](auto& matrix, int format) {
    if (matrix.data == nullptr) return;
    move(matrix, format, share.row * matrix.batch_stride + share.query * matrix.query_stride + share.first);
    matrix.keys = matrix.keys < share.first ? 0 : matrix.keys - share.first;
  };
  part.batch = share.rows;
  part.queries = share.queries;
  part.keys = share.keys;
  part.key_lengths = nullptr;
  move_queries(part.query, problem.query_format);
  move_queries(part.output, problem.output_format);
  move_queries(part.lse, ATTEND_FLOAT32);
  move_keys(part.key, problem.key_format);
  move_keys(part.value, problem.value_format);
  move_columns(part.mask, ATTEND_INT8);
  move_columns(part.bias, ATTEND_FLOAT32);
  move_columns(part.scores, ATTEND_FLOAT32);
  for (attend_scales* scales : {&part.key_scales, &part.value_scales}) {
    if (scales->data != nullptr)
      move(*scales, integers ? ATTEND_INT16 : ATTEND_FLOAT32, share.row * scales->batch_stride + share.first);
  }
  if (part.offset != ATTEND_DEFAULT_OFFSET) part.offset += share.query - share.first;
  return part;
}

// The shares of a problem, and what computes some of them at a time.
class MaskedAttention {
 public:
  MaskedAttention(const attend_problem& problem, const Parallel& parallel, Memory& memory)
      : problem_(problem), visible_(problem), parallel_(parallel), memory_(memory) {
    rows_ = visible_.shared_by_rows() && problem.key_lengths == nullptr ? 1 : problem.batch;
    queries_ = visible_.shared_by_queries() ? 1 : problem.queries;
  }

  attend_status run() {
    const std::size_t count = std::size_t(rows_) * std::size_t(queries_);
    firsts_ = of_firsts_.numbers<FirstKey>(count);
    lengths_ = of_lengths_.numbers<std::ptrdiff_t>(count);
    if (firsts_ == nullptr || lengths_ == nullptr) return attend_run(&problem_, nullptr, 0);  // too little memory
    for (std::ptrdiff_t i = 0; i < rows_ * queries_; ++i) firsts_[i] = visible_.first(i / queries_, i % queries_);
    for (std::ptrdiff_t row = 0, next; row < rows_; row = next) {
      for (next = row + 1; next < rows_ && are_alike(row, next);) ++next;
      for (std::ptrdiff_t query = 0; query < queries_;) {
        const std::ptrdiff_t moving = count_moving(row, next, query);
        query += moving > 1 ? add_moving(row, next, query, moving) : add_alike(row, next, query);
      }
    }
    compute();
    return status_;
  }

 private:
  static constexpr int most = 32;  // shares that are computed at a time

  FirstKey& first(std::ptrdiff_t row, std::ptrdiff_t query) const { return firsts_[row * queries_ + query]; }
  bool sees_nothing(std::ptrdiff_t row, std::ptrdiff_t query) const { return first(row, query).key == problem_.keys; }
  bool at_the_end() const { return (problem_.options & ATTEND_QUERIES_LAST) != 0; }

  // Whether two rows begin with the same keys everywhere, and have the same positions.
  bool are_alike(std::ptrdiff_t a, std::ptrdiff_t b) const {
    if (at_the_end() && visible_.keys(a) != visible_.keys(b)) return false;
    for (std::ptrdiff_t i = 0; i < queries_; ++i) {
      if (!(first(a, i) == first(b, i))) return false;
    }
    return true;
  }

  std::ptrdiff_t count_keys(std::ptrdiff_t row, std::ptrdiff_t query) const {
    const FirstKey& from = first(row, query);
    return visible_.end(row, query, from, from.key) - from.key;
  }

  // How many queries of these rows from one on see as many keys as each other, each from one key later on: a window that a mask
  // says.
  std::ptrdiff_t count_moving(std::ptrdiff_t row, std::ptrdiff_t next, std::ptrdiff_t query) const {
    const auto moves = [&](std::ptrdiff_t i) {
      return i < queries_ && !sees_nothing(row, i) && first(row, i).key == first(row, i - 1).key + 1;
    };
    if (problem_.scores.data != nullptr || sees_nothing(row, query) || !moves(query + 1)) return 1;
    const std::ptrdiff_t keys = count_keys(row, query);
    for (std::ptrdiff_t i = query;; ++i) {
      if (i > query && !moves(i)) return i - query;
      for (std::ptrdiff_t r = row; r < next; ++r) {
        if (count_keys(r, i) != keys) return i - query;
      }
    }
  }

  // These queries as the batch rows of one problem of a query each, whose keys overlap; for each batch row that has this mask.
  std::ptrdiff_t add_moving(std::ptrdiff_t row, std::ptrdiff_t next, std::ptrdiff_t query, std::ptrdiff_t count) {
    const std::ptrdiff_t keys = count_keys(row, query);
    for (std::ptrdiff_t of = row; of < (rows_ == 1 ? problem_.batch : next); ++of) {
      attend_problem part = share(row, {of, count, query, 1, first(row, query).key, keys});
      part.query.batch_stride = part.query.token_stride;
      part.output.batch_stride = part.output.token_stride;
      part.lse.batch_stride = part.lse.token_stride;
      part.key.batch_stride = part.key.token_stride;
      part.value.batch_stride = part.value.token_stride;
      const auto move_on = [&](auto& matrix) {
        if (matrix.data == nullptr) return;
        matrix.batch_stride = matrix.query_stride + 1;
        matrix.keys = keys;
      };
      move_on(part.mask);
      move_on(part.bias);
      if (part.key_scales.data != nullptr) part.key_scales.batch_stride = 1;
      if (part.value_scales.data != nullptr) part.value_scales.batch_stride = 1;
      add(part);
    }
    return count;
  }

  // Queries of these rows that begin with the same key; those that see nothing go with their neighbours.
  std::ptrdiff_t add_alike(std::ptrdiff_t row, std::ptrdiff_t next, std::ptrdiff_t query) {
    std::ptrdiff_t after = query, begin = 0, most_end = 0;
    const FirstKey* common = nullptr;
    for (; after < queries_; ++after) {
      if (sees_nothing(row, after)) continue;
      if (common != nullptr && !(first(row, after) == *common)) break;
      common = &first(row, after);
      begin = common->key;
    }
    std::ptrdiff_t* const lengths = lengths_ + row * queries_ + query * (next - row);
    bool same = true;
    for (std::ptrdiff_t r = row; r < next; ++r) {
      std::ptrdiff_t end = begin;  // the last queries see most, as a rule
      for (std::ptrdiff_t i = after; i-- > query;) {
        if (!sees_nothing(r, i)) end = visible_.end(r, i, first(r, i), end);
      }
      lengths[r - row] = end - begin;
      same = same && lengths[r - row] == lengths[0];
      most_end = end > most_end ? end : most_end;
    }
    const std::ptrdiff_t rows = rows_ == 1 ? problem_.batch : next - row;
    const Share all = {row, rows, query, queries_ == 1 ? problem_.queries : after - query, begin, most_end - begin};
    attend_problem part = share(row, all);
    if (!same) part.key_lengths = lengths;
    if (part.scores.data != nullptr) fill_scores(all);
    add(part);
    return after - query;
  }

  // row: one of those that the share's masks are of.
  attend_problem share(std::ptrdiff_t row, const Share& share) const {
    attend_problem of_row = problem_;
    if (at_the_end()) {
      of_row.options &= ~ATTEND_QUERIES_LAST;
      of_row.offset = visible_.keys(row) - problem_.queries;
    }
    return share_of(of_row, share);
  }

  // The scores of keys in front of a share, which are masked.
  void fill_scores(const Share& share) const {
    const attend_scores& scores = problem_.scores;
    const float masked = scores.stage == ATTEND_SCORES_WEIGHTS ? 0.0f : -std::numeric_limits<float>::infinity();
    for (std::ptrdiff_t row = share.row; row < share.row + share.rows; ++row) {
      for (std::ptrdiff_t head = 0; head < problem_.query_heads; ++head) {
        for (std::ptrdiff_t i = share.query; i < share.query + share.queries; ++i) {
          float* const to = scores.data + row * scores.batch_stride + head * scores.head_stride + i * scores.query_stride;
          for (std::ptrdiff_t key = 0; key < share.first; ++key) to[key] = masked;
        }
      }
    }
  }

  void add(const attend_problem& part) {
    if (count_ == most) compute();
    parts_[count_++] = part;
  }
  void compute() {
    const attend_status status = status_ == ATTEND_OK ? run_attention(parts_, count_, parallel_, memory_) : status_;
    count_ = 0;
    status_ = status;
  }

  const attend_problem& problem_;
  const VisibleKeys visible_;
  const Parallel& parallel_;
  Memory& memory_;
  Memory of_firsts_, of_lengths_;
  std::ptrdiff_t rows_, queries_;  // that have masks of their own
  FirstKey* firsts_ = nullptr;
  std::ptrdiff_t* lengths_ = nullptr;  // of the rows of each share
  attend_problem parts_[most];
  int count_ = 0;
  attend_status status_ = ATTEND_OK;
};

// A problem over arrays, which may have a mask of bytes, a bias, and key lengths. All strides are set, and the offset, where
// positions matter, or ATTEND_QUERIES_LAST; of masks, biases and scores so are the columns. No pages, ranges, documents, states
// or origin, and beside a mask or bias no scores that are raw or capped. A query that sees no key has zeros. Queries that begin
// with the same key are one call of the library, as all are under a causal mask; so are those of a window that moves on by one
// key from query to query, which take about as long as one by one.
inline attend_status run_masked_attention(const attend_problem& problem, const Parallel& parallel, Memory& memory) {
  const bool masked = problem.mask.data != nullptr || problem.bias.data != nullptr;
  const attend_status refused = masked ? attend_check(&problem) : ATTEND_OK;
  if (!masked || refused != ATTEND_OK || problem.batch == 0 || problem.queries == 0)
    return run_attention(problem, parallel, memory);
  return MaskedAttention(problem, parallel, memory).run();
}

}  // namespace attend_adapter
