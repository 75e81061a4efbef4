// Instructions of the loops of integer attention: worst_case.h adds them up, `make worst-cases` prints the constants.
#pragma once

#include <stdint.h>

namespace attend {

struct InstructionCounts {
  // Some steps, four at a time and then one at a time; enter: where there is such a turn at all.
  struct Tile {
    int16_t always, enter_fours, four, enter_rest, one;
  };
  struct Rows {
    int16_t block, chunk;   // each time that rows begin, and of 32 keys
    int16_t sixteen, left;  // of 16 dimensions of a tile of scores, and where columns are left beside tiles of values
    Tile scores, values;    // steps are dimensions of a score, and keys of values
    Tile two_columns, column;
  };

  int16_t score_keys[2];        // of a tile of scores of 1 row, and of 2
  int16_t columns;              // of a tile of values; the columns that are left are tiles of 2, where has_two, and of 1
  int16_t value_keys, has_two;  // keys that a step of such a tile takes

  int16_t call, kv_head;            // of each call, and of each key/value head
  int16_t row_column;               // of each row and column: sums are cleared, and become outputs
  int16_t query_four, query_rest;   // of a row: four numbers of the query are widened; each of its last ones
  int16_t mask, whole;              // of a row that sees a part of a chunk only; what a tile of values takes more for 32 keys
  int16_t segment, segment_column;  // of a row, and of its columns: sums of 512 keys are added to those before
  Rows rows[2];                     // of 1 row, and of 2
};

// clang-format off
// As GCC 12 compiles the sources one by one with -O2, and with -Os.
namespace gcc_12_O2 {
inline constexpr InstructionCounts cortex_m0_plus = {{2, 1}, 1, 1, 0, 152, 17, 49, 0, -1, 425, 0, 319, 16,
  {{758, 1794, 0, 0, {31, 7, 33, 11, 11}, {21, 7, 30, 20, 9}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
   {1276, 3435, 0, 0, {26, 6, 33, 13, 11}, {35, 8, 35, 7, 13}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}}};
inline constexpr InstructionCounts cortex_m3 = {{2, 2}, 3, 1, 1, 121, 16, 18, 0, 0, 330, 1, 202, 17,
  {{287, 1267, 0, 36, {24, 5, 25, 1, 7}, {32, 9, 33, 4, 11}, {27, 6, 25, 5, 9}, {11, 5, 16, 8, 7}},
   {389, 2423, 0, 52, {32, 9, 38, 4, 10}, {56, 8, 56, 5, 15}, {43, 11, 38, 9, 12}, {11, 3, 24, 7, 9}}}};
inline constexpr InstructionCounts cortex_m4 = {{2, 2}, 4, 2, 0, 118, 20, 12, 12, 9, 333, -23, 257, 13,
  {{302, 950, 0, 15, {11, 12, 16, 17, 4}, {55, 0, 79, 3, 23}, {0, 0, 0, 0, 0}, {21, 0, 40, 0, 10}},
   {434, 1710, 2, 29, {11, 11, 15, 35, 8}, {55, 0, 79, 2, 23}, {0, 0, 0, 0, 0}, {41, -1, 80, -1, 20}}}};
inline constexpr InstructionCounts cortex_m33 = {{2, 2}, 4, 2, 0, 123, 16, 12, 12, 9, 333, -23, 226, 15,
  {{301, 956, 0, 15, {11, 12, 16, 16, 4}, {55, 0, 79, 3, 23}, {0, 0, 0, 0, 0}, {22, 0, 40, 0, 10}},
   {428, 1721, 2, 30, {11, 11, 15, 33, 8}, {55, -1, 79, 2, 23}, {0, 0, 0, 0, 0}, {42, 0, 80, -1, 20}}}};
}  // namespace gcc_12_O2
namespace gcc_12_Os {
inline constexpr InstructionCounts cortex_m0_plus = {{2, 1}, 1, 1, 0, 158, 15, 56, 0, 0, 397, 0, 268, 31,
  {{714, 2145, 0, 0, {53, 18, 33, 2, 16}, {28, 0, 61, 0, 12}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
   {1272, 4150, 0, 0, {41, 18, 33, 2, 15}, {38, 9, 35, 0, 16}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}}};
inline constexpr InstructionCounts cortex_m3 = {{2, 2}, 3, 1, 0, 120, 6, 28, 0, 0, 358, 0, 237, 22,
  {{254, 1576, 0, 0, {32, 0, 50, 0, 8}, {40, 0, 55, 0, 13}, {0, 0, 0, 0, 0}, {23, 0, 39, 0, 9}},
   {369, 3040, 0, -2, {47, 0, 89, 0, 12}, {67, 0, 115, 0, 24}, {0, 0, 0, 0, 0}, {33, 0, 49, 0, 12}}}};
inline constexpr InstructionCounts cortex_m4 = {{2, 2}, 4, 2, 0, 119, 2, 18, 14, 10, 333, 0, 257, 23,
  {{264, 1082, 0, 0, {11, 12, 19, 20, 5}, {49, 0, 100, 0, 25}, {0, 0, 0, 0, 0}, {23, 0, 40, 0, 10}},
   {392, 1981, 0, 1, {11, 12, 19, 39, 10}, {50, -1, 100, -1, 25}, {0, 0, 0, 0, 0}, {46, 0, 80, -1, 20}}}};
inline constexpr InstructionCounts cortex_m33 = cortex_m4;
}  // namespace gcc_12_Os
// clang-format on

}  // namespace attend
