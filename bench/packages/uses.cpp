// A call of each kind, for vendor.sh: what they need of the library is what a program needs that makes such calls. USE_X is
// defined for each word X of USES.
#include <attend/core/version.h>

#if defined(USE_attention) || defined(USE_decode) || defined(USE_prefill) || defined(USE_ring) || defined(USE_options) || \
    defined(USE_states)
#include <attend/attend.h>
#include <attend/attention.h>

namespace {

struct Shape {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 32, max_tokens = 64;
};
struct Last {
  static constexpr int window = 32;
};
attend::Query<Shape> query;
attend::Query<Shape, 4> queries;
attend::Key<Shape> key;
attend::Value<Shape> value;
attend::Output<Shape> output;
attend::Output<Shape, 4> outputs;
attend::KvCache<Shape> cache;
attend::Workspace<Shape, 4, 64> work;
attend::OptionWorkspace<Shape, 4, attend::over_ring<Last>> option_work;
attend::RingCache<Shape, Last> ring;

}  // namespace
#endif
#ifdef USE_states
#include <attend/merged_states.h>
#endif
#ifdef USE_integers
#include <attend/integer.h>
#endif
#if defined(USE_project) || defined(USE_rows)
#include <attend/layers.h>
#endif
#ifdef USE_c
#include <attend/attend_c.h>
#endif

#define USE(name) extern "C" [[gnu::used]] int use_##name()

#ifdef USE_attention
USE(attention) {
  static attend::Key<Shape, 4> keys;
  static attend::Value<Shape, 4> values;
  return int(attend::attention(queries, keys, values, outputs, work));
}
#endif
#ifdef USE_prefill
USE(prefill) { return int(cache.append(key, value)) + int(attend::prefill(queries, cache, outputs, work)); }
#endif
#ifdef USE_decode
USE(decode) { return int(cache.append(key, value)) + int(attend::decode(query, cache, output)); }
#endif
#ifdef USE_ring
USE(ring) { return int(ring.append(key, value)) + int(attend::decode(query, ring, output, option_work)); }
#endif
#ifdef USE_options
USE(options) {
  attend::ScoreOptions<Shape> options;
  options.soft_cap = 30.0f;
  return int(attend::decode(query, cache, output, option_work, options));
}
#endif
#ifdef USE_states
USE(states) {
  static attend::State<Shape> state, other;
  static unsigned char bytes[attend::State<Shape>::most_saved_bytes];
  (void)state.begin(0);
  (void)attend::save(state, bytes);
  return int(attend::accumulate(query, cache, state, 1, option_work)) + int(attend::merge(state, other)) +
         int(attend::finish(state, output));
}
#endif
#ifdef USE_integers
namespace {
struct Bytes {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 32, max_tokens = 64;
};
constexpr attend::Quantisation<Bytes> scales(0.031, 0.027, 0.02, 0.02);
}  // namespace
USE(integers) {
  static attend::KvCache<Bytes> bytes;
  static attend::Workspace<Bytes, 1> byte_work;
  static attend::Query<Bytes> byte_query;
  static attend::Key<Bytes> byte_key;
  static attend::Value<Bytes> byte_value;
  static attend::Output<Bytes> byte_output;
  return int(bytes.append(byte_key, byte_value)) + int(attend::decode(byte_query, bytes, byte_output, byte_work, scales));
}
#endif
#ifdef USE_project
USE(project) {
  static attend::Vectors<1, 64> x, y;
  static attend::Weights<64, 64> floats;
  static attend::Weights<64, 64, attend::int8> bytes;
  return int(attend::project(x, floats, y)) + int(attend::project(x, bytes, y));
}
#endif
#ifdef USE_rows
USE(rows) {
  static float row[32], head[1][1][32];
  static attend::Rotary<32> rotary;
  (void)rotary.init();
  (void)rotary.rotate<attend::RotaryPairs::halves>(head, 1);
  (void)attend::layer_norm(row, attend::none, attend::none, row);
  (void)attend::rms_norm(row, attend::none, row);
  (void)attend::activate<attend::Activation::gelu>(row);
  (void)attend::activate<attend::Activation::silu>(row);
  (void)attend::add(head[0][0], row);
  return 0;
}
#endif
#ifdef USE_c
USE(c) {
  static attend_problem problem;
  return attend_problem_init(&problem, sizeof problem) + attend_run(&problem, nullptr, 0);
}
#endif
