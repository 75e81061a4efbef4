// Refuses what a problem of integer attention from C must not be, before anything is written.
#include "integer.h"

#include "../call/portable.h"

namespace attend {
namespace c_surface {
namespace {

bool is_zero_point(int32_t zero) { return zero >= -128 && zero <= 127; }

// Whether they may have come from attend_integer_prepare: shifts by other numbers would not be defined.
bool is_prepared(const attend_integer_constants& constants) {
  constexpr uint32_t last = 15u << 12;  // where core::score_scale lets weights end at the latest
  if (constants.score_factor >> 27 != 0) return false;
  const uint32_t end = constants.score_factor == 0 ? last : ((15u << 27) - 1) / constants.score_factor + 1;
  const bool score = constants.score_right >= 0 && constants.score_right <= 13 && constants.score_left >= 0 &&
                     constants.score_left <= 11 && (constants.score_right == 0 || constants.score_left == 0) &&
                     constants.score_end == (end < last ? end : last);
  const bool output = constants.output_factor >= 1 << 14 && constants.output_factor < 1 << 15 && constants.output_shift >= -4 &&
                      constants.output_shift <= 25 && constants.output_zero_point >= -32768 &&
                      constants.output_zero_point <= 32767;
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

void check_constants(Check& check, const attend_integer_problem& problem, IntegerCall& call) {
  const bool of_heads = problem.head_constants != nullptr;
  const attend_argument argument = of_heads ? ATTEND_ARG_HEAD_CONSTANTS : ATTEND_ARG_CONSTANTS;
  const attend_integer_constants* const constants = of_heads ? problem.head_constants : problem.constants;
  check.require(!of_heads || problem.constants == nullptr, ATTEND_CONFLICT, ATTEND_ARG_CONSTANTS);
  const ptrdiff_t count = of_heads ? problem.query_heads : 1, size = sizeof *constants;
  const Extent extent = {{1, 1, 1, count * size}, {0, 0, 0}, 0, true};
  check.require(aligned(constants, alignof(attend_integer_constants)), ATTEND_UNALIGNED, argument);
  call.memory.read(check, check.place(constants, extent, 8, argument).range);
  if (check.failed()) return;
  for (ptrdiff_t head = 0; head < count; ++head) {
    check_constants_of(check, problem, constants[head], argument);
    check.require(constants[head].query_zero_point == constants[0].query_zero_point, ATTEND_MISMATCH,
                  ATTEND_ARG_QUERY_ZERO_POINT);
    const bool one_scale = bits_to<uint32_t>(constants[head].output_scale) == bits_to<uint32_t>(constants[0].output_scale);
    check.require(one_scale || problem.output_format != ATTEND_FLOAT32, ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE);
  }
  call.options.query_zero = int(constants[0].query_zero_point);
  call.options.float_scale = constants[0].output_scale;
}

bool has_rows(const attend_integer_problem& problem) {
  return problem.key_lengths != nullptr || steps_by_rows(problem.query) || steps_by_rows(problem.key) ||
         steps_by_rows(problem.value) || steps_by_rows(problem.output) || is_given_by_rows(problem.mask) ||
         is_given_by_rows(problem.key_scales) || is_given_by_rows(problem.value_scales);
}

void check_extents(Check& check, const attend_integer_problem& problem, IntegerCall& call) {
  check.require((problem.options & ~(ATTEND_CAUSAL | ATTEND_QUERIES_LAST)) == 0, ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS);
  const bool layout = problem.layout == ATTEND_BATCH_TOKEN_HEAD_DIM || problem.layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
  check.require(layout, ATTEND_UNKNOWN, ATTEND_ARG_LAYOUT);
  const int format = problem.output_format;
  const bool known = format == ATTEND_INT8 || format == ATTEND_INT16 || format == ATTEND_FLOAT32;
  check.require(known, ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT);
  const bool is_set = problem.batch != ATTEND_DEFAULT_BATCH;
  call.batch = is_set ? problem.batch : 1;
  check.within(call.batch, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_BATCH);
  check.require(is_set || !has_rows(problem), ATTEND_AMBIGUOUS, ATTEND_ARG_BATCH);
  check.within(problem.queries, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERIES);
  check.within(problem.keys, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_KEYS);
  check.within(problem.query_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_QUERY_HEADS);
  check.within(problem.value_dim, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_VALUE_DIM);
  if (check.failed()) return;
  check_heads(check, problem, ATTEND_INTEGER_MAX_HEAD_DIM);
  if (problem.key_lengths != nullptr && !check.failed()) {
    check_key_lengths(check, call.memory, problem.key_lengths, call.batch, problem.keys);
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
void check_visibility(Check& check, const attend_integer_problem& problem, IntegerCall& call) {
  check_windows(check, problem, call.options);
  call.first.causal = (problem.options & ATTEND_CAUSAL) != 0;
  call.queries_last = (problem.options & ATTEND_QUERIES_LAST) != 0;
  const bool matters = call.first.causal || call.options.left >= 0 || call.options.right >= 0;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  check_offset(check, problem, matters, problem.queries == problem.keys || nobody);
  if (check.failed()) return;
  const bool given = problem.offset != ATTEND_DEFAULT_OFFSET;
  call.first.offset = int(given ? problem.offset : call.queries_last ? problem.keys - problem.queries : 0);
  check.require(most_seen(problem, call) <= ATTEND_INTEGER_MAX_KEYS, ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
}

// The tensors of a call whose extents were checked.
class Tensors {
 public:
  Tensors(Check& check, const attend_integer_problem& problem, IntegerCall& call)
      : check_(check),
        call_(call),
        axes_(problem.layout == ATTEND_BATCH_HEAD_TOKEN_DIM ? Axes::head_token : Axes::token_head) {}

  // Each returns the step from one batch row to the next.
  ptrdiff_t read(const attend_input& input, const Extent::Counts& counts, attend_argument argument,
                 core::Tensor<const int8_t>& tensor) {
    const Extent extent = extent_of(counts, {input.batch_stride, input.token_stride, input.head_stride}, axes_);
    const Place found = check_.place(input.data, extent, 8, argument);
    call_.memory.read(check_, found.range);
    tensor = core_tensor<const int8_t>(input.data, extent);
    return found.batch_step;
  }
  ptrdiff_t write(const attend_output& output, const Extent::Counts& counts, int bits, core::Tensor<int8_t>& tensor) {
    const Extent extent = extent_of(counts, {output.batch_stride, output.token_stride, output.head_stride}, axes_);
    const Place found = check_.place_apart(output.data, extent, bits, ATTEND_ARG_OUTPUT);
    call_.memory.write(check_, found.range, ATTEND_ARG_OUTPUT);
    tensor = core_tensor<int8_t>(output.data, extent);
    return found.batch_step;
  }
  ptrdiff_t read_scales(const attend_integer_token_scales& scales, attend_argument argument, const uint16_t*& data,
                        ptrdiff_t& head_stride) {
    if (scales.data == nullptr) {
      const bool set = scales.batch_stride != ATTEND_DENSE || scales.head_stride != ATTEND_DENSE;
      check_.require(!set, ATTEND_NO_EFFECT, argument);
      return 0;
    }
    const Extent extent = extent_of({call_.batch, 1, call_.first.kv_heads, call_.rows},
                                    {scales.batch_stride, 0, scales.head_stride}, Axes::matrix);
    const Place found = check_.place(scales.data, extent, 16, argument);
    call_.memory.read(check_, found.range);
    data = scales.data;
    head_stride = extent.strides.head;
    return found.batch_step;
  }

 private:
  Check& check_;
  IntegerCall& call_;
  const Axes axes_;
};

void check_tensors(Check& check, const attend_integer_problem& problem, IntegerCall& call) {
  core::IntegerProblem& first = call.first;
  core::IntegerOptions& options = call.options;
  const ptrdiff_t batch = call.batch, queries = problem.queries, keys = problem.keys;
  Tensors tensors(check, problem, call);
  call.query_step =
      tensors.read(problem.query, {batch, queries, problem.query_heads, problem.head_dim}, ATTEND_ARG_QUERY, first.query);
  call.key_step = tensors.read(problem.key, {batch, call.rows, problem.kv_heads, problem.head_dim}, ATTEND_ARG_KEY, first.key);
  call.value_step =
      tensors.read(problem.value, {batch, call.rows, problem.kv_heads, problem.value_dim}, ATTEND_ARG_VALUE, first.value);
  call.mask_step = check_mask(check, call.memory, problem.mask, {batch, queries, problem.query_heads, keys}, options);
  call.key_scale_step =
      tensors.read_scales(problem.key_scales, ATTEND_ARG_KEY_SCALES, options.key_scales, options.key_scale_stride);
  call.value_scale_step =
      tensors.read_scales(problem.value_scales, ATTEND_ARG_VALUE_SCALES, options.value_scales, options.value_scale_stride);
  const int bits = problem.output_format == ATTEND_INT8 ? 8 : problem.output_format == ATTEND_INT16 ? 16 : 32;
  call.output_step =
      tensors.write(problem.output, {batch, queries, problem.query_heads, problem.value_dim}, bits, first.output);
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

}  // namespace

void check_integer(Check& check, const attend_integer_problem* given, IntegerCall& call) {
  check.whole_struct(given, alignof(attend_integer_problem), sizeof *given, ATTEND_ARG_PROBLEM);
  if (check.failed()) return;
  const attend_integer_problem& problem = *given;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(given);
  call.memory.read(check, {begin, begin + problem.size});
  check_extents(check, problem, call);
  if (!check.failed()) check_visibility(check, problem, call);
  if (!check.failed()) check_ring(check, problem, call);
  if (check.failed()) return;
  core::IntegerProblem& first = call.first;
  first.query_heads = int(problem.query_heads);
  first.kv_heads = int(problem.kv_heads);
  first.head_dim = int(problem.head_dim);
  first.value_dim = int(problem.value_dim);
  first.queries = int(problem.queries);
  first.keys = int(problem.keys);
  call.options.output_format = problem.output_format == ATTEND_INT16     ? core::IntegerFormat::int16
                               : problem.output_format == ATTEND_FLOAT32 ? core::IntegerFormat::float32
                                                                         : core::IntegerFormat::int8;
  check_constants(check, problem, call);
  check_tensors(check, problem, call);
  if (check.failed()) return;
  plan(problem, call);
  const core::IntegerOptions& options = call.options;
  call.plain = options.left < 0 && options.right < 0 && options.visible.data == nullptr && options.query_zero == 0 &&
               options.key_scales == nullptr && options.value_scales == nullptr && options.ring_chunks == 0 &&
               problem.output_format == ATTEND_INT8;
}

}  // namespace c_surface
}  // namespace attend
