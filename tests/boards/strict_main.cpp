// All that the library computes, on a processor that is told to trap every unaligned access: the digests, those of options,
// and calls of the C surface whose arrays begin at any address that they may have. Where ATTEND_FIXED_REGISTERS says that flags
// reserve r8 to r11 (-ffixed-r8 and so on, r9 also -msingle-pic-base), these hold numbers of the program meanwhile. Cortex-M4,
// M7, M33 and M55; tests/scripts/check_strict.sh says how it is compiled.
#include "attend/c/integer.h"
#include "attend/c/layers.h"
#include "digest_test.h"
#include "option_test.h"

#if defined(ATTEND_FIXED_REGISTERS)
register uint32_t fixed_r8 __asm__("r8");
register uint32_t fixed_r10 __asm__("r10");
register uint32_t fixed_r11 __asm__("r11");
#if !defined(__PIC__)
register uint32_t fixed_r9 __asm__("r9");
#endif
#endif

namespace {

constexpr int heads = 2, queries = 3, tokens = 70, odd_dim = 13, odd_width = 11, group = ATTEND_INT4_INPUTS;

alignas(64) unsigned char arrays[24 * 1024], work[24 * 1024], cache_memory[32 * 1024], states[16 * 1024];

// Arrays of random numbers, one behind the other, in memory whose first byte has the address `at` modulo 4.
class Arrays {
 public:
  explicit Arrays(int at) : next_(arrays + at) {}
  int8_t* bytes(int count) {
    int8_t* const from = reinterpret_cast<int8_t*>(next_);
    next_ += count;
    for (int i = 0; i < count; ++i) from[i] = int8_t(random_.between(-127, 127));
    return from;
  }

