#include "cached_attention.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "attend/attention.h"

namespace app {

CachedAttention::CachedAttention(int layers, int heads, int kv_heads, int head_dim, int capacity)
    : heads_(heads), kv_heads_(kv_heads), head_dim_(head_dim), capacity_(capacity) {
  row_block_ = std::min(attend::core::rows_per_kv_head(heads, kv_heads, 1), attend::config::row_block);
  key_block_ = std::min(attend::core::whole_chains(capacity),
                        row_block_ == 1 ? attend::config::decode_keys : attend::config::score_keys);
  scale_ = attend::default_scale(head_dim);
  scratch_ = aligned_floats(attend::core::scratch_floats(row_block_, key_block_, head_dim, head_dim, capacity, true));
  caches_.resize(static_cast<std::size_t>(layers));
  const std::size_t key_floats = attend::core::cache_key_floats(kv_heads, head_dim, capacity);
  for (LayerCache& cache : caches_) {
    cache.keys = aligned_floats(key_floats);
    // The library computes with whole panels before it drops the keys that are not there yet, which memory checkers dislike.
    std::fill_n(cache.keys.get(), key_floats, 0.0f);
    cache.values = aligned_floats(attend::core::cache_value_floats(kv_heads, head_dim, capacity));
  }
}

void CachedAttention::attend_with(LayerAttention attention) {
  attention_ = std::move(attention);
  scratch_ =
      aligned_floats(std::max(attend::core::scratch_floats(row_block_, key_block_, head_dim_, head_dim_, capacity_, true),
                              attend::core::option_scratch_floats(row_block_, key_block_, head_dim_, head_dim_)));
}

void CachedAttention::run(int layer, int position, const float* query, const float* key, const float* value, float* attended) {
  const LayerCache& cache = caches_[static_cast<std::size_t>(layer)];
  const std::ptrdiff_t width = std::ptrdiff_t(heads_) * head_dim_, kv_width = std::ptrdiff_t(kv_heads_) * head_dim_;
  attend::core::store({cache.keys.get(), cache.values.get(), kv_heads_, head_dim_, head_dim_, capacity_}, position, 1,
                      {key, kv_width, head_dim_}, {value, kv_width, head_dim_});
  attend::core::Problem problem{};
  problem.query = {query, width, head_dim_};
  problem.output = {attended, width, head_dim_};
  problem.key = {cache.keys.get(), 0, std::ptrdiff_t(attend::core::cache_key_floats(1, head_dim_, capacity_))};
  problem.value = {cache.values.get(), head_dim_, std::ptrdiff_t(attend::core::cache_value_floats(1, head_dim_, capacity_))};
  problem.query_heads = heads_;
  problem.kv_heads = kv_heads_;
  problem.head_dim = head_dim_;
  problem.value_dim = head_dim_;
  problem.queries = 1;
  problem.keys = position + 1;
  problem.offset = position;
  problem.scale = scale_;
  problem.causal = true;
  problem.key_panels = true;
  problem.row_block = row_block_;
  problem.key_block = key_block_;
  problem.scratch = scratch_.get();
  if (attention_) {
    attention_(layer, problem);
  } else {
    attend::core::Floats::run(problem);
  }
}

}  // namespace app
