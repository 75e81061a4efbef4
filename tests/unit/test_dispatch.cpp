// Which backend a processor gets: what CPUID and XGETBV must say for it, and that the fastest of those that it can run is
// taken.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../src/isa/list.h"
#include "attend/backend.h"

namespace core = attend::core;

namespace {

// The first call of the program: main() has not chosen any yet.
const std::string at_start = attend::active_backend();

// What a processor and its operating system say.
struct Processor {
  std::uint32_t leaf_1 = 0, leaf_7 = 0, saved = 0;
};

// The bits by their numbers in Intel's manual.
const std::vector<int> leaf_1_bits = {12, 27, 28, 29};                   // FMA, OSXSAVE, AVX, F16C
const std::vector<int> avx2 = {5}, avx512 = {5, 16, 17, 30, 31};         // AVX2; and F, DQ, BW, VL
const std::vector<int> saved_ymm = {1, 2}, saved_zmm = {1, 2, 5, 6, 7};  // XMM, upper halves of YMM; masks, ZMM, ZMM 16 to 31

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

// All that it needs is enough, with and without everything else, and each bit of it is needed.
template <class Backend>
void check_bits(const std::vector<int>& instructions, const std::vector<int>& registers) {
  const Processor enough = {mask_of(leaf_1_bits), mask_of(instructions), mask_of(registers)}, all = {~0u, ~0u, ~0u};
  CHECK(is_available<Backend>(enough));
  CHECK(is_available<Backend>(all));
  CHECK_FALSE(is_available<Backend>({}));
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

}  // namespace

TEST_CASE("dispatch: a backend needs each of its bits of CPUID and XGETBV, and no others") {
  check_bits<attend::avx2::Backend>(avx2, saved_ymm);
  check_bits<attend::avx512::Backend>(avx512, saved_zmm);
  CHECK(is_available<attend::scalar::Backend>({}));
}

TEST_CASE("dispatch: the first call takes the fastest backend that the processor can run") {
  int first = 0;
  while (!attend::backend_available(first)) ++first;
  CHECK(at_start == attend::backend_name(first));
  CHECK(first < attend::backend_count());
#if ATTEND_X86
  REQUIRE(attend::backend_count() == 3);
  CHECK(std::string(attend::backend_name(0)) == "avx512");
  CHECK(std::string(attend::backend_name(1)) == "avx2");
  CHECK(std::string(attend::backend_name(2)) == "scalar");
#endif
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
