//! linear_calls: nothing
static attend::LinearWorkspace<Mixer> work;
bool right() {
  using attend::Status;
  const attend::LinearOptions options;
  const auto& constant_state = mixer_state;
  const auto& constant_value = mixer_value;
  const auto& constant_gates = mixer_gates;
  static uint8_t bytes[attend::LinearState<Mixer>::saved_bytes];
  attend::save(mixer_state, bytes);
  const attend::TeamPart team;
  return attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output) == Status::ok &&
         attend::prefill(mixer_query, mixer_key, constant_value, constant_gates, mixer_state, mixer_output, half) == Status::ok &&
         attend::prefill(mixer_query, mixer_key, mixer_value, constant_gates, mixer_state, mixer_output, options, half) == Status::ok &&
         attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output, team, options) == Status::ok &&
         attend::attention(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output, work, options) == Status::ok &&
         attend::attention(mixer_query, mixer_key, constant_value, mixer_gates, constant_state, mixer_output, work) == Status::ok &&
         attend::attention(mixer_query, mixer_key, mixer_value, mixer_gates, attend::empty_state, mixer_output, work) == Status::ok &&
         mixer_state.append(mixer_key, mixer_value, mixer_gates, 2) == Status::ok &&
         attend::load(mixer_state, bytes, sizeof bytes) == Status::ok && attend::is_finite(mixer_state);
}

//! linear_without_rule: attend: add `static constexpr attend::LinearRule rule = ...;` to the shape
attend::LinearState<Shape> wrong;

//! linear_rule_of_int: attend: the rule of a shape is an attend::LinearRule, its decay an attend::Decay
struct Wrong : Shape {
  static constexpr int rule = 3;
};
attend::LinearState<Wrong> wrong;

//! linear_decay_without_gate: attend: this rule has no gate: leave decay out of the shape, or make the rule gated or gated_delta
struct Wrong : Shape {
  static constexpr auto rule = attend::LinearRule::delta;
  static constexpr auto decay = attend::Decay::per_key;
};
attend::LinearState<Wrong> wrong;

//! linear_integers: nothing
constexpr attend::LinearQuantisation<IntegerMixer> scales(0.01, 0.01, 0.02, 0.03);
bool right() {
  return attend::decode(integer_query, integer_key, integer_value, integer_gates, integer_state, integer_output, scales) == attend::Status::ok &&
         integer_state.append(integer_key, integer_value, integer_gates, scales) == attend::Status::ok;
}

//! linear_integer_dims: attend: head_dim of linear attention in integers is at most 256
struct Wrong : IntegerMixer {
  static constexpr int head_dim = 257;
};
attend::LinearState<Wrong> wrong;

//! linear_integers_without_scales: attend: a call of linear attention in integers takes one attend::LinearQuantisation of the shape at its end
auto wrong() { return attend::decode(integer_query, integer_key, integer_value, integer_gates, integer_state, integer_output); }

//! linear_append_without_scales: attend: append in integers takes an attend::LinearQuantisation behind the gates
auto wrong() { return integer_state.append(integer_key, integer_value, integer_gates); }

//! linear_scales_of_floats: attend: a LinearQuantisation is of an integer shape: write attend::LinearQuantisation<attend::Integer<Shape>>
constexpr attend::LinearQuantisation<Mixer> wrong(0.01, 0.01, 0.02, 0.03);

//! linear_scales_of_three_heads: attend: a LinearQuantisation is of 1 head, for all of them, or of the shape's value heads
constexpr attend::LinearQuantisation<IntegerMixer, 3> wrong(0.01, 0.01, 0.02, 0.03);

//! linear_scale_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::LinearQuantisation<IntegerMixer> wrong(0.01, 1.0, 0.02, 0.03);

//! gate_tables: nothing
static int8_t z[6][2][4];
static uint16_t numbers[6][2][4];
constexpr attend::GateTable tables[] = {{-1.5, 0.2, 0.05}, {-0.3, -1.0, 0.05}};
constexpr auto beta = attend::GateTable::sigmoid(0.04);
void right() {
  attend::look_up(z, tables, numbers);
  attend::look_up(z, beta, numbers);
}

//! gate_table_out_of_range: calls a_scale_or_zero_point_is_out_of_range
constexpr attend::GateTable wrong(0.5, 0.2, 0.05);

//! gate_table_heads: attend: look_up takes an int8_t[tokens][heads], say, and then a table, or an array of one for each head
static int8_t z[6][3];
static uint16_t numbers[6][3];
constexpr attend::GateTable tables[] = {{-1.5, 0.2, 0.05}, {-0.3, -1.0, 0.05}};
void wrong() { attend::look_up(z, tables, numbers); }

//! gate_table_result: attend: the result of look_up is an array like its first
static int8_t z[6][3];
static uint16_t numbers[6][4];
void wrong() { attend::look_up(z, attend::GateTable::sigmoid(0.04), numbers); }

