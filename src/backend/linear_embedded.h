// The projections of an embedded processor's backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../layer/linear_embedded.h"

template <>
void attend::core::Projections<Backend>::float32(const Linear& linear) {
  EmbeddedLinear<Isa, float>(linear).run();
}
template <>
void attend::core::Projections<Backend>::float16(const Linear& linear) {
  EmbeddedLinear<Isa, Half>(linear).run();
}
template <>
void attend::core::Projections<Backend>::bfloat16(const Linear& linear) {
  EmbeddedLinear<Isa, Bfloat>(linear).run();
}
template <>
void attend::core::Projections<Backend>::int8(const Linear& linear) {
  EmbeddedLinear<Isa, int8_t>(linear).run();
}
