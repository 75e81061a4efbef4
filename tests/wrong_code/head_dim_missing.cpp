// expect: attend: add `static constexpr int head_dim
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2;
};

attend::Query<Shape> query;
