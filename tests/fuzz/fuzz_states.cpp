// For libFuzzer and for many.cpp: bytes become changes of saved states, of attention, linear attention and convolutions, in
// floats and in integers. They are refused, and the state is as it was, or they are a state: saved and loaded again it is the
// same, and it can be finished or go on. Half of them have the check sum of what they became.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "attend/attend_c.h"
#include "attend/c/integer.h"
#include "attend/core/saved.h"
#include "c_linear.h"
#include "small.h"

namespace {

using namespace fuzz;
using attend_test::Random;
using Saved = std::vector<unsigned char>;

struct Counts {
  long loaded = 0, refused = 0;
  ~Counts() { std::printf("fuzz: %ld states loaded, %ld refused\n", loaded, refused); }
} counts;

struct State {
  std::size_t size;
  void* memory;
  std::uint32_t magic;  // what check sums begin with
  std::function<attend_status(const unsigned char*, std::size_t)> load;
  std::function<Saved()> save;
  std::function<void(const Saved&)> go_on;
  Saved saved;
};

void* memory_of(std::size_t bytes) {
  void* memory = nullptr;
  REQUIRE(posix_memalign(&memory, ATTEND_ALIGNMENT, bytes) == 0);
  return memory;
}

std::uint32_t word_at(const Saved& bytes, std::size_t at) {
  return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | std::uint32_t(bytes[at + 3]) << 24;
}

State attention_state(bool integers, Random& random) {
  static attend_integer_constants constants;
  attend_problem p;
  REQUIRE((integers ? attend_integer_problem_init : attend_problem_init)(&p, sizeof p) == ATTEND_OK);
  if (integers) {
    attend_integer_scales scales;
    REQUIRE(attend_integer_scales_init(&scales, sizeof scales) == ATTEND_OK);
    scales.query_scale = scales.key_scale = 0.03, scales.value_scale = scales.output_scale = 0.01;
    REQUIRE(attend_integer_prepare(&scales, 4, &constants) == ATTEND_OK);
    p.constants = &constants, p.output_format = ATTEND_FLOAT32;
  }
  p.batch = random.between(1, 2), p.query_heads = p.kv_heads = random.between(1, 2), p.head_dim = 4;
  p.queries = random.between(1, 2), p.value_dim = random.between(1, 5), p.origin = 0;
  p.keys = random.between(0, random.between(0, 3) == 0 ? 1400 : 40);
  p.query.data = arena, p.key.data = arena + 256, p.value.data = arena + 512, p.output.data = arena + output_at;
  for (attend_input* const input : {&p.key, &p.value}) input->batch_stride = input->token_stride = input->head_stride = 4;
  const std::size_t size = attend_state_size(&p);
  p.states = memory_of(size);
  const std::size_t work_bytes = attend_workspace_size(&p);
  const std::unique_ptr<void, void (*)(void*)> work(memory_of(work_bytes), std::free);
  REQUIRE(attend_begin(&p) == ATTEND_OK);
  if (random.between(0, 7) > 0) REQUIRE(attend_run(&p, work.get(), work_bytes) == ATTEND_OK);
  const auto load = [p](const unsigned char* bytes, std::size_t count) { return attend_load(&p, bytes, count); };
  const auto save = [p] {
    Saved bytes(attend_saved_size(&p));
    std::size_t count = 0;
    REQUIRE(attend_save(&p, bytes.data(), bytes.size(), &count) == ATTEND_OK);
    bytes.resize(count);
    return bytes;
  };
  const auto go_on = [q = p](const Saved& bytes) mutable {
    q.keys = std::int32_t(word_at(bytes, offsetof(attend::core::SavedHead, next_key)));
    const attend_status finished = attend_finish(&q);
    REQUIRE(finished == ATTEND_OK || error_of(finished) == ATTEND_MISMATCH);  // it may be the state of other keys
  };
  return {size, p.states, attend::core::saved_magic, load, save, go_on, save()};
}

template <class Call>
State linear_state(Random& random) {
  const Call call(random);
  const std::size_t size = call.state_size();
  attend_linear_state* state = nullptr;
  REQUIRE(call.new_state(memory_of(size), size, &state) == ATTEND_OK);
  if (random.between(0, 7) > 0) REQUIRE(call.run(1, state, 0) == ATTEND_OK);
  const auto load = [state](const unsigned char* bytes, std::size_t count) { return attend_linear_load(state, bytes, count); };
  const auto save = [state, size] {
    Saved bytes(size - 24);
    REQUIRE(attend_linear_save(state, bytes.data(), bytes.size()) == ATTEND_OK);
    return bytes;
  };
  const auto go_on = [state, call](const Saved&) { REQUIRE(call.run(0, state, 0) == ATTEND_OK); };
  return {size, state, 0x4c537441, load, save, go_on, save()};
}

std::vector<State> new_states() {
  Random random(1);
  for (std::size_t i = 0; i < arena_bytes; i += 4) {
    const float number = random.uniform();
    std::memcpy(arena + i, &number, 4);
  }
  std::vector<State> states;
  for (int i = 0; i < 64; ++i) {
    states.push_back(i % 4 == 2   ? linear_state<LinearAttentionCall>(random)
                     : i % 4 == 3 ? linear_state<ConvolutionCall>(random)
                                  : attention_state(i % 4 == 1, random));
  }
  return states;
}

void change(Saved& bytes, Random& random) {
  constexpr std::uint32_t edges[] = {0, 1, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 30};
  for (int changes = random.between(0, 2); changes >= 0; --changes) {
    const std::size_t words = bytes.size() / 4, most = random.between(0, 1) == 0 && words > 20 ? 20 : words;
    const std::size_t at = 4 * (random.bits() % most);
    const std::uint32_t any = random.bits() >> random.between(0, 31);
    const std::uint32_t word = random.between(0, 1) == 0 ? edges[random.bits() % std::size(edges)] : any;
    std::memcpy(&bytes[at + any % 4], &word, random.between(0, 2) == 0 ? 1 : 4 - any % 4);
  }
  if (random.between(0, 15) == 0) bytes.resize(random.bits() % (bytes.size() + 1));
}

void put_sum(Saved& bytes, std::uint32_t sum) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4)
    sum = at == 8 ? sum : attend::core::hash_with(sum, word_at(bytes, at));
  if (bytes.size() >= 12) std::memcpy(&bytes[8], &sum, 4);
}

