// What is easily lost at the edges of options: numbers that are none where they are seen, and only there.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/random.h"
#include "attend/core/options.h"
#include "definition.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr int keys = 80, dim = 4;

// One query over some keys: scores near 0 but for the first key's.
struct Small {
  std::vector<float> query = std::vector<float>(dim, 1.0f), key = std::vector<float>(keys * dim, 0.01f),
                     value = std::vector<float>(keys * dim, 1.0f), output = std::vector<float>(dim, -7.0f), lse = {-7.0f},
                     scratch = poison(core::option_scratch_floats(1, 64, dim, dim));
  core::Problem problem{};
  core::Options options;

  Small() {
    problem.query = {query.data(), dim, dim};
    problem.key = {key.data(), dim, dim};
    problem.value = {value.data(), dim, dim};
    problem.output = {output.data(), dim, dim};
    problem.query_heads = problem.kv_heads = problem.queries = 1;
    problem.head_dim = problem.value_dim = dim;
    problem.keys = keys;
    problem.scale = 1.0f;
    problem.row_block = 1;
    problem.key_block = 64;
    problem.scratch = scratch.data();
    options.lse = {lse.data(), 1, 1};
  }
  Small(const Small&) = delete;
};

}  // namespace

TEST_CASE("options: the scale of a value that weighs next to nothing is seen, that of a masked one is not") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    for (const bool masked : {false, true}) {
      for (const int step : {keys, 16}) {
        Small s;
        std::vector<std::int8_t> bytes(keys * dim, 100);
        std::vector<float> scales(keys, 0.01f), states(core::state_floats(dim, 0));
        std::vector<std::uint8_t> visible(keys, 1);
        for (int d = 0; d < dim; ++d) s.key[std::size_t(20 * dim + d)] = -100.0f;  // a weight of 0
        scales[20] = not_a_number;
        visible[20] = std::uint8_t(!masked);
        s.problem.value = {static_cast<const float*>(static_cast<const void*>(bytes.data())), dim, dim};
        s.options.value_format = core::Format::int8;
        s.options.value_scales = scales.data();
        s.options.mask = {visible.data(), 0, 0, 0, keys};
        if (step < keys) {
          s.options.states = {states.data(), 0, 0};
          for (int at = 0; at < keys; at += step) {
            s.options.first_key = at, s.options.begins = at == 0, s.problem.keys = at + step;
            core::Floats::run(s.problem, s.options);
          }
          core::Floats::finish(s.problem, s.options);
        } else {
          core::Floats::run(s.problem, s.options);
        }
        CHECK(std::isnan(s.output[0]) == !masked);
        if (masked) CHECK(s.output[0] == doctest::Approx(1.0));
      }
    }
  });
}

TEST_CASE("options: the stride of one key's value is any, and of no use") {
  for_each_backend([](const char* backend) {
    for (const std::ptrdiff_t stride : {std::ptrdiff_t(600), std::ptrdiff_t(1) << (4 * sizeof(std::ptrdiff_t))}) {
      Small s;
      s.problem.keys = 1, s.problem.value.token_stride = stride;
      core::Floats::run(s.problem, s.options);
      CHECK_MESSAGE(s.output == std::vector<float>(dim, 1.0f), std::string(backend));
    }
  });
}

TEST_CASE("options: values of 8 bits without scales have those of 1, also between masked ones") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    std::vector<float> outputs[2];
    for (const bool scaled : {false, true}) {
      Small s;
      std::vector<std::int8_t> bytes(keys * dim, 100);
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::int8_t(i * 37);
      const std::vector<float> scales(keys, 1.0f);
      std::vector<std::uint8_t> visible(keys, 1);
      visible[20] = visible[70] = 0;
      s.problem.value = {static_cast<const float*>(static_cast<const void*>(bytes.data())), dim, dim};
      s.options.value_format = core::Format::int8;
      if (scaled) s.options.value_scales = scales.data();
      s.options.mask = {visible.data(), 0, keys, 0, keys};
      core::Floats::run(s.problem, s.options);
      outputs[scaled] = s.output;
    }
    CHECK(same_bits(outputs[0], outputs[1]));
  });
}

