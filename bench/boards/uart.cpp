// A board of yours: copy this file and change the lines that are marked. Here it is the UART of Arm's MPS2 boards, which QEMU
// emulates, and the memory that link.ld leaves.
#include "platform.h"

namespace {

volatile uint32_t* const uart =
    reinterpret_cast<volatile uint32_t*>(0x40004000);  // 1. data, state, control, -, clocks of a bit

void write_byte(char byte) {
  uart[2] = 1, uart[4] = 16;     // 2. on, to send, whatever came before
  for (; (uart[1] & 1) != 0;) {  // 3. as long as it is full
  }
  uart[0] = uint8_t(byte);
}

}  // namespace

extern "C" unsigned char free_begin[], free_end[];  // of link.ld; in others perhaps _end and _estack

namespace firmware {

void write(const char* text, size_t length) {
  for (size_t i = 0; i < length; ++i) write_byte(text[i]);
}

Memory free_memory() { return memory_between(free_begin, free_end); }

}  // namespace firmware
