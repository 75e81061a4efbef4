// The projections of a host's backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../layer/linear_host.h"

template <>
void attend::core::Projections<Backend>::float32(const Linear& linear) {
  HostLinear<Isa, float>(linear).run();
}
template <>
void attend::core::Projections<Backend>::float16(const Linear& linear) {
  HostLinear<Isa, Half>(linear).run();
}
template <>
void attend::core::Projections<Backend>::bfloat16(const Linear& linear) {
  HostLinear<Isa, Bfloat>(linear).run();
}
template <>
void attend::core::Projections<Backend>::int8(const Linear& linear) {
  HostLinear<Isa, int8_t>(linear).run();
}
