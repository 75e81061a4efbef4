// Layers over pages have the bits of the same layers over a KvCache, wherever in a pool the pages of two sequences lie.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "../support/rounds.h"
#include "../support/typed_objects.h"
#include "attend/layers.h"

using namespace attend_test;
using attend::Status;

namespace {

// More tokens than a layer has under way at a time on any target.
constexpr int tokens = 211, width = 21, page_tokens = 48, pages = 9, pool_pages = 20;

struct Small {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 7, value_dim = 5, max_tokens = page_tokens * pool_pages;
};
using X = attend::Vectors<tokens, width>;
using Work = attend::LayerWorkspace<Small, tokens, attend::over_cache, attend::with_options>;

template <class Pool>
struct Sequences {
  Pool pool, plain[2];
  attend::PagedCache<Pool, page_tokens, pages> paged[2];

  // What no token was written to is no number.
  Sequences() { std::memset(static_cast<void*>(&pool), 0xff, sizeof pool); }

  // Gives a sequence pages that neither has. False where it would need more than it can have.
  bool make_room(int sequence, int count, Random& random) {
    auto& cache = paged[sequence];
    if (cache.length() + count > page_tokens * pages) return false;
    while (cache.room() < count) {
      const int page = random.between(0, pool_pages - 1);
      bool is_free = true;
      for (const auto& of : paged) {
        for (int i = 0; i < of.pages(); ++i) is_free = is_free && of.page(i) != page;
      }
      if (is_free) REQUIRE(cache.add_page(pool, page) == Status::ok);
    }
    return true;
  }
  void clear(int sequence) {
    plain[sequence].clear(), paged[sequence].clear();
    while (paged[sequence].remove_page() == Status::ok) continue;
  }
};

// call(cache, y): of one call over either cache of a sequence.
template <class Pool, class Call>
void check_same(Sequences<Pool>& sequences, int sequence, Status status, const Call& call) {
  static X expected, found;
  for (X* y : {&expected, &found}) std::memset(static_cast<void*>(y), 0x55, sizeof *y);
  if (status == Status::ok) REQUIRE(call(sequences.plain[sequence], expected) == status);
  CHECK(call(sequences.paged[sequence], found) == status);
  CHECK(same_array(found, expected));
  CHECK(sequences.paged[sequence].length() == sequences.plain[sequence].length());
}

template <class Pool>
void check_layers(Random& random) {
  const auto wq = filled<attend::Weights<28, width>>(random.bits());
  const auto wo = filled<attend::Weights<width, 20>>(random.bits());
  const auto wk = filled<attend::Weights<14, width>>(random.bits());
  const auto wv = filled<attend::Weights<10, width>>(random.bits());
  attend::Rotary<6> rotary;
  REQUIRE(rotary.init() == Status::ok);
  const auto layer = attend::multi_head<Small>(wq, wk, wv, wo, attend::rotated<attend::RotaryPairs::halves>(rotary));
  const auto sequences = std::make_unique<Sequences<Pool>>();
  const auto work = std::make_unique<Work>();
  static X x;
  for (int step = 0; step < 12; ++step) {
    fill_array(x, random.bits());
    const int sequence = random.between(0, 1);
    const int to_last_place = page_tokens - 1 - sequences->paged[sequence].length() % page_tokens;
    const int counts[] = {1, random.between(0, tokens), to_last_place};
    const int count = counts[random.between(0, 2)];
    const bool has_room = sequences->make_room(sequence, count, random);
    attend::ScoreOptions<Small> options;
    options.query_length = count;
    if (random.between(0, 1) == 0) options.window_left = random.between(0, 300);
    check_same(*sequences, sequence, has_room ? Status::ok : Status::cache_full,
               [&](auto& cache, X& y) { return attend::self_attention(x, layer, cache, y, *work, options); });
    if (has_room && random.between(0, 4) > 0) continue;
    sequences->clear(sequence);
    const int memory = random.between(1, tokens);
    sequences->make_room(sequence, memory, random);
    check_same(*sequences, sequence, Status::ok, [&](auto& cache, X& y) {
      const Status status = attend::project_memory(x, layer, cache, *work, memory);
      return status != Status::ok ? status : attend::cross_attention(x, layer, cache, y, *work);
    });
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a layer over pages has the bits of one over a cache, in every format", Pool, attend::KvCache<Small>,
                   attend::KvCache<Small, attend::float16>, attend::KvCache<Small, attend::int8, attend::bfloat16>) {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    Random random(17);
    for (int round = 0; round < rounds(4); ++round) check_layers<Pool>(random);
  });
}
