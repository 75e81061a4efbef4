// States of different keys of the same queries, on different threads, processors or machines: saved, loaded and merged.
//
//   attend::save(state, bytes);                       // there; bytes travel
//   attend::load(theirs, bytes, received);            // here
//   attend::merge(mine, theirs);                      // in any order
//   attend::finish(mine, output, options);
#pragma once

#include "states.h"

namespace attend {

// Adds the keys of another state of the same queries, which is not changed, or none, where it has taken none. Each took keys
// (from State::begin on) that the other did not; the bits are those of one state that took them all, in whatever order states
// are merged. A segment of 512 keys is taken by one state. At most one of the two may have an open segment, with keys still to
// come, and none of either may lie behind it: next() is where it stopped; without one, the key after the last segment.
// clang-format off
//   state, other  State<Shape, tokens, nodes>; with room in `state` for the nodes of both
// clang-format on
template <class Shape, int tokens, int nodes>
Status merge(State<Shape, tokens, nodes>& state, const State<Shape, tokens, nodes>& other) {
  using namespace detail;
  Progress& progress = StateAccess::progress(state);
  const Progress& others = StateAccess::progress(other);
  const bool both = progress.begun() && others.begun();  // otherwise one has been in no call, and knows no queries
  if (both && progress.queries() != others.queries()) return Status::bad_state;
  if (both && !same_settings(StateAccess::settings(state), StateAccess::settings(other))) return Status::other_options;
  const auto segments = finished_segments<Shape>(state), added = finished_segments<Shape>(other);
  const int other_next = others.end(), next = core::next_of_both(segments, progress.end(), added, other_next);
  if (next < 0) return Status::bad_state;
  if (!both) {
    if (others.begun()) {
      state = other;
      progress.take(progress.end(), progress.next(), progress.queries());
    }
    if (!progress.begun()) return state.begin(next);
    if (next != progress.end()) progress.merge(next);
    return Status::ok;
  }
  if (segments.count_with(added) > nodes) return Status::too_many_nodes;
  ArithmeticCalls<Shape>::merge(StateAccess::data(state), StateAccess::data(other), other_next % segment_keys != 0,
                                progress.queries() * Checked<Shape>::query_heads, Checked<Shape>::value_dim, nodes);
  progress.merge(next);
  return Status::ok;
}

// The bytes that save() writes of a state as it is, at most State::most_saved_bytes.
template <class Shape, int tokens, int nodes>
size_t saved_bytes(const State<Shape, tokens, nodes>& state) {
  using namespace detail;
  const Progress& progress = StateAccess::progress(state);
  return 4 * core::saved_words(is_integer<Shape>, ptrdiff_t(progress.queries()) * Checked<Shape>::query_heads,
                               Checked<Shape>::value_dim, finished_segments<Shape>(state).count,
                               progress.end() % segment_keys != 0);
}

// Writes a state as bytes for other programs, with a check sum and the version of bits. They depend on the keys that it has
// taken alone, not on backend, byte order, or the order in which keys were taken and states merged (core/saved.h).
// clang-format off
//   state  State<Shape, tokens, nodes>
//   bytes  uint8_t[at least State::most_saved_bytes], of which saved_bytes(state) are written
// clang-format on
template <class Shape, int tokens, int nodes, size_t room>
Status save(const State<Shape, tokens, nodes>& state, uint8_t (&bytes)[room]) {
  using namespace detail;
  static_assert(room >= State<Shape, tokens, nodes>::most_saved_bytes,
                "attend: save takes an array of at least State::most_saved_bytes bytes second");
  const Progress& progress = StateAccess::progress(state);
  core::SavedHead head{};
  head.batch = 1, head.queries = progress.queries(), head.query_heads = Checked<Shape>::query_heads;
  head.value_dim = Checked<Shape>::value_dim, head.next_key = progress.end();
  for (int i = 0; i < CallSettings::count && progress.begun(); ++i) head.settings[i] = StateAccess::settings(state).words[i];
  core::save(head, StateAccess::data(state), nodes, bytes);
  return Status::ok;
}

// Makes a state what was saved: `size` bytes, or the first ones of them. It goes on with the calls, the queries and the options
// that it was taken with. On failure the state is as it was.
template <class Shape, int tokens, int nodes>
Status load(State<Shape, tokens, nodes>& state, const uint8_t* bytes, size_t size) {
  using namespace detail;
  core::SavedHead head;
  const core::Loaded loaded = core::read_head(bytes, size, head);
  if (loaded != core::Loaded::ok) return loaded == core::Loaded::other_bits ? Status::other_bits : Status::bad_saved;
  if (head.arithmetic != uint32_t(is_integer<Shape>) || head.batch != 1 || head.queries > tokens ||
      head.query_heads != Checked<Shape>::query_heads || head.value_dim != Checked<Shape>::value_dim)
    return Status::other_shape;
  if (head.nodes > nodes) return Status::too_many_nodes;
  core::load(head, bytes, StateAccess::data(state), nodes);
  uint32_t any = uint32_t(head.queries);
  for (const uint32_t word : head.settings) any |= word;
  if (any == 0) return state.begin(head.next_key) == Status::ok ? Status::ok : Status::bad_saved;  // of one in no call
  StateAccess::progress(state).take(head.next_key, head.next_key, head.queries);
  for (int i = 0; i < CallSettings::count; ++i) StateAccess::settings(state).words[i] = head.settings[i];
  return Status::ok;
}

template <class... Any>
Status merge(const Any&...) {
  static_assert(sizeof...(Any) > 1000, "attend: merge takes an attend::State and another of the same type");
  return Status::ok;
}

}  // namespace attend
