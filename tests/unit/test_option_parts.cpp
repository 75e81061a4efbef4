// Parts of a problem with options: every row belongs to one of them, and they take about the same work, whatever masks keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../support/tested.h"

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/core/options.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

constexpr int tokens = 960, heads = 2;

struct Seen {
  int left, right, sink_tokens;
  bool causal;

  // Keys that a token sees by position.
  long keys_of(int token) const {
    long count = 0;
    for (int key = 0; key < tokens; ++key) {
      const bool in_window = (left < 0 || key >= token - left) && (right < 0 || key <= token + right);
      count += (in_window || (key < sink_tokens && key < token)) && (!causal || key <= token);
    }
    return count;
  }
};

// Rows (token, query head) that the part writes.
std::vector<bool> written(const Instance& instance, const Seen& seen, int part, int parts) {
  std::vector<float> output(std::size_t(tokens * heads), -7.0f);
  core::Problem p = instance.arrays(output);
  core::Options options;
  options.left = seen.left, options.right = seen.right, options.sink_tokens = seen.sink_tokens;
  p.row_block = 8, p.key_block = 64;
  std::vector<float> scratch(core::option_scratch_floats(8, 64, p.head_dim, p.value_dim));
  p.scratch = scratch.data();
  core::Floats::run_part(p, options, part, parts);
  std::vector<bool> rows(output.size());
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = output[r] != -7.0f;
  return rows;
}

}  // namespace

TEST_CASE("option parts: each row belongs to one, and a triangle, a window and sink_tokens keys are cut into equal work") {
  for (const Seen& seen : {Seen{-1, -1, 0, true}, Seen{100, -1, 0, true}, Seen{100, -1, 300, true}, Seen{-1, 50, 0, false},
                           Seen{-1, -1, 0, false}, Seen{30, 400, 0, false}}) {
    const Instance instance({heads, 1, 4, 1, tokens, tokens, seen.causal, 0, 0.0f, 1.0f}, 6);
    for (const int parts : {1, 2, 3, 5}) {
      if (parts != 3 && is_quick()) continue;
      std::vector<int> count(std::size_t(tokens * heads));
      long total = 0, most = 0;
      for (int part = 0; part < parts; ++part) {
        const std::vector<bool> rows = written(instance, seen, part, parts);
        long work = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
          count[r] += rows[r];
          work += rows[r] ? seen.keys_of(int(r) / heads) : 0;
        }
        total += work;
        most = std::max(most, work);
      }
      CAPTURE(seen.left);
      CAPTURE(seen.right);
      CAPTURE(seen.sink_tokens);
      CAPTURE(parts);
      CHECK(std::count(count.begin(), count.end(), 1) == std::ptrdiff_t(count.size()));
      CHECK(double(most) * parts < 1.08 * double(total));
    }
  }
}

TEST_CASE("documents: they are plain calls only where no option asks for anything else") {
  constexpr int count = 14;
  core::Options o[count];  // the last one asks for nothing
  attend::TensorFormats f[5];
  for (auto& formats : f) formats = attend::formats_of<core::Floats>();
  float number = 0.0f;
  const std::int32_t page = 0;
  o[0].sink_logits = o[1].lse.data = &number, o[2].states.data = &number;
  o[3].key_scales = o[4].value_scales = &number, o[5].soft_cap = 1.0f;
  o[6].paging.pages = &page, o[7].left = o[8].right = 0;
  o[9].query_zero = o[10].paging.ring_panels = o[11].origin = o[12].first_key = 1;
  f[0].query = f[1].output = f[2].key = f[3].value = core::Format::float16;
  for (auto& with : o) CHECK(attend::has_no_option(with, f[4], core::Format::float32) == (&with == o + count - 1));
  for (auto& with : f) CHECK(attend::has_no_option(o[count - 1], with, core::Format::float32) == (&with == f + 4));
}
