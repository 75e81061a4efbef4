// Rings of integer attention from C: where tokens lie, and which are still held.
#include "integer.h"

namespace attend {
namespace c_surface {
namespace {

// The layout of a ring, in chunks; no chunks where there is no ring, or one that is refused.
struct RingChunks {
  int ring;
  int sinks;
};

RingChunks ring_chunks(const attend_integer_ring& ring) {
  const auto chunks = [](ptrdiff_t tokens) { return int((tokens + integer_chunk - 1) / integer_chunk); };
  const bool right = ring.window_keys >= 1 && ring.window_keys <= ATTEND_MAX_TOKENS && ring.sink_tokens >= 0 &&
                     ring.sink_tokens <= ATTEND_MAX_TOKENS - ring.window_keys;
  // A window may begin within a chunk, and end in another.
  return right ? RingChunks{chunks(ring.window_keys - 1) + 1, chunks(ring.sink_tokens)} : RingChunks{0, 0};
}

}  // namespace

void check_ring(Check& check, const attend_integer_problem& problem, IntegerCall& call) {
  core::IntegerOptions& options = call.options;
  call.rows = problem.keys;
  if (problem.ring.window_keys == 0) return check.require(problem.ring.sink_tokens == 0, ATTEND_NO_EFFECT, ATTEND_ARG_RING);
  const RingChunks chunks = ring_chunks(problem.ring);
  check.require(chunks.ring > 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_RING);
  check.require(problem.key_lengths == nullptr, ATTEND_CONFLICT, ATTEND_ARG_KEY_LENGTHS);
  if (check.failed()) return;
  call.rows = ptrdiff_t(chunks.ring + chunks.sinks) * integer_chunk;
  options.ring_chunks = chunks.ring;
  options.sink_chunks = chunks.sinks;
  const int keys = int(problem.keys), newest = keys > 0 ? (keys - 1) / integer_chunk : 0;
  const int held = newest >= chunks.ring ? (newest - chunks.ring + 1) * integer_chunk : 0;  // from this key on
  const int seen = options.left < 0 ? 0 : call.first.offset - options.left;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  const bool sinks = problem.sink_tokens <= problem.ring.sink_tokens;
  check.require(nobody || held == 0 || (seen >= held && sinks), ATTEND_LOST, ATTEND_ARG_RING);
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

ptrdiff_t attend_integer_ring_rows(const attend_integer_ring* ring) {
  if (ring == nullptr) return 0;
  const RingChunks chunks = ring_chunks(*ring);
  return ptrdiff_t(chunks.ring + chunks.sinks) * integer_chunk;
}

ptrdiff_t attend_integer_ring_row(const attend_integer_ring* ring, ptrdiff_t position) {
  const RingChunks chunks = ring == nullptr ? RingChunks{0, 0} : ring_chunks(*ring);
  if (chunks.ring == 0 || position < 0 || position >= ATTEND_MAX_TOKENS) return -1;
  const int chunk = int(position) / integer_chunk;
  return ptrdiff_t(chunks.sinks + chunk % chunks.ring) * integer_chunk + int(position) % integer_chunk;
}

}  // extern "C"
