// The entry points of integer attention on a host.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run_integers(const core::IntegerProblem& problem) {
  IntegerPipeline<IntegerIsa, NoIntegerOptions>(problem, {}).run();
}

void Backend::run_integer_options(const core::IntegerProblem& problem, const core::IntegerOptions& options) {
  IntegerPipeline<IntegerIsa, core::IntegerOptions>(problem, options).run();
}

}  // namespace attend::ATTEND_ISA
