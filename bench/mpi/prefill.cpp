#include "prefill.h"

namespace distributed {

namespace {

constexpr int queries_tag = 21, states_tag = 22;
constexpr std::size_t ahead = 4;      // pieces whose queries are on their way
constexpr std::size_t most_open = 3;  // own pieces that wait for others' states
constexpr std::size_t sendings = 4;   // messages with states on their way

// Adds the time until it is gone.
class Timer {
 public:
  explicit Timer(double& sum) : sum_(sum), begin_(MPI_Wtime()) {}
  ~Timer() { sum_ += MPI_Wtime() - begin_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& sum_;
  double begin_;
};

}  // namespace

std::string Failure::text() const {
  const std::string what = error == ATTEND_MPI_REFUSED
                               ? std::string(attend_argument_name(status)) + ": " + attend_error_text(status)
                               : std::string(attend_mpi_error_text(error));
  return "rank " + std::to_string(rank) + ": " + what;
}

attend_problem Prefill::of(const Range& queries) const {
  attend_problem q = problem;
  q.queries = queries.count();
  if (q.offset != ATTEND_DEFAULT_OFFSET) q.offset += queries.first;
  return q;
}

attend_mpi& Prefill::messages_of(const Range& queries) {
  const auto found = messages_.find(queries.count());
  if (found != messages_.end()) return found->second;
  attend_mpi& mpi = messages_[queries.count()];
  const attend_problem q = of(queries);
  const attend_mpi_error error = attend_mpi_open(&mpi, &q);
  if (error != ATTEND_MPI_OK) {
    std::fprintf(stderr, "rank %d: %s\n", rank_, attend_mpi_error_text(error));
    must(mpi.status);
    MPI_Abort(comm_, 1);
  }
  return mpi;
}

// The most bytes of a rank's message about a piece.
std::size_t Prefill::room(const Piece& piece, int rank) const {
  attend_problem q = of(piece.queries);
  q.state_nodes = nodes_of(work(piece, rank));
  return attend_saved_size(&q);
}

// Starts what brings the queries of a piece to the ranks that need them.
void Prefill::exchange_queries(std::size_t index) {
  if (index >= pieces_.size()) return;
  const Piece& piece = pieces_[index];
  const std::size_t bytes =
      std::size_t(problem.batch > 0 ? problem.batch : 1) * std::size_t(piece.queries.count()) * query_bytes;
  const bool is_owner = piece.owner == rank_;
  if (!is_owner && work(piece, rank_).empty()) return;
  Queries& queries = queries_[index];
  queries.numbers = Memory(bytes);
  if (!is_owner) {
    queries.requests.resize(1);
    MPI_Irecv(queries.numbers.data(), int(bytes), MPI_BYTE, piece.owner, queries_tag, comm_, queries.requests.data());
    return;
  }
  read_queries(piece.queries, queries.numbers.data());
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_ || work(piece, rank).empty()) continue;
    queries.requests.emplace_back();
    MPI_Isend(queries.numbers.data(), int(bytes), MPI_BYTE, rank, queries_tag, comm_, &queries.requests.back());
    sent_queries += bytes;
  }
}

// New states that take these keys.
attend_status Prefill::take(attend_problem& q, const std::vector<Stretch>& work, Memory& states) {
  const std::size_t size = attend_state_size(&q);
  q.states = states.grown(size);
  attend_status status = ATTEND_OK;
  if (work.empty()) {
    q.first_key = 0;
    return attend_begin(&q);
  }
  for (const Stretch& stretch : work) {
    const bool is_first = &stretch == &work.front();
    attend_problem run = q;
    run.states = is_first ? states.data() : more_.grown(size);
    run.first_key = stretch.keys.first, run.keys = stretch.keys.end;
    set_keys(run, stretch.of);
    status = attend_begin(&run);
    void* const memory = work_.grown(attend_workspace_size(&run));
    if (status == ATTEND_OK) status = attend_run(&run, memory, work_.size());
    if (status == ATTEND_OK && !is_first) status = attend_merge(&q, more_.data());
    if (status != ATTEND_OK) return status;
  }
  return status;
}

void Prefill::send_states(const Piece& piece, attend_status status) {
  Sending& sending = sending_[next_sending_++ % sending_.size()];
  {
    const Timer timer(waited);
    MPI_Wait(&sending.request, MPI_STATUS_IGNORE);
  }
  const Timer timer(computed);
  attend_mpi& mpi = messages_of(piece.queries);
  const std::size_t size = std::max<std::size_t>(room(piece, rank_), ATTEND_MPI_MARK_BYTES);
  void* const message = sending.bytes.grown(size);
  std::size_t bytes = ATTEND_MPI_MARK_BYTES;
  if (status != ATTEND_OK) {
    attend_mpi_mark(status, message, bytes);
  } else {
    bytes = attend_mpi_message(&mpi, taken_.data(), message, size);
    if (mpi.status != ATTEND_OK) fail(rank_, ATTEND_MPI_REFUSED, mpi.status);
  }
  if (spoil) spoil(sending.bytes, bytes);
  MPI_Isend(message, int(bytes), MPI_BYTE, piece.owner, states_tag, comm_, &sending.request);
  sent_states += bytes;
}

