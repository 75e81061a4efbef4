// States of the C surface as bytes, saved, loaded, and words of them changed.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../support/guarded.h"
#include "attend/core/saved.h"
#include "c_state_world.h"

namespace attend_test::taken_apart {

namespace core = attend::core;

using Bytes = std::vector<unsigned char>;

inline attend_problem with(const Merged& merged, void* states, int room = ATTEND_DEFAULT_STATE_NODES) {
  attend_problem q = merged.p;
  q.states = states, q.state_nodes = room;
  return q;
}

inline Bytes saved(const attend_problem& q) {
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
inline Bytes saved(const Merged& merged, Merged::States& states) { return saved(with(merged, states.data())); }

// The states of bytes that begin at any address, in memory that held something else.
inline Merged::States loaded(const Merged& merged, const Bytes& bytes, Random& random) {
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
inline attend_status refused(const Merged& merged, const unsigned char* bytes, std::size_t size,
                             int room = ATTEND_DEFAULT_STATE_NODES) {
  attend_problem q = with(merged, nullptr, room);
  Merged::States states(attend_state_size(&q) / sizeof(float), 1e9f);
  q.states = states.data();
  const attend_status status = attend_load(&q, bytes, size);
  if (status != ATTEND_OK) CHECK(same_bits(states, Merged::States(states.size(), 1e9f)));
  return status;
}

inline core::SavedHead head_of(const Bytes& bytes) {
  core::SavedHead head;
  REQUIRE(core::read_head(bytes.data(), bytes.size(), head) == core::Loaded::ok);
  return head;
}

// Puts a word in its place, and the sum that it asks for, which saved.cpp defines.
inline std::uint32_t word_of(const Bytes& bytes, std::size_t at) {
  return std::uint32_t(bytes[4 * at]) | std::uint32_t(bytes[4 * at + 1]) << 8 | std::uint32_t(bytes[4 * at + 2]) << 16 |
         std::uint32_t(bytes[4 * at + 3]) << 24;
}
inline void put(Bytes& bytes, std::size_t at, std::uint32_t word) {
  for (std::size_t i = 0; i < 4; ++i) bytes[4 * at + i] = static_cast<unsigned char>(word >> 8 * i);
}
inline void put_sum(Bytes& bytes, std::size_t words) {
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
  arithmetic,
  batch,
  query_tokens,
  heads,
  width,
  next_key,
  nodes,
  first_number = 20
};

constexpr attend_status corrupt = wrong(ATTEND_CORRUPT, ATTEND_ARG_BYTES);

}  // namespace attend_test::taken_apart
