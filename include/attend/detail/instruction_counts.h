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
  int16_t state_columns[2];     // of a state of linear attention, that go together; where they decay and grow

  int16_t call, kv_head;            // of each call, and of each key/value head
  int16_t row_column;               // of each row and column: sums are cleared, and become outputs
  int16_t query_four, query_rest;   // of a row: four numbers of the query are widened; each of its last ones
  int16_t mask, whole;              // of a row that sees a part of a chunk only; what a tile of values takes more for 32 keys
  int16_t segment, segment_column;  // of a row, and of its columns: sums of 512 keys are added to those before
  Rows rows[2];                     // of 1 row, and of 2
  // Other calls, by the terms of worst_case.h: append, decode over a ring, projections, and linear attention with its loops
  // over columns: of 4 and of 1, where such a loop begins and for each dimension of keys.
  int16_t append[7], ring[13], projection[22], state[11], columns_of_state[6][4];
};

// clang-format off
// As GCC 12 compiles the sources one by one with -O2, and with -Os.
namespace gcc_12_O2 {
inline constexpr InstructionCounts cortex_m0_plus = {{2, 1}, 1, 1, 0, {4, 2}, 155, 17, 49, 0, -1, 425, 0, 320, 16,
  {{757, 1794, 0, 0, {31, 7, 33, 11, 11}, {21, 7, 30, 20, 9}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
   {1275, 3435, 0, 0, {26, 6, 33, 13, 11}, {35, 8, 35, 7, 13}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}},
  {60, 12, 30, 2, 388, 25, 9}, {13, 153, 582, -151, 900, -149, 124, 201, 2, 7, -2, 2, 0}, {81, 56, 8, 37, 93, 266, 0, 93, 75,
  4, 11, 0, 0, 0, 0, 10, 142, 1, 5, 0, 0, 6}, {83, 40, 344, 28, 34, 8, 250, 70, 185, 99, -95}, {{-28, -25, 23, -5}, {7, 22,
  11, 10}, {8, 71, 17, 23}, {23, 95, 20, 35}, {10, 17, 49, 10}, {6, 32, 35, 26}}};
inline constexpr InstructionCounts cortex_m3 = {{2, 2}, 3, 1, 1, {4, 4}, 121, 16, 18, 0, 0, 330, 1, 202, 17,
  {{287, 1267, 0, 36, {24, 5, 25, 1, 7}, {32, 9, 33, 4, 11}, {27, 6, 25, 5, 9}, {11, 5, 16, 8, 7}},
   {389, 2423, 0, 52, {32, 9, 38, 4, 10}, {56, 8, 56, 5, 15}, {43, 11, 38, 9, 12}, {11, 3, 24, 7, 9}}},
  {32, -8, 4, 41, 30, 3, 10}, {-10, 259, 349, -180, 161, 70, 114, 12, 0, -2, -2, 1, 0}, {82, 32, 6, 16, 70, 246, 4, 70, 41, 1,
  10, 0, 0, 0, 0, 7, 51, 2, 0, 0, 0, 6}, {15, 27, 174, 13, 24, 6, 125, 42, 80, 47, -48}, {{-15, -12, 8, -2}, {-6, 16, 16, 7},
  {1, 36, 17, 12}, {5, 43, 12, 18}, {7, 3, 19, 3}, {3, 10, 15, 8}}};
inline constexpr InstructionCounts cortex_m4 = {{2, 2}, 4, 2, 0, {4, 4}, 118, 20, 12, 12, 9, 333, -23, 257, 13,
  {{302, 950, 0, 15, {11, 12, 16, 17, 4}, {55, 0, 79, 3, 23}, {0, 0, 0, 0, 0}, {21, 0, 40, 0, 10}},
   {434, 1710, 2, 29, {11, 11, 15, 35, 8}, {55, 0, 79, 2, 23}, {0, 0, 0, 0, 0}, {41, -1, 80, -1, 20}}},
  {38, -10, 3, 37, 30, 3, 10}, {-40, 237, 414, -236, 238, -1, 115, 110, 1, -1, 0, 1, 0}, {74, 51, 5, 19, 132, 231, 4, 43, 85,
  4, 10, -1, 0, 0, -2, 7, 50, 1, -1, -1, -1, 3}, {14, 25, 172, 14, 24, 6, 124, 45, 82, 49, -49}, {{-16, -10, 10, -2}, {-4, 16,
  16, 7}, {1, 36, 16, 12}, {9, 43, 12, 18}, {3, 5, 19, 3}, {-1, 10, 15, 8}}};
inline constexpr InstructionCounts cortex_m33 = {{2, 2}, 4, 2, 0, {4, 4}, 122, 16, 12, 12, 9, 333, -23, 226, 15,
  {{301, 956, 0, 15, {11, 12, 16, 16, 4}, {55, 0, 79, 3, 23}, {0, 0, 0, 0, 0}, {22, 0, 40, 0, 10}},
   {428, 1721, 2, 30, {11, 11, 15, 33, 8}, {55, -1, 79, 2, 23}, {0, 0, 0, 0, 0}, {42, 0, 80, -1, 20}}},
  {32, -9, 4, 41, 30, 3, 10}, {-31, 278, 400, -233, 242, 6, 114, 77, 1, -2, -1, 1, 0}, {74, 50, 5, 20, 133, 231, 4, 43, 85, 4,
  10, -1, 0, 0, -2, 7, 51, 2, 1, -1, -1, 3}, {15, 28, 173, 14, 24, 6, 126, 44, 77, 49, -49}, {{-17, -10, 9, -2}, {-6, 16, 16,
  7}, {2, 36, 17, 12}, {5, 43, 12, 18}, {5, 5, 19, 3}, {-1, 10, 14, 8}}};
}  // namespace gcc_12_O2
namespace gcc_12_Os {
inline constexpr InstructionCounts cortex_m0_plus = {{2, 1}, 1, 1, 0, {1, 1}, 158, 15, 56, 0, 0, 397, 0, 268, 31,
  {{714, 2145, 0, 0, {53, 18, 33, 2, 16}, {28, 0, 61, 0, 12}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
   {1272, 4150, 0, 0, {41, 18, 33, 2, 15}, {38, 9, 35, 0, 16}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}},
  {51, 49, 35, 4, 386, 25, 10}, {77, -288, 2094, -1508, -115, 329, 150, 422, 23, -36, -8, 0, 0}, {430, 0, 12, 5, 89, 237, 1,
  88, 65, 8, 19, 0, 0, 0, 0, 11, 141, 1, 1, 0, 4, 9}, {655, -7, 862, 15, 21, 10, 484, 85, 154, 90, -377}, {{23, 22, 0, 0},
  {24, 13, 0, 0}, {39, 30, 0, 0}, {29, 41, 0, 0}, {36, 35, 0, 0}, {25, 46, 0, 0}}};
inline constexpr InstructionCounts cortex_m3 = {{2, 2}, 3, 1, 0, {4, 4}, 120, 6, 28, 0, 0, 358, 0, 237, 22,
  {{254, 1576, 0, 0, {32, 0, 50, 0, 8}, {40, 0, 55, 0, 13}, {0, 0, 0, 0, 0}, {23, 0, 39, 0, 9}},
   {369, 3040, 0, -2, {47, 0, 89, 0, 12}, {67, 0, 115, 0, 24}, {0, 0, 0, 0, 0}, {33, 0, 49, 0, 12}}},
  {53, 61, -6, 37, 29, 5, 13}, {2, -9, 662, -355, 85, 51, 117, 373, 4, -1, 1, 2, -14}, {340, 44, 5, 30, 74, 221, 10, 73, 59,
  2, 18, 10, 13, 0, 0, 9, 55, 0, 0, 0, 7, 5}, {38, -1, 185, 19, 31, 7, 141, 49, 75, 52, -45}, {{12, -19, 15, -2}, {16, 21, 13,
  9}, {0, 49, 10, 17}, {-6, 54, 4, 23}, {-2, 9, 9, 7}, {-10, 17, 4, 12}}};
inline constexpr InstructionCounts cortex_m4 = {{2, 2}, 4, 2, 0, {4, 4}, 119, 2, 18, 14, 10, 333, 0, 257, 23,
  {{264, 1082, 0, 0, {11, 12, 19, 20, 5}, {49, 0, 100, 0, 25}, {0, 0, 0, 0, 0}, {23, 0, 40, 0, 10}},
   {392, 1981, 0, 1, {11, 12, 19, 39, 10}, {50, -1, 100, -1, 25}, {0, 0, 0, 0, 0}, {46, 0, 80, -1, 20}}},
  {51, 60, -5, 31, 30, 5, 14}, {-18, 184, 447, -191, 111, 38, 114, 241, 1, 0, 1, 1, 0}, {338, 54, 4, 35, 100, 202, 6, 78, 113,
  6, 14, 0, 0, -1, -4, 7, 55, 1, 2, -2, -3, 6}, {38, -4, 191, 18, 31, 7, 144, 50, 69, 54, -48}, {{8, -19, 14, -2}, {12, 21,
  12, 9}, {-3, 53, 8, 17}, {-11, 58, 3, 23}, {-1, 9, 12, 7}, {-15, 16, 2, 12}}};
inline constexpr InstructionCounts cortex_m33 = cortex_m4;
}  // namespace gcc_12_Os
// clang-format on

}  // namespace attend
