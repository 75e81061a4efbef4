// expect: attend: kv_heads must divide query_heads
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 2, kv_heads = 4, head_dim = 8;
};

attend::Key<Shape> key;
