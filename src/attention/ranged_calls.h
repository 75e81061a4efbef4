// Calls whose queries see ranges of keys, or belong to several documents, become several calls without either.
//
// Nothing that computes attention knows of ranges. From query to query, the begin and the end of ranges mostly stay the same or
// move on by one key: chunks, a prefix that all tokens of it see, spans of images, windows. Such a run of queries is a call
// with a first key, a window, or fewer keys. A document is a call over arrays that begin with it.

// Whether anything asks where queries are among the keys.
inline bool uses_positions(const core::Problem& problem, const core::Options& options) {
  return problem.causal || options.left >= 0 || options.right >= 0 || options.alibi_slopes != nullptr ||
         options.relative != nullptr;
}

// Queries from `token` on whose ranges one call can have, and which of their limits move from query to query.
struct RangeRun {
  int token;
  int tokens;
  int position;  // of the first query, in the call
  KeyRange document;
  KeyRange range;  // of the first query
  bool first_moves;
  bool end_moves;
};

inline RangeRun run_from(const core::Problem& problem, const core::Options& options, const core::Ranges& ranges, int token) {
  const KeyRange document = document_of(ranges, token, problem.keys);
  int most = problem.queries - token;
  if (ranges.boundaries != nullptr) most = at_most(most, document.end - (ranges.token + token));
  int position = ranges.boundaries == nullptr ? core::offset_after(problem.offset, token) : ranges.token + token;
  if (ranges.first == nullptr && ranges.end == nullptr) return {token, most, position, document, document, false, false};
  const KeyRange range = range_of(ranges, token, document);
  const KeyRange next = most > 1 ? range_of(ranges, token + 1, document) : range;
  // A limit that moves becomes a window's, which always holds the query's own key, and leaves sink tokens where they are. Where
  // nothing asks for positions, the first query can have the position of its first key.
  const bool anywhere = !uses_positions(problem, options);
  if (anywhere && range.first <= document.end) position = range.first;
  const bool first_moves = next.first - 1 == range.first && position >= range.first &&
                           (options.sink_tokens == 0 || range.first - document.first >= options.sink_tokens);
  const bool end_moves = next.end - 1 == range.end && position < range.end && int64_t(range.end) - position <= INT32_MAX;
  int tokens = 1;
  for (; tokens < most; ++tokens) {
    const KeyRange other = range_of(ranges, token + tokens, document);
    const bool goes_on =
        other.first - (first_moves ? tokens : 0) == range.first && other.end - (end_moves ? tokens : 0) == range.end;
    if (!goes_on) break;
  }
  return {token, tokens, position, document, range, first_moves, end_moves};
}

// Shows the first columns of the scores as masked keys.
inline void mask_scores(const core::Problem& problem, const core::Options& options, int columns) {
  if (options.scores.data == nullptr) return;
  const float masked = options.score_stage == core::Scores::weights ? 0.0f : -ATTEND_INFINITY;
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      float* const row = element(options.scores, token, head);
      for (int k = 0; k < columns; ++k) row[k] = masked;
    }
  }
}

inline void take_document(core::Problem& problem, core::Options& options, const KeyRange& document,
                          const TensorFormats& formats) {
  mask_scores(problem, options, document.first);
  move_tensor(problem.key, document.first, 0, formats.key);
  move_tensor(problem.value, document.first, 0, formats.value);
  problem.keys = at_least(at_most(problem.keys, document.end) - document.first, 0);
  core::move_keys(options, 0, document.first, formats.scale_bytes);
}

// Keys first ... end - 1 for the first query.
inline void take_range(core::Problem& problem, core::Options& options, const RangeRun& run, int first, int end) {
  if (run.first_moves) {
    const int left = problem.offset - first;
    options.left = options.left < 0 ? left : at_most(options.left, left);
    options.sink_tokens = 0;
  } else {
    options.first_key = at_least(options.first_key, first);
  }
  if (run.end_moves) {
    const int right = end - 1 - problem.offset;
    options.right = options.right < 0 ? right : at_most(options.right, right);
  } else {
    if (options.paging.ring_panels != 0 && options.paging.ring_tokens == 0) options.paging.ring_tokens = problem.keys;
    problem.keys = at_least(at_most(problem.keys, end), 0);
  }
}

template <class Arithmetic>
void run_ranged(const core::Problem& problem, const core::RangedOptions& options) {
  const core::Ranges& ranges = options.ranges;
  // Hosts have code for calls without options, which is faster for short documents.
  const TensorFormats formats = formats_of<Arithmetic>(options);
  const bool plain = !config::embedded && ranges.first == nullptr && ranges.end == nullptr &&
                     has_no_option(options, formats, formats_of<Arithmetic>().query);
  for (int token = 0; token < problem.queries;) {
    const RangeRun some = run_from(problem, options, ranges, token);
    const WorkUnit unit = {token, some.tokens, 0, problem.kv_heads, 0, problem.query_heads};
    core::Problem run_problem = problem;
    core::Options with = options;
    take_unit(run_problem, unit, formats);
    take_options(with, unit, formats);
    if (ranges.boundaries != nullptr) take_document(run_problem, with, some.document, formats);
    const int before = ranges.boundaries != nullptr ? some.document.first : 0;
    run_problem.offset = some.position - before;
    take_range(run_problem, with, some, some.range.first - before, some.range.end - before);
    plain ? Arithmetic::run(run_problem) : Arithmetic::run(run_problem, with);
    token += some.tokens;
  }
}
