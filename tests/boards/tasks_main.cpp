// Two tasks and an interrupt that compute at the same time, on one core of a Cortex-M: a scheduler of forty lines interrupts
// each call of a task anywhere and goes on with the other task, and the interrupt decodes in between. Each has memory and
// caches of its own, and stacks as large as the headers say; the bits are those of calls that nobody interrupts. The scheduler
// saves what every RTOS for these processors saves, registers of floats included: include/guide/rtos.md.
#include "../support/random.h"
#include "attend/attention.h"
#include "attend/integer.h"
#include "self_test.h"

namespace {

using attend::Status;

// ---- The work of a task or of the interrupt: tokens one by one, over a cache, and a hash of all outputs.

struct Floats {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 24, max_tokens = 40;
};
struct Integers {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 24, max_tokens = 40;
};
struct Small {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 8, max_tokens = 8;
};
constexpr attend::Quantisation<Integers> quantisation(0.031, 0.027, {0.02, 4}, {0.02, -3});

template <class Shape>
struct Work {
  attend::KvCache<Shape> cache;
  attend::Query<Shape> query;
  attend::Key<Shape> key;
  attend::Value<Shape> value;
  attend::Output<Shape> output;
  uint64_t hash;

  void begin(attend_test::Random& random) {
    cache.clear();
    hash = 14695981039346656037u;
    numbers = random;
  }
  template <class... Rest>
  bool token(Rest&... rest) {
    fill(query), fill(key), fill(value);
    if (cache.append(key, value) != Status::ok || attend::decode(query, cache, output, rest...) != Status::ok) return false;
    const volatile unsigned char* const bytes = reinterpret_cast<const unsigned char*>(&output);
    for (size_t i = 0; i < sizeof output; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
    return true;
  }

 private:
  template <class Array>
  void fill(Array& array) {
    for (auto& head : array[0]) {
      for (auto& number : head) put(number);
    }
  }
  void put(float& number) { number = numbers.uniform(); }
  void put(int8_t& number) { number = int8_t(numbers.between(-128, 127)); }
  attend_test::Random numbers{1};
};

Work<Floats> float_work, other_float_work;
Work<Integers> integer_work;
Work<Small> interrupt_work;
attend::Workspace<Integers, 1> integer_memory;

// All tokens that a cache holds, from the first one on. 0: a call was refused.
template <class Shape, class... Rest>
uint64_t all_tokens(Work<Shape>& work, int seed, Rest&... rest) {
  attend_test::Random random{uint64_t(seed)};
  work.begin(random);
  for (int i = 0; i < Shape::max_tokens; ++i) {
    if (!work.token(rest...)) return 0;
  }
  return work.hash;
}
uint64_t float_tokens() { return all_tokens(float_work, 1); }
uint64_t interrupt_tokens() { return all_tokens(interrupt_work, 2); }
// Integers, and floats again, whose registers the tasks share.
uint64_t integer_tokens() {
  const uint64_t integers = all_tokens(integer_work, 3, integer_memory, quantisation);
  return integers == 0 ? 0 : integers ^ all_tokens(other_float_work, 4);
}

// ---- The scheduler.

constexpr int tasks = 2, rounds = 60, least_interrupted = 200;

struct Task {
  uint64_t (*work)();
  uint64_t expected;
  volatile int right, wrong;
  volatile bool computes;
  uint32_t* stack;
  volatile int interrupted, with_floats;  // while it computed; with registers of floats in use
};
Task task[tasks];
int current;
uint64_t interrupt_expected;
volatile int interrupt_right, interrupt_wrong;

// What a call takes by the headers, one interrupt's frame with floats, what the scheduler saves, and this file's own functions.
constexpr int unused_bytes = 32;
constexpr unsigned char pattern = 0xa5;
constexpr size_t own_bytes = 512, saved_bytes = 108 + 100;
constexpr size_t float_bytes = attend::decode_stack_bytes<Floats>, for_integers = attend::config::integer_stack_bytes,
                 integer_bytes = for_integers > float_bytes ? for_integers : float_bytes;
alignas(8) unsigned char float_stack[float_bytes + saved_bytes + own_bytes];
alignas(8) unsigned char integer_stack[integer_bytes + saved_bytes + own_bytes];

volatile uint32_t& system_register(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// Bit 4 of `returns`, what an interrupt ends with, is 0 where the task's registers of floats are in use.
extern "C" __attribute__((used)) uint32_t* other_task(uint32_t* stack, uint32_t returns) {
  Task& was = task[current];
  was.stack = stack;
  was.interrupted = was.interrupted + was.computes;
  was.with_floats = was.with_floats + (was.computes && (returns & 16) == 0);
  current = 1 - current;
  return task[current].stack;
}

// Registers that the processor has not saved itself go to the task's stack; those of floats only where it uses them. The first
// store has the processor save the rest of these, which it has put off until then (lazy stacking).
__attribute__((naked, used)) void switch_tasks() {
  __asm__ volatile(
      "mrs r0, psp\n"
      "mov r1, lr\n"
      "tst lr, #16\n"
      "it eq\n"
      "vstmdbeq r0!, {s16-s31}\n"
      "stmdb r0!, {r4-r11, lr}\n"
      "bl other_task\n"
      "ldmia r0!, {r4-r11, lr}\n"
      "tst lr, #16\n"
      "it eq\n"
      "vldmiaeq r0!, {s16-s31}\n"
      "msr psp, r0\n"
      "bx lr\n");
}

// The interrupt decodes, and asks for the other task when it returns.
void tick() {
  ++(interrupt_tokens() == interrupt_expected ? interrupt_right : interrupt_wrong);
  constexpr uintptr_t interrupt_control = 0xe000ed04;
  system_register(interrupt_control) = 1u << 28;  // PendSV
}

alignas(128) const void* vectors[16];

void start_ticks(uint32_t cycles) {
  constexpr uintptr_t vector_table = 0xe000ed08, priorities = 0xe000ed20, ticks = 0xe000e010;
  const void* const* const before = reinterpret_cast<const void* const*>(uintptr_t(system_register(vector_table)));
  for (int i = 0; i < 16; ++i) vectors[i] = before[i];
  vectors[14] = reinterpret_cast<const void*>(switch_tasks);
  vectors[15] = reinterpret_cast<const void*>(tick);
  system_register(vector_table) = uint32_t(reinterpret_cast<uintptr_t>(vectors));
  system_register(priorities) |= 0xff << 16;  // PendSV after all others
  system_register(ticks + 4) = cycles - 1;
  system_register(ticks + 8) = 0;
  system_register(ticks) = 7;
}

[[noreturn]] void report() {
  using namespace firmware;
  int failed = interrupt_wrong;
  for (int i = 0; i < tasks; ++i) {
    const Task& of = task[i];
    print(i == 0 ? "floats: " : "integers: ");
    print_number(uint64_t(of.right));
    print(" right, ");
    print_number(uint64_t(of.wrong));
    print(" wrong, interrupted ");
    print_number(uint64_t(of.interrupted));
    print(" times, with registers of floats ");
    print_number(uint64_t(of.with_floats));
    print("\n");
    failed += of.wrong + (of.interrupted < least_interrupted) + (of.with_floats < least_interrupted / 4);
  }
  for (int i = 0; i < unused_bytes; ++i) failed += (float_stack[i] != pattern) + (integer_stack[i] != pattern);
  print("tasks: ");
  print_number(uint64_t(task[0].right + task[1].right + interrupt_right));
  print(" passed, ");
  print_number(uint64_t(failed));
  print(" failed\n");
  finish(failed == 0 ? 0 : 1);
}

template <int index>
void run_task() {
  for (Task& own = task[index];;) {
    own.computes = true;
    const uint64_t found = own.work();
    own.computes = false;
    ++(found == own.expected && found != 0 ? own.right : own.wrong);
    if (index == 0 && own.right + own.wrong >= rounds && task[1].right + task[1].wrong >= rounds) report();
  }
}

}  // namespace

int firmware::run() {
  task[0].work = float_tokens, task[0].expected = float_tokens();
  task[1].work = integer_tokens, task[1].expected = integer_tokens();
  interrupt_expected = interrupt_tokens();
  if (task[0].expected == 0 || task[1].expected == 0 || interrupt_expected == 0) return 1;
  for (int i = 0; i < unused_bytes; ++i) float_stack[i] = integer_stack[i] = pattern;
  // The second task as if it had been interrupted before its first instruction: r4 to r11, how to return; then what the
  // processor saves.
  uint32_t* const frame = reinterpret_cast<uint32_t*>(integer_stack + sizeof integer_stack / 8 * 8) - 8;
  for (int i = 0; i < 8; ++i) frame[i] = 0;
  frame[6] = uint32_t(reinterpret_cast<uintptr_t>(run_task<1>)) & ~1u;
  frame[7] = 1u << 24;  // Thumb
  task[1].stack = frame - 9;
  for (int i = 0; i < 8; ++i) task[1].stack[i] = 0;
  task[1].stack[8] = 0xfffffffd;
  // The first one on its own stack, from here on.
  start_ticks(2503);
  register void* top __asm__("r0") = float_stack + sizeof float_stack / 8 * 8;
  register void (*first)() __asm__("r1") = run_task<0>;
  __asm__ volatile("msr psp, %0; mrs r2, control; orr r2, r2, #2; msr control, r2; isb; bx %1"
                   :
                   : "r"(top), "r"(first)
                   : "r2", "memory");
  __builtin_unreachable();
}
