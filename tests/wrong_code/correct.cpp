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
  attend::attention(query, key, value, output, option_workspace, score_options);
  attend::prefill(query, cache, output, option_workspace, score_options, half);
  attend::prefill(query, half_cache, output, option_workspace);
  attend::prefill(query, ring, output, option_workspace, all_options, half);
  attend::decode(token_query, cache, token_output, option_workspace, score_options);
  attend::decode(token_query, half_cache, token_output, option_workspace, all_options);
  attend::decode(token_query, ring, token_output, option_workspace);
  attend::absorb(query, ring, state, 9, option_workspace, score_options);
  attend::absorb(query, key, value, state, 9, option_workspace, all_options);
  attend::finish(state, output, score_options);
  attend::merge(state, state);
  return stored;
}
