// Projections in integers on hosts, by the kernels of attention's scores: tokens are queries, 32 rows of weights a chunk.
//
//   for each few chunks of outputs, and each few tokens:      rows of weights: one chunk, several tiles of tokens
//     for each block of inputs:                               rows are packed, or read where they lie for one or two tokens
//       for each tile of tokens, and each chunk:
//         sums += tokens . weights
//     outputs = clamped(round((bias - zero point * sums of weights + sums) * factor / 2^shift) + output_zero)
//
// Packed weights have their sums with them; sums of weights in rows are products with a token of ones.

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

template <class Isa>
class HostIntegerLinear {
  using Query = typename Isa::Query;
  using Tile = int32_t (*)[integer_chunk];

 public:
  HostIntegerLinear(const core::IntegerLinear& linear, int output_bytes, bool packed)
      : linear_(linear), output_bytes_(output_bytes), packed_(packed) {}

  void run() {
    if (linear_.tokens == 0) return;
    const int rows = at_most(linear_.tokens, Isa::tile_rows), tokens = packed_ ? rows : most_sums;
    const int outputs = (packed_ ? at_most(most_sums / rows, most_chunks) : 1) * integer_chunk;
    const bool few = linear_.tokens <= 2 && linear_.inputs % Isa::in_place_step == 0;
    for (output_ = 0; output_ < linear_.outputs; output_ += outputs) {
      count_ = at_most(linear_.outputs - output_, outputs);
      in_place_ = !packed_ && few && count_ == integer_chunk;
      const int most = packed_ ? inputs_for(memory_bytes, rows) : in_place_ ? place_inputs : packed_inputs;
      const int blocks = at_least((linear_.inputs + most - 1) / most, 1);
      step_ = at_least(((linear_.inputs + blocks - 1) / blocks + 15) & -16, 16);
      for (int t = 0; t < linear_.tokens; t += tokens) run_tokens(t, at_most(linear_.tokens - t, tokens));
    }
  }

 private:
  static constexpr int most_sums = 24;                          // of a chunk's outputs that are kept: tokens * chunks
  static constexpr int most_chunks = 4;                         // of packed weights that tokens are prepared for
  static constexpr int packed_inputs = 64, place_inputs = 256;  // of rows that are packed at a time, or read where they lie
  static constexpr int packed_bytes = packed_inputs * integer_chunk;
  static constexpr int memory_bytes = 5120;  // of 6 tokens as numbers of 16 bits 384 inputs

  // How many inputs of so many tokens there is room for.
  static constexpr int inputs_for(int bytes, int rows) { return (bytes / rows - 64) / int(sizeof(Query)) & -16; }
  static_assert(inputs_for(memory_bytes - packed_bytes, Isa::tile_rows) >= packed_inputs &&
                    inputs_for(memory_bytes - packed_bytes, 2) >= place_inputs,
                "rows of weights leave room for tokens");

  int chunks() const { return (count_ + integer_chunk - 1) / integer_chunk; }
  const int8_t* weights(int chunk) const { return weight_chunk(linear_, output_ + chunk * integer_chunk); }

  // The outputs of some tokens from t on.
  ATTEND_NOINLINE void run_tokens(int t, int tokens) {
    for (int i = 0; i == 0 || i < linear_.inputs; i += step_) {
      const int dims = at_most(linear_.inputs - i, step_);
      const int8_t* const rows = linear_.weights + output_ * linear_.weight_stride + i;
      if (!packed_ && !in_place_) Isa::pack_keys(rows, linear_.weight_stride, count_, dims, memory_);
      if (!packed_ && t == 0 && linear_.input_zero != 0) {
        int8_t* const ones = reinterpret_cast<int8_t*>(tile_);  // read before products are written
        for (int d = 0; d < dims; ++d) ones[d] = 1;
        multiply<1>({ones, 0, rows, i, dims}, most_sums);
      }
      for (int k = 0; k < tokens; k += Isa::tile_rows) {
        const int count = at_most(tokens - k, Isa::tile_rows);
        const int8_t* const input = linear_.input + (t + k) * linear_.input_stride + i;
        with_rows<AnyNumber, Isa::tile_rows>(count, Multiply{*this}, Operands{input, linear_.input_stride, rows, i, dims}, k);
      }
    }
    for (int c = 0; c < chunks(); ++c) end(t, tokens, c);
  }

