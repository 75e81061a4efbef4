// The entry points of integer attention on a host.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run_integers(const core::Problem& problem) {
  IntegerPipeline<IntegerIsa, NoIntegerOptions>(problem, {}).run();
}

void Backend::run_integer_options(const core::Problem& problem, const core::Options& options) {
  IntegerPipeline<IntegerIsa, core::Options>(problem, options).run();
}

}  // namespace attend::ATTEND_ISA
