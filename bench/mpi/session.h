// MPI from its beginning to the end of main.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace distributed {

// A rank that exits before MPI_Finalize has failed, whatever its status: MPICH would take 0 for the success of all.
class Session {
 public:
  Session(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_exit());
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rank = rank_of_exit();
    std::atexit([] {
      int finalized = 0;
      MPI_Finalized(&finalized);
      if (finalized) return;
      std::fprintf(stderr, "rank %d exits before MPI_Finalize\n", rank_of_exit());
      std::_Exit(70);
    });
  }
  ~Session() { MPI_Finalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank = 0, ranks = 1;

 private:
  static int& rank_of_exit() {
    static int number = 0;
    return number;
  }
};

}  // namespace distributed
