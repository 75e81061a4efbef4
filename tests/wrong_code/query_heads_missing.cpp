// expect: attend: add `static constexpr int query_heads
#include <attend/attend.h>

struct Shape {
  static constexpr int kv_heads = 2, head_dim = 8;
};

attend::Key<Shape> key;
