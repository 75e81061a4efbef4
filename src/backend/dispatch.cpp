// Chooses the backend. On x86 by what CPUID reports, once; elsewhere there is one, and calls go straight to it.
#include "list.h"

#include "../../include/attend/backend.h"
#include "../../include/attend/core/attention.h"

#if ATTEND_X86_SETS
#include <stdint.h>
#if ATTEND_GNU
#include <cpuid.h>
#else
#include <intrin.h>
#endif
#endif

namespace attend {
namespace {

struct Entry {
  const char* name;
  void (*run)(const core::Problem&);
  bool (*available)();
  unsigned leaf_7_b;  // what the processor must report
};

#if ATTEND_X86_SETS

struct Registers {
  uint32_t a, b, c, d;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
#if ATTEND_GNU
  Registers r{};
  if (leaf <= uint32_t(__get_cpuid_max(0, nullptr))) __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
  return r;
#else
  int r[4];
  __cpuidex(r, 0, 0);
  if (leaf > uint32_t(r[0])) return {};
  __cpuidex(r, int(leaf), int(subleaf));
  return {uint32_t(r[0]), uint32_t(r[1]), uint32_t(r[2]), uint32_t(r[3])};
#endif
}

// Which registers the operating system saves. Only to be called where CPUID reports OSXSAVE.
uint32_t saved_registers() {
#if ATTEND_GNU
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
#else
  return uint32_t(_xgetbv(0));
#endif
}

template <class Backend>
bool available() {
  return core::is_available<Backend>([] { return cpuid(1).c; }, [] { return cpuid(7).b; }, saved_registers);
}
template <class Backend>
bool has_integers() {
  return core::has_integers<Backend>([] { return cpuid(7).c; }, [] { return cpuid(7).a >= 1 ? cpuid(7, 1).a : 0; });
}

#else

template <class>
bool available() {
  return true;
}

#endif

#define ATTEND_ENTRY(isa, leaf_7_b, ...) {isa::Backend::name, isa::Backend::run, available<isa::Backend>, leaf_7_b},
constexpr Entry backends[] = {ATTEND_EACH_SET(ATTEND_ENTRY, ATTEND_UNLISTED, ATTEND_ENTRY)};
#undef ATTEND_ENTRY

bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

#if ATTEND_X86_SETS

// The choice: 1 + the backend's place + 16 * (1 + that of the kernels of integer attention). 0 until the first call, because
// asking the processor is slow and a static initialiser is not wanted; kernels of integers until the first call of these.
// Racing first calls store the same answer.
unsigned chosen = 0;

// The first kernels of integer attention that go with a backend: what they need besides is asked here.
template <class... Backend>
unsigned integer_kernels(core::BackendList<Backend...>, const Entry& backend) {
  bool (*const has[])() = {has_integers<Backend>...};
  const unsigned leaf_7_b[] = {Backend::leaf_7_b...};
  unsigned index = 0;
  while ((leaf_7_b[index] & ~backend.leaf_7_b) != 0 || !has[index]()) ++index;
  return index;
}

unsigned choice() {
  unsigned number = detail::read_shared(&chosen);
  if (number == 0) {
    unsigned backend = 0;
    while (!backends[backend].available()) ++backend;
    number = 1 + backend;
    detail::replace_shared(&chosen, 0, number);
  }
  return number;
}

const Entry& active() { return backends[choice() % 16 - 1]; }

void choose(const Entry& backend) { detail::write_shared(&chosen, 1 + unsigned(&backend - backends)); }

#else

constexpr const Entry& active() { return backends[0]; }
void choose(const Entry&) {}

#endif

}  // namespace

int backend_count() { return int(sizeof backends / sizeof backends[0]); }

const char* backend_name(int index) { return backends[index].name; }

bool backend_available(int index) { return backends[index].available(); }

const char* active_backend() { return active().name; }

bool use_backend(const char* name) {
  for (const Entry& backend : backends) {
    if (!same_text(backend.name, name)) continue;
    if (!backend.available()) return false;
    choose(backend);
    return true;
  }
  return false;
}

int core::active_index() { return int(&active() - backends); }
#if ATTEND_X86_SETS
int core::active_integer_index() {
  unsigned number = choice();
  if (number >= 16) return int(number / 16) - 1;
  const unsigned kernels = integer_kernels(core::IntegerBackends(), backends[number - 1]);
  // Unless another backend is taken meanwhile.
  detail::replace_shared(&chosen, number, number + 16 * (1 + kernels));
  return int(kernels);
}
#endif
void core::Floats::run(const Problem& problem) {
  const CallersFloats callers = begin_floats();
  active().run(problem);
  end_floats(callers);
}

}  // namespace attend
