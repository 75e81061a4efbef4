// expect: attend: query_heads must be at least 1
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = -4, kv_heads = 2, head_dim = 8;
};

attend::Output<Shape> output;
