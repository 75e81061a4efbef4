// expect: nothing
#include "objects.h"

bool correct() {
  const bool stored = cache.append(key, value);
  attend::attention(query, key, value, output, workspace);
  attend::prefill(query, cache, output, prefill_workspace);
  attend::decode(token_query, cache, token_output);
  attend::decode_part(token_query, cache, partials, all_options, half);
  attend::decode_part(query, cache, query_partials, all_options, half);
  attend::decode_finish(cache, partials, token_output, all_options);
  attend::decode_finish(cache, query_partials, output, all_options);
  return stored;
}
