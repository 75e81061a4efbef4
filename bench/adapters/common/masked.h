// Attention under masks, with the same bits wherever a sequence lies in its padding.
#pragma once

#include <cstdint>
#include <vector>

#include "attention.h"

namespace attend_adapter {

// The keys that some queries see: first ... end - 1 and none outside. None at all: first == end.
struct KeySpan {
  std::ptrdiff_t first, end;
  bool empty() const { return first >= end; }
};

// The span of the keys that one row of mask and bias lets through; either may be null. A bias masks from -2.36e38 downwards,
// where the library's weights are 0.
inline KeySpan visible_span(const std::uint8_t* mask, const float* bias, std::ptrdiff_t keys) {
  const auto visible = [&](std::ptrdiff_t j) {
    return (mask == nullptr || mask[j] != 0) && (bias == nullptr || !(bias[j] <= -2.36e38f));
  };
  KeySpan span{0, keys};
  while (!span.empty() && !visible(span.first)) ++span.first;
  while (!span.empty() && !visible(span.end - 1)) --span.end;
  return span;
}

// The spans of all queries of a batch row, those of all heads together.
inline void visible_spans(const attend_problem& problem, std::ptrdiff_t row, KeySpan* spans) {
  const attend_mask& mask = problem.mask;
  const attend_bias& bias = problem.bias;
  const bool shared = (mask.data == nullptr || mask.head_stride == 0) && (bias.data == nullptr || bias.head_stride == 0);
  const std::ptrdiff_t heads = shared ? 1 : problem.query_heads;
  for (std::ptrdiff_t i = 0; i < problem.queries; ++i) {
    spans[i] = {problem.keys, 0};
    for (std::ptrdiff_t h = 0; h < heads; ++h) {
      const std::uint8_t* const bytes = mask.data == nullptr
                                            ? nullptr
                                            : static_cast<const std::uint8_t*>(mask.data) + row * mask.batch_stride +
                                                  h * mask.head_stride + i * mask.query_stride;
      const float* const floats =
          bias.data == nullptr ? nullptr : bias.data + row * bias.batch_stride + h * bias.head_stride + i * bias.query_stride;
      const KeySpan of_head = visible_span(bytes, floats, problem.keys);
      if (of_head.empty()) continue;
      if (of_head.first < spans[i].first) spans[i].first = of_head.first;
      if (of_head.end > spans[i].end) spans[i].end = of_head.end;
    }
  }
}

inline std::ptrdiff_t bytes_of_format(int format) {
  return format == ATTEND_INT8 ? 1 : format == ATTEND_FLOAT16 || format == ATTEND_BFLOAT16 ? 2 : 4;
}

// Some batch rows and queries of a problem, over the keys of a span alone, which becomes position 0 and the following ones.
inline attend_problem narrowed(const attend_problem& problem, std::ptrdiff_t row, std::ptrdiff_t rows, std::ptrdiff_t query,
                               std::ptrdiff_t queries, const KeySpan& span) {
  attend_problem part = problem;
  const auto move = [](auto& tensor, int format, std::ptrdiff_t numbers) {
    if (tensor.data != nullptr) tensor.data = (char*)(tensor.data) + numbers * bytes_of_format(format);
  };
  part.batch = rows;
  part.queries = queries;
  part.keys = span.empty() ? 0 : span.end - span.first;
  move(part.query, problem.query_format, row * problem.query.batch_stride + query * problem.query.token_stride);
  move(part.output, problem.output_format, row * problem.output.batch_stride + query * problem.output.token_stride);
  move(part.key, problem.key_format, row * problem.key.batch_stride + span.first * problem.key.token_stride);
  move(part.value, problem.value_format, row * problem.value.batch_stride + span.first * problem.value.token_stride);
  move(part.lse, ATTEND_FLOAT32, row * problem.lse.batch_stride + query * problem.lse.token_stride);
  move(part.mask, ATTEND_INT8, row * problem.mask.batch_stride + query * problem.mask.query_stride + span.first);
  if (part.mask.data != nullptr) part.mask.keys = part.keys;
  if (part.bias.data != nullptr) {
    part.bias.data += row * problem.bias.batch_stride + query * problem.bias.query_stride + span.first;
    part.bias.keys = part.keys;
  }
  if (part.scores.data != nullptr) {
    part.scores.data += row * problem.scores.batch_stride + query * problem.scores.query_stride + span.first;
    part.scores.keys = part.keys;
  }
  move(part.key_scales, ATTEND_FLOAT32, row * problem.key_scales.batch_stride + span.first);
  move(part.value_scales, ATTEND_FLOAT32, row * problem.value_scales.batch_stride + span.first);
  if (part.offset != ATTEND_DEFAULT_OFFSET) part.offset += query - span.first;
  return part;
}

// A problem over arrays whose keys a mask of bytes or a bias leaves out. Sums follow the positions of keys, which padding on
// the left moves: so the first key that a query sees is its position 0, and padding on either side, the batch and the way in
// which a text was cut into calls change no bit. Queries with the same first key are computed together; those of a window that
// a mask says, one by one. Strides of the problem are set, all of them, and so are the offset, where positions matter, and the
// masks' columns: as many as keys; there are no key lengths, pages, ranges or documents. Columns of scores outside of the spans
// are left as they are.
inline attend_status run_masked_attention(const attend_problem& problem, const Parallel& parallel, Memory& memory) {
  const bool masked = problem.mask.data != nullptr || problem.bias.data != nullptr;
  const attend_status refused = masked ? attend_check(&problem) : ATTEND_OK;
  if (!masked || refused != ATTEND_OK || problem.batch == 0 || problem.queries == 0)
    return run_attention(problem, parallel, memory);
  const std::ptrdiff_t queries = problem.queries;
  const bool shared = (problem.mask.data == nullptr || problem.mask.batch_stride == 0) &&
                      (problem.bias.data == nullptr || problem.bias.batch_stride == 0);
  const std::ptrdiff_t rows = shared ? 1 : problem.batch;
  std::vector<KeySpan> spans(std::size_t(rows * queries));
  for (std::ptrdiff_t row = 0; row < rows; ++row) visible_spans(problem, row, &spans[std::size_t(row * queries)]);

  const auto same_firsts = [&](std::ptrdiff_t a, std::ptrdiff_t b) {
    for (std::ptrdiff_t i = 0; i < queries; ++i) {
      const KeySpan &x = spans[std::size_t(a * queries + i)], &y = spans[std::size_t(b * queries + i)];
      if (x.empty() != y.empty() || (!x.empty() && x.first != y.first)) return false;
    }
    return true;
  };
  for (std::ptrdiff_t row = 0, next; row < rows; row = next) {
    for (next = row + 1; next < rows && same_firsts(row, next);) ++next;
    for (std::ptrdiff_t query = 0, after; query < queries; query = after) {
      KeySpan run = spans[std::size_t(row * queries + query)];
      for (after = query; after < queries; ++after) {
        const KeySpan& own = spans[std::size_t(row * queries + after)];
        if (!own.empty() && !run.empty() && own.first != run.first) break;
        if (run.empty()) run = own;  // what sees nothing goes with its neighbours
        for (std::ptrdiff_t r = row; r < next; ++r) {
          const KeySpan& of_row = spans[std::size_t(r * queries + after)];
          if (!of_row.empty() && of_row.end > run.end) run.end = of_row.end;
        }
      }
      if (run.empty()) run = {0, 0};
      const attend_problem part = narrowed(problem, row, shared ? problem.batch : next - row, query, after - query, run);
      const attend_status status = run_attention(part, parallel, memory);
      if (status != ATTEND_OK) return status;
    }
  }
  return ATTEND_OK;
}

}  // namespace attend_adapter
