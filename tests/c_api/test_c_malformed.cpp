// 100,000 calls of the C surface, most of them malformed: each is answered with its own status, and nothing is touched.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "../support/rounds.h"
#include "malformed_options.h"
#include "malformed_states.h"

using namespace attend_test;

namespace {

std::set<int>& seen() {
  static std::set<int> statuses;
  return statuses;
}

// Whether a status is of parts or work memory.
bool of_the_call(attend_status status) {
  return (status >= ATTEND_BAD_PARTS && status < ATTEND_NO_CACHE_SHAPE) || status == ATTEND_WORKSPACE_OVERLAPS_OPTION;
}

// Counts instead of a CHECK each: doctest's own bookkeeping would take longer than the calls.
struct Count {
  int calls = 0, refused = 0, wrong = 0;
  void check(bool right, const char* what, int expected, int status) {
    if (right) return;
    if (++wrong <= 10) MESSAGE(std::string(what), ": expected status ", expected, ", found ", status, ", call ", calls);
  }
};

void one_problem(World& world, Random& random, Count& count) {
  const bool over_cache = random.between(0, 2) == 0;
  const std::vector<KnownFault>* const lists[] = {&problem_faults(), &option_faults(),
                                                  over_cache ? &cache_faults() : &array_faults(),
                                                  over_cache ? &cache_option_faults() : &array_option_faults()};
  const auto pick = [&]() -> const KnownFault& {
    std::size_t all = 0;
    for (const auto* list : lists) all += list->size();
    std::size_t i = std::size_t(random.between(0, int(all) - 1));
    const std::vector<KnownFault>* const* list = lists;
    for (; i >= (*list)->size(); ++list) i -= (*list)->size();
    return (**list)[i];
  };
  Call call = world.good(random, over_cache);
  attend_status expected = ATTEND_OK, of_check = ATTEND_OK;  // attend_check does not look at parts and work memory
  int faults = random.between(0, 9) == 0 ? 0 : random.between(1, 2);
  if (faults > 0) {
    const KnownFault &a = pick(), &b = pick();
    const KnownFault &first = a.status < b.status ? a : b, &then = a.status < b.status ? b : a;
    if (a.status == b.status) faults = 1;
    if (faults == 2 && !go_together(first.status, then.status)) return;
    if (faults == 2 && !then.make(world, call, random)) return;
    if (!first.make(world, call, random)) return;
    expected = first.status;
    of_check = !of_the_call(first.status) ? first.status : faults == 2 && !of_the_call(then.status) ? then.status : ATTEND_OK;
    if (of_check != ATTEND_OK && of_check != expected)
      of_check = attend_status(attend_check(call.problem));  // first may undo it
  }
  if (over_cache) world.cache.remember();
  ++count.calls;
  const int check = attend_check(call.problem);
  count.check(check == of_check, "attend_check", of_check, check);
  const std::size_t size = attend_workspace_size(call.problem);
  count.check((size > 0) == (of_check == ATTEND_OK), "attend_workspace_size", expected, int(size));
  const int run = attend_run_part(call.problem, call.part, call.parts, call.workspace, call.workspace_size);
  count.check(run == expected, "attend_run_part", expected, run);
  if (call.parts == 1 && call.part == 0 && run != ATTEND_OK) {
    const int whole = attend_run(call.problem, call.workspace, call.workspace_size);
    count.check(whole == expected, "attend_run", expected, whole);
  }
  if (expected != ATTEND_OK) {
    count.check(!world.changed(), "memory after a refusal", expected, run);
  } else {
    count.check(!world.inputs_changed(), "inputs after a call", expected, run);
    const attend_problem& p = *call.problem;
    const bool goes_on = p.states != nullptr && (p.options & ATTEND_STATE_BEGINS) == 0;  // where no key is seen, as it is
    if (call.parts == 1 && !goes_on) count.check(world.results_changed(), "results after a call", expected, run);
    world.restore();
  }
  count.refused += run != ATTEND_OK;
  seen().insert(run);
}

// A cache is made, filled or cut, with one fault or none.
void one_cache(World& world, Random& random, Count& count) {
  attend_cache_shape shape = World::shape_of(2, 5, 3, World::capacity);
  const attend_cache_shape* passed = &shape;
  attend_cache* cache = world.cache_head();
  attend_input key = {world.key.floats(), 0, 10, 5}, value = {world.value.floats(), 0, 6, 3};
  const attend_input *keys = &key, *values = &value;
  std::ptrdiff_t tokens = random.between(0, World::capacity - World::held);
  void* memory = world.workspace.data;
  std::size_t memory_size = attend_cache_size(&shape);
  const int room = World::capacity - World::held;
  attend_status expected = ATTEND_OK;
  int status;
  ++count.calls;
  switch (random.between(0, 2)) {
    case 0: {
      switch (random.between(0, 15)) {
        case 11:
          shape.key_format = random.between(4, 9), expected = ATTEND_BAD_KEY_FORMAT;
          break;
        case 12:
          shape.value_format = -random.between(1, 9), expected = ATTEND_BAD_VALUE_FORMAT;
          break;
        case 13:
          shape.window_keys = outside(0, ATTEND_MAX_TOKENS, random), expected = ATTEND_BAD_RING;
          break;
        case 0:
          passed = nullptr, expected = ATTEND_NO_CACHE_SHAPE;
          break;
        case 1:
          shape.size -= 1, expected = ATTEND_BAD_STRUCT_SIZE;
          break;
        case 2:
          shape.kv_heads = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_KV_HEADS;
          break;
        case 3:
          shape.head_dim = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_HEAD_DIM;
          break;
        case 4:
          shape.value_dim = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_VALUE_DIM;
          break;
        case 5:
          shape.max_tokens = outside(1, ATTEND_MAX_TOKENS, random), expected = ATTEND_BAD_MAX_TOKENS;
          break;
        case 6:
          shape.kv_heads = shape.head_dim = shape.value_dim = ATTEND_MAX_WIDTH, shape.max_tokens = ATTEND_MAX_TOKENS;
          expected = ATTEND_HUGE_CACHE;
          break;
        case 7:
          memory = nullptr, expected = ATTEND_NO_MEMORY;
          break;
        case 8:
          memory = world.workspace.data + random.between(1, 7), expected = ATTEND_UNALIGNED_MEMORY;
          break;
        case 9:
          memory_size = random.between(0, 1) == 0 ? memory_size - 1 : std::size_t(random.between(0, int(memory_size) - 1)),
          expected = ATTEND_SMALL_MEMORY;
          break;
        case 10:
          memory_size = SIZE_MAX, memory = reinterpret_cast<void*>(UINTPTR_MAX - 63), expected = ATTEND_SMALL_MEMORY;
          break;
        default:
          break;
      }
      const bool shape_fault = expected != ATTEND_OK && (expected < ATTEND_NO_MEMORY);
      const int check = attend_cache_check(passed);
      count.check(check == (shape_fault ? expected : ATTEND_OK), "attend_cache_check", expected, check);
      count.check((attend_cache_size(passed) == 0) == shape_fault, "attend_cache_size", expected, check);
      attend_cache* made = cache;
      status = attend_cache_init(passed, memory, memory_size, random.between(0, 3) == 0 ? nullptr : &made);
      count.check(made == cache || expected == ATTEND_OK, "*cache after a refusal", expected, status);
      break;
    }
    case 1: {
      switch (random.between(0, 12)) {
        case 0:
          cache = nullptr, expected = ATTEND_NO_CACHE;
          break;
        case 1:
          world.cache.data[random.between(0, World::head_bytes - 1)] ^= 0x40, expected = ATTEND_CORRUPT_CACHE;
          break;
        case 2:
          tokens = outside(0, ATTEND_MAX_TOKENS, random), expected = ATTEND_BAD_TOKENS;
          break;
        case 3:
          tokens = room + random.between(1, 9), expected = ATTEND_CACHE_FULL;
          break;
        case 4:
          keys = nullptr, expected = ATTEND_NO_KEY;
          break;
        case 5:
          key.data = nullptr, expected = ATTEND_NO_KEY;
          break;
        case 6:
          unalign(key, random), expected = ATTEND_UNALIGNED_KEY;
          break;
        case 7:
          key.head_stride = PTRDIFF_MIN, expected = ATTEND_HUGE_KEY;
          break;
        case 8:
          values = nullptr, expected = ATTEND_NO_VALUE;
          break;
        case 9:
          unalign(value, random), expected = ATTEND_UNALIGNED_VALUE;
          break;
        case 10:
          value.data = last_float(), expected = ATTEND_HUGE_VALUE;
          break;
        case 11:
          (random.between(0, 1) == 0 ? key : value).data = world.cache.floats() + random.between(0, 200);
          expected = ATTEND_CACHE_OVERLAPS_INPUT;
          break;
        default:
          break;
      }
      if (tokens == 0 && expected >= ATTEND_NO_KEY) tokens = 1;
      world.cache.remember();
      status = attend_cache_append(cache, tokens, keys, values);
      break;
    }
    default: {
      switch (random.between(0, 3)) {
        case 0:
          cache = nullptr, expected = ATTEND_NO_CACHE;
          break;
        case 1:
          world.cache.data[random.between(0, World::head_bytes - 1)] ^= 0x01, expected = ATTEND_CORRUPT_CACHE;
          break;
        case 2:
          tokens = outside(0, World::held, random), expected = ATTEND_BAD_TOKENS;
          break;
        default:
          tokens = random.between(0, World::held);
          break;
      }
      world.cache.remember();
      if (expected != ATTEND_BAD_TOKENS && random.between(0, 1) == 0) {
        status = attend_cache_reset(cache);
      } else {
        status = attend_cache_truncate(cache, tokens);
      }
      const bool readable = expected == ATTEND_OK || expected == ATTEND_BAD_TOKENS;
      count.check((attend_cache_tokens(cache) >= 0) == readable, "attend_cache_tokens", expected, status);
      break;
    }
  }
  count.check(status == expected, "a call of the cache", expected, status);
  if (expected != ATTEND_OK) count.check(!world.changed(), "memory after a refusal", expected, status);
  world.workspace.restore();
  count.refused += status != ATTEND_OK;
  seen().insert(status);
}

// A ring that has lost the first keys.
void one_ring(World& world, Random& random, Count& count) {
  attend_cache_shape shape = World::shape_of(2, 5, 3, 1000);
  shape.window_keys = 16;
  attend_cache* ring = nullptr;
  attend_cache_init(&shape, world.cache.data, world.cache.size, &ring);
  const attend_input key = {world.key.floats(), 0, 0, 5}, value = {world.value.floats(), 0, 0, 3};
  attend_cache_append(ring, random.between(33, 900), &key, &value);
  world.cache.remember();
  Call call = world.good(random, true);
  attend_problem_init(call.problem, sizeof(attend_problem));
  attend_problem& p = *call.problem;
  p.query_heads = p.kv_heads = 2, p.head_dim = 5, p.value_dim = 3, p.queries = 1;
  attend_problem_set_layout(&p, ATTEND_BATCH_TOKEN_HEAD_DIM);
  p.cache = ring, p.query.data = world.query.floats(), p.output.data = world.output.floats();
  ++count.calls;
  const int status = attend_run(&p, call.workspace, call.workspace_size);
  count.check(status == ATTEND_KEYS_LOST, "attend_run over a ring", ATTEND_KEYS_LOST, status);
  count.check(!world.changed(), "memory after a refusal", ATTEND_KEYS_LOST, status);
  count.refused += status != ATTEND_OK;
  seen().insert(status);
}

// Layouts, backends, and the structs' own functions.
void one_other(World& world, Random& random, Count& count) {
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  problem.query_heads = problem.kv_heads = 2, problem.head_dim = problem.value_dim = 3, problem.queries = 4, problem.keys = 5;
  const attend_problem before = problem;
  attend_status expected = ATTEND_OK;
  int status = ATTEND_OK, layout = random.between(0, 1);
  attend_problem* passed = &problem;
  ++count.calls;
  switch (random.between(0, 15)) {
    case 0:
      passed = nullptr, expected = ATTEND_NO_PROBLEM;
      break;
    case 1:
      problem.size = 0, expected = ATTEND_BAD_STRUCT_SIZE;
      break;
    case 2:
      layout = random.between(2, 1000) * (random.between(0, 1) == 0 ? -1 : 1), expected = ATTEND_BAD_LAYOUT;
      break;
    case 3:
      problem.query_heads = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_QUERY_HEADS;
      break;
    case 4:
      problem.kv_heads = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_KV_HEADS;
      break;
    case 5:
      problem.head_dim = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_HEAD_DIM;
      break;
    case 6:
      problem.value_dim = outside(1, ATTEND_MAX_WIDTH, random), expected = ATTEND_BAD_VALUE_DIM;
      break;
    case 7:
      problem.queries = outside(1, ATTEND_MAX_TOKENS, random), expected = ATTEND_BAD_QUERIES;
      break;
    case 8:
      problem.keys = outside(ATTEND_ALL_KEYS, ATTEND_MAX_TOKENS, random), expected = ATTEND_BAD_KEYS;
      break;
    case 9: {
      status = attend_backend_use(nullptr);
      count.check(status == ATTEND_NO_BACKEND_NAME, "attend_backend_use", ATTEND_NO_BACKEND_NAME, status);
      seen().insert(status);
      status = attend_backend_use(random.between(0, 1) == 0 ? "abacus" : "");
      count.check(status == ATTEND_UNKNOWN_BACKEND, "attend_backend_use", ATTEND_UNKNOWN_BACKEND, status);
      seen().insert(status);
      const int none = random.between(0, 1) == 0 ? -1 - random.between(0, 9) : attend_backend_count() + random.between(0, 9);
      count.check(attend_backend_name(none) == nullptr, "attend_backend_name", 0, none);
      return;
    }
    case 10: {
      const std::size_t sizes[] = {0, 1, sizeof problem - 1, 4097, SIZE_MAX};
      status = attend_problem_init(&problem, sizes[random.between(0, 4)]);
      count.check(status == ATTEND_BAD_STRUCT_SIZE, "attend_problem_init", ATTEND_BAD_STRUCT_SIZE, status);
      count.check(std::memcmp(&before, &problem, sizeof problem) == 0, "struct after a refusal", 0, status);
      status = attend_problem_init(nullptr, sizeof problem);
      count.check(status == ATTEND_NO_PROBLEM, "attend_problem_init", ATTEND_NO_PROBLEM, status);
      attend_cache_shape shape = World::shape_of(1, 1, 1, 1);
      status = attend_cache_shape_init(&shape, sizeof shape - 1);
      count.check(status == ATTEND_BAD_STRUCT_SIZE && shape.kv_heads == 1, "attend_cache_shape_init", 0, status);
      status = attend_cache_shape_init(nullptr, sizeof shape);
      count.check(status == ATTEND_NO_CACHE_SHAPE, "attend_cache_shape_init", ATTEND_NO_CACHE_SHAPE, status);
      return;
    }
    default:
      break;
  }
  const attend_problem faulty = problem;
  status = attend_problem_set_layout(passed, layout);
  count.check(status == expected, "attend_problem_set_layout", expected, status);
  if (expected != ATTEND_OK) {
    count.check(std::memcmp(&faulty, &problem, sizeof problem) == 0, "struct after a refusal", expected, status);
  }
  count.check(!world.changed(), "memory after a call of something else", expected, status);
  count.refused += status != ATTEND_OK;
  seen().insert(status);
}

}  // namespace

