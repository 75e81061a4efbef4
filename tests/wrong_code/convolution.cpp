//! causal_conv_calls: nothing
static float one[12], one_output[12];
bool right() {
  using attend::Status;
  constexpr auto silu = attend::ConvActivation::silu;
  const attend::LinearOptions options;
  const auto& constant_state = conv_state;
  static uint8_t bytes[attend::ConvState<12, 4>::saved_bytes];
  attend::save(conv_state, bytes);
  return attend::causal_conv(conv_input, conv_weights, conv_bias, conv_state, conv_output) == Status::ok &&
         attend::causal_conv<silu>(one, conv_weights, attend::none, conv_state, one_output, half) == Status::ok &&
         attend::causal_conv<silu>(conv_input, conv_weights, conv_bias, constant_state, conv_output, options, attend::TeamPart{}) == Status::ok &&
         attend::causal_conv(conv_input, conv_weights, conv_bias, attend::empty_state, conv_output, half, options) == Status::ok &&
         conv_state.append(conv_input, 2) == Status::ok && conv_state.append(one) == Status::ok &&
         attend::load(conv_state, bytes, sizeof bytes) == Status::ok;
}

//! causal_conv_input: attend: causal_conv takes an array of floats first: float[tokens][channels], or Vectors
static int words[6][12];
void wrong() { (void)attend::causal_conv(words, conv_weights, attend::none, conv_state, conv_output); }

//! causal_conv_weights: attend: causal_conv takes a float[channels][width] as weights, behind the input
static float turned[4][12];
void wrong() { (void)attend::causal_conv(conv_input, turned, attend::none, conv_state, conv_output); }

//! causal_conv_bias: attend: causal_conv takes a bias, float[channels], or attend::none behind the weights
static float few[4];
void wrong() { (void)attend::causal_conv(conv_input, conv_weights, few, conv_state, conv_output); }

//! causal_conv_state: attend: causal_conv takes an attend::ConvState<channels, width>, or attend::empty_state, behind the bias
static attend::ConvState<12, 3> narrow;
void wrong() { (void)attend::causal_conv(conv_input, conv_weights, attend::none, narrow, conv_output); }

//! causal_conv_output: attend: the output of causal_conv is an array like its input
static float fewer[6][11];
void wrong() { (void)attend::causal_conv(conv_input, conv_weights, attend::none, conv_state, fewer); }

//! causal_conv_options: attend: at its end causal_conv takes at most one attend::LinearOptions and one attend::Part
void wrong() { (void)attend::causal_conv(conv_input, conv_weights, attend::none, conv_state, conv_output, half, half); }

//! causal_conv_append: attend: the state of a convolution takes arrays of floats of its channels: float[tokens][channels]
static float fewer[6][11];
void wrong() { (void)conv_state.append(fewer); }

//! causal_conv_width: attend: a ConvState has at least 1 channel, and a width of 2 to 16
attend::ConvState<12, 1> wrong;

//! integer_conv_calls: nothing
static int8_t one[12], one_output[12];
constexpr double each[12] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
constexpr attend::ConvQuantisation<12, attend::ConvActivation::silu> silu(0.02, each, 0.03, 0.05);
bool right() {
  using attend::Status;
  const attend::LinearOptions options;
  const auto& constant_state = byte_state;
  static uint8_t bytes[attend::ConvState<12, 4, attend::integer>::saved_bytes];
  attend::save(byte_state, bytes);
  return attend::causal_conv(byte_input, byte_weights, byte_bias, byte_state, byte_output, conv_scales) == Status::ok &&
         attend::causal_conv(one, byte_weights, attend::none, byte_state, one_output, silu, half) == Status::ok &&
         attend::causal_conv(byte_input, byte_weights, byte_bias, constant_state, byte_output, silu, options, attend::TeamPart{}) == Status::ok &&
         attend::causal_conv(byte_input, byte_weights, byte_bias, attend::empty_state, byte_output, conv_scales, half, options) == Status::ok &&
         byte_state.append(byte_input, 2) == Status::ok && attend::load(byte_state, bytes, sizeof bytes) == Status::ok;
}

//! integer_conv_input: attend: causal_conv in integers takes an array of int8_t first, int8_t[tokens][channels], and writes one
static int words[6][12], more_words[6][12];
void wrong() { (void)attend::causal_conv(words, byte_weights, byte_bias, byte_state, more_words, conv_scales); }

//! integer_conv_output: attend: causal_conv in integers takes an array of int8_t first, int8_t[tokens][channels], and writes one
static int8_t fewer[6][11];
void wrong() { (void)attend::causal_conv(byte_input, byte_weights, byte_bias, byte_state, fewer, conv_scales); }

