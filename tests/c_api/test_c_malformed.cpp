// 100,000 calls of the C surface, most of them malformed: each is answered with an error and an argument that it has wrong, and
// nothing is touched.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "../support/rounds.h"
#include "malformed_states.h"

using namespace attend_test;

namespace {

std::set<int>& seen() {
  static std::set<int> statuses;
  return statuses;
}

// Counts instead of a CHECK each: doctest's own bookkeeping would take longer than the calls.
struct Count {
  int calls = 0, refused = 0, wrong = 0, thirds = 0;
  void check(bool right, const std::string& what, const Answers& expected, int status) {
    if (right) return;
    if (++wrong > 10) return;
    std::string all;
    for (const attend_status answer : expected) all += " [" + explain(answer) + "]";
    MESSAGE(what, ": found [", explain(status), "], expected", all, ", call ", calls);
  }
};

bool is_among(attend_status status, const Answers& answers) {
  return answers.empty() ? status == ATTEND_OK : std::find(answers.begin(), answers.end(), status) != answers.end();
}

// Whether attend_check leaves it to the call.
bool of_the_call(attend_status status) {
  const int argument = attend_status_argument(status);
  const bool parameter = argument >= ATTEND_ARG_PART && argument <= ATTEND_ARG_WORKSPACE_SIZE;
  return parameter || status == wrong(ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY) ||
         status == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATES) || status == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES);
}

// Two faults may, rarely, make a third.
void one_problem(World& world, Random& random, Count& count) {
  Call call = world.good(random, random.between(0, 2) == 0);
  const int kind = random.between(0, 9), wanted = kind == 0 ? 0 : kind < 7 ? 1 : 2;
  Answers expected;
  for (int i = 0; i < wanted; ++i) {
    const Fault& fault = faults()[std::size_t(random.between(0, int(faults().size()) - 1))];
    if (call.problem != world.problem() || call.problem->keys > 1000) break;  // there is no memory for more
    const Answers answers = fault(world, call, random);
    if (answers.empty() || answers == expected) return;  // the same twice may be none
    expected.insert(expected.end(), answers.begin(), answers.end());
  }
  ++count.calls;
  const int check = attend_check(call.problem);
  const std::size_t size = attend_workspace_size(call.problem);
  count.check((size > 0) == (check == ATTEND_OK), "attend_workspace_size", expected, check);
  const bool left = expected.empty() || std::any_of(expected.begin(), expected.end(), of_the_call);
  if (wanted < 2) count.check(check == ATTEND_OK ? left : is_among(check, expected), "attend_check", expected, check);
  const int run = attend_run_part(call.problem, call.part, call.parts, call.workspace, call.workspace_size);
  const bool right = is_among(run, expected), third = !right && wanted == 2 && run != ATTEND_OK;
  count.thirds += third;
  count.check(right || third, "attend_run_part", expected, run);
  if (check != ATTEND_OK && wanted < 2) count.check(run == check, "attend_run_part after attend_check", expected, run);
  if (call.parts == 1 && call.part == 0 && run != ATTEND_OK) {
    const int whole = attend_run(call.problem, call.workspace, call.workspace_size);
    count.check(whole == run, "attend_run", {run}, whole);
  }
  if (run != ATTEND_OK) {
    count.check(!world.changed(), "memory after a refusal", expected, run);
  } else {
    count.check(!world.inputs_changed(), "inputs after a call", expected, run);
    const attend_problem& p = *call.problem;
    if (call.parts == 1 && (p.states == nullptr || p.keys > 0)) {
      count.check(world.results_changed(), "results after a call", expected, run);
    }
  }
  world.restore();
  count.refused += run != ATTEND_OK;
  if (wanted < 2) seen().insert(run);
}

// A ring that has lost the first keys.
void one_ring(World& world, Random& random, Count& count) {
  attend_cache_shape shape = World::shape_of(2, 5, 3, 1000);
  shape.window_keys = 16;
  attend_cache* ring = nullptr;
  attend_cache_init(&shape, world.cache.data, world.cache.size, &ring);
  const attend_input key = {world.key.data, 0, 1, 5}, value = {world.value.data, 0, 1, 3};
  attend_cache_append(ring, random.between(33, 900), &key, &value);
  world.cache.remember();
  attend_problem& p = *world.problem();
  p = no_problem();
  p.query_heads = p.kv_heads = 2, p.head_dim = 5, p.value_dim = 3, p.queries = 1;
  p.cache = ring, p.query.data = world.query.data, p.output.data = world.output.data;
  ++count.calls;
  const int status = attend_run(&p, world.workspace.data, world.workspace.size), lost = wrong(ATTEND_LOST, ATTEND_ARG_CACHE);
  count.check(status == lost && !world.changed(), "attend_run over a ring", {lost}, status);
  ++count.refused;
  seen().insert(status);
}

