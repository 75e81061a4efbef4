// Chooses the backend. On x86 by what the processor says, once; elsewhere there is one, and calls go straight to it.
#include "backends.h"

#include "../include/attend/backend.h"
#include "../include/attend/core.h"

#if ATTEND_X86
#include <cpuid.h>
#include <stdint.h>
#endif

namespace attend {
namespace {

struct Backend {
  const char* name;
  void (*run)(const core::Problem&);
  void (*sum_segment)(const core::Problem&);
  void (*combine)(const core::Problem&, const float*);
  bool (*available)();
};

#if ATTEND_X86

struct Registers {
  uint32_t a, b, c, d;
};

Registers cpuid(uint32_t leaf) {
  Registers r{};
  if (leaf <= uint32_t(__get_cpuid_max(0, nullptr))) __cpuid_count(leaf, 0, r.a, r.b, r.c, r.d);
  return r;
}

// Which registers the operating system saves. Only to be asked where CPUID says OSXSAVE.
uint32_t saved_registers() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

template <class Isa>
bool available() {
  return core::is_available<Isa>([] { return cpuid(1).c; }, [] { return cpuid(7).b; }, saved_registers);
}

#else

template <class>
bool available() {
  return true;
}

#endif

template <class List>
struct Table;
template <class... Isa>
struct Table<core::BackendList<Isa...>> {
  static constexpr Backend backends[] = {{Isa::name, core::Entry<Isa>::run, core::Entry<Isa>::sum_segment,
                                          core::Entry<typename Isa::Combining>::combine, available<Isa>}...};
};
constexpr auto& backends = Table<core::Backends>::backends;
constexpr int count = int(sizeof backends / sizeof backends[0]);

bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

#if ATTEND_X86

// Null until the first call, because asking the processor is slow and a static initialiser is not wanted. Racing first calls
// store the same answer.
const Backend* chosen = nullptr;

const Backend& active() {
  const Backend* backend = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
  if (backend == nullptr) {
    backend = backends;
    while (!backend->available()) ++backend;
    __atomic_store_n(&chosen, backend, __ATOMIC_RELAXED);
  }
  return *backend;
}

void choose(const Backend& backend) { __atomic_store_n(&chosen, &backend, __ATOMIC_RELAXED); }

#else

constexpr const Backend& active() { return backends[0]; }
void choose(const Backend&) {}

#endif

}  // namespace

int backend_count() { return count; }

const char* backend_name(int index) { return backends[index].name; }

bool backend_available(int index) { return backends[index].available(); }

const char* active_backend() { return active().name; }

bool use_backend(const char* name) {
  for (const Backend& backend : backends) {
    if (!same_text(backend.name, name)) continue;
    if (!backend.available()) return false;
    choose(backend);
    return true;
  }
  return false;
}

int core::active_index() { return int(&active() - backends); }
void core::run(const Problem& problem) { active().run(problem); }
void core::sum_segment(const Problem& problem) { active().sum_segment(problem); }
void core::add_key_parts(const Problem& problem, const float* partials) { active().combine(problem, partials); }

}  // namespace attend
