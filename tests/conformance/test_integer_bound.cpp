// The error bound of attention in integers for every input (src/guide/integers.md): random problems with all options keep to
// it, and so does what a search finds that begins where the derivation says that the worst inputs are. ATTEND_CLIMB=100
// searches so many times as long.
#include <doctest/doctest.h>

#include <numeric>

#include "../support/rounds.h"
#include "attend/worst_case.h"
#include "integer_random.h"

using namespace attend_test;

namespace {

double number_at(const std::vector<char>& output, Format format, std::size_t i) {
  const auto read = [&](auto to) { return std::memcpy(&to, &output[i * sizeof to], sizeof to), double(to); };
  if (format == Format::float32) return read(0.0f) / double(0.7f);
  return format == Format::int16 ? read(std::int16_t()) : read(std::int8_t());
}

struct Share {
  double of_bound, off;  // the largest error of an output as a share of its bound, and in steps of the output
};

// Of a call with this step of scores, beside attention in doubles.
Share share_of(IntegerRun& run, double step) {
  const IntegerCase& c = run.c;
  const IntegerModel model(c, run.data);
  const std::vector<char> output = run.whole(c.row_block, c.key_block);
  const double most = c.format == Format::int8 ? 127 : c.format == Format::int16 ? 32767 : 1e300;
  Share worst{};
  for (int r = 0; r < c.queries * c.query_heads; ++r) {
    const int head = r % c.query_heads, kv_head = head / (c.query_heads / c.kv_heads);
    std::vector<std::ptrdiff_t> places;
    std::vector<double> weights;
    double largest = -1e300, sum = 0;
    int seen = 0;
    for (int key = c.origin; key < c.keys; ++key) {
      if (!model.sees(r / c.query_heads, head, key)) continue;
      const std::ptrdiff_t place = model.slot(key);
      const std::int8_t* const k = run.data.key + (place * c.kv_heads + kv_head) * c.head_dim;
      int dot = 0;
      for (int i = 0; i < c.head_dim; ++i) dot += (run.data.query[r * c.head_dim + i] - c.query_zero) * k[i];
      weights.push_back(step * dot * (c.key_scales ? run.data.key_scales[kv_head * c.places() + place] * 0x1p-15 : 1));
      largest = std::max(largest, weights.back()), places.push_back(place), seen = key + 1;
    }
    for (double& weight : weights) sum += weight = std::exp2(weight - largest);
    for (int column = 0; column < c.value_dim && seen > 0; ++column) {
      double mean = 0, low = 1e9, high = -1e9, stored = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        double value = run.data.value[(places[i] * c.kv_heads + kv_head) * c.value_dim + column];
        stored = std::max(stored, std::fabs(value));
        if (c.value_scales) value *= run.data.value_scales[kv_head * c.places() + places[i]] * 0x1p-15;
        mean += weights[i] / sum * value, low = std::min(low, value), high = std::max(high, value);
      }
      const double number = (mean - c.value_zero) * c.output_steps, rounds = c.format != Format::float32;
      const double exact = std::clamp(number + rounds * c.zero, -most - 1, most);
      attend::IntegerErrorBound bound = {seen, step, c.output_steps, double(c.value_zero), std::fabs(number)};
      bound.values_apart = high - low, bound.largest_value = std::max(high, -low), bound.largest_stored = stored;
      bound.has_key_scales = c.key_scales, bound.has_value_scales = c.value_scales;
      const double off = std::fabs(number_at(output, c.format, std::size_t(r * c.value_dim + column)) - exact);
      worst = {std::max(worst.of_bound, off / (0.5 * rounds + bound.unrounded())), std::max(worst.off, off)};
    }
  }
  return worst;
}

// One query and column, with outputs of float32. The first key of the last segment has nearly all of the weight, in a chunk
// whose other weights are just below half a unit; chunks behind it, and nodes of segments before, lose as much as they can.
class Climb {
 public:
  Climb(int keys, int dims)
      : run_(IntegerCase().heads(1, 1).dims(dims, 1).tokens(1, keys, keys - 1).steps(0.5, 1).output(Format::float32)),
        value_(run_.data.value),
        random_(std::uint64_t(keys)),
        step_((dims == 2 ? 0x1p-8 : 0x1p-13) * (0.9 + 0.1 * double(random_.uniform()))) {
    std::fill_n(run_.data.query, dims, std::int8_t(127)), run_.data.query[dims - 1] = 1;
    const int top = std::max(0, keys - 32) & -512;
    for (int j = 0; j < keys; ++j) {
      int level = 0;
      while (j < top && (j ^ top) >> (9 + level) > 1) ++level;
      const bool near = j >= top && j < top + 32;
      const double units = j < top ? 1.99 / (512 << level) : 1.495 / 32;
      set_score(j, j == top ? 0 : -int(std::ceil((near ? 15.001 : 14 - std::log2(units)) / step_)));
      value_[j] = std::int8_t(j == top ? -128 : near || j < top ? 127 : 85);
    }
  }

