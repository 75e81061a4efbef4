// One test for each mistake that is easily made: it is refused, or it does the obvious thing.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int batch = 2, query_heads = 4, kv_heads = 2, dim = 8, queries = 3, keys = 5;

struct Small {
  std::vector<float> query = std::vector<float>(batch * queries * query_heads * dim);
  std::vector<float> key = std::vector<float>(batch * keys * kv_heads * dim), value = key;
  std::vector<float> output = std::vector<float>(query.size(), -7.0f),
                     bias = std::vector<float>(batch * query_heads * queries * keys);
  std::vector<float> states;
  attend_problem p;

  Small() {
    Random random(9);
    for (std::vector<float>* floats : {&query, &key, &value, &bias}) random.fill(floats->data(), floats->size());
    attend_problem_init(&p, sizeof p);
    p.batch = batch, p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
    p.queries = queries, p.keys = keys;
    p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data(), p.output.data = output.data();
  }

  attend_status check() const { return attend_check(&p); }
  bool says(attend_error error, attend_argument argument) const { return check() == wrong(error, argument); }
  std::vector<float> run() {
    output.assign(output.size(), -7.0f);
    const attend_status status = run_with_exact_workspace(p);
    INFO(explain(status));
    CHECK(status == ATTEND_OK);
    return output;
  }
  void begin() {
    p.key.batch_stride = p.value.batch_stride = keys * kv_heads * dim;
    states.resize(attend_state_size(&p) / sizeof(float));
    p.states = states.data();
    CHECK(attend_begin(&p) == ATTEND_OK);
  }
};

}  // namespace

TEST_CASE("c traps: what was forgotten is refused") {
  for (std::ptrdiff_t attend_problem::*field :
       {&attend_problem::query_heads, &attend_problem::kv_heads, &attend_problem::head_dim, &attend_problem::value_dim,
        &attend_problem::queries, &attend_problem::keys}) {
    Small small;
    attend_problem none;
    attend_problem_init(&none, sizeof none);
    small.p.*field = none.*field;
    CHECK(attend_status_error(small.check()) == ATTEND_OUT_OF_RANGE);
  }
  Small small;
  std::memset(static_cast<void*>(&small.p), 0, sizeof small.p);
  CHECK(small.says(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE));
}

TEST_CASE("c traps: where causal queries stand must be said when there are more or fewer of them than keys") {
  Small small;
  small.p.options = ATTEND_CAUSAL;
  CHECK(small.says(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET));
  small.p.offset = keys - queries;
  const std::vector<float> last = small.run();
  small.p.offset = 0;
  CHECK(!same_bits(small.run(), last));
  small.p.offset = ATTEND_DEFAULT_OFFSET, small.p.options |= ATTEND_QUERIES_LAST;
  CHECK(same_bits(small.run(), last));
  small.p.options = ATTEND_CAUSAL, small.p.keys = queries;  // as many
  CHECK(small.check() == ATTEND_OK);

  const float alibi_slopes[query_heads] = {1, 1, 1, 1};
  Small others[4];
  others[0].p.window_left = 1, others[1].p.window_right = 1, others[2].p.alibi_slopes = alibi_slopes;
  others[3].p.relative_bias = {alibi_slopes, 0, 1, 1};
  for (const Small& other : others) CHECK(other.says(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET));
}

TEST_CASE("c traps: an offset without anything that looks at it is a forgotten ATTEND_CAUSAL") {
  Small small;
  small.p.offset = 2;
  CHECK(small.says(ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET));
  small.p.offset = ATTEND_DEFAULT_OFFSET, small.p.options = ATTEND_QUERIES_LAST;
  CHECK(small.says(ATTEND_NO_EFFECT, ATTEND_ARG_OPTIONS));
}

TEST_CASE("c traps: strides that are not set follow the extents, the layout and the columns of the call") {
  Small small;
  const std::vector<float> whole = small.run();
  small.p.queries = 2;  // extents that change after data was set
  small.p.query.batch_stride = small.p.output.batch_stride = queries * query_heads * dim;
  const std::vector<float> fewer = small.run();
  for (std::size_t b = 0; b < batch; ++b) {
    const std::size_t row = b * queries * query_heads * dim;
    CHECK(std::memcmp(&fewer[row], &whole[row], 2 * query_heads * dim * sizeof(float)) == 0);
  }

  // A dense bias, beside the same with all strides written out; and one that all batch rows and heads share.
  Small dense, written;
  dense.p.bias.data = dense.bias.data();
  written.p.bias = {written.bias.data(), query_heads * queries * keys, queries * keys, keys, keys};
  const std::vector<float> biased = dense.run();
  CHECK(same_bits(biased, written.run()));
  CHECK(!same_bits(biased, whole));
  dense.p.bias.batch_stride = dense.p.bias.head_stride = 0;
  written.p.bias.batch_stride = written.p.bias.head_stride = 0;
  CHECK(same_bits(dense.run(), written.run()));
}