TEST_CASE("options: a NaN shows in the output where a window has its key, and nowhere else") {
  struct Window {
    int left, right, sink_tokens, offset;
    bool causal;
  };
  constexpr int open = -1, furthest = std::numeric_limits<int>::max();
  const std::vector<Window> windows = {
      {open, 0, 0, 20, false}, {open, 1, 0, 20, false}, {open, 17, 0, 40, false}, {0, 0, 0, 33, false},
      {5, 2, 3, 40, false},    {open, 0, 0, 0, false},  {open, 3, 0, -2, false},  {open, 3, 0, -5, false},
      {0, open, 0, 20, true},  {3, 4, 20, 70, true},    {16, 16, 1, 47, false},   {open, 2, 0, 15, true},
      {7, 0, 64, 79, false},   {2, 1, 0, 90, false},    {0, 1, 0, 15, false},     {furthest, furthest, 0, 20, false}};
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend));
    for (const Window& window : windows) {
      Small s;
      s.options.left = window.left, s.options.right = window.right, s.options.sink_tokens = window.sink_tokens;
      s.problem.offset = window.offset, s.problem.causal = window.causal;
      for (int k = 0; k < keys; ++k) {
        const long long after = k - static_cast<long long>(window.offset);
        const bool seen = (window.left < 0 || after >= -window.left || k < window.sink_tokens) &&
                          (window.right < 0 || after <= window.right) && (!window.causal || after <= 0);
        float& value = s.value[std::size_t(k * dim)];
        const float before = value;
        value = not_a_number;
        core::Floats::run(s.problem, s.options);
        value = before;
        CAPTURE(k);
        CAPTURE(window.left);
        CAPTURE(window.right);
        CAPTURE(window.offset);
        CHECK(std::isnan(s.output[0]) == seen);
      }
    }
  });
}

TEST_CASE("options: what a bias masks stays masked under infinite alibi_slopes and tables") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    for (const bool all : {true, false}) {
      for (const bool slope : {true, false}) {
        Small s;
        std::vector<float> bias(keys, -infinity), table(2 * keys + 1, slope ? 0.0f : infinity), alibi_slopes = {infinity};
        if (!all) bias[7] = 0.0f;
        if (!all) table[7 + keys] = 0.0f;  // of the seen key, distance 7
        s.options.bias = {bias.data(), 0, 0, 0, keys};
        if (slope && all) s.options.alibi_slopes = alibi_slopes.data();
        s.options.relative = table.data();
        s.options.relative_left = s.options.relative_right = keys;
        core::Floats::run(s.problem, s.options);
        CHECK(s.output[0] == (all ? 0.0f : 1.0f));
        CHECK(std::isinf(s.lse[0]) == all);
      }
    }
  });
}

// Base-2 scores reach 2^128 where biases pass 2.3586e38: the lowest float, of which many masks are made, weighs 0.
TEST_CASE("options: a bias of -2.36e38 or less gives weight 0, one of -2.35e38 is a number like any other") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    for (const float bias : {std::numeric_limits<float>::lowest(), -2.36e38f, -2.35e38f, -1e30f}) {
      const bool masks = bias <= -2.36e38f;
      for (const bool all : {true, false}) {
        Small s;
        for (int j = 0; j < keys; ++j) s.value[std::size_t(j) * dim] = j < keys / 2 ? 1.0f : 3.0f;
        std::vector<float> biases(keys, bias);
        if (!all) biases[0] = 0.0f;
        s.options.bias = {biases.data(), 0, 0, 0, keys};
        core::Floats::run(s.problem, s.options);
        INFO(bias, " ", all);
        if (!all) {
          CHECK(s.output[0] == 1.0f);  // of the first key alone
        } else if (masks) {
          CHECK(s.output[0] == 0.0f);
          CHECK(s.lse[0] == -infinity);
        } else {
          CHECK(s.output[0] == 2.0f);  // the mean: all are as far away
        }
      }
    }
    Small s;
    std::vector<float> biases(keys, 0.0f);
    biases[3] = 2.36e38f;
    s.options.bias = {biases.data(), 0, 0, 0, keys};
    core::Floats::run(s.problem, s.options);
    CHECK(std::isnan(s.output[0]));  // as a visible score of infinity
  });
}