// Inits and backends.
void one_other(Random& random, Count& count) {
  const auto expect = [&](attend_status status, attend_error error, attend_argument argument, const char* what) {
    count.check(status == wrong(error, argument), what, {wrong(error, argument)}, status);
    seen().insert(status);
    ++count.calls, ++count.refused;
  };
  attend_problem problem = no_problem();
  attend_cache_shape shape = World::shape_of(1, 1, 1, 1);
  const std::size_t sizes[] = {0, 1, sizeof shape - 1, 4097, SIZE_MAX}, size = sizes[random.between(0, 4)];
  expect(attend_problem_init(&problem, size), ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, "attend_problem_init");
  expect(attend_problem_init(nullptr, sizeof problem), ATTEND_MISSING, ATTEND_ARG_PROBLEM, "attend_problem_init");
  expect(attend_cache_shape_init(&shape, size), ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, "attend_cache_shape_init");
  expect(attend_cache_shape_init(nullptr, sizeof shape), ATTEND_MISSING, ATTEND_ARG_SHAPE, "attend_cache_shape_init");
  expect(attend_backend_use(nullptr), ATTEND_MISSING, ATTEND_ARG_NAME, "attend_backend_use");
  expect(attend_backend_use(random.between(0, 1) == 0 ? "abacus" : ""), ATTEND_UNKNOWN, ATTEND_ARG_NAME, "attend_backend_use");
  const int none = random.between(0, 1) == 0 ? -1 - random.between(0, 9) : attend_backend_count() + random.between(0, 9);
  const bool untouched = problem.batch == ATTEND_DEFAULT_BATCH && problem.size == sizeof problem && shape.kv_heads == 1;
  count.check(untouched && attend_backend_name(none) == nullptr, "structs after a refusal", {}, none);
}

}  // namespace

TEST_CASE("malformed calls of the C surface: each is told what is wrong with which argument, and nothing is touched") {
  World world;
  const std::vector<unsigned char> cache(world.cache.data, world.cache.data + world.cache.size);
  const auto restore = [&] {
    std::memcpy(world.cache.data, cache.data(), cache.size());
    world.cache.remember();
  };
  Random random(20240607);
  Count count;
  while (count.calls < rounds(100000) && count.wrong < 10) {
    const int kind = random.between(0, 99);
    kind == 0 ? one_ring(world, random, count) : kind == 1 ? one_other(random, count) : one_problem(world, random, count);
    if (kind % 3 == 0) {
      const CacheFault& fault = cache_faults[random.between(0, int(sizeof cache_faults / sizeof *cache_faults) - 1)];
      for (const CacheUse use : {shapes, init, append, cut}) {
        restore();
        if ((fault.uses & use) == 0) continue;
        const std::string text = wrong_answer(world, fault, use, random);
        count.check(text.empty(), "a call of the cache, " + text, {}, 0);
        seen().insert(wrong(fault.error, fault.argument));
        ++count.calls, count.refused += fault.error != ATTEND_OK;
      }
    }
    restore();
  }
  for (const StateFault& fault : state_faults) {
    for (const StateUse use : {begin, finish, merge}) {
      INFO(explain(wrong(fault.error, fault.argument)), " use ", int(use));
      if ((fault.uses & use) != 0) CHECK(wrong_answer(world, fault, use) == "");
    }
    seen().insert(wrong(fault.error, fault.argument));
  }
  CHECK(count.wrong == 0);
  CHECK(count.thirds * 1000 < rounds(100000));
  MESSAGE(rounds(100000), " calls, ", count.refused, " of them refused, with ", seen().size() - 1,
          " pairs of error and argument");

  // Every error and every argument that has a name was an answer, but a backend that this processor cannot run.
  std::set<int> errors = {ATTEND_UNAVAILABLE}, arguments;
  for (const attend_status status : seen()) {
    errors.insert(attend_status_error(status)), arguments.insert(attend_status_argument(status));
    CHECK(status == wrong(attend_error(attend_status_error(status)), attend_argument(attend_status_argument(status))));
  }
  std::set<std::string> texts, names;
  for (int status = -70000; status < 70000; ++status) {
    texts.insert(attend_error_text(status)), names.insert(attend_argument_name(status));
  }
  CHECK(attend_error_text(1 << 30) == std::string(attend_error_text(-1)));
  CHECK(texts.size() > ATTEND_UNAVAILABLE + 2);  // one for what is no status, and those of special pairs
  CHECK(names.size() == ATTEND_ARG_RING + 2);
  if (rounds(12) < 12) return;  // too few calls for the rare ones
  for (int error = 0; error <= ATTEND_UNAVAILABLE; ++error) CHECK_MESSAGE(errors.count(error) == 1, error);
  for (int argument = 0; argument <= ATTEND_ARG_NAME; ++argument) {  // those of layers: test_c_layer_refusals.cpp
    CHECK_MESSAGE(arguments.count(argument) == 1, attend_argument_name(wrong(ATTEND_MISSING, attend_argument(argument))));
  }
}
