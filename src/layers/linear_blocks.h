// Projections of several tokens on hosts, and of one over panels side by side:
//
//   for each block of tokens, of inputs and of outputs
//     gather the tokens, if they need it; panels are read in place, or packed or widened
//     for each tile of tokens:  output += tile (kernel/score_tile.h, tokens as queries, outputs as keys)
//
// Panels of a block stay in the first two caches while its tokens go over them. Blocks of inputs, whole chains, change no bit.

// Rows of a tile of tokens against `vecs` vectors of outputs, out of line: the kernel.
template <class Isa, class Number, int rows, int vecs>
ATTEND_NOINLINE void linear_tile(const ScoreOperands<Number>& of) {
  const ScoreOperands<Number> operands = of;  // a copy, or compilers read it again after each store
  if constexpr (rows > 1 && Isa::rows_ahead > 0) {
    // Outputs that are added to were written a block of inputs ago: all other outputs and weights came between.
    const float* outputs = operands.scores;
    for (int r = 0; operands.adds && r < rows; ++r, outputs = opaque(outputs + operands.score_stride)) {
      ATTEND_UNROLL
      for (int i = 0; i < vecs * Isa::lanes; i += 16) ATTEND_PREFETCH(outputs + i, 1);
    }
  }
  Isa::template score_tile<Isa, Number, rows, vecs>(operands);
}

// Whole panels of outputs: wide tiles, then narrower ones. What is less than a tile of other formats goes a row at a time.
template <class Isa, class Number, int rows, int vecs = score_vecs<Isa, Number>(rows)>
void linear_rows(ScoreOperands<Number> operands, int outputs) {
  constexpr int wide = vecs * Isa::lanes;
  for (int lane = 0; outputs >= wide; outputs -= wide) {
    linear_tile<Isa, Number, rows, vecs>(operands);
    operands.scores += wide;
    operands.keys += wide;
    lane += wide;
    if (lane < panel_keys) continue;  // of a tile that is less than a panel
    operands.keys += lane / panel_keys * operands.panel_stride - lane;
    lane = 0;
  }
  if constexpr (wide > panel_keys) {
    if (outputs == 0) return;
    constexpr bool by_rows = widens<Number> && rows > 1;
    constexpr int less = widens<Number> ? panel_keys / Isa::lanes : vecs / 2;
    for (int r = 0; r < (by_rows ? rows : 1); ++r) {
      linear_rows<Isa, Number, by_rows ? 1 : rows, less>(operands, outputs);
      operands.query += operands.query_stride;
      operands.scores += operands.score_stride;
    }
  }
}

template <class Isa>
ATTEND_ALWAYS_INLINE void end_projection(const core::Linear& linear, float* output, int first, int count) {
  end_outputs<Isa>(output, count, linear.scales == nullptr ? nullptr : linear.scales + first,
                   linear.bias == nullptr ? nullptr : linear.bias + first);
}

// Several tokens. Number: what the panels that tiles read are made of: floats for all formats where weights are packed.
template <class Isa, class Number>
class LinearBlocks {
 public:
  LinearBlocks(const core::Linear& linear, core::Format format)
      : linear_(linear), weights_(static_cast<const float*>(linear.weights)), format_(format) {}

  ATTEND_NOINLINE void run_with_work() const {
    float* const panels = linear_.work;
    float* const widened = panels + config::linear_outputs * config::linear_inputs;
    float* const gathered = widened + panel_keys * config::linear_inputs;
    // For few tokens no more outputs are packed at a time than a tile takes, so that the first-level cache still has their
    // panels when the tile reads them. Of short rows it has all of a block anyway.
    constexpr int few_outputs = at_least(Isa::tile_vecs(Isa::kernel_rows(Isa::tile_rows)) * Isa::lanes, panel_keys);
    constexpr int short_inputs = few_outputs * config::linear_inputs / config::linear_outputs;
    static_assert(few_outputs % panel_keys == 0 && few_outputs <= config::linear_outputs, "work memory has room for so many");
    const bool few = linear_.tokens <= Isa::tile_rows && linear_.inputs > short_inputs;
    const int outputs = few ? few_outputs : config::linear_outputs;
    run({config::linear_tokens, config::linear_inputs, outputs, gathers() ? gathered : nullptr,
         linear_.panels && is_float() ? nullptr : panels, widened});
  }

