// Attention in integers: which kernels compute it; in parts, with its keys cut at segments, and in steps.
#include "portable.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RunIntegers {
  static constexpr auto function = &Backend::run_integers;
};

}  // namespace

void run(const IntegerProblem& problem) { ActiveIntegerBackend::call<RunIntegers>(problem); }

namespace {

template <class Backend>
struct RunIntegerOptions {
  static constexpr auto function = &Backend::run_integer_options;
};

}  // namespace

void run(const IntegerProblem& problem, const IntegerOptions& options) {
  ActiveIntegerOptionBackend::call<RunIntegerOptions>(problem, options);
}

namespace {

// Moves a tensor of numbers of so many bytes to another first token and head.
template <class Byte>
void move_bytes(Tensor<Byte>& tensor, int token, int head, ptrdiff_t bytes) {
  tensor.data += (token * tensor.token_stride + head * tensor.head_stride) * bytes;
}

// Makes the problem that of one unit of work. output_bytes: of one number of the output.
void take_integer_unit(IntegerProblem& problem, const WorkUnit& work_unit, ptrdiff_t output_bytes) {
  move_bytes(problem.query, work_unit.token, work_unit.query_head, 1);
  if (problem.output.data != nullptr) move_bytes(problem.output, work_unit.token, work_unit.query_head, output_bytes);
  move_bytes(problem.key, 0, work_unit.kv_head, 1);
  move_bytes(problem.value, 0, work_unit.kv_head, 1);
  problem.score_scales += work_unit.query_head * problem.score_scale_stride;
  problem.output_scales += work_unit.query_head * problem.output_scale_stride;
  problem.offset = offset_after(problem.offset, work_unit.token);
  problem.queries = work_unit.tokens;
  problem.kv_heads = work_unit.kv_heads;
  problem.query_heads = work_unit.query_heads;
}

// All fields by name, as in parts.h: a new one does not compile here until somebody has decided what a unit has of it.
void take_options_of_unit(IntegerOptions& options, const WorkUnit& work_unit) {
  [[maybe_unused]] auto& [left, right, sink_tokens, visible, visible_bits, query_zero, key_scales, value_scales,
                          key_scale_stride, value_scale_stride, output_format, float_scale, ring_chunks, sink_chunks,
                          ring_tokens, origin, first_key, partial, states, begins] = options;
  visible.first += work_unit.token * visible.token_stride + work_unit.query_head * visible.head_stride;
  if (states.data != nullptr) states.data += work_unit.token * states.token_stride + work_unit.query_head * states.head_stride;
  if (key_scales != nullptr) key_scales += work_unit.kv_head * key_scale_stride;
  if (value_scales != nullptr) value_scales += work_unit.kv_head * value_scale_stride;
}

ptrdiff_t output_bytes(const IntegerOptions& options) {
  return options.output_format == IntegerFormat::int8 ? 1 : options.output_format == IntegerFormat::int16 ? 2 : 4;
}

}  // namespace

void run_part(const IntegerProblem& problem, int part, int parts) {
  const auto token_work = [&](int token) { return token_overhead + visible_keys(problem, token); };
  for_each_unit(problem, part, parts, token_work, [&](const WorkUnit& work_unit) {
    IntegerProblem unit_problem = problem;
    take_integer_unit(unit_problem, work_unit, 1);
    run(unit_problem);
  });
}

void run_part(const IntegerProblem& problem, const IntegerOptions& options, int part, int parts) {
  const auto token_work = [&](int token) {
    const Visibility visibility = visibility_of(problem, options, token);
    return token_overhead + (visibility.end - visibility.first) + visibility.sink_tokens;
  };
  for_each_unit(problem, part, parts, token_work, [&](const WorkUnit& work_unit) {
    IntegerProblem unit_problem = problem;
    IntegerOptions unit_options = options;
    take_integer_unit(unit_problem, work_unit, output_bytes(options));
    take_options_of_unit(unit_options, work_unit);
    run(unit_problem, unit_options);
  });
}

