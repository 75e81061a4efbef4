// ScoreOptions: each option is what the definition says, over arrays and caches, whole and in parts; what is out of range is
// refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "../conformance/definition.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::ScoreStage;
using attend::Status;

namespace {

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 20, value_dim = 9, max_tokens = 160;
};
constexpr int queries = 13, keys = 150;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

using Options = attend::ScoreOptions<Wake>;

static_assert(sizeof(attend::Mask<2, 1, 9>) == 18, "a mask is its bytes");
static_assert(sizeof(attend::BitMask<2, 3, 9>) == 12, "rows of bits begin at bytes");
static_assert(sizeof(attend::OptionWorkspace<Wake, queries>) >=
                  sizeof(float) * attend::core::option_scratch_floats(26, 64, Wake::head_dim, Wake::value_dim, 0),
              "a workspace is the core's scratch");

// Everything that options point to, filled.
struct World {
  attend::Query<Wake, queries> query;
  attend::Key<Wake, keys> key;
  attend::Value<Wake, keys> value;
  attend::KvCache<Wake> cache;
  attend::OptionWorkspace<Wake, queries> work;

  attend::Mask<queries, 4, keys> mask;
  attend::BitMask<queries, 1, keys> bits;
  attend::Mask<1, 1, keys + 5> padding;
  attend::Bias<1, 4, keys> bias;
  attend::RelativeBias<4, 30, 2> relative;
  attend::RelativeBias<1, 5, 0> shared_relative;
  const float alibi_slopes[4] = {0.5f, 0.25f, 0.125f, 0.0625f};
  float sink_logits[4] = {0.3f, -infinity, 5.0f, -2.0f};

  World() {
    fill_array(query, 1, 4.0f);
    fill_array(key, 2);
    fill_array(value, 3);
    fill_array(bias, 4, 2.0f);
    fill_array(relative, 5);
    fill_array(shared_relative, 6);
    Random random(7);
    for (int q = 0; q < queries; ++q) {
      for (int j = 0; j < keys; ++j) {
        bits.set(q, 0, j, true);
        for (int h = 0; h < 4; ++h) mask[q][h][j] = std::uint8_t(random.between(0, 3));
      }
      for (int n = 0; n < 40; ++n) bits.set(q, 0, random.between(0, keys - 1), false);
    }
    for (auto& visible : padding[0][0]) visible = random.between(0, 4) != 0;
    bias[0][2][17] = -infinity;
    relative.at(1, -30) = -infinity;
    REQUIRE(cache.append(key, value) == Status::ok);
  }
};

World& world() {
  static World only;
  return only;
}

using Output = attend::Output<Wake, queries>;

// The row of a query token and head by the definition, from what the options say, without masks and biases of keys.
OptionRow row_of(const Options& options, int offset, int token, int head) {
  World& w = world();
  const int position = offset + token;
  OptionRow row;
  row.query = w.query[token][head], row.head_dim = Wake::head_dim, row.value_dim = Wake::value_dim;
  row.scale = options.scale.or_else(attend::default_scale(Wake::head_dim));
  row.soft_cap = options.soft_cap;
  row.bias_before_cap = options.bias_stage == attend::BiasStage::before_cap;
  if (options.alibi_slopes.data != nullptr) row.slope = w.alibi_slopes[head];
  if (options.sink_logits.data != nullptr) row.sink = w.sink_logits[head];
  for (int j = 0; j < keys; ++j) {
    OptionKey key;
    key.key = w.key[j][head / 2], key.value = w.value[j][head / 2], key.distance = j - position;
    const bool is_old = options.window_left.given && j < position - options.window_left.number;
    const bool is_new = (options.causal.or_else(false) && j > position) ||
                        (options.window_right.given && j > position + options.window_right.number);
    key.seen = !is_new && (!is_old || j < options.sink_tokens.or_else(0));
    row.keys.push_back(key);
  }
  return row;
}

