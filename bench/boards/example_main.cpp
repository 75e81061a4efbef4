// The first program of README, for boards for which nobody brings the C++ library that the application needs: three tokens are
// appended to a cache and decoded.
#include "attend/attend.h"
#include "platform.h"

namespace {

struct Wake {  // 4 query heads share 2 key/value heads
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32, max_tokens = 64;
};

attend::KvCache<Wake> cache;
attend::Query<Wake> q;
attend::Key<Wake> k;
attend::Value<Wake> v;
attend::Output<Wake> out;

// A number that is not below zero, with three decimals.
void print_decimals(float number) {
  const unsigned thousandths = unsigned(number * 1000.0f + 0.5f);
  firmware::print_number(thousandths / 1000);
  firmware::print(".");
  firmware::print_number(thousandths % 1000, 10, 3);
}

}  // namespace

int firmware::run() {
  for (int token = 0; token < 3; ++token) {
    q[0][0][0] = k[0][0][0] = float(token);
    for (float& x : v[0][0]) x = float(10 * token);
    if (cache.append(k, v) != attend::Status::ok || attend::decode(q, cache, out) != attend::Status::ok) return 1;
    print("token ");
    print_number(uint64_t(token));
    print(": head 0 puts out ");
    print_decimals(out[0][0][0]);
    print("\n");
  }
  return 0;
}
