// A whole program without a C or C++ library, for x86-64 Linux: it starts itself, and its only outside is two system calls.
//
// Tokens go through attention() at once, through prefill() in chunks and through decode() one by one, on every backend that
// the processor can run. All must give the same bits, and calls with options their digests. Exit code 0 if so, otherwise 1.
#include <attend/attend.h>
#include <stddef.h>
#include <stdint.h>

#include "../conformance/digest_text.h"
#include "../conformance/option_combinations.h"

// The three functions that compilers may call for loops and structs. String instructions, because a loop could itself be
// compiled to such a call.
extern "C" void* memcpy(void* to, const void* from, size_t count) {
  void* start = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  return start;
}

extern "C" void* memset(void* to, int byte, size_t count) {
  void* start = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(byte) : "memory");
  return start;
}

extern "C" void* memmove(void* to, const void* from, size_t count) {
  if (uintptr_t(to) - uintptr_t(from) >= count) return memcpy(to, from, count);
  void* last_to = static_cast<char*>(to) + count - 1;
  const void* last_from = static_cast<const char*>(from) + count - 1;
  __asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(last_to), "+S"(last_from), "+c"(count) : : "memory");
  return to;
}

namespace {

long system_call(long number, long a, const void* b, size_t c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

void print(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  system_call(1, 1, text, length);
}

struct Small {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, value_dim = 20, max_tokens = 37;
};
constexpr int tokens = Small::max_tokens, chunk = 10;

attend::Query<Small, tokens> query;
attend::Key<Small, tokens> key;
attend::Value<Small, tokens> value;
attend::Output<Small, tokens> at_once, in_chunks, one_by_one, first_backend;
attend::Workspace<Small, tokens, tokens> workspace;
attend::Workspace<Small, chunk> prefill_workspace;
attend::KvCache<Small> cache;

// Steps of 1/512 in [-1, 1), from a linear congruential sequence.
template <class Array>
void fill(Array& array, uint32_t seed) {
  float* data = array.data[0][0];
  for (size_t i = 0; i < sizeof array.data / sizeof(float); ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = float(int(seed >> 22) - 512) / 512.0f;
  }
}

template <class Array>
bool same_bits(const Array& a, const Array& b) {
  const unsigned char* x = reinterpret_cast<const unsigned char*>(&a);
  const unsigned char* y = reinterpret_cast<const unsigned char*>(&b);
  for (size_t i = 0; i < sizeof a; ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

// Tokens from … from + count - 1 of an array, in an array of their own.
template <class Part, class Array>
void cut(const Array& array, int from, int count, Part& part) {
  for (int t = 0; t < count; ++t) __builtin_memcpy(&part.data[t], &array.data[from + t], sizeof part.data[t]);
}
template <class Part, class Array>
void paste(const Part& part, int from, int count, Array& array) {
  for (int t = 0; t < count; ++t) __builtin_memcpy(&array.data[from + t], &part.data[t], sizeof part.data[t]);
}

template <int count>
struct Tokens {
  attend::Query<Small, count> query;
  attend::Key<Small, count> key;
  attend::Value<Small, count> value;
  attend::Output<Small, count> output;
};
Tokens<chunk> part;
Tokens<1> token;

bool run_in_chunks() {
  cache.clear();
  for (int from = 0; from < tokens; from += chunk) {
    const int count = tokens - from < chunk ? tokens - from : chunk;
    cut(query, from, count, part.query);
    cut(key, from, count, part.key);
    cut(value, from, count, part.value);
    if (cache.append(part.key, part.value, count) != attend::Status::ok) return false;
    attend::Options options = attend::causal();
    options.query_length = count;
    if (attend::prefill(part.query, cache, part.output, prefill_workspace, options) != attend::Status::ok) return false;
    paste(part.output, from, count, in_chunks);
  }
  return true;
}

bool run_one_by_one() {
  cache.clear();
  for (int t = 0; t < tokens; ++t) {
    cut(query, t, 1, token.query);
    cut(key, t, 1, token.key);
    cut(value, t, 1, token.value);
    if (cache.append(token.key, token.value) != attend::Status::ok) return false;
    if (attend::decode(token.query, cache, token.output) != attend::Status::ok) return false;
    paste(token.output, t, 1, one_by_one);
  }
  return cache.append(token.key, token.value) == attend::Status::cache_full;  // full
}

// The first token sees only itself: its output is its value, whatever the scores are.
bool first_row_is_first_value() {
  for (int h = 0; h < Small::query_heads; ++h) {
    for (int c = 0; c < Small::value_dim; ++c) {
      const float error = at_once[0][h][c] - value[0][h / (Small::query_heads / Small::kv_heads)][c];
      if (!(error < 1e-6f && error > -1e-6f)) return false;
    }
  }
  return true;
}

alignas(64) float memory[1 << 17];

const char* run_options() {
  for (const auto& digest : attend_test::digests<attend_test::OptionCase>) {
    if (attend_test::digest_bytes(digest.c) > sizeof memory) return "digests need more memory";
    if (attend_test::compute_digest(digest.c, memory) != digest.value) return attend_test::digest_text(digest.line);
  }
  for (int size = 0; size < attend_test::combination_sizes; ++size) {
    int number = 0;
    if (attend_test::combination_bytes(size) > sizeof memory) return "combinations need more memory";
    if (attend_test::hash_combinations(size, memory, number) != attend_test::combination_hashes[size])
      return "other bits in combinations of options";
  }
  return nullptr;
}

const char* run_all() {
  const attend::Status status = attend::attention(query, key, value, at_once, workspace, attend::causal());
  if (status != attend::Status::ok) return attend::status_text(status);
  if (!run_in_chunks()) return "prefill refused";
  if (!run_one_by_one()) return "decode refused";
  if (!first_row_is_first_value()) return "wrong values";
  if (!same_bits(at_once, in_chunks)) return "prefill has other bits than attention";
  if (!same_bits(at_once, one_by_one)) return "decode has other bits than attention";
  return run_options();
}

}  // namespace

extern "C" [[noreturn]] void start() {
  fill(query, 1);
  fill(key, 2);
  fill(value, 3);
  int runs = 0, failures = 0;
  for (int i = 0; i < attend::backend_count(); ++i) {
    const char* name = attend::backend_name(i);
    print(name);
    if (!attend::use_backend(name)) {
      print(": not on this processor\n");
      continue;
    }
    const char* fault = run_all();
    if (runs++ == 0) first_backend = at_once;
    if (fault == nullptr && !same_bits(at_once, first_backend)) fault = "other bits than the first backend";
    if (fault != nullptr) ++failures;
    print(": ");
    print(fault == nullptr ? "the same bits" : fault);
    print("\n");
  }
  for (;;) system_call(60, runs > 0 && failures == 0 ? 0 : 1, nullptr, 0);
}

// Linux enters here with a stack aligned to 16 bytes and no return address on it.
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  call start\n");
