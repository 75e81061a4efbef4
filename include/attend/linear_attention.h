// Attention whose memory never grows: each head keeps a matrix, its state, that every token decays, corrects and reads, with
// the same bits on every target and in any cut into calls. It needs src/linear_attention.
//
//   struct Mixer {                                     // Qwen3-Next has 16 key heads, 32 value heads, 128 x 128
//     static constexpr auto rule = attend::LinearRule::gated_delta;
//     static constexpr int query_heads = 2, kv_heads = 2, value_heads = 4, head_dim = 32, value_dim = 32;
//   };
#pragma once

// In the order in which to read them: clang-format must not sort them.
// clang-format off
#include "linear_attention/linear_shape.h"
#include "linear_attention/linear_state.h"
#include "linear_attention/state_numbers.h"
#include "linear_attention/linear_calls.h"
#include "linear_attention/convolution.h"
#include "linear_attention/decay_gates.h"
#include "linear_attention/gate_tables.h"
#include "linear_attention/integer_convolution.h"
// clang-format on
