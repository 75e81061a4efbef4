// The kernels beside float64, their bits, and what they refuse. Prints a line for each check, and a digest of all outputs,
// which other processors must have too: kernels_test [COUNT of random problems].
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "runtime.h"

namespace {

using stub::call;
using stub::Error;
using stub::EValue;
using stub::Made;
using stub::ScalarType;

constexpr float lowest = std::numeric_limits<float>::lowest();
constexpr float infinity = std::numeric_limits<float>::infinity();

void check(bool passed, const std::string& what, const std::string& why = "") {
  if (passed) std::printf("ok   %s\n", what.c_str());
  if (!passed) std::printf("FAIL %s: %s\n", what.c_str(), why.c_str());
}

// The same numbers on every machine.
struct Random {
  uint64_t state;
  uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 33);
  }
  int below(int count) { return int(next() % uint32_t(count)); }
  float number() { return float(int(next() % 2000001u) - 1000000) / 1000000; }
  void fill(std::vector<float>& numbers) {
    for (float& each : numbers) each = number();
  }
  void fill(std::vector<int8_t>& numbers) {
    for (int8_t& each : numbers) each = int8_t(below(256) - 128);
  }
};

uint64_t digest = 1469598103934665603u;
void add_to_digest(const std::vector<float>& numbers) {
  for (const float number : numbers) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    digest = (digest ^ bits) * 1099511628211u;
  }
}

// A sequence of `tokens` tokens as a model has it: queries, keys and values of [batch][tokens][heads][dim].
struct Sequence {
  Made<float> query, key, value;
  Sequence(Random& random, int batch, int tokens, int heads, int kv_heads, int dim)
      : query(ScalarType::Float, {batch, tokens, heads, dim}),
        key(ScalarType::Float, {batch, tokens, kv_heads, dim}),
        value(ScalarType::Float, {batch, tokens, kv_heads, dim}) {
    random.fill(query.numbers);
    random.fill(key.numbers);
    random.fill(value.numbers);
  }
};

// visible(i, j): whether query i sees key j, by a number that is added, or -infinity. Keys from `keys` on are not there. The
// largest difference.
template <class Bias>
double difference(Made<float>& query, Made<float>& key, Made<float>& value, Made<float>& output, int keys, double scale,
                  const Bias& bias) {
  double worst = 0;
  const int batch = query.sizes[0], queries = query.sizes[1], heads = query.sizes[2], dim = query.sizes[3];
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < queries; ++i) {
      for (int h = 0; h < heads; ++h) {
        const int g = h / (heads / key.sizes[2]);
        std::vector<double> weights(size_t(keys), 0), expected(size_t(value.sizes[3]), 0);
        double largest = -HUGE_VAL, sum = 0;
        for (int j = 0; j < keys; ++j) {
          double score = 0;
          for (int c = 0; c < dim; ++c) score += double(query.at(b, i, h, c)) * double(key.at(b, j, g, c));
          weights[size_t(j)] = score * scale + bias(i, j);
          largest = std::max(largest, weights[size_t(j)]);
        }
        for (int j = 0; largest > -1e30 && j < keys; ++j) {
          const double weight = std::exp(weights[size_t(j)] - largest);
          sum += weight;
          for (int c = 0; c < value.sizes[3] && weight > 0; ++c) expected[size_t(c)] += weight * double(value.at(b, j, g, c));
        }
        for (int c = 0; c < value.sizes[3]; ++c) {
          const double exact = sum > 0 ? expected[size_t(c)] / sum : 0;
          const double apart = std::abs(double(output.at(b, i, h, c)) - exact);
          worst = apart <= worst ? worst : apart;  // NaN stays
        }
      }
    }
  }
  return worst;
}

Error sdpa(const Made<float>& query, const Made<float>& key, const Made<float>& value, int64_t start, const EValue& mask,
           bool causal, const EValue& scale, const Made<float>& out) {
  return call("llama::custom_sdpa.out", {query.value(), key.value(), value.value(), EValue(start), mask, EValue(0.0),
                                         EValue(causal), scale, out.value()});
}

