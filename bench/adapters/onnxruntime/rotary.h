// Rotary positions by tables of cosines and sines, as models of ONNX have them.
#pragma once

#include "attention.h"

namespace attend_adapter::onnx {

struct RotaryTables {
  const float* cosines = nullptr;
  const float* sines = nullptr;
  int64_t rows = 0;          // positions
  int64_t pairs = 0;         // of a head's first numbers
  bool interleaved = false;  // neighbours are a pair; or number i and number pairs + i
};

// The tables of two inputs, [positions][pairs], or [batch][tokens][pairs], which have the rows of all tokens.
RotaryTables rotary_tables(const Tensor& cosines, const Tensor& sines, int axes);

// Writes the heads of each token to `to`, turned by row row_of(batch row, token) of the tables. `to` may be `from`.
template <class RowOf>
void turn(const Heads& from, const Heads& to, const RotaryTables& tables, const Call& call, const RowOf& row_of);

// Turns one token.
void turn_token(const Heads& from, const Heads& to, const RotaryTables& tables, int64_t row, int64_t token, int64_t of_table);

}  // namespace attend_adapter::onnx

#include "rows.h"

namespace attend_adapter::onnx {

template <class RowOf>
void turn(const Heads& from, const Heads& to, const RotaryTables& tables, const Call& call, const RowOf& row_of) {
  for_pieces(call, from.batch * from.tokens, double(from.heads * from.width), [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i)
      turn_token(from, to, tables, i / from.tokens, i % from.tokens, row_of(i / from.tokens, i % from.tokens));
  });
}

}  // namespace attend_adapter::onnx
