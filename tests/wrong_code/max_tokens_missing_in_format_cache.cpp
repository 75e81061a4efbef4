// expect: attend: a FormatCache needs `static constexpr int max_tokens
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8;
};

attend::FormatCache<Shape, attend::float16> cache;