// Calls that must all give what the definition says of a row to which `add` has added masks and biases of its keys.
template <class Add>
void check_calls(const char* name, Options options, Add&& add, int offset = keys - queries) {
  World& w = world();
  CAPTURE(std::string(name));
  Output expected, found;
  for (int token = 0; token < queries; ++token) {
    for (int head = 0; head < Wake::query_heads; ++head) {
      OptionRow row = row_of(options, offset, token, head);
      for (int j = 0; j < keys; ++j) add(row.keys[std::size_t(j)], token, head, j);
      const std::vector<float> output = defined_row(row).output;
      std::copy(output.begin(), output.end(), expected[token][head]);
    }
  }

  const bool positioned = options.causal.or_else(false) || options.window_left.given || options.window_right.given ||
                          options.alibi_slopes.data != nullptr || options.relative_bias.data != nullptr;
  if (positioned) options.offset = offset;
  poison_array(found);
  CHECK(attend::attention(w.query, w.key, w.value, found, w.work, options) == Status::ok);
  CHECK(same_array(found, expected));
  poison_array(found);
  for (int part = 0; part < 3; ++part) {
    CHECK(attend::attention(w.query, w.key, w.value, found, w.work, options, attend::Part{part, 3}) == Status::ok);
  }
  CHECK(same_array(found, expected));

  options.causal = options.causal.or_else(false);     // over a cache the default is another
  if (offset == keys - queries) options.offset = {};  // and so is this
  poison_array(found);
  CHECK(attend::prefill(w.query, w.cache, found, w.work, options) == Status::ok);
  CHECK(same_array(found, expected));
  poison_array(found);
  for (int part = 0; part < 5; ++part) {
    CHECK(attend::prefill(w.query, w.cache, found, w.work, options, attend::Part{part, 5}) == Status::ok);
  }
  CHECK(same_array(found, expected));
}

}  // namespace

TEST_CASE("score options: each is what the definition says, over arrays and a cache, whole and in parts, on every backend") {
  World& w = world();
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    const auto nothing = [](OptionKey&, int, int, int) {};
    check_calls("none", {}, nothing);
    Options options;
    options.causal = true;
    options.scale = 0.7f;
    check_calls("causal", options, nothing);
    options.window_left = 40;
    options.sink_tokens = 4;
    check_calls("window", options, nothing);
    options = {};
    options.window_right = 3;
    check_calls("right", options, nothing, 20);

    options = {};
    options.mask = w.mask;
    check_calls("bytes", options, [&](OptionKey& key, int q, int h, int j) { key.seen = w.mask[q][h][j] != 0; });
    options.mask = w.padding;
    check_calls("padding", options, [&](OptionKey& key, int, int, int j) { key.seen = w.padding[0][0][j] != 0; });
    options.mask = w.bits;
    check_calls("bits", options, [&](OptionKey& key, int q, int, int j) { key.seen = w.bits.at(q, 0, j); });
    options.bias = w.bias;
    const auto bits_and_bias = [&](OptionKey& key, int q, int h, int j) {
      key.seen = w.bits.at(q, 0, j) && w.bias[0][h][j] != -infinity;  // which masks, before the cap too
      key.bias = w.bias[0][h][j];
    };
    check_calls("bits and bias", options, bits_and_bias);
    options.soft_cap = 2.0f;
    options.bias_stage = attend::BiasStage::before_cap;
    check_calls("bias before the cap", options, bits_and_bias);
    options = {};

    options.alibi_slopes = w.alibi_slopes;
    options.sink_logits = w.sink_logits;
    check_calls("alibi_slopes, sink_logits", options, nothing);
    options.relative_bias = w.relative;
    options.soft_cap = 5.0f;
    options.alibi_slopes = {};
    options.causal = true;
    const auto within = [](long long distance, int left, int right) {
      return int(std::min<long long>(std::max<long long>(distance, -left), right));
    };
    check_calls("relative, cap, sink_logits", options,
                [&](OptionKey& key, int, int h, int) { key.relative = w.relative.at(h, within(key.distance, 30, 2)); });
    options.relative_bias = w.shared_relative;
    options.sink_logits = {};
    options.causal = false;
    const auto shared = [&](OptionKey& key, int, int, int) {
      key.relative = w.shared_relative.at(0, within(key.distance, 5, 0));
    };
    check_calls("one table for all heads", options, shared, 80);
  });
}

TEST_CASE("score options: without any, the bits are those of Options; decode is the last row of prefill") {
  World& w = world();
  static attend::Workspace<Wake, queries> plain_work;
  Output plain, found;
  CHECK(attend::prefill(w.query, w.cache, plain, plain_work) == Status::ok);
  CHECK(attend::prefill(w.query, w.cache, found, w.work, Options(attend::causal())) == Status::ok);
  CHECK(same_array(plain, found));

  Options options = attend::causal();
  options.window_left = 33;
  options.sink_tokens = 3;
  options.alibi_slopes = w.alibi_slopes;
  CHECK(attend::prefill(w.query, w.cache, found, w.work, options) == Status::ok);
  attend::Query<Wake> query;
  attend::Output<Wake> output, last;
  attend::OptionWorkspace<Wake> work;
  copy_tokens(w.query, queries - 1, query);
  copy_tokens(found, queries - 1, last);
  options.causal = false;  // the newest token sees all that there is
  CHECK(attend::decode(query, w.cache, output, work, options) == Status::ok);
  CHECK(same_array(output, last));
  poison_array(output);
  for (int part = 0; part < 2; ++part) {
    CHECK(attend::decode(query, w.cache, output, work, options, attend::Part{part, 2}) == Status::ok);
  }
  CHECK(same_array(output, last));
}

