// The operations of instruction sets; those of x86 are in files of their own, where they are switched on.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../support/tested.h"

#if ATTEND_NEON
#include "../../src/isa/neon/operations.h"
#endif
#if ATTEND_RVV
#include "../../src/isa/rvv/operations.h"
#endif
#include "operations.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

void attend_test::check_operations(const char* (*first_wrong)(float* end)) {
#if defined(__unix__) || defined(__APPLE__)
  const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  char* const end = static_cast<char*>(memory) + page;
  REQUIRE(mprotect(end, page, PROT_NONE) == 0);  // what goes there is a crash
  const char* const wrong = first_wrong(reinterpret_cast<float*>(end));
  munmap(memory, 2 * page);
#else
  std::vector<float> memory(64);
  const char* const wrong = first_wrong(memory.data() + memory.size());
#endif
  CHECK(std::string(wrong == nullptr ? "none is wrong" : wrong) == "none is wrong");
}

#if ATTEND_NEON
TEST_CASE("operations of NEON do what they must") { attend_test::check_operations(Operations<attend::Neon>::first_wrong); }
#endif

#if ATTEND_RVV
TEST_CASE("operations of RVV do what they must") { attend_test::check_operations(Operations<attend::Rvv>::first_wrong); }
#endif
