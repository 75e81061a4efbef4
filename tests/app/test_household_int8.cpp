// The model of household commands in integers: what it understands, its scores on every backend and board, and its scales.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../bench/app/calibrate.h"
#include "../../bench/app/integer_llama.h"
#include "../../bench/app/quantise.h"
#include "../conformance/layer_digest.h"
#include "../support/app_checks.h"
#include "../support/model_files.h"
#include "../support/rounds.h"

using namespace attend_test;

namespace {

constexpr const char* model_path = "bench/app/model/household.bin";

std::uint64_t digest_of(const app::Household& household, const char* sentence) {
  app::IntegerLlama llama(household.checkpoint, household.scales, int(app::longest_tokens));
  std::uint64_t hash = 0;
  for (const int token : household.words.encode(sentence).tokens) {
    llama.advance(token);
    hash = hash_of(llama.logits().data(), llama.logits().size(), hash);
  }
  return hash;
}

// Every so many lines of the held-out sentences.
std::string some_held_out(int step) {
  std::ifstream stream("bench/app/model/held_out.txt");
  std::string some, line;
  for (int number = 0; std::getline(stream, line); ++number) {
    if (number % step == 0) some += line + "\n";
  }
  return some;
}

}  // namespace

TEST_CASE("app: the model in integers understands as many held-out commands as the one of floats, less one in a hundred") {
  const Folder folder;
  const app::Household household = app::load_household(model_path);
  const int step = quick_share();
  const std::string sentences = folder.write("sentences.txt", some_held_out(step));
  const app::Understood floats = app::understood(household, sentences, app::Arithmetic::float32);
  const app::Understood integers = app::understood(household, sentences, app::Arithmetic::integer);
  CHECK(integers.all * step >= 1300 - step);
  CHECK(integers.others * step >= 500 - step);
  CHECK(integers.right >= floats.right - integers.all / 100 - 1);
  CHECK(integers.unknown >= floats.unknown - integers.others / 100 - 1);
}

TEST_CASE("app: the model in integers has the same scores under every backend, and those of boards") {
  const app::Household household = app::load_household(model_path);
  under_every_backend([&] {
    // bench/boards/household_int8_main.cpp writes these.
    CHECK(digest_of(household, app::example_sentences[0]) == 0x57e9978d86982df4u);
    CHECK(digest_of(household, app::example_sentences[1]) == 0xbafaab089a0adaecu);
    CHECK(digest_of(household, app::example_sentences[2]) == 0xa5f700a6073ac436u);
    app::Commands commands(household, app::Arithmetic::integer);
    for (int again = 0; again < 2; ++again) {
      CHECK(commands.answer(app::example_sentences[0]).action == "light.dim room=bedroom level=30");
    }
  });
}

TEST_CASE("app: the model in integers needs scales and weights of 8 bits in rows") {
  const Folder folder;
  app::Household household = app::load_household(model_path);
  const auto refused = [](const app::Household& of) {
    return contains(failure_of([&] { app::Commands commands(of, app::Arithmetic::integer); }),
                    "needs weights of 8 bits and scales");
  };
  CHECK_FALSE(refused(household));
  CHECK(refused(app::packed(household)));
  // A file without scales is still a model, of floats.
  const std::string path = folder.write("household.bin", app::with_scales(model_path, {}));
  const app::Household old = app::load_household(path);
  CHECK(old.scales.empty());
  CHECK(refused(old));
  CHECK(app::Commands(old).answer(app::example_sentences[2]).action == "unknown");
  // Scales come back as they were written, and bad ones are refused.
  CHECK(app::load_household(folder.write("same.bin", app::with_scales(path, household.scales))).scales[1].key ==
        household.scales[1].key);
  for (const float scale : {0.0f, -1.0f, 1e30f, std::nanf("")}) {
    app::IntegerScales scales = household.scales;
    scales[2].value[1] = scale;
    const std::string bad = folder.write("bad.bin", app::with_scales(path, scales));
    CHECK(contains(failure_of([&] { app::load_household(bad); }), "scales within"));
  }
}

TEST_CASE("app: the scales of the model are those of its calibration") {
  if (rounds(12) != 12) return;  // too long for emulators
  const app::Household household = app::load_household(model_path);
  const app::IntegerScales scales = app::calibrated_scales(household, "bench/app/model/calibration.txt", 0.9999);
  REQUIRE(scales.size() == household.scales.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    CHECK(scales[i].input == household.scales[i].input);
    CHECK(scales[i].attended == household.scales[i].attended);
    CHECK(scales[i].query == household.scales[i].query);
    CHECK(scales[i].key == household.scales[i].key);
    CHECK(scales[i].value == household.scales[i].value);
  }
}

TEST_CASE("app: floats become the nearest 8-bit numbers of a scale and a zero point") {
  const float reals[] = {0.0f, 0.24f, 0.26f, -0.24f, -0.26f, 0.25f, -0.25f, 63.5f, 64.0f, -64.0f, -65.0f, 1e30f, -1e30f};
  const int expected[] = {0, 0, 1, 0, -1, 1, -1, 127, 127, -128, -128, 127, -128};
  std::int8_t numbers[13];
  app::quantise(reals, 13, 0.5f, numbers);
  for (int i = 0; i < 13; ++i) CHECK(int(numbers[i]) == expected[i]);
  const int with_zero[] = {10, 10, 11, 10, 9, 11, 9, 127, 127, -118, -120, 127, -128};
  app::quantise(reals, 13, 0.5f, numbers, 10);
  for (int i = 0; i < 13; ++i) CHECK(int(numbers[i]) == with_zero[i]);

  const float four[] = {-2.0f, 1.0f, 0.5f, 0.0f};
  CHECK(app::quantise_by_largest(four, 4, numbers) == doctest::Approx(2.0 / 127));
  CHECK(int(numbers[0]) == -127);
  CHECK(int(numbers[1]) == 64);
  CHECK(app::quantise_by_largest(four + 3, 1, numbers) == 1.0f);
  CHECK(app::percentile_size({5, 1, 4, 2, 3}, 0.5) == 3);
  CHECK(app::percentile_size({5, 1, 4, 2, 3}, 1) == 5);
  CHECK(app::percentile_size({}, 1) == 0);
  const std::int8_t bits[] = {-4, 3, 1, 0};
  CHECK(app::mean_square_error(four, bits, 4, 0.5f) == doctest::Approx(0.0625));
}
