// What goes wrong in a sum over ranks: damaged, foreign and other states, ranks that cannot compute and ranks that die.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "check.h"

namespace distributed {

namespace {

constexpr attend_status wrong(attend_error error, attend_argument argument) { return int(error) | int(argument) << 8; }

// Saved states as another version of the bits would have written them: whole, and with a check sum that is right.
void make_foreign(Memory& packed) { ++*packed.at(4), ++*packed.at(8); }

// New states of another value_dim, saved.
void make_other_extents(const World& world, Memory& packed) {
  attend_problem other = world.p;
  ++other.value_dim;
  Memory states(attend_state_size(&other));
  other.states = states.data();
  must(attend_begin(&other));
  std::memset(packed.data(), 0, packed.size());
  must(attend_save(&other, packed.data(), packed.size(), nullptr));
}

// The ranks' packed states, of which `spoil` changes some; on every rank the result is this status, of this stage.
bool all_learn(attend_status status, attend_mpi_stage stage, const std::function<void(attend_mpi&, World&, Memory&)>& spoil) {
  World world(Form::decode, Kind::plain, 5, 6, ranks);
  attend_mpi mpi;
  if (attend_mpi_open(&mpi, &world.p) != ATTEND_MPI_OK) return false;
  Memory packed(mpi.length), states = world.took(rank), before = states;
  attend_mpi_pack(&mpi, states.data(), packed.data());
  spoil(mpi, world, packed);
  MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, mpi.type, mpi.merge, MPI_COMM_WORLD);
  attend_mpi_stage found = ATTEND_MPI_NOWHERE;
  bool good = attend_mpi_unpack(&mpi, packed.data(), states.data()) == status && mpi.status == status;
  good = good && std::memcmp(states.data(), before.data(), states.size()) == 0;
  good = good && attend_mpi_refusal(packed.data(), &found) == status && found == stage;
  attend_mpi_close(&mpi);
  return good;
}

// Merges of any three of these, in both orders and both ways of putting brackets, give the same bytes.
bool is_associative() {
  World world(Form::decode, Kind::plain, 5, 6, 4);
  attend_mpi mpi;
  if (attend_mpi_open(&mpi, &world.p) != ATTEND_MPI_OK) return false;
  std::vector<Memory> all;
  const auto packed = [&](const Memory& states) {
    all.emplace_back(mpi.length);
    attend_mpi_pack(&mpi, states.data(), all.back().data());
  };
  for (int r = 0; r < 4; ++r) packed(world.took(r));
  all.push_back(all[0]);
  *all.back().at(40) ^= 1;  // the next key: another sum
  all.push_back(all[1]);
  *all.back().at(0) ^= 1;  // the magic number
  for (const attend_status status : {wrong(ATTEND_MISMATCH, ATTEND_ARG_LATER), wrong(ATTEND_MISSING, ATTEND_ARG_KEY)}) {
    all.emplace_back(mpi.length);
    attend_mpi_mark(status, all.back().data(), mpi.length);
  }
  const auto merged = [&](const Memory& in, Memory inout) {
    MPI_Reduce_local(in.data(), inout.data(), 1, mpi.type, mpi.merge);
    return inout;
  };
  const auto same = [&](const Memory& a, const Memory& b) { return std::memcmp(a.data(), b.data(), mpi.length) == 0; };
  bool good = true;
  for (const Memory& a : all) {
    for (const Memory& b : all) {
      const Memory ab = merged(a, b);
      good = same(ab, merged(b, a)) && good;
      for (const Memory& c : all) good = same(merged(ab, c), merged(a, merged(b, c))) && good;
    }
  }
  attend_mpi_close(&mpi);
  return good;
}

// Rank 0 gets a message of the last rank that is no states of its own; `send` is called by the latter.
bool message_is(attend_mpi_error error, attend_status status,
                const std::function<void(attend_mpi&, World&, const Memory&)>& send) {
  if (ranks == 1) return true;
  World world(Form::decode, Kind::plain, 5, 6, ranks);
  attend_mpi mpi;
  if (attend_mpi_open(&mpi, &world.p) != ATTEND_MPI_OK) return false;
  bool good = true;
  if (rank == ranks - 1) send(mpi, world, world.took(rank));
  if (rank == 0) {
    Memory states = world.took(0), before = states;
    MPI_Status probed;
    const attend_mpi_error found = attend_mpi_receive(&mpi, states.data(), ranks - 1, 8, MPI_COMM_WORLD, &probed);
    good = found == error && std::memcmp(states.data(), before.data(), states.size()) == 0;
    if (error == ATTEND_MPI_REFUSED) good = good && mpi.status == status;
    if (!good) std::printf("     %s\n     %s\n", attend_mpi_error_text(found), attend_error_text(mpi.status));
    if (found == ATTEND_MPI_LONG) {
      int bytes = 0;
      MPI_Get_count(&probed, MPI_BYTE, &bytes);
      Memory rest{std::size_t(bytes)};
      MPI_Recv(rest.data(), bytes, MPI_BYTE, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  attend_mpi_close(&mpi);
  return good;
}

void send_bytes(const void* bytes, std::size_t size) { MPI_Send(bytes, int(size), MPI_BYTE, 0, 8, MPI_COMM_WORLD); }

// A prefill in which rank 0 has all queries, and the last rank, which has all keys, does something wrong: every rank learns
// that it was the last one, and what, and rank 0 writes no row.
bool prefill_names(attend_mpi_error error, attend_status status, const std::function<void(World&, Prefill&)>& spoil) {
  World world(Form::prefill, Kind::grouped, 3, 4, ranks);
  Prefill prefill = world.prefill(rank, 64);
  const std::size_t count = std::size_t(ranks);
  prefill.division = {std::vector<Ranges>(count), std::vector<Ranges>(count)};
  prefill.division.queries[0] = {{0, int(world.p.queries)}};
  prefill.division.keys[count - 1] = {{0, int(world.p.keys)}};
  bool writes = false;
  prefill.set_output = [&](attend_problem&, const Range&) { writes = true; };
  if (rank == ranks - 1) spoil(world, prefill);
  const Failure failure = prefill.run(MPI_COMM_WORLD);
  if (rank == 0 && (failure.rank != ranks - 1 || failure.error != error || failure.status != status))
    std::printf("     %s\n", failure.text().c_str());
  return failure.rank == ranks - 1 && failure.error == error && failure.status == status && !writes;
}

void check_prefill_errors() {
  const auto sends = [](const std::function<void(const World&, Memory&, std::size_t&)>& spoil) {
    return [spoil](World& world, Prefill& prefill) {
      prefill.spoil = [&world, spoil](Memory& message, std::size_t& bytes) { spoil(world, message, bytes); };
    };
  };
  const auto refuses = [&](attend_error error, attend_argument argument, const auto& spoil) {
    return prefill_names(ATTEND_MPI_REFUSED, wrong(error, argument), spoil);
  };
  count(refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_SOFT_CAP,
                [](World&, Prefill& prefill) {
                  prefill.set_keys = [set_keys = prefill.set_keys](attend_problem& q, const Range& keys) {
                    set_keys(q, keys);
                    q.soft_cap = -1;
                  };
                }),
        "prefill: every rank learns which one could not compute");
  if (ranks == 1) return;
  count(prefill_names(ATTEND_MPI_SHORT, ATTEND_OK, sends([](const World&, Memory&, std::size_t& bytes) { bytes -= 4; })),
        "prefill: every rank learns whose message was short");
  count(prefill_names(ATTEND_MPI_FOREIGN, ATTEND_OK,
                      sends([](const World&, Memory& message, std::size_t&) { ++*message.at(0); })),
        "prefill: every rank learns whose message was foreign");
  count(refuses(ATTEND_CORRUPT, ATTEND_ARG_BYTES,
                sends([](const World&, Memory& message, std::size_t&) { *message.at(50) ^= 4; })),
        "prefill: every rank learns whose message was damaged");
  count(refuses(ATTEND_OTHER_BITS, ATTEND_ARG_BYTES,
                sends([](const World&, Memory& message, std::size_t&) { make_foreign(message); })),
        "prefill: every rank learns whose message was of another version of the bits");
  count(refuses(ATTEND_MISMATCH, ATTEND_ARG_BYTES,
                sends([](const World& world, Memory& message, std::size_t&) { make_other_extents(world, message); })),
        "prefill: every rank learns whose message was of other extents");
}

}  // namespace

void check_what_goes_wrong() {
  const int last = ranks - 1;
  const attend_status corrupt = wrong(ATTEND_CORRUPT, ATTEND_ARG_BYTES), extents = wrong(ATTEND_MISMATCH, ATTEND_ARG_BYTES);
  const attend_status foreign = wrong(ATTEND_OTHER_BITS, ATTEND_ARG_BYTES);
  const attend_status twice = wrong(ATTEND_MISMATCH, ATTEND_ARG_LATER), missing = wrong(ATTEND_MISSING, ATTEND_ARG_KEY);
  count(is_associative(), "merges of states, damaged states and marks are commutative and associative");
  count(all_learn(missing, ATTEND_MPI_BY_RANK,
                  [&](attend_mpi& mpi, World&, Memory& packed) {
                    if (rank == last) attend_mpi_mark(missing, packed.data(), mpi.length);
                  }),
        "every rank learns that one could not compute");
  if (ranks > 1) {
    count(all_learn(twice, ATTEND_MPI_MERGING,
                    [&](attend_mpi& mpi, World& world, Memory& packed) {
                      if (rank == last) attend_mpi_pack(&mpi, world.took_all().data(), packed.data());
                      if (rank == 0) attend_mpi_pack(&mpi, world.took_first().data(), packed.data());
                    }),
          "every rank learns that two took the same keys");
    count(all_learn(corrupt, ATTEND_MPI_LOADING,
                    [&](attend_mpi&, World&, Memory& packed) {
                      if (rank == last) *packed.at(50) ^= 4;
                    }),
          "every rank learns that the states of one were damaged");
    count(all_learn(extents, ATTEND_MPI_LOADING,
                    [&](attend_mpi&, World& world, Memory& packed) {
                      if (rank == last) make_other_extents(world, packed);
                    }),
          "every rank learns that the states of one are of other extents");
    count(all_learn(foreign, ATTEND_MPI_LOADING,
                    [&](attend_mpi&, World&, Memory& packed) {
                      if (rank == last) make_foreign(packed);
                    }),
          "every rank learns that the states of one are of another version of the bits");
  }
  check_prefill_errors();
  count(message_is(ATTEND_MPI_SHORT, 0,
                   [](attend_mpi& mpi, World& world, const Memory&) {
                     Memory packed(mpi.length);
                     attend_mpi_pack(&mpi, world.took_all().data(), packed.data());
                     send_bytes(packed.data(), 99);
                   }),
        "a message that is cut short is");
  count(message_is(ATTEND_MPI_SHORT, 0, [](attend_mpi&, World&, const Memory&) { send_bytes("", 0); }),
        "an empty message is short");
  count(message_is(ATTEND_MPI_FOREIGN, 0, [](attend_mpi&, World&, const Memory&) { send_bytes("good morning, rank 0", 20); }),
        "another message is foreign");
  count(message_is(ATTEND_MPI_LONG, 0,
                   [](attend_mpi& mpi, World&, const Memory&) {
                     const Memory more(mpi.length + 1);
                     send_bytes(more.data(), more.size());
                   }),
        "a message of more bytes than states have is long, and is still there");
  const auto sends = [](const std::function<void(const World&, Memory&)>& spoil) {
    return [spoil](attend_mpi& mpi, World& world, const Memory& states) {
      Memory packed(mpi.length);
      attend_mpi_pack(&mpi, states.data(), packed.data());
      spoil(world, packed);
      send_bytes(packed.data(), packed.size());
    };
  };
  count(message_is(ATTEND_MPI_REFUSED, corrupt, sends([](const World&, Memory& packed) { *packed.at(50) ^= 4; })),
        "a damaged message is refused");
  count(message_is(ATTEND_MPI_REFUSED, foreign, sends([](const World&, Memory& packed) { make_foreign(packed); })),
        "a message of another version of the bits is refused");
  count(message_is(ATTEND_MPI_REFUSED, extents, sends(make_other_extents)), "a message of other extents is refused");
  count(message_is(ATTEND_MPI_REFUSED, wrong(ATTEND_TOO_SMALL, ATTEND_ARG_SIZE),
                   [](attend_mpi& mpi, World&, const Memory& states) {
                     Memory little(ATTEND_MPI_MARK_BYTES);
                     send_bytes(little.data(), attend_mpi_message(&mpi, states.data(), little.data(), little.size()));
                   }),
        "states that a message has no room for arrive as their refusal");
  count(message_is(ATTEND_MPI_REFUSED, wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES),
                   [](attend_mpi& mpi, World&, const Memory& states) {
                     const Memory zeros(states.size());
                     attend_mpi_send(&mpi, zeros.data(), 0, 8, MPI_COMM_WORLD);
                   }),
        "states that cannot be saved arrive as their refusal");
}

// A prefill that rank 1 leaves in one of its ways; what the others then print must not be taken for a result.
int check_death(const char* how) {
  const std::string way = how;
  World world(Form::prefill, Kind::grouped, 3, 4, ranks);
  Prefill prefill = world.prefill(rank, 16);
  std::size_t left = 3;
  prefill.progress = [&](std::size_t, std::size_t) {
    if (rank != 1 || --left > 0) return;
    if (way == "kill") std::raise(SIGKILL);
    if (way == "abort") MPI_Abort(MPI_COMM_WORLD, 3);
    if (way == "fail") std::_Exit(3);
    if (way == "leave") std::exit(0);
  };
  const Failure failure = prefill.run(MPI_COMM_WORLD);
  std::printf("output of rank %d: %s\n", rank, failure.rank < 0 ? "whole" : failure.text().c_str());
  return 0;
}

}  // namespace distributed
