// What an option masks is absent, whatever it holds.
#include <doctest/doctest.h>

#include "../support/rounds.h"
#include "option_random.h"
#include "option_ways.h"

using namespace attend_test;

namespace {

// The first difference in rows that see none of the bad keys; scores before anything is masked may show a bad key as it is.
std::string difference_unseen(const OptionInstance& in, const std::vector<bool>& bad, OptionResults found,
                              OptionResults expected) {
  const bool shows_masked = in.options.score_stage == core::Scores::raw || in.options.score_stage == core::Scores::capped;
  for (int t = 0; t < in.s.queries; ++t) {
    for (int h = 0; h < in.s.query_heads; ++h) {
      const auto r = std::size_t(t * in.s.query_heads + h);
      bool sees_bad = false;
      for (int j = 0; j < in.s.keys; ++j) sees_bad = sees_bad || (bad[std::size_t(j)] && in.sees(t, h, j));
      const auto forget = [&](std::vector<float>& numbers, std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) numbers[i] = 0.0f;
      };
      for (OptionResults* results : {&found, &expected}) {
        if (sees_bad) forget(results->output, r * output_stride(in), output_stride(in));
        if (sees_bad && in.has(lse)) forget(results->lse, r, 1);
        if (sees_bad && in.has(scores)) forget(results->scores, r * score_stride(in), score_stride(in));
        for (int j = 0; j < in.s.keys && shows_masked && in.has(scores); ++j) {
          if (bad[std::size_t(j)]) forget(results->scores, r * score_stride(in) + std::size_t(j), 1);
        }
      }
    }
  }
  return difference(in, found, expected, false);
}

}  // namespace

TEST_CASE("options: bad numbers in keys and values change no bit of rows that do not see them, whichever option masks them") {
  int seed = 0;
  for (const unsigned hiding : {0u, unsigned(windows), unsigned(pins), unsigned(byte_masks), unsigned(bit_masks),
                                unsigned(bias_masks), windows | pins | byte_masks | bias_masks}) {
    for (unsigned other = 0; other <= wish_count; ++other) {
      const unsigned wishes = hiding | (other < wish_count ? 1u << other : lse | scores);
      for (const float bad_number : bad_numbers) {
        if (++seed % stride() != 0) continue;
        RandomInstance in(std::uint64_t(seed) + 70000, wishes, 20);
        for_each_backend([&](const char* backend) {
          if (seed % (std::string(backend) == "scalar" ? 20 : 2) != 0 && seed > 20) return;
          for (const Way& way : some_ways(in)) {
            const OptionResults clean = run_options(in, way);
            const std::vector<float> key = in.key, value = in.value, key_scales = in.key_scales, value_scales = in.value_scales;
            Random random{std::uint64_t(seed)};
            std::vector<bool> bad(std::size_t(in.s.keys), false);
            const int every = random.between(2, 40);
            for (int j = random.between(0, every); j < in.s.keys; j += every) {
              if (!in.exists(j)) continue;
              bad[std::size_t(j)] = true;
              for (int kv = 0; kv < in.s.kv_heads; ++kv) in.poison(kv, j, bad_number);
            }
            const std::string wrong = difference_unseen(in, bad, run_options(in, way), clean), problem = in.text();
            if (!wrong.empty()) {
              FAIL_CHECK(seed, ": ", wrong, "; ", bad_number, " ", std::string(backend), " rows ", way.rows, " keys ", way.keys,
                         " every ", way.state_keys, "; ", problem);
            }
            // In place, because options point to the scales.
            in.key = key, in.value = value;
            std::copy(key_scales.begin(), key_scales.end(), in.key_scales.begin());
            std::copy(value_scales.begin(), value_scales.end(), in.value_scales.begin());
          }
        });
      }
    }
  }
}