TEST_CASE("score options: lse and scores of every stage are the core's") {
  World& w = world();
  static attend::Lse<Wake, queries> lse, expected_lse;
  static attend::Scores<Wake, queries, keys + 3> scores, expected_scores;
  for (const ScoreStage stage : {ScoreStage::raw, ScoreStage::capped, ScoreStage::biased, ScoreStage::weights}) {
    Options options = attend::causal(keys - queries);
    options.soft_cap = 3.0f;
    options.alibi_slopes = w.alibi_slopes;
    options.sink_logits = w.sink_logits;
    options.lse = lse;
    options.scores = scores;
    options.score_stage = stage;
    CoreCall<Wake, queries, keys> call(w.query, w.key, w.value);
    call.problem.offset = keys - queries;
    call.problem.causal = true;
    call.options.soft_cap = 3.0f;
    call.options.alibi_slopes = w.alibi_slopes;
    call.options.sink_logits = w.sink_logits;
    call.options.lse = {expected_lse.data[0], 4, 1};
    call.options.scores = {expected_scores.data[0][0], 4 * (keys + 3), keys + 3};
    call.options.score_keys = keys + 3;
    call.options.score_stage = stage;
    Output expected, found;
    call.run(expected);
    poison_array(lse);
    poison_array(scores);
    CHECK(attend::attention(w.query, w.key, w.value, found, w.work, options) == Status::ok);
    CHECK(same_array(found, expected));
    CHECK(same_array(lse, expected_lse));
    CHECK(same_array(scores, expected_scores));
    options.lse_base = attend::LseBase::two;
    call.options.lse_base2 = true;
    call.run(expected);
    CHECK(attend::attention(w.query, w.key, w.value, found, w.work, options) == Status::ok);
    CHECK(same_array(found, expected));
    CHECK(same_array(lse, expected_lse));
    options.lse = {};
    CHECK(attend::attention(w.query, w.key, w.value, found, w.work, options) == Status::no_effect);
    if (stage == ScoreStage::weights) {
      CHECK(scores[0][0][keys - queries + 1] == 0.0f);
      float sum = 0.0f;
      for (const float weight : scores[queries - 1][1]) sum += weight;
      CHECK(sum == doctest::Approx(1.0));  // the head without a sink
    }
  }
}

TEST_CASE("score options: a mask of bits says what was set") {
  attend::BitMask<2, 3, 13> mask{};
  mask.set(1, 2, 12, true);
  mask.set(1, 2, 3, true);
  CHECK(mask.at(1, 2, 12));
  CHECK_FALSE(mask.at(1, 2, 11));
  CHECK(int(mask.data[1][2][1]) == 16);
  mask.set(1, 2, 12, false);
  CHECK_FALSE(mask.at(1, 2, 12));
  CHECK(mask.at(1, 2, 3));
}

TEST_CASE("score options: a relative bias says what was set, and the key at that distance gets it") {
  static attend::RelativeBias<4, 3, 2> bias{};
  for (int head = 0; head < 4; ++head) {
    for (int n = 0; n < 6; ++n) bias.data[head][n] = float(10 * head + n);
  }
  const auto& read_only = bias;
  for (int head = 0; head < 4; ++head) {
    for (int distance = -3; distance <= 2; ++distance) {
      CHECK(bias.at(head, distance) == float(10 * head + distance + 3));
      CHECK(read_only.at(head, distance) == float(10 * head + distance + 3));
    }
  }
  World& w = world();
  Output output;
  Options options;
  options.relative_bias = bias;
  options.offset = 20;
  for (const int distance : {-2, -1, 0, 1}) {
    for (auto& row : bias.data) std::fill(std::begin(row), std::end(row), 0.0f);
    for (int head = 0; head < 4; ++head) bias.at(head, distance) = 500.0f;  // no other key weighs anything
    CHECK(attend::attention(w.query, w.key, w.value, output, w.work, options) == Status::ok);
    for (int q = 0; q < queries; ++q) {
      for (int head = 0; head < 4; ++head) {
        CHECK(output[q][head][8] == doctest::Approx(w.value[20 + q + distance][head / 2][8]));
      }
    }
  }
}

