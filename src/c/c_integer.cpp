// Problems of the C surface in integers: their constants, work memory, runs and states. Calls of floats share no object with it
// that holds code of either, so that a program without those holds none of them.
#include "surface.h"

#include "../../include/attend/c/integer.h"
#include "../call/portable.h"

namespace attend::c_surface::integers {  // in one source with c_floats.cpp, names are apart
namespace {

static_assert(ATTEND_INTEGER_MAX_KEYS == integer_keys && ATTEND_INTEGER_CHUNK == integer_chunk,
              "the C header has the core's limits");

int call_format(const attend_problem& problem) {
  return problem.output_format == ATTEND_DEFAULT_FORMAT ? ATTEND_INT8 : problem.output_format;
}

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

void check_constants_of(Check& check, const attend_problem& problem, const attend_integer_constants& constants) {
  check.require(is_prepared(constants), ATTEND_CORRUPT, ATTEND_ARG_CONSTANTS);
  const bool floats = problem.output_format == ATTEND_FLOAT32;
  check.require(!floats || constants.output_zero_point == 0, ATTEND_NO_EFFECT, ATTEND_ARG_OUTPUT_ZERO_POINT);
  const bool fits = call_format(problem) != ATTEND_INT8 || is_zero_point(constants.output_zero_point);
  check.require(fits, ATTEND_OUT_OF_RANGE, ATTEND_ARG_OUTPUT_ZERO_POINT);
  check.require(problem.key_scales.data == nullptr || constants.key_zero_point == 0, ATTEND_CONFLICT,
                ATTEND_ARG_KEY_ZERO_POINT);
  check.require(problem.value_scales.data == nullptr || constants.value_zero_point == 0, ATTEND_CONFLICT,
                ATTEND_ARG_VALUE_ZERO_POINT);
}

void check_constants(Call& call, const attend_problem& problem) {
  const bool per_head = problem.head_constants != nullptr;
  const attend_integer_constants* const constants = per_head ? problem.head_constants : problem.constants;
  call.require(!per_head || problem.constants == nullptr, ATTEND_CONFLICT, ATTEND_ARG_CONSTANTS);
  const ptrdiff_t count = per_head ? problem.query_heads : 1, size = sizeof *constants;
  const Extent extent = {{1, 1, 1, count * size}, {0, 0, 0}, 0, true};
  call.require(aligned(constants, alignof(attend_integer_constants)), ATTEND_UNALIGNED, ATTEND_ARG_CONSTANTS);
  call.read(constants, extent, 8, ATTEND_ARG_CONSTANTS);
  if (call.failed()) return;
  for (ptrdiff_t head = 0; head < count; ++head) {
    check_constants_of(call, problem, constants[head]);
    call.require(constants[head].query_zero_point == constants[0].query_zero_point, ATTEND_MISMATCH,
                 ATTEND_ARG_QUERY_ZERO_POINT);
    const bool one_scale = bits_to<uint32_t>(constants[head].output_scale) == bits_to<uint32_t>(constants[0].output_scale);
    call.require(one_scale || problem.output_format != ATTEND_FLOAT32, ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE);
  }
  call.first.scale_stride = per_head ? 1 : 0;
  call.query_zero = int(constants[0].query_zero_point);
  call.float_scale = constants[0].output_scale;
}

// Formats and constants.
void check_formats(Call& call, const attend_problem& problem) {
  const auto bytes = [&](int format, attend_argument argument) {
    call.require(format == ATTEND_DEFAULT_FORMAT || format == ATTEND_INT8, ATTEND_UNKNOWN, argument);
  };
  bytes(problem.query_format, ATTEND_ARG_QUERY_FORMAT);
  bytes(problem.key_format, ATTEND_ARG_KEY_FORMAT);
  bytes(problem.value_format, ATTEND_ARG_VALUE_FORMAT);
  const int format = call_format(problem);
  const bool known = format == ATTEND_INT8 || format == ATTEND_INT16 || format == ATTEND_FLOAT32;
  call.require(known, ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT);
  call.query_bits = call.key_bits = call.value_bits = 8;
  call.output_bits = format_bits(format);
  call.output_format = core_format(format);
  check_constants(call, problem);
}

// The most keys that a query can see by position. Windows are checked later: one that is refused then limits nothing here.
int64_t most_seen(const Call& call, const attend_problem& problem) {
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  constexpr int64_t widest = 2 * int64_t(ATTEND_MAX_TOKENS);
  core::Problem rows = call.first;
  if (call.queries_last) rows.offset = rows.keys - rows.queries;
  return core::most_seen(rows, smaller(problem.window_left, widest), smaller(problem.window_right, widest),
                         smaller(problem.sink_tokens, widest));
}

void check_rest(Call& call, const attend_problem& problem) {
  call.left_out(has_usual_scale(problem), ATTEND_ARG_SCALE);
  call.require(most_seen(call, problem) <= ATTEND_INTEGER_MAX_KEYS, ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
  const bool goes_on = problem.first_key < call.first.keys;
  call.require(!goes_on || problem.first_key % integer_chunk == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_FIRST_KEY);
  const int step = problem.states != nullptr ? integer_chunk : segment_keys;
  call.require(!goes_on || origin_of(problem) % step == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ORIGIN);
  call.first.key_panels = call.first.key_panels && config::integer_quads;
  call.plain = call.plain && call.query_zero == 0;
}

// Blocks, and work memory: what the core needs, then the constants of each head.
void plan(Call& call, const MostKeys& most) {
  core::Problem& first = call.first;
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const int rows = core::rows_per_kv_head(first.query_heads, first.kv_heads, first.queries > 0 ? first.queries : 1);
  const int chunks = most.keys > 0 ? (most.keys - 1) / integer_chunk + 1 : 1;
  first.row_block = smaller(rows, config::integer_row_block);
  first.key_block = smaller(chunks, config::integer_key_block / integer_chunk) * integer_chunk;
  const size_t needed =
      core::integer_scratch_bytes(first.row_block, first.key_block, first.head_dim, first.value_dim, levels_over(most));
  call.scale_bytes = (needed + 15) / 16 * 16;
  call.workspace_bytes = call.scale_bytes + size_t(first.scale_stride != 0 ? first.query_heads : 1) *
                                                (sizeof(core::ScoreScale) + sizeof(core::OutputScale));
}

core::OutputScale output_scale_of(const attend_integer_constants& from) {
  return {from.output_factor, from.output_shift, from.value_zero_point, from.output_zero_point};
}

const attend_integer_constants* constants_of(const attend_problem& problem) {
  return problem.head_constants != nullptr ? problem.head_constants : problem.constants;
}

// Constants as the core has them go behind its work memory.
void begin(Call& call, const attend_problem& problem, void* workspace) {
  const int count = problem.head_constants != nullptr ? call.first.query_heads : 1;
  call.first.scratch = workspace;
  auto* const score = reinterpret_cast<core::ScoreScale*>(static_cast<char*>(workspace) + call.scale_bytes);
  auto* const output = reinterpret_cast<core::OutputScale*>(score + count);
  for (int head = 0; head < count; ++head) {
    const attend_integer_constants& from = constants_of(problem)[head];
    score[head] = {from.score_factor, from.score_right, from.score_left, from.score_end};
    output[head] = output_scale_of(from);
  }
  call.first.score_scales = score;
  call.first.output_scales = output;
}

IntegerState row_at(float* state, int value_dim) { return {reinterpret_cast<int32_t*>(state), value_dim}; }

void begin_state(float* state, int value_dim) { row_at(state, value_dim).begin(); }

void leave(float* state, int value_dim, int from, int to) { row_at(state, value_dim).leave(from, to); }

void skip_keys(float* state, int value_dim, int from, int to) {
  leave(state, value_dim, from, to);
  row_at(state, value_dim).push_zeros(segment_of(from + segment_keys - 1), segment_of(to));
}

void finish_rows(const Call& call, const attend_problem& problem, const core::Problem& rows, const core::Options& options,
                 float* numbers) {
  core::Problem head = rows;
  core::Options head_options = options;
  head.scratch = numbers;
  head.query_heads = 1;
  for (int h = 0; h < rows.query_heads; ++h) {
    const core::OutputScale scale = output_scale_of(constants_of(problem)[problem.head_constants != nullptr ? h : 0]);
    head.output_scales = &scale;
    core::Integers::finish(head, head_options);
    move(head.output.data, rows.output.head_stride * (call.output_bits / 8));
    core::move_queries(head_options, 0, 1);
  }
}

constexpr attend_option_arithmetic integer_options = {
    check_pages,
    check_growing,
    take_cache,
    check_options,
    run_options,
    nullptr,  // plan counts its work memory with and without options
    run_options_row<core::Integers>,
    begin_state,
    skip_keys,
    core::Integers::merge,
    core::Integers::seen_keys,
    leave,
    finish_rows,
};
constexpr attend_arithmetic integer_arithmetic = {
    true,
    ATTEND_INTEGER_MAX_HEAD_DIM,
    ATTEND_INT8,  // usual_format
    check_formats,
    check_rest,
    plan,
    begin,
    run_rows<core::Integers>,
    4,  // state_numbers
    1,
    &integer_options,
};
static_assert(core::integer_state_numbers(7, 5) == 4 + 7 + 5 * (7 + node_numbers), "the size of a state is the core's");

}  // namespace
}  // namespace attend::c_surface::integers

using namespace attend::c_surface;

extern "C" attend_status attend_integer_problem_init(attend_problem* problem, size_t size) {
  return init_problem(problem, size, &integers::integer_arithmetic);
}
