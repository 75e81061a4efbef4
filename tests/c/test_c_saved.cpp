// States of the C surface as bytes: they are what was saved, whoever loads them, and any other bytes are refused.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "c_saved.h"

using namespace attend_test;
using namespace attend_test::taken_apart;

TEST_CASE("c saved: states that meet through bytes have the bits of one call, and bytes do not depend on the way") {
  std::vector<Bytes> expected;
  int number = 0;
  const char* last = nullptr;
  for_each_backend([&](const char* backend) {
    if (backend != last) last = backend, number = 0;
    for (int round = 0; round < 2 * rounds(16); ++round, ++number) {
      const bool integers = round % 2 != 0;
      INFO(std::string(backend), integers ? " integers " : " floats ", round);
      Random random(std::uint64_t(round) + 77);
      const int tail = random.between(0, 2) == 0 ? 0 : random.between(1, segment - 1);
      Merged merged(integers, segment * random.between(4, 9) + tail, random.between(1, 2), random.between(1, 3), random);
      const std::ptrdiff_t lengths[] = {random.between(0, merged.keys), random.between(0, merged.keys)};
      if (random.between(0, 1) == 0) merged.p.key_lengths = lengths;
      const std::vector<float> whole = merged.whole();
      Merged::States one = merged.took(0, merged.keys, random);
      const Bytes of_one = saved(merged, one);
      if (int(expected.size()) == number) expected.push_back(of_one);
      CHECK(of_one == expected[std::size_t(number)]);
      CHECK(head_of(of_one).next_key == merged.keys);
      for (const std::uint32_t setting : head_of(of_one).settings) CHECK(setting == 0);

      std::vector<Merged::States> all = cut(merged, 3, random);
      while (all.size() > 1) {
        Merged::States from = all.back();
        all.pop_back();
        Merged::States& to = all[std::size_t(random.between(0, int(all.size()) - 1))];
        to = loaded(merged, saved(merged, to), random);
        REQUIRE(merged.merge(to, loaded(merged, saved(merged, from), random)) == ATTEND_OK);
      }
      CHECK(saved(merged, all[0]) == of_one);
      Merged::States again = loaded(merged, of_one, random);
      CHECK(saved(merged, again) == of_one);
      CHECK(merged.finish(again, merged.keys) == ATTEND_OK);
      CHECK(same_bits(merged.output(), whole));
    }
  });
}

TEST_CASE("c saved: a state goes on after any key, with another room for nodes") {
  for_each_arithmetic(6, [](bool integers, Random& random) {
    Merged merged(integers, 3 * segment + 200, 2, 2, random);
    const std::vector<float> whole = merged.whole();
    const int stop = 32 * random.between(0, merged.keys / 32);
    Merged::States states = merged.took(0, stop, random);
    const Bytes bytes = saved(merged, states);
    attend_problem q = with(merged, nullptr, 5);
    Merged::States small(attend_state_size(&q) / sizeof(float), 1e9f);
    q.states = small.data(), q.origin = 0, q.first_key = stop;
    REQUIRE(attend_load(&q, bytes.data(), bytes.size()) == ATTEND_OK);
    CHECK(saved(q) == bytes);
    if (stop < merged.keys) REQUIRE(run_with_exact_workspace(q) == ATTEND_OK);
    merged.p.state_nodes = 5;
    CHECK(merged.finish(small, merged.keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
  });
}

TEST_CASE("c saved: states that saw nothing are a head alone, of more rows than it has words too") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, segment + 40, 2, 11, random);
    const std::vector<float> whole = merged.whole();
    Merged::States nothing = merged.took(0, 0, random), all = merged.took(0, merged.keys, random);
    const Bytes bytes = saved(merged, nothing), of_all = saved(merged, all);
    CHECK(bytes.size() == sizeof(core::SavedHead));
    Merged::States states = loaded(merged, bytes, random);
    CHECK(saved(merged, states) == bytes);
    REQUIRE(merged.merge(states, all) == ATTEND_OK);
    CHECK(saved(merged, states) == of_all);
    CHECK(merged.finish(states, merged.keys) == ATTEND_OK);
    CHECK(same_bits(merged.output(), whole));
    Bytes far = bytes;
    put(far, next_key, ATTEND_MAX_TOKENS + segment);
    put_sum(far, far.size() / 4);
    CHECK(refused(merged, far.data(), far.size()) == corrupt);
  });
}

TEST_CASE("c saved: every byte that is changed and every length that is cut is refused") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 2 * segment + 32, 2, 1, random);
    Merged::States states = merged.took(0, merged.keys, random);
    Bytes bytes = saved(merged, states);
    REQUIRE(refused(merged, bytes.data(), bytes.size()) == ATTEND_OK);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const unsigned char before = bytes[at];
      bytes[at] = static_cast<unsigned char>(before ^ (1 << random.between(0, 7)));
      const attend_status status = refused(merged, bytes.data(), bytes.size());
      CHECK(status == (at / 4 == bits_version ? wrong(ATTEND_OTHER_BITS, ATTEND_ARG_BYTES) : corrupt));
      bytes[at] = before;
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const GuardedCopy short_one(bytes.data(), size);
      CHECK(refused(merged, const_cast<GuardedCopy&>(short_one).data(), size) == corrupt);
    }
  });
}

