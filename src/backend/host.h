// The entry points of attention on a host.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run(const core::Problem& problem) { run_problem<Isa>(problem); }

void Backend::run_options(const core::Problem& problem, const core::Options& options) {
  run_with_options<Isa>(problem, options);
}

}  // namespace attend::ATTEND_ISA
