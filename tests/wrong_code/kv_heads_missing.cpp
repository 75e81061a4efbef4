// expect: attend: add `static constexpr int kv_heads
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, head_dim = 8;
};

attend::Query<Shape> query;
