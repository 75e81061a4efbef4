// Random problems, computed: by one process, and by ranks that have their parts of it.
#include <cstdio>
#include <cstring>
#include <thread>

#include "problem.h"

namespace distributed {

namespace {

void run(const attend_problem& q) {
  Memory work(attend_workspace_size(&q));
  must(attend_check(&q));
  must(attend_run(&q, work.data(), work.size()));
}

}  // namespace

// ---- One process ----

void World::run_threads(const attend_problem& q, int threads) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&q, i, threads] {
      Memory work(attend_workspace_size(&q));
      must(attend_run_part(&q, i, threads, work.data(), work.size()));
    });
  }
  for (std::thread& thread : all) thread.join();
}

bool World::run_whole(int rank) {
  bool same = true;
  if (rank == 0) {
    attend_problem q = given(0, keys_);
    q.state_nodes = ATTEND_DEFAULT_STATE_NODES;  // there are no states
    write_to(q);
    const Memory cache = cached(q, 0, keys_);
    run(q);
    whole_output_ = output_, whole_lse_ = lse_;
    for (const int threads : {1, 2, 3}) {
      spoil_outputs();
      run_threads(q, threads);
      same = std::memcmp(output_.data(), whole_output_.data(), used_output()) == 0 && same;
      if (!integers_) same = std::memcmp(lse_.data(), whole_lse_.data(), lse_.size()) == 0 && same;
    }
  } else {
    whole_output_ = Memory(output_.size()), whole_lse_ = Memory(lse_.size());
  }
  MPI_Bcast(whole_output_.data(), int(whole_output_.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(whole_lse_.data(), int(whole_lse_.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  return same;
}

// ---- Many ranks ----

Memory World::took(int rank) { return took(division_.keys[std::size_t(rank)][0]); }

Memory World::took(const Range& keys) {
  Memory states(attend_state_size(&p));
  attend_problem q = given(keys.first, keys.end);
  q.states = states.data(), q.first_key = keys.first;
  must(attend_begin(&q));
  if (keys.is_empty()) return states;
  const Memory cache = cached(q, keys.first, keys.end);
  if (keys.count() > 64) {
    q.keys = keys.first + keys.count() / 64 * 32;
    run(q);
    q.first_key = q.keys, q.keys = keys.end;
  }
  run(q);
  return states;
}

bool World::finishes_as_whole(Memory& states) {
  spoil_outputs();
  attend_problem q = given(0, keys_);
  q.states = states.data();
  write_to(q);
  const Memory cache = cached(q, 0, keys_);
  const attend_status status = attend_finish(&q);
  if (status != ATTEND_OK) std::printf("     %s: %s\n", attend_argument_name(status), attend_error_text(status));
  return status == ATTEND_OK && std::memcmp(output_.data(), whole_output_.data(), used_output()) == 0 &&
         (integers_ || std::memcmp(lse_.data(), whole_lse_.data(), lse_.size()) == 0);
}

Prefill World::prefill(int rank, int piece) {
  Prefill prefill;
  const std::ptrdiff_t heads = p.query_heads;
  prefill.problem = p, prefill.division = division_, prefill.piece_queries = piece;
  prefill.problem.key_lengths = lengths_.empty() ? nullptr : lengths_.data();
  if (integers_) prefill.problem.constants = &constants_;
  prefill.query_bytes = std::size_t(heads * p.head_dim) * number_bytes();
  prefill.read_queries = [this, bytes = prefill.query_bytes](const Range& queries, void* numbers) {
    const std::size_t count = std::size_t(queries.count()) * bytes;
    for (int row = 0; row < p.batch; ++row) {
      std::memcpy(static_cast<unsigned char*>(numbers) + std::size_t(row) * count,
                  query_.at(std::size_t(row * p.queries + queries.first) * bytes), count);
    }
  };
  for (const Range& keys : division_.keys[std::size_t(rank)]) {
    attend_problem q = p;
    if (!keys.is_empty()) caches_[keys.first] = cached(q, keys.first, keys.end);
  }
  prefill.set_keys = [this](attend_problem& q, const Range& keys) {
    if (has_cache_) {
      q.cache = caches_[keys.first].of<attend_cache>(), q.origin = keys.first;
    } else {
      const attend_problem arrays = given(keys.first, keys.end);
      q.key = arrays.key, q.value = arrays.value, q.origin = arrays.origin;
    }
  };
  prefill.set_output = [this, heads](attend_problem& q, const Range& queries) {
    const std::ptrdiff_t width = heads * p.value_dim;
    q.output = {output_.at(std::size_t(queries.first * width) * number_bytes()), p.queries * width, width, p.value_dim};
    if (!integers_) q.lse = {lse_.of<float>() + queries.first * heads, p.queries * heads, heads, 1};
  };
  return prefill;
}

// Copies rows of these queries.
void World::keep_rows(const Ranges& queries, const Memory& from, Memory& to, std::size_t token_bytes) const {
  for (const Range& range : queries) {
    for (int row = 0; row < p.batch; ++row) {
      const std::size_t at = std::size_t(row * p.queries + range.first) * token_bytes;
      std::memcpy(to.at(at), static_cast<const unsigned char*>(from.data()) + at, std::size_t(range.count()) * token_bytes);
    }
  }
}

bool World::prefills_as_whole(int rank, int piece) {
  spoil_outputs();
  Memory output = output_, lse = lse_;
  const Ranges& own = division_.queries[std::size_t(rank)];
  keep_rows(own, whole_output_, output, std::size_t(p.query_heads * p.value_dim) * number_bytes());
  if (!integers_) keep_rows(own, whole_lse_, lse, std::size_t(p.query_heads) * sizeof(float));
  const Failure failure = prefill(rank, piece).run(MPI_COMM_WORLD);
  if (failure.rank >= 0) std::printf("     %s\n", failure.text().c_str());
  return failure.rank < 0 && std::memcmp(output_.data(), output.data(), used_output()) == 0 &&
         std::memcmp(lse_.data(), lse.data(), lse_.size()) == 0;
}

}  // namespace distributed
