// The parts of a problem, of about the same work, and their units of work.

// Where a part begins: before this token of this key/value head.
struct Cut {
  int head;
  int token;
};

// The fixed cost of a token, in keys: beginning and ending its rows.
constexpr int64_t token_overhead = 16;

// The number of heads before a part: whole ones, and rest / parts of the next. 64-bit division would ask 32-bit targets
// for a library.
struct CountBefore {
  int whole;
  int rest;
};
inline CountBefore count_before(int heads, int part, int parts) {
  const unsigned remainder = unsigned(heads % parts) * unsigned(part);
  return {heads / parts * part + int(remainder / unsigned(parts)), int(remainder % unsigned(parts))};
}

// Which units of work are those of a part.
struct Units {
  int first;
  int end;
};
inline Units units_of_part(int units, int part, int parts) {
  return {count_before(units, part, parts).whole, count_before(units, part + 1, parts).whole};
}

// Where the work of all tokens before it reaches what the part begins with, at a whole number of tiles if there are many
// tokens. token_work(token): its work, in keys.
template <class Problem, class Work>
Cut cut_before(const Problem& problem, int part, int parts, Work token_work) {
  const CountBefore before = count_before(problem.kv_heads, part, parts);
  if (before.rest == 0) return {before.whole, 0};
  int64_t left = 0;
  for (int token = 0; token < problem.queries; ++token) left += token_work(token) * before.rest;
  const int step = problem.queries >= 4 * parts * config::tile_rows ? config::tile_rows : 1;
  int token = 0;
  while (left > 0 && token < problem.queries) {
    for (const int end = token + step; token < end && token < problem.queries; ++token) left -= token_work(token) * parts;
  }
  if (token == problem.queries) return {before.whole + 1, 0};
  return {before.whole, token};
}

// A unit of work, of which a part has several: some tokens of some query heads over some key/value heads.
struct WorkUnit {
  int token;
  int tokens;
  int kv_head;
  int kv_heads;
  int query_head;
  int query_heads;
};

// One token of many query heads over few key/value heads goes by query heads.
template <class Problem>
bool cuts_query_heads(const Problem& problem, int parts) {
  return problem.queries == 1 && problem.kv_heads % parts != 0;
}

template <class Problem, class Call>
void for_each_unit_of_heads(const Problem& problem, int part, int parts, Call call) {
  const int group = problem.query_heads / problem.kv_heads;
  const Units heads = units_of_part(problem.query_heads, part, parts);
  for (int first = heads.first, count; first < heads.end; first += count) {
    const int head = first / group;
    count = at_most(heads.end - first, (head + 1) * group - first);
    call(WorkUnit{0, 1, head, 1, first, count});
  }
}

// Calls with each unit of a part.
template <class Problem, class Work, class Call>
void for_each_unit(const Problem& problem, int part, int parts, Work token_work, Call call) {
  if (cuts_query_heads(problem, parts)) return for_each_unit_of_heads(problem, part, parts, call);
  const int group = problem.query_heads / problem.kv_heads;
  const auto work_unit = [&](int head, int heads, int token, int token_end) {
    call(WorkUnit{token, token_end - token, head, heads, head * group, heads * group});
  };
  Cut at = cut_before(problem, part, parts, token_work);
  const Cut end = cut_before(problem, part + 1, parts, token_work);
  if (at.token > 0) {
    const bool here = at.head == end.head;
    work_unit(at.head, 1, at.token, here ? end.token : problem.queries);
    if (here) return;
    at = {at.head + 1, 0};
  }
  if (at.head < end.head) work_unit(at.head, end.head - at.head, 0, problem.queries);
  if (end.token > 0) work_unit(end.head, 1, 0, end.token);
}

// Formats of a problem's tensors, for their sizes: float16 stands for any number of two bytes.
struct TensorFormats {
  core::Format query, output, key, value;
};
inline TensorFormats formats_of(const core::Problem&) {
  constexpr core::Format format = core::Format::float32;
  return {format, format, format, format};
}
inline TensorFormats formats_of(const core::IntegerProblem&) {
  constexpr core::Format format = core::Format::int8;
  return {format, format, format, format};
}
inline TensorFormats formats_of(const core::Problem&, const core::Options& options) {
  return {options.query_format, options.output_format, options.key_format, options.value_format};
}
inline TensorFormats formats_of(const core::IntegerProblem& problem, const core::IntegerOptions& options) {
  TensorFormats formats = formats_of(problem);
  if (options.output_format == core::IntegerFormat::int16) formats.output = core::Format::float16;
  if (options.output_format == core::IntegerFormat::float32) formats.output = core::Format::float32;
  return formats;
}