  // The largest error that so many changes, of a key or a chunk, find: as a share of the bound of all values.
  double climb(int tries) {
    double best = share();
    for (int i = 0; i < tries; ++i) {
      const int kind = random_.between(0, 7), key = random_.between(0, run_.c.keys - 1), by = random_.between(-3, 3);
      const int begin = kind % 2 ? key & -32 : key, end = kind % 2 ? std::min(run_.c.keys, begin + 32) : key + 1;
      const std::vector<std::int8_t> keys(at(begin), at(end)), values(value_ + begin, value_ + end);
      for (int k = begin; k < end; ++k) {
        if (kind < 4) set_score(k, std::inner_product(at(k), at(k + 1), run_.data.query, by));
        if (kind > 3) value_[k] = std::int8_t(std::clamp(value_[k] + by * (kind > 5 ? 20 : 1), -128, 127));
      }
      const double now = share();
      if (now <= best) std::copy(keys.begin(), keys.end(), at(begin));
      if (now <= best) std::copy(values.begin(), values.end(), value_ + begin);
      best = std::max(best, now);
    }
    return best;
  }

 private:
  std::int8_t* at(int key) { return run_.data.key + std::ptrdiff_t(key) * run_.c.head_dim; }
  void set_score(int key, int score) {
    for (int d = 0; d < run_.c.head_dim; ++d) {
      at(key)[d] = std::int8_t(std::clamp(score / run_.data.query[d], -128, 127));
      score -= at(key)[d] * run_.data.query[d];
    }
  }
  double share() {
    run_.data.score_scales[0] = attend::core::score_scale(step_);
    const Share share = share_of(run_, step_);
    CHECK(share.of_bound <= 1);
    return share.off / attend::IntegerErrorBound{run_.c.keys, step_, 1}.unrounded();
  }

  IntegerRun run_;
  std::int8_t* const value_;
  Random random_;
  const double step_;
};

}  // namespace

TEST_CASE("integer attention keeps to its error bound of every input, with random options") {
  for (const int round : each_round(600)) {
    Random random(std::uint64_t(round) + 90000);
    IntegerRun run(changed(random_options(random, round % 3), &IntegerCase::head_scales, false));
    // Scales of single values, far apart: a weight times its scale is rounded, and then multiplied by the value as it is
    // stored.
    for (int i = 0; run.c.value_scales && i < run.c.places() * run.c.kv_heads; ++i) {
      run.data.value_scales[i] = std::uint16_t(random.bits() >> 17 >> random.between(0, 14));
    }
    const Share share = share_of(run, run.c.score_step);
    CHECK_MESSAGE(share.of_bound <= 1, run.text(), ": ", share.off, " steps");
  }
}

TEST_CASE("integer attention keeps to its error bound where weights times scales of single values round to nothing") {
  const double step = 0.999 * 0x1p-7;
  IntegerRun run(
      IntegerCase().heads(1, 1).dims(2, 1).tokens(1, 32, 31).steps(step, 1).output(Format::float32).token_scales(false, true));
  for (int key = 0; key < 32; ++key) {
    run.data.key[2 * key] = 0, run.data.key[2 * key + 1] = std::int8_t(key == 0 ? 0 : -59);
    run.data.value[key] = std::int8_t(key == 0 ? 0 : 127), run.data.value_scales[key] = std::uint16_t(key == 0 ? 32768 : 164);
  }
  run.data.query[0] = 1, run.data.query[1] = 16;
  const double share = share_of(run, step).of_bound;
  CHECK((share > 0.5 && share <= 1));
}

TEST_CASE("integer attention keeps to its error bound under a search, and comes near it") {
  const char* const longer = std::getenv("ATTEND_CLIMB");
  for (const int keys : {1, 8, 20, 32, 64, 512, 1024, 4096, 65535}) {
    for (const int dims : {2, 65}) {
      Climb search(keys, dims);
      const double found = search.climb((longer ? std::atoi(longer) : 1) * rounds(2400000 / (keys + 2000) / dims));
      MESSAGE(keys, " keys, ", dims, " dimensions: ", found, " of the bound");
      CHECK(found > 0.4);
    }
  }
}
