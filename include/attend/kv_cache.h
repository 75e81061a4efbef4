// Key/value caches: KvCache, of fixed capacity, RingCache, which takes tokens without end, and PagedCache, whose memory many
// sequences share. sizeof is the whole cost in memory.
#pragma once

#include "detail/cache_rows.h"
#include "detail/key_rows.h"

namespace attend {
namespace detail {

// The access of calls to a cache.
struct CacheAccess {
  template <class Cache>
  static constexpr auto& rows(Cache& cache) {
    return cache.rows_;
  }
  // The most queries that a call without a query_length may have: all tokens, unless the last append took a padded array.
  template <class Cache>
  static constexpr int queries_without_length(const Cache& cache) {
    return cache.queries_without_length_;
  }
  template <class Cache>
  static constexpr void count_all(Cache& cache) {
    cache.queries_without_length_ = cache.length_;
  }
};

// Base of all caches: tokens are appended and counted.
template <class Shape, class Rows, int capacity, int tokens_at_once>
class CacheTokens {
 public:
  constexpr CacheTokens() : rows_(), length_(0), queries_without_length_(0) {}

  // Adds the first count tokens of key and value after those already here. If count is wrong, there is no room for them, or one
  // of their numbers is finite and too large for the cache's format, no token changes, and the status is bad_count, cache_full
  // or out_of_range. A RingCache is full when length() would pass 2^31 - 512.
  // clang-format off
  //   key    Key<Shape, tokens>
  //   value  Value<Shape, tokens>
  // clang-format on
  template <class KeyArray, class ValueArray>
  Status append(const KeyArray& key, const ValueArray& value, int count = Traits<KeyArray>::tokens) {
    constexpr int tokens = Traits<KeyArray>::tokens;
    constexpr bool is_key = Same<KeyArray, Key<Shape, tokens>>::value;
    constexpr bool is_value = Same<ValueArray, Value<Shape, tokens>>::value;
    static_assert(!values_in_keys<Rows>,
                  "attend: a cache of attend::in_keys has its values in its keys: append takes an attend::Key, then at most an "
                  "int, the count of its tokens");
    static_assert(is_key, "attend: append takes an attend::Key of the cache's own shape first");
    static_assert(is_value || !is_key,
                  "attend: append takes an attend::Value of the cache's own shape, with as many tokens as the key, second");
    static_assert(tokens <= tokens_at_once || !is_key, "attend: a RingCache takes at most tokens_at_once tokens at once");
    if constexpr (is_key && is_value) return add<tokens>(ArrayRows<Shape>(key.data[0][0], value.data[0][0]), count);
    return Status::ok;
  }

  // The same of a cache of attend::in_keys.
  template <class KeyArray>
  Status append(const KeyArray& key, int count = Traits<KeyArray>::tokens) {
    constexpr int tokens = Traits<KeyArray>::tokens;
    constexpr bool is_key = Same<KeyArray, Key<Shape, tokens>>::value, alone = values_in_keys<Rows>;
    static_assert(alone || Same<KeyArray, void>::value,
                  "attend: append takes an attend::Key, then an attend::Value of as many tokens");
    static_assert(is_key || !alone, "attend: append takes an attend::Key of the cache's own shape first");
    if constexpr (is_key && alone) return add<tokens>(ArrayRows<Shape>(key.data[0][0], key.data[0][0]), count);
    return Status::ok;
  }

  // Tokens held; of a RingCache, tokens that were ever appended since clear().
  constexpr int length() const { return length_; }

  // The number of tokens that still fit.
  constexpr int room() const {
    if constexpr (is_paged<Rows>) return rows_.tokens() - length_;
    return capacity - length_;
  }

  // Forgets all tokens.
  constexpr void clear() { length_ = queries_without_length_ = 0; }

 protected:
  friend CacheAccess;
  Rows rows_;
  int length_, queries_without_length_;

