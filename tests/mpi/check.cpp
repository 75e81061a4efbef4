// Random problems whose keys are divided over the ranks, added up by MPI_Reduce, MPI_Allreduce and messages along a tree:
// outputs and log-sum-exps are, byte for byte, those of one call, whose threads give the same. So are those of prefill, whose
// queries are divided too. And what goes wrong has its name on every rank.
//   check [ROUNDS]         of each kind of problem
//   check ROUNDS decode    of that alone
//   check dies HOW         rank 1 does, amid a prefill
#include "check.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../bench/mpi/session.h"

namespace distributed {

int rank, ranks;

namespace {

int passed = 0, failed_here = 0;

// The same on every rank: whether it is so on all of them counts.
bool on_all(bool here) {
  int mine = here, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

// A tree in which the others' states come to rank 0: in rounds, the later half of those that are left sends to the first.
bool add_up_along_tree(attend_mpi& mpi, const World& world, Memory& states) {
  attend_problem problem = world.p;
  Memory other(attend_state_size(&problem));
  problem.states = states.data();
  bool good = true;
  for (int left = ranks; left > 1;) {
    const int half = (left + 1) / 2;
    if (rank >= half && rank < left)
      return attend_mpi_send(&mpi, states.data(), rank - half, 7, MPI_COMM_WORLD) == ATTEND_MPI_OK && good;
    if (rank + half < left) {
      if (attend_mpi_receive(&mpi, other.data(), rank + half, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != ATTEND_MPI_OK)
        return false;
      if (attend_merge(&problem, other.data()) != ATTEND_OK) return false;
    }
    left = half;
  }
  return good;
}

// Some sequences of the same extents at once, so that algorithms that divide an array among ranks have one.
bool decodes_as_one_process(Kind kind, std::uint64_t seed) {
  attend_test::Random random(seed);
  const int sequences = random.between(0, 2) == 0 ? 1 : random.between(2, 11);
  std::vector<World> worlds;
  const std::uint64_t extents = random.bits();
  for (int i = 0; i < sequences; ++i) worlds.emplace_back(Form::decode, kind, extents, random.bits(), ranks);
  bool good = true;
  for (World& world : worlds) good = world.run_whole(rank) && good;
  attend_mpi mpi;
  if (attend_mpi_open(&mpi, &worlds[0].p) != ATTEND_MPI_OK) return false;
  Memory packed(mpi.length * std::size_t(sequences)), reduced(packed.size()), allreduced(packed.size());
  for (int i = 0; i < sequences; ++i) {
    Memory states = worlds[std::size_t(i)].took(rank);
    good = attend_mpi_pack(&mpi, states.data(), packed.at(std::size_t(i) * mpi.length)) == ATTEND_OK && good;
    good = add_up_along_tree(mpi, worlds[std::size_t(i)], states) && good;
    if (rank == 0) good = worlds[std::size_t(i)].finishes_as_whole(states) && good;
  }
  MPI_Reduce(packed.data(), reduced.data(), sequences, mpi.type, mpi.merge, ranks - 1, MPI_COMM_WORLD);
  MPI_Allreduce(packed.data(), allreduced.data(), sequences, mpi.type, mpi.merge, MPI_COMM_WORLD);
  for (int i = 0; i < sequences; ++i) {
    World& world = worlds[std::size_t(i)];
    Memory states(attend_state_size(&world.p));
    for (Memory* of : {&reduced, &allreduced}) {
      if (of == &reduced && rank != ranks - 1) continue;
      good = attend_mpi_unpack(&mpi, of->at(std::size_t(i) * mpi.length), states.data()) == ATTEND_OK && good;
      good = good && world.finishes_as_whole(states);
    }
  }
  if (rank == ranks - 1) good = std::memcmp(reduced.data(), allreduced.data(), reduced.size()) == 0 && good;
  if (!good) std::printf("     rank %d, seed %d\n", rank, int(seed));
  attend_mpi_close(&mpi);
  return good;
}

bool prefills_as_one_process(Kind kind, std::uint64_t seed) {
  attend_test::Random random(seed + 50);
  const std::uint64_t extents = random.bits();
  World world(Form::prefill, kind, extents, random.bits(), ranks);
  bool good = world.run_whole(rank);
  good = world.prefills_as_whole(rank, random.between(20, 200)) && good;
  if (!good) std::printf("     rank %d, seed %d\n", rank, int(seed));
  return good;
}

}  // namespace

void count(bool here, const std::string& what) {
  const bool all = on_all(here);
  all ? ++passed : ++failed_here;
  if (rank == 0) std::printf("%s %s\n", all ? "ok  " : "FAIL", what.c_str());
}

}  // namespace distributed

using namespace distributed;

int main(int argc, char** argv) {
  const Session session(argc, argv);
  rank = session.rank, ranks = session.ranks;
  if (argc > 2 && std::strcmp(argv[1], "dies") == 0) return check_death(argv[2]);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 6;
  const bool only_decode = argc > 2 && std::strcmp(argv[2], "decode") == 0;
  int problems = 0;
  for (const Kind kind : all_kinds) {
    for (const bool is_prefill : {false, true}) {
      if (is_prefill && only_decode) continue;
      int good = 0;
      for (int round = 0; round < rounds; ++round) {
        const std::uint64_t seed = std::uint64_t(round) * 100 + unsigned(ranks);
        good += on_all(is_prefill ? prefills_as_one_process(kind, seed) : decodes_as_one_process(kind, seed));
      }
      problems += rounds;
      count(good == rounds, std::string(is_prefill ? "prefill, " : "decode, ") + name_of(kind) + ": " + std::to_string(good) +
                                " of " + std::to_string(rounds) + " random problems have the bits of one process");
    }
  }
  check_what_goes_wrong();
  if (rank == 0) std::printf("%d random problems, %d passed, %d failed\n", problems, passed, failed_here);
  return failed_here != 0;
}
