// Command lines: what they say, and which are refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../bench/app/command_line.h"
#include "../support/app_checks.h"

using namespace attend_test;

TEST_CASE("app: the command line is taken as given or refused") {
  using Words = std::vector<const char*>;
  const auto parse = [](Words words) {
    words.insert(words.begin(), "run");
    return app::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  const app::CommandLine none = parse({});
  CHECK(none.model.empty());
  CHECK(none.temperature == 0);
  const app::CommandLine all = parse({"--model", "m", "--tokenizer", "t", "--prompt", "--steps", "--steps", "12",
                                      "--temperature", "0.5", "--top-p", "1", "--seed", "18446744073709551615"});
  CHECK(all.model == "m");
  CHECK(all.tokenizer == "t");
  CHECK(all.prompt == "--steps");
  CHECK(all.steps == 12);
  CHECK(all.temperature == 0.5f);
  CHECK(all.top_p == 1.0f);
  CHECK(all.seed == UINT64_MAX);
  CHECK(all.ignored.empty());
  CHECK(parse({"--steps", "3"}).ignored == "--steps");
  CHECK(parse({"--help"}).help);

  const auto refused = [&](const Words& words) {
    CAPTURE(std::string(words.back()));
    CHECK_THROWS_AS(parse(words), app::UsageError);
    CHECK(contains(failure_of([&] { parse(words); }), words[0]));
  };
  for (const char* wrong : {"abc", "", "-1", "-0", "+1", "1.5", " 1", "1 ", "99999999999999999999"})
    refused({"--steps", wrong});
  for (const char* wrong : {"-0.1", "nan", "inf", "1e99", "0.5x", "", ".", " 1"}) refused({"--temperature", wrong});
  for (const char* wrong : {"0", "1.01", "-1", "nan", "all"}) refused({"--top-p", wrong});
  for (const char* wrong : {"-1", "18446744073709551616", "x"}) refused({"--seed", wrong});
  for (const char* option : {"--model", "--tokenizer", "--household", "--heatmap"}) refused({option, ""});
  for (const char* option : {"--steps", "--sentence", "--example", "--model", "--prompt", "--unknown", "story", ""})
    refused({option});
  CHECK(parse({"--model", "m"}).tokenizer.empty());
  CHECK(contains(failure_of([&] { parse({"--tokenizer", "t"}); }), "--model"));

  CHECK(!none.sentence);
  CHECK(none.heatmap.empty());
  CHECK(!none.textbook);
  const app::CommandLine spoken = parse({"--sentence", "", "--heatmap", "h", "--household", "p"});
  CHECK(spoken.sentence == "");
  CHECK(spoken.heatmap == "h");
  CHECK(spoken.household == "p");
  CHECK_FALSE(none.integer);
  CHECK(parse({"--arithmetic", "integer"}).integer);
  CHECK_FALSE(parse({"--arithmetic", "float32"}).integer);
  CHECK(parse({"--quantise", "sentences"}).quantise == "sentences");
  refused({"--arithmetic", "int4"});
  refused({"--quantise", ""});
  refused({"--heatmap", "h", "--arithmetic", "integer"});
  CHECK_FALSE(none.list);
  CHECK(parse({"--list", "--household", "p"}).list);
  refused({"--list", "--example", "textbook"});
  CHECK(parse({"--example", "textbook"}).textbook);
  refused({"--example", "story"});
  refused({"--example", "textbook", "--model", "m", "--tokenizer", "t"});
  for (const char* option : {"--sentence", "--heatmap", "--household"}) {
    refused({option, "x", "--model", "m", "--tokenizer", "t"});
    refused({option, "x", "--example", "textbook"});
  }
}
