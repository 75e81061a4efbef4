// expect: attend: a workspace needs at least 1 query token
#include <attend/attend.h>

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8;
};

attend::Workspace<Shape, 0, 5> workspace;