void random_problems(int count) {
  double worst = 0;
  int failed = 0;
  for (int number = 0; number < count; ++number) {
    Random random{uint64_t(number) + 1};
    const int batch = 1 + random.below(2), kv_heads = 1 + random.below(3), heads = kv_heads * (1 + random.below(3)),
              dim = 1 + random.below(65);
    const int cache = 1 + random.below(random.below(4) == 0 ? 700 : 60), tokens = 1 + random.below(cache),
              start = random.below(cache - tokens + 1);
    Sequence all(random, batch, cache, heads, kv_heads, dim);
    Made<float> query(ScalarType::Float, {batch, tokens, heads, dim}),
        output(ScalarType::Float, {batch, tokens, heads, dim}, 7);
    random.fill(query.numbers);
    const int form = random.below(5);
    const bool scaled = random.below(2) == 1;
    const double scale = scaled ? 0.25 : 1 / std::sqrt(double(dim));
    Made<float> added(ScalarType::Float, {tokens, cache});
    Made<uint8_t> seen(ScalarType::Bool, {tokens, cache});
    for (size_t at = 0; at < added.numbers.size(); ++at) {
      seen.numbers[at] = random.below(3) != 0;
      added.numbers[at] = seen.numbers[at] ? random.number() : random.below(2) ? lowest : -infinity;
    }
    const EValue mask = form == 2 ? added.value() : form == 3 ? seen.value() : EValue();
    const int keys = form == 2 || form == 3 ? cache : start + tokens;
    stub::threads = 1 + number % 64 / 61;  // a few on two, which emulators are slow to begin
    const Error error = sdpa(query, all.key, all.value, start, mask, form < 2, scaled ? EValue(scale) : EValue(), output);
    const double apart = difference(query, all.key, all.value, output, keys, scale, [&](int i, int j) {
      const size_t at = size_t(i) * size_t(cache) + size_t(j);
      if (form == 2) return seen.numbers[at] ? double(added.numbers[at]) : -HUGE_VAL;
      if (form == 3) return seen.numbers[at] ? 0 : -HUGE_VAL;
      return form < 2 && j > start + i ? -HUGE_VAL : 0.0;
    });
    add_to_digest(output.numbers);
    if (error != Error::Ok || !(apart <= 1e-5)) ++failed;
    worst = std::max(worst, apart);
  }
  char what[120];
  std::snprintf(what, sizeof what, "%d random problems of custom_sdpa are those of float64, the worst %.1e", count, worst);
  check(failed == 0, what, std::to_string(failed) + " are not");
}

// int8 numbers with their zero points and scales.
struct Quantised {
  Made<int8_t> numbers, zero_points;
  Made<float> scales;
  explicit Quantised(Random& random, const std::vector<int32_t>& sizes)
      : numbers(ScalarType::Char, sizes),
        zero_points(ScalarType::Char, {sizes[0], sizes[1], sizes[2], 1}),
        scales(ScalarType::Float, {sizes[0], sizes[1], sizes[2], 1}) {
    random.fill(numbers.numbers);
    random.fill(zero_points.numbers);
    for (float& scale : scales.numbers) scale = (random.number() + 2) / 256;
  }
  // [batch][tokens][heads][dim], whichever axis is that of tokens.
  Made<float> wide(bool tokens_third) {
    const auto& size = numbers.sizes;
    Made<float> made(ScalarType::Float, {size[0], tokens_third ? size[2] : size[1], tokens_third ? size[1] : size[2], size[3]});
    for (int a = 0; a < size[0]; ++a) {
      for (int b = 0; b < size[1]; ++b) {
        for (int c = 0; c < size[2]; ++c) {
          for (int d = 0; d < size[3]; ++d) {
            (tokens_third ? made.at(a, c, b, d) : made.at(a, b, c, d)) =
                float(numbers.at(a, b, c, d) - zero_points.at(a, b, c, 0)) * scales.at(a, b, c, 0);
          }
        }
      }
    }
    return made;
  }
};

