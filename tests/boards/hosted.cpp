// The host as a platform, for the programs that need no more than output. ATTEND_BACKEND chooses the backend; exit status 77
// when there is none of that name here or the processor cannot run it. ATTEND_BACKEND=list prints the names that there are.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../bench/boards/platform.h"
#include "attend/backend.h"

namespace firmware {
namespace {

alignas(64) float memory[1 << 20];

}  // namespace

void write(const char* text, size_t length) { std::fwrite(text, 1, length, stdout); }

Memory free_memory() { return {memory, sizeof memory / sizeof memory[0]}; }

bool read_arguments(char* text, size_t) {
  text[0] = '\0';
  return true;
}

}  // namespace firmware

int main() {
  const char* const name = std::getenv("ATTEND_BACKEND");
  if (name != nullptr && std::strcmp(name, "list") == 0) {
    for (int i = 0; i < attend::backend_count(); ++i) std::puts(attend::backend_name(i));
    return 0;
  }
  if (name != nullptr && !attend::use_backend(name)) {
    std::printf("no backend %s for this processor\n", name);
    return 77;
  }
  return firmware::run();
}
