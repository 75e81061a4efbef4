// Attention in integers from C, and rings: where tokens lie, and which are still held.
#include "integer.h"

// ---- Integer attention from C: filling in a problem, sizing it, running it whole or in parts.

namespace attend {
namespace c_surface {
namespace {

// Field by field, in their order.
constexpr attend_integer_problem integer_defaults = {
    sizeof(attend_integer_problem),
    0,
    ATTEND_BATCH_TOKEN_HEAD_DIM,
    ATTEND_INT8,
    ATTEND_DEFAULT_BATCH,
    0,
    0,
    0,
    0,
    unset,  // queries
    unset,
    ATTEND_DEFAULT_OFFSET,
    nullptr,
    no_input,  // query
    no_input,
    no_input,
    no_output,
    nullptr,
    nullptr,
    ATTEND_NO_LIMIT,
    ATTEND_NO_LIMIT,
    0,
    no_mask,
    {nullptr, dense_stride, dense_stride},  // key_scales
    {nullptr, dense_stride, dense_stride},
    {0, 0},
};

// The constants of each head, behind the core's work memory.
void take_head_constants(const attend_integer_constants* constants, IntegerCall& call) {
  char* const behind = static_cast<char*>(call.first.scratch) + call.scratch_bytes;
  auto* const scores = reinterpret_cast<core::ScoreScale*>(behind);
  auto* const outputs = reinterpret_cast<core::OutputScale*>(scores + call.first.query_heads);
  for (int head = 0; head < call.first.query_heads; ++head) {
    scores[head] = score_scale_of(constants[head]);
    outputs[head] = output_scale_of(constants[head]);
  }
  call.first.score_scales = scores;
  call.first.output_scales = outputs;
  call.first.score_scale_stride = call.first.output_scale_stride = 1;
}

// A batch row, with the keys that it has.
core::IntegerProblem problem_of_row(const IntegerCall& call, ptrdiff_t row) {
  core::IntegerProblem of_row = call.first;
  move(of_row.query.data, row * call.query_step);
  move(of_row.output.data, row * call.output_step);
  move(of_row.key.data, row * call.key_step);
  move(of_row.value.data, row * call.value_step);
  of_row.keys = int(call.keys_of_row(row));
  if (call.queries_last) of_row.offset = of_row.keys - of_row.queries;
  return of_row;
}

core::IntegerOptions options_of_row(const IntegerCall& call, ptrdiff_t row) {
  core::IntegerOptions of_row = call.options;
  of_row.visible.first += row * call.mask_step;
  move(of_row.key_scales, row * call.key_scale_step);
  move(of_row.value_scales, row * call.value_scale_step);
  return of_row;
}

void run(const IntegerCall& call, const Parts& parts) {
  each_row(call, parts, [&](ptrdiff_t row, int row_part, int row_parts) {
    const core::IntegerProblem of_row = problem_of_row(call, row);
    row_parts == 1 ? core::run(of_row) : core::run_part(of_row, row_part, row_parts);
  });
}

// Not inlined: calls without options need none of its stack.
__attribute__((noinline)) void run_options(const IntegerCall& call, const Parts& parts) {
  each_row(call, parts, [&](ptrdiff_t row, int row_part, int row_parts) {
    const core::IntegerProblem of_row = problem_of_row(call, row);
    const core::IntegerOptions options = options_of_row(call, row);
    row_parts == 1 ? core::run(of_row, options) : core::run_part(of_row, options, row_part, row_parts);
  });
}

}  // namespace
}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_integer_problem_init(attend_integer_problem* problem, size_t size) {
  Check check;
  check.new_struct(problem, alignof(attend_integer_problem), sizeof *problem, size, ATTEND_ARG_PROBLEM);
  if (check.failed()) return check.status();
  *problem = integer_defaults;
  problem->size = size;
  return ATTEND_OK;
}

attend_status attend_integer_check(const attend_integer_problem* problem) {
  Check check;
  IntegerCall call;
  check_integer(check, problem, call);
  return check.status();
}

size_t attend_integer_workspace_size(const attend_integer_problem* problem) {
  Check check;
  IntegerCall call;
  check_integer(check, problem, call);
  return check.failed() ? 0 : call.workspace_bytes;
}

attend_status attend_integer_attention_part(const attend_integer_problem* problem, ptrdiff_t part, ptrdiff_t parts,
                                            void* workspace, size_t workspace_size) {
  Check check;
  IntegerCall call;
  check_integer(check, problem, call);
  if (!check.failed()) check_parts(check, {part, parts}, problem->queries, problem->keys);
  if (!check.failed()) {
    const Range work = check_workspace(check, workspace, workspace_size, call.workspace_bytes);
    call.memory.write(check, work, ATTEND_ARG_WORKSPACE);
  }
  if (check.failed()) return check.status();
  call.first.scratch = workspace;
  core::ScoreScale score;
  core::OutputScale output;
  if (problem->head_constants != nullptr) {
    take_head_constants(problem->head_constants, call);
  } else {
    score = score_scale_of(*problem->constants);
    output = output_scale_of(*problem->constants);
    call.first.score_scales = &score;
    call.first.output_scales = &output;
  }
  call.plain ? run(call, {part, parts}) : run_options(call, {part, parts});
  return ATTEND_OK;
}

attend_status attend_integer_attention(const attend_integer_problem* problem, void* workspace, size_t workspace_size) {
  return attend_integer_attention_part(problem, 0, 1, workspace, workspace_size);
}

}  // extern "C"