// Rows before the keys see none, rows beyond them the sink tokens only: neither grows from row to row.
TEST_CASE("options: a window with sink tokens gives a token alone the bits that it has among others") {
  constexpr int heads = 4, kv_heads = 2, width = 3, tokens = 9, few = 3;
  std::vector<float> query(tokens * heads * dim), key(few * kv_heads * dim), value(few * kv_heads * width);
  Random(1).fill(query.data(), query.size());
  Random(2).fill(key.data(), key.size());
  Random(3).fill(value.data(), value.size());
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend));
    for (int offset = -3; offset <= 3; ++offset) {
      for (const int left : {0, 1, 2}) {
        const auto run = [&](int first, int count, std::vector<float>& output) {
          core::Problem problem{};
          problem.query = {&query[std::size_t(first * heads * dim)], heads * dim, dim};
          problem.output = {&output[std::size_t(first * heads * width)], heads * width, width};
          problem.key = {key.data(), kv_heads * dim, dim};
          problem.value = {value.data(), kv_heads * width, width};
          problem.query_heads = heads, problem.kv_heads = kv_heads, problem.head_dim = dim, problem.value_dim = width;
          problem.queries = count, problem.keys = few, problem.offset = offset + first;
          problem.scale = 1.0f, problem.causal = true, problem.key_block = 64;
          problem.row_block = core::rows_per_kv_head(heads, kv_heads, count);
          std::vector<float> scratch = poison(core::option_scratch_floats(problem.row_block, 64, dim, width));
          problem.scratch = scratch.data();
          core::Options options;
          options.left = left, options.sink_tokens = 2;
          core::Floats::run(problem, options);
        };
        std::vector<float> whole(tokens * heads * width), alone(whole.size());
        run(0, tokens, whole);
        for (int t = 0; t < tokens; ++t) run(t, 1, alone);
        INFO(offset, " ", left);
        CHECK(whole == alone);
      }
    }
  });
}

TEST_CASE("options: states write the columns of their own keys only") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    Small s;
    std::vector<float> scores(keys, -7.0f), states(core::state_floats(dim, 0));
    s.options.states = {states.data(), 0, 0};
    s.options.begins = true;
    s.options.scores = {scores.data(), 0, 0};
    s.options.score_keys = keys;
    s.options.score_stage = core::Scores::biased;
    s.problem.keys = 33;
    core::Floats::run(s.problem, s.options);
    CHECK(scores[32] != -7.0f);
    CHECK(scores[33] == -7.0f);
    CHECK(scores[keys - 1] == -7.0f);
  });
}

TEST_CASE("options: a call goes on with its states unless it says that it begins them") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    Small whole, s;
    for (int k = 0; k < keys; ++k) whole.value[std::size_t(k * dim)] = s.value[std::size_t(k * dim)] = float(k);
    core::Floats::run(whole.problem, whole.options);
    std::vector<float> states = poison(core::state_floats(dim, 0));
    s.options.states = {states.data(), 0, 0};
    s.options.begins = true;
    s.problem.keys = 33;
    core::Floats::run(s.problem, s.options);
    core::Options rest;
    rest.states = s.options.states;
    rest.first_key = 33;
    s.problem.keys = keys;
    core::Floats::run(s.problem, rest);
    rest.lse = s.options.lse;
    core::Floats::finish(s.problem, rest);
    CHECK(same_bits(s.output, whole.output));
    CHECK(same_bits(s.lse, whole.lse));
  });
}

