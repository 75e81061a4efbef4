// Writes problems of integer attention and the library's outputs, for integer_accuracy.py:  integer_accuracy DIR
#include <cstdio>
#include <filesystem>
#include <string>

#include "../../../tests/conformance/integer_error.h"

namespace {

using attend_test::IntegerErrorCase;
using attend_test::IntegerErrorRun;

template <class Number>
bool write(const std::string& name, const std::vector<Number>& numbers) {
  std::FILE* const file = std::fopen(name.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(numbers.data(), sizeof(Number), numbers.size(), file) == numbers.size();
  return (std::fclose(file) == 0) && written;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "integer_accuracy DIR\n"), 2;
  const std::string directory = argv[1];
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::FILE* const cases = std::fopen((directory + "/cases.txt").c_str(), "w");
  bool written = cases != nullptr;
  attend_test::for_each_integer_error_case([&](IntegerErrorCase c) {
    if (!written) return;
    c.queries = 64;
    const IntegerErrorRun run(c);
    char line[200];
    std::snprintf(line, sizeof line, "%s %d %d", c.heavy_tailed ? "heavy-tailed" : "normal", c.keys, c.head_dim);
    written = std::fprintf(cases, "%s %.17g %.17g %.17g %.17g\n", line, run.query.scale, run.key.scale, run.value.scale,
                           run.output_scale) > 0;
    std::string name = directory + "/" + line;
    for (char& letter : name) letter = letter == ' ' ? '_' : letter;
    written = written && write(name + ".query", run.query.numbers) && write(name + ".key", run.key.numbers) &&
              write(name + ".value", run.value.numbers) && write(name + ".output", run.output) &&
              write(name + ".wide", run.wide_output);
  });
  if (cases != nullptr) written = (std::fclose(cases) == 0) && written;
  if (!written) std::fprintf(stderr, "integer_accuracy: %s cannot be written\n", directory.c_str());
  return written ? 0 : 1;
}
