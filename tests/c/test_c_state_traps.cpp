// One test for each mistake that is easily made with states: it is refused, or it does the obvious thing.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "c_small.h"

using namespace attend_test;
using namespace attend_test::small_problem;

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
  CHECK(attend_finish(&small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_KEYS));
  for (int part = 0; part < 3; ++part) {
    CHECK((attend_finish(&small.p) == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES)) == (part > 0));
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

namespace {

// Past and new keys in two arrays, as the header tells: each line by itself, so that one can be left out.
struct Recipe {
  static constexpr int past = 2, added = keys - past, room = added + 1;  // tokens of the second array
  Small small;
  std::vector<float> past_keys, past_values, new_keys, new_values;
  attend_problem problem, first, second;
  attend_status status = ATTEND_OK;  // of the first call that was refused

  Recipe() : problem(small.p) {
    const auto part = [](const std::vector<float>& all, int begin, int count, int places) {
      std::vector<float> rows;
      for (int b = 0; b < batch; ++b) {
        const auto row = all.begin() + (b * keys + begin) * kv_heads * dim;
        rows.insert(rows.end(), row, row + count * kv_heads * dim);
        rows.resize(std::size_t((b + 1) * places * kv_heads * dim));
      }
      return rows;
    };
    past_keys = part(small.key, 0, past, past), past_values = part(small.value, 0, past, past);
    new_keys = part(small.key, past, added, room), new_values = part(small.value, past, added, room);
    problem.key.data = problem.value.data = nullptr;
    problem.keys = ATTEND_ALL_KEYS;
    small.states.resize(attend_state_size(&problem) / sizeof(float));
    attend_problem_init(&first, sizeof first);
    attend_problem_init(&second, sizeof second);
  }
  void says(attend_status of_call) {
    if (status == ATTEND_OK) status = of_call;
  }
  void run(const attend_problem& p) { says(run_with_exact_workspace(p)); }
};

using Line = void (*)(Recipe&);
const Line recipe[] = {
    [](Recipe& r) { r.problem.options = ATTEND_CAUSAL; },
    [](Recipe& r) { r.problem.states = r.small.states.data(); },
    [](Recipe& r) { r.problem.offset = Recipe::past; },
    [](Recipe& r) { r.problem.bias.data = r.small.bias.data(); },
    [](Recipe& r) { r.problem.bias.keys = keys; },
    [](Recipe& r) { r.first = r.problem; },
    [](Recipe& r) { r.second = r.problem; },
    [](Recipe& r) { r.first.key.data = r.past_keys.data(); },
    [](Recipe& r) { r.first.value.data = r.past_values.data(); },
    [](Recipe& r) { r.first.key.batch_stride = Recipe::past * kv_heads * dim; },
    [](Recipe& r) { r.first.value.batch_stride = Recipe::past * kv_heads * dim; },
    [](Recipe& r) { r.first.keys = Recipe::past; },
    // The first array is dense, and its token strides could be left out; the second has room for one token more.
    [](Recipe& r) { r.second.key.token_stride = kv_heads * dim; },
    [](Recipe& r) { r.second.value.token_stride = kv_heads * dim; },
    [](Recipe& r) { r.second.key.data = r.new_keys.data(); },
    [](Recipe& r) { r.second.value.data = r.new_values.data(); },
    [](Recipe& r) { r.second.key.batch_stride = Recipe::room * kv_heads * dim; },
    [](Recipe& r) { r.second.value.batch_stride = Recipe::room * kv_heads * dim; },
    [](Recipe& r) { r.second.keys = keys; },
    [](Recipe& r) { r.second.origin = Recipe::past; },
    [](Recipe& r) { r.second.first_key = Recipe::past; },
    [](Recipe& r) { r.says(attend_begin(&r.first)); },
    [](Recipe& r) { r.run(r.first); },
    [](Recipe& r) { r.run(r.second); },
    [](Recipe& r) { r.says(attend_finish(&r.second)); },
};
constexpr std::size_t lines = sizeof recipe / sizeof *recipe;

}  // namespace

TEST_CASE("c traps: past and new keys in two arrays, as the header tells; each line that is left out is refused") {
  Small small;
  small.p.options = ATTEND_CAUSAL, small.p.offset = Recipe::past;
  small.p.bias.data = small.bias.data();
  const std::vector<float> whole = small.run();
  for (std::size_t left_out = 0; left_out <= lines; ++left_out) {
    INFO("without line ", left_out);
    Recipe r;
    for (std::size_t line = 0; line < lines; ++line) {
      if (line != left_out) recipe[line](r);
    }
    if (left_out == lines) CHECK(same_bits(r.small.output, whole));
    if (left_out < lines - 1) CHECK(r.status != ATTEND_OK);
    if (left_out >= lines - 1) CHECK(r.status == ATTEND_OK);  // without attend_finish the output is not written
  }
}

TEST_CASE("c traps: what goes on with states says what its arrays begin with, takes keys, and skips none") {
  Small small;
  small.begin();
  small.p.keys = 2;
  small.run();
  small.p.first_key = 2;
  small.run();  // keys did not move on: that adds nothing
  small.p.keys = keys;
  small.p.origin = ATTEND_DEFAULT_ORIGIN;
  CHECK(small.says(ATTEND_AMBIGUOUS, ATTEND_ARG_ORIGIN));
  small.p.origin = 3;
  CHECK(small.says(ATTEND_MISMATCH, ATTEND_ARG_ORIGIN));
  for (const int origin : {0, 1, 2}) {
    small.p.origin = origin;
    CHECK(small.check() == ATTEND_OK);
  }
  small.p.first_key = 0, small.p.origin = 1;  // as it was for the token before
  CHECK(small.says(ATTEND_MISMATCH, ATTEND_ARG_ORIGIN));
}

TEST_CASE("c traps: states are finished when they have taken the keys of the problem") {
  Small small;
  const std::vector<float> whole = small.run();
  small.begin();
  CHECK(attend_finish(&small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_KEYS));  // no key so far
  small.p.keys = 2;
  small.run();
  small.p.keys = keys;
  CHECK(attend_finish(&small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_KEYS));
  small.p.first_key = 2;
  small.run();
  CHECK(attend_finish(&small.p) == ATTEND_OK);
  CHECK(same_bits(small.output, whole));

  // States that were begun later and have taken nothing; and no keys to take.
  small.p.first_key = small.p.keys = ATTEND_SEGMENT_KEYS;
  CHECK(attend_begin(&small.p) == ATTEND_OK);
  CHECK(attend_finish(&small.p) == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATES));
  small.p.first_key = small.p.keys = 0;
  CHECK(attend_begin(&small.p) == ATTEND_OK);
  CHECK(attend_finish(&small.p) == ATTEND_OK);
  for (const float zero : small.output) CHECK(zero == 0.0f);
  const std::ptrdiff_t lengths[batch] = {0, 0};
  small.p.keys = keys, small.p.key_lengths = lengths;
  small.run();
  CHECK(attend_finish(&small.p) == ATTEND_OK);
  for (const float zero : small.output) CHECK(zero == 0.0f);
}
