// What compilers may call for loops and structs: instructions of WebAssembly, with -mbulk-memory.
#include <stddef.h>

extern "C" {

void* memset(void* to, int byte, size_t count) { return __builtin_memset(to, byte, count); }
void* memcpy(void* to, const void* from, size_t count) { return __builtin_memcpy(to, from, count); }
void* memmove(void* to, const void* from, size_t count) { return __builtin_memmove(to, from, count); }

}  // extern "C"
