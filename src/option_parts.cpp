// Calls with options in parts of about the same work.
#include "attention/parts.h"
#include "attention/visibility.h"
#include "backends.h"

namespace attend {
namespace core {
namespace {

template <class Float>
void move_tensor(Tensor<Float>& tensor, ptrdiff_t token, ptrdiff_t head, Format format = Format::float32) {
  if (tensor.data != nullptr) tensor.data = moved(tensor.data, token * tensor.token_stride + head * tensor.head_stride, format);
}

void move_mask(Mask& mask, ptrdiff_t token, ptrdiff_t head) {
  mask.first += token * mask.token_stride + head * mask.head_stride;
}

// Makes a call one of fewer query heads and tokens. (No constructor: tests/support/stack.awk does not find its frame.)
void cut_down(Problem& problem, Options& options, int token, int tokens, int kv_head, int query_head) {
  move_tensor(problem.query, token, query_head, options.query_format);
  move_tensor(problem.output, token, query_head, options.output_format);
  move_tensor(problem.key, 0, kv_head, options.key_format);
  move_tensor(problem.value, 0, kv_head, options.value_format);
  const int64_t offset = int64_t(problem.offset) + token;
  problem.offset = offset > 0x7fffffff ? 0x7fffffff : int(offset);  // so far behind the keys, it only matters that it is
  problem.queries = tokens;
  move_mask(options.visible, token, query_head);
  move_mask(options.bias, token, query_head);
  move_tensor(options.lse, token, query_head);
  move_tensor(options.scores, token, query_head);
  move_tensor(options.states, token, query_head);
  if (options.slopes != nullptr) options.slopes += query_head;
  if (options.sinks != nullptr) options.sinks += query_head;
  if (options.relative != nullptr) options.relative += query_head * options.relative_head_stride;
  if (options.key_scales != nullptr) options.key_scales += kv_head * options.key_scale_stride;
  if (options.value_scales != nullptr) options.value_scales += kv_head * options.value_scale_stride;
}

}  // namespace

void run_part(const Problem& problem, const Options& options, int part, int parts) {
  const int group = problem.query_heads / problem.kv_heads;
  const auto run_piece = [&](int token, int tokens, int kv_head, int kv_heads, int query_head, int query_heads) {
    Problem piece = problem;
    Options its = options;
    cut_down(piece, its, token, tokens, kv_head, query_head);
    piece.kv_heads = kv_heads;
    piece.query_heads = query_heads;
    run(piece, its);
  };
  if (goes_by_query_heads(problem, parts)) {
    for_each_group_piece(problem, part, parts,
                         [&](int head, int in_group, int count) { run_piece(0, 1, head, 1, head * group + in_group, count); });
    return;
  }
  const auto token_work = [&](int token) {
    const Visibility visibility = visibility_of(problem, options, token);
    return token_overhead + (visibility.end - visibility.first) + visibility.pinned;
  };
  for_each_piece(problem, part, parts, token_work, [&](int head, int heads, int token, int end) {
    run_piece(token, end - token, head, heads, head * group, heads * group);
  });
}

}  // namespace core
}  // namespace attend