TEST_CASE("score options: what is out of range is refused with a status, and nothing is touched") {
  World& w = world();
  Output output;
  poison_array(output);
  static attend::Lse<Wake, queries> lse;
  static attend::Scores<Wake, queries, keys> scores;
  poison_array(lse);
  poison_array(scores);
  const Output untouched = output;
  const auto lse_before = lse;
  Options options;
  const auto refused = [&](Status expected) {
    if (options.lse.data == nullptr) options.lse = lse;
    CHECK(attend::attention(w.query, w.key, w.value, output, w.work, options) == expected);
    CHECK(attend::prefill(w.query, w.cache, output, w.work, options) == expected);
    CHECK(same_array(output, untouched));
    CHECK(same_array(lse, lse_before));
    CHECK(std::string(attend::status_text(expected)).size() > 20);
    options = {};
  };
  options.query_length = queries + 1, refused(Status::bad_query_length);
  options.key_length = -1, refused(Status::bad_key_length);
  options.scale = no_number, refused(Status::bad_scale);
  options.offset = std::numeric_limits<int>::max() - queries + 1, refused(Status::bad_offset);
  options.window_left = -1, refused(Status::bad_window);
  options.window_right = -7, refused(Status::bad_window);
  options.sink_tokens = -1, refused(Status::bad_sink_tokens);
  for (const float cap : {-1.0f, no_number, infinity, 1e-40f, -infinity}) options.soft_cap = cap, refused(Status::bad_soft_cap);
  options.scale = 1e10f, options.soft_cap = 1e-30f, refused(Status::bad_soft_cap);
  options.scale = -0x1p100f, options.soft_cap = 0x1p-25f, refused(Status::bad_soft_cap);
  options.scale = 0x1p100f, options.soft_cap = 0x1.000002p-24f;
  CHECK(attend::attention(w.query, w.key, w.value, output, w.work, options) == Status::ok);
  poison_array(output);
  options = {};
  static attend::Mask<queries - 1, 1, keys> few_queries;
  static attend::Mask<1, 1, keys - 1> few_keys;
  static attend::Bias<2, 1, keys> few_bias_queries;
  static attend::Bias<1, 4, keys - 1> few_bias_keys;
  options.mask = few_queries, refused(Status::bad_mask);
  options.mask = few_keys, refused(Status::bad_mask);
  options.bias = few_bias_queries, refused(Status::bad_bias);
  options.bias = few_bias_keys, refused(Status::bad_bias);
  static attend::Lse<Wake, queries - 1> few_lse;
  static attend::Scores<Wake, queries - 1, keys> few_scores;
  static attend::Scores<Wake, queries, keys - 1> narrow_scores;
  options.lse = few_lse, refused(Status::bad_lse);
  options.scores = few_scores, refused(Status::bad_scores);
  options.scores = narrow_scores, refused(Status::bad_scores);
  options.scores = scores, refused(Status::no_score_stage);
  options.score_stage = ScoreStage::raw, refused(Status::no_effect);
  static attend::Bias<1, 1, keys> bias;
  options.bias_stage = attend::BiasStage::before_cap, refused(Status::no_effect);
  options.bias_stage = attend::BiasStage::before_cap, options.bias = bias, refused(Status::no_effect);
  options.bias_stage = attend::BiasStage::before_cap, options.soft_cap = 2, refused(Status::no_effect);
  options.score_stage = ScoreStage::weights, refused(Status::no_effect);
  options.causal = false, options.sink_tokens = 1, refused(Status::no_effect);
  options.causal = false, options.window_right = 7, options.offset = 3, options.sink_tokens = 1, refused(Status::no_effect);
  for (const attend::Part part : {attend::Part{2, 2}, attend::Part{-1, 2}, attend::Part{0, 0}}) {
    CHECK(attend::attention(w.query, w.key, w.value, output, w.work, options, part) == Status::bad_part);
  }
  CHECK(same_array(output, untouched));

  // Enough for what is valid is enough.
  options.mask = few_queries;
  options.lse = few_lse;
  options.scores = few_scores;
  options.score_stage = ScoreStage::raw;
  options.query_length = queries - 1;
  CHECK(attend::attention(w.query, w.key, w.value, output, w.work, options) == Status::ok);
  CHECK(std::isnan(output[queries - 1][0][0]));
  options = attend::causal();
  options.window_left = options.window_right = options.sink_tokens = std::numeric_limits<int>::max();
  CHECK(attend::prefill(w.query, w.cache, output, w.work, options) == Status::ok);

  attend::KvCache<Wake> few;
  attend::Key<Wake, 3> key;
  attend::Value<Wake, 3> value;
  fill_array(key, 1);
  fill_array(value, 2);
  REQUIRE(few.append(key, value) == Status::ok);
  CHECK(attend::prefill(w.query, few, output, w.work, options) == Status::bad_query_length);
}
