// How numbers lie in memory: floats, halves, bytes, and groups of 4 bits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config.h"

namespace attend::core {

// Strides count numbers, not bytes. Rows of int4 are whole groups of 32. int16 is for outputs of integer attention alone.
enum class Format : uint8_t { float32, float16, bfloat16, int8, int16, int4 };

// Calls a macro with the name of each that floats are computed from.
#define ATTEND_EACH_FORMAT(call) call(float32) call(float16) call(bfloat16) call(int8) call(int4)

// Whether a format ends far below the largest float: at 65504, and at 8 times as much.
constexpr bool has_end(Format format) { return format == Format::float16 || format == Format::int4; }

// Numbers of 4 bits. A group of 32 neighbours, of a key, a value or an output's weights, shares a scale and has 18 bytes: the
// scale, a float16 with its low byte first, and 16 bytes: byte i has number i in its low half and number i + 16 in its high
// half. A number stands for (number - 8) * scale, which a float holds exactly, or for NaN where the scale is not finite. GGUF
// calls such a group Q4_0.
constexpr int int4_group = 32;
struct Int4Group {
  uint8_t scale[2];
  uint8_t numbers[int4_group / 2];
};

// The same groups of the 16 keys or outputs of a panel: their scales as float16, and their numbers in turns, four bytes of each
// of them, which are read as a word.
struct alignas(4) Int4Panel {
  uint16_t scales[panel_keys];
  uint8_t numbers[4][panel_keys][4];
};
static_assert(sizeof(Int4Group) == 18 && sizeof(Int4Panel) == panel_keys * sizeof(Int4Group), "groups have no gaps");

// Puts the group of one key or output into its place of a panel.
// (Inlined always: a copy with the instructions of one backend must not be what the linker keeps for others.)
[[gnu::always_inline]] ATTEND_CONSTEXPR_14 void put_int4_group(const Int4Group& from, int lane, Int4Panel& to) {
  to.scales[lane] = uint16_t(from.scale[0] | from.scale[1] << 8);
  for (int i = 0; i < int4_group / 2; ++i) to.numbers[i / 4][lane][i % 4] = from.numbers[i];
}

// Bytes of a number; and of so many numbers, which are whole groups of int4. One of int4 has less than a byte.
constexpr size_t format_bytes(Format format) { return format == Format::float32 ? 4 : format == Format::int8 ? 1 : 2; }
constexpr size_t format_bytes(Format format, size_t numbers) {
  return format == Format::int4 ? numbers / int4_group * sizeof(Int4Group) : numbers * format_bytes(format);
}

}  // namespace attend::core
