// expect: attend: max_tokens must be at least 1
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8, max_tokens = 0;
};

attend::FormatCache<Shape, attend::float16> cache;
