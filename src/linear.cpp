// Linear projections: which backend computes them; a projection in parts.
#include "attention/parts.h"
#include "backends.h"
#include "kernel/pack.h"
#include "numerics/formats.h"

namespace attend {
namespace core {
namespace {

using RunLinear = void (*)(const Linear&);

template <Format format, class Backend>
constexpr RunLinear projection_of() {
  switch (format) {
    case Format::float16:
      return Projections<Backend>::float16;
    case Format::bfloat16:
      return Projections<Backend>::bfloat16;
    case Format::int8:
      return Projections<Backend>::int8;
    case Format::float32:
      break;
  }
  return Projections<Backend>::float32;
}

template <Format format, class List>
struct Table;
template <Format format, class... Backend>
struct Table<format, BackendList<Backend...>> {
  static constexpr RunLinear projections[] = {projection_of<format, Backend>()...};
};

}  // namespace

// Where there is one backend, a program that projects holds nothing else.
template <Format format>
void run_linear(const Linear& linear) {
  constexpr auto& projections = Table<format, Backends>::projections;
  if constexpr (sizeof projections == sizeof(RunLinear)) {
    projections[0](linear);
  } else {
    projections[active_index()](linear);
  }
}

// Many tokens are cut by tokens; otherwise outputs are, at whole panels, so that a part reads only its weights.
template <Format format>
void run_linear_part(const Linear& linear, int part, int parts) {
  Linear of_part = linear;
  const int panels = panel_count(linear.outputs);
  if (linear.tokens > panels) {
    const int token = share_of(linear.tokens, part, parts).whole;
    of_part.input += token * linear.input_stride;
    of_part.output += token * linear.output_stride;
    of_part.tokens = share_of(linear.tokens, part + 1, parts).whole - token;
  } else {
    const int first = share_of(panels, part, parts).whole * panel_keys;
    const int end = at_most(share_of(panels, part + 1, parts).whole * panel_keys, linear.outputs);
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
