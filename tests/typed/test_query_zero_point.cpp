// A zero point of the queries, which stands in the Quantisation: every call of the typed surface uses it.
#include "integer_world.h"

#include <cmath>
#include <vector>

using namespace attend_test::integers;

namespace {

constexpr int tokens = 70;
struct Tensors : Talk {
  static constexpr int max_tokens = tokens;
};
constexpr attend::TensorScale of_query(0.031, 44), of_key(0.027, 5), of_value(0.02, -7), of_output(0.016, 3);
constexpr attend::Quantisation<Tensors> meaning(of_query, of_key, of_value, of_output);
static_assert(meaning.status() == Status::ok);

struct AllTokens {
  static constexpr int window = tokens;
};

struct Arrays {
  attend::Query<Tensors, tokens> query;
  attend::Key<Tensors, tokens> key;
  attend::Value<Tensors, tokens> value;
  attend::Output<Tensors, tokens> output, expected;
  attend::Workspace<Tensors, tokens, tokens> work;
  attend::KvCache<Tensors> cache;

  Arrays() {
    fill(query, 1), fill(key, 2), fill(value, 3);
    REQUIRE(cache.append(key, value) == Status::ok);
    REQUIRE(attend::attention(query, key, value, expected, work, meaning, attend::causal()) == Status::ok);
  }
};

// Attention in double of what the numbers stand for, causal, in steps of the output.
double exact(const Arrays& a, int token, int head, int column) {
  const int kv_head = head / (Talk::query_heads / Talk::kv_heads);
  double sum = 0, weighted = 0;
  for (int key = 0; key <= token; ++key) {
    double score = 0;
    for (int d = 0; d < Talk::head_dim; ++d) {
      score += of_query.scale * (a.query[token][head][d] - of_query.zero_point) * of_key.scale *
               (a.key[key][kv_head][d] - of_key.zero_point);
    }
    const double weight = std::exp(score / std::sqrt(double(Talk::head_dim)));
    sum += weight;
    weighted += weight * of_value.scale * (a.value[key][kv_head][column] - of_value.zero_point);
  }
  return weighted / sum / of_output.scale + of_output.zero_point;
}

// The most steps that an output is off which is not clamped.
double worst(const Arrays& a, const attend::Output<Tensors, tokens>& output) {
  double most = 0;
  for (int t = 0; t < tokens; ++t) {
    for (int head = 0; head < Talk::query_heads; ++head) {
      for (int c = 0; c < Talk::value_dim; ++c) {
        const double steps = std::fmax(-128, std::fmin(127, exact(a, t, head, c)));
        most = std::fmax(most, std::fabs(output[t][head][c] - steps));
      }
    }
  }
  return most;
}

}  // namespace

TEST_CASE("query zero points: tensors as TFLite has them give what float64 gives, and a forgotten zero point does not") {
  const auto a = std::make_unique<Arrays>();
  CHECK(worst(*a, a->expected) < 0.6);  // rounding alone is 0.5
  constexpr attend::Quantisation<Tensors> forgotten(of_query.scale, of_key, of_value, of_output);
  REQUIRE(attend::attention(a->query, a->key, a->value, a->output, a->work, forgotten, attend::causal()) == Status::ok);
  CHECK(worst(*a, a->output) > 100);
}

TEST_CASE("query zero points: every call over arrays and caches has the bits of attention") {
  const auto a = std::make_unique<Arrays>();
  static attend::Workspace<Tensors, tokens> work;
  const auto same_again = [&](const char* way) {
    CHECK_MESSAGE(same(a->output, a->expected), way);
    std::memset(&a->output, 0x55, sizeof a->output);
  };
  REQUIRE(attend::prefill(a->query, a->cache, a->output, work, meaning) == Status::ok);
  same_again("prefill");
  for (int part = 0; part < 3; ++part)
    REQUIRE(attend::prefill(a->query, a->cache, a->output, work, meaning, attend::Part{part, 3}) == Status::ok);
  same_again("parts");
  REQUIRE(attend::prefill(a->query, a->cache, a->output, work, meaning, attend::ScoreOptions<Tensors>()) == Status::ok);
  same_again("options");
  static attend::EndKeys<tokens> ranges;
  for (int t = 0; t < tokens; ++t) ranges.end[t] = t + 1;
  attend::RangedOptions<Tensors> ranged;
  ranged.causal = false;
  ranged.ranges = ranges;
  REQUIRE(attend::attention(a->query, a->key, a->value, a->output, a->work, meaning, ranged) == Status::ok);
  same_again("ranges");
  static attend::State<Tensors, tokens> state;
  for (const int end : {32, 64, tokens})
    REQUIRE(attend::accumulate(a->query, a->cache, state, end, work, meaning) == Status::ok);
  REQUIRE(attend::finish(state, a->output, meaning) == Status::ok);
  same_again("a state");
}

TEST_CASE("query zero points: single tokens, rings, batches and outputs of 16 bits") {
  const auto a = std::make_unique<Arrays>();
  static attend::RingCache<Tensors, AllTokens> ring;
  static attend::Workspace<Tensors, 1> work;
  static attend::KvCache<Tensors> caches[2];
  static attend::Query<Tensors> queries[2];
  static attend::Output<Tensors> outputs[2];
  attend::Output<Tensors, 1, std::int16_t> wide;
  for (int t = 0; t < tokens; ++t) {
    attend::Key<Tensors> key;
    attend::Value<Tensors> value;
    std::memcpy(&key, a->key[t], sizeof key);
    std::memcpy(&value, a->value[t], sizeof value);
    const auto check = [&](const attend::Output<Tensors>& output) {
      REQUIRE(std::memcmp(&output, a->expected[t], sizeof output) == 0);
    };
    REQUIRE(ring.append(key, value) == Status::ok);
    for (int row = 0; row < 2; ++row) {
      std::memcpy(&queries[row], a->query[t], sizeof queries[row]);
      REQUIRE(caches[row].append(key, value) == Status::ok);
    }
    REQUIRE(attend::decode(queries[0], ring, outputs[0], work, meaning) == Status::ok);
    check(outputs[0]);
    REQUIRE(attend::decode(queries[0], caches[0], outputs[0], work, meaning) == Status::ok);
    check(outputs[0]);
    std::memset(outputs, 0x55, sizeof outputs);
    REQUIRE(attend::decode(queries, caches, outputs, work, meaning) == Status::ok);
    check(outputs[0]), check(outputs[1]);
    std::memset(outputs, 0x55, sizeof outputs);
    for (int part = 0; part < 2; ++part)
      REQUIRE(attend::decode(queries, caches, outputs, work, meaning, attend::Part{part, 2}) == Status::ok);
    check(outputs[0]), check(outputs[1]);
    REQUIRE(attend::decode(queries[0], caches[0], wide, work, meaning) == Status::ok);
    for (int head = 0; head < Talk::query_heads; ++head) {
      for (int c = 0; c < Talk::value_dim; ++c) {
        const int number = wide[0][head][c], clamped = number < -128 ? -128 : number > 127 ? 127 : number;
        REQUIRE(clamped == a->expected[t][head][c]);
      }
    }
  }
}
