// States as bytes, for other programs and machines: what a state has been through, in a form that depends on nothing else. Any
// backend and byte order writes the same bytes for the same keys, however they were cut into calls and states, as far as bits
// are promised at all; where they are not (src/guide/arithmetic.md, "What may differ"), bytes may differ too.
//
// All words have 32 bits, the lowest byte first: SavedHead; the numbers of the nodes (segments.h), ascending; then for each row
// its nodes, and the open segment if there is one. In floats, a node has [value_dim] sums, the denominator and the maximum that
// they are relative to; the open segment 16 partial denominators, [value_dim] sums, [value_dim] of the open chain, and their
// maximum. In integers, both have [value_dim] sums, exponent and denominator.
//
// Numbers are as in the state, so finish() gives the same bits before and after: in a state the maximum of a segment is its
// highest score, rounded up, on every backend. But zeros are positive, and there is one NaN, 0x7fc00000; where a denominator is
// NaN, all numbers are, and the maximum is the lowest one.
#pragma once

#include "options.h"

namespace attend::core {

struct SavedHead {
  uint32_t magic;         // saved_magic
  uint32_t bits_version;  // ATTEND_BITS_VERSION of who saved it
  uint32_t check;         // sum of all other words
  uint32_t words;         // of everything
  uint32_t arithmetic;    // 0: floats, 1: integers
  int32_t batch, queries, query_heads, value_dim;
  int32_t next_key;      // where the states stopped: inside an open segment unless it is a multiple of segment_keys
  int32_t nodes;         // of finished segments
  uint32_t settings[9];  // of the calls that they were taken with; zeros where the surface leaves those to the caller
};
inline constexpr uint32_t saved_magic = 0x74537441;  // "AtSt"

// Words of a row's node, of its open segment, and of everything.
constexpr size_t saved_node_words(int value_dim) { return size_t(value_dim) + 2; }
constexpr size_t saved_open_words(bool integers, int value_dim) {
  return integers ? saved_node_words(value_dim) : 2 * size_t(value_dim) + size_t(panel_keys) + 1;
}
constexpr size_t saved_words(bool integers, ptrdiff_t rows, int value_dim, int nodes, bool is_open) {
  return sizeof(SavedHead) / 4 + size_t(nodes) +
         size_t(rows) * (size_t(nodes) * saved_node_words(value_dim) + (is_open ? saved_open_words(integers, value_dim) : 0));
}

enum class Loaded { ok, damaged, other_bits };

// A hash or check sum with another word in it. Each step can be undone, so that another word always makes another one.
inline uint32_t hash_with(uint32_t hash, uint32_t word) {
  hash = (hash ^ word) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

// Writes states, [batch][queries][query_heads] of state_floats(value_dim, room) or as many integers side by side; bytes has
// room for saved_words. Of the head batch ... next_key and settings must be set, the rest is.
void save(SavedHead& head, const float* states, int room, uint8_t* bytes);
void save_integers(SavedHead& head, const void* states, int room, uint8_t* bytes);  // of int32_t, as above
inline void save(SavedHead& head, const int32_t* states, int room, uint8_t* bytes) { save_integers(head, states, room, bytes); }

// Reads the head; whether these are saved states, whole and of these bits. Nothing else may be done with them before.
Loaded read_head(const uint8_t* bytes, size_t size, SavedHead& head);

// What save has written. The states have room for head.nodes or more. Their owner's number is 0.
void load(const SavedHead& head, const uint8_t* bytes, float* states, int room);
void load_integers(const SavedHead& head, const uint8_t* bytes, void* states, int room);
inline void load(const SavedHead& head, const uint8_t* bytes, int32_t* states, int room) {
  load_integers(head, bytes, states, room);
}

}  // namespace attend::core