// Merges what has arrived, or waits for all of it. Calls of MPI are also what messages move in.
void Prefill::collect(Open& open, bool all) {
  const Range& queries = pieces_[open.piece].queries;
  for (;;) {
    int index = MPI_UNDEFINED, found = 1;
    MPI_Status status;
    if (all) {
      const Timer timer(waited);
      MPI_Waitany(int(open.requests.size()), open.requests.data(), &index, &status);
    } else {
      MPI_Testany(int(open.requests.size()), open.requests.data(), &index, &found, &status);
    }
    if (!found || index == MPI_UNDEFINED) return;
    const Timer timer(computed);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    attend_mpi& mpi = messages_of(queries);
    attend_problem q = of(queries);
    q.states = received_.grown(attend_state_size(&q));
    const std::size_t at = std::size_t(index);
    const attend_mpi_error error = attend_mpi_read(&mpi, open.messages[at].data(), std::size_t(bytes), received_.data());
    if (error != ATTEND_MPI_OK) {
      fail(open.from[at], error, mpi.status);
      continue;
    }
    q.states = open.states.data();
    const attend_status merged = attend_merge(&q, received_.data());
    if (merged != ATTEND_OK) fail(open.from[at], ATTEND_MPI_REFUSED, merged);
  }
}

void Prefill::finish(Open& open) {
  collect(open, true);
  if (failure_.rank >= 0) return;
  const Timer timer(computed);
  const Range& queries = pieces_[open.piece].queries;
  attend_problem q = of(queries);
  q.states = open.states.data(), q.keys = 0;
  for (const Range& keys : seen(problem, queries)) q.keys = std::max<std::ptrdiff_t>(q.keys, keys.end);
  set_output(q, queries);
  const attend_status status = attend_finish(&q);
  if (status != ATTEND_OK) fail(rank_, ATTEND_MPI_REFUSED, status);
}

// This rank's part of a piece.
void Prefill::compute(std::size_t index) {
  const Piece& piece = pieces_[index];
  const std::vector<Stretch> stretches = work(piece, rank_);
  const bool is_owner = piece.owner == rank_;
  if (is_owner) {
    if (open_.size() == most_open) {
      finish(open_.front());
      open_.pop_front();
    }
    open_.emplace_back();
    Open& open = open_.back();
    open.piece = index;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank != rank_ && !work(piece, rank).empty()) open.from.push_back(rank);
    }
    open.requests.resize(open.from.size());
    for (std::size_t i = 0; i < open.from.size(); ++i) {
      const std::size_t size = room(piece, open.from[i]);
      open.messages.emplace_back(size);
      MPI_Irecv(open.messages[i].data(), int(size), MPI_BYTE, open.from[i], states_tag, comm_, &open.requests[i]);
    }
  }
  if (!is_owner && stretches.empty()) return;
  Queries& queries = queries_[index];
  if (!is_owner) {
    const Timer timer(waited);
    MPI_Waitall(int(queries.requests.size()), queries.requests.data(), MPI_STATUSES_IGNORE);
  }
  attend_problem q = of(piece.queries);
  q.query.data = queries.numbers.data();
  attend_status status;
  {
    const Timer timer(computed);
    status = take(q, stretches, is_owner ? open_.back().states : taken_);
  }
  if (status != ATTEND_OK) fail(rank_, ATTEND_MPI_REFUSED, status);
  if (!is_owner) send_states(piece, status);
}

// Room for whatever order the states of a piece arrive in, and for a rank that is on its way.
void Prefill::set_nodes() {
  int most = nodes_on_the_way(int(problem.keys));
  for (const Piece& piece : pieces_) {
    int nodes = 0;
    for (int rank = 0; rank < ranks_; ++rank) nodes += nodes_of(work(piece, rank));
    most = std::max(most, nodes);
  }
  problem.state_nodes = most;
}

void Prefill::fail(int rank, attend_mpi_error error, attend_status status) {
  if (failure_.rank < 0) failure_ = {rank, error, error == ATTEND_MPI_REFUSED ? status : attend_status(ATTEND_OK)};
}

Failure Prefill::agree() const {
  struct {
    int rank, where;
  } mine = {failure_.rank < 0 ? ranks_ : failure_.rank, rank_}, lowest;
  MPI_Allreduce(&mine, &lowest, 1, MPI_2INT, MPI_MINLOC, comm_);
  if (lowest.rank == ranks_) return Failure();
  int what[] = {int(failure_.error), int(failure_.status)};
  MPI_Bcast(what, 2, MPI_INT, lowest.where, comm_);
  return {lowest.rank, attend_mpi_error(what[0]), attend_status(what[1])};
}

Failure Prefill::run(MPI_Comm comm) {
  comm_ = comm, failure_ = Failure(), sending_ = std::vector<Sending>(sendings);
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  pieces_ = pieces(division, piece_queries);
  set_nodes();
  for (std::size_t i = 0; i < ahead; ++i) exchange_queries(i);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    exchange_queries(i + ahead);
    compute(i);
    for (Open& open : open_) collect(open, false);
    const auto sent = queries_.find(i);
    if (sent != queries_.end()) {
      const Timer timer(waited);
      MPI_Waitall(int(sent->second.requests.size()), sent->second.requests.data(), MPI_STATUSES_IGNORE);
      queries_.erase(sent);
    }
    if (progress) progress(i + 1, pieces_.size());
  }
  for (Open& open : open_) finish(open);
  open_.clear();
  for (Sending& sending : sending_) MPI_Wait(&sending.request, MPI_STATUS_IGNORE);
  const Failure failure = agree();
  for (auto& messages : messages_) attend_mpi_close(&messages.second);
  messages_.clear();
  return failure;
}

}  // namespace distributed
