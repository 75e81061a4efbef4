// The operations of instruction sets; those of x86 are in files of their own, where they are switched on.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "target_isa.h"

#include "operations.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

void attend_test::check_operations(const char* (*first_wrong)(float* end)) {
#if defined(__unix__) || defined(__APPLE__)
  const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE)), bytes = (8192 * sizeof(float) + page - 1) / page * page;
  void* const memory = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  char* const end = static_cast<char*>(memory) + bytes;
  REQUIRE(mprotect(end, page, PROT_NONE) == 0);  // what goes there is a crash
  const char* const wrong = first_wrong(reinterpret_cast<float*>(end));
  munmap(memory, bytes + page);
#else
  std::vector<float> memory(8192);
  const char* const wrong = first_wrong(memory.data() + memory.size());
#endif
  CHECK(std::string(wrong == nullptr ? "none is wrong" : wrong) == "none is wrong");
}

#ifdef ATTEND_TEST_ISA
TEST_CASE("operations of the target's vectors do what they must") {
  attend_test::check_operations(Operations<ATTEND_TEST_ISA>::first_wrong);
}
#endif
