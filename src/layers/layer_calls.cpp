// Layers: which backend computes projections, in parts too, normalisation, residual addition and activations; and
// weights in other layouts and formats.
#include "portable_layers.h"

namespace attend::core {
namespace {

template <Format format>
struct Projection;
#define ATTEND_PROJECTION(format)                    \
  template <>                                        \
  struct Projection<Format::format> {                \
    ATTEND_ENTRY_POINT(EntryPoint, project_##format) \
  };
ATTEND_EACH_FORMAT(ATTEND_PROJECTION)
#undef ATTEND_PROJECTION

#if !ATTEND_EMBEDDED
ATTEND_ENTRY_POINT(RunIntegerLinear, run_integer_linear)
ATTEND_ENTRY_POINT(RunIntegerSum, run_integer_sum)
#endif

ATTEND_ENTRY_POINT(RmsNorm, rms_norm)
ATTEND_ENTRY_POINT(LayerNorm, layer_norm)
ATTEND_ENTRY_POINT(Add, add)

template <Activation activation>
struct Activate;
#define ATTEND_ACTIVATION(name)          \
  template <>                            \
  struct Activate<Activation::name> {    \
    ATTEND_ENTRY_POINT(EntryPoint, name) \
  };
ATTEND_EACH_ACTIVATION(ATTEND_ACTIVATION)
#undef ATTEND_ACTIVATION

}  // namespace

template <Format format>
void run_linear(const Linear& linear) {
  ActiveLayers::call<Projection<format>::template EntryPoint>(linear);
}

// Many tokens are cut by tokens; otherwise outputs are, at whole panels, so that a part reads only its weights.
template <Format format>
void run_linear_part(const Linear& linear, int part, int parts) {
  Linear share = linear;
  const int panels = panel_count(linear.outputs);
  if (linear.tokens > panels) {
    const int token = count_before(linear.tokens, part, parts).whole;
    share.input += token * linear.input_stride;
    share.output += token * linear.output_stride;
    share.tokens = count_before(linear.tokens, part + 1, parts).whole - token;
  } else {
    const int first = count_before(panels, part, parts).whole * panel_keys;
    const int end = at_most(count_before(panels, part + 1, parts).whole * panel_keys, linear.outputs);
    const ptrdiff_t stride = linear.panels ? linear.inputs : linear.weight_stride;
    using Number = NumberOf<format>;
    share.weights = static_cast<const Number*>(linear.weights) + first * (stride / group_inputs<Number>);
    if (linear.scales != nullptr) share.scales += first;
    if (linear.bias != nullptr) share.bias += first;
    share.output += first;
    share.outputs = end - first;
    if (share.outputs <= 0) return;
  }
  run_linear<format>(share);
}

#define ATTEND_LINEAR(format)                              \
  template void run_linear<Format::format>(const Linear&); \
  template void run_linear_part<Format::format>(const Linear&, int, int);
ATTEND_EACH_FORMAT(ATTEND_LINEAR)
#undef ATTEND_LINEAR

#if !ATTEND_EMBEDDED
template <int output_bytes>
void run_integer_linear(const IntegerLinear& linear) {
  ActiveIntegerLayers::call<RunIntegerLinear>(linear, output_bytes, false);
}
template <int output_bytes>
void run_packed_integer_linear(const IntegerLinear& linear) {
  ActiveIntegerLayers::call<RunIntegerLinear>(linear, output_bytes, true);
}

template void run_integer_linear<1>(const IntegerLinear&);
template void run_integer_linear<2>(const IntegerLinear&);
template void run_integer_linear<4>(const IntegerLinear&);
template void run_packed_integer_linear<1>(const IntegerLinear&);
template void run_packed_integer_linear<2>(const IntegerLinear&);
template void run_packed_integer_linear<4>(const IntegerLinear&);

template <class A, class B, class Output>
void run_integer_sum(const IntegerSum& sum) {
  ActiveIntegerLayers::call<RunIntegerSum>(sum, integer_sum_types<A, B, Output>());
}

#define ATTEND_INTEGER_SUM(A, B, Output) template void run_integer_sum<A, B, Output>(const IntegerSum&);
ATTEND_EACH_INTEGER_SUM(ATTEND_INTEGER_SUM)
#undef ATTEND_INTEGER_SUM
#endif

template <Format format>
void pack_weights(const void* rows, ptrdiff_t stride, int outputs, int inputs, void* panels) {
  const auto* const from = static_cast<const NumberOf<format>*>(rows);
  auto* to = static_cast<NumberOf<format>*>(panels);
  for (int first = 0; first < outputs; first += panel_keys) {
    for (int input = 0; input < inputs; ++input) {
      for (int output = first; output < first + panel_keys; ++output) {
        *to++ = output < outputs ? from[output * stride + input] : NumberOf<format>{};
      }
    }
  }
}

template <>
void pack_weights<Format::int4>(const void* rows, ptrdiff_t stride, int outputs, int inputs, void* panels) {
  const Int4Rows from = {static_cast<const Int4Group*>(rows), stride / int4_group};
  auto* to = static_cast<Int4Panel*>(panels);
  for (int first = 0; first < outputs; first += panel_keys) {
    for (int group = 0; group < inputs / int4_group; ++group) {
      pack_int4_group(from, first, at_most(outputs - first, panel_keys), group, *to++);
    }
  }
}

template void pack_weights<Format::float32>(const void*, ptrdiff_t, int, int, void*);
template void pack_weights<Format::float16>(const void*, ptrdiff_t, int, int, void*);
template void pack_weights<Format::bfloat16>(const void*, ptrdiff_t, int, int, void*);
template void pack_weights<Format::int8>(const void*, ptrdiff_t, int, int, void*);

namespace {

// Whether all weights fit a format that ends at `end`.
bool rows_fit(const float* rows, int outputs, int inputs, uint32_t end) {
  bool fit = true;
  for (int output = 0; output < outputs && fit; ++output) fit = all_fit(rows + ptrdiff_t(output) * inputs, inputs, end);
  return fit;
}

template <Format format>
ATTEND_NOINLINE void convert_rows(const float* rows, int outputs, int inputs, void* converted, float* scales, bool& done) {
  auto* const to = static_cast<NumberOf<format>*>(converted);
  done = !has_end(format) || rows_fit(rows, outputs, inputs, too_large<NumberOf<format>>);
  if (!done) return;
  for (int output = 0; output < outputs; ++output) {
    const ptrdiff_t at = ptrdiff_t(output) * inputs;
    narrow_row_to<format>(rows + at, inputs, to + at, 1, scales + (format == Format::int8 ? output : 0), false);
  }
}

template <>
ATTEND_NOINLINE void convert_rows<Format::int4>(const float* rows, int outputs, int inputs, void* converted, float* /*scales*/,
                                                bool& done) {
  done = rows_fit(rows, outputs, inputs, too_large<Int4Group>);
  if (!done) return;
  auto* const to = static_cast<Int4Group*>(converted);
  const ptrdiff_t groups = ptrdiff_t(outputs) * inputs / int4_group;
  for (ptrdiff_t i = 0; i < groups; ++i) narrow_to_group(rows + i * int4_group, to[i]);
}

}  // namespace

template <Format format>
bool convert_weights(const float* rows, int outputs, int inputs, void* converted, float* scales) {
  bool done;
  in_float_environment([&]() ATTEND_INLINE_LAMBDA { convert_rows<format>(rows, outputs, inputs, converted, scales, done); });
  return done;
}

template bool convert_weights<Format::float16>(const float*, int, int, void*, float*);
template bool convert_weights<Format::bfloat16>(const float*, int, int, void*, float*);
template bool convert_weights<Format::int8>(const float*, int, int, void*, float*);
template bool convert_weights<Format::int4>(const float*, int, int, void*, float*);

void rms_norm(const Normalisation& normalisation) { ActiveLayers::call<RmsNorm>(normalisation); }

void layer_norm(const Normalisation& normalisation) { ActiveLayers::call<LayerNorm>(normalisation); }

void multiply(const float* x, const float* by, int span, int count, float* to) {
  in_float_environment([=]() ATTEND_NOINLINE {
    for (int i = 0; span == 1 && i < count; ++i) to[i] = Scalar::mul(x[i], by[i]);
    for (int i = 0, at = 0; span > 1 && i < count; ++at) {
      for (const int end = i + span; i < end; ++i) to[i] = Scalar::mul(x[i], by[at]);
    }
  });
}

void scale(float factor, int count, float* numbers) {
  in_float_environment([=]() ATTEND_NOINLINE {
    for (int i = 0; i < count; ++i) numbers[i] = Scalar::mul(factor, numbers[i]);
  });
}

void logarithmic_factors(float beta, int count, float* factors) {
  in_float_environment([=]() ATTEND_NOINLINE {
    for (int k = 0; k < count; ++k) factors[k] = Scalar::fma(beta, log_of(whole_to_float(k + 1), 0.0f, false), 1.0f);
  });
}

namespace {

ATTEND_NOINLINE void transform_rows(const float* from, int rows, int width, float* to) {
  using F = FloatArithmetic;
  const int block = width & -width;
  float scale = 1.0f;
  for (int n = block; n > 1; n >>= 2) scale = F::mul(scale, n == 2 ? 0.70710678f : 0.5f);
  for (ptrdiff_t at = 0, end = ptrdiff_t(rows) * width; at < end; at += block, from += block, to += block) {
    if (to != from) ATTEND_MEMCPY(to, from, size_t(block) * sizeof *to);
    for (int apart = 1; apart < block; apart *= 2) {
      for (int first = 0; first < block; first += 2 * apart) {
        for (int i = first; i < first + apart; ++i) {
          const float a = to[i], b = to[i + apart];
          to[i] = F::add(a, b);
          to[i + apart] = F::sub(a, b);
        }
      }
    }
    for (int i = 0; i < block; ++i) to[i] = F::mul(to[i], scale);
  }
}

}  // namespace

void hadamard(const float* from, int rows, int width, float* to) {
  in_float_environment(transform_rows, from, rows, width, to);
}

void add(const float* x, float factor, int count, float* y) { ActiveLayers::call<Add>(x, factor, count, y); }

template <Activation activation>
void activate(const float* from, const float* by, int count, float* to) {
  ActiveLayers::call<Activate<activation>::template EntryPoint>(from, by, count, to);
}

#define ATTEND_ACTIVATION(name) template void activate<Activation::name>(const float*, const float*, int, float*);
ATTEND_EACH_ACTIVATION(ATTEND_ACTIVATION)
#undef ATTEND_ACTIVATION

}  // namespace attend::core
