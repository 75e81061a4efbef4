// Executed instructions for each multiply-accumulate of float32 attention, softmax included: one head, no mask, every token
// sees every token. Multiply-accumulates are 2 * tokens * tokens * head_dim: those of the scores and of the output.
//
// For an emulator whose clock moves with the instructions, the same step for each (board.sh starts it that way). SysTick reads
// that clock; a loop of known length before tells how many instructions one of its ticks is.
#include <initializer_list>

#include "../support/random.h"
#include "attend/core.h"
#include "attend/shape.h"
#include "platform.h"

namespace {

volatile uint32_t tick_wraps;
volatile uint32_t* const systick = reinterpret_cast<volatile uint32_t*>(0xe000e010);  // control, reload, current
constexpr uint32_t ticks_in_wrap = 1u << 24;

uint64_t ticks() {
  uint32_t wraps, current;
  do {
    wraps = tick_wraps;
    current = systick[2];
  } while (wraps != tick_wraps);
  return uint64_t(wraps) * ticks_in_wrap + (ticks_in_wrap - 1 - current);
}

void start_ticks() {
  systick[1] = ticks_in_wrap - 1;
  systick[2] = 0;
  systick[0] = 7;  // on, with its exception, from the processor's clock
  while (systick[2] == 0) {
    // It starts at its first tick, which is no wrap.
  }
  tick_wraps = 0;
}

// Two instructions a round.
void spin(uint32_t rounds) { __asm__ volatile(".syntax unified\n1:\tsubs %0, %0, #1\n\tbne 1b" : "+l"(rounds) : : "cc"); }

constexpr uint32_t known_rounds = 1000000;

template <class Work>
uint64_t count_ticks(Work work) {
  const uint64_t begin = ticks();
  work();
  return ticks() - begin;
}

uint64_t ticks_of_known_rounds() {
  return count_ticks([] { spin(known_rounds); });
}

uint64_t known_ticks;

template <class Work>
uint64_t count_instructions(Work work) {
  return count_ticks(work) * (2 * uint64_t(known_rounds)) / known_ticks;
}

int smaller(int a, int b) { return a < b ? a : b; }

void count(int tokens, int head_dim, bool cache) {
  using namespace attend;
  float* memory = firmware::free_memory().floats;
  const auto take = [&memory](size_t floats) {
    float* const taken = memory;
    memory += floats;
    return taken;
  };
  const size_t floats = size_t(tokens) * size_t(head_dim);
  float *query = take(floats), *key = take(floats), *value = take(floats), *output = take(floats);
  attend_test::Random random(1);
  for (float* array : {query, key, value}) random.fill(array, floats);

  core::Problem problem{};
  problem.query = {query, head_dim, 0};
  problem.output = {output, head_dim, 0};
  problem.key = {key, head_dim, 0};
  problem.value = {value, head_dim, 0};
  if (cache) {
    const core::Cache panels{take(core::cache_key_floats(1, head_dim, tokens)),
                             take(core::cache_value_floats(1, head_dim, tokens)),
                             1,
                             head_dim,
                             head_dim,
                             tokens};
    core::store(panels, 0, tokens, problem.key, problem.value);
    problem.key = {panels.keys, 0, 0};
    problem.value = {panels.values, head_dim, 0};
    problem.key_panels = true;
  }
  problem.query_heads = problem.kv_heads = 1;
  problem.head_dim = problem.value_dim = head_dim;
  problem.queries = problem.keys = tokens;
  problem.scale = default_scale(head_dim);
  problem.row_block = smaller(tokens, config::row_block);
  problem.key_block = smaller(core::whole_chains(tokens), config::key_block);
  problem.scratch = memory;
  const uint64_t instructions = count_instructions([&problem] { core::run(problem); });

  const uint64_t multiply_accumulates = 2 * uint64_t(tokens) * uint64_t(tokens) * uint64_t(head_dim);
  const uint64_t hundredths = (instructions * 100 + multiply_accumulates / 2) / multiply_accumulates;
  firmware::print_number(uint64_t(tokens));
  firmware::print("x");
  firmware::print_number(uint64_t(head_dim));
  firmware::print(cache ? " cache  " : " arrays ");
  firmware::print_number(hundredths / 100);
  firmware::print(".");
  firmware::print_number(hundredths % 100, 10, 2);
  firmware::print(" instructions per multiply-accumulate, ");
  firmware::print_number(instructions);
  firmware::print(" in all\n");
}

}  // namespace

extern "C" void on_tick() { tick_wraps = tick_wraps + 1; }

int firmware::run() {
  start_ticks();
  known_ticks = ticks_of_known_rounds();
  const int64_t difference = int64_t(known_ticks - ticks_of_known_rounds());
  if (difference < -2 || difference > 2) {
    print("the emulator's clock does not move with the instructions\n");
    return 1;
  }
  for (const bool cache : {false, true}) count(64, 32, cache);
  for (const bool cache : {false, true}) count(128, 64, cache);
  return 0;
}
