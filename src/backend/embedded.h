// The entry points of attention in the form for embedded processors; calls with options are a source of their own.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run(const core::Problem& problem) { EmbeddedPipeline<Isa, NoFeatures>(problem).run(); }

}  // namespace attend::ATTEND_ISA