TEST_CASE("c traps: a mask or scores without kind or stage, and these without data") {
  const std::uint8_t mask[batch * query_heads * queries * keys] = {};
  float scores[batch * query_heads * queries * keys];
  Small small;
  small.p.mask.data = mask;
  CHECK(small.says(ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KIND));
  small.p.mask.kind = ATTEND_MASK_BYTES;
  for (const float zero : small.run()) CHECK(zero == 0.0f);
  small.p.mask.data = nullptr;
  CHECK(small.says(ATTEND_MISSING, ATTEND_ARG_MASK));
  Small other;
  other.p.scores.data = scores;
  CHECK(other.says(ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES_STAGE));
  other.p.scores.stage = ATTEND_SCORES_WEIGHTS;
  other.run();
  float sum = 0;
  for (int j = 0; j < keys; ++j) sum += scores[j];
  CHECK(sum == doctest::Approx(1));
}

TEST_CASE("c traps: settings that something else must be set for") {
  const float numbers[8] = {};
  Small small[8];
  small[0].p.sink_tokens = 4;
  CHECK(small[0].says(ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS));
  small[1].p.key_scales.data = numbers;
  CHECK(small[1].says(ATTEND_NO_EFFECT, ATTEND_ARG_KEY_SCALES));
  small[2].p.first_key = 1;
  CHECK(small[2].says(ATTEND_NO_EFFECT, ATTEND_ARG_FIRST_KEY));
  small[3].p.pages.page_keys = 16;
  CHECK(small[3].says(ATTEND_NO_EFFECT, ATTEND_ARG_PAGES));
  small[4].p.relative_bias.left = 3;
  CHECK(small[4].says(ATTEND_NO_EFFECT, ATTEND_ARG_RELATIVE_BIAS));
  small[5].p.relative_bias.data = numbers, small[5].p.relative_bias.left = 3, small[5].p.offset = 0;
  CHECK(small[5].says(ATTEND_OUT_OF_RANGE, ATTEND_ARG_RELATIVE_BIAS_RIGHT));
  small[6].p.lse.token_stride = 0;
  CHECK(small[6].says(ATTEND_NO_EFFECT, ATTEND_ARG_LSE));
  small[7].p.key_format = ATTEND_INT8;
  CHECK(small[7].says(ATTEND_MISSING, ATTEND_ARG_KEY_SCALES));
}

TEST_CASE("c traps: infinite and NaN scales") {
  Small small;
  for (const float scale : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    small.p.scale = scale;
    CHECK(small.says(ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE));
  }
}

TEST_CASE("c traps: a call without queries or without a batch does nothing, after all checks") {
  for (const bool no_batch : {false, true}) {
    Small small;
    (no_batch ? small.p.batch : small.p.queries) = 0;
    for (const float untouched : small.run()) CHECK(untouched == -7.0f);
    small.p.options = ATTEND_CAUSAL;
    small.p.query.data = small.p.output.data = nullptr;
    if (no_batch) small.p.key.data = nullptr;
    CHECK(small.check() == ATTEND_OK);
    CHECK(attend_workspace_size(&small.p) > 0);
    small.begin();
    CHECK(run_with_exact_workspace(small.p) == ATTEND_OK);
    CHECK(attend_finish(&small.p) == ATTEND_OK);
    small.p.head_dim = 0;
    CHECK(small.says(ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM));
  }
}

TEST_CASE("c traps: states know whether they were begun, where they stand and what they are of") {
  Small small;
  const std::vector<float> whole = small.run();
  small.states.assign(10000, 0.0f);
  small.p.states = small.states.data();
  small.p.key.batch_stride = small.p.value.batch_stride = keys * kv_heads * dim;
  CHECK(run_with_exact_workspace(small.p) == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES));
  CHECK(attend_finish(&small.p) == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES));
  small.begin();
  small.p.keys = 2;
  small.run();
  CHECK(run_with_exact_workspace(small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY));  // the same keys again
  small.p.first_key = 3, small.p.keys = keys;
  CHECK(run_with_exact_workspace(small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY));  // one left out
  small.p.first_key = 2;
  // In parts: not finished before all of them were run.
  for (int part = 0; part < 3; ++part) {
    CHECK((attend_finish(&small.p) == ATTEND_OK) == (part == 0));
    CHECK(run_with_exact_workspace(small.p, part, 3) == ATTEND_OK);
  }
  CHECK(run_with_exact_workspace(small.p, 0, 3) == wrong(ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY));
  CHECK(attend_finish(&small.p) == ATTEND_OK);
  CHECK(same_bits(small.output, whole));
  small.p.queries = 2;
  CHECK(attend_finish(&small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATES));
}

