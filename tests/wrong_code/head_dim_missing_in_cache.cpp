// expect: attend: add `static constexpr int head_dim
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, max_tokens = 32;
};

attend::KvCache<Shape> cache;
