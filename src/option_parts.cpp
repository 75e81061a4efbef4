// Calls with options in parts of about the same work.
#include "attention/parts.h"
#include "attention/row_state.h"
#include "attention/visibility.h"
#include "backends.h"

namespace attend {
namespace core {
namespace {

template <class Float>
void move_tensor(Tensor<Float>& tensor, const Piece& piece) {
  if (tensor.data != nullptr) tensor.data += piece.token * tensor.token_stride + piece.query_head * tensor.head_stride;
}

void move_mask(Mask& mask, const Piece& piece) {
  mask.first += piece.token * mask.token_stride + piece.query_head * mask.head_stride;
}

// Makes the options those of a piece. All fields by name: one that core::Options gets does not compile here until somebody has
// said what a piece has of it.
void take_piece_of_options(Options& options, const Piece& piece) {
  [[maybe_unused]] auto& [left, right, sink_tokens, visible, visible_bits, bias, alibi_slopes, relative, relative_head_stride,
                          relative_left, relative_right, soft_cap, sink_logits, lse, scores, score_keys, score_stage,
                          query_format, key_format, value_format, output_format, key_scales, value_scales, key_scale_stride,
                          value_scale_stride, paging, origin, states, first_key, begins] = options;
  move_mask(visible, piece);
  move_mask(bias, piece);
  move_tensor(lse, piece);
  move_tensor(scores, piece);
  move_tensor(states, piece);
  if (alibi_slopes != nullptr) alibi_slopes += piece.query_head;
  if (sink_logits != nullptr) sink_logits += piece.query_head;
  if (relative != nullptr) relative += piece.query_head * relative_head_stride;
  if (key_scales != nullptr) key_scales += piece.kv_head * key_scale_stride;
  if (value_scales != nullptr) value_scales += piece.kv_head * value_scale_stride;
}

template <class Call>
void each_piece(const Problem& problem, const Options& options, int part, int parts, Call call) {
  const auto token_work = [&](int token) {
    const Visibility visibility = visibility_of(problem, options, token);
    return token_overhead + (visibility.end - visibility.first) + visibility.sink_tokens;
  };
  for_each_piece(problem, part, parts, token_work, call);
}

// Calls with the state of each row of a part.
template <class Call>
void each_state(const Problem& problem, const Options& options, int part, int parts, Call call) {
  each_piece(problem, options, part, parts, [&](const Piece& piece) {
    for (int token = piece.token; token < piece.token + piece.tokens; ++token) {
      for (int head = 0; head < piece.query_heads; ++head) call(element(options.states, token, piece.query_head + head));
    }
  });
}

}  // namespace

void stand(const Problem& problem, const Options& options, int part, int parts, int key) {
  each_state(problem, options, part, parts,
             [&](float* state) { __builtin_memcpy(&RowState(state, problem.value_dim).spare(), &key, sizeof key); });
}

bool all_stand(const Problem& problem, const Options& options, int part, int parts, int key) {
  bool all = true;
  each_state(problem, options, part, parts, [&](const float* state) { all = all && standing(state) == key; });
  return all;
}

int standing(const float* state) {
  int key;
  __builtin_memcpy(&key, &RowState(const_cast<float*>(state), 0).spare(), sizeof key);  // only read
  return key;
}

void run_part(const Problem& problem, const Options& options, int part, int parts) {
  const Formats formats = {options.query_format, options.output_format, options.key_format, options.value_format};
  each_piece(problem, options, part, parts, [&](const Piece& piece) {
    Problem of_piece = problem;
    Options its = options;
    take_piece(of_piece, piece, formats);
    take_piece_of_options(its, piece);
    run(of_piece, its);
  });
}

}  // namespace core
}  // namespace attend
