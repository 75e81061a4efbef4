// An attention node of either runtime as a problem of the library: made when a node is prepared, once for all calls with its
// shapes. Memory belongs to the caller. With int8 tensors nothing but constants is computed in floats, and these once.
#pragma once

#include <attend/c/integer.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "attributes.h"
#include "tensors.h"

namespace attend_tflite {

// Attributes of odml.scaled_dot_product_attention.
struct AttentionAttributes {
  float scale = 0.0f;      // of the scores; 0: 1 / sqrt(head_dim)
  float logit_cap = 0.0f;  // scores become cap * tanh(score / cap); 0: they do not
};

inline Refusal read(const void* data, std::size_t size, AttentionAttributes& attributes) {
  Refusal refused;
  const bool whole = read_attributes(data, size, [&](const char* name, double number) {
    const bool is_scale = same_name(name, "scale");
    if (!is_scale && !same_name(name, "logit_cap")) {
      refused = {"attributes", "there is one beside scale and logit_cap, and it could change the result"};
    } else if (!(number >= 0.0 && number <= 1e30)) {
      refused = {is_scale ? "scale" : "logit_cap", "a number from 0 to 1e30 is needed"};
    } else {
      (is_scale ? attributes.scale : attributes.logit_cap) = float(number);
    }
    return !refused;
  });
  if (!refused && !whole) refused = {"attributes", "they are damaged: a FlexBuffers map of numbers is needed"};
  return refused;
}

// What calls need of a node beside its tensors' addresses.
struct Attention {
  attend_problem problem;
  attend_integer_constants constants;
  std::ptrdiff_t mask_numbers;  // of a mask that each call turns into bytes, for integers; 0: none
  TfLiteType mask_type;
  int mask_zero;   // of an int8 mask: the number that means 0
  int mask_below;  // and the largest one that hides a key
};

// Where masks of integer attention begin to hide: integers have no sum of a score and a mask, so that a mask shows or hides.
constexpr double hiding = -1000.0;
constexpr Refusal neither_shown_nor_hidden = {
    "mask", "beside int8 queries its numbers are 0, which shows a key, or -1000 and less, which hides it"};

// Type, head_dim and value_dim, scale and cap, and the scales of int8 tensors. The extents and strides are the caller's to set.
inline Refusal start(Attention& attention, const AttentionAttributes& attributes, const TfLiteTensor& query,
                     const TfLiteTensor& key, const TfLiteTensor& value, const TfLiteTensor& output, int head_dim,
                     int value_dim) {
  attend_problem& problem = attention.problem;
  attention.mask_numbers = 0;
  attention.mask_type = kTfLiteNoType;
  if (query.type != kTfLiteFloat32 && query.type != kTfLiteInt8) return {"query", "its type is neither float32 nor int8"};
  if (key.type != query.type) return {"key", "its type is not the query's"};
  if (value.type != query.type) return {"value", "its type is not the query's"};
  if (output.type != query.type) return {"output", "its type is not the query's"};
  if (query.type == kTfLiteFloat32) {
    attend_problem_init(&problem, sizeof problem);
    if (attributes.scale != 0.0f) problem.scale = attributes.scale;
    if (attributes.logit_cap != 0.0f) problem.soft_cap = attributes.logit_cap;
  } else {
    attend_integer_problem_init(&problem, sizeof problem);
    if (attributes.logit_cap != 0.0f) return {"logit_cap", "attention of int8 tensors has none"};
    Scale q, k, v, o;
    if (!scale_of(query, &q)) return {"query", "an int8 tensor needs one scale and one zero point"};
    if (!scale_of(key, &k)) return {"key", "an int8 tensor needs one scale and one zero point"};
    if (!scale_of(value, &v)) return {"value", "an int8 tensor needs one scale and one zero point"};
    if (!scale_of(output, &o)) return {"output", "an int8 tensor needs one scale and one zero point"};
    attend_integer_scales scales;
    attend_integer_scales_init(&scales, sizeof scales);
    scales.query_scale = q.scale, scales.query_zero_point = q.zero;
    scales.key_scale = k.scale, scales.key_zero_point = k.zero;
    scales.value_scale = v.scale, scales.value_zero_point = v.zero;
    scales.output_scale = o.scale, scales.output_zero_point = o.zero;
    if (attributes.scale != 0.0f) scales.scale = double(attributes.scale);
    const Refusal refused = refusal_of(attend_integer_prepare(&scales, head_dim, &attention.constants));
    if (refused) return refused;
    problem.constants = &attention.constants;
  }
  problem.head_dim = head_dim;
  problem.value_dim = value_dim;
  return {};
}

// Strides of a mask that is [batch][head][query][key], 0 where an axis is shared; keys lie side by side.
struct MaskStrides {
  std::ptrdiff_t batch, head, query;
};

// Of float32, which is added to the scores, or bool, true for what is seen; beside int8 queries also of int8. numbers: all that
// it has.
inline Refusal set_mask(Attention& attention, const TfLiteTensor& mask, bool integers, const MaskStrides& strides,
                        std::ptrdiff_t numbers) {
  attend_problem& problem = attention.problem;
  attention.mask_type = mask.type;
  if (mask.type == kTfLiteFloat32 && !integers) {
    problem.bias.batch_stride = strides.batch;
    problem.bias.head_stride = strides.head;
    problem.bias.query_stride = strides.query;
    problem.bias.keys = problem.keys;
    return {};
  }
  if (mask.type == kTfLiteInt8 && integers) {
    Scale scale;
    if (!scale_of(mask, &scale) || !(scale.scale > 0.0)) return {"mask", "an int8 tensor needs one scale and one zero point"};
    const double steps = -hiding / scale.scale;
    int whole = steps > 1000.0 ? 1000 : int(steps);
    if (double(whole) < steps) ++whole;
    attention.mask_zero = scale.zero;
    attention.mask_below = scale.zero - whole;
  } else if (mask.type != kTfLiteBool && !(mask.type == kTfLiteFloat32 && integers)) {
    return {"mask", integers ? "its type is none of bool, float32 and int8" : "its type is neither float32 nor bool"};
  }
  problem.mask.kind = ATTEND_MASK_BYTES;
  problem.mask.batch_stride = strides.batch;
  problem.mask.head_stride = strides.head;
  problem.mask.query_stride = strides.query;
  problem.mask.keys = problem.keys;
  if (mask.type != kTfLiteBool) attention.mask_numbers = numbers;
  return {};
}

// Turns a mask of numbers into bytes. False where one neither shows nor hides. Floats are read by their bits.
inline bool convert_mask(const Attention& attention, const void* mask, std::uint8_t* bytes) {
  for (std::ptrdiff_t i = 0; i < attention.mask_numbers; ++i) {
    bool shown, hidden;
    if (attention.mask_type == kTfLiteInt8) {
      const int number = static_cast<const std::int8_t*>(mask)[i];
      shown = number == attention.mask_zero;
      hidden = number <= attention.mask_below;
    } else {
      std::uint32_t bits;
      std::memcpy(&bits, static_cast<const std::uint8_t*>(mask) + 4 * i, sizeof bits);
      shown = bits << 1 == 0;
      hidden = bits >= 0xc47a0000u && bits <= 0xff800000u;  // -1000 ... minus infinity
    }
    if (shown == hidden) return false;
    bytes[i] = shown;
  }
  return true;
}

// The addresses of a call. mask is null without one; converted: mask_numbers bytes, of masks that are turned into bytes.
struct Addresses {
  const void *query, *key, *value, *mask;
  void* output;
  std::uint8_t* converted;
};
inline Refusal bind(Attention& attention, const Addresses& addresses) {
  attend_problem& problem = attention.problem;
  problem.query.data = addresses.query;
  problem.key.data = addresses.key;
  problem.value.data = addresses.value;
  problem.output.data = addresses.output;
  if (attention.mask_type == kTfLiteNoType) return {};
  if (addresses.mask == nullptr) return {"mask", "it has no data"};
  if (attention.mask_numbers > 0) {
    if (!convert_mask(attention, addresses.mask, addresses.converted)) return neither_shown_nor_hidden;
    problem.mask.data = addresses.converted;
  } else if (attention.mask_type == kTfLiteBool) {
    problem.mask.data = addresses.mask;
  } else {
    problem.bias.data = static_cast<const float*>(addresses.mask);
  }
  return {};
}

// Checks the problem before there are addresses, by ones that nothing reads: inputs at the first, the output behind them.
// bytes: of work memory.
inline Refusal check(Attention& attention, std::size_t input_bytes, std::size_t* bytes) {
  Attention trial = attention;
  trial.mask_numbers = 0;  // what a mask is turned into is as good as bytes
  if (trial.problem.mask.kind == ATTEND_MASK_BYTES) trial.mask_type = kTfLiteBool;
  const std::size_t rounded = (input_bytes / ATTEND_ALIGNMENT + 2) * ATTEND_ALIGNMENT;
  const auto address = [](std::size_t at) { return reinterpret_cast<void*>(std::uintptr_t(at)); };
  const void* const inputs = address(ATTEND_ALIGNMENT);
  if (trial.problem.constants != nullptr) trial.problem.constants = &trial.constants;
  const Refusal refused = bind(trial, {inputs, inputs, inputs, inputs, address(rounded), nullptr});
  if (refused) return refused;
  *bytes = attend_workspace_size(&trial.problem);
  return refusal_of(attend_check(&trial.problem));
}

}  // namespace attend_tflite