Error quantised_sdpa(const Quantised& q, const Quantised& k, const Quantised& v, int64_t start, bool tokens_third,
                     const Made<float>& out) {
  return call("llama::custom_quantized_sdpa.out",
              {q.numbers.value(), k.numbers.value(), v.numbers.value(), EValue(start), EValue(), EValue(0.0), EValue(true),
               EValue(), q.zero_points.value(), q.scales.value(), k.zero_points.value(), k.scales.value(),
               v.zero_points.value(), v.scales.value(), EValue(tokens_third), out.value()});
}

void quantised_problems(int count) {
  double worst = 0;
  int failed = 0, apart_in_bits = 0;
  for (int number = 0; number < count; ++number) {
    Random random{uint64_t(number) + 1000};
    const int batch = 1 + random.below(2), kv_heads = 1 + random.below(2), heads = kv_heads * (1 + random.below(2)),
              dim = 1 + random.below(40);
    const int cache = 1 + random.below(80), tokens = 1 + random.below(cache), start = random.below(cache - tokens + 1);
    const bool third = random.below(2) == 1;
    const auto sizes = [&](int of_tokens, int of_heads) {
      return third ? std::vector<int32_t>{batch, of_heads, of_tokens, dim}
                   : std::vector<int32_t>{batch, of_tokens, of_heads, dim};
    };
    Quantised q(random, sizes(tokens, heads)), k(random, sizes(cache, kv_heads)), v(random, sizes(cache, kv_heads));
    Made<float> output(ScalarType::Float, sizes(tokens, heads)), floats(ScalarType::Float, {batch, tokens, heads, dim});
    const Error error = quantised_sdpa(q, k, v, start, third, output);
    Made<float> query = q.wide(third), key = k.wide(third), value = v.wide(third),
                found(ScalarType::Float, {batch, tokens, heads, dim});
    for (int b = 0; b < batch; ++b) {
      for (int t = 0; t < tokens; ++t) {
        for (int h = 0; h < heads; ++h) {
          for (int d = 0; d < dim; ++d) found.at(b, t, h, d) = third ? output.at(b, h, t, d) : output.at(b, t, h, d);
        }
      }
    }
    const double apart = difference(query, key, value, found, start + tokens, 1 / std::sqrt(double(dim)),
                                    [&](int i, int j) { return j > start + i ? -HUGE_VAL : 0.0; });
    add_to_digest(output.numbers);
    if (error != Error::Ok || !(apart <= 3e-5)) ++failed;
    worst = std::max(worst, apart);
    sdpa(query, key, value, start, EValue(), true, EValue(), floats);
    if (floats.numbers != found.numbers) ++apart_in_bits;
  }
  char what[140];
  std::snprintf(what, sizeof what, "%d random problems of custom_quantized_sdpa are those of float64, the worst %.1e", count,
                worst);
  check(failed == 0, what, std::to_string(failed) + " are not");
  check(apart_in_bits == 0, "custom_quantized_sdpa has the bits of custom_sdpa over the numbers that its arguments mean");
}

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

void refuses(const std::string& what, const std::string& sentence, Error error) {
  check(error == Error::InvalidArgument && stub::log().find(sentence) != std::string::npos, what + ": " + sentence,
        "error " + std::to_string(int(error)) + ", log " + stub::log());
}

