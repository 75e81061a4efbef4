// The entry points of linear attention.
namespace attend::ATTEND_ISA {

#define ATTEND_RULE(name, rule, decay)                                          \
  void Backend::name(const core::LinearAttention& call, int part, int parts) {  \
    run_value_heads<RowIsa, LinearRule::rule, Decay::decay>(call, part, parts); \
  }
ATTEND_EACH_LINEAR_RULE(ATTEND_RULE)
#undef ATTEND_RULE

}  // namespace attend::ATTEND_ISA
