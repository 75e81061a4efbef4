// The model of household commands: a small vocabulary and a small Llama in one file, which bench/app/train writes.
//
//   8 bytes      "ATHM0001", or "ATHM0002" where all weights are floats
//   int32 [10]   dim, hidden_dim, layers, heads, kv_heads, pieces, seq_len, first letter, first word, bytes of text
//   uint16 [pieces + 1]  where each piece begins in the text
//   text         the pieces, each with a zero behind it
//   matrix [pieces][dim]  embedding and classifier
//   for each layer: vector [dim] attention norm, matrices query, key, value, output, vector [dim] feed norm,
//                   matrices gate, up, down
//   vector [dim] final norm
//   for each layer, in files that `make quantise` has written: vector [2 + heads + 2 kv_heads] scales of the model in integers:
//                   of the attention's input and output, of queries, keys and values by heads
//
// Everything is little endian, and every part begins at a multiple of 16 bytes: zeros fill up. A vector is floats. A matrix
// [outputs][inputs] is a float for each row, then, as a part of its own, the rows as int8: the weight is their product. Where
// all weights are floats, a matrix is one part of [outputs][inputs] floats. So a program can compute with the file where it
// lies, as boards do; hosts pack the matrices first.
#pragma once

#include <string>
#include <utility>

#include "checkpoint.h"
#include "integer_scales.h"
#include "words.h"

namespace app {

struct Household {
  Words words;
  Checkpoint checkpoint;
  IntegerScales scales = {};  // empty where the file has none
};

// Throws Failure, with the file's name, when the file is not exactly what its own header asks for.
Household load_household(const std::string& path);

// The file with these scales in the place of those that it has.
std::string with_scales(const std::string& path, const IntegerScales& scales);

// The same with its matrices packed, as hosts compute fastest.
inline Household packed(Household household) {
  return {std::move(household.words), packed(household.checkpoint), std::move(household.scales)};
}

}  // namespace app
