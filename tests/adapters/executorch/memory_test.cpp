// Where the system has no more memory, a kernel fails with an error, and the program goes on. The linker puts the functions
// below in the place of aligned_alloc (--wrap), from which the kernels have all of theirs.
#include <functional>
#include <thread>

#include "checks.h"

namespace {
thread_local int left = -1;  // allocations until the first that fails; negative: none does
}  // namespace

extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  if (left == 0) return nullptr;
  if (left > 0) --left;
  return __real_aligned_alloc(alignment, size);
}
}

namespace kernels {
namespace {

// One call on a new thread, which has no memory yet, with so many allocations. Its error, and what is in the log.
Error with_allocations(int count, const std::function<Error()>& of_call) {
  Error error = Error::Ok;
  std::thread thread([&] {
    left = count;
    error = of_call();
    left = -1;
  });
  thread.join();
  return error;
}

// With too few allocations, however few, it fails; with enough, `right` says whether its output is that of a call with all.
void needs_memory(const std::string& what, int least, const std::function<Error()>& of_call,
                  const std::function<bool()>& right) {
  int failing = 0;
  while (failing < 20) {
    const Error error = with_allocations(failing, of_call);
    if (error == Error::Ok) break;
    const bool told = error == Error::MemoryAllocationFailed && !stub::log().empty();
    if (!told) check(false, what, "error " + std::to_string(int(error)) + ", log " + stub::log());
    ++failing;
  }
  check(failing >= least && failing < 20, what + " fails where memory ends, at each of its allocations",
        std::to_string(failing) + " allocations");
  check(right(), what + " has the same bits when there is enough");
}

}  // namespace

void little_memory() {
  constexpr int tokens = 40, keys = 60, heads = 4, kv_heads = 2, dim = 16;
  Random random{31};
  Sequence all(random, 1, keys, heads, kv_heads, dim);
  Made<float> query(ScalarType::Float, {1, tokens, heads, dim}), out(ScalarType::Float, {1, tokens, heads, dim}),
      expected(ScalarType::Float, {1, tokens, heads, dim});
  Made<uint8_t> mask(ScalarType::Bool, {tokens, keys});
  random.fill(query.numbers);
  for (uint8_t& seen : mask.numbers) seen = random.below(3) == 0;  // most queries begin with a key of their own
  stub::threads = 1;
  const auto masked = [&](const Made<float>& to) {
    return sdpa(query, all.key, all.value, 0, mask.value(), false, EValue(), to);
  };
  const auto causal = [&](const Made<float>& to) { return sdpa(query, all.key, all.value, 5, EValue(), true, EValue(), to); };
  const auto same = [&] { return out.numbers == expected.numbers; };
  check(masked(expected) == Error::Ok, "a call with a mask", stub::log());
  needs_memory(
      "a call with a mask", 3, [&] { return masked(out); }, same);
  check(causal(expected) == Error::Ok, "a causal call", stub::log());
  needs_memory(
      "a causal call", 1, [&] { return causal(out); }, same);
  Quantised q(random, {1, keys, heads, dim}), k(random, {1, keys, kv_heads, dim});
  Made<float> wide(ScalarType::Float, {1, keys, heads, dim}), of_all(ScalarType::Float, {1, keys, heads, dim});
  check(quantised_sdpa(q, k, k, 0, false, of_all) == Error::Ok, "a quantised call", stub::log());
  needs_memory(
      "a quantised call", 4, [&] { return quantised_sdpa(q, k, k, 0, false, wide); },
      [&] { return wide.numbers == of_all.numbers; });
}

}  // namespace kernels
