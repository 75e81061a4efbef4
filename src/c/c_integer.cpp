// Attention in integers from C: what is refused, before anything is written; filling in a problem, sizing it, running it
// whole or in parts. Calls of floats share no object with it but c_memory.cpp, so that a program without those holds none of
// their code.
#include "checks.h"

#include "../../include/attend/c/integer.h"
#include "../call/portable.h"

namespace attend::c_surface {
namespace {

static_assert(ATTEND_INTEGER_MAX_KEYS == integer_keys, "the C header has how many keys a query may see");

// A call that was checked, but for parts and work memory. Of what is stored, a ring has as many rows as it needs.
struct IntegerCall : CheckedCall<core::IntegerProblem> {
  core::IntegerOptions options = {};
  // From one batch row to the next, in bytes; of masks in elements.
  ptrdiff_t key_scale_step = 0, value_scale_step = 0, mask_step = 0;
  size_t scratch_bytes;

  __attribute__((always_inline)) IntegerCall() {}  // as that of CheckedCall

  // Calls without options may have queries that are the last, too.
  core::IntegerProblem problem_of_row(ptrdiff_t row) const { return option_problem_of_row(row); }
  core::IntegerOptions options_of_row(ptrdiff_t row) const {
    core::IntegerOptions of_row = options;
    of_row.visible.first += row * mask_step;
    move(of_row.key_scales, row * key_scale_step);
    move(of_row.value_scales, row * value_scale_step);
    return of_row;
  }
};

bool is_zero_point(int32_t zero) { return zero >= -128 && zero <= 127; }

// Whether they may have come from attend_integer_prepare: shifts by other numbers would not be defined.
bool is_prepared(const attend_integer_constants& constants) {
  constexpr uint32_t last = 15u << 12;  // where core::score_scale lets weights end at the latest
  if (constants.score_factor >> 27 != 0) return false;
  const uint32_t end = constants.score_factor == 0 ? last : ((15u << 27) - 1) / constants.score_factor + 1;
  const auto within = [](int32_t number, int32_t low, int32_t high) { return number >= low && number <= high; };
  const bool score = within(constants.score_right, 0, 13) && within(constants.score_left, 0, 11) &&
                     (constants.score_right == 0 || constants.score_left == 0) &&
                     constants.score_end == (end < last ? end : last);
  const bool output = within(constants.output_factor, 1 << 14, (1 << 15) - 1) && within(constants.output_shift, -4, 25) &&
                      within(constants.output_zero_point, -32768, 32767);
  return score && output && is_zero_point(constants.query_zero_point) && is_zero_point(constants.key_zero_point) &&
         is_zero_point(constants.value_zero_point) && bits_to<uint32_t>(constants.output_scale) < 0x7f800000u;
}

void check_constants_of(Check& check, const attend_integer_problem& problem, const attend_integer_constants& constants,
                        attend_argument argument) {
  check.require(is_prepared(constants), ATTEND_CORRUPT, argument);
  const bool floats = problem.output_format == ATTEND_FLOAT32;
  check.require(!floats || constants.output_zero_point == 0, ATTEND_NO_EFFECT, ATTEND_ARG_OUTPUT_ZERO_POINT);
  const bool fits = problem.output_format != ATTEND_INT8 || is_zero_point(constants.output_zero_point);
  check.require(fits, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OUTPUT_ZERO_POINT);
  check.require(problem.key_scales.data == nullptr || constants.key_zero_point == 0, ATTEND_CONFLICT,
                ATTEND_ARG_KEY_ZERO_POINT);
  check.require(problem.value_scales.data == nullptr || constants.value_zero_point == 0, ATTEND_CONFLICT,
                ATTEND_ARG_VALUE_ZERO_POINT);
}

void check_constants(IntegerCall& call, const attend_integer_problem& problem) {
  const bool of_heads = problem.head_constants != nullptr;
  const attend_argument argument = of_heads ? ATTEND_ARG_HEAD_CONSTANTS : ATTEND_ARG_CONSTANTS;
  const attend_integer_constants* const constants = of_heads ? problem.head_constants : problem.constants;
  call.require(!of_heads || problem.constants == nullptr, ATTEND_CONFLICT, ATTEND_ARG_CONSTANTS);
  const ptrdiff_t count = of_heads ? problem.query_heads : 1, size = sizeof *constants;
  const Extent extent = {{1, 1, 1, count * size}, {0, 0, 0}, 0, true};
  call.require(aligned(constants, alignof(attend_integer_constants)), ATTEND_UNALIGNED, argument);
  call.read(constants, extent, 8, argument);
  if (call.failed()) return;
  for (ptrdiff_t head = 0; head < count; ++head) {
    check_constants_of(call, problem, constants[head], argument);
    call.require(constants[head].query_zero_point == constants[0].query_zero_point, ATTEND_MISMATCH,
                 ATTEND_ARG_QUERY_ZERO_POINT);
    const bool one_scale = bits_to<uint32_t>(constants[head].output_scale) == bits_to<uint32_t>(constants[0].output_scale);
    call.require(one_scale || problem.output_format != ATTEND_FLOAT32, ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE);
  }
  call.options.query_zero = int(constants[0].query_zero_point);
  call.options.float_scale = constants[0].output_scale;
}

void check_extents(IntegerCall& call, const attend_integer_problem& problem) {
  check_layout(call, problem);
  const int format = problem.output_format;
  const bool known = format == ATTEND_INT8 || format == ATTEND_INT16 || format == ATTEND_FLOAT32;
  call.require(known, ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT);
  const bool is_set = problem.batch != ATTEND_DEFAULT_BATCH;
  call.batch = check_batch(call, problem.batch, !is_set && has_rows(problem));
  call.within(problem.queries, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERIES);
  call.within(problem.keys, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_KEYS);
  check_widths(call, problem, call.first);
  if (call.failed()) return;
  call.first.keys = int(problem.keys);
  check_heads(call, problem, ATTEND_INTEGER_MAX_HEAD_DIM, call.first);
  if (problem.key_lengths != nullptr && !call.failed()) {
    check_key_lengths(call, problem.key_lengths, call.batch, problem.keys);
  }
  call.key_lengths = problem.key_lengths;
}

// The most keys that a query can see by position, where the first one has the position call.first.offset.
int64_t most_seen(const attend_integer_problem& problem, const IntegerCall& call) {
  const core::IntegerOptions& options = call.options;
  const int64_t keys = problem.keys, first = call.first.offset, end = first + problem.queries;
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const bool has_right = call.first.causal || options.right >= 0;
  const int64_t right = call.first.causal ? 0 : options.right;
  int64_t seen = has_right ? smaller(keys, end + right) : keys;
  if (options.left >= 0) {
    seen = smaller(seen, keys - first + options.left);
    if (has_right) seen = smaller(seen, int64_t(options.left) + 1 + right);
    seen = smaller(keys, (seen > 0 ? seen : 0) + options.sink_tokens);
  }
  return problem.queries > 0 ? seen : 0;
}

// The positions of queries, and the keys that they see by position.
void check_visibility(IntegerCall& call, const attend_integer_problem& problem) {
  check_windows(call, problem, call.options);
  call.first.causal = (problem.options & ATTEND_CAUSAL) != 0;
  call.queries_last = (problem.options & ATTEND_QUERIES_LAST) != 0;
  const bool matters = call.first.causal || call.options.left >= 0 || call.options.right >= 0;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  check_offset(call, problem, matters, problem.queries == problem.keys || nobody);
  if (call.failed()) return;
  const bool given = problem.offset != ATTEND_DEFAULT_OFFSET;
  call.first.offset = int(given ? problem.offset : call.queries_last ? problem.keys - problem.queries : 0);
  call.require(most_seen(problem, call) <= ATTEND_INTEGER_MAX_KEYS, ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
}

// Over a ring: it must still hold what queries see by position.
void check_ring(IntegerCall& call, const attend_integer_problem& problem) {
  core::IntegerOptions& options = call.options;
  call.stored = problem.keys;
  if (problem.ring.window_keys == 0) return call.require(problem.ring.sink_tokens == 0, ATTEND_NO_EFFECT, ATTEND_ARG_RING);
  const RingChunks chunks = ring_chunks(problem.ring);
  call.require(chunks.ring > 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_RING);
  call.require(problem.key_lengths == nullptr, ATTEND_CONFLICT, ATTEND_ARG_KEY_LENGTHS);
  if (call.failed()) return;
  call.stored = chunks.rows();
  options.ring_chunks = chunks.ring;
  options.sink_chunks = chunks.sinks;
  const int keys = int(problem.keys), newest = keys > 0 ? (keys - 1) / integer_chunk : 0;
  const int held = newest >= chunks.ring ? (newest - chunks.ring + 1) * integer_chunk : 0;  // from this key on
  const int seen = options.left < 0 ? 0 : call.first.offset - options.left;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  const bool sinks = problem.sink_tokens <= problem.ring.sink_tokens;
  call.require(nobody || held == 0 || (seen >= held && sinks), ATTEND_LOST, ATTEND_ARG_RING);
}

inline ptrdiff_t check_scales(const Tensors& tensors, const attend_integer_token_scales& scales, const IntegerCall& call,
                              attend_argument argument, const uint16_t*& data, ptrdiff_t& head_stride) {
  if (is_default_scales(scales)) return 0;
  tensors.check.require(scales.data != nullptr, ATTEND_NO_EFFECT, argument);
  return tensors.read_scales(scales, {call.batch, 1, call.first.kv_heads, call.stored}, argument, data, head_stride);
}

void check_tensors(IntegerCall& call, const attend_integer_problem& problem) {
  core::IntegerProblem& first = call.first;
  core::IntegerOptions& options = call.options;
  const ptrdiff_t batch = call.batch, queries = problem.queries, heads = problem.query_heads, kv_heads = problem.kv_heads;
  const Tensors tensors = {call, axes_of(problem)};
  call.query_step = tensors.read(problem.query, {batch, queries, heads, problem.head_dim}, 8, ATTEND_ARG_QUERY, first.query);
  call.key_step = tensors.read(problem.key, {batch, call.stored, kv_heads, problem.head_dim}, 8, ATTEND_ARG_KEY, first.key);
  call.value_step =
      tensors.read(problem.value, {batch, call.stored, kv_heads, problem.value_dim}, 8, ATTEND_ARG_VALUE, first.value);
  call.mask_step = check_mask(call, problem.mask, {batch, queries, heads, problem.keys}, options);
  call.key_scale_step =
      check_scales(tensors, problem.key_scales, call, ATTEND_ARG_KEY_SCALES, options.key_scales, options.key_scale_stride);
  call.value_scale_step = check_scales(tensors, problem.value_scales, call, ATTEND_ARG_VALUE_SCALES, options.value_scales,
                                       options.value_scale_stride);
  const int bits = problem.output_format == ATTEND_INT8 ? 8 : problem.output_format == ATTEND_INT16 ? 16 : 32;
  call.output_step =
      tensors.write(problem.output, {batch, queries, heads, problem.value_dim}, bits, ATTEND_ARG_OUTPUT, first.output);
}

// Blocks, and work memory: what the core needs, then the constants of each head.
void plan(const attend_integer_problem& problem, IntegerCall& call) {
  core::IntegerProblem& first = call.first;
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const int rows = core::rows_per_kv_head(first.query_heads, first.kv_heads, first.queries > 0 ? first.queries : 1);
  const int chunks = first.keys > 0 ? (first.keys - 1) / integer_chunk + 1 : 1;
  first.row_block = smaller(rows, config::integer_row_block);
  first.key_block = smaller(chunks, config::integer_key_block / integer_chunk) * integer_chunk;
  const size_t needed =
      core::integer_scratch_bytes(first.row_block, first.key_block, first.head_dim, first.value_dim, first.keys);
  call.scratch_bytes = (needed + 15) / 16 * 16;
  const size_t of_heads = problem.head_constants != nullptr ? size_t(first.query_heads) : 0;
  call.workspace_bytes = call.scratch_bytes + of_heads * (sizeof(core::ScoreScale) + sizeof(core::OutputScale));
}

void check_integer(IntegerCall& call, const attend_integer_problem* given) {
  call.read(call.whole_struct(given, ATTEND_ARG_PROBLEM));
  if (call.failed()) return;
  const attend_integer_problem& problem = *given;
  check_extents(call, problem);
  if (!call.failed()) check_visibility(call, problem);
  if (!call.failed()) check_ring(call, problem);
  if (call.failed()) return;
  core::IntegerOptions& options = call.options;
  options.output_format = problem.output_format == ATTEND_INT16     ? core::IntegerFormat::int16
                          : problem.output_format == ATTEND_FLOAT32 ? core::IntegerFormat::float32
                                                                    : core::IntegerFormat::int8;
  check_constants(call, problem);
  check_tensors(call, problem);
  if (call.failed()) return;
  plan(problem, call);
  call.plain = options.left < 0 && options.right < 0 && options.visible.data == nullptr && options.query_zero == 0 &&
               options.key_scales == nullptr && options.value_scales == nullptr && options.ring_chunks == 0 &&
               problem.output_format == ATTEND_INT8;
}

// Constants as the core has them, those of each head behind its work memory.
void take_constants(const attend_integer_problem& problem, core::ScoreScale* score, core::OutputScale* output,
                    IntegerCall& call) {
  const bool of_heads = problem.head_constants != nullptr;
  const attend_integer_constants* const constants = of_heads ? problem.head_constants : problem.constants;
  const int count = of_heads ? call.first.query_heads : 1;
  if (of_heads) {
    score = reinterpret_cast<core::ScoreScale*>(static_cast<char*>(call.first.scratch) + call.scratch_bytes);
    output = reinterpret_cast<core::OutputScale*>(score + count);
  }
  for (int head = 0; head < count; ++head) {
    const attend_integer_constants& from = constants[head];
    score[head] = {from.score_factor, from.score_right, from.score_left, from.score_end};
    output[head] = {from.output_factor, from.output_shift, from.value_zero_point, from.output_zero_point};
  }
  call.first.score_scales = score;
  call.first.output_scales = output;
  call.first.score_scale_stride = call.first.output_scale_stride = of_heads ? 1 : 0;
}

// Not inlined: calls without options need none of its stack.
__attribute__((noinline)) void run_integer_options(const IntegerCall& call, const Parts& cut) {
  each_row(call, cut, [&](ptrdiff_t row, int part, int parts) {
    run_row(call.problem_of_row(row), call.options_of_row(row), {part, parts});
  });
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_integer_problem_init(attend_integer_problem* problem, size_t size) {
  const attend_status status = new_struct(problem, size, ATTEND_ARG_PROBLEM);
  if (status != ATTEND_OK) return status;
  problem->output_format = ATTEND_INT8;
  problem->batch = ATTEND_DEFAULT_BATCH;
  problem->queries = problem->keys = unset;
  problem->offset = ATTEND_DEFAULT_OFFSET;
  problem->query = problem->key = problem->value = no_input;
  problem->output = no_output;
  problem->window_left = problem->window_right = ATTEND_NO_LIMIT;
  problem->mask = no_mask;
  problem->key_scales = problem->value_scales = {nullptr, dense_stride, dense_stride};
  return ATTEND_OK;
}

attend_status attend_integer_check(const attend_integer_problem* problem) {
  IntegerCall call;
  check_integer(call, problem);
  return call.status();
}

size_t attend_integer_workspace_size(const attend_integer_problem* problem) {
  IntegerCall call;
  check_integer(call, problem);
  return call.failed() ? 0 : call.workspace_bytes;
}

attend_status attend_integer_attention_part(const attend_integer_problem* problem, ptrdiff_t part, ptrdiff_t parts,
                                            void* workspace, size_t workspace_size) {
  IntegerCall call;
  check_integer(call, problem);
  check_run(call, {part, parts}, workspace, workspace_size);
  if (call.failed()) return call.status();
  call.first.scratch = workspace;
  core::ScoreScale score;
  core::OutputScale output;
  take_constants(*problem, &score, &output, call);
  call.plain ? run_plain(call, {part, parts}) : run_integer_options(call, {part, parts});
  return ATTEND_OK;
}

attend_status attend_integer_attention(const attend_integer_problem* problem, void* workspace, size_t workspace_size) {
  return attend_integer_attention_part(problem, 0, 1, workspace, workspace_size);
}

}  // extern "C"
