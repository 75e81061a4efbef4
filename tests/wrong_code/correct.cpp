// expect: nothing
#include "objects.h"

bool correct() {
  const bool stored = cache.append(key, value);
  attend::attention(query, key, value, output, workspace);
  attend::prefill(query, cache, output, prefill_workspace);
  attend::decode(token_query, cache, token_output);
  return stored;
}
