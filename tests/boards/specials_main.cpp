// Problems with NaN, infinities and huge numbers planted in queries, keys and values, some of them masked: one hash
// of all outputs, the same on every target. All NaNs count as the same, as do zeros of either sign, and subnormals count as
// zero.
#include "../../bench/boards/platform.h"
#include "../conformance/hash.h"
#include "../support/random.h"
#include "attend/core/attention.h"

namespace {

constexpr uint64_t expected = 0x64e999c7887f8ebd;
constexpr int problems = 300, most_tokens = 90, most_queries = 5, most_dims = 20;

float query[most_queries * 2 * most_dims], key[most_tokens * most_dims], value[most_tokens * most_dims];
float output[most_queries * 2 * most_dims], panels[attend::core::cache_key_floats(1, most_dims, most_tokens)];
float rows[most_tokens * most_dims];
alignas(attend::config::alignment) float scratch[attend::core::scratch_floats(4, 64, most_dims, most_dims, most_tokens, false)];

// An element of a tensor becomes one of these, or stays as it is.
void plant(attend_test::Random& random, float* tensor, int count, int kinds) {
  constexpr float specials[] = {__builtin_nanf(""), __builtin_inff(), -__builtin_inff(), 3e38f, -3e38f, 1e20f, 4e6f};
  if (random.between(0, 2) == 0) tensor[random.between(0, count - 1)] = specials[random.between(0, kinds - 1)];
}

void compute(attend_test::Random& random, bool cached) {
  attend::core::Problem p{};
  const int group = random.between(1, 2);
  p.query_heads = group;
  p.kv_heads = 1;
  p.head_dim = random.between(1, most_dims);
  p.value_dim = random.between(1, most_dims);
  p.queries = random.between(1, most_queries);
  p.keys = random.between(1, most_tokens);
  p.causal = random.between(0, 2) != 0;
  p.offset = random.between(-2, p.keys);
  p.scale = 0.5f;
  p.row_block = random.between(1, 4);
  p.key_block = attend::chain_keys;
  p.scratch = scratch;
  const int query_floats = p.queries * group * p.head_dim;
  random.fill(query, size_t(query_floats), 2.0f);
  random.fill(key, size_t(p.keys * p.head_dim), 2.0f);
  random.fill(value, size_t(p.keys * p.value_dim));
  plant(random, query, query_floats, 7);
  plant(random, key, p.keys * p.head_dim, 7);
  plant(random, value, p.keys * p.value_dim, 1);  // a weight near 0 may be 0, and 0 times infinity is something else
  p.query = {query, group * p.head_dim, p.head_dim};
  p.output = {output, group * p.value_dim, p.value_dim};
  p.key = {key, p.head_dim, 0};
  p.value = {value, p.value_dim, 0};
  if (cached) {
    const attend::core::Cache cache = {panels, rows, 1, p.head_dim, p.value_dim, most_tokens};
    attend::core::store(cache, 0, p.keys, {key, p.head_dim, 0}, {value, p.value_dim, 0});
    p.key = {panels, 0, 0};
    p.value = {rows, p.value_dim, 0};
    p.key_panels = true;
  }
  attend::core::Floats::run(p);
}

}  // namespace

int firmware::run() {
  uint64_t found = attend_test::hash_begin;
  int special = 0;
  for (int i = 0; i < problems; ++i) {
    for (int cached = 0; cached < 2; ++cached) {
      attend_test::Random random{uint64_t(i)};
      for (float& x : output) x = 0.0f;
      compute(random, cached != 0);
      found = attend_test::hash_floats(found, output, sizeof output / sizeof *output);
      for (const float x : output) special += x != x;
    }
  }
  print_number(uint64_t(problems));
  print(" problems with specials, ");
  print_number(uint64_t(special));
  if (found == expected) {
    print(" outputs NaN: the expected bits\n");
    return 0;
  }
  print(" outputs NaN: expected 0x");
  print_number(expected, 16, 16);
  print(", found 0x");
  print_number(found, 16, 16);
  print("\n");
  return 1;
}
