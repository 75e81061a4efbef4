// Saved states whose heads and sums were made up, with the right check sum: they lead nowhere.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "c_saved.h"

using namespace attend_test;
using namespace attend_test::taken_apart;

namespace {

using Changes = std::vector<std::pair<std::size_t, std::uint32_t>>;  // words, and what they become

void check_corrupt(const Merged& merged, Bytes bytes, const Changes& changes) {
  std::string what;
  for (const auto& [at, word] : changes) put(bytes, at, word), what += std::to_string(at) + ": " + std::to_string(word) + ' ';
  INFO("words ", what);
  put_sum(bytes, word_of(bytes, words));
  for (const Flush flush : {Flush::end, Flush::begin}) {
    GuardedCopy guarded(bytes.data(), bytes.size(), flush);
    CHECK(refused(merged, guarded.data(), bytes.size()) == corrupt);
    CHECK(guarded.is_intact());
  }
}

}  // namespace

TEST_CASE("c saved: a head that was made up, with the right sum, leads nowhere") {
  for_each_arithmetic(1, [](bool integers, Random& random) {
    Merged merged(integers, 3 * segment + 32, 1, 2, random);
    Merged::States states = merged.took(0, merged.keys, random);
    const Bytes bytes = saved(merged, states);
    const std::uint32_t all = word_of(bytes, words);
    for (const Word word : {words, arithmetic, batch, query_tokens, heads, width, next_key, nodes}) {
      const std::uint32_t is = word_of(bytes, word);
      for (const std::uint32_t to : {0u, is - 1, is + 1, 0x7fffffffu, 0x80000000u, 0xffffffffu, 1u << 16, 1u << 30, all}) {
        // Two segments are open or not, so these two are states as well.
        if (to == is || (word == next_key && to == is - 1) || (word == next_key && to == is + 1)) continue;
        if (word == arithmetic && to == uint32_t(!integers)) continue;  // has another size, or is the other arithmetic's
        check_corrupt(merged, bytes, {{word, to}});
      }
    }
    // Products that are right in 32 or 64 bits alone.
    const auto power = [&] { return 1u << random.between(0, 30); };
    for (int i = 0; i < 2000; ++i) {
      Bytes made(80 + 4 * std::size_t(random.between(0, 9)), 0);
      std::memcpy(made.data(), bytes.data(), 80);
      check_corrupt(merged, made,
                    {{words, std::uint32_t(made.size() / 4)},
                     {batch, power()},
                     {query_tokens, power()},
                     {heads, power()},
                     {width, power()},
                     {nodes, power()},
                     {next_key, (1u << 30) + std::uint32_t(random.between(0, 1))}});
    }
    // 2^16 rows of 2^16 + 2 words each, or 2^17 of 2^15 + 1, which are 2^17 in 32 bits.
    Bytes many(4 * ((std::size_t(1) << 17) + 20), 0);
    std::memcpy(many.data(), bytes.data(), 80);
    check_corrupt(merged, many,
                  {{words, (1u << 17) + 20},
                   {batch, integers ? 1u << 16 : 1u << 17},
                   {query_tokens, 1},
                   {heads, 1},
                   {nodes, 0},
                   {width, integers ? 1u << 16 : (1u << 14) - 8}});
    // Nodes: none, others' and twice the same, beyond the next key, before the one before, and two that make one.
    REQUIRE(word_of(bytes, nodes) == 2);
    const std::uint32_t pairs[][2] = {{0, 5}, {2, 0x80000001u}, {2, 2}, {2, 3},        {2, 7},
                                      {5, 2}, {2, 1u << 30},    {1, 3}, {1u << 30, 5}, {0x7fffffffu, 0x7fffffffu},
                                      {2, 6}};
    for (const auto& [first, second] : pairs) check_corrupt(merged, bytes, {{first_number, first}, {first_number + 1, second}});
    // Exponents and denominators that integers cannot have, and maxima that are no whole numbers; in the first sums and in the
    // last.
    const std::uint32_t sums[][2] = {{0x20000001, 1}, {0xdfffffff, 1}, {0, 0x80000000}};
    for (const std::size_t at : {first_number + 2 + value_dim + std::size_t(!integers), std::size_t(all) - 1 - integers}) {
      if (integers)
        for (const auto& [exponent, denominator] : sums) check_corrupt(merged, bytes, {{at, exponent}, {at + 1, denominator}});
      if (integers) continue;
      for (const std::uint32_t max : {0x3f000000u, 0xbfc00000u, 0xcaffffffu, 0x00000001u, 0x7f800000u, 0xffc00000u})
        check_corrupt(merged, bytes, {{at, max}});
    }
    // Sums of anything can be made up: they are taken, and lead nowhere either.
    for (int i = 0; i < 200; ++i) {
      Bytes changed = bytes;
      std::size_t at = first_number + 2;
      for (int open = 0; open < 12; ++open) {  // of four rows two nodes, and what is open
        for (int count = integers ? value_dim : open % 3 == 2 ? 16 + 2 * value_dim : value_dim + 1; count-- > 0; ++at)
          put(changed, at, std::uint32_t(random.bits()));
        const int exponent = random.between(-(1 << 29), 1 << 29);
        const float max = float(exponent);
        std::uint32_t bits = std::uint32_t(exponent);
        if (!integers) std::memcpy(&bits, &max, sizeof bits);
        put(changed, at++, bits);
        if (integers) put(changed, at++, std::uint32_t(random.bits()) >> 1);
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