void refusals() {
  Random random{9};
  Sequence all(random, 1, 8, 2, 2, 16);
  Made<float> out(ScalarType::Float, {1, 8, 2, 16}, 7), small(ScalarType::Float, {1, 2, 2, 16}, 7),
      mask(ScalarType::Float, {8, 8}), narrow(ScalarType::Float, {8, 7});
  Made<float> flat(ScalarType::Float, {8, 16}), three(ScalarType::Float, {1, 8, 3, 16}), thin(ScalarType::Float, {1, 8, 2, 8}),
      two(ScalarType::Float, {2, 8, 2, 16});
  Made<int32_t> whole(ScalarType::Int, {1, 8, 2, 16});
  const std::vector<EValue> good = {all.query.value(), all.key.value(), all.value.value(), EValue(int64_t(0)), EValue(),
                                    EValue(0.0),       EValue(true),    EValue(),          out.value()};
  const auto with = [&](size_t index, const EValue& value) {
    std::vector<EValue> changed = good;
    changed[index] = value;
    return call("llama::custom_sdpa.out", changed);
  };
  refuses("too few arguments", "has fewer arguments than its schema", call("llama::custom_sdpa.out", {good[0], good[1]}));
  refuses("no query", "has a query that is not of 4 axes", with(0, EValue()));
  refuses("a number as a key", "has a key that is not of 4 axes", with(1, EValue(int64_t(3))));
  refuses("rank", "has a value that is not of 4 axes", with(2, flat.value()));
  refuses("type", "has a query that is not Float, Half or BFloat16", with(0, whole.value()));
  refuses("widths", "has query and key of different widths", with(1, thin.value()));
  refuses("batches", "of different batches", with(0, two.value()));
  refuses("heads", "no multiple of the key heads", with(0, three.value()));
  refuses("heads of key and value", "has key and value of different tokens or heads", with(2, three.value()));
  refuses("start_pos that is no number", "has a start_pos that is no whole number", with(3, EValue(1.5)));
  refuses("negative start_pos", "has a start_pos outside of the keys", with(3, EValue(int64_t(-1))));
  refuses("start_pos without keys", "has fewer keys than start_pos and the queries need", with(3, EValue(int64_t(1))));
  refuses("largest start_pos", "has a start_pos outside of the keys", with(3, EValue(INT64_MAX)));
  refuses("dropout", "has a dropout_p that is not 0", with(5, EValue(0.1)));
  refuses("mask and causal", "has both attn_mask and is_causal", with(4, mask.value()));
  refuses("scale", "the library refuses", with(7, EValue(double(NAN))));
  refuses("output", "has an output without room", with(8, small.value()));
  refuses("no output", "has an output that is no tensor", with(8, EValue()));
  refuses("type of the output", "has an output of another type or rank", with(8, whole.value()));
  std::vector<EValue> masked = good;
  masked[4] = narrow.value();
  masked[6] = EValue(false);
  refuses("shape of a mask", "has an attn_mask that is not [queries, keys]", call("llama::custom_sdpa.out", masked));
  Made<float> lost(ScalarType::Float, {1, 8, 2, 16}), negative(ScalarType::Float, {1, 8, 2, 16}),
      columns(ScalarType::Float, {1, 8, 2, 16});
  lost.impl->set_data(nullptr);
  negative.sizes[1] = -8;
  columns.strides[3] = 2;
  refuses("no memory", "has a tensor without memory", with(1, lost.value()));
  refuses("a negative size", "has a key that is not of 4 axes", with(1, negative.value()));
  refuses("columns", "has a tensor whose last axis is not contiguous", with(1, columns.value()));
  check(out.numbers == std::vector<float>(out.numbers.size(), 7), "a call that is refused writes nothing");
  const EValue place = out.value();
  refuses("cache of other heads", "has a value of another batch, heads or width than the cache",
          call("llama::update_cache.out", {three.value(), all.key.value(), EValue(int64_t(0)), place}));
  refuses("cache of another type", "has a value of another type than the cache",
          call("llama::update_cache.out", {whole.value(), all.key.value(), EValue(int64_t(0)), place}));
  refuses("full cache", "has a start_pos without room",
          call("llama::update_cache.out", {all.value.value(), all.key.value(), EValue(int64_t(1)), place}));
  refuses("negative position", "has a start_pos without room",
          call("llama::update_cache.out", {all.value.value(), all.key.value(), EValue(INT64_MIN), place}));
  Quantised q(random, {1, 8, 2, 16}), other(random, {1, 7, 2, 16});
  std::vector<EValue> quantised = {q.numbers.value(),
                                   q.numbers.value(),
                                   q.numbers.value(),
                                   EValue(int64_t(0)),
                                   EValue(),
                                   EValue(0.0),
                                   EValue(true),
                                   EValue(),
                                   q.zero_points.value(),
                                   q.scales.value(),
                                   q.zero_points.value(),
                                   q.scales.value(),
                                   q.zero_points.value(),
                                   other.scales.value(),
                                   EValue(false),
                                   place};
  refuses("scales of other sizes", "has zero points or scales of other sizes",
          call("llama::custom_quantized_sdpa.out", quantised));
  quantised[13] = EValue();
  refuses("no scales", "has no scales of 4 axes", call("llama::custom_quantized_sdpa.out", quantised));
  quantised[13] = q.zero_points.value();
  refuses("scales of int8", "has scales that are not Float", call("llama::custom_quantized_sdpa.out", quantised));
  Made<float> key_cache(ScalarType::Float, {1, 8, 2, 16}, 3), value_cache(ScalarType::Float, {1, 8, 2, 16}, 3);
  refuses("cache and output", "has an output without room",
          call("llama::sdpa_with_kv_cache.out",
               {all.query.value(), all.key.value(), all.value.value(), key_cache.value(), value_cache.value(),
                EValue(int64_t(0)), EValue(int64_t(8)), EValue(), EValue(0.0), EValue(true), EValue(), small.value()}));
  check(key_cache.numbers == std::vector<float>(key_cache.numbers.size(), 3), "nor does it change the caches");
}

