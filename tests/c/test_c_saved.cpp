// States of the C surface as bytes: they are what was saved, whoever loads them, and any other bytes are refused.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/guarded.h"
#include "attend/core/saved.h"
#include "c_state_world.h"

using namespace attend_test;
using namespace attend_test::taken_apart;
namespace core = attend::core;

namespace {

using Bytes = std::vector<unsigned char>;

attend_problem with(const Merged& merged, void* states, int room = ATTEND_DEFAULT_STATE_NODES) {
  attend_problem q = merged.p;
  q.states = states, q.state_nodes = room;
  return q;
}

Bytes saved(const attend_problem& q) {
  const std::size_t most = attend_saved_size(&q);
  Bytes bytes(most, 0x5a);
  std::size_t count = 0;
  const attend_status status = attend_save(&q, bytes.data(), most, &count);
  REQUIRE_MESSAGE(status == ATTEND_OK, explain(status));
  REQUIRE(count <= most);
  for (std::size_t i = count; i < most; ++i) REQUIRE(bytes[i] == 0x5a);
  bytes.resize(count);
  // No byte less will do, and who does not ask how many there are need not.
  Bytes again(count, 0x5a);
  const Bytes none = again;
  CHECK(attend_save(&q, again.data(), count - 1, nullptr) == wrong(ATTEND_TOO_SMALL, ATTEND_ARG_SIZE));
  CHECK(again == none);
  CHECK(attend_save(&q, again.data(), count, nullptr) == ATTEND_OK);
  CHECK(again == bytes);
  return bytes;
}
Bytes saved(const Merged& merged, Merged::States& states) { return saved(with(merged, states.data())); }

// The states of bytes that begin at any address, in memory that held something else.
Merged::States loaded(const Merged& merged, const Bytes& bytes, Random& random) {
  Merged::States states(attend_state_size(&merged.p) / sizeof(float), 1e9f);
  const std::size_t past = std::size_t(random.between(0, 3));
  Bytes moved(past + bytes.size() + past);
  std::memcpy(moved.data() + past, bytes.data(), bytes.size());
  const attend_problem q = with(merged, states.data());
  const attend_status status = attend_load(&q, moved.data() + past, bytes.size() + past);
  REQUIRE_MESSAGE(status == ATTEND_OK, explain(status));
  return states;
}

// Load refuses bytes, and leaves the states alone.
attend_status refused(const Merged& merged, const unsigned char* bytes, std::size_t size,
                      int room = ATTEND_DEFAULT_STATE_NODES) {
  attend_problem q = with(merged, nullptr, room);
  Merged::States states(attend_state_size(&q) / sizeof(float), 1e9f);
  q.states = states.data();
  const attend_status status = attend_load(&q, bytes, size);
  if (status != ATTEND_OK) CHECK(same_bits(states, Merged::States(states.size(), 1e9f)));
  return status;
}

core::SavedHead head_of(const Bytes& bytes) {
  core::SavedHead head;
  REQUIRE(core::read_head(bytes.data(), bytes.size(), head) == core::Loaded::ok);
  return head;
}

// Puts a word in its place, and the sum that it asks for, which saved.cpp defines.
std::uint32_t word_of(const Bytes& bytes, std::size_t at) {
  return std::uint32_t(bytes[4 * at]) | std::uint32_t(bytes[4 * at + 1]) << 8 | std::uint32_t(bytes[4 * at + 2]) << 16 |
         std::uint32_t(bytes[4 * at + 3]) << 24;
}
void put(Bytes& bytes, std::size_t at, std::uint32_t word) {
  for (std::size_t i = 0; i < 4; ++i) bytes[4 * at + i] = static_cast<unsigned char>(word >> 8 * i);
}
std::uint32_t bits_of(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
void put_sum(Bytes& bytes, std::size_t words) {
  std::uint32_t sum = core::saved_magic;
  for (std::size_t i = 0; i < words && 4 * i + 4 <= bytes.size(); ++i) {
    if (i == 2) continue;
    sum = (sum ^ word_of(bytes, i)) * 0x9e3779b1u;
    sum ^= sum >> 15;
  }
  put(bytes, 2, sum);
}
enum Word : std::size_t {
  bits_version = 1,
  words = 3,
  arithmetic = 4,
  batch = 5,
  query_tokens = 6,
  heads = 7,
  width = 8,
  next_key = 9,
  nodes = 10,
  first_number = 20
};

const attend_status corrupt = wrong(ATTEND_CORRUPT, ATTEND_ARG_BYTES);

}  // namespace

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

TEST_CASE("c saved: a head that was made up, with the right sum, leads nowhere") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 3 * segment + 32, 1, 2, random);
    Merged::States states = merged.took(0, merged.keys, random);
    const Bytes bytes = saved(merged, states);
    const std::uint32_t all = word_of(bytes, words);
    const auto check = [&](Bytes changed, const std::string& what) {
      INFO(what);
      put_sum(changed, word_of(changed, words));
      for (const Flush flush : {Flush::end, Flush::begin}) {
        GuardedCopy guarded(changed.data(), changed.size(), flush);
        CHECK(refused(merged, guarded.data(), changed.size()) == corrupt);
        CHECK(guarded.is_intact());
      }
    };
    for (const Word word : {words, arithmetic, batch, query_tokens, heads, width, next_key, nodes}) {
      const std::uint32_t is = word_of(bytes, word);
      for (const std::uint32_t to : {0u, is - 1, is + 1, 0x7fffffffu, 0x80000000u, 0xffffffffu, 1u << 16, 1u << 30, all}) {
        // Two segments are open or not, so these two are states as well.
        if (to == is || (word == next_key && to == is - 1) || (word == next_key && to == is + 1)) continue;
        if (word == arithmetic && to == uint32_t(!integers)) continue;  // has another size, or is the other arithmetic's
        Bytes changed = bytes;
        put(changed, word, to);
        check(changed, "word " + std::to_string(word) + ": " + std::to_string(to));
      }
    }
    // Products that are right in 32 or 64 bits alone.
    for (int i = 0; i < 2000; ++i) {
      Bytes changed(80 + 4 * std::size_t(random.between(0, 9)), 0);
      std::memcpy(changed.data(), bytes.data(), 80);
      put(changed, words, std::uint32_t(changed.size() / 4));
      for (const Word word : {batch, query_tokens, heads, width, nodes}) put(changed, word, 1u << random.between(0, 30));
      put(changed, next_key, random.between(0, 1) == 0 ? 1u << 30 : (1u << 30) + 1);
      check(changed, "products " + std::to_string(i));
    }
    // 2^16 rows of 2^16 + 2 words each, or 2^17 of 2^15 + 1, which are 2^17 in 32 bits.
    Bytes many(4 * ((std::size_t(1) << 17) + 20), 0);
    std::memcpy(many.data(), bytes.data(), 80);
    put(many, words, (1u << 17) + 20), put(many, batch, integers ? 1u << 16 : 1u << 17), put(many, query_tokens, 1),
        put(many, heads, 1);
    put(many, nodes, 0), put(many, width, integers ? 1u << 16 : (1u << 14) - 8);
    check(many, "rows of 2^32 words");
    // Nodes: none, others' and twice the same, beyond the next key, before the one before, and two that make one.
    REQUIRE(word_of(bytes, nodes) == 2);
    for (const auto& [first, second] : {std::pair<std::uint32_t, std::uint32_t>{0, 5},
                                        {2, 0x80000001u},
                                        {2, 2},
                                        {2, 3},
                                        {2, 7},
                                        {5, 2},
                                        {2, 1u << 30},
                                        {1, 3},
                                        {1u << 30, 5},
                                        {0x7fffffffu, 0x7fffffffu},
                                        {2, 6}}) {
      Bytes changed = bytes;
      put(changed, first_number, first), put(changed, first_number + 1, second);
      check(changed, "nodes " + std::to_string(first) + " " + std::to_string(second));
    }
    // Exponents and denominators that integers cannot have.
    for (const bool of_last : {false, true}) {
      if (!integers) continue;
      const std::size_t first = first_number + 2, at = of_last ? all - 2 : first + value_dim;
      for (const auto& [exponent, denominator] :
           {std::pair<std::uint32_t, std::uint32_t>{0x20000001, 1}, {0xdfffffff, 1}, {0, 0x80000000}}) {
        Bytes changed = bytes;
        put(changed, at, exponent), put(changed, at + 1, denominator);
        check(changed, "exponent " + std::to_string(exponent) + ", denominator " + std::to_string(denominator));
      }
    }
    // Maxima that are no whole numbers.
    for (const bool of_last : {false, true}) {
      if (integers) continue;
      const std::size_t at = of_last ? all - 1 : first_number + 2 + value_dim + 1;
      for (const std::uint32_t max : {0x3f000000u, 0xbfc00000u, 0xcaffffffu, 0x00000001u, 0x7f800000u, 0xffc00000u}) {
        Bytes changed = bytes;
        put(changed, at, max);
        check(changed, "maximum " + std::to_string(max));
      }
    }
    // Sums of anything can be made up: they are taken, and lead nowhere either.
    for (int i = 0; i < 200; ++i) {
      Bytes changed = bytes;
      std::size_t at = first_number + 2;
      const auto put_sums = [&](std::size_t count) {
        for (; count-- > 0; ++at) put(changed, at, std::uint32_t(random.bits()));
      };
      for (int row = 0; row < 4; ++row) {
        for (const bool open : {false, false, true}) {
          put_sums(integers ? value_dim : open ? 16 + 2 * value_dim : value_dim + 1);
          if (integers) {
            put(changed, at++, std::uint32_t(random.between(-(1 << 29), 1 << 29)));
            put(changed, at++, std::uint32_t(random.bits()) >> 1);
          } else {
            put(changed, at++, bits_of(float(random.between(-(1 << 29), 1 << 29))));
          }
        }
      }
      REQUIRE(at == all);
      put_sum(changed, all);
      Merged::States any = loaded(merged, changed, random);
      saved(merged, any);
      Merged::States other = merged.took(0, 0, random);
      CHECK(merged.merge(other, any) == ATTEND_OK);
      CHECK(merged.finish(any, merged.keys) == ATTEND_OK);
    }
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
