// Random problems of the kernels beside the oracle in float64.
#include "checks.h"
#include "../../conformance/oracle.h"

namespace kernels {
namespace {

// The largest error, as a part of its bound. bias(i, j) is what is added to the score of query i and key j; below -1e30 the key
// is masked. Keys from `keys` on are not there.
template <class Bias>
double error(Made<float>& query, Made<float>& key, Made<float>& value, Made<float>& output, int keys, double scale,
             const Bias& bias) {
  double worst = 0;
  for (int b = 0; b < query.sizes[0]; ++b) {
    for (int i = 0; i < query.sizes[1]; ++i) {
      for (int h = 0; h < query.sizes[2]; ++h) {
        const int g = h / (query.sizes[2] / key.sizes[2]);
        attend_test::OptionRow row;
        row.query = &query.at(b, i, h, 0);
        row.head_dim = query.sizes[3], row.value_dim = value.sizes[3], row.scale = float(scale);
        for (int j = 0; j < keys; ++j) {
          attend_test::OptionKey one;
          one.key = &key.at(b, j, g, 0), one.value = &value.at(b, j, g, 0), one.seen = bias(i, j) > -1e30;
          if (bias(i, j) != 0) one.bias = float(bias(i, j));
          row.keys.push_back(one);
        }
        const attend_test::OracleRow exact = attend_test::oracle_row(row);
        const double bound = attend_test::output_bound(attend_test::roundings_of(row), exact.score_size) * exact.largest_value;
        for (int c = 0; c < row.value_dim; ++c) {
          const double apart = std::abs(double(output.at(b, i, h, c)) - exact.output[size_t(c)]);
          worst = std::isnan(apart) ? HUGE_VAL : std::max(worst, apart == 0 ? 0 : apart / bound);
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
    const Error status = sdpa(query, all.key, all.value, start, mask, form < 2, scaled ? EValue(scale) : EValue(), output);
    const double apart = error(query, all.key, all.value, output, keys, scale, [&](int i, int j) {
      const size_t at = size_t(i) * size_t(cache) + size_t(j);
      if (form == 2) return seen.numbers[at] ? double(added.numbers[at]) : -HUGE_VAL;
      if (form == 3) return seen.numbers[at] ? 0 : -HUGE_VAL;
      return form < 2 && j > start + i ? -HUGE_VAL : 0.0;
    });
    add_to_digest(output.numbers);
    if (status != Error::Ok || !(apart <= 1)) ++failed;
    worst = std::max(worst, apart);
  }
  char what[120];
  std::snprintf(what, sizeof what, "%d random problems of custom_sdpa are those of float64, the worst %.2f of the bound", count,
                worst);
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
    const Error status = quantised_sdpa(q, k, v, start, third, output);
    Made<float> query = q.wide(third), key = k.wide(third), value = v.wide(third),
                found(ScalarType::Float, {batch, tokens, heads, dim});
    for (int b = 0; b < batch; ++b) {
      for (int t = 0; t < tokens; ++t) {
        for (int h = 0; h < heads; ++h) {
          for (int d = 0; d < dim; ++d) found.at(b, t, h, d) = third ? output.at(b, h, t, d) : output.at(b, t, h, d);
        }
      }
    }
    const double apart = error(query, key, value, found, start + tokens, 1 / std::sqrt(double(dim)),
                               [&](int i, int j) { return j > start + i ? -HUGE_VAL : 0.0; });
    add_to_digest(output.numbers);
    if (status != Error::Ok || !(apart <= 1)) ++failed;
    worst = std::max(worst, apart);
    sdpa(query, key, value, start, EValue(), true, EValue(), floats);
    if (floats.numbers != found.numbers) ++apart_in_bits;
  }
  char what[140];
  std::snprintf(what, sizeof what,
                "%d random problems of custom_quantized_sdpa are those of float64, the worst %.2f of the bound", count, worst);
  check(failed == 0, what, std::to_string(failed) + " are not");
  check(apart_in_bits == 0, "custom_quantized_sdpa has the bits of custom_sdpa over the numbers that its arguments mean");
}

}  // namespace kernels