 private:
  // Adds the first count of so many tokens.
  template <int tokens>
  [[gnu::always_inline]] Status add(const ArrayRows<Shape>& arrays, int count) {
    if (count < 0 || count > tokens) return Status::bad_count;
    if (count > room()) return Status::cache_full;
    if (!rows_.store(length_, count, arrays)) return Status::out_of_range;
    length_ += count;
    queries_without_length_ = count < tokens ? count : length_;  // in padded arrays only the first `count` are tokens
    return Status::ok;
  }
};

constexpr int any_number = 0x7fffffff;

// The most tokens that a ring takes: whole segments, so that positions never overflow an int.
constexpr int most_tokens = any_number / segment_keys * segment_keys;

template <class Shape>
struct Capacity {
  static_assert(MaxTokens<Shape>::named, "attend: a KvCache needs `static constexpr int max_tokens = ...;` in the shape");
  static_assert(MaxTokens<Shape>::value >= 1, "attend: max_tokens must be at least 1");
  static_assert(!is_integer<Shape> || MaxTokens<Shape>::value <= integer_keys,
                "attend: a KvCache of an integer shape has at most 65535 tokens; a RingCache has no end");
  static constexpr int value = at_least_one(MaxTokens<Shape>::value);
};

// Base of the caches of at most so many tokens.
template <class Shape, class Rows, int capacity>
class FixedCache : public CacheTokens<Shape, Rows, capacity, any_number> {
 public:
  static constexpr int max_tokens = capacity;

