// How deep the calls of size_main.cpp go into the stack: paints what is free of it, calls, and looks how far the paint is gone.
#include "../../../tests/support/random.h"
#include "../../boards/platform.h"
#include "size_program.h"

extern "C" volatile uint32_t stack_bottom[];  // link.ld

namespace {

constexpr uint32_t paint = 0xdecade01;

// Nothing of this function lies below its own stack pointer, so the loops may write and read there. The pointer stays where it
// is until the function returns: bytes are counted from what the caller of `call` has.
__attribute__((noinline)) uint32_t bytes_of_stack(void (*call)()) {
  volatile uint32_t* here;
#if defined(__riscv)
  __asm__ volatile("mv %0, sp" : "=r"(here));
#else
  __asm__ volatile("mov %0, sp" : "=r"(here));
#endif
  for (volatile uint32_t* word = stack_bottom; word != here; ++word) *word = paint;
  call();
  const volatile uint32_t* word = stack_bottom;
  while (word != here && *word == paint) ++word;
  return uint32_t(reinterpret_cast<uintptr_t>(here) - reinterpret_cast<uintptr_t>(word));
}

template <int tokens>
void fill(size_program::Arrays<tokens>& arrays, uint64_t seed) {
  attend_test::Random random(seed);
  constexpr size_t floats = size_t(tokens) * size_program::Shape::head_dim;
  random.fill(arrays.query.data[0][0], floats);
  random.fill(arrays.key.data[0][0], floats);
  random.fill(arrays.value.data[0][0], floats);
}

// The prompt again, with a window, a soft cap, a sink and what else takes memory.
void prepare_options() {
  using size_program::options, size_program::problem, size_program::prompt, size_program::prompt_tokens;
  constexpr int dims = size_program::Shape::head_dim;
  static float sink = 0.5f, lse[prompt_tokens], scores[prompt_tokens][prompt_tokens], relative[9] = {};
  problem.query = {prompt.query.data[0][0], dims, dims};
  problem.key = {prompt.key.data[0][0], dims, dims};
  problem.value = {prompt.value.data[0][0], dims, dims};
  problem.output = {prompt.output.data[0][0], dims, dims};
  problem.query_heads = problem.kv_heads = problem.row_block = 1;
  problem.head_dim = problem.value_dim = dims;
  problem.queries = problem.keys = prompt_tokens;
  problem.scale = 0.25f;
  problem.causal = true;
  problem.key_block = attend::chain_keys;
  problem.scratch = size_program::scratch;
  options.left = 40;
  options.soft_cap = 20.0f;
  options.sink_logits = options.alibi_slopes = &sink;
  options.relative = relative;
  options.relative_left = 8;
  options.lse = {lse, 1, 1};
  options.scores = {scores[0], prompt_tokens, prompt_tokens};
  options.score_keys = prompt_tokens;
  options.score_stage = attend::core::Scores::weights;
}

void report(const char* name, void (*call)()) {
  const uint32_t bytes = bytes_of_stack(call);
  firmware::print(name);
  firmware::print(" ");
  firmware::print_number(bytes);
  firmware::print("\n");
}

}  // namespace

int firmware::run() {
  fill(size_program::prompt, 1);
  fill(size_program::token, 2);
  append_prompt();
  report("prefill", call_prefill);
  append_token();
  report("decode", call_decode);
  report("integer", call_integer);
  begin_integer_ring();
  report("integer_ring", call_integer_ring);
  report("project_integer", call_project_integer);
  prepare_options();
  report("options", call_options);
  return size_program::token.output.data[0][0][0] != 0.0f ? 0 : 1;
}
