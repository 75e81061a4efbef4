// Problems of the C surface in floats: their formats, work memory, runs and states.
#include "../../include/attend/core/options.h"

#include "surface.h"

#include "../call/portable.h"

namespace attend::c_surface {
namespace {

// All that there is to check of problems whose numbers are float32.
void check_no_constants(Call& call, const attend_problem& problem) {
  const bool none = problem.constants == nullptr && problem.head_constants == nullptr;
  call.require(none, ATTEND_NO_EFFECT, ATTEND_ARG_CONSTANTS);
}

void check_formats(Call& call, const attend_problem& problem) {
  call.format_of_pair(problem.query_format, problem.output_format, ATTEND_BFLOAT16, ATTEND_ARG_QUERY_FORMAT);
  call.format_of_pair(problem.output_format, problem.query_format, ATTEND_BFLOAT16, ATTEND_ARG_OUTPUT_FORMAT);
  const bool cached = problem.cache != nullptr;  // then what is not set is the cache's, which alone may have int4
  const int key_format = cached ? ATTEND_FLOAT32 : problem.key_format;
  const int value_format = cached ? ATTEND_FLOAT32 : problem.value_format;
  const auto check = [&](int format, int other, attend_argument argument) {
    if (!cached || format != ATTEND_INT4) call.format_of_pair(format, other, ATTEND_INT8, argument);
  };
  check(problem.key_format, value_format, ATTEND_ARG_KEY_FORMAT);
  check(problem.value_format, key_format, ATTEND_ARG_VALUE_FORMAT);
  check_no_constants(call, problem);
  if (call.failed()) return;
  call.query_bits = format_bits(problem.query_format);
  call.key_bits = format_bits(problem.key_format);
  call.value_bits = format_bits(problem.value_format);
  call.output_bits = format_bits(problem.output_format);
  call.output_format = core_format(problem.output_format);
}

void check_rest(Call& call, const attend_problem& problem) {
  call.first.scale = has_usual_scale(problem) ? 1.0f : problem.scale;  // until the call begins
  call.require(core::is_scale(call.first.scale), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
}

void begin(Call& call, const attend_problem& problem, void* workspace) {
  call.first.scratch = workspace;
  call.first.scale = scale_of(problem);
}

void begin_state(float* state, int value_dim) { FloatState(state, value_dim).begin(); }

void leave(float* state, int value_dim, int from, int to) {
  core::in_float_environment([&]() ATTEND_NOINLINE { FloatState(state, value_dim).leave(from, to); });
}

void skip_keys(float* state, int value_dim, int from, int to) {
  leave(state, value_dim, from, to);
  core::in_float_environment(
      [&]() ATTEND_NOINLINE { FloatState(state, value_dim).push_zeros(segment_of(from + segment_keys - 1), segment_of(to)); });
}

size_t option_floats(const core::Problem& problem, int row_block, int key_block, const MostKeys& most) {
  return core::option_scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim, levels_over(most));
}

void finish_rows(const Call&, const attend_problem&, const core::Problem& rows, const core::Options& options, float*) {
  core::Floats::finish(rows, options);
}

}  // namespace

// Blocks as the typed surface takes them, by the keys that there can be, so that memory for a cache serves as it fills up.
void plan(Call& call, const MostKeys& most) {
  core::Problem& problem = call.first;
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const int queries = problem.queries <= 0 ? 1
                      : call.in_layer      ? smaller(problem.queries, config::layer_tokens)
                                           : problem.queries;
  const int rows = core::rows_per_kv_head(problem.query_heads, problem.kv_heads, queries);
  const int chains = core::whole_chains(most.keys > 0 ? most.keys : 1);
  const int one_row_block = smaller(chains, problem.key_panels ? config::decode_keys : config::key_block);
  const auto floats = [&](int row_block, int key_block) {
    if (!call.plain) return call.arithmetic->options->scratch_floats(problem, row_block, key_block, most);
    return core::scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim, most.keys, problem.key_panels);
  };
  problem.row_block = smaller(rows, call.plain ? config::row_block : config::option_row_block);
  problem.key_block = problem.row_block == 1 ? one_row_block : smaller(chains, config::key_block);
  const size_t one_row = floats(1, one_row_block);
  const size_t needed = problem.row_block == 1 ? one_row : floats(problem.row_block, problem.key_block);
  call.workspace_bytes = (one_row < needed ? needed : one_row) * sizeof(float);
}

float scale_of(const attend_problem& problem) {
  return has_usual_scale(problem) ? usual_scale(int(problem.head_dim)) : problem.scale;
}

constexpr attend_arithmetic arithmetic_of(decltype(attend_arithmetic::check_formats) check_formats,
                                          decltype(attend_arithmetic::run) run, const attend_option_arithmetic* options) {
  return {
      false,
      ATTEND_MAX_WIDTH,
      ATTEND_FLOAT32,  // usual_format
      check_formats,
      check_rest,
      plan,
      begin,
      run,
      core::state_head + panel_keys,  // state_numbers
      2,
      options,
  };
}
constexpr attend_option_arithmetic float_options = {
    check_pages,
    check_growing,
    take_cache,
    check_options,
    run_options,
    option_floats,
    run_options_row<core::Floats>,
    begin_state,
    skip_keys,
    core::Floats::merge,
    core::Floats::seen_keys,
    leave,
    finish_rows,
};
const attend_arithmetic float_arithmetic = arithmetic_of(check_formats, run_rows<core::Floats>, &float_options);
constexpr attend_arithmetic plain_arithmetic = arithmetic_of(check_no_constants, run_whole_rows<core::Floats>, nullptr);
static_assert(core::state_floats(7, 5) == core::state_head + panel_keys + 2 * 7 + 5 * (7 + node_numbers),
              "the size of a state is the core's");

}  // namespace attend::c_surface

using namespace attend::c_surface;

extern "C" {

attend_status attend_problem_init(attend_problem* problem, size_t size) {
  return init_problem(problem, size, &float_arithmetic);
}

attend_status attend_plain_problem_init(attend_problem* problem, size_t size) {
  return init_problem(problem, size, &plain_arithmetic);
}

attend_status attend_alibi_slopes(ptrdiff_t heads, float* slopes) {
  Check check;
  check.within(heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_HEADS);
  if (!check.failed()) check.array(slopes, heads, float_bits, ATTEND_ARG_ALIBI_SLOPES);
  if (!check.failed()) attend::core::alibi_slopes(int(heads), slopes);
  return check.status();
}

}  // extern "C"