  // Without work memory: panels where they lie; rows packed on the stack, a few at a time.
  ATTEND_NOINLINE void run_in_place() const {
    run({linear_.tokens, linear_.inputs, config::linear_outputs, nullptr, nullptr, nullptr});
  }
  ATTEND_NOINLINE void run_packed() const {
    alignas(config::alignment) float panel[panel_keys * few_inputs];
    const int inputs = is_float() ? few_inputs : few_inputs / 2;  // the other half of the memory is for widened rows
    run({linear_.tokens, inputs, panel_keys, nullptr, panel, panel + panel_keys * inputs});
  }

 private:
  static constexpr int few_inputs = 64;  // whose weights of a panel are packed on the stack
  static_assert(few_inputs / 2 % core::int4_group == 0 && config::linear_inputs % core::int4_group == 0,
                "blocks are whole chains, and whole groups of int4");

  // The blocks of a call, and memory for these. Null: tokens are read in place, or panels are.
  struct Blocks {
    int tokens, inputs, outputs;
    float* gathered;
    float* panels;
    float* widened;  // rows of a panel as floats, where weights of another format lie in rows
  };
  struct Block {
    int token, tokens, input, inputs;
    const float* data;  // of its tokens and inputs
    ptrdiff_t stride;   // from token to token
  };

  // Whether the rows of a tile would share so few sets of the first-level cache that they drive each other out.
  bool gathers() const {
    constexpr int distance = Isa::kernel_rows(Isa::tile_rows) > 6 ? 512 : 1024;
    return linear_.tokens > Isa::tile_rows && linear_.input_stride % distance == 0;
  }
  bool is_float() const { return format_ == core::Format::float32; }

  void run(const Blocks& blocks) const {
    // Tokens that are gathered serve all outputs; otherwise each output is finished before the next, in the order of memory.
    const int at_once = blocks.gathered != nullptr ? linear_.outputs : blocks.outputs;
    Block block;
    for (block.token = 0; block.token < linear_.tokens; block.token += blocks.tokens) {
      block.tokens = at_most(linear_.tokens - block.token, blocks.tokens);
      for (int first_output = 0; first_output < linear_.outputs; first_output += at_once) {
        const int end = at_most(first_output + at_once, linear_.outputs);
        for (block.input = 0; block.input < linear_.inputs; block.input += blocks.inputs) {
          block.inputs = at_most(linear_.inputs - block.input, blocks.inputs);
          take_tokens(block, blocks.gathered);
          for (int o = first_output; o < end; o += blocks.outputs)
            run_block(blocks, block, o, at_most(end - o, blocks.outputs));
        }
      }
    }
  }

  void take_tokens(Block& block, float* gathered) const {
    block.data = linear_.input + block.token * linear_.input_stride + block.input;
    block.stride = linear_.input_stride;
    if (gathered == nullptr) return;
    for (int t = 0; t < block.tokens; ++t) {
      copy_row<Isa>(block.data + t * block.stride, block.inputs, gathered + t * ptrdiff_t(block.inputs));
    }
    block.data = gathered;
    block.stride = block.inputs;
  }

  // Weights of a panel from one of its inputs on.
  const float* panel_from(int output, int input) const {
    return static_cast<const float*>(
        moved(weights_, output * ptrdiff_t(linear_.inputs) + input * ptrdiff_t(panel_keys), format_));
  }

  // Weights of a block's inputs as panels of floats.
  ATTEND_NOINLINE void pack_block(const Blocks& blocks, const Block& block, int output, int count) const {
    float* panel = blocks.panels;
    for (int o = output; o < output + count; o += panel_keys, panel += panel_keys * block.inputs) {
      if (format_ == core::Format::int4) {
        widen_groups(block, o, at_most(output + count - o, panel_keys), panel);
        continue;
      }
      if (linear_.panels) {
        widen_row<Isa>(format_, panel_from(o, block.input), panel_keys * block.inputs, panel);
        continue;
      }
      const float* rows = static_cast<const float*>(moved(weights_, o * linear_.weight_stride + block.input, format_));
      ptrdiff_t stride = linear_.weight_stride;
      const int lanes = at_most(output + count - o, panel_keys);
      if constexpr (Isa::transposes_rows) {
        if (!is_float() && lanes == panel_keys && block.inputs >= piece_inputs<int8_t>) {
          widen_rows<Isa>(format_, rows, stride, block.inputs, blocks.widened, panel);
          continue;
        }
      }
      if (!is_float()) {
        for (int i = 0; i < lanes; ++i) {
          widen_row<Isa>(format_, moved(rows, i * stride, format_), block.inputs, blocks.widened + i * block.inputs);
        }
        rows = blocks.widened, stride = block.inputs;
      }
      pack_panel<Isa>(rows, stride, lanes, block.inputs, panel);
    }
  }

