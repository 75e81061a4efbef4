// The parameters of the model of cost (model.py), measured: lines of a kind, a size, and the seconds that it takes in the
// median: of the processor, which others on the machine disturb less, and of messages of the clock. All ranks do the same at
// once, so that as many of them as there are cores share memory as ranks of a run do.
#include <cstdio>

#include "run_decode.h"

namespace distributed {

namespace {

constexpr double budget = 0.2;  // seconds for each line, or `fewest` repetitions
constexpr std::size_t fewest = 5, most = 2000;
constexpr int most_of_piece = 8192;
constexpr int new_bytes = 40 << 20;  // more than an allocator keeps: pages that the kernel has to make

// What one call takes by a clock, after one that is not timed. Collective: rank 0 says when it is enough.
template <class Call>
void print_time(const Session& session, const char* kind, double size, const Call& call,
                double (*clock)() = processor_seconds) {
  std::vector<double> times;
  call();
  const double begin = MPI_Wtime();
  for (int is_more = 1; is_more != 0;) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = clock();
    call();
    times.push_back(clock() - before);
    is_more = times.size() < most && (times.size() < fewest || MPI_Wtime() - begin < budget);
    MPI_Bcast(&is_more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (session.rank != 0) return;
  std::printf("%s\t%.0f\t%.9f\n", kind, size, median(times));
}

// One query over 512 keys and twice as many each time.
void measure_run(const Session& session, Tokens& tokens, Queries& token) {
  for (int keys = segment; keys <= tokens.range.end; keys *= 2) {
    print_time(session, "run", keys, [&] { token.take(tokens, keys); });
  }
}

// A piece of a prefill, over 512 keys and twice as many each time.
void measure_piece(const Session& session, Tokens& tokens, int queries) {
  Queries piece(tokens.range.end, nodes_on_the_way(most_of_piece), queries);
  piece.choose_query(0);
  for (int keys = segment; keys <= std::min(tokens.range.end, most_of_piece); keys *= 2) {
    print_time(session, "piece", keys, [&] { piece.take(tokens, keys); });
  }
}

// States of either half of the keys, with room for so many nodes. Of one query: packed as the collective call takes them; of a
// piece: messages of as many bytes as there are. What a rank does once, in each round or for each message, and at the end.
void measure_merge(const Session& session, Tokens& tokens, int nodes, int queries) {
  const int all = std::min(tokens.range.end, most_of_piece), half = all / segment / 2 * segment;
  Queries left(all, nodes, queries), right(all, nodes, queries);
  Tokens rest(Range{half, all});
  left.take(tokens, half);
  right.take(rest, all);
  attend_mpi mpi;
  if (attend_mpi_open(&mpi, &left.p) != ATTEND_MPI_OK) must(mpi.status);
  Memory packed(mpi.length), other(mpi.length), sum(mpi.length);
  if (queries == 1) {
    const double bytes = double(mpi.length);
    print_time(session, "pack", bytes, [&] { must(attend_mpi_pack(&mpi, left.states.data(), packed.data())); });
    must(attend_mpi_pack(&mpi, right.states.data(), other.data()));
    print_time(session, "copy", bytes, [&] { sum = other; });
    print_time(session, "copy and merge", bytes, [&] {
      sum = other;
      MPI_Reduce_local(packed.data(), sum.data(), 1, mpi.type, mpi.merge);
    });
    print_time(session, "unpack", bytes, [&] { must(attend_mpi_unpack(&mpi, sum.data(), left.states.data())); });
  } else {
    std::size_t bytes = attend_mpi_message(&mpi, right.states.data(), other.data(), other.size());
    print_time(session, "save piece", double(bytes),
               [&] { attend_mpi_message(&mpi, left.states.data(), packed.data(), packed.size()); });
    print_time(session, "take keys again", double(bytes), [&] { left.take(tokens, segment); });
    print_time(session, "take keys again and merge piece", double(bytes), [&] {
      left.take(tokens, segment);
      if (attend_mpi_read(&mpi, other.data(), bytes, right.states.data()) != ATTEND_MPI_OK) must(mpi.status);
      attend_problem q = left.p;
      q.states = left.states.data();
      must(attend_merge(&q, right.states.data()));
    });
    left.take(tokens, half);
  }
  print_time(session, queries == 1 ? "finish" : "finish piece", queries, [&] { left.finish(queries == 1 ? all : half); });
  attend_mpi_close(&mpi);
}

// From rank 0 to rank 1 and back.
void measure_messages(const Session& session) {
  for (int bytes = 8; bytes <= 1 << 18; bytes *= 8) {
    Memory memory((std::size_t(bytes)));
    print_time(
        session, "two messages", bytes,
        [&] {
          const auto send = [&](int to) { MPI_Send(memory.data(), bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD); };
          const auto receive = [&](int from) {
            MPI_Recv(memory.data(), bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          };
          if (session.rank == 0) send(1), receive(1);
          if (session.rank == 1) receive(0), send(0);
        },
        MPI_Wtime);
  }
}

}  // namespace

bool run_costs(const Session& session, int wanted, int piece) {
  const int count = std::max(wanted, 2 * segment);  // states of either half are merged
  Tokens tokens(Range{0, count});
  Queries token(count, nodes_on_the_way(count));
  token.choose_query(0);
  measure_run(session, tokens, token);
  const int needed = nodes_on_the_way(count);
  for (int times = 1; times <= 64; times *= 8) measure_merge(session, tokens, needed * times, 1);
  if (session.ranks > 1) measure_messages(session);
  print_time(session, "new memory", new_bytes, [] { const Memory memory(new_bytes); });
  measure_piece(session, tokens, piece);
  measure_merge(session, tokens, nodes_on_the_way(most_of_piece), piece);
  return true;
}

}  // namespace distributed
