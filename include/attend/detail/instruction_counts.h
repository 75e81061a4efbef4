// Instructions of the loops of calls in integers: worst_case.h adds them up, `make worst-cases` prints the constants.
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
  // Projections, their tiles of 1 token and of 2, and append, in sixteenths of an instruction: worst_case.h names them.
  int16_t project[8], projected[2][10], append[7];
};

// clang-format off
// As GCC 12 compiles the sources one by one with -O2, and with -Os.
namespace gcc_12_O2 {
inline constexpr InstructionCounts cortex_m0_plus = {{2, 1}, 1, 1, 0, 152, 17, 49, 0, -1, 425, 0, 319, 16,
  {{758, 1794, 0, 0, {31, 7, 33, 11, 11}, {21, 7, 30, 20, 9}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
   {1276, 3435, 0, 0, {26, 6, 33, 13, 11}, {35, 8, 35, 7, 13}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}},
  {1815, 449, 145, 2265, 4064, 145, 570, 153}, {{1478, 1478, 127, 485, 531, 0, 193, 177, 0, 0}, {4418, 1157, 354, 354, 531, 0,
  273, 177, 0, 0}}, {632, 218, 638, 195, 1211, 7736, 486}};
inline constexpr InstructionCounts cortex_m3 = {{2, 2}, 3, 1, 1, 121, 16, 18, 0, 0, 330, 1, 202, 17,
  {{287, 1267, 0, 36, {24, 5, 25, 1, 7}, {32, 9, 33, 4, 11}, {27, 6, 25, 5, 9}, {11, 5, 16, 8, 7}},
   {389, 2423, 0, 52, {32, 9, 38, 4, 10}, {56, 8, 56, 5, 15}, {43, 11, 38, 9, 12}, {11, 3, 24, 7, 9}}},
  {1590, 417, 97, 820, 3535, 129, 424, 114}, {{1077, 1077, 96, 440, 402, 0, 76, 113, 0, 0}, {3889, 820, 193, 675, 611, 0, 65,
  161, 0, 0}}, {256, 71, 68, 38, 859, 753, 64}};
inline constexpr InstructionCounts cortex_m4 = {{2, 2}, 4, 2, 0, 118, 20, 12, 12, 9, 333, -23, 257, 13,
  {{302, 950, 0, 15, {11, 12, 16, 17, 4}, {55, 0, 79, 3, 23}, {0, 0, 0, 0, 0}, {21, 0, 40, 0, 10}},
   {434, 1710, 2, 29, {11, 11, 15, 35, 8}, {55, 0, 79, 2, 23}, {0, 0, 0, 0, 0}, {41, -1, 80, -1, 20}}},
  {1588, 406, 95, 803, 3255, 98, 370, 116}, {{1883, 909, 103, 385, 241, 0, 226, 69, 177, 662}, {3659, 1419, 274, 229, 242, 33,
  451, 141, 353, 1361}}, {256, 72, 67, 38, 877, 723, 51}};
inline constexpr InstructionCounts cortex_m33 = {{2, 2}, 4, 2, 0, 123, 16, 12, 12, 9, 333, -23, 226, 15,
  {{301, 956, 0, 15, {11, 12, 16, 16, 4}, {55, 0, 79, 3, 23}, {0, 0, 0, 0, 0}, {22, 0, 40, 0, 10}},
   {428, 1721, 2, 30, {11, 11, 15, 33, 8}, {55, -1, 79, 2, 23}, {0, 0, 0, 0, 0}, {42, 0, 80, -1, 20}}},
  {1588, 421, 95, 819, 3254, 98, 352, 116}, {{1899, 909, 104, 384, 241, 0, 226, 69, 177, 662}, {3658, 1421, 275, 226, 242, 33,
  451, 141, 353, 1361}}, {256, 76, 67, 36, 847, 761, 63}};
}  // namespace gcc_12_O2
namespace gcc_12_Os {
inline constexpr InstructionCounts cortex_m0_plus = {{2, 1}, 1, 1, 0, 158, 15, 56, 0, 0, 397, 0, 268, 31,
  {{714, 2145, 0, 0, {53, 18, 33, 2, 16}, {28, 0, 61, 0, 12}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
   {1272, 4150, 0, 0, {41, 18, 33, 2, 15}, {38, 9, 35, 0, 16}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}},
  {6914, 465, 161, 2250, 3550, 176, 482, 175}, {{1403, 1403, 128, 1109, 531, 0, 32, 260, 0, 0}, {3984, 1060, 643, 643, 531, 0,
  48, 306, 0, 0}}, {514, 227, 655, 225, 1432, 7868, 494}};
inline constexpr InstructionCounts cortex_m3 = {{2, 2}, 3, 1, 0, 120, 6, 28, 0, 0, 358, 0, 237, 22,
  {{254, 1576, 0, 0, {32, 0, 50, 0, 8}, {40, 0, 55, 0, 13}, {0, 0, 0, 0, 0}, {23, 0, 39, 0, 9}},
   {369, 3040, 0, -2, {47, 0, 89, 0, 12}, {67, 0, 115, 0, 24}, {0, 0, 0, 0, 0}, {33, 0, 49, 0, 12}}},
  {5831, 433, 129, 884, 3198, 129, 409, 145}, {{1182, 1182, 130, 625, 964, 0, 0, 129, 0, 0}, {3487, 1124, 369, 917, 1639, 0,
  0, 306, 0, 0}}, {256, 30, 107, 77, 964, 711, 68}};
inline constexpr InstructionCounts cortex_m4 = {{2, 2}, 4, 2, 0, 119, 2, 18, 14, 10, 333, 0, 257, 23,
  {{264, 1082, 0, 0, {11, 12, 19, 20, 5}, {49, 0, 100, 0, 25}, {0, 0, 0, 0, 0}, {23, 0, 40, 0, 10}},
   {392, 1981, 0, 1, {11, 12, 19, 39, 10}, {50, -1, 100, -1, 25}, {0, 0, 0, 0, 0}, {46, 0, 80, -1, 20}}},
  {5852, 418, 124, 880, 2890, 137, 387, 144}, {{1346, 1801, 172, 244, 309, 15, 293, 69, 175, 718}, {3226, 2030, 392, 165, 306,
  0, 579, 144, 385, 1352}}, {256, 60, 175, 50, 1011, 691, 58}};
inline constexpr InstructionCounts cortex_m33 = cortex_m4;
}  // namespace gcc_12_Os
// clang-format on

}  // namespace attend
