// The short texts of statuses are the names of include/attend/status.h, each in its place.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include <attend/status.h>

// The source as a board compiles it, under names of its own.
#define ATTEND_SHORT_TEXTS
namespace short_texts {
namespace attend {
using ::attend::Status;
using ::attend::status_count;
}  // namespace attend
#include "../../src/call/status.cpp"
}  // namespace short_texts

TEST_CASE("statuses: short texts are the names in the header, in their order") {
  std::ifstream header("include/attend/status.h");
  REQUIRE(header.is_open());
  std::string line;
  while (std::getline(header, line) && line.find("enum class") == std::string::npos) {
  }
  int count = 0;
  while (std::getline(header, line) && line.find("};") == std::string::npos) {
    const std::size_t first = line.find_first_not_of(' '), end = line.find(',');
    if (first != 4 || line[first] == '/' || end == std::string::npos) continue;
    CHECK(line.substr(first, end - first) == short_texts::attend::status_text(attend::Status(count)));
    ++count;
  }
  CHECK(count == attend::status_count);
  CHECK(std::string(short_texts::attend::status_text(attend::Status(count))) == "unknown status");
}
