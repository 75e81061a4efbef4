//! projection: nothing
static attend::Vectors<queries, 12> x;
static attend::Vectors<queries, 20> y;
static const attend::Weights<20, 12> weights{};
static const attend::PackedWeights<20, 12> packed = attend::pack(weights);
static const attend::Weights<32, 12, attend::int8> to_query{};
static const attend::Weights<16, 12, attend::float16> to_key{};
static const float bias[20] = {};
static attend::Key<Shape, queries> new_key;
static attend::Workspace<attend::Projections> work;
attend::Status right() {
  if (attend::project(x, weights, y) != attend::Status::ok) return attend::Status::bad_part;
  if (attend::project(x, packed, bias, y, work) != attend::Status::ok) return attend::Status::bad_part;
  if (attend::project(x, packed, y, half) != attend::Status::ok) return attend::Status::bad_part;
  if (attend::project(x, packed, bias, y, work, 2, half) != attend::Status::ok) return attend::Status::bad_part;
  return attend::project(x, attend::into(to_query, query), attend::into(to_key, new_key), work, half);
}

//! weights_converted_to_floats: attend: convert makes weights of float16, bfloat16, int8 or int4
static attend::Weights<20, 12> same;
void wrong() { attend::convert(to_twenty, same); }

//! weights_converted_from_halves: attend: convert takes weights of float
static const attend::Weights<20, 12, attend::float16> weights{};
static attend::Weights<20, 12, attend::int8> bytes;
void wrong() { attend::convert(weights, bytes); }

//! weights_converted_to_fewer: attend: convert makes weights with as many outputs and inputs
static attend::Weights<20, 11, attend::int8> bytes;
void wrong() { attend::convert(to_twenty, bytes); }

//! projection_bias_of_fewer_numbers: attend: the bias of a projection is a float[] with as many numbers as the weights have outputs
static const float bias[19] = {};
void wrong() { attend::project(twelve, to_twenty, bias, twenty); }

//! projection_bias_without_output: attend: project takes an output after the bias
static const float bias[20] = {};
void wrong() { attend::project(twelve, to_twenty, bias); }

//! projection_input_of_other_size: attend: project takes an input with as many numbers for each token as the weights have inputs
static attend::Vectors<2, 13> x;
void wrong() { attend::project(x, to_twenty, twenty); }

//! projection_input_plain_pointer: attend: project takes attend::Vectors, a Query, Key, Value or Output first
static const float* const x = floats;
void wrong() { attend::project(x, to_twenty, twenty); }

//! projection_into_key_of_other_size: attend: the output of a projection has as many numbers for each token as the weights have outputs
static attend::Vectors<keys, 12> x;
static const attend::Weights<32, 12> weights{};
void wrong() { attend::project(x, attend::into(weights, key)); }

//! projection_of_other_tokens: attend: the input and the output of project have the same number of tokens
static attend::Vectors<3, 12> x;
void wrong() { attend::project(x, to_twenty, twenty); }

//! projection_output_const: attend: a projection writes attend::Vectors, a Query, Key, Value or Output
static const attend::Vectors<2, 20> y{};
void wrong() { attend::project(twelve, to_twenty, y); }

//! projection_output_of_other_size: attend: the output of a projection has as many numbers for each token as the weights have outputs
static attend::Vectors<2, 21> y;
void wrong() { attend::project(twelve, to_twenty, y); }

//! projection_output_plain_pointer: attend: a projection writes attend::Vectors, a Query, Key, Value or Output
static float* const y = floats;
void wrong() { attend::project(twelve, to_twenty, y); }

//! projection_part_before_work: attend: after its input project takes weights, a bias if there is one, and an output, or several
void wrong() { attend::project(twelve, to_twenty, twenty, half, projection_work); }

//! projection_count_before_work: attend: after its input project takes weights, a bias if there is one, and an output, or
//! several
void wrong() { attend::project(twelve, to_twenty, twenty, 1, projection_work); }

//! projection_vectors_of_no_numbers: attend: Vectors have at least 1 token and 1 number
void wrong(attend::Vectors<2, 0>& x) { x.data[0][0] = 0; }

//! weights_of_4_bits_with_other_inputs: attend: weights of attend::int4 have a multiple of 32 inputs, which share a scale
static attend::Weights<2, 48, attend::int4> weights;

//! packed_weights_of_4_bits_with_other_inputs: attend: weights of attend::int4 have a multiple of 32 inputs, which share a scale
static attend::PackedWeights<2, 31, attend::int4> weights;

//! projection_weights_of_double: attend: weights are of float, attend::float16, attend::bfloat16, attend::int8 or attend::int4
static attend::Weights<2, 3, double> weights;

//! projection_weights_saturated: attend: weights are of float, attend::float16, attend::bfloat16, attend::int8 or attend::int4
static attend::Weights<2, 3, attend::saturated<attend::float16>> weights;

//! projection_weights_of_no_outputs: attend: weights have at least 1 output and 1 input
static attend::Weights<0, 3> weights;

//! projection_weights_plain_array: attend: after its input project takes weights, a bias if there is one, and an output, or several
void wrong() { attend::project(twelve, floats, twenty); }

//! projection_without_output: attend: project takes an output after the weights
void wrong() { attend::project(twelve, to_twenty); }

//! projection_work_of_attention: attend: project takes an attend::Workspace<attend::Projections>
void wrong() { attend::project(twelve, to_twenty, twenty, workspace); }

//! integer_sum_of_floats: attend: add and requantise of integers take attend::Vectors of int8_t or int16_t
static attend::Vectors<2, 12, int8_t> x;
static attend::Vectors<2, 12> y;
void wrong() { (void)attend::requantise(x, attend::SumScales(1, 1), y); }

//! integer_sum_of_other_sizes: attend: the arrays of add and requantise have the same tokens, and as many numbers for each
static attend::Vectors<2, 12, int8_t> x;
static attend::Vectors<2, 13, int8_t> y;
void wrong() { (void)attend::add(x, y, attend::SumScales(1, 1, 1), x); }
