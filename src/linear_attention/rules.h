// The entry points of linear attention.
namespace attend::ATTEND_ISA {

#define ATTEND_RULE(name, rule, decay)                                          \
  void Backend::name(const core::LinearAttention& call, int part, int parts) {  \
    run_value_heads<RowIsa, LinearRule::rule, Decay::decay>(call, part, parts); \
  }
ATTEND_EACH_LINEAR_RULE(ATTEND_RULE)
#undef ATTEND_RULE

void Backend::convolve(const core::Convolution& call, int part, int parts) {
  convolve_channels<RowIsa, ConvActivation::identity>(call, part, parts);
}
void Backend::convolve_silu(const core::Convolution& call, int part, int parts) {
  convolve_channels<RowIsa, ConvActivation::silu>(call, part, parts);
}
void Backend::decay_gates(const core::GateInputs& gates) { make_log_decays<RowIsa, false>(gates); }
void Backend::bounded_gates(const core::GateInputs& gates) { make_log_decays<RowIsa, true>(gates); }

}  // namespace attend::ATTEND_ISA
