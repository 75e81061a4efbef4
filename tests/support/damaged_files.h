// Files that are cut anywhere, or have other bytes in their head.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "random.h"
#include "rounds.h"

namespace attend_test {

// Every shorter file is refused, those within the first `dense` bytes closely; and many of those whose bytes up to `head` change.
template <class IsRefused>
void check_damage(const std::string& good, std::size_t dense, std::size_t head, const IsRefused& is_refused) {
  REQUIRE_FALSE(is_refused(good));
  for (std::size_t length = 1; length < good.size() - 32; length += (length < dense ? 61 : 4001) * std::size_t(stride()))
    CHECK(is_refused(good.substr(0, length)));
  Random random(5);
  int refused = 0;
  for (int i = 0; i < rounds(1000); ++i) {
    std::string bytes = good;
    for (int changes = random.between(1, 3); changes > 0; --changes) {
      bytes[std::size_t(random.between(0, int(head)))] = static_cast<char>(random.between(0, 255));
    }
    refused += is_refused(bytes);
  }
  CHECK(refused > rounds(100));
}

}  // namespace attend_test
