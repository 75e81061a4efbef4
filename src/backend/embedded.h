// The entry points of attention in the form for embedded processors, where calls with options are a source of their own. Adding
// up segments takes plain C++: it is rare, and small so.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run(const core::Problem& problem) { EmbeddedPipeline<Isa, NoFeatures>(problem).template run<true>(); }

ATTEND_HOT void Backend::sum_segment(const core::Problem& problem) {
  EmbeddedPipeline<Isa, NoFeatures>(problem).template run<false>();
}

void Backend::combine(const core::Problem& problem, const float* partials) { add_segments<Scalar>(problem, partials); }

}  // namespace attend::ATTEND_ISA
