// Prefill of a long sequence whose tokens are divided over the ranks in a zigzag: causal attention, one call for all tokens.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "prefill.h"
#include "run_prefill.h"

namespace distributed {

namespace {

Prefill prefill_of(std::vector<Block>& blocks, int tokens, int ranks, int piece) {
  Prefill prefill;
  prefill.problem = problem_of(tokens, tokens);
  prefill.problem.options = ATTEND_CAUSAL, prefill.problem.offset = 0;
  prefill.division = zigzag(tokens, ranks), prefill.piece_queries = piece;
  prefill.query_bytes = query_row * sizeof(float);
  prefill.read_queries = [&blocks](const Range& queries, void* numbers) {
    Block& block = block_with(blocks, queries.first);
    std::memcpy(numbers, block.query.of<float>() + std::size_t(queries.first - block.tokens.range.first) * query_row,
                std::size_t(queries.count()) * query_row * sizeof(float));
  };
  prefill.set_keys = [&blocks](attend_problem& q, const Range& keys) { block_with(blocks, keys.first).tokens.set(q); };
  prefill.set_output = [&blocks](attend_problem& q, const Range& queries) {
    block_with(blocks, queries.first).rows.set(q, queries.first);
  };
  return prefill;
}

// The bytes that all ranks would send if the keys and values that queries see came to them instead.
double bytes_of_keys(const Division& division) {
  double tokens = 0;
  for (std::size_t r = 0; r < division.keys.size(); ++r) {
    for (std::size_t other = 0; other < division.keys.size(); ++other) {
      int last = 0;
      for (const Range& queries : division.queries[other]) last = queries.is_empty() ? last : std::max(last, queries.end);
      for (const Range& keys : division.keys[r]) {
        if (r != other) tokens += Range{keys.first, std::min(keys.end, last)}.count();
      }
    }
  }
  return tokens * 2 * row * sizeof(float);
}

}  // namespace

bool run_prefill(const Session& session, int tokens, int piece) {
  const int ranks = session.ranks;
  const Division division = zigzag(tokens, ranks);
  std::vector<Block> blocks;
  for (const Range& range : division.queries[std::size_t(session.rank)]) blocks.emplace_back(range);
  Prefill prefill = prefill_of(blocks, tokens, ranks, piece);
  Progress progress(session.rank, "prefill, pieces");
  prefill.progress = [&](std::size_t done, std::size_t all) {
    progress.say(double(done), double(all), double(done) / double(all) * tokens);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime(), processor_begin = processor_seconds();
  const Failure failure = prefill.run(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  double processor = processor_seconds() - processor_begin;
  MPI_Reduce(session.rank == 0 ? MPI_IN_PLACE : &processor, &processor, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (failure.rank >= 0) {
    if (session.rank == 0) std::fprintf(stderr, "%s\n", failure.text().c_str());
    return false;
  }
  int verified = 0;
  const bool same = are_as_of_one_process(session.rank, blocks, division, verified);

  int own = 0;
  for (const Block& block : blocks) own += block.tokens.range.count();
  const double mine[] = {double(own),   prefill.computed * 1e3,       prefill.waited * 1e3,
                         seconds * 1e3, double(prefill.sent_queries), double(prefill.sent_states)};
  constexpr int columns = sizeof mine / sizeof *mine;
  std::vector<double> all(std::size_t(columns * ranks));
  MPI_Gather(mine, columns, MPI_DOUBLE, all.data(), columns, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (session.rank != 0) return same;
  std::printf("%d tokens, %d query heads over %d key heads of %d, %d ranks, pieces of %d queries\n\n", tokens, query_heads,
              kv_heads, dim, ranks, piece);
  std::printf("%4s  %9s  %11s  %10s  %13s  %12s\n", "rank", "tokens", "compute, ms", "wait, ms", "queries sent", "states sent");
  double queries = 0, states = 0;
  for (int r = 0; r < ranks; ++r) {
    const double* const of = &all[std::size_t(columns * r)];
    queries += of[4], states += of[5];
    std::printf("%4d  %9.0f  %11.1f  %10.1f  %13.0f  %12.0f\n", r, of[0], of[1], of[2], of[4], of[5]);
  }
  std::printf("\nit takes %.1f ms, and %.1f ms of processors of all ranks", seconds * 1e3, processor * 1e3);
  const double each = double(tokens) * ranks;
  std::printf(
      "\n%.1f tokens a second; bytes a token and rank: %.0f of queries and %.0f of states (%.0f if keys and values "
      "travelled)\n",
      tokens / seconds, queries / each, states / each, bytes_of_keys(division) / each);
  std::printf("%s: %d rows at the ends of blocks, output and log-sum-exp, beside calls of one process\n",
              same ? "same bits" : "OTHER BITS", verified);
  return same;
}

}  // namespace distributed
