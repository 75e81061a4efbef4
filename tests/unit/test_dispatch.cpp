// Which backend a processor gets: what CPUID and XGETBV must say for it, and that the fastest of those that it can run is
// taken.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "../../src/backend/list.h"
#include "attend/backend.h"

namespace core = attend::core;

namespace {

// The first call of the program: main() has not chosen any yet.
const std::string at_start = attend::active_backend();

template <class... Backend>
std::vector<std::string> names_of(core::BackendList<Backend...>) {
  return {Backend::name...};
}

#if ATTEND_X86_SETS

// What a processor and its operating system say.
struct Processor {
  std::uint32_t leaf_1 = 0, leaf_7 = 0, saved = 0;
};

const std::vector<int> leaf_1_bits = {12, 27, 28, 29};  // FMA, OSXSAVE, AVX, F16C

std::uint32_t mask_of(const std::vector<int>& bits) {
  std::uint32_t mask = 0;
  for (const int bit : bits) mask |= std::uint32_t(1) << bit;
  return mask;
}

template <class Backend>
bool is_available(const Processor& on) {
  return core::is_available<Backend>([&] { return on.leaf_1; }, [&] { return on.leaf_7; },
                                     [&] {
                                       CHECK((on.leaf_1 >> 27 & 1) == 1);  // else it is an unknown instruction
                                       return on.saved;
                                     });
}

// The place of the first that is true; behind the last, where none is.
template <class... Bool>
int first_of(Bool... are) {
  const bool all[] = {are...};
  return int(std::find(std::begin(all), std::end(all), true) - std::begin(all));
}
template <class Wanted, class... Backend>
int place_in(core::BackendList<Backend...>) {
  return first_of(std::is_same<Wanted, Backend>::value...);
}
template <class... Backend>
int chosen_of(core::BackendList<Backend...>, const Processor& on) {
  return first_of(is_available<Backend>(on)...);
}

// All that it needs is enough, with and without everything else, and each bit of it is needed. A processor that has no more
// takes it.
template <class Backend>
void check_bits(const std::vector<int>& instructions, const std::vector<int>& registers) {
  const Processor enough = {mask_of(leaf_1_bits), mask_of(instructions), mask_of(registers)}, all = {~0u, ~0u, ~0u};
  CHECK(is_available<Backend>(enough));
  CHECK(is_available<Backend>(all));
  CHECK_FALSE(is_available<Backend>({}));
  CHECK(chosen_of(core::Backends(), enough) == place_in<Backend>(core::Backends()));
  const auto without = [](std::uint32_t Processor::*number, const std::vector<int>& bits, const Processor& of) {
    for (const int bit : bits) {
      CAPTURE(bit);
      Processor lacks = of;
      lacks.*number &= ~(std::uint32_t(1) << bit);
      CHECK_FALSE(is_available<Backend>(lacks));
    }
  };
  for (const Processor& of : {enough, all}) {
    without(&Processor::leaf_1, leaf_1_bits, of);
    without(&Processor::leaf_7, instructions, of);
    without(&Processor::saved, registers, of);
  }
}

// What leaf 7 says of integers.
struct IntegerProcessor {
  std::uint32_t leaf_7_c = 0, leaf_7_1_a = 0;
};

template <class Backend>
bool has_integers(const IntegerProcessor& on) {
  return core::has_integers<Backend>([&] { return on.leaf_7_c; }, [&] { return on.leaf_7_1_a; });
}

// Of integers alone: that each bit is needed and no other, and that it stands before the backend that it takes the place of.
template <class Backend, class Float>
void check_integer_bits(const std::vector<int>& leaf_7_c, const std::vector<int>& leaf_7_1_a) {
  CHECK((Backend::leaf_7_b == Float::leaf_7_b && Backend::registers == Float::registers));
  CHECK(place_in<Backend>(core::IntegerBackends()) < place_in<Float>(core::IntegerBackends()));
  const IntegerProcessor enough = {mask_of(leaf_7_c), mask_of(leaf_7_1_a)};
  CHECK(has_integers<Backend>(enough));
  const auto without = [&](std::uint32_t IntegerProcessor::*number, const std::vector<int>& bits) {
    for (const int bit : bits) {
      CAPTURE(bit);
      IntegerProcessor lacks = {~0u, ~0u};
      lacks.*number &= ~(std::uint32_t(1) << bit);
      CHECK_FALSE(has_integers<Backend>(lacks));
    }
  };
  without(&IntegerProcessor::leaf_7_c, leaf_7_c), without(&IntegerProcessor::leaf_7_1_a, leaf_7_1_a);
}

// The bits of every backend by their numbers in Intel's manual.
const std::vector<int> avx512 = {5, 16, 17, 30, 31};                     // AVX2, F, DQ, BW, VL
const std::vector<int> saved_ymm = {1, 2}, saved_zmm = {1, 2, 5, 6, 7};  // XMM, upper halves of YMM; masks, ZMM, ZMM 16 to 31
void check(attend::avx512::Backend) { check_bits<attend::avx512::Backend>(avx512, saved_zmm); }
void check(attend::avx2::Backend) { check_bits<attend::avx2::Backend>({5}, saved_ymm); }
void check(attend::sse2::Backend) {
  CHECK(is_available<attend::sse2::Backend>({}));
  CHECK(chosen_of(core::Backends(), {}) == place_in<attend::sse2::Backend>(core::Backends()));
}
void check(attend::scalar::Backend) { CHECK(is_available<attend::scalar::Backend>({})); }
void check(attend::avx512vnni::Backend) { check_integer_bits<attend::avx512vnni::Backend, attend::avx512::Backend>({11}, {}); }
void check(attend::avxvnni::Backend) { check_integer_bits<attend::avxvnni::Backend, attend::avx2::Backend>({}, {4}); }
void check(attend::embedded_integers::Backend) {
  check_integer_bits<attend::embedded_integers::Backend, attend::scalar::Backend>({}, {});
}
template <class Backend>
void check(Backend) {
  static_assert(sizeof(Backend) == 0, "attend: say here which bits this backend of backend/list.h needs");
}

template <class... Backend>
void check_all(core::BackendList<Backend...>) {
  (check(Backend()), ...);
}

#endif

}  // namespace

