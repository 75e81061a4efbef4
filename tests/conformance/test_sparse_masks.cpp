// Masks that show a row one key of very many: wherever it is in a word of the mask, and at whichever bit the row begins.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "attend/core/options.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

constexpr int keys = 640, dim = 4, word = 32;

// One query, whose output is the number of the key that it sees.
struct OneRow {
  std::vector<float> query = std::vector<float>(dim, 0.5f), key = std::vector<float>(keys * dim, 0.5f),
                     value = std::vector<float>(keys * dim), output = std::vector<float>(dim),
                     scratch = poison(core::option_scratch_floats(1, 64, dim, dim));
  core::Problem problem{};
  core::Options options;

  OneRow() {
    for (int j = 0; j < keys * dim; ++j) value[std::size_t(j)] = float(j / dim);
    problem.query = {query.data(), dim, dim}, problem.output = {output.data(), dim, dim};
    problem.key = {key.data(), dim, dim}, problem.value = {value.data(), dim, dim};
    problem.query_heads = problem.kv_heads = problem.queries = 1;
    problem.head_dim = problem.value_dim = dim, problem.keys = keys, problem.scale = 1.0f;
    problem.row_block = 1, problem.key_block = 64;
    problem.scratch = scratch.data();
  }
  OneRow(const OneRow&) = delete;

  bool sees(int k) {
    core::Floats::run(problem, options);
    return output[0] > float(k) - 0.25f && output[0] < float(k) + 0.25f;
  }
};

}  // namespace

TEST_CASE("sparse masks: the one key that a row sees is found at every bit of a word, in rows that begin at every bit") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    OneRow row;
    std::vector<std::uint8_t> mask(keys + word);
    for (const bool bits : {true, false}) {
      row.options.mask_bits = bits;
      for (int first = 0; first < word; ++first) {
        row.options.mask = {mask.data(), first, 0, 0, keys};
        int missed = 0;
        for (int k = 0; k < keys; ++k) {
          const int n = first + k;
          std::uint8_t& element = mask[std::size_t(bits ? n / 8 : n)];
          element = std::uint8_t(bits ? 1 << n % 8 : 1);
          if (!row.sees(k)) ++missed;
          element = 0;
        }
        CAPTURE(bits);
        CAPTURE(first);
        CHECK(missed == 0);
      }
    }
  });
}