//! integer_conv_bias: attend: causal_conv in integers takes a bias, int32_t[channels], or attend::none
void wrong() { (void)attend::causal_conv(byte_input, byte_weights, conv_bias, byte_state, byte_output, conv_scales); }

//! integer_conv_state: attend: causal_conv in integers takes an attend::ConvState<channels, width, attend::integer>, or empty_state
static int8_t narrow[12][3];
void wrong() { (void)attend::causal_conv(byte_input, narrow, byte_bias, byte_state, byte_output, conv_scales); }

//! integer_conv_options: attend: at its end causal_conv takes at most one attend::LinearOptions and one attend::Part
void wrong() { (void)attend::causal_conv(byte_input, byte_weights, byte_bias, byte_state, byte_output, conv_scales, half, half); }

//! integer_conv_weights: attend: causal_conv in integers takes int8_t[channels][width] as weights
void wrong() { (void)attend::causal_conv(byte_input, conv_weights, attend::none, byte_state, byte_output, conv_scales); }

//! integer_conv_scales: attend: a ConvQuantisation has 1 scale of weights, or one for each channel
static const double each[6] = {1, 1, 1, 1, 1, 1};
static const attend::ConvQuantisation<6> scales(0.02, each, 0.03);
void wrong() { (void)attend::causal_conv(byte_input, byte_weights, attend::none, byte_state, byte_output, scales); }

//! integer_conv_weight_scales: attend: a ConvQuantisation takes the scale of weights second, or a double[channels] of them
static const double each[6] = {1, 1, 1, 1, 1, 1};
static const attend::ConvQuantisation<7> scales(0.02, each, 0.03);

//! integer_conv_append: attend: the state of a convolution in integers takes arrays of its channels: int8_t[tokens][channels]
void wrong() { (void)byte_state.append(conv_input); }

//! integer_conv_scale_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::ConvQuantisation<> scales(0.02, 0.005, 0.00001);

//! causal_conv_saved_room: attend: save takes an array of at least saved_bytes of the state second
static uint8_t few[100];
void wrong() { attend::save(conv_state, few); }

//! gate_and_norm_calls: nothing
static float z[6][4], by_key[6][4][8], rates[4], two_rates[2], biases[4][8], log_decay[6][4], key_decay[6][4][8], weight[8];
bool right() {
  using attend::Status;
  attend::decay_gate(z, rates, attend::none, log_decay);
  static float mixer_z[queries][sizeof mixer_gates.log_decay / queries / sizeof(float)];
  attend::decay_gate(mixer_z, two_rates, attend::none, mixer_gates.log_decay);
  attend::bounded_gate(by_key, rates, biases, -5.0f, key_decay);
  return attend::l2_norm(by_key, by_key) == Status::ok && attend::l2_norm(mixer_key, mixer_key, 1e-5f) == Status::ok &&
         attend::gated_rms_norm<attend::GateOrder::last>(by_key, key_decay, weight, by_key) == Status::ok &&
         attend::gated_rms_norm<attend::GateOrder::first, 2, attend::Activation::sigmoid>(by_key, key_decay, attend::none, by_key, 1e-5f) == Status::ok;
}

//! gate_result: attend: a gate takes an array of floats, and has as many: float[tokens][heads], say
static float z[6][4], rates[4], log_decay[6][3];
void wrong() { attend::decay_gate(z, rates, attend::none, log_decay); }

//! gate_rates: attend: the rates of a gate are a float[heads]: one for each number of a token, or for some
static float z[6][4], rates[3], log_decay[6][4];
void wrong() { attend::decay_gate(z, rates, attend::none, log_decay); }

//! gate_bias: attend: the bias of a gate is as many floats as a token has, or attend::none
static float z[6][4], rates[4], biases[5], log_decay[6][4];
void wrong() { attend::bounded_gate(z, rates, biases, -5.0f, log_decay); }

//! gated_norm_groups: attend: groups of gated_rms_norm must divide its rows
static float x[6][8], gate[6][8], y[6][8];
void wrong() { (void)attend::gated_rms_norm<attend::GateOrder::first, 3>(x, gate, attend::none, y); }

//! gated_norm_gate: attend: arrays of add, multiply, activate and hadamard must have as many floats as each other
static float x[6][8], gate[6][4], y[6][8];
void wrong() { (void)attend::gated_rms_norm<attend::GateOrder::first>(x, gate, attend::none, y); }
