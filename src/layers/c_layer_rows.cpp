// The C surface's functions around attention: normalisation, residual addition, activations, additive attention.
#include "layer_surface.h"

#include "portable_layers.h"

namespace attend::c_surface {
namespace {

// Returns where y lies.
Range check_norm(Memory& check, const attend_norm* norm, const float* x, ptrdiff_t rows, const float* y, bool takes_bias) {
  const Range range = check.structs(norm, 1, ATTEND_ARG_NORM);
  check.within(rows, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_ROWS);
  if (check.failed()) return {};
  check.within(norm->width, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_WIDTH);
  check_epsilon(check, norm->epsilon);
  check.require(takes_bias || norm->bias == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_BIAS);
  const Range to = check_vectors(check, y, rows, norm->width, ATTEND_ARG_Y);
  check.write(to, ATTEND_ARG_Y);
  check.read_last(range);
  read_same(check, check_vectors(check, x, rows, norm->width, ATTEND_ARG_X), to);
  check.read_last(check_if_given(check, norm->weight, norm->width, ATTEND_ARG_NORM_WEIGHT));
  check.read_last(check_if_given(check, norm->bias, norm->width, ATTEND_ARG_BIAS));
  return to;
}
core::Normalisation normalisation_of(const attend_norm& norm, const float* x, ptrdiff_t rows, float* y) {
  return {x, norm.width, y, norm.width, norm.weight, norm.bias, int(rows), int(norm.width), norm.epsilon};
}

// Numbers that are read one after another as y is written; by may be null.
void check_numbers(Memory& check, const float* x, const float* by, ptrdiff_t count, const float* y) {
  check.within(count, 0, INT32_MAX, ATTEND_ARG_COUNT);
  const Range to = check_vectors(check, y, 1, count, ATTEND_ARG_Y);
  check.write(to, ATTEND_ARG_Y);
  read_same(check, check_vectors(check, x, 1, count, ATTEND_ARG_X), to);
  read_same(check, check_if_given(check, by, count, ATTEND_ARG_BY), to);
}

void check_activation(Check& check, int activation) {
  check.require(activation >= ATTEND_RELU && activation <= ATTEND_ERF, ATTEND_UNKNOWN, ATTEND_ARG_ACTIVATION);
}
void activate(int activation, const float* x, const float* by, int count, float* y) {
#define ATTEND_ACTIVATION(name) \
  if (activation == int(Activation::name)) core::activate<Activation::name>(x, by, count, y);
  ATTEND_EACH_ACTIVATION(ATTEND_ACTIVATION)
#undef ATTEND_ACTIVATION
}

static_assert(int(Activation::silu) == ATTEND_SILU && int(Activation::gelu) == ATTEND_GELU &&
                  int(Activation::gelu_tanh) == ATTEND_GELU_TANH && int(Activation::sigmoid) == ATTEND_SIGMOID &&
                  int(Activation::tanh) == ATTEND_TANH && int(Activation::exp) == ATTEND_EXP &&
                  int(Activation::erf) == ATTEND_ERF && int(Activation::relu) == ATTEND_RELU,
              "the numbers of the C header are the core's");

// ---- Additive attention: attention of one head whose scores are given as a bias.

// Requires the fields that would change or show other scores as they were initialised.
void check_left_to_additive(Check& check, const attend_problem& problem) {
  const int stage = problem.scores.stage;
  check_one_sequence(check, problem);
  check.left_out(has_usual_scale(problem), ATTEND_ARG_SCALE);
  leave_out_terms(check, problem);
  check.left_out(stage != ATTEND_SCORES_RAW && stage != ATTEND_SCORES_CAPPED, ATTEND_ARG_SCORES);
  check.left_out(problem.query_heads == 1, ATTEND_ARG_QUERY_HEADS);
  check.left_out(has_no_lists(problem), ATTEND_ARG_RANGES);
}

// The layout of the work memory, in floats: attention's own first, then scores [queries][keys], then sums of some keys.
struct AdditiveMemory {
  uint64_t scores, sums, floats;
};

// Checks everything but v and work memory. The problem of the call becomes one whose queries and keys have one number.
AdditiveMemory check_additive(Call& call, const attend_problem* problem, CallOptions& options) {
  call.one_sequence = true;
  check_rows(call, problem);
  if (call.failed()) return {};
  check_left_to_additive(call, *problem);
  if (call.failed()) return {};
  check_call(call, problem);
  if (!call.failed() && !call.plain) check_options(call, *problem, options);
  if (call.failed()) return {};
  const uint64_t hidden = uint64_t(call.first.head_dim);
  call.first.head_dim = 1;
  call.plain = false;
  plan(call, {call.first.keys, nullptr, false});
  AdditiveMemory memory;
  memory.scores = call.workspace_bytes / sizeof(float);
  memory.sums = memory.scores + uint64_t(call.first.queries) * uint64_t(call.first.keys);
  memory.floats = memory.sums + core::additive_keys * hidden;
  call.require(memory.floats <= PTRDIFF_MAX / sizeof(float), ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
  return memory;
}

}  // namespace

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_rms_norm(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y) {
  Memory check;
  check_norm(check, norm, x, rows, y, false);
  if (!check.failed()) core::rms_norm(normalisation_of(*norm, x, rows, y));
  return check.status();
}

attend_status attend_layer_norm(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y) {
  Memory check;
  check_norm(check, norm, x, rows, y, true);
  if (!check.failed()) core::layer_norm(normalisation_of(*norm, x, rows, y));
  return check.status();
}

attend_status attend_l2_norm(const float* x, ptrdiff_t rows, ptrdiff_t width, float epsilon, float* y) {
  Memory check;
  attend_norm norm = {nullptr, nullptr, width, epsilon};
  check.within(width, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_WIDTH);
  check_norm(check, &norm, x, rows, y, false);
  if (check.failed()) return check.status();
  float mean = 0;
  core::in_float_environment([&]() ATTEND_NOINLINE { mean = 1.0f / float(width); });
  core::scale(mean, 1, &norm.epsilon);
  core::rms_norm(normalisation_of(norm, x, rows, y));
  for (ptrdiff_t row = 0; row < rows; ++row) core::scale(core::usual_scale(int(width)), int(width), y + row * width);
  return ATTEND_OK;
}

attend_status attend_gated_rms_norm(const attend_gated_norm* norm, const float* x, const float* gate, ptrdiff_t rows,
                                    float* y) {
  Memory check;
  const Range range = check.structs(norm, 1, ATTEND_ARG_NORM);
  if (check.failed()) return check.status();
  const Range to = check_norm(check, &norm->norm, x, rows, y, false);
  check.read_last(range);
  if (check.failed()) return check.status();
  const ptrdiff_t width = norm->norm.width, groups = norm->groups;
  check.within(groups, 1, width, ATTEND_ARG_GROUPS);
  check.require(check.failed() || width % groups == 0, ATTEND_MISMATCH, ATTEND_ARG_GROUPS);
  check_activation(check, norm->activation);
  check.require(norm->order == ATTEND_GATE_LAST || norm->order == ATTEND_GATE_FIRST, ATTEND_UNKNOWN, ATTEND_ARG_ORDER);
  check.require(rows * int64_t(width) <= INT32_MAX, ATTEND_TOO_LARGE, ATTEND_ARG_ROWS);
  const Range gates = check_vectors(check, gate, rows, width, ATTEND_ARG_GATE);
  norm->order == ATTEND_GATE_FIRST ? read_same(check, gates, to) : check.read_last(gates);
  if (check.failed() || rows == 0) return check.status();
  const int count = int(rows * width);
  core::Normalisation group = normalisation_of(norm->norm, x, rows, y);
  if (norm->order == ATTEND_GATE_FIRST) activate(norm->activation, gate, x, count, y), group.from = y;
  group.width = int(width / groups);
  for (ptrdiff_t i = 0; i < groups; ++i, group.from += group.width, group.to += group.width) {
    core::rms_norm(group);
    if (group.weight != nullptr) group.weight += group.width;
  }
  if (norm->order == ATTEND_GATE_LAST) activate(norm->activation, gate, y, count, y);
  return ATTEND_OK;
}

attend_status attend_add(const float* x, float scale, ptrdiff_t count, float* y) {
  Memory check;
  check.require(is_finite(scale), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
  check_numbers(check, x, nullptr, count, y);
  if (!check.failed()) core::add(x, scale, int(count), y);
  return check.status();
}

attend_status attend_hadamard(const float* x, ptrdiff_t rows, ptrdiff_t width, float* y) {
  Memory check;
  check.within(rows, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_ROWS);
  check.within(width, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_WIDTH);
  if (check.failed()) return check.status();
  const Range to = check_vectors(check, y, rows, width, ATTEND_ARG_Y);
  check.write(to, ATTEND_ARG_Y);
  read_same(check, check_vectors(check, x, rows, width, ATTEND_ARG_X), to);
  if (!check.failed()) core::hadamard(x, int(rows), int(width), y);
  return check.status();
}

attend_status attend_activate(int activation, const float* x, const float* by, ptrdiff_t count, float* y) {
  Memory check;
  check_activation(check, activation);
  check_numbers(check, x, by, count, y);
  if (!check.failed()) activate(activation, x, by, int(count), y);
  return check.status();
}

size_t attend_additive_workspace_size(const attend_problem* problem) {
  Call call;
  CallOptions options;
  const AdditiveMemory memory = check_additive(call, problem, options);
  return call.failed() ? 0 : size_t(memory.floats * sizeof(float));
}

attend_status attend_additive_attention(const attend_problem* problem, const float* v, void* workspace, size_t workspace_size) {
  Call call;
  CallOptions options;
  const AdditiveMemory memory = check_additive(call, problem, options);
  if (call.failed()) return call.status();
  call.read(call.array(v, problem->head_dim, float_bits, ATTEND_ARG_V));
  check_workspace(call, workspace, workspace_size, size_t(memory.floats * sizeof(float)));
  if (call.failed()) return call.status();
  core::Problem row_problem = call.option_problem_of_row(0);
  if (row_problem.queries == 0) return ATTEND_OK;
  float* const work = static_cast<float*>(workspace);
  float* const scores = work + size_t(memory.scores);
  for (int t = 0; t < row_problem.queries; ++t) {
    core::additive_scores({v, int(problem->head_dim), work + size_t(memory.sums)}, element<float>(row_problem.query, t, 0),
                          {element<float>(row_problem.key, 0, 0), row_problem.key.token_stride, 0}, row_problem.keys,
                          scores + t * ptrdiff_t(call.first.keys));
  }
  constexpr float zero = 0.0f;
  row_problem.query = row_problem.key = {&zero, 0, 0};  // the only number of every query and key
  row_problem.scale = 1.0f;
  row_problem.scratch = work;
  options.first.bias = {scores, 0, call.first.keys, 0, call.first.keys};
  core::Floats::run(row_problem, options.first);
  return ATTEND_OK;
}

}  // extern "C"