// Any values in any order: nothing crashes, and no memory outside of tensors is touched, which AddressSanitizer would show.
void hostile(int count) {
  int taken = 0;
  for (int number = 0; number < count; ++number) {
    Random random{uint64_t(number) + 5000};
    std::deque<Made<int64_t>> tensors;  // memory is enough for every type
    const int a = random.below(3), b = random.below(4), c = 1 + random.below(2), d = random.below(9);
    const auto tensor = [&](bool likely) {
      static const ScalarType kinds[] = {ScalarType::Float, ScalarType::Char, ScalarType::Half,
                                         ScalarType::Bool,  ScalarType::Long, ScalarType::Double};
      std::vector<int32_t> sizes = {a, b, c, random.below(5) == 0 ? 1 : d};
      if (!likely) {
        sizes.clear();
        for (int axes = random.below(6); axes > 0; --axes) sizes.push_back(random.below(5));
      }
      const int first = random.below(2), second = random.below(2), any = random.below(6), fill = random.below(6);
      tensors.emplace_back(kinds[likely ? first * second : any], sizes, fill);
      return tensors.back().value();
    };
    const char* name = stub::kernels()[size_t(random.below(int(stub::kernels().size())))].name_;
    std::vector<EValue> values;
    for (int argument = random.below(4) == 0 ? random.below(17) : 16; argument > 0; --argument) {
      const int kind = random.below(14);
      values.push_back(kind < 9     ? tensor(kind < 8)
                       : kind == 9  ? EValue(int64_t(random.below(4)) - 1)
                       : kind == 10 ? EValue(random.below(2) == 1)
                       : kind == 11 ? EValue(0.0)
                                    : EValue());
    }
    if (random.below(2) == 1 && values.size() == 16) {  // as the schema of custom_sdpa has them
      for (size_t index : {0, 1, 2, 8}) {
        if (!values[index].isTensor() || random.below(8) != 0) values[index] = tensor(true);
      }
      values[3] = EValue(int64_t(random.below(2)));
      if (random.below(2) == 1) values[4] = EValue();
      values[5] = EValue(0.0);
      values[6] = EValue(random.below(2) == 1);
      values[7] = EValue();
      name = "llama::custom_sdpa.out";
    }
    if (call(name, values) == Error::Ok) ++taken;
  }
  check(taken > count / 100 && taken < count,
        std::to_string(count) + " calls with any values: some are taken, and none crashes",
        std::to_string(taken) + " are taken");
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 300;
  check(stub::kernels().size() == 5, "five kernels are registered");
  random_problems(count);
  quantised_problems(count / 3);
  stub::threads = 1;
  bits();
  small_numbers();
  caches();
  refusals();
  stub::threads = 1;
  hostile(500 + 8 * count);
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest));
  return 0;
}