TEST_CASE("malformed calls of the C surface: each has its own status, and nothing is touched") {
  World world;
  const std::vector<unsigned char> cache(world.cache.data, world.cache.data + world.cache.size);
  Random random(20240607);
  Count count;
  while (count.calls < rounds(100000) && count.wrong < 10) {
    const int kind = random.between(0, 9);
    if (kind < 7) {
      one_problem(world, random, count);
    } else if (kind < 9) {
      random.between(0, 9) == 0 ? one_ring(world, random, count) : one_cache(world, random, count);
    } else {
      one_other(world, random, count);
    }
    std::memcpy(world.cache.data, cache.data(), cache.size());
    world.cache.remember();
  }
  for (const StateFault& fault : state_faults()) {
    for (const StateUse use : {finish, merge}) {
      if ((fault.uses & use) != 0) CHECK(wrong_answer(world, fault, use) == "");
    }
    seen().insert(fault.status);
  }
  CHECK(count.wrong == 0);
  CHECK(count.calls == rounds(100000));
  MESSAGE(count.calls, " calls, ", count.refused, " of them refused, with ", seen().size() - 1, " statuses");

  // Every status that has a text was an answer, but the one for a backend that this processor cannot run.
  std::set<std::string> texts;
  for (int status = -1000; status < 1000; ++status) {
    const std::string text = attend_status_text(status);
    if (text == "unknown status") continue;
    INFO(status, " ", text);
    CHECK(texts.insert(text).second);
    CHECK((status == ATTEND_OK || text.size() > 20));
    if (rounds(12) < 12) continue;  // too few calls for the rare ones
    if (status != ATTEND_UNAVAILABLE_BACKEND) CHECK(seen().count(status) == 1);
  }
  CHECK(texts.size() == 126);
  CHECK(attend_status_text(1 << 30) == std::string("unknown status"));
}
