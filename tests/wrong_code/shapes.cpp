//! extent_of_double: attend: the constants of shapes and sizes are of type int
struct Wrong {
  static constexpr int query_heads = 4, kv_heads = 2;
  static constexpr double head_dim = 64;
};
attend::Query<Wrong> wrong;

//! array_of_negative_tokens: attend: an array needs at least 1 token
attend::Query<Sized<4, 2>, -1> wrong;

//! array_of_zero_tokens: attend: an array needs at least 1 token
attend::Key<Sized<4, 2>, 0> wrong;

//! head_dim_missing: attend: add `static constexpr int head_dim
struct Wrong {
  static constexpr int query_heads = 4, kv_heads = 2;
};
attend::Query<Wrong> wrong;

//! head_dim_missing_in_cache: attend: add `static constexpr int head_dim
struct Wrong {
  static constexpr int query_heads = 4, kv_heads = 2, max_tokens = 32;
};
attend::KvCache<Wrong> wrong;

//! head_dim_negative: attend: head_dim must be at least 1
attend::Query<Sized<4, 2, -8, 8>> wrong;

//! head_dim_zero: attend: head_dim must be at least 1
attend::Key<Sized<4, 2, 0>> wrong;

//! kv_heads_does_not_divide: attend: kv_heads must divide query_heads
attend::Query<Sized<4, 3>> wrong;

//! kv_heads_exceeds_query_heads: attend: kv_heads must divide query_heads
attend::Key<Sized<2, 4>> wrong;

//! kv_heads_missing: attend: add `static constexpr int kv_heads
struct Wrong {
  static constexpr int query_heads = 4, head_dim = 8;
};
attend::Query<Wrong> wrong;

//! kv_heads_negative: attend: kv_heads must be at least 1
attend::Value<Sized<4, -2>> wrong;

//! kv_heads_zero: attend: kv_heads must be at least 1
attend::Key<Sized<4, 0>> wrong;

//! option_workspace_of_zero_queries: attend: a workspace needs at least 1 query token
attend::OptionWorkspace<Shape, 0> work;

//! query_heads_missing: attend: add `static constexpr int query_heads
struct Wrong {
  static constexpr int kv_heads = 2, head_dim = 8;
};
attend::Key<Wrong> wrong;

//! query_heads_negative: attend: query_heads must be at least 1
attend::Output<Sized<-4, 2>> wrong;

//! query_heads_zero: attend: query_heads must be at least 1
attend::Query<Sized<0, 1>> wrong;

//! value_dim_negative: attend: value_dim must be at least 1
attend::Output<Sized<4, 2, 8, -8>> wrong;

//! value_dim_zero: attend: value_dim must be at least 1
attend::Value<Sized<4, 2, 8, 0>> wrong;

//! workspace_of_zero_keys: attend: a workspace needs at least 1 key token
attend::Workspace<Sized<4, 2>, 3, 0> wrong;

//! workspace_of_zero_queries: attend: a workspace needs at least 1 query token
attend::Workspace<Sized<4, 2>, 0, 5> wrong;