// Of bytes that end where memory ends.
attend_status load(const State& state, const Saved& bytes) {
  constexpr std::size_t most = 1 << 20;
  static unsigned char* const memory = [] {
    void* const all = mmap(nullptr, 2 * most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED && mprotect(all, most, PROT_READ | PROT_WRITE) == 0);
    return static_cast<unsigned char*>(all);
  }();
  unsigned char* const at = memory + most - bytes.size();
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return state.load(at, bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<State>& states = *new std::vector<State>(new_states());  // they stay where the process ends
  attend_test::backend_for_a_while(counts.loaded + counts.refused);
  Random random(data, size);
  const State& state = states[random.bits() % states.size()];
  Saved bytes = state.saved;
  change(bytes, random);
  const bool sums_up = random.between(0, 1) == 1;
  if (sums_up) put_sum(bytes, state.magic);
  const auto* const memory = static_cast<const unsigned char*>(state.memory);
  const Saved before(memory, memory + state.size);
  if (load(state, bytes) != ATTEND_OK) {
    REQUIRE(bytes != state.saved && std::memcmp(memory, before.data(), state.size) == 0);
    return ++counts.refused, 0;
  }
  if (!sums_up) {  // the check sum of 32 bits fits: nothing has changed, or several words have, so that it does
    Saved summed = bytes;
    put_sum(summed, state.magic);
    REQUIRE(summed == bytes);
  }
  ++counts.loaded;
  const Saved once = state.save();
  REQUIRE(load(state, once) == ATTEND_OK && state.save() == once);
  state.go_on(once);
  REQUIRE(load(state, state.saved) == ATTEND_OK && state.save() == state.saved);
  return 0;
}
