// The entry points of attention on a host.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run(const core::Problem& problem) { run_problem<Isa>(problem, true); }

ATTEND_HOT void Backend::sum_segment(const core::Problem& problem) { run_problem<Isa>(problem, false); }

void Backend::combine(const core::Problem& problem, const float* partials) { add_segments<Isa>(problem, partials); }

void Backend::run_options(const core::Problem& problem, const core::Options& options) {
  run_with_options<Isa>(problem, options);
}

void Backend::combine_options(const core::Problem& problem, const core::Options& options, const float* partials) {
  add_segments<Isa>(problem, options, partials);
}

}  // namespace attend::ATTEND_ISA
