// The outputs of a projection in integers on hosts, of sums that are computed.

namespace attend::ATTEND_ISA {
namespace {

// The outputs of a chunk, as far as it has outputs, for some tokens.
struct OutputBlock {
  int first;
  int token;
  int tokens;
};

template <class Isa, class Output>
ATTEND_NOINLINE void write_outputs_as(const core::IntegerLinear& linear, const OutputBlock& block, const ProjectionEnd& of) {
  const int first = block.first, count = at_most(linear.outputs - first, integer_chunk);
  const ptrdiff_t to_stride = linear.output_stride;
  Output* const to = static_cast<Output*>(linear.output) + block.token * to_stride + first;
  int whole = 0;
  if constexpr (sizeof(Output) == sizeof(int32_t)) {
    if (of.bias == nullptr && of.input_zero == 0 && count == integer_chunk) {  // sums as they are
      for (int r = 0; r < block.tokens; ++r) {
        for (int k = 0; k < integer_chunk; ++k) to[r * to_stride + k] = of.sums[r][k];
      }
      return;
    }
  } else {
    for (; whole + 8 <= count; whole += 8) Isa::template eight_outputs<Output>(of, whole, to + whole, to_stride);
  }
  for (int r = 0; r < block.tokens; ++r) {
    for (int k = whole; k < count; ++k) {
      to[r * to_stride + k] = integer_output<Output>(of.sum(r, k), linear, first + k);
    }
  }
}

// Ends a block. `sums` are the products of its tokens with a chunk's rows of weights, `weight_sums` the sums of these weights.
template <class Isa>
ATTEND_ALWAYS_INLINE void write_outputs(const core::IntegerLinear& linear, int bytes, const OutputBlock& block,
                                        const int32_t (*sums)[integer_chunk], const void* weight_sums) {
  const int stride = linear.multiplier_stride;
  const ProjectionEnd of = {sums,        block.tokens,      linear.bias == nullptr ? nullptr : linear.bias + block.first,
                            weight_sums, linear.input_zero, linear.multipliers + block.first * stride,
                            stride,      linear.output_zero};
  bytes == 1   ? write_outputs_as<Isa, int8_t>(linear, block, of)
  : bytes == 2 ? write_outputs_as<Isa, int16_t>(linear, block, of)
               : write_outputs_as<Isa, int32_t>(linear, block, of);
}

}  // namespace
}  // namespace attend::ATTEND_ISA
