// Refusals and rules at their edges that no other test reaches: each operand of a check decides once.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>

#include "../support/typed_objects.h"
#include "attend/layers.h"
#include "attend/linear_attention.h"
#include "attend/merged_states.h"

using namespace attend_test;
using attend::Status;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr int tokens = 3, width = 8;

struct Small {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 4, max_tokens = 64;
};
struct Long : Small {
  static constexpr int max_tokens = 2048;
};
struct More : Long {
  static constexpr int query_heads = 4;
};
struct Wider : Long {
  static constexpr int value_dim = 8;
};
struct Groups {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 64, max_tokens = 16;
};
using Integers = attend::Integer<Small>;
attend::core::SegmentSet set_of(const std::int32_t& number, int count) { return {count, &number, 1}; }

struct Mixer : Small {
  static constexpr auto rule = attend::LinearRule::gated;
};
struct Recent {
  static constexpr int window = 32, tokens_at_once = 4, sink_tokens = 2;
};

}  // namespace

TEST_CASE("edges of core rules: logarithms, seen keys, states that go on, epsilons and bases") {
  namespace core = attend::core;
  for (int bit = 0; bit < 32; ++bit) CHECK(core::floor_log2(1u << bit) == bit);
  volatile int one = 1;
  CHECK(core::levels_over(one) == 0);
  CHECK(core::levels_over(2 * one) == 1);
  const core::SeenKeys seen = {0, 600, 700}, none = {0, 1300, 1300};
  for (int segment = 0; segment < 3; ++segment) {
    CHECK(seen.has_segment(segment) == (segment == 1));
    CHECK(!none.has_segment(segment));
  }
  const std::int32_t first = 1;
  const core::SegmentSet empty = set_of(first, 0), taken = set_of(first, 1);
  CHECK(core::next_of_both(empty, 1024, empty, 512) == 512);
  CHECK(core::next_of_both(empty, 1024, taken, 512) == 512);
  CHECK(core::next_of_both(taken, 512, empty, 1024) == 512);
  for (const float base : {1.0f, 2.0f, 2e12f}) {
    for (const float factor : {0.5f, 1.0f, 1e6f}) CHECK(core::is_rotary_base(base, factor) == (base == 2.0f && factor == 1.0f));
  }
  core::Problem problem;
  problem.causal = true, problem.queries = 0, problem.offset = 5, problem.keys = 2;
  CHECK(core::has_own_keys(problem));
  problem.queries = 1;
  CHECK(!core::has_own_keys(problem));
  problem.causal = false;
  CHECK(core::has_own_keys(problem));
  CHECK(core::output_scale(infinite).factor == 0);
  CHECK(core::output_scale(0.0).factor == 0);
  const auto large = core::integer_multiplier(1 - 1.0 / (1 << 28)), small = core::integer_multiplier(0.001);
  CHECK(core::integer_sum_factors(large, small).a == core::integer_sum_factors(small, large).b);
}

TEST_CASE("edges of scales: each scale of a quantisation is checked") {
  using Quantisation = attend::Quantisation<Integers>;
  const double usual[] = {0.03, 0.03, 0.02, 0.01};
  for (int wrong = 0; wrong < 4; ++wrong) {
    double scales[4];
    for (int i = 0; i < 4; ++i) scales[i] = i == wrong ? -1.0 : usual[i];
    const Quantisation made(scales[0], scales[1], scales[2], scales[3]);
    CHECK(made.status() == Status::bad_quantisation);
    const attend::ProjectionScales<1> projection(scales[0], scales[1], scales[3]);
    CHECK((projection.status() == Status::ok) == (wrong == 2));
    CHECK(attend::ProjectionScales<1>({scales[0], 300}, scales[1], scales[3]).status() == Status::bad_zero_point);
  }
  for (const double wrong : {-1.0, 0.02}) {
    const attend::LinearQuantisation<attend::Integer<Mixer>> made(0.02, 0.01, wrong, 0.02);
    CHECK((made.status() == Status::ok) == (wrong > 0));
    using Convolution = attend::ConvQuantisation<1, attend::ConvActivation::silu>;
    CHECK(Convolution(0.02, 0.02, -1.0, 0.1).status() == Status::bad_quantisation);
    CHECK((Convolution(0.02, 0.02, wrong > 0 ? 0.02 : 1e-9, 0.1).status() == Status::ok) == (wrong > 0));
  }
  attend::Quantisation<Integers, 2> zeros({0.03, 0}, {0.03, 5}, {0.02, 0}, {0.01, 0});
  CHECK(zeros.has_key_zero());
  zeros.set_head(1, {0.03, 0}, {0.03, 0}, {0.02, 0}, {0.01, 0});
  CHECK(zeros.has_key_zero());
}

