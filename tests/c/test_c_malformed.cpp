// 100,000 calls of the C surface with random problems of floats, most of them malformed: each is answered with an error and an
// argument that it has wrong, and nothing is touched. What they have wrong are rows of the tables, faults of addresses and
// strides, or two of these.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "../support/rounds.h"
#include "refusals_places.h"
#include "refusals_random_world.h"

using namespace attend_test;

namespace {

enum Calls { run = 1 };

const Refusal<World> rows[] = {
#include "refusals_attention.inc"
#include "refusals_problem.inc"
};

struct Fault {
  std::string text;
  std::function<Answers(World&)> make;
  int placed = 0;
};

// Rows first.
std::vector<Fault> all_faults() {
  std::vector<Fault> faults;
  for (const Refusal<World>& row : rows) {
    faults.push_back({row.text, [&row](World& w) { return row.set(w) ? Answers{wrong(row.error, row.argument)} : Answers{}; }});
  }
  for (const Address& address : addresses) {
    for (const auto make : address_faults) {
      faults.push_back(
          {attend_argument_name(wrong(ATTEND_MISSING, address.argument)), [=](World& w) { return make(w, address); }});
    }
  }
  for (const Stride& stride : strides) {
    for (const auto make : stride_faults) {
      faults.push_back(
          {attend_argument_name(wrong(ATTEND_MISSING, stride.argument)), [=](World& w) { return make(w, stride); }});
    }
  }
  return faults;
}

// Counts instead of a CHECK each: doctest's own bookkeeping would take longer than the calls.
struct Count {
  int calls = 0, refused = 0, wrong = 0, thirds = 0;
  std::set<int> seen;
  std::string set;  // what the rows say
  void check(bool right, const std::string& what, const Answers& expected, int status) {
    if (right) return;
    if (++wrong > 10) return;
    std::string all;
    for (const attend_status answer : expected) all += " [" + explain(answer) + "]";
    MESSAGE(set, ": ", what, ": found [", explain(status), "], expected", all, ", call ", calls);
  }
};

bool is_among(attend_status status, const Answers& answers) {
  return answers.empty() ? status == ATTEND_OK : std::find(answers.begin(), answers.end(), status) != answers.end();
}

// Whether attend_check leaves it to the call.
bool of_the_call(attend_status status) {
  const int argument = argument_of(status);
  const bool parameter = argument >= ATTEND_ARG_PART && argument <= ATTEND_ARG_WORKSPACE;
  return parameter || status == wrong(ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY) ||
         status == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATES) || status == wrong(ATTEND_CORRUPT, ATTEND_ARG_STATES);
}

