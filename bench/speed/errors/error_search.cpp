// Searches for inputs whose errors pass the bounds, and prints the largest errors found beside these.
//
//   error_search [--seconds S] [--seed N]     ATTEND_BACKEND in the environment chooses the backend
//
// Every case is searched once at least, in a few seconds; then again with other seeds and twice the effort, until the seconds
// are over. Ends with status 1 when a bound is passed.
#include "../../../tests/conformance/error_search.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using attend_test::Target;

struct Case {
  int head_dim, keys;
  double score_size;
  double output = 0.0, lse = 0.0;  // the worst so far, as parts of the bounds for this size
  double hardest = 0.0;            // and of an input's own bound
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const double score_size : {2.0, 20.0, 200.0}) {
    for (const int head_dim : {1, 64, 128}) {
      for (const int keys : {2, 16, 64, 512, 2000}) cases.push_back({head_dim, keys, score_size});
    }
  }
  return cases;
}

// A case of any size, another in each round.
Case random_case(std::uint64_t seed) {
  attend_test::Random random(seed);
  const int head_dim = random.between(1, 128), keys = random.between(1, random.between(0, 3) == 0 ? 2000 : 100);
  return {head_dim, keys, 0.1 + 25.0 * (1.0 + double(random.uniform()))};
}

void search(Case& at, std::uint64_t seed, double multiply_adds) {
  for (const attend_test::Start start : attend_test::all_starts) {
    for (const Target target : {Target::output, Target::lse}) {
      attend_test::ErrorCase searched(at.head_dim, at.keys, at.score_size);
      const attend_test::Found found = attend_test::search_errors(searched, target, start, seed, multiply_adds);
      double& worst = target == Target::output ? at.output : at.lse;
      worst = std::max(worst, found.part);
      at.hardest = std::max(at.hardest, found.hardest);
    }
  }
}

void print(const Case& at) {
  const double bound = attend_test::output_bound(attend_test::roundings_of(at.head_dim, at.keys), at.score_size);
  std::printf("%9d %6d %7.3g %9.1e %9.1e %9.2f %9.2f %9.2f\n", at.head_dim, at.keys, at.score_size, bound, bound * at.output,
              at.output, at.lse, at.hardest);
}

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "error_search: %s\n", reason.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0.0;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 < argc && option == "--seconds") {
      seconds = std::strtod(argv[i + 1], nullptr);
    } else if (i + 1 < argc && option == "--seed") {
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      fail("usage: error_search [--seconds S] [--seed N]");
    }
  }
  const char* backend = std::getenv("ATTEND_BACKEND");
  if (backend != nullptr && !attend::use_backend(backend)) fail(std::string("this machine cannot run the backend ") + backend);

  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto time = [&begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::vector<Case> cases = all_cases();
  Case worst_other{0, 0, 0.0};
  int rounds = 0;
  for (double multiply_adds = 1e5; rounds == 0 || time() < seconds; ++rounds, ++seed) {
    for (std::size_t i = 0; i < cases.size() && (rounds == 0 || time() < seconds); ++i) {
      search(cases[i], seed, multiply_adds);
      Case other = random_case(seed << 16 | i);
      if (rounds > 0) search(other, seed, multiply_adds);
      if (other.hardest > worst_other.hardest) worst_other = other;
    }
    multiply_adds = std::min(2.0 * multiply_adds, 1e8);
  }
  std::printf(
      "# backend %s, %d rounds in %.0f seconds. size: the largest sum of |scale * query_d * key_d| of any key.\n"
      "# bound, worst: of the error of an output, relative to max|v|, for that size. part: worst / bound; of the log-sum-exp.\n"
      "# hardest: the largest part of its own bound that an input reached, which may be of less than that size.\n",
      attend::active_backend(), rounds, time());
  std::printf("#%8s %6s %7s %9s %9s %9s %9s %9s\n", "head_dim", "keys", "size", "bound", "worst", "part", "part, lse",
              "hardest");
  double hardest = worst_other.hardest;
  for (const Case& at : cases) {
    print(at);
    hardest = std::max(hardest, at.hardest);
  }
  if (worst_other.keys > 0) {
    std::printf("# the hardest of other shapes:\n");
    print(worst_other);
  }
  std::printf("hardest: %.2f of the bound\n", hardest);
  return hardest <= 1.0 ? 0 : 1;
}
