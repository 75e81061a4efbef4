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
  }
  return "unknown status";
}