TEST_CASE("c saved: other extents, the other arithmetic and too many nodes") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 7 * segment, 1, 2, random);
    Merged::States states = merged.took(0, merged.keys, random);
    const Bytes bytes = saved(merged, states);
    const attend_status other = wrong(ATTEND_MISMATCH, ATTEND_ARG_BYTES);
    const attend_problem p = merged.p;
    for (std::ptrdiff_t attend_problem::*extent :
         {&attend_problem::batch, &attend_problem::queries, &attend_problem::query_heads, &attend_problem::value_dim}) {
      merged.p.*extent += 1;
      CHECK(refused(merged, bytes.data(), bytes.size()) == other);
      merged.p = p;
    }
    const Merged opposite(!integers, 7 * segment, 1, 2, random);
    CHECK(refused(opposite, bytes.data(), bytes.size()) == other);
    CHECK(refused(merged, bytes.data(), bytes.size(), 3) == ATTEND_OK);
    CHECK(refused(merged, bytes.data(), bytes.size(), 2) == wrong(ATTEND_TOO_SMALL, ATTEND_ARG_STATE_NODES));
  });
}

TEST_CASE("c saved: states whose rows took different keys are corrupt") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 3 * segment, 1, 2, random);
    Merged::States states = merged.took(0, 2 * segment, random), other = merged.took(segment, 2 * segment, random);
    const std::ptrdiff_t half = std::ptrdiff_t(states.size() / 2);
    attend_problem q = with(merged, states.data());
    q.origin = 0, q.first_key = 2 * segment;
    CHECK(run_with_exact_workspace(q) == ATTEND_OK);
    states = merged.took(0, 2 * segment, random);
    std::copy(other.begin() + half, other.end(), states.begin() + half);
    q.states = states.data();
    CHECK(run_with_exact_workspace(q) == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES));
  });
}

TEST_CASE("c saved: nothing beside the bytes is read or written") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    for (const int keys : {1, 32, segment, segment + 96, 3 * segment}) {
      Merged merged(integers, keys, 1, 2, random);
      Merged::States states = merged.took(0, keys, random);
      const Bytes bytes = saved(merged, states);
      for (const Flush flush : {Flush::end, Flush::begin}) {
        Guarded to(bytes.size(), flush), at(attend_state_size(&merged.p), flush, sizeof(float));
        attend_problem q = with(merged, states.data());
        REQUIRE(attend_save(&q, to.data(), bytes.size(), nullptr) == ATTEND_OK);
        CHECK(std::memcmp(to.data(), bytes.data(), bytes.size()) == 0);
        q.states = at.data();
        REQUIRE(attend_load(&q, to.data(), bytes.size()) == ATTEND_OK);
        CHECK(saved(q) == bytes);
        CHECK(to.is_intact());
        CHECK(at.is_intact());
      }
    }
  });
}

TEST_CASE("c saved: without rows there is a head alone; what has no size has no saved one") {
  Random random(3);
  Merged merged(false, segment, 1, 1, random);
  for (std::ptrdiff_t attend_problem::*extent : {&attend_problem::batch, &attend_problem::queries}) {
    attend_problem q = merged.p;
    q.*extent = 0;
    Merged::States states(attend_state_size(&q) / sizeof(float));
    q.states = states.data();
    REQUIRE(attend_begin(&q) == ATTEND_OK);
    const Bytes bytes = saved(q);
    CHECK(bytes.size() == 80);
    CHECK(attend_load(&q, bytes.data(), bytes.size()) == ATTEND_OK);
    CHECK(saved(q) == bytes);
  }
  attend_problem q = merged.p;
  const std::size_t rows = 2, nodes_words = ATTEND_DEFAULT_STATE_NODES * (value_dim + 2);
  CHECK(attend_saved_size(&q) == 4 * (20 + ATTEND_DEFAULT_STATE_NODES + rows * (nodes_words + 2 * value_dim + 17)));
  q.value_dim = 0;
  CHECK(attend_saved_size(&q) == 0);
  CHECK(attend_saved_size(nullptr) == 0);
  if (sizeof(void*) < 8) return;
  q.value_dim = 1, q.query_heads = 1, q.state_nodes = 0, q.batch = 1, q.queries = 1;
  for (q.queries = 1 << 26; q.queries <= 1 << 28; q.queries *= 2)
    CHECK((attend_saved_size(&q) > 0) == (20 + 20 * std::uint64_t(q.queries) < std::uint64_t(1) << 32));
}
