// Attention of many queries to many keys, both divided over the ranks of MPI (context parallelism). Keys stay where they are.
// The queries are taken in pieces, in an order that all ranks know. The owner of a piece sends its queries, some pieces ahead,
// to the ranks whose keys they see; each of these runs them over its own keys and sends the owner its saved states, which are
// merged as they arrive. Both travel while the next pieces are computed, and what causality or windows hide is neither computed
// nor sent. The bits are those of one call, whatever the division.
//
// No rank has more in memory than its own tokens and, of a few pieces, queries and states.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "attend_mpi.h"
#include "memory.h"
#include "ranges.h"

namespace distributed {

// What went wrong first, on the lowest rank that something went wrong on; the same on every rank.
struct Failure {
  int rank = -1;  // whose states it is about; -1: nothing went wrong
  attend_mpi_error error = ATTEND_MPI_OK;
  attend_status status = ATTEND_OK;  // of ATTEND_MPI_REFUSED
  std::string text() const;
};

class Prefill {
 public:
  // ---- Set before run, all but the functions the same on every rank ----

  attend_problem problem;  // extents and options, of all queries and keys: without arrays; run sets state_nodes
  Division division;
  int piece_queries = 256;      // at most
  std::size_t query_bytes = 0;  // of the queries of one token and batch row
  // Writes own queries, [batch][token][head][dim].
  std::function<void(const Range& queries, void* numbers)> read_queries;
  // Sets key and value and their strides, or a cache, and the origin: the keys of one of this rank's ranges.
  std::function<void(attend_problem&, const Range& keys)> set_keys;
  // Sets output and lse and their strides: rows of own queries.
  std::function<void(attend_problem&, const Range& queries)> set_output;
  std::function<void(std::size_t done, std::size_t all)> progress;  // after each piece; may be empty
  std::function<void(Memory& message, std::size_t& bytes)> spoil;   // of tests: states before they are sent; may be empty

  // Collective. Where something went wrong, on whatever rank, outputs are not to be used.
  Failure run(MPI_Comm comm);

  // ---- Of this rank's run ----

  std::size_t sent_queries = 0, sent_states = 0;  // bytes
  double computed = 0, waited = 0;                // seconds: in the library; for messages

 private:
  // A piece whose states this rank collects, or whose queries it has or awaits.
  struct Open {
    std::size_t piece;
    std::vector<int> from;
    std::vector<MPI_Request> requests;
    std::vector<Memory> messages;
    Memory states;
  };
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    Memory bytes;
  };
  struct Queries {
    Memory numbers;
    std::vector<MPI_Request> requests;
  };

  attend_problem of(const Range& queries) const;
  attend_mpi& messages_of(const Range& queries);
  std::vector<Stretch> work(const Piece& piece, int rank) const {
    return stretches(problem, piece.queries, division.keys[std::size_t(rank)]);
  }
  std::size_t room(const Piece& piece, int rank) const;
  void exchange_queries(std::size_t index);
  attend_status take(attend_problem& q, const std::vector<Stretch>& work, Memory& states);
  void send_states(const Piece& piece, attend_status status);
  void collect(Open& open, bool all);
  void finish(Open& open);
  void compute(std::size_t index);
  void set_nodes();
  void fail(int rank, attend_mpi_error error, attend_status status);
  Failure agree() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  std::vector<Piece> pieces_;
  std::map<int, attend_mpi> messages_;  // by the number of queries
  std::map<std::size_t, Queries> queries_;
  std::deque<Open> open_;
  std::vector<Sending> sending_;
  std::size_t next_sending_ = 0;
  Memory taken_, more_, received_, work_;
  Failure failure_;
};

}  // namespace distributed
