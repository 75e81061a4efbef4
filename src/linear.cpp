// Linear projections: which backend computes them; a projection in parts.
#include "attention/parts.h"
#include "backends.h"
#include "kernel/pack.h"
#include "numerics/formats.h"

namespace attend {
namespace core {
namespace {

template <Format format>
struct Projection {
  template <class Backend>
  struct Operation {
    static constexpr auto function = format == Format::float16    ? &Projections<Backend>::float16
                                     : format == Format::bfloat16 ? &Projections<Backend>::bfloat16
                                     : format == Format::int8     ? &Projections<Backend>::int8
                                                                  : &Projections<Backend>::float32;
  };
};

}  // namespace

template <Format format>
void run_linear(const Linear& linear) {
  ActiveBackend::call<Projection<format>::template Operation>(linear);
}

// Many tokens are cut by tokens; otherwise outputs are, at whole panels, so that a part reads only its weights.
template <Format format>
void run_linear_part(const Linear& linear, int part, int parts) {
  Linear of_part = linear;
  const int panels = panel_count(linear.outputs);
  if (linear.tokens > panels) {
    const int token = count_before(linear.tokens, part, parts).whole;
    of_part.input += token * linear.input_stride;
    of_part.output += token * linear.output_stride;
    of_part.tokens = count_before(linear.tokens, part + 1, parts).whole - token;
  } else {
    const int first = count_before(panels, part, parts).whole * panel_keys;
    const int end = at_most(count_before(panels, part + 1, parts).whole * panel_keys, linear.outputs);
    const ptrdiff_t stride = linear.panels ? linear.inputs : linear.weight_stride;
    of_part.weights = static_cast<const NumberOf<format>*>(linear.weights) + first * stride;
    if (linear.scales != nullptr) of_part.scales += first;
    if (linear.bias != nullptr) of_part.bias += first;
    of_part.output += first;
    of_part.outputs = end - first;
    if (of_part.outputs <= 0) return;
  }
  run_linear<format>(of_part);
}

template void run_linear<Format::float32>(const Linear&);
template void run_linear<Format::float16>(const Linear&);
template void run_linear<Format::bfloat16>(const Linear&);
template void run_linear<Format::int8>(const Linear&);
template void run_linear_part<Format::float32>(const Linear&, int, int);
template void run_linear_part<Format::float16>(const Linear&, int, int);
template void run_linear_part<Format::bfloat16>(const Linear&, int, int);
template void run_linear_part<Format::int8>(const Linear&, int, int);

}  // namespace core
}  // namespace attend