 private:
  unsigned char* next_;
  attend_test::Random random_{7};
};

float numbers[tokens * heads * group];
const float* floats(int seed) {
  attend_test::Random random{uint64_t(seed)};
  random.fill(numbers, sizeof numbers / sizeof *numbers);
  return numbers;
}
float results[queries * heads * group];

uint64_t hash_of(attend_status status, const void* bytes, size_t count) {
  uint64_t hash = 14695981039346656037u + uint64_t(status);
  for (size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  return hash;
}
uint64_t run(const attend_problem& problem, const void* output, size_t bytes) {
  return hash_of(attend_run(&problem, work, sizeof work), output, bytes);
}

constexpr attend_integer_constants constants = {58091u, 1, 0, 34658u, 16384, 14, 0, 0, 0, 0, 0.01f};

attend_problem problem_of(int head_dim, int value_dim, bool integers) {
  attend_problem p;
  integers ? attend_integer_problem_init(&p, sizeof p) : attend_problem_init(&p, sizeof p);
  p.options = ATTEND_CAUSAL;
  p.query_heads = p.kv_heads = heads;
  p.head_dim = head_dim, p.value_dim = value_dim;
  p.queries = queries, p.keys = tokens, p.offset = tokens - queries;
  if (integers) p.constants = &constants;
  return p;
}
attend_cache* cache_of(int head_dim, int value_dim, int format, bool integers) {
  attend_cache_shape shape;
  attend_cache* cache = nullptr;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = heads;
  shape.head_dim = head_dim, shape.value_dim = value_dim;
  shape.max_tokens = tokens;
  if (integers) {
    shape.integers = 1;
  } else {
    shape.key_format = shape.value_format = format;
  }
  return attend_cache_init(&shape, cache_memory, sizeof cache_memory, &cache) == ATTEND_OK ? cache : nullptr;
}
attend_input input(const void* data) { return {data, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE}; }

// ---- Calls, by the address that their arrays begin at, modulo 4. Each returns a hash of what it computes.

uint64_t integers(int at) {
  Arrays memory(at);
  attend_problem p = problem_of(odd_dim, odd_width, true);
  p.query.data = memory.bytes(queries * heads * odd_dim);
  p.key.data = memory.bytes(tokens * heads * odd_dim);
  p.value.data = memory.bytes(tokens * heads * odd_width);
  p.output.data = memory.bytes(queries * heads * odd_width);
  return run(p, p.output.data, queries * heads * odd_width);
}

uint64_t integer_cache(int at) {
  Arrays memory(at);
  attend_problem p = problem_of(odd_dim, odd_width, true);
  attend_cache* const cache = cache_of(odd_dim, odd_width, ATTEND_DEFAULT_FORMAT, true);
  const attend_input key = input(memory.bytes(tokens * heads * odd_dim)),
                     value = input(memory.bytes(tokens * heads * odd_width));
  if (attend_integer_cache_append(cache, tokens, &key, &value) != ATTEND_OK) return 0;
  p.cache = cache;
  p.query.data = memory.bytes(queries * heads * odd_dim);
  p.output.data = memory.bytes(queries * heads * odd_width);
  return run(p, p.output.data, queries * heads * odd_width);
}

uint64_t integer_projection(int at) {
  Arrays memory(at);
  const attend_integer_multiplier multiplier = {1 << 30, 40};
  attend_integer_linear linear{};
  linear.weights.data = memory.bytes(odd_width * odd_dim);
  linear.weights.outputs = odd_width, linear.weights.inputs = odd_dim;
  linear.weights.format = ATTEND_INT8, linear.weights.layout = ATTEND_INTEGER_ROWS;
  linear.multipliers = &multiplier, linear.multiplier_count = 1;
  linear.output_format = ATTEND_INT8;
  const int8_t* const x = memory.bytes(queries * odd_dim);
  int8_t* const y = memory.bytes(queries * odd_width);
  return hash_of(attend_integer_project(&linear, x, queries, y), y, queries * odd_width);
}

// Numbers of one or two bytes in rows of an odd width; those of two begin at even addresses.
uint64_t narrow_arrays(int format, int size, int at) {
  Arrays memory(size == 2 ? at & 2 : at);
  attend_problem p = problem_of(odd_dim, odd_width, false);
  p.key_format = p.value_format = format;
  p.key.data = memory.bytes(size * tokens * heads * odd_dim);
  p.value.data = memory.bytes(size * tokens * heads * odd_width);
  p.query.data = floats(1);
  p.output.data = results;
  return run(p, results, sizeof(float) * queries * heads * odd_width);
}
uint64_t halves(int at) { return narrow_arrays(ATTEND_FLOAT16, 2, at); }
uint64_t bfloats(int at) { return narrow_arrays(ATTEND_BFLOAT16, 2, at); }

uint64_t int4_cache(int at) {
  attend_problem p = problem_of(group, group, false);
  attend_cache* const cache = cache_of(group, group, ATTEND_INT4, false);
  const attend_input key = input(floats(2)), value = input(floats(2));
  if (attend_cache_append(cache, tokens, &key, &value) != ATTEND_OK) return 0;
  p.cache = cache;
  p.query.data = floats(3);
  p.output.data = results;
  Arrays memory(at);
  p.mask = {memory.bytes(queries * tokens), 0, 0, tokens, tokens, ATTEND_MASK_BYTES};
  return run(p, results, sizeof(float) * queries * heads * group);
}

uint64_t int4_rows(int at) {
  Arrays memory(at);
  attend_projection projection{};
  projection.weights.data = memory.bytes(odd_width * ATTEND_INT4_BYTES);
  projection.weights.outputs = odd_width, projection.weights.inputs = group;
  projection.weights.format = ATTEND_INT4;
  projection.y = results;
  uint64_t hash = 0;
  for (int count = 1; count <= queries; count += queries - 1) {
    const attend_status status = attend_project(floats(4), count, &projection, 1, work, sizeof work);
    hash = hash * 31 + attend_test::hash_floats(uint64_t(status), results, size_t(count * odd_width));  // NaNs are alike
  }
  return hash;
}

uint64_t mask_bits(int at) {
  Arrays memory(at);
  attend_problem p = problem_of(odd_dim, odd_width, false);
  int8_t* const bits = memory.bytes(queries * 16);
  for (int i = 0; i < queries * 16; ++i) bits[i] = i % 3 == 0 ? bits[i] : 0;  // runs of masked keys
  p.mask = {bits, 0, 0, 128, tokens, ATTEND_MASK_BITS};
  p.query.data = p.key.data = p.value.data = floats(5);
  p.output.data = results;
  return run(p, results, sizeof(float) * queries * heads * odd_width);
}

uint64_t saved_states(int at) {
  attend_problem p = problem_of(odd_dim, odd_width, false);
  p.query.data = p.key.data = p.value.data = floats(6);
  p.output.data = results;
  p.states = states;
  p.state_nodes = 1;
  size_t bytes = 0;
  if (attend_state_size(&p) > sizeof states || attend_begin(&p) != ATTEND_OK ||
      run(p, nullptr, 0) != hash_of(ATTEND_OK, nullptr, 0) ||
      attend_save(&p, arrays + at, sizeof arrays - 4, &bytes) != ATTEND_OK)
    return 0;
  __builtin_memset(states, 0x55, sizeof states);
  p.first_key = tokens;
  if (attend_load(&p, arrays + at, bytes) != ATTEND_OK) return 0;
  return hash_of(attend_finish(&p), results, sizeof(float) * queries * heads * odd_width);
}

constexpr struct {
  const char* name;
  uint64_t (*call)(int at);
} calls[] = {{"integers of C", integers},
             {"a cache of integers", integer_cache},
             {"a projection of integers", integer_projection},
             {"halves", halves},
             {"bfloats", bfloats},
             {"an int4 cache, a mask of bytes", int4_cache},
             {"int4 weights in rows", int4_rows},
             {"a mask of bits", mask_bits},
             {"saved states", saved_states}};

void test_addresses(const firmware::Memory& /*memory*/, firmware::Counts& counts) {
  for (const auto& of : calls) {
    firmware::print(of.name);  // before a fault
    firmware::print("\n");
    const uint64_t expected = of.call(0);
    for (int at = 0; at < 4; ++at) {
      const uint64_t found = of.call(at);
      counts.count(found == expected && found != 0);
      if (found != expected || found == 0) firmware::print_difference(expected, found);
    }
  }
}

void trap_unaligned() {
  constexpr uintptr_t configuration_control = 0xe000ed14;
  *reinterpret_cast<volatile uint32_t*>(configuration_control) |= 1u << 3;  // UNALIGN_TRP
  __asm__ volatile("dsb\n\tisb" : : : "memory");
}

#if defined(ATTEND_FIXED_REGISTERS)
constexpr uint32_t own = 0x5afe0000;
bool kept_registers() {
#if defined(__PIC__)  // code finds its data by r9, and would not get here
  const bool kept = fixed_r8 == own + 8 && fixed_r10 == own + 10 && fixed_r11 == own + 11;
#else
  const bool kept = fixed_r8 == own + 8 && fixed_r9 == own + 9 && fixed_r10 == own + 10 && fixed_r11 == own + 11;
#endif
  firmware::print(kept ? "registers: kept\n" : "registers: overwritten\n");
  return kept;
}
#else
bool kept_registers() { return true; }
#endif

__attribute__((noinline)) int run_all() {
  int failed = firmware::run_tests("addresses", test_addresses) + !kept_registers();
  failed += firmware::run_tests("digests", firmware::test_digests) + !kept_registers();
  failed += firmware::run_tests("options", firmware::test_options) + !kept_registers();
  return failed == 0 ? 0 : 1;
}

}  // namespace

int firmware::run() {
  trap_unaligned();
#if defined(ATTEND_FIXED_REGISTERS)
  fixed_r8 = own + 8, fixed_r10 = own + 10, fixed_r11 = own + 11;
#if defined(__PIC__)
  __asm__ volatile(
      "adr r3, 1f; ldr r9, [r3]; add r9, r9, r3; b 2f\n"
      ".balign 4\n"
      "1: .word _GLOBAL_OFFSET_TABLE_\n"  // from here
      "2:\n"
      :
      :
      : "r3", "memory");
#else
  fixed_r9 = own + 9;
#endif
#endif
  return run_all();
}