  // Keeps the first length tokens. Returns bad_length and changes nothing when length is negative or more than are held.
  constexpr Status truncate(int length) {
    if (length < 0 || length > this->length_) return Status::bad_length;
    this->length_ = this->queries_without_length_ = length;
    return Status::ok;
  }
};

}  // namespace detail

// A cache of Shape::max_tokens tokens, whose keys and values are kept as KeyFormat and ValueFormat: float, attend::float16,
// attend::bfloat16, attend::int8, attend::int4, or attend::saturated<Format>; one of an integer shape keeps 8-bit numbers as
// they are. Keys are kept as panels: floats are read as they lie, other formats too for a few queries, and widened for many. A
// static cache is zero-initialised memory without any code (in a static struct, only if its other members are initialised too:
// `attend::Output<Shape> out{};`). Threads that share one need the caller's lock only while somebody changes it.
//
// With attend::in_keys as ValueFormat the values are the first value_dim numbers of the keys and in memory once, as in latent
// attention: a token has one row, and with int8 one scale. append takes the key alone. It is a cache for every call, with the
// bits of a cache that has two copies, and like other formats it takes an OptionWorkspace:
//
//   static attend::KvCache<Latent, attend::float16, attend::in_keys> cache;  // head_dim 576, value_dim 512: 1152 bytes a token
//   attend::Status status = cache.append(latent);                            // Key<Latent>
//   if (status == attend::Status::ok) status = attend::decode(query, cache, output, work);  // OptionWorkspace<Latent>
template <class Shape, class KeyFormat = detail::NumberOf<Shape>, class ValueFormat = KeyFormat>
class KvCache
    : public detail::FixedCache<
          Shape, typename detail::RowsOf<Shape, KeyFormat, ValueFormat, detail::Capacity<Shape>::value, detail::NoRing>::Type,
          detail::Capacity<Shape>::value> {};

namespace detail {

// The constants of a ring's sizes, checked once where they are first used; it is cut into groups of so many keys.
template <class SizesOfRing, int group>
struct RingSizes {
  using Sizes = SizesOfRing;
  static_assert(Window<Sizes>::named, "attend: add `static constexpr int window = ...;` to the sizes of the RingCache");
  static_assert(Window<Sizes>::value >= 1, "attend: the window of a RingCache must be at least 1 token");
  static_assert(SinkTokens<Sizes>::value >= 0, "attend: the sink_tokens of a RingCache must be at least 0");
  static_assert(TokensAtOnce<Sizes>::value >= 1, "attend: the tokens_at_once of a RingCache must be at least 1");
  static constexpr int window = at_least_one(Window<Sizes>::value);
  static constexpr int sink_tokens = SinkTokens<Sizes>::value < 0 ? 0 : SinkTokens<Sizes>::value;
  static constexpr int tokens_at_once = at_least_one(TokensAtOnce<Sizes>::value);
  static_assert(group == panel_keys || window + sink_tokens <= integer_keys,
                "attend: a query over a RingCache of an integer shape sees at most 65535 tokens: make its window or its "
                "sink_tokens smaller");
  // Of window + tokens_at_once - 1 positions one after another, the first may be the last of its group.
  static constexpr int ring_groups = (window + tokens_at_once - 2 + group - 1) / group + 1;
  static constexpr int sink_groups = (sink_tokens + group - 1) / group;
  static constexpr int places = (ring_groups + sink_groups) * group;
};
template <class Shape, class Sizes>
using RingOf = RingSizes<Sizes, group_keys<Shape>>;

}  // namespace detail

// What a workspace takes as its number of keys for calls over a cache.
inline constexpr int over_cache = -1;
namespace detail {
template <class Ring>
inline constexpr int over_ring_of = over_cache - 1 -
                                    core::window_levels(Ring::window + Ring::tokens_at_once - 1, Ring::sink_tokens);
}
// The keys of a workspace for a RingCache with such sizes: calls take an OptionWorkspace<Shape, tokens, over_ring<Sizes>>.
template <class Sizes>
inline constexpr int over_ring = detail::over_ring_of<detail::RingSizes<Sizes, panel_keys>>;

// A cache without end in fixed memory: of all tokens that were ever appended a query sees the last `window`, itself among them,
// and the first `sink_tokens`. The results are the same as with a cache that keeps all tokens and the options
// window_left = window - 1 and sink_tokens. Positions count from the first token ever; options may narrow both.
//
//   struct LastWords {
//     static constexpr int window = 64;         // required
//     static constexpr int sink_tokens = 4;     // the first tokens, which stay visible (StreamingLLM, 2023); 0 when left out
//     static constexpr int tokens_at_once = 8;  // the most that are appended, and prefilled, in one call; 1 when left out
//   };
//   static attend::RingCache<Voice, LastWords, attend::int8> ring;
template <class Shape, class Sizes, class KeyFormat = detail::NumberOf<Shape>, class ValueFormat = KeyFormat>
class RingCache
    : public detail::CacheTokens<Shape,
                                 typename detail::RowsOf<Shape, KeyFormat, ValueFormat, detail::RingOf<Shape, Sizes>::places,
                                                         detail::RingOf<Shape, Sizes>>::Type,
                                 detail::most_tokens, detail::RingOf<Shape, Sizes>::tokens_at_once> {
 public:
  // Tokens that there is memory for. Keys lie in groups of 16, of integer shapes of 32, and a group is freed whole: sizes with
  // window + tokens_at_once - 2 a multiple of that take the fewest. 100 tokens in integers take 160 places, 97 take 128.
  static constexpr int places = detail::RingOf<Shape, Sizes>::places;
};

namespace detail {

// The traits of a cache's type; of other types the shape is void.
template <class ShapeOf, class RowsOf, int capacity, int most>
struct TraitsOfCache {
  using ShapeType = ShapeOf;
  using RowsType = RowsOf;
  using Ring = typename RowsOf::RingType;
  static constexpr int most_queries = most;
  static constexpr int keys =
      RowsOf::RingType::window > 0 ? over_ring_of<typename RowsOf::RingType> : capacity;  // as a workspace takes them
  static constexpr bool needs_no_options = RowsOf::needs_no_options, is_ring = Ring::window > 0;
};
struct NoRows {
  using RingType = NoRing;
  static constexpr bool needs_no_options = false;
};
constexpr TraitsOfCache<void, NoRows, 1, any_number> cache_traits(const void*) { return {}; }
template <class Shape, class Rows, int capacity, int most>
constexpr TraitsOfCache<Shape, Rows, capacity, most> cache_traits(const CacheTokens<Shape, Rows, capacity, most>*) {
  return {};
}
template <class Cache>
using CacheTraits = decltype(cache_traits(null_of<Cache>()));

// The pool of a PagedCache, checked; of other types one that fits, so that the compiler reports one error only.
struct NoPool : NoShape {
  static constexpr int max_tokens = 1 << 30;
};
template <class Pool>
struct PoolTraits {
  using Shape = NoPool;
  using Rows = void;
};
template <class ShapeOf, class KeyFormat, class ValueFormat>
struct PoolTraits<KvCache<ShapeOf, KeyFormat, ValueFormat>> {
  using Shape = ShapeOf;
  using Rows = typename RowsOf<Shape, KeyFormat, ValueFormat, Capacity<Shape>::value, NoRing>::Type;
};
template <class Pool, int page_tokens, int pages>
struct PagesOf {
  using Shape = typename PoolTraits<Pool>::Shape;
  static constexpr int tokens = Shape::max_tokens;
  static_assert(!Same<Shape, NoPool>::value, "attend: the pool of a PagedCache is an attend::KvCache");
  static_assert(page_tokens >= 1 && page_tokens % group_keys<Shape> == 0,
                "attend: a page has a multiple of 16 tokens, of an integer shape of 32");
  static_assert(tokens % page_tokens == 0, "attend: make max_tokens of the pool's shape a multiple of page_tokens");
  static_assert(pages >= 1 && pages <= tokens / page_tokens,
                "attend: a PagedCache has at least 1 page, and no more than its pool");
  using Base = FixedCache<Shape, PagedRows<Shape, typename PoolTraits<Pool>::Rows, page_tokens, pages>, page_tokens * pages>;
};

}  // namespace detail

// The cache of a sequence that lies in pages of a pool, which many sequences share: a table of at most so many page numbers.
// The pool is the memory of a KvCache of any format, which nobody appends to; which pages are free is the caller's to know.
//
//   using Pool = attend::KvCache<Chat, attend::float16>;     // Chat::max_tokens: of all sequences together
//   static Pool pool;
//   static attend::PagedCache<Pool, 64, 32> sequences[8];    // each of up to 32 pages of 64 tokens
//   while (sequences[0].room() < 1) sequences[0].add_page(pool, next_free_page());
//   sequences[0].append(key, value);
//
// It is a cache for every call, with the bits of a KvCache of the same tokens. A copy shares the pages of its original: for a
// common beginning of whole pages, after which each gets pages of its own. The pool must live as long.
template <class Pool, int page_tokens, int most_pages>
class PagedCache : public detail::PagesOf<Pool, page_tokens, most_pages>::Base {
 public:
  // Adds a page of a pool, the same pool each time, for the tokens after the tokens of the pages before. Returns bad_page and
  // changes nothing when the pool has no such page, or this cache has it already or as many as it can.
  Status add_page(Pool& pool, int page) {
    const bool added = this->rows_.add(detail::CacheAccess::rows(pool), Pool::max_tokens / page_tokens, page);
    return added ? Status::ok : Status::bad_page;
  }

  // Gives the last page back, whose number is page(pages() - 1). Returns bad_page and changes nothing when there is none, or
  // it holds tokens: clear() or truncate() first.
  Status remove_page() {
    if (this->room() < page_tokens) return Status::bad_page;
    this->rows_.remove();
    return Status::ok;
  }

  constexpr int pages() const { return this->rows_.count(); }
  // The number in the pool of the cache's page `index`; -1 where there is none.
  constexpr int page(int index) const { return this->rows_.page(index); }
};
}  // namespace attend
