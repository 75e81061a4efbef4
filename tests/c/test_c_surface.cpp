// The C surface gives the bits of the surfaces below it: for every layout, in parts, by rows of a batch, over a cache.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "c_cases.h"

using namespace attend_test;

TEST_CASE("c surface: every layout and every alignment of floats has the core's bits, and nothing but the output is written") {
  for_each_backend([](const char* backend) {
    for (const Case& c : cases()) {
      for (const Layout layout : layouts) {
        for (const int shift : {0, 1}) {
          INFO(backend, " ", c.text(), " layout ", int(layout), " shift ", shift);
          Placed query({c.batch, c.s.queries, c.s.query_heads, c.s.head_dim}, layout, shift);
          Placed key({c.batch, c.s.keys, c.s.kv_heads, c.s.head_dim}, layout, shift);
          Placed value({c.batch, c.s.keys, c.s.kv_heads, c.s.value_dim}, layout, shift);
          Placed output({c.batch, c.s.queries, c.s.query_heads, c.s.value_dim}, layout, shift);
          query.put(c.query), key.put(c.key), value.put(c.value);
          attend_problem p = c.problem();
          query.describe(p.query), key.describe(p.key), value.describe(p.value), output.describe(p.output);
          const std::size_t gaps = output.gaps() - c.expected.size();
          REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
          CHECK(same_bits(output.get(), c.expected));
          CHECK(output.gaps() == gaps);
        }
      }
    }
  });
}

TEST_CASE("c surface: strides that are not given are those of dense tensors of the layout") {
  for (const Case& c : cases()) {
    for (const Layout layout : {Layout::token_head, Layout::head_token}) {
      Placed query({c.batch, c.s.queries, c.s.query_heads, c.s.head_dim}, layout, 0);
      Placed key({c.batch, c.s.keys, c.s.kv_heads, c.s.head_dim}, layout, 0);
      Placed value({c.batch, c.s.keys, c.s.kv_heads, c.s.value_dim}, layout, 0);
      Placed output({c.batch, c.s.queries, c.s.query_heads, c.s.value_dim}, layout, 0);
      query.put(c.query), key.put(c.key), value.put(c.value);
      attend_problem p = c.problem();
      p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data(), p.output.data = output.data();
      p.layout = layout == Layout::token_head ? ATTEND_BATCH_TOKEN_HEAD_DIM : ATTEND_BATCH_HEAD_TOKEN_DIM;
      REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
      CHECK(same_bits(output.get(), c.expected));
    }
  }
}

TEST_CASE("c surface: parts have the bits of the whole and write each row once") {
  for (const Case& c : cases()) {
    for (const int parts : {1, 2, 3, 5, 16}) {
      INFO(c.text(), " parts ", parts);
      std::vector<float> output(c.expected.size(), untouched());
      attend_problem p = c.problem();
      p.query.data = c.query.data(), p.key.data = c.key.data(), p.value.data = c.value.data(), p.output.data = output.data();
      std::size_t written = 0;
      for (int part = 0; part < parts; ++part) {
        std::fill(output.begin(), output.end(), untouched());
        REQUIRE(run_with_exact_workspace(p, part, parts) == ATTEND_OK);
        for (std::size_t i = 0; i < output.size(); ++i) {
          if (is_untouched(output[i])) continue;
          ++written;
          REQUIRE(std::memcmp(&output[i], &c.expected[i], sizeof(float)) == 0);
        }
      }
      CHECK(written == output.size());
    }
  }
}

TEST_CASE("c surface: parts of a batch are of about equal work") {
  const std::vector<Case> batches = {{{2, 1, 4, 1, 12, 40, false, 0, 0.0f, 1.0f}, 5, {}, 20},
                                     {{2, 2, 4, 1, 12, 40, false, 0, 0.0f, 1.0f}, 2, {}, 21},
                                     {{1, 1, 4, 1, 30, 60, false, 0, 0.0f, 1.0f}, 4, {60, 1, 2, 60}, 22}};
  for (const Case& c : batches) {
    for (const int parts : {2, 3, 4}) {
      double total = 0.0, most = 0.0;
      for (int part = 0; part < parts; ++part) {
        std::vector<float> output(c.expected.size(), untouched());
        attend_problem p = c.problem();
        p.query.data = c.query.data(), p.key.data = c.key.data(), p.value.data = c.value.data(), p.output.data = output.data();
        REQUIRE(run_with_exact_workspace(p, part, parts) == ATTEND_OK);
        const std::size_t row_floats = output.size() / std::size_t(c.batch);
        double work = 0.0;
        for (std::size_t i = 0; i < output.size(); ++i) {
          if (!is_untouched(output[i])) work += c.lengths.empty() ? double(c.s.keys) : double(c.lengths[i / row_floats]);
        }
        total += work;
        most = work > most ? work : most;
      }
      INFO(c.text(), " parts ", parts, " most ", most, " total ", total);
      CHECK(most * parts <= 1.25 * total);
    }
  }
}

