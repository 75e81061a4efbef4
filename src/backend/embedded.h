// The entry points of an embedded processor's backend. Before this a source includes the algorithm and names the
// `Backend` and its `Isa`.
#pragma once

template <>
ATTEND_HOT void attend::core::Entry<Backend>::run(const Problem& problem) {
  EmbeddedPipeline<Isa, NoFeatures>(problem).run<true>();
}
template <>
ATTEND_HOT void attend::core::Entry<Backend>::sum_segment(const Problem& problem) {
  EmbeddedPipeline<Isa, NoFeatures>(problem).run<false>();
}
