#include <algorithm>
#include <cstring>

#include "run_prefill.h"

namespace distributed {

namespace {

constexpr int rows_at_end = 4;  // of each block that are verified, at either end
constexpr int output_tag = 31;

// Rows that were computed by all ranks, and by rank 0 alone: in one call, where that has all keys in memory, or in several.
struct Verified {
  Verified(int owner_, const Range& range) : owner(owner_), together(range), alone(range) {}
  const Range& range() const { return together.range; }
  int owner;
  Rows together, alone;
  Memory states;
};

std::vector<Verified> ends_of_blocks(const Division& division) {
  std::vector<Verified> all;
  for (std::size_t r = 0; r < division.queries.size(); ++r) {
    for (const Range& range : division.queries[r]) {
      const Range head{range.first, std::min(range.end, range.first + rows_at_end)};
      for (const Range& some : {head, Range{std::max(head.end, range.end - rows_at_end), range.end}}) {
        if (!some.is_empty()) all.emplace_back(int(r), some);
      }
    }
  }
  return all;
}

// The owner sends its rows to rank 0.
void gather(int rank, Verified& rows, std::vector<Block>& blocks) {
  if (rank == rows.owner) {
    Rows& from = block_with(blocks, rows.range().first).rows;
    std::memcpy(rows.together.output.data(), from.output_at(rows.range().first), rows.together.output.size());
    std::memcpy(rows.together.lse.data(), from.lse_at(rows.range().first), rows.together.lse.size());
  }
  for (Memory* memory : {&rows.together.output, &rows.together.lse}) {
    const int bytes = int(memory->size());
    if (rows.owner == 0) continue;
    if (rank == rows.owner) MPI_Send(memory->data(), bytes, MPI_BYTE, 0, output_tag, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(memory->data(), bytes, MPI_BYTE, rows.owner, output_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Computes the rows over those of these keys that they see, and finishes them if these are the last ones.
void compute(Verified& rows, Tokens& tokens) {
  const Range range = rows.range();
  const int from = range.first / segment * segment, end = std::min(range.end, tokens.range.end);
  Memory query = queries_of(Range{from, range.end});
  attend_problem q = problem_of(range.count(), end);
  q.options = ATTEND_CAUSAL, q.offset = range.first;
  q.query.data = query.of<float>() + std::size_t(range.first - from) * query_row;
  tokens.set(q);
  const bool is_one_call = range.end <= most_together;
  if (!is_one_call) {
    q.state_nodes = nodes_on_the_way(range.end), q.first_key = tokens.range.first;
    q.states = rows.states.grown(attend_state_size(&q));
    if (q.first_key == 0) must(attend_begin(&q));
  } else {
    rows.alone.set(q, range.first);
  }
  Memory work(attend_workspace_size(&q));
  must(attend_check(&q));
  must(attend_run(&q, work.data(), work.size()));
  if (is_one_call || end < range.end) return;
  rows.alone.set(q, range.first);
  must(attend_finish(&q));
}

}  // namespace

bool are_as_of_one_process(int rank, std::vector<Block>& blocks, const Division& division, int& verified) {
  std::vector<Verified> all = ends_of_blocks(division);
  int end = 0, same = 1;
  verified = 0;
  for (Verified& rows : all) {
    gather(rank, rows, blocks);
    end = std::max(end, rows.range().end), verified += rows.range().count();
  }
  for (int first = 0; rank == 0 && first < end; first += most_together) {
    Tokens tokens(Range{first, std::min(end, first + most_together)});
    for (Verified& rows : all) {
      if (rows.range().end > first) compute(rows, tokens);
    }
  }
  if (rank == 0) {
    for (const Verified& rows : all) same = rows.together == rows.alone && same;
  }
  MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return same && verified > 0;
}

}  // namespace distributed