#if ATTEND_X86_SETS
TEST_CASE("dispatch: a backend needs each of its bits of CPUID and XGETBV, and no others, and is taken where it can be") {
  check_all(core::Backends());
  check_all(core::IntegerBackends());
}
#endif

#if ATTEND_X86_SETS
template <class... Backend>
std::vector<unsigned> instructions_of(core::BackendList<Backend...>) {
  return {Backend::leaf_7_b...};
}
TEST_CASE("dispatch: integers need no more of the processor than the active backend") {
  const std::string before = attend::active_backend();
  const std::vector<unsigned> floats = instructions_of(core::Backends()), integers = instructions_of(core::IntegerBackends());
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::use_backend(attend::backend_name(i))) continue;
    const unsigned needs = integers[std::size_t(core::active_integer_index())];
    CHECK((needs & ~floats[std::size_t(i)]) == 0);
    CHECK((needs != 0) == (floats[std::size_t(i)] != 0));  // and no fewer than AVX2's, where these can be
  }
  attend::use_backend(before.c_str());
}
#endif

TEST_CASE("dispatch: the first call takes the fastest backend that the processor can run") {
  int first = 0;
  while (!attend::backend_available(first)) ++first;
  CHECK(at_start == attend::backend_name(first));
  CHECK(first < attend::backend_count());
  const std::vector<std::string> names = names_of(core::Backends());
  REQUIRE(attend::backend_count() == int(names.size()));
  for (int i = 0; i < attend::backend_count(); ++i) CHECK(std::string(attend::backend_name(i)) == names[std::size_t(i)]);
}

TEST_CASE("dispatch: a backend is taken by its whole name, and only if it is available") {
  const std::string before = attend::active_backend();
  for (const char* name : {"", "avx", "avx2 ", "avx51", "scalars", "none"}) {
    CHECK_FALSE(attend::use_backend(name));
    CHECK(attend::active_backend() == before);
  }
  for (int i = 0; i < attend::backend_count(); ++i) {
    const std::string name = attend::backend_name(i);
    CHECK(attend::use_backend(name.c_str()) == attend::backend_available(i));
    CHECK((attend::active_backend() == name) == attend::backend_available(i));
    CHECK((!attend::backend_available(i) || core::active_index() == i));
    attend::use_backend(before.c_str());
  }
}
