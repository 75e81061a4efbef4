// expect: attend: kv_heads must divide query_heads
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 3, head_dim = 8;
};

attend::Query<Shape> query;
