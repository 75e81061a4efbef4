// expect: attend: an array needs at least 1 token
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8;
};

attend::Key<Shape, 0> key;
