// What a status means, in words.
#include "../include/attend/attention.h"

const char* attend::status_text(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::bad_valid_queries:
      return "valid_queries must lie within 0 and the query tokens of the array (with a causal cache: and the tokens it holds)";
    case Status::bad_valid_keys:
      return "valid_keys must lie within 0 and the key tokens of the array or cache";
    case Status::bad_scale:
      return "scale must not be NaN";
    case Status::bad_part:
      return "a part must have an index within 0 and count - 1, and count within 1 and 65535";
    case Status::bad_window:
      return "window_left and window_right must not be negative, nor window_left wider than what a RingCache keeps";
    case Status::bad_pinned:
      return "pinned must not be negative, nor more than what a RingCache keeps";
    case Status::bad_soft_cap:
      return "soft_cap must be 0, for none, or lie within 1e-30 and 1e30";
    case Status::bad_mask:
      return "a mask must have 1 query or at least valid_queries, and at least valid_keys keys";
    case Status::bad_bias:
      return "a bias must have 1 query or at least valid_queries, and at least valid_keys keys";
    case Status::bad_lse:
      return "lse must have at least valid_queries tokens";
    case Status::bad_scores:
      return "scores must have at least valid_queries tokens and valid_keys keys; a RingCache has no raw or capped ones, a "
             "State "
             "no weights";
    case Status::not_in_ring:
      return "a query sees tokens that the RingCache no longer has: give it a wider window, or more tokens at once";
    case Status::bad_up_to:
      return "up_to must not lie before the key that the state absorbs next";
    case Status::bad_state:
      return "a state must have absorbed something, always for the same queries, of no more keys than there are; one to merge "
             "must "
             "begin where the other stops";
  }
  return "unknown status";
}
