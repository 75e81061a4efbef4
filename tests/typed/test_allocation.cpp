// Nothing allocates: every way to the heap is counted, and the library's calls leave the count where it was.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "attend/attend.h"

// Three ways to count. A sanitizer has a heap of its own, with hooks. With glibc, malloc can be replaced, because it has a
// second name to forward to. Elsewhere only new and delete are replaced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATTEND_TEST_SANITIZER_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define ATTEND_TEST_SANITIZER_HEAP 1
#endif
#endif

#if defined(ATTEND_TEST_SANITIZER_HEAP) || defined(__GLIBC__)
#define ATTEND_TEST_COUNTS_MALLOC 1
#endif

namespace {

std::atomic<long> heap_calls{0};

template <class Work>
long heap_calls_of(Work work) {
  const long before = heap_calls;
  work();
  return heap_calls - before;
}

}  // namespace

#if defined(ATTEND_TEST_SANITIZER_HEAP)

// As in <sanitizer/allocator_interface.h>, which not every compiler brings along.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_allocation)(const volatile void*, std::size_t),
                                                         void (*on_release)(const volatile void*));

namespace {

void on_allocation(const volatile void*, std::size_t) { ++heap_calls; }
void on_release(const volatile void*) { ++heap_calls; }
const int hooks = __sanitizer_install_malloc_and_free_hooks(on_allocation, on_release);

}  // namespace

#else

namespace {

void* counted_allocation(std::size_t bytes, std::size_t alignment) {
  ++heap_calls;
  // aligned_alloc wants a whole number of alignments, and nobody wants a null pointer for no bytes.
  const std::size_t whole = bytes / alignment * alignment + alignment;
  void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(whole) : std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void counted_release(void* memory) {
  ++heap_calls;
  std::free(memory);
}

}  // namespace

// The forms for arrays and with nothrow come down to these.
void* operator new(std::size_t bytes) { return counted_allocation(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return counted_allocation(bytes, std::size_t(alignment)); }
void operator delete(void* memory) noexcept { counted_release(memory); }
void operator delete(void* memory, std::size_t) noexcept { counted_release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { counted_release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { counted_release(memory); }

#if defined(__GLIBC__)

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void __libc_free(void* memory);

void* malloc(std::size_t bytes) noexcept {
  ++heap_calls;
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++heap_calls;
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, std::size_t bytes) noexcept {
  ++heap_calls;
  return __libc_realloc(memory, bytes);
}

void free(void* memory) noexcept {
  ++heap_calls;
  __libc_free(memory);
}

}  // extern "C"

#endif
#endif

namespace {

// More keys than one segment holds, so that the second set of sums is used too.
struct Long {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 5, value_dim = 11, max_tokens = 530;
};
constexpr int tokens = Long::max_tokens;

attend::Query<Long, tokens> query;
attend::Key<Long, tokens> key;
attend::Value<Long, tokens> value;
attend::Output<Long, tokens> output;
attend::Workspace<Long, tokens, tokens> workspace;
attend::Workspace<Long, tokens> prefill_workspace;
attend::KvCache<Long> cache;
attend::Query<Long> token_query;
attend::Key<Long> token_key;
attend::Value<Long> token_value;
attend::Output<Long> token_output;

// Keeps the compiler from leaving out an allocation that nobody uses.
void* volatile seen;

}  // namespace

TEST_CASE("the trap for allocations works") {
  CHECK(heap_calls_of([] {}) == 0);
  CHECK(heap_calls_of([] { seen = new int; }) >= 1);
  CHECK(heap_calls_of([] { delete static_cast<int*>(seen); }) >= 1);
  CHECK(heap_calls_of([] { seen = new int[100]; }) >= 1);
  CHECK(heap_calls_of([] { delete[] static_cast<int*>(seen); }) >= 1);
  struct alignas(64) Line {
    char bytes[64];
  };
  CHECK(heap_calls_of([] { seen = new (std::nothrow) Line; }) >= 1);
  CHECK(heap_calls_of([] { delete static_cast<Line*>(seen); }) >= 1);
#if defined(ATTEND_TEST_COUNTS_MALLOC)
  CHECK(heap_calls_of([] { seen = std::malloc(100); }) >= 1);
  CHECK(heap_calls_of([] { seen = std::realloc(seen, 200); }) >= 1);
  CHECK(heap_calls_of([] { std::free(seen); }) >= 1);
  CHECK(heap_calls_of([] { seen = std::calloc(10, 10); }) >= 1);
  CHECK(heap_calls_of([] { std::free(seen); }) >= 1);
#else
  MESSAGE("malloc is not counted in this build, only new and delete");
#endif
}

TEST_CASE("attention, append, prefill and decode allocate nothing, on every backend") {
  const char* before = attend::active_backend();
  for (int i = 0; i < attend::backend_count(); ++i) {
    const char* name = attend::backend_name(i);
    if (!attend::backend_available(i)) continue;
    CAPTURE(name);
    CHECK(heap_calls_of([&] { attend::use_backend(name); }) == 0);
    CHECK(heap_calls_of([] { (void)attend::attention(query, key, value, output, workspace); }) == 0);
    CHECK(heap_calls_of([] { (void)attend::attention(query, key, value, output, workspace, attend::causal()); }) == 0);
    cache.clear();
    CHECK(heap_calls_of([] { (void)cache.append(key, value, tokens - 1); }) == 0);
    CHECK(heap_calls_of([] { (void)cache.append(token_key, token_value); }) == 0);
    CHECK(heap_calls_of([] { (void)cache.append(token_key, token_value); }) == 0);  // full
    CHECK(cache.length() == tokens);
    CHECK(heap_calls_of([] { (void)attend::prefill(query, cache, output, prefill_workspace); }) == 0);
    CHECK(heap_calls_of([] { (void)attend::decode(token_query, cache, token_output); }) == 0);
    CHECK(heap_calls_of([] { (void)cache.truncate(1); }) == 0);
    attend::Status refused{};
    CHECK(heap_calls_of([&] { refused = attend::prefill(query, cache, output, prefill_workspace); }) == 0);
    CHECK(refused != attend::Status::ok);
    CHECK(heap_calls_of([&] { attend::status_text(refused); }) == 0);
  }
  attend::use_backend(before);
}
