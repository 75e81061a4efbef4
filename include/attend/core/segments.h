// The order in which the sums of many segments of keys are added: a balanced binary tree over the numbers of segments, where
// segment i has the keys from i * segment_keys on. Node (0, i) is segment i; node (l, i) is node (l - 1, 2i) + node (l - 1,
// 2i + 1). A segment that a row does not see is zero, which adds exactly. So a sum depends on which segments are in it, and on
// nothing else: not on who summed which of them, nor when.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config.h"

namespace attend::core {

// The whole logarithm in base 2 of a number above 0, without calls of the compiler's library.
[[gnu::always_inline]] constexpr int log2_of_byte(uint32_t n) {
  return (n >= 2) + (n >= 4) + (n >= 8) + (n >= 16) + (n >= 32) + (n >= 64) + (n >= 128);
}
[[gnu::always_inline]] constexpr int floor_log2(uint32_t n) {
  return n < 1u << 8    ? log2_of_byte(n)
         : n < 1u << 16 ? 8 + log2_of_byte(n >> 8)
         : n < 1u << 24 ? 16 + log2_of_byte(n >> 16)
                        : 24 + log2_of_byte(n >> 24);
}

// The most nodes that a call keeps beside the sums of its open segment, where it goes over the keys 0 ... keys - 1.
[[gnu::always_inline]] constexpr int segment_levels(int keys) {
  return keys <= segment_keys ? 0 : floor_log2(uint32_t((keys - 1) / segment_keys + 1));
}

// The levels of a tree over so many segments.
[[gnu::always_inline]] constexpr int levels_over(int segments) {
  return segments > 1 ? floor_log2(uint32_t(segments - 1)) + 1 : 0;
}
// As segment_levels, where a call goes over at most so many keys side by side anywhere, after the first `sinks` keys.
[[gnu::always_inline]] constexpr int window_levels(int keys, int sinks) {
  return sinks > 0 ? levels_over((keys + segment_keys - 2) / segment_keys + (sinks + segment_keys - 1) / segment_keys) + 1
                   : levels_over((keys + segment_keys - 2) / segment_keys + 1);
}

// Positions below 2^31 have at most 2^22 segments, which is 22 levels above them.
inline constexpr int most_levels = 24;

// Complete nodes that make up the segments first ... end - 1: the fewest there are, ascending. Node (l, i) has size = 2^l
// segments, from `first` on.
struct SegmentNode {
  int first;
  int size;
};
[[gnu::always_inline]] inline SegmentNode first_node(int first, int end) {
  int size = 1;
  while ((first & size) == 0 && size <= (end - first) / 2) size *= 2;
  return {first, size};
}
[[gnu::always_inline]] inline int node_count(int first, int end) {
  int count = 0;
  while (first < end) first += first_node(first, end).size, ++count;
  return count;
}

// The most nodes that adjacent segments make up, anywhere among the first `segments`; and that a state of adjacent keys has.
[[gnu::always_inline]] constexpr int nodes_among(int segments) {
  return segments < 2 ? segments : floor_log2(uint32_t(segments + 1)) + floor_log2(uint32_t(segments + 1) * 2 / 3) - 1;
}
[[gnu::always_inline]] constexpr int state_nodes(int keys) { return nodes_among(keys / segment_keys); }

// A node's number, which no other node has: segments have odd numbers, and two joined nodes have the number between theirs.
[[gnu::always_inline]] constexpr int number_of(const SegmentNode& node) { return 2 * node.first + node.size; }
[[gnu::always_inline]] constexpr int size_of(int number) { return number & -number; }
[[gnu::always_inline]] constexpr SegmentNode node_of(int number) {
  return SegmentNode{(number - size_of(number)) / 2, size_of(number)};
}
// The node that a node is joined with, whether the node is the second of both, and the node that they become.
[[gnu::always_inline]] constexpr int partner_of(int number) { return number ^ 2 * size_of(number); }
[[gnu::always_inline]] constexpr bool is_second(int number) { return (number & 2 * size_of(number)) != 0; }
[[gnu::always_inline]] constexpr int joined(int number) { return (number - size_of(number)) | 2 * size_of(number); }

// The keys that any query of a call sees by position: 0 ... sinks - 1, and first ... end - 1. A state passes over all others:
// whole segments among them take neither time nor a node.
struct SeenKeys {
  int sinks;
  int first;
  int end;  // first or more

  // The next of `keys` keys to take, from `key` on: `key` itself, or the first of the window's first chain.
  int next(int key, int keys) const {
    if (key >= sinks && key < first) key = detail::larger(key, first & -chain_keys);
    return key < sinks || (key < end && first < end) ? detail::smaller(key, keys) : keys;
  }
  // The end, in whole chains, of the adjacent keys that begin with a key from next().
  int end_from(int key) const {
    const int sinks_end = whole_chains(sinks);
    return key < sinks && (first == end || sinks_end < (first & -chain_keys)) ? sinks_end : whole_chains(end);
  }
  bool has_segment(int segment) const {
    const int key = segment * segment_keys;
    return key < sinks || (first < end && key < end && key + segment_keys > first);
  }

