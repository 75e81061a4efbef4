// For libFuzzer and for many.cpp: bytes become changes of saved states, of attention, linear attention and convolutions, in
// floats and in integers. They are refused, and the state is as it was, or they are a state: saved again and loaded again it is
// the same, and it can be finished or go on. Half of them have the check sum of what they became.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "../c/c_integer_world.h"
#include "attend/attend_c.h"
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

// One state with what loads and computes it. Its memory is a vector of blocks of the alignment.
struct State {
  struct alignas(ATTEND_ALIGNMENT) Block {
    unsigned char bytes[ATTEND_ALIGNMENT];
  };
  std::vector<Block> memory;
  std::size_t size = 0;
  Saved saved;
  std::uint32_t magic = 0;

  explicit State(std::size_t bytes) : memory(bytes / ATTEND_ALIGNMENT + 1), size(bytes) {}
  virtual ~State() = default;
  virtual attend_status load(const Saved& bytes) = 0;
  virtual Saved save() = 0;
  virtual void go_on(std::int32_t next_key) = 0;
  unsigned char* data() { return memory[0].bytes; }
};

// Of attention, which took random keys at addresses in the arena.
struct AttentionState : State {
  AttentionState(const attend_problem& problem, Random& random) : State(attend_state_size(&problem)), p(problem) {
    p.states = data(), p.origin = 0, magic = attend::core::saved_magic;
    REQUIRE(size > 0 && attend_begin(&p) == ATTEND_OK);
    const std::size_t work_bytes = attend_workspace_size(&p);
    State::Block* const work = new State::Block[work_bytes / ATTEND_ALIGNMENT + 1];
    if (random.between(0, 7) > 0) REQUIRE(attend_run(&p, work, work_bytes) == ATTEND_OK);
    delete[] work;
    saved = save();
  }
  attend_status load(const Saved& bytes) override { return attend_load(&p, bytes.data(), bytes.size()); }
  Saved save() override {
    Saved bytes(attend_saved_size(&p));
    std::size_t count = 0;
    REQUIRE(attend_save(&p, bytes.data(), bytes.size(), &count) == ATTEND_OK);
    bytes.resize(count);
    return bytes;
  }
  void go_on(std::int32_t next_key) override {
    attend_problem q = p;
    q.keys = next_key;
    const attend_status finished = attend_finish(&q);
    REQUIRE(finished == ATTEND_OK || error_of(finished) == ATTEND_MISMATCH);  // it may be the state of other keys
  }
  attend_problem p;
};

template <class Call>
struct LinearState : State {
  LinearState(const Call& its, Random& random) : State(its.state_size()), call(its) {
    magic = 0x4c537441;
    REQUIRE(call.new_state(data(), size, &state) == ATTEND_OK);
    if (random.between(0, 7) > 0) REQUIRE(call.run(1, state, 0) == ATTEND_OK);
    saved = save();
  }
  attend_status load(const Saved& bytes) override { return attend_linear_load(state, bytes.data(), bytes.size()); }
  Saved save() override {
    Saved bytes(size - 24);
    REQUIRE(attend_linear_save(state, bytes.data(), bytes.size()) == ATTEND_OK);
    return bytes;
  }
  void go_on(std::int32_t) override { REQUIRE(call.run(0, state, 0) == ATTEND_OK); }
  Call call;
  attend_linear_state* state = nullptr;
};

std::unique_ptr<State> new_state(int number, Random& random) {
  if (number % 4 == 2) return std::make_unique<LinearState<LinearAttentionCall>>(LinearAttentionCall(random), random);
  if (number % 4 == 3) return std::make_unique<LinearState<ConvolutionCall>>(ConvolutionCall(random), random);
  attend_problem p;
  const bool integers = number % 4 == 1;
  REQUIRE((integers ? attend_integer_problem_init : attend_problem_init)(&p, sizeof p) == ATTEND_OK);
  static const attend_integer_constants constants = attend_test::prepared(attend_test::integer_scales(), 4);
  if (integers) p.constants = &constants, p.output_format = ATTEND_FLOAT32;
  p.batch = random.between(1, 2), p.query_heads = p.kv_heads = random.between(1, 2), p.head_dim = 4;
  p.queries = random.between(1, 2), p.value_dim = random.between(1, 5);
  p.keys = random.between(0, 3) == 0 ? random.between(0, 1400) : random.between(0, 40);
  p.query.data = arena, p.key.data = arena + 256, p.value.data = arena + 512, p.output.data = arena + output_at;
  for (attend_input* const input : {&p.key, &p.value}) input->batch_stride = input->token_stride = input->head_stride = 4;
  return std::make_unique<AttentionState>(p, random);
}

std::uint32_t word_at(const Saved& bytes, std::size_t at) {
  return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | std::uint32_t(bytes[at + 3]) << 24;
}

void put_sum(Saved& bytes, std::uint32_t sum) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    if (at != 8) sum = attend::core::hash_with(sum, word_at(bytes, at));
  }
  for (std::size_t i = 0; i < 4 && 8 + i < bytes.size(); ++i) bytes[8 + i] = static_cast<unsigned char>(sum >> 8 * i);
}

void change(Saved& bytes, Random& random) {
  constexpr std::uint32_t edges[] = {0, 1, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 30};
  for (int changes = random.between(0, 2); changes >= 0; --changes) {
    const std::size_t words = bytes.size() / 4;
    const std::size_t at = 4 * (random.bits() % (random.between(0, 1) == 0 && words > 20 ? 20 : words));
    std::uint32_t word = random.bits() >> random.between(0, 31);
    if (random.between(0, 1) == 0) word = edges[random.bits() % std::size(edges)];
    if (random.between(0, 2) == 0)
      bytes[at + random.bits() % 4] ^= static_cast<unsigned char>(random.bits());
    else
      std::memcpy(&bytes[at], &word, 4);
  }
  if (random.between(0, 15) == 0) bytes.resize(random.bits() % (bytes.size() + 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<std::unique_ptr<State>> states;
  static long problems = 0;
  attend_test::backend_for_a_while(problems++);
  if (states.empty()) {
    Random random(1);
    for (std::size_t i = 0; i < arena_bytes; i += 4) {
      const float number = random.uniform();
      std::memcpy(arena + i, &number, 4);
    }
    for (int i = 0; i < 64; ++i) states.push_back(new_state(i, random));
  }
  Random random(data, size);
  State& state = *states[random.bits() % states.size()];
  Saved bytes = state.saved;
  change(bytes, random);
  const bool sums_up = random.between(0, 1) == 1;
  if (sums_up) put_sum(bytes, state.magic);
  const Saved before(state.data(), state.data() + state.size);
  if (state.load(bytes) != ATTEND_OK) {
    REQUIRE(bytes != state.saved && std::memcmp(state.data(), before.data(), state.size) == 0);
    ++counts.refused;
    return 0;
  }
  REQUIRE(sums_up || std::equal(state.saved.begin(), state.saved.end(), bytes.begin()));
  ++counts.loaded;
  const Saved once = state.save();
  REQUIRE(state.load(once) == ATTEND_OK);
  REQUIRE(state.save() == once);
  state.go_on(std::int32_t(word_at(once, 36)));
  REQUIRE(state.load(state.saved) == ATTEND_OK && state.save() == state.saved);
  return 0;
}
