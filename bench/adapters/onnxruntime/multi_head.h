// What MultiHeadAttention and Attention of ONNX Runtime share: masks of whole numbers, and the call.
#pragma once

#include "attention.h"

namespace attend_adapter::onnx {

// Numbers of each key, of which 0 masks it: [batch] or [2 * batch] are lengths, and where each row begins; [batch][keys];
// [batch][queries][keys]; [batch][1][most][most], of which queries begin at `past`. Masked keys are hidden exactly, as
// mask_filter_value hides them.
void mask_numbers(AttentionCall& attention, const Tensor& mask, int64_t past, WorkMemory& memory);

// Refuses a mask_filter_value that does not hide what is masked: it is added to scores.
void expect_masking(const Attributes& attributes);

// Adds a bias of each head's width to tokens, and writes them to memory.
Heads with_bias(const Heads& from, const float* bias, WorkMemory& memory, const Call& call);

}  // namespace attend_adapter::onnx
