// The rule of bench/adapters/common/masked.h, to the bit: padding, batches, windows, chunks and documents that masks say have
// the bits of the same tokens alone, and no more calls of the library than it states.
#include "masked_test.h"

namespace {

int failures = 0, threads_of_test = 1;

void check(bool passed, const char* what) {
  std::printf("%s masks, threads: %d: %s\n", passed ? "ok  " : "FAIL", threads_of_test, what);
  failures += !passed;
}

// Rows of up to 90 tokens somewhere in their padding, whose keys are NaN, beside each row alone.
bool padding_keeps_bits(float hidden, int begins, int ends) {
  const int first[] = {begins, begins, 0, ends}, lengths[] = {90, 60, 75, 90}, all = 90 + begins + ends;
  Tokens wide(4, all, all, 5);
  Shown shown = mask_of(wide, [&](int row, int i, int j) {
    return i >= first[row] && i < first[row] + lengths[row] && j >= first[row] && j <= i;
  });
  for (int row = 0; row < 4; ++row) {
    for (int j = 0; j < all; ++j) {
      if (j >= first[row] && j < first[row] + lengths[row]) continue;
      for (int i = 0; i < kv_heads * width; ++i)
        wide.key[std::size_t((row * all + j) * kv_heads * width + i)] =
            wide.value[std::size_t((row * all + j) * kv_heads * width + i)] = NAN;
    }
  }
  Numbers output, expected;
  attend_problem problem = problem_of(wide, output);
  const Numbers bias = bias_of(shown, hidden);
  hidden == 0 ? set_mask(problem, shown) : set_bias(problem, bias);
  // Queries of padding that see nothing but numbers as -1e9 have an average of NaN, and nobody reads it.
  if (!run(problem)) return false;
  for (int row = 0; row < 4; ++row) {
    attend_problem alone = problem_of(wide, expected);
    alone.batch = 1;
    alone.queries = alone.keys = lengths[row];
    alone.options = ATTEND_CAUSAL;
    alone.query.data = wide.query.data() + (row * all + first[row]) * heads * width;
    alone.key.data = wide.key.data() + (row * all + first[row]) * kv_heads * width;
    alone.value.data = wide.value.data() + (row * all + first[row]) * kv_heads * width;
    if (attend_adapter::run_attention(alone, threads.parallel(), memory) != ATTEND_OK) return false;
    const float* const own = output.data() + (row * all + first[row]) * heads * width;
    if (!same(own, expected.data(), std::size_t(lengths[row] * heads * width))) return false;
  }
  return true;
}

// Rows of other lengths under a mask [row][key] of -1e9, as encoders have it: one call, which reads no key behind a row's end.
bool encoders_keep_bits() {
  const int lengths[] = {50, 70, 70};
  Tokens wide(3, 70, 70, 23);
  Numbers bias(3 * 70, -1e9f), output, expected;
  for (int row = 0; row < 3; ++row) {
    for (int j = 0; j < 70; ++j) {
      if (j < lengths[row]) bias[std::size_t(row * 70 + j)] = 0.0f;
      if (j >= lengths[row]) wide.key[std::size_t((row * 70 + j) * kv_heads * width)] = NAN;
    }
  }
  attend_problem problem = problem_of(wide, output);
  problem.bias = {bias.data(), 70, 0, 0, 70};
  if (!run(problem) || calls != 1) return false;
  for (int row = 0; row < 3; ++row) {
    attend_problem alone = problem_of(wide, expected);
    alone.batch = 1;
    alone.keys = lengths[row];
    alone.query.data = wide.query.data() + row * 70 * heads * width;
    alone.key.data = wide.key.data() + row * 70 * kv_heads * width;
    alone.value.data = wide.value.data() + row * 70 * kv_heads * width;
    if (attend_adapter::run_attention(alone, threads.parallel(), memory) != ATTEND_OK) return false;
    if (!same(output.data() + row * 70 * heads * width, expected.data(), std::size_t(70 * heads * width))) return false;
  }
  return true;
}

// A prompt at once and token by token.
template <class Shows>
bool chunks_keep_bits(int tokens, const Shows& shows, int most_calls) {
  const Tokens all(2, tokens, tokens, 9);
  const Shown shown = mask_of(all, [&](int, int i, int j) { return shows(i, j); });
  Numbers output, part;
  attend_problem problem = problem_of(all, output);
  set_mask(problem, shown);
  if (!run(problem) || calls > most_calls) return false;
  const Numbers apart = output;
  problem.mask.batch_stride = 0;  // one mask for both rows, which are the same
  if (!run(problem) || calls > most_calls || apart != output) return false;
  bool keeps = true;
  for (int i = 0; i < tokens; ++i) {
    attend_problem one = problem_of(all, part);
    one.queries = 1;
    one.keys = i + 1;
    one.query.data = all.query.data() + i * heads * width;
    one.mask = {shown.data() + i * tokens, 0, 0, tokens, tokens, ATTEND_MASK_BYTES};
    keeps = run(one) && keeps;
    for (int row = 0; row < 2; ++row)
      keeps =
          same(part.data() + row * tokens * heads * width, output.data() + (row * tokens + i) * heads * width, heads * width) &&
          keeps;
  }
  return keeps;
}

// A causal mask is one call, with the bits of ATTEND_CAUSAL.
bool causal_is_one_call() {
  const Tokens all(3, 200, 200, 11);
  const Shown shown = mask_of(all, [](int, int i, int j) { return j <= i; });
  Numbers by_mask, by_bias, by_option;
  attend_problem mask = problem_of(all, by_mask), bias = problem_of(all, by_bias), option = problem_of(all, by_option);
  const Numbers lowest = bias_of(shown, -3.4e38f);
  set_mask(mask, shown);
  set_bias(bias, lowest);
  option.options = ATTEND_CAUSAL;
  bool passed = run(mask) && calls == 1;
  passed = run(bias) && calls == 1 && passed;
  passed = run(option) && calls == 1 && passed;
  return passed && by_mask == by_option && by_bias == by_option;
}

// Rows of other lengths whose queries are the last, as caches have them, with padding in front of them.
bool lengths_keep_bits() {
  const std::ptrdiff_t lengths[] = {130, 77, 90}, begins[] = {40, 3, 3};
  const Tokens all(3, 5, 130, 13);
  const Shown shown = mask_of(all, [&](int row, int, int j) { return j >= begins[row]; });
  Numbers output, expected;
  attend_problem problem = problem_of(all, output);
  problem.key_lengths = lengths;
  problem.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST;
  set_mask(problem, shown);
  if (!run(problem)) return false;
  for (int row = 0; row < 3; ++row) {
    attend_problem alone = problem_of(all, expected);
    alone.batch = 1;
    alone.keys = lengths[row] - begins[row];
    alone.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST;
    alone.query.data = all.query.data() + row * 5 * heads * width;
    alone.key.data = all.key.data() + (row * 130 + begins[row]) * kv_heads * width;
    alone.value.data = all.value.data() + (row * 130 + begins[row]) * kv_heads * width;
    if (attend_adapter::run_attention(alone, threads.parallel(), memory) != ATTEND_OK) return false;
    if (!same(output.data() + row * 5 * heads * width, expected.data(), 5 * heads * width)) return false;
  }
  return true;
}

// Numbers that hide keys are a bias where a query has no other, and then none is left out.
bool numbers_alone_hide_nothing() {
  const Tokens all(1, 2, 100, 17);
  Numbers bias(200, -1e4f), output, expected;
  for (int j = 60; j < 100; ++j) bias[std::size_t(j)] = 0.0f;
  attend_problem problem = problem_of(all, output);
  set_bias(problem, bias);
  if (!run(problem)) return false;
  attend_problem library = problem_of(all, expected);
  set_bias(library, bias);
  if (attend_adapter::run_attention(library, threads.parallel(), memory) != ATTEND_OK) return false;
  return same(output.data() + heads * width, expected.data() + heads * width, heads * width);
}

// Weights of keys that are left out are 0, and those of the others as without padding.
bool weights_are_whole() {
  const Tokens all(2, 3, 50, 19);
  const Shown shown = mask_of(all, [](int row, int, int j) { return j >= 20 * row && j < 45; });
  Numbers output, weights(2 * heads * 3 * 50, NAN);
  attend_problem problem = problem_of(all, output);
  set_mask(problem, shown);
  problem.scores = {weights.data(), heads * 3 * 50, 3 * 50, 50, 50, ATTEND_SCORES_WEIGHTS};
  if (!run(problem)) return false;
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < heads * 3; ++i) {
      float sum = 0;
      for (int j = 0; j < 50; ++j) {
        const float weight = weights[std::size_t((row * heads * 3 + i) * 50 + j)];
        if ((weight > 0) != (j >= 20 * row && j < 45)) return false;
        sum += weight;
      }
      if (!(sum > 0.9999f && sum < 1.0001f)) return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  for (const int count : {1, 3}) {
    threads.resize(threads_of_test = count);
    bool bytes = true, infinite = true, numbers = true;
    for (const int begins : {0, 1, 16, 100, 600}) {
      for (const int ends : {0, 5, 70}) {
        bytes = padding_keeps_bits(0, begins, ends) && bytes;
        infinite = padding_keeps_bits(-infinity, begins, ends) && infinite;
        for (const float hidden : {-3.4e38f, -1e9f, -1e4f}) numbers = padding_keeps_bits(hidden, begins, ends) && numbers;
      }
    }
    check(bytes, "padding by a mask of bytes");
    check(infinite, "padding by minus infinity");
    check(numbers, "padding by the lowest float, -1e9 and -1e4");
    check(encoders_keep_bits(), "rows of other lengths under a mask of -1e9 are one call");
    check(causal_is_one_call(), "a causal mask is one call and has the bits of ATTEND_CAUSAL");
    check(chunks_keep_bits(
              150, [](int i, int j) { return j <= i && j > i - 40; }, 3),
          "a window that a mask says, at once and token by token; three calls for two rows");
    check(chunks_keep_bits(
              90, [](int i, int j) { return j <= i && j / 30 == i / 30; }, 3),
          "documents that a mask says, at once and token by token; a call for each");
    check(chunks_keep_bits(
              90, [](int i, int j) { return j <= i && (i * 7 + j * j) % 5 != 0; }, 90),
          "a mask with holes, at once and token by token");
    check(lengths_keep_bits(), "rows of other lengths, whose queries are the last, in padding");
    check(numbers_alone_hide_nothing(), "a query with nothing but -1e4 keeps all keys");
    check(weights_are_whole(), "weights beside keys that are left out");
  }
  return failures == 0 ? 0 : 1;
}
