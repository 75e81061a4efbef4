// The parts of a problem, of about the same work, and their units of work.

// Where a part begins: before this token of this key/value head.
struct Cut {
  int head;
  int token;
};

// The fixed cost of a token, in keys: beginning and ending its rows.
constexpr int64_t token_overhead = 16;

// The number of heads before a part: whole ones, and rest / parts of the next. 64-bit division would need a library on boards.
struct CountBefore {
  int whole;
  int rest;
};
inline CountBefore count_before(int heads, int part, int parts) {
  const unsigned remainder = unsigned(heads) % unsigned(parts) * unsigned(part);
  return {int(unsigned(heads) / unsigned(parts)) * part + int(remainder / unsigned(parts)), int(remainder % unsigned(parts))};
}

// Where the work of all tokens before it reaches what the part begins with, at a whole number of tiles if there are many
// tokens. token_work(token): its work, in keys.
template <class Work>
Cut cut_before(const core::Problem& problem, int part, int parts, Work token_work) {
  const CountBefore before = count_before(problem.kv_heads, part, parts);
  if (before.rest == 0) return {before.whole, 0};
  int64_t left = 0;
  for (int token = 0; token < problem.queries; ++token) left += token_work(token) * before.rest;
  const int step = problem.queries >= 4 * parts * config::tile_rows ? config::tile_rows : 1;
  int token = 0;
  while (token < problem.queries && left > 0) {
    for (const int end = at_most(token + step, problem.queries); token < end; ++token) left -= token_work(token) * parts;
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

// Calls with each unit of a part. One token of many query heads over few key/value heads goes by query heads.
template <class Work, class Call>
void for_each_unit(const core::Problem& problem, int part, int parts, Work token_work, Call call) {
  const int group = problem.query_heads / problem.kv_heads;
  if (problem.queries == 1 && problem.kv_heads % parts != 0) {
    const int heads_end = count_before(problem.query_heads, part + 1, parts).whole;
    for (int first = count_before(problem.query_heads, part, parts).whole, count; first < heads_end; first += count) {
      const int head = first / group;
      count = at_most(heads_end - first, (head + 1) * group - first);
      call(WorkUnit{0, 1, head, 1, first, count});
    }
    return;
  }
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

template <class Arithmetic>
constexpr bool in_integers = false;
template <>
constexpr bool in_integers<core::Integers> = true;

// How many bytes numbers have: those of a problem's tensors, and the scales of keys and values.
struct TensorFormats {
  core::Format query, output, key, value;
  ptrdiff_t scale_bytes;
};
template <class Arithmetic>
constexpr TensorFormats formats_of() {
  constexpr core::Format format = in_integers<Arithmetic> ? core::Format::int8 : core::Format::float32;
  return {format, format, format, format, 0};
}
template <class Arithmetic>
TensorFormats formats_of(const core::Options& options) {
  constexpr core::Format bytes = core::Format::int8;
  if (in_integers<Arithmetic>) return {bytes, options.output_format, bytes, bytes, sizeof(uint16_t)};
  return {options.query_format, options.output_format, options.key_format, options.value_format, sizeof(float)};
}

// Moves a tensor to another first token and head. With states, and where keys are cut, a problem has no output.
template <class Number>
void move_tensor(core::Tensor<Number>& tensor, int token, int head, core::Format format) {
  core::move_bytes(tensor.data, bytes_of(format, core::distance(tensor, token, head)));
}

// Makes the problem that of one unit of work. In place: a problem is large for a stack.
inline void take_unit(core::Problem& problem, const WorkUnit& work_unit, const TensorFormats& formats) {
  move_tensor(problem.query, work_unit.token, work_unit.query_head, formats.query);
  move_tensor(problem.output, work_unit.token, work_unit.query_head, formats.output);
  move_tensor(problem.key, 0, work_unit.kv_head, formats.key);
  move_tensor(problem.value, 0, work_unit.kv_head, formats.value);
  problem.score_scales += work_unit.query_head * problem.scale_stride;
  problem.output_scales += work_unit.query_head * problem.scale_stride;
  problem.offset = core::offset_after(problem.offset, work_unit.token);
  problem.queries = work_unit.tokens;
  problem.kv_heads = work_unit.kv_heads;
  problem.query_heads = work_unit.query_heads;
}

// Makes the options those of a unit of work.
template <class Options>
void take_options(Options& options, const WorkUnit& work_unit, const TensorFormats& formats) {
  core::move_queries(options, work_unit.token, work_unit.query_head);
  core::move_keys(options, work_unit.kv_head, 0, formats.scale_bytes);
}

// Calls with each unit of a part of a call with options. Into states, tokens count alike: the cut must not depend on keys,
// which a call goes over in several steps.
template <class Options, class Call>
void each_unit(const core::Problem& problem, const Options& options, int part, int parts, Call call) {
  const auto token_work = [&](int token) {
    return token_overhead + (options.states.data != nullptr ? 0 : keys_seen(problem, options, token));
  };
  for_each_unit(problem, part, parts, token_work, call);
}

// Arithmetic::run_part, without and with options. What copies a problem and its options is not inlined: for_each_unit calls it
// in several places, and a copy there would lie on the stack beside the one of the unit that is computed.
template <class Arithmetic>
void run_units(const core::Problem& problem, int part, int parts) {
  const auto token_work = [&](int token) { return token_overhead + visible_keys(problem, token); };
  for_each_unit(problem, part, parts, token_work, [&](const WorkUnit& work_unit) {
    core::Problem unit_problem = problem;
    take_unit(unit_problem, work_unit, formats_of<Arithmetic>());
    Arithmetic::run(unit_problem);
  });
}
template <class Arithmetic, class Options>
void run_units(const core::Problem& problem, const Options& options, int part, int parts) {
  const TensorFormats formats = formats_of<Arithmetic>(options);
  each_unit(problem, options, part, parts, [&](const WorkUnit& work_unit) ATTEND_NOINLINE {
    core::Problem unit_problem = problem;
    Options unit_options = options;
    take_unit(unit_problem, work_unit, formats);
    take_options(unit_options, work_unit, formats);
    Arithmetic::run(unit_problem, unit_options);
  });
}
