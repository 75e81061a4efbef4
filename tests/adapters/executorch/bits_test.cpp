// Whatever the way in which tokens come, they have the same bits; and caches hold what they were given.
#include "checks.h"

namespace kernels {
namespace {

// The last rows of a tensor of [batch][tokens][..][..] from a token on, of one batch row.
std::vector<float> rows(Made<float>& from, int row, int first, int count) {
  const auto begin = from.numbers.begin() + row * from.strides[0] + first * from.strides[1];
  return std::vector<float>(begin, begin + count * from.strides[1]);
}

Made<float> tokens_of(Made<float>& from, int row, int first, int count) {
  Made<float> made(ScalarType::Float, {1, count, from.sizes[2], from.sizes[3]});
  made.numbers = rows(from, row, first, count);
  made.impl->set_data(made.numbers.data());
  return made;
}

}  // namespace

// A prompt at once; token by token and by chunks through a cache that had other tokens before; on threads; in a batch; behind
// padding.
void bits() {
  constexpr int tokens = 90, heads = 4, kv_heads = 2, dim = 48, capacity = 128;
  Random random{77};
  Sequence all(random, 1, tokens, heads, kv_heads, dim), others(random, 3, tokens, heads, kv_heads, dim);
  Made<float> whole(ScalarType::Float, {1, tokens, heads, dim});
  stub::threads = 1;
  sdpa(all.query, all.key, all.value, 0, EValue(), true, EValue(), whole);
  add_to_digest(whole.numbers);
  for (int threads = 2; threads <= 4; ++threads) {
    Made<float> again(ScalarType::Float, {1, tokens, heads, dim});
    stub::threads = threads;
    sdpa(all.query, all.key, all.value, 0, EValue(), true, EValue(), again);
    check(again.numbers == whole.numbers, "a prompt on " + std::to_string(threads) + " threads has the bits of one");
  }
  stub::threads = 2;
  for (int chunk : {1, 2, 5, 8, 64}) {
    Made<float> key_cache(ScalarType::Float, {1, capacity, kv_heads, dim}, std::nanf("")),
        value_cache(ScalarType::Float, {1, capacity, kv_heads, dim}, infinity);
    std::vector<float> joined, by_parts;
    for (int first = 0; first < tokens; first += chunk) {
      const int count = std::min(chunk, tokens - first);
      Made<float> q = tokens_of(all.query, 0, first, count), k = tokens_of(all.key, 0, first, count),
                  v = tokens_of(all.value, 0, first, count);
      Made<float> out(ScalarType::Float, {1, count, heads, dim});
      const Error error = call("llama::sdpa_with_kv_cache.out",
                               {q.value(), k.value(), v.value(), key_cache.value(), value_cache.value(), EValue(int64_t(first)),
                                EValue(int64_t(count)), EValue(), EValue(0.0), EValue(true), EValue(), out.value()});
      if (error != Error::Ok) check(false, "sdpa_with_kv_cache", stub::log());
      joined.insert(joined.end(), out.numbers.begin(), out.numbers.end());
    }
    check(joined == whole.numbers,
          "sdpa_with_kv_cache by " + std::to_string(chunk) + " tokens has the bits of the prompt at once");
    Made<float> reused(ScalarType::Float, {1, 30, heads, dim});  // the cache has 60 tokens that stay, and others behind them
    Made<float> q = tokens_of(all.query, 0, 60, 30), k = tokens_of(all.key, 0, 60, 30), v = tokens_of(all.value, 0, 60, 30);
    Made<float> placeholder(ScalarType::Float, {1});
    Made<float> junk(ScalarType::Float, {1, 68, kv_heads, dim}, std::nanf(""));
    bool fine = true;
    for (auto* pair : {&key_cache, &value_cache}) {
      fine = fine && call("llama::update_cache.out", {junk.value(), pair->value(), EValue(int64_t(60)), placeholder.value()}) ==
                         Error::Ok;
      fine = fine && call("llama::update_cache.out", {(pair == &key_cache ? k : v).value(), pair->value(), EValue(int64_t(60)),
                                                      placeholder.value()}) == Error::Ok;
    }
    fine = fine && sdpa(q, key_cache, value_cache, 60, EValue(), true, EValue(), reused) == Error::Ok;
    check(fine && reused.numbers == rows(whole, 0, 60, 30),
          "a reused cache after " + std::to_string(chunk) + " has the bits of the prompt at once", stub::log());
  }
  for (const int left : {1, 16, 38}) {  // in a batch, behind padding of NaN that a mask leaves out
    Made<float> query(ScalarType::Float, {3, tokens, heads, dim}),
        key(ScalarType::Float, {3, capacity, kv_heads, dim}, std::nanf("")),
        value(ScalarType::Float, {3, capacity, kv_heads, dim}, std::nanf(""));
    query.numbers = others.query.numbers;
    query.impl->set_data(query.numbers.data());
    std::copy(all.query.numbers.begin(), all.query.numbers.end(), query.numbers.begin() + query.strides[0]);
    std::copy(all.key.numbers.begin(), all.key.numbers.end(), key.numbers.begin() + key.strides[0] + left * key.strides[1]);
    std::copy(all.value.numbers.begin(), all.value.numbers.end(),
              value.numbers.begin() + value.strides[0] + left * value.strides[1]);
    Made<float> mask(ScalarType::Float, {tokens, capacity}, -infinity), out(ScalarType::Float, {3, tokens, heads, dim});
    for (int i = 0; i < tokens; ++i) {
      for (int j = 0; j <= i; ++j) mask.numbers[size_t(i * capacity + left + j)] = 0;
    }
    const Error error = sdpa(query, key, value, 0, mask.value(), false, EValue(), out);
    check(error == Error::Ok && rows(out, 1, 0, tokens) == whole.numbers,
          "in a batch, behind " + std::to_string(left) + " tokens of padding, a sequence has its bits", stub::log());
  }
}

// Numbers of 16 bits, whose values are those of floats: 1.5 in Half and in BFloat16.
void small_numbers() {
  for (const auto& kind :
       {std::make_pair(ScalarType::Half, uint16_t(0x3e00)), std::make_pair(ScalarType::BFloat16, uint16_t(0x3fc0))}) {
    Made<uint16_t> numbers(kind.first, {1, 3, 2, 16}, kind.second), out(kind.first, {1, 3, 2, 16});
    const Error error = call("llama::custom_sdpa.out", {numbers.value(), numbers.value(), numbers.value(), EValue(int64_t(0)),
                                                        EValue(), EValue(0.0), EValue(true), EValue(), out.value()});
    check(error == Error::Ok && out.numbers == numbers.numbers, kind.first == ScalarType::Half ? "Half" : "BFloat16",
          stub::log());
  }
}

void caches() {
  Made<int8_t> value(ScalarType::Char, {2, 3, 2, 5}), cache(ScalarType::Char, {2, 7, 2, 5}, 1),
      expected(ScalarType::Char, {2, 7, 2, 5}, 1);
  Made<int64_t> indices(ScalarType::Long, {2, 3});
  Random{5}.fill(value.numbers);
  for (int b = 0; b < 2; ++b) {
    for (int t = 0; t < 3; ++t) {
      indices.numbers[size_t(b * 3 + t)] = b == 0 ? 6 - 2 * t : t;
      std::copy_n(&value.at(b, t, 0, 0), 10, &expected.at(b, int(indices.numbers[size_t(b * 3 + t)]), 0, 0));
    }
  }
  const Error error = call("llama::update_cache_with_indices.out",
                           {value.value(), cache.value(), EValue(int64_t(0)), indices.value(), cache.value()});
  check(error == Error::Ok && cache.numbers == expected.numbers,
        "update_cache_with_indices puts each token where its index says", stub::log());
  indices.numbers[5] = 7;
  value.numbers.assign(value.numbers.size(), 99);
  const Error outside = call("llama::update_cache_with_indices.out",
                             {value.value(), cache.value(), EValue(int64_t(0)), indices.value(), cache.value()});
  check(outside == Error::InvalidArgument && cache.numbers == expected.numbers,
        "an index outside of the cache is refused, and nothing is written");
}

}  // namespace kernels
