// Decode of one token over a long sequence whose keys are divided over the ranks. Each step has a new query; every rank runs it
// over its own keys, and gets the whole output by MPI_Allreduce of packed states.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "run_decode.h"

namespace distributed {

namespace {

struct Times {
  double run = 0, wait = 0, reduce = 0;  // seconds: this rank's keys; for the slowest rank; pack, allreduce, unpack and finish
  std::vector<double> steps, processor;  // seconds of each step, and of this rank's processor in it
};

void step(Queries& token, Tokens& tokens, int keys, attend_mpi& mpi, Memory& packed, Times& times) {
  const double begin = MPI_Wtime(), processor_begin = processor_seconds();
  token.take(tokens, std::min(tokens.range.end, keys));
  const double ran = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  const double together = MPI_Wtime();
  attend_mpi_pack(&mpi, token.states.data(), packed.data());
  MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, mpi.type, mpi.merge, MPI_COMM_WORLD);
  must(attend_mpi_unpack(&mpi, packed.data(), token.states.data()));
  token.finish(keys);
  const double end = MPI_Wtime();
  times.run += ran - begin, times.wait += together - ran, times.reduce += end - together;
  times.steps.push_back(end - begin);
  times.processor.push_back(processor_seconds() - processor_begin);
}

}  // namespace

bool run_decode(const Session& session, int count, int steps) {
  const int rank = session.rank, ranks = session.ranks;
  const std::int64_t segments = (count + segment - 1) / segment;
  const auto cut = [&](int r) { return int(std::min<std::int64_t>(count, segments * r / ranks * segment)); };
  Tokens tokens(Range{cut(rank), cut(rank + 1)});
  int nodes = 0;
  for (int r = 0; r < ranks; ++r) nodes += nodes_of(Range{cut(r), cut(r + 1)});
  Queries token(count, std::max(nodes, nodes_on_the_way(count)));
  attend_mpi mpi;
  if (attend_mpi_open(&mpi, &token.p) != ATTEND_MPI_OK) must(mpi.status);
  Memory packed(mpi.length);

  Times nothing, times;
  token.choose_query(0);
  step(token, tokens, count, mpi, packed, nothing);
  std::size_t saved = 0;
  token.take(tokens, tokens.range.end);
  attend_problem q = token.p;
  q.states = token.states.data();
  must(attend_save(&q, packed.data(), packed.size(), &saved));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  Progress progress(rank, "decode");
  for (int s = 0; s < steps; ++s) {
    token.choose_query(s);
    step(token, tokens, count, mpi, packed, times);
    progress.say(s + 1, steps, s + 1);
  }
  const double seconds = MPI_Wtime() - begin;

  // The same sum over as many of the first tokens as one process can afford, and all of them in one call.
  const int verified = std::min(count, most_together);
  step(token, tokens, verified, mpi, packed, nothing);
  int same = 1;
  if (rank == 0) {
    Memory distributed = token.output;
    Tokens all(Range{0, verified});
    token.run(token.over(all, verified, false));
    same = std::memcmp(distributed.data(), token.output.data(), distributed.size()) == 0;
  }
  MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);

  const double mine[] = {double(tokens.range.count()), times.run / steps * 1e3, times.wait / steps * 1e3,
                         times.reduce / steps * 1e3, double(saved)};
  constexpr int columns = sizeof mine / sizeof *mine;
  std::vector<double> all(std::size_t(columns * ranks));
  std::vector<double> processor(times.processor.size());  // of all ranks
  MPI_Reduce(times.processor.data(), processor.data(), int(processor.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Gather(mine, columns, MPI_DOUBLE, all.data(), columns, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d tokens, %d query heads over %d key heads of %d, %d ranks, %d steps\n\n", count, query_heads, kv_heads, dim,
                ranks, steps);
    std::printf("%4s  %9s  %10s  %10s  %13s  %11s  %11s\n", "rank", "keys", "run, ms", "wait, ms", "allreduce, ms",
                "saved bytes", "sent packed");
    for (int r = 0; r < ranks; ++r) {
      const double* const of = &all[std::size_t(columns * r)];
      std::printf("%4d  %9.0f  %10.3f  %10.3f  %13.3f  %11.0f  %11zu\n", r, of[0], of[1], of[2], of[3], of[4], mpi.length);
    }
    std::printf("\na step takes %.4f ms in the median, %.4f at least, %.4f ms of processors of all ranks\n",
                median(times.steps) * 1e3, *std::min_element(times.steps.begin(), times.steps.end()) * 1e3,
                median(processor) * 1e3);
    int rounds = 0;
    while (1 << rounds < ranks) ++rounds;
    std::printf("%.1f tokens a second; %.0f bytes a token and rank, by an algorithm that sends packed states %d times\n",
                steps / seconds, double(mpi.length) * rounds, rounds);
    std::printf("%s: the first %d tokens, output and log-sum-exp, beside one call of one process\n",
                same ? "same bits" : "OTHER BITS", verified);
  }
  attend_mpi_close(&mpi);
  return same;
}

}  // namespace distributed
