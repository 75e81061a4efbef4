// expect: attend: query_heads must be at least 1
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 0, kv_heads = 1, head_dim = 8;
};

attend::Query<Shape> query;