// Moves a tensor to another first token and head. With states, and where keys are cut, a problem has no output.
template <class Number>
void move_tensor(core::Tensor<Number>& tensor, int token, int head, core::Format format) {
  const ptrdiff_t by = bytes_of(format, token * tensor.token_stride + head * tensor.head_stride);
  if (tensor.data != nullptr) tensor.data = reinterpret_cast<Number*>(reinterpret_cast<uintptr_t>(tensor.data) + uintptr_t(by));
}

// What a problem has for each query head.
inline void move_heads(core::Problem&, int) {}
inline void move_heads(core::IntegerProblem& problem, int query_head) {
  problem.score_scales += query_head * problem.score_scale_stride;
  problem.output_scales += query_head * problem.output_scale_stride;
}

// Makes the problem that of one unit of work. In place: a problem is large for a stack.
template <class Problem>
void take_unit(Problem& problem, const WorkUnit& work_unit, const TensorFormats& formats) {
  move_tensor(problem.query, work_unit.token, work_unit.query_head, formats.query);
  move_tensor(problem.output, work_unit.token, work_unit.query_head, formats.output);
  move_tensor(problem.key, 0, work_unit.kv_head, formats.key);
  move_tensor(problem.value, 0, work_unit.kv_head, formats.value);
  move_heads(problem, work_unit.query_head);
  problem.offset = core::offset_after(problem.offset, work_unit.token);
  problem.queries = work_unit.tokens;
  problem.kv_heads = work_unit.kv_heads;
  problem.query_heads = work_unit.query_heads;
}

// Makes the options those of a unit of work. All fields by name: one that options get does not compile here until
// somebody has decided what a unit has of it.
inline void take_options(core::Options& options, const WorkUnit& work_unit) {
  [[maybe_unused]] auto& [left, right, sink_tokens, visible, visible_bits, bias, alibi_slopes, relative, relative_head_stride,
                          relative_left, relative_right, soft_cap, bias_before_cap, sink_logits, lse, lse_base2, scores,
                          score_keys, score_stage, query_format, key_format, value_format, output_format, key_scales,
                          value_scales, key_scale_stride, value_scale_stride, paging, origin, states, first_key, begins] =
      options;
  core::move_queries(options, work_unit.token, work_unit.query_head);
  if (alibi_slopes != nullptr) alibi_slopes += work_unit.query_head;
  if (sink_logits != nullptr) sink_logits += work_unit.query_head;
  if (relative != nullptr) relative += work_unit.query_head * relative_head_stride;
  if (key_scales != nullptr) key_scales += work_unit.kv_head * key_scale_stride;
  if (value_scales != nullptr) value_scales += work_unit.kv_head * value_scale_stride;
}
inline void take_options(core::IntegerOptions& options, const WorkUnit& work_unit) {
  [[maybe_unused]] auto& [left, right, sink_tokens, visible, visible_bits, query_zero, key_scales, value_scales,
                          key_scale_stride, value_scale_stride, output_format, float_scale, paging, origin, first_key, states,
                          begins] = options;
  visible.first += work_unit.token * visible.token_stride + work_unit.query_head * visible.head_stride;
  if (states.data != nullptr) states.data += work_unit.token * states.token_stride + work_unit.query_head * states.head_stride;
  if (key_scales != nullptr) key_scales += work_unit.kv_head * key_scale_stride;
  if (value_scales != nullptr) value_scales += work_unit.kv_head * value_scale_stride;
}
template <class Options>
void take_options(core::Ranged<Options>& options, const WorkUnit& work_unit) {
  Options& others = options;
  take_options(others, work_unit);
  options.ranges.token += work_unit.token;
}

// Calls with each unit of a part of a call with options. Into states, tokens count alike: the cut must not depend on keys,
// which a call goes over in several steps.
template <class Problem, class Options, class Call>
void each_unit(const Problem& problem, const Options& options, int part, int parts, Call call) {
  const auto token_work = [&](int token) {
    return token_overhead + (options.states.data != nullptr ? 0 : keys_seen(problem, options, token));
  };
  for_each_unit(problem, part, parts, token_work, call);
}

// core::run_part, without and with options.
template <class Problem>
void run_units(const Problem& problem, int part, int parts) {
  const auto token_work = [&](int token) { return token_overhead + visible_keys(problem, token); };
  for_each_unit(problem, part, parts, token_work, [&](const WorkUnit& work_unit) {
    Problem unit_problem = problem;
    take_unit(unit_problem, work_unit, formats_of(problem));
    run(unit_problem);
  });
}
template <class Problem, class Options>
void run_units(const Problem& problem, const Options& options, int part, int parts) {
  each_unit(problem, options, part, parts, [&](const WorkUnit& work_unit) {
    Problem unit_problem = problem;
    Options unit_options = options;
    take_unit(unit_problem, work_unit, formats_of(problem, options));
    take_options(unit_options, work_unit);
    run(unit_problem, unit_options);
  });
}