// Two faults may, rarely, make a third.
void one_problem(RandomWorld& world, Random& random, std::vector<Fault>& faults, Count& count) {
  world.good(random, random.between(0, 2) == 0);
  const int kind = random.between(0, 9), wanted = kind == 0 ? 0 : kind < 7 ? 1 : 2;
  Answers expected;
  count.set.clear();
  for (int i = 0; i < wanted; ++i) {
    Fault& fault = faults[std::size_t(random.between(0, int(faults.size()) - 1))];
    if (world.passed != &world.p || world.p.keys > 1000) break;  // there is no memory for more
    const Answers answers = fault.make(world);
    if (answers.empty() || answers == expected) return;  // the same twice may be none
    expected.insert(expected.end(), answers.begin(), answers.end());
    fault.placed += wanted == 1;
    count.set += fault.text + "; ";
  }
  ++count.calls;
  const int check = attend_check(world.passed);
  const std::size_t size = attend_workspace_size(world.passed);
  count.check((size > 0) == (check == ATTEND_OK), "attend_workspace_size", expected, check);
  const bool left = expected.empty() || std::any_of(expected.begin(), expected.end(), of_the_call);
  if (wanted < 2) count.check(check == ATTEND_OK ? left : is_among(check, expected), "attend_check", expected, check);
  const int run = attend_run_part(world.passed, world.part, world.parts, world.work, world.work_size);
  // What overlaps the work memory as well as something else is told of either.
  const auto is_overlap = [](attend_status status) { return error_of(status) == ATTEND_OVERLAP; };
  const bool of_work = run == wrong(ATTEND_OVERLAP, ATTEND_ARG_WORKSPACE) && std::any_of(expected.begin(), expected.end(), is_overlap);
  const bool right = is_among(run, expected) || of_work, third = !right && wanted == 2 && run != ATTEND_OK;
  count.thirds += third;
  count.check(right || third, "attend_run_part", expected, run);
  if (check != ATTEND_OK && wanted < 2) count.check(run == check || of_work, "attend_run_part after attend_check", expected, run);
  if (world.parts == 1 && world.part == 0 && run != ATTEND_OK) {
    const int whole = attend_run(world.passed, world.work, world.work_size);
    count.check(whole == run, "attend_run", {run}, whole);
  }
  if (run != ATTEND_OK) {
    count.check(!world.changed(), "memory after a refusal", expected, run);
    count.check(is_answer(run, attend_error(error_of(run)), attend_argument(argument_of(run))), "text",
                {}, run);
  } else {
    count.check(!world.inputs_changed(), "inputs after a call", expected, run);
    if (world.parts == 1 && (!world.has_states() || world.p.keys > 0)) {
      count.check(world.results_changed(), "results after a call", expected, run);
    }
  }
  world.restore();
  count.refused += run != ATTEND_OK;
  if (wanted < 2) count.seen.insert(run);
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
  attend_problem& p = world.p;
  world.begin_problem();
  p.query_heads = p.kv_heads = 2, p.head_dim = 5, p.value_dim = 3, p.queries = 1;
  p.cache = ring, p.query.data = world.query.data, p.output.data = world.output.data;
  ++count.calls;
  const int status = attend_run(&p, world.workspace.data, world.workspace.size), lost = wrong(ATTEND_LOST, ATTEND_ARG_CACHE);
  count.check(status == lost && !world.changed(), "attend_run over a ring", {lost}, status);
  ++count.refused;
  count.seen.insert(status);
}

}  // namespace

TEST_CASE("malformed calls of the C surface: each is told what is wrong with which argument, and nothing is touched") {
  Random random(20240607);
  RandomWorld world(&random);
  const std::vector<unsigned char> cache(world.cache.data, world.cache.data + world.cache.size);
  std::vector<Fault> faults = all_faults();
  Count count;
  while (count.calls < rounds(100000) && count.wrong < 10) {
    random.between(0, 99) == 0 ? one_ring(world, random, count) : one_problem(world, random, faults, count);
    std::memcpy(world.cache.data, cache.data(), cache.size());
    world.cache.remember();
  }
  CHECK(count.wrong == 0);
  CHECK(count.thirds * 1000 < rounds(100000) + 3000);  // of few calls, a few more
  MESSAGE(rounds(100000), " calls, ", count.refused, " of them refused, with ", count.seen.size() - 1,
          " pairs of error and argument");
  if (rounds(12) < 12) return;  // too few calls for the rare ones
  for (std::size_t row = 0; row < sizeof rows / sizeof *rows; ++row) CHECK_MESSAGE(faults[row].placed > 0, faults[row].text);
  check_arguments(count.seen, ATTEND_ARG_NONE, ATTEND_ARG_SIZE);
  check_arguments(count.seen, ATTEND_ARG_OPTIONS, ATTEND_ARG_OUTPUT);
  check_arguments(count.seen, ATTEND_ARG_CACHE, ATTEND_ARG_FIRST_KEY);
  check_arguments(count.seen, ATTEND_ARG_PART, ATTEND_ARG_WORKSPACE);
  for (int error = 1; error <= ATTEND_NEWER; ++error) {
    const auto is_it = [=](int status) { return error_of(status) == error; };
    if (error != ATTEND_FULL) CHECK_MESSAGE(std::any_of(count.seen.begin(), count.seen.end(), is_it), error);
  }
}
