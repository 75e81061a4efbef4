// The entry points of projections.
namespace attend::ATTEND_ISA {

#define ATTEND_PROJECTION(format) \
  void Backend::project_##format(const core::Linear& linear) { HostLinear<Isa, core::Format::format>(linear).run(); }
ATTEND_EACH_FORMAT(ATTEND_PROJECTION)
#undef ATTEND_PROJECTION

}  // namespace attend::ATTEND_ISA