TEST_CASE("edges of layers: counts, lengths, epsilons, overlaps and steps") {
  static attend::Weights<2 * 4, width> wq;
  static attend::Weights<4, width> wk, wv;
  static attend::Weights<width, 2 * 4> wo;
  static attend::Vectors<tokens, width> x, y;
  static attend::KvCache<Small> cache;
  static attend::LayerWorkspace<Small, tokens> work;
  static attend::LayerWorkspace<Small, tokens, tokens> apart;
  const auto layer = attend::multi_head<Small>(wq, wk, wv, wo);
  for (const int count : {-1, tokens + 1}) CHECK(attend::project_memory(x, layer, cache, work, count) == Status::bad_count);
  REQUIRE(attend::project_memory(x, layer, cache, work) == Status::ok);
  attend::Options options;
  for (const int length : {-1, tokens + 1}) {
    options.query_length = length;
    CHECK(attend::cross_attention(x, layer, cache, y, work, options) == Status::bad_query_length);
    CHECK(attend::self_attention(x, layer, y, apart, options) == Status::bad_query_length);
  }
  static float memory[tokens + 1][width];
  CHECK(attend::cross_attention(reinterpret_cast<float(&)[tokens][width]>(memory[0]), layer, cache,
                                reinterpret_cast<float(&)[tokens][width]>(memory[1]), work) == Status::bad_output);
  static attend::KvCache<Small> one;
  REQUIRE(attend::project_memory(x, layer, one, work, 1) == Status::ok);
  CHECK(attend::cross_attention(x, layer, one, y, work, attend::causal()) == Status::bad_query_length);
  static attend::KvCache<Small, attend::float16> halves;
  static attend::Weights<4, width> huge;
  huge.data[0][0] = 1e30f;
  x.data[0][0] = 1;
  CHECK(attend::project_memory(x, attend::multi_head<Small>(wq, huge, wv, wo), halves, work) == Status::out_of_range);
  static attend::Weights<4, width, attend::float16> of_halves;
  CHECK(attend::convert(huge, of_halves) == Status::out_of_range);
  static attend::Vectors<tokens, width> other;
  CHECK(attend::project(x, attend::into(wo, y), attend::into(wo, other), attend::into(wo, y)) == Status::bad_output);
  attend::Rotary<4> not_made;
  constexpr auto pairs = attend::RotaryPairs::halves;
  const auto turning = attend::multi_head<Small>(wq, wk, wv, wo, attend::rotated<pairs>(not_made));
  CHECK(attend::project_memory(x, turning, cache, work) == Status::bad_rotary);
  CHECK(attend::cross_attention(x, turning, cache, y, work) == Status::bad_rotary);
  CHECK(attend::self_attention(x, turning, y, apart) == Status::bad_rotary);
  const float gain[width] = {1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(attend::rms_norm(x, gain, y, 0.0f) == Status::bad_epsilon);
  CHECK(attend::layer_norm(x, gain, gain, y, 1e31f) == Status::bad_epsilon);
}

TEST_CASE("edges of rotary positions: counts, bases, and where a table ends") {
  static attend::Query<Small, tokens> x;
  constexpr auto pairs = attend::RotaryPairs::halves;
  attend::Rotary<4> rotary;
  attend::RotaryTable<4, 5> table;
  CHECK(rotary.init(1.0f) == Status::bad_rotary);
  CHECK(rotary.init(2.0f, 0.5f) == Status::bad_rotary);
  CHECK(table.init(1.0f) == Status::bad_rotary);
  REQUIRE(rotary.init() == Status::ok);
  REQUIRE(table.init() == Status::ok);
  const int at[tokens] = {1, 2, 3};
  for (const int count : {-1, tokens + 1}) {
    CHECK(rotary.rotate<pairs>(x, 0, count) == Status::bad_count);
    CHECK(rotary.rotate<pairs>(x, at, count) == Status::bad_count);
    CHECK(table.rotate<pairs>(x, 0, count) == Status::bad_count);
  }
  for (const int position : {-1, 3}) CHECK(table.rotate<pairs>(x, position) == Status::bad_position);
  CHECK(table.rotate<pairs>(x, 2) == Status::ok);
}

TEST_CASE("edges of states: who may finish, merge and load") {
  using State = attend::State<Long, 2>;
  static State state, other, third, fourth;
  static attend::State<Long, 1> few;
  static attend::Output<Long, 2> output;
  static uint8_t bytes[State::most_saved_bytes];
  attend::ScoreOptions<Long> options;
  for (const int length : {-1, 3}) {
    options.query_length = length;
    CHECK(attend::finish(state, output, options) == Status::bad_query_length);
  }
  options = {};
  options.query_length = 0, options.causal = true;
  CHECK(attend::finish(third, output, options) == Status::ok);
  options.query_length = 2;
  CHECK(attend::finish(state, output, options) == Status::missing_keys);
  options.key_length = 0;
  CHECK(attend::finish(fourth, output, options) == Status::ok);
  static attend::Query<Long, 2> query;
  static attend::KvCache<Long> cache;
  static attend::Key<Long, 64> key;
  static attend::Value<Long, 64> value;
  REQUIRE(cache.append(key, value) == Status::ok);
  static attend::OptionWorkspace<Long, 2> work;
  REQUIRE(attend::accumulate(query, cache, state, 64, work) == Status::ok);
  options = {}, options.query_length = 1;
  REQUIRE(attend::accumulate(query, cache, other, 64, work, options) == Status::ok);
  CHECK(attend::merge(state, other) == Status::bad_state);
  options = {}, options.lse_base = attend::LseBase::two;
  CHECK(attend::finish(state, output, options) == Status::other_options);
  const float slopes[2] = {1, 2};
  options = {}, options.alibi_slopes = slopes;
  CHECK(attend::finish(state, output, options) == Status::other_options);
  static attend::RelativeBias<2, 3, 3> relative;
  static attend::Bias<2, 2, 64> bias;
  options = {}, options.relative_bias = relative, options.bias = bias, options.soft_cap = 2.0f;
  options.bias_stage = attend::BiasStage::before_cap;
  REQUIRE(attend::accumulate(query, cache, third, 64, work, options) == Status::ok);
  options.key_length = 64;
  CHECK(attend::finish(third, output, options) == Status::ok);
  REQUIRE(attend::save(state, bytes) == Status::ok);
  CHECK(attend::load(few, bytes, sizeof bytes) == Status::other_shape);
  static attend::State<More, 2> more;
  static attend::State<Wider, 2> wider;
  CHECK(attend::load(more, bytes, sizeof bytes) == Status::other_shape);
  CHECK(attend::load(wider, bytes, sizeof bytes) == Status::other_shape);
  attend::core::SavedHead head{};
  head.batch = 2, head.queries = 1, head.query_heads = Long::query_heads, head.value_dim = Long::head_dim;
  static const float numbers[256] = {};
  attend::core::save(head, numbers, 0, bytes);
  CHECK(attend::load(state, bytes, sizeof bytes) == Status::other_shape);
  head.batch = 1, head.queries = 0, head.next_key = 5;  // of no call, and yet inside a segment
  attend::core::save(head, numbers, 0, bytes);
  CHECK(attend::load(state, bytes, sizeof bytes) == Status::bad_saved);
  CHECK(attend::detail::QueryFactorStep{{}}.check(-1, 1) == Status::bad_position);
}

TEST_CASE("edges of lists and caches: documents, ranges, pages, rings and origins") {
  static attend::Query<Small, 4> query;
  static attend::Key<Small, 2> two;
  static attend::Value<Small, 2> two_values;
  static attend::Key<Small, 20> key;
  static attend::Value<Small, 20> value;
  static attend::Output<Small, 4> output;
  static attend::OptionWorkspace<Small, 4, 20> work;
  attend::Documents<2> documents;
  REQUIRE(documents.add(3) == Status::ok);
  attend::RangedOptions<Small> ranged;
  CHECK(attend::attention(query, two, two_values, output, work, ranged) == Status::ok);
  ranged.documents = documents;
  CHECK(attend::attention(query, two, two_values, output, work, ranged) == Status::bad_documents);
  static attend::KvCache<Small, attend::float16> pool;
  static attend::PagedCache<attend::KvCache<Small, attend::float16>, 16, 4> paged;
  static attend::Query<Small> one;
  static attend::Output<Small> seen;
  attend::Options none;
  none.key_length = 0;
  CHECK(attend::decode(one, paged, seen, work, none) == Status::ok);
  for (const int page : {0, 1}) REQUIRE(paged.add_page(pool, page) == Status::ok);
  key.data[0][0][0] = 1e30f, key.data[0][0][1] = std::numeric_limits<float>::quiet_NaN();  // which fits
  CHECK(paged.append(key, value) == Status::out_of_range);
  CHECK(paged.length() == 0);
  static attend::KvCache<Groups, attend::int4> groups;
  static attend::Key<Groups> wide_key;
  static attend::Value<Groups> wide_value;
  for (float& number : wide_key.data[0][0]) number = 1e30f;
  CHECK(groups.append(wide_key, wide_value) == Status::out_of_range);
  static attend::RingCache<Small, Recent, attend::float16, attend::saturated<attend::float16>> halves;
  static attend::Key<Small, 4> four;
  static attend::Value<Small, 4> four_values;
  for (int i = 0; i < 40; ++i) REQUIRE(halves.append(four, four_values, i == 0 ? 2 : 4) == Status::ok);
  REQUIRE(halves.length() % 16 == 14);  // the next four begin a panel
  for (auto& token : four.data) token[0][0] = 1e30f;
  CHECK(halves.append(four, four_values) == Status::out_of_range);
  static attend::ConvState<3, 4, attend::integer> conv, again;
  uint8_t saved[decltype(conv)::saved_bytes];
  attend::save(conv, saved);
  CHECK(attend::load(again, saved, sizeof saved) == Status::ok);
  attend::ScoreOptions<Small> sinks;
  const float large[2] = {1e9f, 1e9f};
  sinks.sink_logits = large;
  CHECK(attend::attention(query, two, two_values, output, work, sinks) == Status::ok);
  CHECK(output[0][0][0] == 0.0f);
  static attend::Query<Integers, 4> bytes;
  static attend::Key<Integers, 2> byte_key;
  static attend::Value<Integers, 2> byte_value;
  static attend::Output<Integers, 4> byte_output;
  static attend::OptionWorkspace<Integers, 4, 20> byte_work;
  constexpr attend::Quantisation<Integers> scales(0.03, 0.03, 0.02, 0.01);
  attend::RangedOptions<Integers> of_bytes;
  of_bytes.documents = documents;
  CHECK(attend::attention(bytes, byte_key, byte_value, byte_output, byte_work, scales, of_bytes) == Status::bad_documents);
  attend::ScoreOptions<Integers> options;
  static attend::RingCache<Integers, Recent> ring;
  for (int i = 0; i < 200; ++i) REQUIRE(ring.append(byte_key, byte_value) == Status::ok);
  static attend::Workspace<Integers, 4> ring_work;
  options = attend::causal();
  options.offset = 10;
  CHECK(attend::prefill(bytes, ring, byte_output, ring_work, scales, options) == Status::not_in_ring);
  options.origin = 3;
  CHECK(attend::prefill(bytes, ring, byte_output, ring_work, scales, options) == Status::bad_origin);
}
