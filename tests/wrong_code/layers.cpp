//! activation_of_pointer: attend: add, multiply, activate and hadamard take arrays of floats of any number of extents, attend::Vectors, Query, Key, Value and Output
void wrong() { attend::activate<attend::Activation::silu>(float_pointer); }

//! activation_of_doubles: attend: add, multiply, activate and hadamard take arrays of floats of any number of extents, attend::Vectors, Query, Key, Value and Output
static double doubles[8];
void wrong() { attend::activate<attend::Activation::silu>(doubles); }

//! activation_of_other_size: attend: arrays of add, multiply, activate and hadamard must have as many floats as each other
void wrong() { attend::activate<attend::Activation::silu>(query, eight); }

//! gated_product_of_other_size: attend: arrays of add, multiply, activate and hadamard must have as many floats as each other
void wrong() { attend::activate<attend::Activation::silu>(query, eight, query); }

//! activation_without_its_name: attend: activate takes the function as its template argument
void wrong() { attend::activate(query); }

//! gated_product_without_its_name: attend: activate takes the function as its template argument
void wrong() { attend::activate(query, query, query); }

//! residual_of_other_size: attend: arrays of add, multiply, activate and hadamard must have as many floats as each other
void wrong() { attend::add(eight, query); }

//! residual_of_cache: attend: add, multiply, activate and hadamard take arrays of floats of any number of extents, attend::Vectors, Query, Key, Value and Output
void wrong() { attend::add(query, cache); }

//! norm_of_other_width: attend: weight and bias must be as long as the rows that they normalise: the array's last extent, or its last extents together
static const float weight[7] = {};
void wrong() { attend::rms_norm(query, weight, query); }

//! norm_of_width_across_rows: attend: weight and bias must be as long as the rows that they normalise: the array's last extent, or its last extents together
static const float weight[16] = {};
void wrong() { attend::rms_norm(query, weight, query); }

//! norm_of_pointer: attend: a weight is a float[width], or attend::none
void wrong() { attend::rms_norm(query, float_pointer, query); }

//! hadamard_of_fewer: attend: arrays of add, multiply, activate and hadamard must have as many floats as each other
static float few[3];
void wrong() { attend::hadamard(query, few); }

//! hadamard_of_number: attend: add, multiply, activate and hadamard take arrays of floats of any number of extents, attend::Vectors, Query, Key, Value and Output
static float number;
void wrong() { attend::hadamard(number); }

//! hadamard_of_other_rows: attend: the arrays of hadamard must have rows of the same length
static const float from[4][6] = {};
static float to[6][4];
void wrong() { attend::hadamard(from, to); }

//! multiply_of_other_factors: attend: multiply takes as many factors as numbers, or a factor for each so many of them
static const float numbers[4][6] = {}, factors[5] = {};
static float products[4][6];
void wrong() { attend::multiply(numbers, factors, products); }

//! norm_without_weight: attend: rms_norm takes x, a weight or attend::none, and y
void wrong() { (void)attend::rms_norm(query, query); }

//! norm_without_weight_and_bias: attend: layer_norm takes x, a weight or attend::none, a bias or attend::none, and y
void wrong() { (void)attend::layer_norm(query, query); }

//! norm_without_bias: attend: layer_norm takes x, a weight or attend::none, a bias or attend::none, and y
void wrong() { (void)attend::layer_norm(query, eight, query); }

//! norm_to_other_size: attend: the input and the result of a normalisation must have as many floats
void wrong() { attend::rms_norm(query, attend::none, eight); }

//! norm_of_state: attend: a normalisation takes arrays of floats of any number of extents, attend::Vectors, Query, Key, Value and Output
void wrong() { attend::rms_norm(state, attend::none, state); }

//! norm_of_other_bias: attend: weight and bias of a normalisation must have as many numbers as each other
static const float bias[7] = {};
void wrong() { attend::layer_norm(query, eight, bias, query); }

