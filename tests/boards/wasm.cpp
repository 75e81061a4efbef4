// WebAssembly as a platform: two imported functions, which wasm.mjs has, are all of the outside.
#include "../../bench/boards/platform.h"

namespace {

alignas(64) float memory[1 << 20];

}  // namespace

extern "C" {

[[clang::import_module("host"), clang::import_name("write")]] void host_write(const char* text, size_t length);
[[clang::import_module("host"), clang::import_name("finish")]] void host_finish(int status);

}  // extern "C"

namespace firmware {

void write(const char* text, size_t length) { host_write(text, length); }

void finish(int status) {
  for (;;) host_finish(status);
}

Memory free_memory() { return {memory, sizeof memory / sizeof memory[0]}; }

}  // namespace firmware

extern "C" [[clang::export_name("start")]] void start() { firmware::finish(firmware::run()); }