KeyUnits key_units(const IntegerProblem& problem, const IntegerOptions& options, int part, int parts) {
  return units_of_part(problem.kv_heads * visible_segments(problem, options).count(), part, parts);
}

void run_key_part(const IntegerProblem& problem, const IntegerOptions& options, int part, int parts, int32_t* partials) {
  const VisibleSegments seen = visible_segments(problem, options);
  const int segments = seen.count(), group = problem.query_heads / problem.kv_heads;
  const ptrdiff_t row = partial_row_floats(problem.value_dim), unit_numbers = ptrdiff_t(group) * problem.queries * row;
  const KeyUnits units = key_units(problem, options, part, parts);
  for (int unit = units.first; unit < units.end; ++unit) {
    const int head = unit / segments, first_key = seen.segment(unit - head * segments) * segment_keys;
    const WorkUnit work_unit = {0, problem.queries, head, 1, head * group, group};
    IntegerProblem unit_problem = problem;
    IntegerOptions unit_options = options;
    unit_problem.output.data = nullptr;
    take_integer_unit(unit_problem, work_unit, 0);
    take_options_of_unit(unit_options, work_unit);
    unit_options.first_key = first_key;
    unit_options.partial = true;
    if (options.ring_chunks > 0 && options.ring_tokens == 0) unit_options.ring_tokens = problem.keys;
    unit_problem.keys = first_key + at_most(problem.keys - first_key, segment_keys);
    unit_problem.output = {reinterpret_cast<int8_t*>(partials + unit * unit_numbers), group * row, row};
    run(unit_problem, unit_options);
  }
}

void add_key_parts(const IntegerProblem& problem, const IntegerOptions& options, const int32_t* partials) {
  const int group = problem.query_heads / problem.kv_heads, segments = visible_segments(problem, options).count();
  const ptrdiff_t row = partial_row_floats(problem.value_dim), apart = row * group * problem.queries;
  int32_t* const total = static_cast<int32_t*>(problem.scratch);
  for (int kv_head = 0; kv_head < problem.kv_heads; ++kv_head, partials += apart * (segments - 1)) {
    for (int i = 0; i < problem.queries * group; ++i, partials += row) {
      IntegerSoftmaxState state = {lowest_exponent, 0};
      for (int c = 0; c < problem.value_dim; ++c) total[c] = 0;
      for (int segment = 0; segment < segments; ++segment) {
        const int32_t* const kept = partials + segment * apart;
        add_segment_sums(state, total, {kept[problem.value_dim], uint32_t(kept[problem.value_dim + 1])}, kept,
                         problem.value_dim);
      }
      store_integer_row<PortableOutputs>(problem, options, state, total, i / group, kv_head * group + i % group);
    }
  }
}

void finish(const IntegerProblem& problem, const IntegerOptions& options) {
  int32_t* const sums = static_cast<int32_t*>(problem.scratch);
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const IntegerRowState row(element(options.states, token, head), problem.value_dim);
      IntegerSoftmaxState state = row.total_state();
      for (int c = 0; c < problem.value_dim; ++c) sums[c] = row.total()[c];
      add_segment_sums(state, sums, row.segment_state(), row.segment(), problem.value_dim);
      store_integer_row<PortableOutputs>(problem, options, state, sums, token, head);
    }
  }
}

void merge(int32_t* states, const int32_t* later, int rows, int value_dim) {
  for (int r = 0; r < rows; ++r) {
    const ptrdiff_t at = r * ptrdiff_t(integer_state_numbers(value_dim));
    const IntegerRowState row(states + at, value_dim), added(const_cast<int32_t*>(later + at), value_dim);  // only read
    IntegerSoftmaxState total = row.total_state();
    add_segment_sums(total, row.total(), row.segment_state(), row.segment(), value_dim);
    add_segment_sums(total, row.total(), added.total_state(), added.total(), value_dim);
    for (int c = 0; c < value_dim; ++c) row.segment()[c] = added.segment()[c];
    row.set(added.segment_state(), total);
  }
}

}  // namespace core
}  // namespace attend