TEST_CASE("c traps: states merge in the order of their keys only") {
  Small a, b;
  for (Small* small : {&a, &b}) small->begin();
  CHECK(run_with_exact_workspace(b.p) == ATTEND_OK);
  CHECK(run_with_exact_workspace(a.p) == ATTEND_OK);
  CHECK(attend_merge(&a.p, b.p.states) == wrong(ATTEND_MISMATCH, ATTEND_ARG_LATER));  // both are of keys 0 ... 4
  a.begin();
  CHECK(attend_merge(&a.p, b.p.states) == ATTEND_OK);
  CHECK(attend_finish(&a.p) == ATTEND_OK);
  const std::vector<float> merged = a.output;
  a.p.states = nullptr;
  CHECK(same_bits(a.run(), merged));
}

TEST_CASE("c traps: with states, what would be dense of a growing number of keys must be given") {
  Small small;
  small.begin();
  small.p.keys = 2;
  small.p.key.batch_stride = ATTEND_DENSE;
  CHECK(small.says(ATTEND_AMBIGUOUS, ATTEND_ARG_KEY));
  small.p.key.batch_stride = small.p.value.batch_stride;
  small.p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
  CHECK(small.says(ATTEND_AMBIGUOUS, ATTEND_ARG_KEY));
  small.p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM;
  small.p.bias.data = small.bias.data();
  CHECK(small.says(ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS_KEYS));
  small.p.bias.keys = keys;
  CHECK(small.check() == ATTEND_OK);
}

TEST_CASE("c traps: key lengths are given whole to all calls with states, and refused beyond keys without") {
  const std::ptrdiff_t lengths[batch] = {keys, 1};
  Small small;
  small.p.key_lengths = lengths;
  const std::vector<float> whole = small.run();
  small.p.keys = 2;
  CHECK(small.says(ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEY_LENGTHS));
  small.begin();
  for (const int end : {2, 3, keys}) {
    small.p.keys = end;
    CHECK(run_with_exact_workspace(small.p) == ATTEND_OK);
    small.p.first_key = end;
  }
  CHECK(attend_finish(&small.p) == ATTEND_OK);
  CHECK(same_bits(small.output, whole));
}

TEST_CASE("c traps: past and new keys in two arrays, as the header tells") {
  constexpr int past = 2;
  Small small;
  small.p.options = ATTEND_CAUSAL, small.p.offset = past;
  small.p.bias.data = small.bias.data(), small.p.bias.keys = keys;
  const std::vector<float> whole = small.run();
  const float *const all_keys = small.key.data(), *const all_values = small.value.data();
  small.begin();
  small.p.keys = past;
  CHECK(run_with_exact_workspace(small.p) == ATTEND_OK);
  small.p.key.data = all_keys + past * kv_heads * dim, small.p.value.data = all_values + past * kv_heads * dim;
  small.p.keys = keys, small.p.origin = small.p.first_key = past;
  CHECK(run_with_exact_workspace(small.p) == ATTEND_OK);
  CHECK(attend_finish(&small.p) == ATTEND_OK);
  CHECK(same_bits(small.output, whole));
}

TEST_CASE("c traps: a cache knows keys, formats and scales, and an append does not store one token as several") {
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = kv_heads, shape.head_dim = shape.value_dim = dim, shape.max_tokens = keys;
  shape.key_format = ATTEND_INT8;
  Aligned memory(attend_cache_size(&shape));
  attend_cache* cache = nullptr;
  REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &cache) == ATTEND_OK);
  Small small;
  attend_input key = {small.key.data(), ATTEND_DENSE, 0, 0};
  CHECK(attend_cache_append(cache, keys, &key, &key) == wrong(ATTEND_SHARED_ELEMENTS, ATTEND_ARG_KEY));
  key.token_stride = key.head_stride = ATTEND_DENSE;
  CHECK(attend_cache_append(cache, keys, &key, &key) == ATTEND_OK);

  small.p.batch = 1, small.p.cache = cache;
  CHECK(small.says(ATTEND_CONFLICT, ATTEND_ARG_KEY));
  small.p.key.data = small.p.value.data = nullptr;
  CHECK(small.check() == ATTEND_OK);
  small.p.options = ATTEND_CAUSAL;
  const std::vector<float> last = small.run();  // the queries are the cache's last tokens
  small.p.offset = keys - queries;
  CHECK(same_bits(small.run(), last));
  small.p.key_format = ATTEND_INT8;
  CHECK(small.says(ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT));
  small.p.key_format = ATTEND_FLOAT32, small.p.key_scales.data = small.bias.data();
  CHECK(small.says(ATTEND_NO_EFFECT, ATTEND_ARG_KEY_SCALES));
}

TEST_CASE("c traps: any int has words") {
  for (const int status : {-1, 0, 1, 256, 1 << 20, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    CHECK(attend_error_text(status) != nullptr);
    CHECK(attend_argument_name(status) != nullptr);
  }
  CHECK(attend_error_text(ATTEND_OK) == std::string("ok"));
  CHECK(attend_status_error(1) == -1);  // an error without an argument
  CHECK(attend_argument_name(wrong(ATTEND_MISSING, ATTEND_ARG_QUERY)) == std::string("query.data"));
}
