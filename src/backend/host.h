// The entry points of attention on a host.
namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run(const core::Problem& problem) {
  if constexpr (Isa::flushes) {
    if (run_flushed<Isa>(problem)) return;
  }
  if (is_short_decode(problem)) return run_short_decode<Isa>(problem, visible_keys(problem, 0), true);
  run_blocks<Isa>(problem, true);
}

void Backend::run_options(const core::Problem& problem, const core::Options& options) {  // also of caches of other formats
  if constexpr (Isa::flushes) {
    if (run_flushed<Isa>(problem, options)) return;
  }
  if (takes_plain_segments(problem, options)) return run_plain_segments<Isa>(problem, options);
  run_features<Isa>(problem, options);
}

}  // namespace attend::ATTEND_ISA
