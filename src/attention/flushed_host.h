// Calls of hosts whose vectors flush, where these would lose a factor of a query (kernel/scaled_query.h): in plain C++.

namespace attend::ATTEND_ISA {
namespace {

// Whether any query has such a factor. One of another format is widened to work memory, which has room for it.
template <class Isa>
bool loses_factors(const core::Problem& problem, core::Format format, float scale) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const float* query = element(problem.query, token, head);
      if (format != core::Format::float32) {
        const float* const numbers = moved(problem.query.data, query - problem.query.data, format);
        widen_row<Isa>(format, numbers, problem.head_dim, problem.scratch);
        query = problem.scratch;
      }
      if (loses_factor<Isa>(query, problem.head_dim, scale)) return true;
    }
  }
  return false;
}

// Computes a call in plain C++ if vectors would lose a factor; returns whether. Out of line: other calls are without its stack.
template <class Isa>
ATTEND_NOINLINE bool run_flushed(const core::Problem& problem) {
  if (!loses_factors<Isa>(problem, core::Format::float32, base2_scale(problem.scale))) return false;
  EmbeddedPipeline<Scalar, NoFeatures>(problem).run();
  return true;
}
template <class Isa>
ATTEND_NOINLINE bool run_flushed(const core::Problem& problem, const core::Options& options) {
  if (!loses_factors<Isa>(problem, options.query_format, ScoreFactors(problem, options).query)) return false;
  EmbeddedPipeline<Scalar, AllFeatures>(problem, options).run();
  return true;
}

}  // namespace
}  // namespace attend::ATTEND_ISA