TEST_CASE("c surface: slices of a fused array, and batch rows that share keys") {
  const Case c({4, 2, 8, 8, 21, 21, true, 0, 0.0f, 1.0f}, 2, {}, 11);
  // [batch][token][4 query heads, 2 key heads, 2 value heads][8]
  const std::ptrdiff_t heads = 8, token = heads * 8, row = 21 * token;
  std::vector<float> fused(std::size_t(2 * row));
  for (int b = 0; b < 2; ++b)
    for (int t = 0; t < 21; ++t) {
      const std::size_t rows = std::size_t(b * 21 + t);
      float* to = fused.data() + b * row + t * token;
      std::memcpy(to, &c.query[rows * 32], 32 * sizeof(float));
      std::memcpy(to + 32, &c.key[rows * 16], 16 * sizeof(float));
      std::memcpy(to + 48, &c.value[rows * 16], 16 * sizeof(float));
    }
  std::vector<float> output(c.expected.size());
  attend_problem p = c.problem();
  p.query = {fused.data(), row, token, 8};
  p.key = {fused.data() + 32, row, token, 8};
  p.value = {fused.data() + 48, row, token, 8};
  p.output = {output.data(), 21 * 32, 32, 8};
  REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
  CHECK(same_bits(output, c.expected));

  p.key.batch_stride = p.value.batch_stride = 0;
  REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
  CHECK(std::memcmp(output.data(), c.expected.data(), sizeof(float) * 21 * 32) == 0);
  CHECK(std::memcmp(&output[21 * 32], &c.expected[21 * 32], sizeof(float) * 21 * 32) != 0);
}

TEST_CASE("c surface: strides of extents of 1 are not looked at, and a length of 0 gives zeros") {
  const Case c({1, 1, 3, 2, 1, 1, false, 0, 0.0f, 1.0f}, 1, {}, 12);
  for_each_backend([&](const char* backend) {
    INFO(backend);
    float output[2] = {7.0f, 7.0f};
    attend_problem p = c.problem();
    const std::ptrdiff_t wild = PTRDIFF_MAX, low = PTRDIFF_MIN;
    p.query = {c.query.data(), wild, low, wild};
    p.key = {c.key.data(), wild, low, wild};
    p.value = {c.value.data(), low, wild, low};
    p.output = {output, wild, low, wild};
    REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
    CHECK(std::memcmp(output, c.expected.data(), sizeof output) == 0);
    const std::ptrdiff_t length = 0;
    p.key_lengths = &length;
    for (const std::uint32_t options : {0u, ATTEND_CAUSAL}) {
      p.options = options;
      output[0] = output[1] = 7.0f;
      REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
      CHECK(output[0] == 0.0f);
      CHECK(output[1] == 0.0f);
    }
  });
}

TEST_CASE("c surface: no keys at all, and no arrays of them") {
  for_each_backend([](const char* backend) {
    INFO(backend);
    const std::vector<float> query(2 * 3 * 4 * 5, 1.0f);
    std::vector<float> output(2 * 3 * 4 * 6, 7.0f);
    attend_problem p;
    attend_problem_init(&p, sizeof p);
    p.batch = 2, p.queries = 3, p.query_heads = 4, p.kv_heads = 2, p.head_dim = 5, p.value_dim = 6, p.keys = 0;
    p.query.data = query.data(), p.output.data = output.data();
    p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
    p.key.batch_stride = p.key.head_stride = p.value.batch_stride = p.value.head_stride = 100;
    REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
    for (const float zero : output) REQUIRE(zero == 0.0f);
  });
}

TEST_CASE("c surface: offsets to the ends of their range") {
  for (const int offset : {-ATTEND_MAX_TOKENS, -3, 0, 4, ATTEND_MAX_TOKENS}) {
    const Case c({2, 1, 4, 3, 6, 9, true, offset, 0.0f, 1.0f}, 1, {}, 13);
    std::vector<float> output(c.expected.size());
    attend_problem p = c.problem();
    p.query.data = c.query.data(), p.key.data = c.key.data(), p.value.data = c.value.data(), p.output.data = output.data();
    INFO(offset);
    REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
    CHECK(same_bits(output, c.expected));
  }
}

TEST_CASE("c surface: the default scale is 1 / sqrt(head_dim) to the nearest float, for every head_dim") {
  int wrong = 0;
  for (int head_dim = 1; head_dim <= ATTEND_MAX_WIDTH; ++head_dim) {
    const float expected = float(1 / std::sqrt(double(head_dim))), scale = attend::core::usual_scale(head_dim);
    wrong += std::memcmp(&expected, &scale, sizeof scale) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("c surface: the widest heads, with an exact workspace") {
  const Case c({1, 1, ATTEND_MAX_WIDTH, 2, 1, 3, false, 0, 0.0f, 0.01f}, 1, {}, 14);
  const Case d({1, 1, 2, ATTEND_MAX_WIDTH, 2, 3, false, 0, 0.0f, 1.0f}, 1, {}, 15);
  for (const Case* wide : {&c, &d}) {
    std::vector<float> output(wide->expected.size());
    attend_problem p = wide->problem();
    p.query.data = wide->query.data(), p.key.data = wide->key.data(), p.value.data = wide->value.data();
    p.output.data = output.data();
    p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
    REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
    CHECK(same_bits(output, wide->expected));
  }
}

TEST_CASE("c surface: work memory never shrinks with more queries or keys") {
  std::vector<float> memory(1 << 16);
  for (const int query_heads : {1, 2, 3}) {
    attend_problem p;
    attend_problem_init(&p, sizeof p);
    p.query_heads = query_heads, p.kv_heads = 1, p.head_dim = 5, p.value_dim = 9;
    std::size_t last_keys = 0;
    for (const int keys : {0, 1, 63, 64, 65, 128, 511, 512, 513, 1024}) {
      std::size_t last = 0;
      for (int queries = 1; queries < 500; queries += queries < 20 ? 1 : 40) {
        p.queries = queries, p.keys = keys;
        p.query.data = memory.data(), p.key.data = p.value.data = memory.data() + 16000, p.output.data = memory.data() + 32000;
        const std::size_t bytes = attend_workspace_size(&p);
        REQUIRE(bytes >= last);
        last = bytes;
      }
      REQUIRE(last >= last_keys);
      last_keys = last;
    }
  }
}
