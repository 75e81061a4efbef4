// Output, arguments and the exit status of a board: requests to the emulator by the semihosting breakpoint.
#include "platform.h"

extern "C" {
extern float free_begin[], free_end[];  // link.ld
}

namespace firmware {
namespace {

enum Request : uintptr_t {
  open_request = 0x01,
  close_request = 0x02,
  write_request = 0x05,
  read_request = 0x06,
  get_command_line = 0x15,
  exit_extended = 0x20
};
constexpr uintptr_t application_exit = 0x20026;

#if defined(__riscv)
// The breakpoint is a request between these two instructions, which do nothing; all three lie in one page.
uintptr_t ask(Request request, void* parameters) {
  register uintptr_t a0 __asm__("a0") = request;
  register void* a1 __asm__("a1") = parameters;
  __asm__ volatile(
      ".option push\n"
      ".option norvc\n"
      ".balign 16\n"
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
}
#else
uintptr_t ask(Request request, void* parameters) {
  register uintptr_t r0 __asm__("r0") = request;
  register void* r1 __asm__("r1") = parameters;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
#endif

uintptr_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

constexpr uintptr_t for_reading_bytes = 1, for_writing = 4, for_writing_bytes = 5;
constexpr uintptr_t no_file = ~uintptr_t(0);

uintptr_t open(const char* name, uintptr_t mode) {
  uintptr_t parameters[3] = {address_of(name), mode, length_of(name)};
  return ask(open_request, parameters);
}
void close(uintptr_t file) { ask(close_request, &file); }

// Returns how many bytes were not moved.
size_t move(Request request, uintptr_t file, const void* bytes, size_t size) {
  uintptr_t parameters[3] = {file, address_of(bytes), size};
  return ask(request, parameters);
}

uintptr_t console;  // 0: not open yet, which no handle is

}  // namespace

void write(const char* text, size_t length) {
  if (length == 0) return;
  if (console == 0) console = open(":tt", for_writing);
  move(write_request, console, text, length);
}

bool write_file(const char* name, const void* bytes, size_t size) {
  const uintptr_t file = open(name, for_writing_bytes);
  if (file == no_file) return false;
  const bool is_written = move(write_request, file, bytes, size) == 0;
  close(file);
  return is_written;
}

size_t read_file(const char* name, void* to, size_t room) {
  const uintptr_t file = open(name, for_reading_bytes);
  if (file == no_file) return 0;
  const size_t left = move(read_request, file, to, room);
  close(file);
  return left > room ? 0 : room - left;
}

void finish(int status) {
  uintptr_t parameters[2] = {application_exit, uintptr_t(status)};
  for (;;) ask(exit_extended, parameters);
}

Memory free_memory() { return {free_begin, size_t(free_end - free_begin)}; }

bool read_arguments(char* text, size_t size) {
  static char line[4096];
  uintptr_t parameters[2] = {address_of(line), sizeof line - 1};
  const bool answered = ask(get_command_line, parameters) == 0;
  const char* from = line;
  if (!answered) line[0] = '\0';
  // The program's name, and the space after it.
  while (*from != '\0' && *from != ' ') ++from;
  if (*from == ' ') ++from;
  size_t length = 0;
  while (length + 1 < size && from[length] != '\0') text[length] = from[length], ++length;
  text[length] = '\0';
  return answered && from[length] == '\0';
}

}  // namespace firmware