  struct Operands {
    const int8_t* input;  // of the first token
    ptrdiff_t stride;     // to the next one
    const int8_t* rows;   // of weights, from this block's first input on
    int first, inputs;    // of the block
  };
  struct Multiply {
    HostIntegerLinear& linear;
    template <int rows>
    ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, const Operands& operands, int at) const {
      linear.multiply<rows>(operands, at);
    }
  };

  // sums_[at + chunk * rows + r] = or += the products of token r and the weights of a chunk.
  template <int rows>
  ATTEND_NOINLINE void multiply(const Operands& of, int at) {
    const Query* queries[rows];
    int8_t* memory = memory_ + (packed_ ? 0 : packed_bytes);
    for (int r = 0; r < rows; ++r, memory += 64 + ((of.inputs + 15) & -16) * int(sizeof(Query))) {
      Isa::prepare(of.input + r * of.stride, of.inputs, memory);
      queries[r] = reinterpret_cast<const Query*>(memory);
    }
    if constexpr (rows == 1 && Isa::reads_quads) {
      if (packed_) {
        const int8_t* packed[most_chunks];
        for (int c = 0; c < chunks(); ++c) packed[c] = weights(c) + of.first * integer_chunk;
        Isa::scores_in_quads(queries[0], packed, chunks(), of.inputs, sums_or_tile(of, at));
        return add_tile(of, chunks(), at);
      }
    }
    for (int c = 0; c < chunks(); ++c, at += rows) {
      const Tile sums = sums_or_tile(of, at);
      if (packed_) {
        Isa::template quad_scores<rows>(queries, weights(c) + of.first * integer_chunk, of.inputs, sums);
      } else if (in_place_) {
        for (int r = 0; r < rows; ++r) Isa::scores_in_place(queries[r], of.rows, linear_.weight_stride, of.inputs, sums[r]);
      } else {
        Isa::template scores<rows>(queries, memory_, of.inputs, sums);
      }
      add_tile(of, rows, at);
    }
  }

  // The first block of inputs makes sums, and others go through a tile.
  Tile sums_or_tile(const Operands& of, int at) { return of.first == 0 ? sums_ + at : tile_; }
  ATTEND_ALWAYS_INLINE void add_tile(const Operands& of, int rows, int at) {
    for (int r = 0; of.first > 0 && r < rows; ++r) {
      for (int k = 0; k < integer_chunk; ++k) sums_[at + r][k] += tile_[r][k];
    }
  }

  // Writes the outputs of a chunk.
  ATTEND_NOINLINE void end(int t, int tokens, int chunk) {
    const Tile sums = sums_ + chunk * tokens;
    // Sums of weights in rows are not computed where their factor, input_zero, is 0.
    const void* const weight_sums = packed_                   ? static_cast<const void*>(weights(chunk) - sizeof *sums)
                                    : linear_.input_zero != 0 ? sums_[most_sums]
                                                              : sums[0];
    write_outputs<Isa>(linear_, output_bytes_, {output_ + chunk * integer_chunk, t, tokens}, sums, weight_sums);
  }

  const core::IntegerLinear& linear_;
  const int output_bytes_;
  const bool packed_;
  bool in_place_ = false;
  int step_ = 0;    // inputs at a time
  int output_ = 0;  // the first of the outputs that are computed, and how many there are
  int count_ = 0;
  // Sums of outputs; behind them, sums of weights in rows.
  int32_t sums_[most_sums + 1][integer_chunk], tile_[config::integer_tile_rows][integer_chunk];
  alignas(64) int8_t memory_[memory_bytes];  // packed rows, then prepared tokens
};

// Kernels that do not pack, which embedded processors have, read rows.
template <class Isa, bool packed>
void project_by_rows(const core::IntegerLinear& linear, int output_bytes) {
  if (output_bytes == 1) return IntegerProjection<Isa, int8_t, packed>(linear).run();
  if (output_bytes == 2) return IntegerProjection<Isa, int16_t, packed>(linear).run();
  IntegerProjection<Isa, int32_t, packed>(linear).run();
}

template <class Isa>
void project_integers(const core::IntegerLinear& linear, int output_bytes, bool packed) {
  if constexpr (Isa::packs) {
    HostIntegerLinear<Isa>(linear, output_bytes, packed).run();
  } else {
    packed ? project_by_rows<Isa, true>(linear, output_bytes) : project_by_rows<Isa, false>(linear, output_bytes);
  }
}