  // The same of groups of int4.
  ATTEND_NOINLINE void widen_groups(const Block& block, int output, int lanes, float* panel) const {
    const int groups = linear_.inputs / core::int4_group, first = block.input / core::int4_group;
    const auto* packed = numbers_of<core::Int4Panel>(weights_) + ptrdiff_t(output / panel_keys) * groups + first;
    const core::Int4Rows rows = {numbers_of<core::Int4Group>(weights_) + first, linear_.weight_stride / core::int4_group};
    alignas(config::alignment) core::Int4Panel gathered;
    for (int i = 0; i * core::int4_group < block.inputs; ++i, panel += panel_keys * core::int4_group) {
      if (!linear_.panels) gather(rows, output, lanes, i, gathered);
      widen_group<Isa>(linear_.panels ? packed[i] : gathered, panel);
    }
  }

  static void gather(const core::Int4Rows& rows, int output, int lanes, int group, core::Int4Panel& to) {
    if constexpr (Isa::transposes_rows) {
      if (lanes == panel_keys) return gather_group<Isa>(rows[output] + group, rows.stride, to);
    }
    core::pack_int4_group(rows, output, lanes, group, to);
  }

  void run_block(const Blocks& blocks, const Block& block, int output, int count) const {
    ScoreOperands<Number> operands;
    if (widens<Number> || blocks.panels == nullptr) {
      operands.keys = numbers_of<Number>(panel_from(output, block.input));
      operands.panel_stride = ptrdiff_t(panel_keys) * linear_.inputs;
    } else {
      pack_block(blocks, block, output, count);
      operands.keys = numbers_of<Number>(blocks.panels);
      operands.panel_stride = ptrdiff_t(panel_keys) * block.inputs;
    }
    operands.dims = block.inputs;
    operands.scales = nullptr;
    operands.query_stride = block.stride;
    operands.score_stride = linear_.output_stride;
    operands.adds = block.input > 0;
    constexpr int tile_rows = widens<Number> ? most_widening_rows : Isa::tile_rows;
    for (int t = 0; t < block.tokens; t += tile_rows) {
      const int rows = at_most(block.tokens - t, tile_rows);
      operands.query = block.data + t * block.stride;
      operands.scores = linear_.output + (block.token + t) * linear_.output_stride + output;
      float* const sums = operands.scores;
      for_each_kernel<Isa, Number>(rows, Tiles{*this, operands, count});
      if (block.input + block.inputs < linear_.inputs) continue;
      for (int r = 0; r < rows; ++r) end_projection<Isa>(linear_, sums + r * linear_.output_stride, output, count);
    }
  }

  struct Tiles {
    const LinearBlocks& linear;
    const ScoreOperands<Number>& operands;
    int count;
    template <int rows>
    ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, int row) const {
      linear.template tile<rows>(operands, row, count);
    }
  };

  // The outputs of a last panel that is not whole go through memory of its own.
  template <int rows>
  void tile(ScoreOperands<Number> operands, int row, int count) const {
    operands.query += row * operands.query_stride;
    operands.scores += row * operands.score_stride;
    const int whole = count & -panel_keys;
    if (whole > 0) linear_rows<Isa, Number, rows>(operands, whole);
    if (whole == count) return;
    float last[rows * panel_keys];
    float* const sums = operands.scores + whole;
    for (int r = 0; operands.adds && r < rows; ++r)
      copy_row<Isa>(sums + r * operands.score_stride, count - whole, last + r * panel_keys);
    operands.keys += whole / panel_keys * operands.panel_stride;
    operands.scores = last;
    operands.score_stride = panel_keys;
    linear_rows<Isa, Number, rows, at_most(panel_keys / Isa::lanes, score_vecs<Isa, Number>(rows))>(operands, panel_keys);
    for (int r = 0; r < rows; ++r) {
      copy_row<Isa>(last + r * panel_keys, count - whole, sums + r * linear_.output_stride);
    }
  }

  const core::Linear& linear_;
  const float* const weights_;  // numbers of the format
  const core::Format format_;
};
