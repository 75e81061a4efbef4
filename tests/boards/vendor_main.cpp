// What somebody who has copied the library writes first: tokens into a cache, attention over it and over arrays. Prints which
// code computed and then the bits of every output, for tests/scripts/check_firmware.sh.
#include <attend/attend.h>

#include "../../bench/boards/platform.h"

namespace {

struct Wake {  // 4 query heads share 2 key/value heads
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 20, value_dim = 7, max_tokens = 70;
};
constexpr int chunk = 5;

attend::KvCache<Wake> cache;
attend::Workspace<Wake, chunk> prefill_work;
attend::Workspace<Wake, chunk, chunk> work;
attend::Query<Wake, chunk> query;
attend::Key<Wake, chunk> key;
attend::Value<Wake, chunk> value;
attend::Output<Wake, chunk> output;

// The same numbers on every target: multiples of 1/64 between -4 and 4.
template <int tokens, int heads, int width>
void fill(float (&to)[tokens][heads][width], uint32_t& state) {
  for (auto& token : to) {
    for (auto& head : token) {
      for (float& number : head) {
        state = state * 1664525 + 1013904223;
        number = float(int(state >> 23) - 256) / 64.0f;
      }
    }
  }
}

template <int tokens, int heads, int width>
void print_bits(const float (&numbers)[tokens][heads][width]) {
  for (const auto& token : numbers) {
    for (const auto& head : token) {
      for (const float& number : head) {
        uint32_t bits;
        ATTEND_MEMCPY(&bits, &number, sizeof bits);
        firmware::print_number(bits, 16, 8);
        firmware::print(" ");
      }
    }
    firmware::print("\n");
  }
}

}  // namespace

int firmware::run() {
  print(attend::active_backend());
  print("\n");
  uint32_t state = 1;
  attend::Output<Wake> one_output;
  while (cache.length() < Wake::max_tokens) {
    fill(query.data, state);
    fill(key.data, state);
    fill(value.data, state);
    if (cache.append(key, value) != attend::Status::ok) return 1;
    if (attend::prefill(query, cache, output, prefill_work) != attend::Status::ok) return 1;
    print_bits(output.data);
  }
  attend::Query<Wake> one_query;
  fill(one_query.data, state);
  if (attend::decode(one_query, cache, one_output) != attend::Status::ok) return 1;
  print_bits(one_output.data);
  if (attend::attention(query, key, value, output, work, attend::causal()) != attend::Status::ok) return 1;
  print_bits(output.data);
  return 0;
}
