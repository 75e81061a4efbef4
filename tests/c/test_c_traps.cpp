// One test for each mistake that is easily made and that does the obvious thing, beside what is refused: the tables of refusals
// have the rest.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "c_small.h"

using namespace attend_test;
using namespace attend_test::small_problem;

TEST_CASE("c traps: the first and the last queries of the keys are different calls; as many as keys stand at the first") {
  Small small;
  small.p.options = ATTEND_CAUSAL;
  small.p.offset = keys - queries;
  const std::vector<float> last = small.run();
  small.p.offset = 0;
  CHECK(!same_bits(small.run(), last));
  small.p.offset = ATTEND_DEFAULT_OFFSET, small.p.options |= ATTEND_QUERIES_LAST;
  CHECK(same_bits(small.run(), last));
  small.p.options = ATTEND_CAUSAL, small.p.keys = queries;  // as many
  CHECK(small.check() == ATTEND_OK);
}

TEST_CASE("c traps: strides that are not set follow the extents, the layout and the columns of the call") {
  Small small;
  const std::vector<float> whole = small.run();
  small.p.queries = 2;  // extents that change after data was set
  small.p.query.batch_stride = small.p.output.batch_stride = queries * query_heads * dim;
  small.p.query.token_stride = small.p.output.token_stride = query_heads * dim;
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

TEST_CASE("c traps: a mask of zeros masks all keys, and weights of a query add up to 1") {
  const std::uint8_t mask[batch * query_heads * queries * keys] = {};
  float scores[batch * query_heads * queries * keys];
  Small small;
  small.p.mask.data = mask, small.p.mask.kind = ATTEND_MASK_BYTES;
  for (const float zero : small.run()) CHECK(zero == 0.0f);
  Small other;
  other.p.scores.data = scores, other.p.scores.stage = ATTEND_SCORES_WEIGHTS;
  other.run();
  float sum = 0;
  for (int j = 0; j < keys; ++j) sum += scores[j];
  CHECK(sum == doctest::Approx(1));
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
  for (const int format : {ATTEND_FLOAT32, ATTEND_FLOAT16}) {
    small.p.key_format = format;
    CHECK(small.says(ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT));
  }
  small.p.key_format = ATTEND_INT8, small.p.value_format = ATTEND_FLOAT32;  // what the cache has
  CHECK(same_bits(small.run(), last));
  small.p.key_scales.data = small.bias.data();
  CHECK(small.says(ATTEND_NO_EFFECT, ATTEND_ARG_KEY_SCALES));
}

TEST_CASE("c traps: any int has words") {
  for (const int status : {-1, 0, 1, 256, 1 << 20, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    CHECK(attend_error_text(status) != nullptr);
    CHECK(attend_argument_name(status) != nullptr);
  }
  CHECK(attend_error_text(ATTEND_OK) == std::string("ok"));
  CHECK(attend_argument_name(1) == std::string("status"));  // an error without an argument
  CHECK(attend_argument_name(wrong(ATTEND_MISSING, ATTEND_ARG_QUERY)) == std::string("query"));
}

TEST_CASE("c traps: strides that are not set are dense in what the others leave, or refused") {
  // A mask of fewer axes: those that it does not have have a stride of 0, and the rest is dense.
  std::vector<std::uint8_t> mask(batch * keys, 1);
  mask[1] = mask[keys + 3] = 0;
  Small padding, written;
  padding.p.mask = written.p.mask = {mask.data(), ATTEND_DENSE, 0, 0, ATTEND_ALL_KEYS, ATTEND_MASK_BYTES};
  written.p.mask.batch_stride = keys;
  CHECK(same_bits(padding.run(), written.run()));
  Small by_head, by_head_written;
  by_head.p.bias = {by_head.bias.data(), ATTEND_DENSE, ATTEND_DENSE, 0, ATTEND_ALL_KEYS};
  by_head_written.p.bias = {by_head_written.bias.data(), query_heads * keys, keys, 0, keys};
  CHECK(same_bits(by_head.run(), by_head_written.run()));

  // Rows further apart than their columns: it is not said how far it is from head to head.
  Small wide;
  std::vector<float> rows(batch * query_heads * queries * 8);
  wide.p.bias = {rows.data(), ATTEND_DENSE, ATTEND_DENSE, 8, ATTEND_ALL_KEYS};
  CHECK(wide.says(ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS));
  wide.p.bias.head_stride = queries * 8;
  CHECK(wide.says(ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS));
  wide.p.bias.batch_stride = query_heads * queries * 8;
  CHECK(wide.check() == ATTEND_OK);
  wide.p.bias.query_stride = ATTEND_DENSE;  // nor how far from row to row
  CHECK(wide.says(ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS));
  wide.p.bias.head_stride = queries * keys;
  CHECK(wide.check() == ATTEND_OK);  // the head's rows are dense

  // Queries of a fused array, and of one with heads before tokens.
  for (const int tokens : {1, queries}) {
    Small fused;
    std::vector<float> all(batch * queries * 3 * query_heads * dim);
    fused.p.queries = tokens;
    fused.p.query = {all.data(), ATTEND_DENSE, 3 * query_heads * dim, ATTEND_DENSE};
    CHECK(fused.says(ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY));
    fused.p.query.batch_stride = queries * 3 * query_heads * dim;
    CHECK(fused.check() == ATTEND_OK);
    fused.p.query.token_stride = ATTEND_DENSE;
    CHECK(fused.says(ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY) == (tokens > 1));
  }
  Small heads_first;
  heads_first.p.query.head_stride = queries * dim;
  CHECK(heads_first.says(ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY));
  heads_first.p.query.token_stride = dim;
  CHECK(heads_first.says(ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY));
  heads_first.p.query.batch_stride = query_heads * queries * dim;
  CHECK(heads_first.check() == ATTEND_OK);
  heads_first.p.query.head_stride = ATTEND_DENSE;
  CHECK(heads_first.says(ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY));
  // [token][batch][head][dim]
  Small tokens_first;
  tokens_first.p.query.token_stride = batch * query_heads * dim;
  tokens_first.p.query.batch_stride = query_heads * dim;
  CHECK(tokens_first.check() == ATTEND_OK);
}

TEST_CASE("c traps: pairs of formats that are said, or need not be") {
  const auto formats = [](int query, int key, int value, int output) {
    Small small;
    small.p.query_format = query, small.p.key_format = key, small.p.value_format = value, small.p.output_format = output;
    return small.check();
  };
  constexpr int unsaid = ATTEND_DEFAULT_FORMAT, floats = ATTEND_FLOAT32, halves = ATTEND_FLOAT16;
  CHECK(formats(unsaid, halves, floats, unsaid) == ATTEND_OK);
  CHECK(formats(unsaid, halves, halves, unsaid) == ATTEND_OK);
  CHECK(formats(unsaid, floats, unsaid, unsaid) == ATTEND_OK);
  CHECK(formats(halves, unsaid, unsaid, floats) == ATTEND_OK);
  Small plain, said;
  said.p.query_format = said.p.key_format = said.p.value_format = said.p.output_format = ATTEND_FLOAT32;
  CHECK(same_bits(plain.run(), said.run()));
}

TEST_CASE("c traps: what is refused most often says more than its error does") {
  const auto text = [](attend_error error, attend_argument argument) {
    return std::string(attend_error_text(wrong(error, argument)));
  };
  const auto has = [](const std::string& all, const char* part) { return all.find(part) != std::string::npos; };
  CHECK(has(text(ATTEND_AMBIGUOUS, ATTEND_ARG_KEY), "strides"));
  CHECK(has(text(ATTEND_AMBIGUOUS, ATTEND_ARG_MASK), "strides"));
  CHECK(has(text(ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES), "strides"));
  CHECK(has(text(ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS), "columns"));
  CHECK(has(text(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET), "append"));
  CHECK(has(text(ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE_FORMAT), "key_format"));
  CHECK(has(text(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES), "count - 1"));
  CHECK(has(text(ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEYS), "cache holds"));
  CHECK(has(text(ATTEND_MISMATCH, ATTEND_ARG_KEYS), "attend_finish"));
  CHECK(text(ATTEND_AMBIGUOUS, ATTEND_ARG_MASK) == text(ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES));  // the error's own
}

TEST_CASE("c traps: all batch rows share a pool of pages, whatever strides of a batch it would have") {
  constexpr int page = 16;
  std::vector<float> pool_key(2 * page * kv_heads * dim), pool_value = pool_key;
  const std::int32_t table[batch] = {1, 0};
  Small arrays, paged;
  for (int b = 0; b < batch; ++b) {
    const std::size_t row = std::size_t(keys * kv_heads * dim), from = std::size_t(b) * row;
    const std::size_t to = std::size_t(table[b] * page * kv_heads * dim);
    std::memcpy(&pool_key[to], &arrays.key[from], row * sizeof(float));
    std::memcpy(&pool_value[to], &arrays.value[from], row * sizeof(float));
  }
  paged.p.key.data = pool_key.data(), paged.p.value.data = pool_value.data();
  paged.p.pages = {table, ATTEND_DENSE, page, 2};
  CHECK(same_bits(paged.run(), arrays.run()));
}