  // Calls with the keys before `up_to` that a state has to take from `key` on.
  //   run(from, to)    keys that lie side by side; where there are whole segments of them, these alone
  //   leave(from, to)  the open chain or segment ends at `from`, because the state goes on at `to`
  template <class Run, class Leave>
  void go_over(int key, int up_to, Run run, Leave leave) const {
    for (;;) {
      const int from = next(key, up_to);
      if ((from ^ key) >= chain_keys && key % segment_keys != 0 && has_segment(key / segment_keys)) leave(key, from);
      if (from >= up_to) return;
      key = detail::smaller(end_from(from), up_to);
      for (int at = from, stop; at < key; at = stop) run(at, stop = config::embedded ? key : end_of_call(at, key));
    }
  }

 private:
  static int end_of_call(int from, int to) {
    if (from % segment_keys != 0) return detail::smaller(to, (from | (segment_keys - 1)) + 1);
    return from < (to & -segment_keys) ? to & -segment_keys : to;
  }
  static int whole_chains(int count) { return (count + chain_keys - 1) & -chain_keys; }
};

// The segments that a state has been through, as the numbers of the fewest complete nodes, ascending; as it keeps them, with
// other numbers of 32 bits between them.
struct SegmentSet {
  int count;
  const void* numbers;
  ptrdiff_t apart;  // from one to the next
  int number(int n) const {
    int32_t number;
    ATTEND_MEMCPY(&number, static_cast<const char*>(numbers) + n * apart * ptrdiff_t(sizeof number), sizeof number);
    return number;
  }
  SegmentNode node(int n) const { return node_of(number(n)); }
  int end() const {
    if (count == 0) return 0;
    const SegmentNode last = node(count - 1);
    return last.first + last.size;
  }

  // Whether these segments are all in it.
  bool has(int first, int last) const {
    for (int n = 0; n < count && first < last; ++n) {
      const SegmentNode here = node(n);
      if (here.first > first) return false;
      if (first < here.first + here.size) first = here.first + here.size;
    }
    return first >= last;
  }

  // Whether it has all finished segments, among the first `keys` keys, that queries see keys of.
  bool has_all(const SeenKeys& seen, int keys) const {
    const auto end = [=](int key) { return (detail::smaller(key, keys & -segment_keys) + segment_keys - 1) / segment_keys; };
    return has(0, end(seen.sinks)) && has(seen.first / segment_keys, end(seen.end));
  }

  // The most nodes that it has while a state goes on from the end of these segments, or later, at segment `first`, to `last`.
  int most_with(const SeenKeys& seen, int first, int last) const {
    int begin = first, others = count;  // the segments that lie side by side up to `first`
    while (others > 0 && node(others - 1).first + node(others - 1).size == begin) begin = node(--others).first;
    int most = count;
    for (int segment = first; segment < last && segment * segment_keys < seen.end; ++segment) {
      if (!seen.has_segment(segment)) {
        others += node_count(begin, segment);
        begin = segment = detail::larger(segment, seen.first / segment_keys);
      }
      const int nodes = others + node_count(begin, segment + 1);
      if (nodes > most && segment < last) most = nodes;
    }
    return most;
  }

  // The nodes of both together; -1 where they have a segment in common.
  int count_with(const SegmentSet& other) const {
    int nodes = 0, begin = 0, end = 0;  // segments side by side, which are not counted yet
    for (int a = 0, b = 0; a < count || b < other.count;) {
      const bool is_a = b == other.count || (a < count && node(a).first < other.node(b).first);
      const SegmentNode next = is_a ? node(a++) : other.node(b++);
      if (next.first < end) return -1;
      if (next.first > end) nodes += node_count(begin, end), begin = next.first;
      end = next.first + next.size;
    }
    return nodes + node_count(begin, end);
  }
};

// The key that a state goes on with when another has been merged into it; -1 where they cannot be. next, other_next: the key
// that each went on with. An open segment must come after all others, since keys are still to come in it. One that has no
// segment changes nothing; where neither has one, it is the first key of both.
inline int next_of_both(const SegmentSet& set, int next, const SegmentSet& other, int other_next) {
  const bool is_open = next % segment_keys != 0, other_is_open = other_next % segment_keys != 0;
  if (is_open && (other_is_open || other.end() > next / segment_keys)) return -1;
  if (other_is_open && set.end() > other_next / segment_keys) return -1;
  if (set.count_with(other) < 0) return -1;
  if (is_open || other_is_open) return is_open ? next : other_next;
  if (set.count == 0 && other.count == 0) return detail::smaller(next, other_next);
  if (set.count == 0 || other.count == 0) return set.count == 0 ? other_next : next;
  return detail::larger(set.end(), other.end()) * segment_keys;
}

}  // namespace attend::core