// ---- Rings of integer attention from C: where tokens lie, and which are still held.

namespace attend {
namespace c_surface {
namespace {

// The layout of a ring, in chunks; no chunks where there is no ring, or one that is refused.
struct RingChunks {
  int ring;
  int sinks;
};

RingChunks ring_chunks(const attend_integer_ring& ring) {
  const auto chunks = [](ptrdiff_t tokens) { return int((tokens + integer_chunk - 1) / integer_chunk); };
  const bool right = ring.window_keys >= 1 && ring.window_keys <= ATTEND_MAX_TOKENS && ring.sink_tokens >= 0 &&
                     ring.sink_tokens <= ATTEND_MAX_TOKENS - ring.window_keys;
  // A window may begin within a chunk, and end in another.
  return right ? RingChunks{chunks(ring.window_keys - 1) + 1, chunks(ring.sink_tokens)} : RingChunks{0, 0};
}

}  // namespace

void check_ring(Check& check, const attend_integer_problem& problem, IntegerCall& call) {
  core::IntegerOptions& options = call.options;
  call.rows = problem.keys;
  if (problem.ring.window_keys == 0) return check.require(problem.ring.sink_tokens == 0, ATTEND_NO_EFFECT, ATTEND_ARG_RING);
  const RingChunks chunks = ring_chunks(problem.ring);
  check.require(chunks.ring > 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_RING);
  check.require(problem.key_lengths == nullptr, ATTEND_CONFLICT, ATTEND_ARG_KEY_LENGTHS);
  if (check.failed()) return;
  call.rows = ptrdiff_t(chunks.ring + chunks.sinks) * integer_chunk;
  options.ring_chunks = chunks.ring;
  options.sink_chunks = chunks.sinks;
  const int keys = int(problem.keys), newest = keys > 0 ? (keys - 1) / integer_chunk : 0;
  const int held = newest >= chunks.ring ? (newest - chunks.ring + 1) * integer_chunk : 0;  // from this key on
  const int seen = options.left < 0 ? 0 : call.first.offset - options.left;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  const bool sinks = problem.sink_tokens <= problem.ring.sink_tokens;
  check.require(nobody || held == 0 || (seen >= held && sinks), ATTEND_LOST, ATTEND_ARG_RING);
}

}  // namespace c_surface
}  // namespace attend

extern "C" {

ptrdiff_t attend_integer_ring_rows(const attend_integer_ring* ring) {
  if (ring == nullptr) return 0;
  const RingChunks chunks = ring_chunks(*ring);
  return ptrdiff_t(chunks.ring + chunks.sinks) * integer_chunk;
}

ptrdiff_t attend_integer_ring_row(const attend_integer_ring* ring, ptrdiff_t position) {
  const RingChunks chunks = ring == nullptr ? RingChunks{0, 0} : ring_chunks(*ring);
  if (chunks.ring == 0 || position < 0 || position >= ATTEND_MAX_TOKENS) return -1;
  const int chunk = int(position) / integer_chunk;
  return ptrdiff_t(chunks.sinks + chunk % chunks.ring) * integer_chunk + int(position) % integer_chunk;
}

}  // extern "C"
