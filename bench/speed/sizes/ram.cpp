// The memory of three models, as the sizes of variables that size.sh reads: a layer's cache, and what a call of one token works
// in. Nothing is linked.
#include <attend/attend.h>
#include <attend/integer.h>

struct Keyword {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 8, max_tokens = 64;
};
struct Motion {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 16;
};
struct LastSecond {
  static constexpr int window = 97;
};
struct Story {
  static constexpr int query_heads = 8, kv_heads = 4, head_dim = 32, max_tokens = 256;
};

template <class Type>
struct Bytes {
  char bytes[sizeof(Type)];
};

extern "C" {
Bytes<attend::KvCache<Keyword>> ram_keyword_cache;
Bytes<attend::Workspace<Keyword, 1>> ram_keyword_work;
Bytes<attend::RingCache<Motion, LastSecond>> ram_motion_cache;
Bytes<attend::OptionWorkspace<Motion, 1, attend::over_ring<LastSecond>>> ram_motion_work;
Bytes<attend::KvCache<Story, attend::int8>> ram_story_cache;
Bytes<attend::OptionWorkspace<Story, 1>> ram_story_work;
}