//! norm_of_pointer_bias: attend: a bias is a float[width], or attend::none
void wrong() { attend::layer_norm(query, eight, float_pointer, query); }

//! rotary_of_odd_dim: attend: rotary_dim must be even and at least 2
attend::Rotary<7> rotary;

//! rotary_of_no_dim: attend: rotary_dim must be even and at least 2
attend::Rotary<0> rotary;

//! rotary_table_of_odd_dim: attend: rotary_dim must be even and at least 2
attend::RotaryTable<5, 16> rotary;

//! rotary_table_of_no_position: attend: a rotary table needs at least 1 position
attend::RotaryTable<8, 0> rotary;

//! rotary_wider_than_head: attend: rotary_dim must not be more than head_dim
static attend::Rotary<10> rotary;
void wrong() { rotary.rotate<attend::RotaryPairs::halves>(query, 0); }

//! rotary_of_a_slice_past_the_head: attend: rotary_dim must not be more than head_dim
static attend::Rotary<4> rotary;
void wrong() { (void)rotary.rotate<attend::RotaryPairs::halves, 6>(query, 0); }

//! rotary_of_fewer_positions: attend: rotate takes a position for each token of its array
static attend::Rotary<8> rotary;
static const int positions[queries + 1] = {};
void wrong() { (void)rotary.rotate<attend::RotaryPairs::halves>(query, positions); }

//! rotary_of_no_axis: attend: there are 1 to 8 axes of positions
attend::RotaryAxes<9> axes;

//! rotary_of_plain_row: attend: rotate takes an attend::Query, an attend::Key or a float[tokens][heads][head_dim]
static attend::RotaryTable<8, 16> rotary;
void wrong() { rotary.rotate<attend::RotaryPairs::neighbours>(eight, 0); }

//! layers_of_all_arrays: nothing
static float hidden[queries][32], head_weight[8], row[8], table_row[2][4][8];
static attend::Vectors<queries, 32> token_vectors;
static const float weight[32] = {};
static attend::Rotary<8> rotary;
static attend::RotaryTable<6, 16> table;
void right();
void right() {
  (void)attend::rms_norm(hidden, weight, hidden);
  (void)attend::rms_norm(row, head_weight, row, 1e-6f);
  (void)attend::rms_norm(query, head_weight, query);
  (void)attend::layer_norm(hidden, weight, weight, query);
  (void)attend::layer_norm(hidden, attend::none, attend::none, hidden);
  attend::hadamard(query);
  attend::hadamard(hidden, hidden);
  attend::activate<attend::Activation::gelu_tanh>(hidden);
  attend::activate<attend::Activation::silu>(hidden, hidden, hidden);
  attend::add(hidden, output, 0.5f);
  (void)attend::layer_norm(hidden, weight, attend::none, hidden, 1e-6f);
  (void)attend::rms_norm(token_vectors, weight, hidden);
  (void)attend::layer_norm(hidden, weight, weight, token_vectors);
  attend::activate<attend::Activation::gelu_tanh>(token_vectors);
  attend::activate<attend::Activation::silu>(token_vectors, hidden, token_vectors);
  attend::add(token_vectors, output);
  (void)rotary.init();
  (void)rotary.init(500000.0f, attend::RotaryScaling::yarn(4.0f, 32768).with_fractions().with_attention_factor(1.0f));
  static const double frequencies[4] = {1.0, 0.5, 0.25, 0.125};
  (void)rotary.init(frequencies);
  static const int positions[queries] = {}, places[queries][3] = {};
  (void)rotary.rotate<attend::RotaryPairs::halves>(query, positions);
  (void)rotary.rotate<attend::RotaryPairs::neighbours>(query, places, attend::RotaryAxes<3>{{2, 1, 1}, true});
  (void)table.init(500000.0f, 4.0f);
  (void)rotary.rotate<attend::RotaryPairs::halves>(query, 7);
  (void)table.rotate<attend::RotaryPairs::neighbours>(table_row, 0, 1);
}