//! linear_value_heads: attend: kv_heads must divide value_heads
attend::LinearState<ValueHeads<3>> wrong;

//! linear_no_value_heads: attend: value_heads must be at least 1
attend::LinearState<ValueHeads<0>> wrong;

//! linear_negative_value_heads: attend: value_heads must be at least 1
attend::Gates<ValueHeads<-4>> wrong;

//! linear_query_and_value_heads: attend: one of query_heads and value_heads must divide the other
attend::LinearState<ValueHeads<6>> wrong;

//! linear_head_of_2_to_the_31: attend: head_dim * value_dim of linear attention, and head_dim * (query_heads / value_heads + 2), must be less than 2^31
attend::Gates<WideHead<1, 65536, 32768>> wrong;

//! linear_head_read_by_too_many: attend: head_dim * value_dim of linear attention, and head_dim * (query_heads / value_heads + 2), must be less than 2^31
attend::Gates<WideHead<65536, 65536, 1>> wrong;

//! linear_largest_head: nothing
attend::Gates<WideHead<1, 65536, 32767>> right;

//! linear_shape_in_attention: attend: value_heads of their own are for linear attention alone
struct Wrong : Shape {
  static constexpr int value_heads = 8;
};
static attend::Key<Wrong, 3> several_keys;
static attend::Value<Wrong, 3> several_values;
static attend::KvCache<Wrong> several_cache;
void wrong() { (void)several_cache.append(several_keys, several_values); }

//! linear_beta_without_delta: at beta
struct Wrong : Shape {
  static constexpr auto rule = attend::LinearRule::gated;
};
static attend::Gates<Wrong> gates;
void wrong() { gates.beta[0][0] = 1; }

//! linear_key: attend: linear attention takes an attend::Key of the state's shape, with as many tokens as the query
void wrong() { (void)attend::prefill(mixer_query, mixer_query, mixer_value, mixer_gates, mixer_state, mixer_output); }

//! linear_value: attend: linear attention takes an attend::Value, like its key, behind it
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_key, mixer_gates, mixer_state, mixer_output); }

//! linear_gates: attend: linear attention takes an attend::Gates, like its key, behind the value
static attend::Gates<Mixer, 2> fewer;
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, fewer, mixer_state, mixer_output); }

//! linear_query: attend: linear attention takes an attend::Query first
void wrong() { (void)attend::prefill(mixer_key, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output); }

//! linear_state_of_other_shape: attend: linear attention takes an attend::LinearState of the query's shape
struct Other : Mixer {};
static attend::LinearState<Other> other;
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, other, mixer_output); }

//! linear_output: attend: linear attention takes an attend::Output, like its query, behind the state
static attend::Output<Mixer, 2> fewer;
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, fewer); }

//! linear_constant_state: attend: prefill and decode move an attend::LinearState on, which must not be const: attention leaves it
const auto& constant_state = mixer_state;
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, constant_state, mixer_output); }

//! linear_decode_of_nothing: attend: prefill and decode move an attend::LinearState on, which must not be const: attention leaves it
static attend::Query<Mixer> one_query;
static attend::Key<Mixer> one_key;
static attend::Value<Mixer> one_value;
static attend::Gates<Mixer> one_gates;
static attend::Output<Mixer> one_output;
void wrong() { (void)attend::decode(one_query, one_key, one_value, one_gates, attend::empty_state, one_output); }

//! linear_no_work: attend: attention with a LinearState takes an attend::LinearWorkspace<Shape> after the output
void wrong() { (void)attend::attention(mixer_query, mixer_key, mixer_value, mixer_gates, attend::empty_state, mixer_output); }

//! linear_no_tokens: attend: an array needs at least 1 token
attend::Gates<Mixer, -1> wrong;

//! linear_two_options: attend: at its end a call of linear attention takes at most one attend::LinearOptions and one attend::Part
static const attend::LinearOptions some, other;
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output, some, other); }

//! linear_two_parts: attend: at its end a call of linear attention takes at most one attend::LinearOptions and one attend::Part
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output, half, attend::TeamPart{}); }

//! linear_options: attend: at its end a call of linear attention takes at most one attend::LinearOptions and one attend::Part
void wrong() { (void)attend::prefill(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output, all_options); }

//! linear_decode_of_several: attend: decode takes one token: prefill takes several
void wrong() { (void)attend::decode(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output); }

//! linear_work: attend: attention with a LinearState takes an attend::LinearWorkspace<Shape> after the output
void wrong() { (void)attend::attention(mixer_query, mixer_key, mixer_value, mixer_gates, mixer_state, mixer_output, workspace); }

//! linear_append: attend: linear attention takes an attend::Value, like its key, behind it
void wrong() { (void)mixer_state.append(mixer_key, mixer_gates, mixer_value, 2); }

//! linear_saved_room: attend: save takes an array of at least saved_bytes of the state second
static uint8_t few[100];
void wrong() { attend::save(mixer_state, few); }