TEST_CASE("options: weights of masked keys are 0 beside a NaN, and none is next to nothing") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    Small s;
    std::vector<float> weights(keys, -7.0f);
    std::vector<std::uint8_t> visible(keys, 1);
    visible[3] = 0;
    s.options.mask = {visible.data(), 0, 0, 0, keys};
    s.options.scores = {weights.data(), 0, 0};
    s.options.score_keys = keys;
    s.options.score_stage = core::Scores::weights;
    for (int k = 0; k < keys; ++k) s.key[std::size_t(k * dim)] = -float(k) * 1.2f;  // to 2^-138 of the first
    core::Floats::run(s.problem, s.options);
    for (const float weight : weights) CHECK((weight == 0.0f || weight > 0x1p-123f));
    CHECK(weights[keys - 1] == 0.0f);
    // With a NaN, which weights are next to nothing would depend on the maximum, and that on where blocks begin: none is.
    s.key[dim] = not_a_number;
    core::Floats::run(s.problem, s.options);
    for (int k = 0; k < keys; ++k) CHECK((k == 3 ? weights[3] == 0.0f : std::isnan(weights[std::size_t(k)])));
    visible.assign(keys, 0);
    visible[1] = 1;
    core::Floats::run(s.problem, s.options);
    for (int k = 0; k < keys; ++k) CHECK((k == 1 ? std::isnan(weights[1]) : weights[std::size_t(k)] == 0.0f));
  });
}

TEST_CASE("options: a NaN that is all a row sees of a segment shows in the output") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    constexpr int many = 600;
    Small s;
    std::vector<float> key(many * dim, 0.01f), value(many * dim, 1.0f);
    std::vector<std::uint8_t> visible(many, 0);
    visible[3] = visible[550] = 1;
    s.problem.key.data = key.data(), s.problem.value.data = value.data(), s.problem.keys = many;
    s.options.mask = {visible.data(), 0, 0, 0, many};
    core::Floats::run(s.problem, s.options);
    CHECK(s.output == std::vector<float>(dim, 1.0f));
    key[3 * dim] = not_a_number;
    core::Floats::run(s.problem, s.options);
    for (const float number : s.output) CHECK(std::isnan(number));
  });
}

TEST_CASE("options: sums over keys of 8 bits that overflow before they are scaled have the defined bits") {
  std::vector<std::int8_t> bytes(keys * dim);
  std::vector<float> scales(keys);
  Random random(5);
  for (std::int8_t& byte : bytes) byte = std::int8_t(random.between(-3, 3) * 42);
  for (float& scale : scales) scale = (1.5f + random.uniform()) * 0x1p-122f;
  // Scores of some units. What is below 2^-70 counts beside 2^105 only; with these scales it shows where a key has 0 for the
  // rest.
  for (const float small : {0.0f, 0x1p104f, 0x1p-69f, 0x1p-71f}) {
    for (const float large : {0x1p103f, 0x1p105f, 0x1p117f, 0x1.8p121f}) {
      Small s;
      s.query = {large, -large / 2, small, -small};
      s.problem.query.data = s.query.data();
      if (small == 0x1p-69f || small == 0x1p-71f) {
        for (int j = 0; j < 8; ++j)
          bytes[std::size_t(j * dim)] = bytes[std::size_t(j * dim + 1)] = 0, scales[std::size_t(j)] = 0x1p63f;
      }
      s.problem.key = {static_cast<const float*>(static_cast<const void*>(bytes.data())), dim, dim};
      s.options.key_format = core::Format::int8;
      s.options.key_scales = scales.data();
      Random(6).fill(s.value.data(), s.value.size());
      OptionRow row = plain_row(s.problem, 0, 0);
      std::vector<float> floats(bytes.begin(), bytes.end());
      for (std::size_t j = 0; j < keys; ++j) row.keys[j].key = &floats[j * dim], row.keys[j].key_scale = scales[j];
      const DefinedRow expected = defined_row(row);
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend), " ", double(small), " ", double(large));
        core::Floats::run(s.problem, s.options);
        CHECK(same_bits(s.output, expected.output));
      });
    }
  }
}
