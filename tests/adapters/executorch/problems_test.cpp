// Random problems of the kernels beside float64.
#include "checks.h"

namespace kernels {
namespace {

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

}  // namespace

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

}  // namespace kernels
