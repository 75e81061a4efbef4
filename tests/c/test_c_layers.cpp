// Layers from C have the bits of the typed calls: with and without a cache, in one call or token by token, across to a memory.
#include "c_layer_cases.h"

#include <limits>

using namespace attend_test;
using attend::Status;
using attend::Vectors;

namespace {

constexpr int width = 11, out_width = 9, rotary_dim = 6, tokens = 23;
constexpr float epsilon = 0.01f;

struct Small {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 7, value_dim = 5, max_tokens = 64;
};
struct Recent {
  static constexpr int window = 10, tokens_at_once = tokens, sink_tokens = 3;
};
struct Multi {
  static constexpr int query_heads = 3, kv_heads = 1, head_dim = 6, max_tokens = 260;
};

template <int count, int size>
std::unique_ptr<Vectors<count, size>> random_vectors(std::uint64_t seed) {
  auto made = std::make_unique<Vectors<count, size>>();
  Random(seed).fill(made->data[0], std::size_t(count) * size);
  return made;
}

// How the C surface makes the cache that a typed one is.
template <class Cache>
struct CacheOf;
template <class Shape, class K, class V>
struct CacheOf<attend::KvCache<Shape, K, V>> {
  template <class Layers>
  static void make(Layers& layers) {
    layers.new_cache(Shape::max_tokens, format_of<K>(), format_of<V>());
  }
};
template <class Shape, class Sizes, class K, class V>
struct CacheOf<attend::RingCache<Shape, Sizes, K, V>> {
  template <class Layers>
  static void make(Layers& layers) {
    layers.new_cache(1000, format_of<K>(), format_of<V>(), Sizes::window + Sizes::tokens_at_once, Sizes::sink_tokens);
    layers.problem.window_left = Sizes::window - 1, layers.problem.sink_tokens = Sizes::sink_tokens;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("c layers: prefill and decode over a cache", Cache, attend::KvCache<Small>,
                   attend::KvCache<Small, attend::float16, attend::int8>, attend::RingCache<Small, Recent>,
                   attend::RingCache<Small, Recent, attend::int8>) {
  auto layers = std::make_unique<TwoLayers<Small, width, out_width>>();
  attend::Rotary<rotary_dim> rotary;
  REQUIRE(rotary.init(500.0f, 2.0f) == Status::ok);
  const auto typed = layers->typed(attend::head_norm(layers->query_norm, layers->key_norm, epsilon),
                                   attend::rotated<attend::RotaryPairs::neighbours>(rotary));
  layers->add_steps(rotary_dim, ATTEND_NEIGHBOURS, epsilon);
  CacheOf<Cache>::make(*layers);
  layers->problem.options = ATTEND_CAUSAL;
  auto cache = std::make_unique<Cache>();
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, attend::over_ring<Recent>, attend::with_options>>();
  const auto x = random_vectors<tokens, width>(5);
  Vectors<tokens, out_width> y, expected;
  for (int round = 0; round < 2; ++round) {
    REQUIRE(attend::self_attention(*x, typed, *cache, expected, *work) == Status::ok);
    layers->run(attend_self_attention, (*x)[0], tokens, y[0]);
    CHECK(same(y, expected));
    CHECK(attend_cache_tokens(layers->layer.cache, nullptr) == cache->length());
  }
  for (int t = 0; t < 3; ++t) {
    Vectors<1, width> token;
    std::memcpy(&token, (*x)[t], sizeof token);
    Vectors<1, out_width> out, expected_out;
    REQUIRE(attend::self_attention(token, typed, *cache, expected_out, *work) == Status::ok);
    layers->run(attend_self_attention, token[0], 1, out[0]);
    CHECK(same(out, expected_out));
  }
}

TEST_CASE("c layers: more tokens than are under way at a time, without a cache, causal and not; y may be x") {
  constexpr int many = 200;
  auto layers = std::make_unique<TwoLayers<Multi, width, width>>();
  attend::Rotary<4> rotary;
  REQUIRE(rotary.init(500.0f, 2.0f) == Status::ok);
  const auto typed = layers->typed(attend::head_norm(layers->query_norm, layers->key_norm, epsilon),
                                   attend::rotated<attend::RotaryPairs::halves>(rotary));
  layers->add_steps(4, ATTEND_HALVES, epsilon);
  auto work = std::make_unique<attend::LayerWorkspace<Multi, many, many>>();
  const auto x = random_vectors<many, width>(6);
  auto y = std::make_unique<Vectors<many, width>>(), expected = std::make_unique<Vectors<many, width>>();
  for (const bool is_causal : {false, true}) {
    attend::Options options;
    options.causal = is_causal;
    REQUIRE(attend::self_attention(*x, typed, *expected, *work, options) == Status::ok);
    layers->problem.options = is_causal ? ATTEND_CAUSAL : 0;
    std::memcpy(y.get(), x.get(), sizeof *y);
    layers->run(attend_self_attention, (*y)[0], many, (*y)[0]);
    CHECK(same(*y, *expected));
  }
  // The same over a cache of floats, which takes the plain path.
  auto cache = std::make_unique<attend::KvCache<Multi>>();
  auto cache_work = std::make_unique<attend::LayerWorkspace<Multi, many>>();
  REQUIRE(attend::self_attention(*x, typed, *cache, *expected, *cache_work) == Status::ok);
  layers->new_cache(Multi::max_tokens, ATTEND_FLOAT32, ATTEND_FLOAT32);
  layers->run(attend_self_attention, (*x)[0], many, (*y)[0]);
  CHECK(same(*y, *expected));
  CHECK(attend_layer_workspace_size(&layers->problem, &layers->layer) <= sizeof *cache_work);
}

TEST_CASE("c layers: factors of queries by position and a gate, over a cache that has tokens and across to one") {
  auto layers = std::make_unique<TwoLayers<Small, width, out_width>>();
  attend::Rotary<rotary_dim> rotary;
  REQUIRE(rotary.init(500.0f, 2.0f) == Status::ok);
  static float factors[6], c_factors[6];
  attend::logarithmic_factors(factors, 0.3f);
  REQUIRE(attend_logarithmic_factors(0.3f, 6, c_factors) == ATTEND_OK);
  CHECK(same(factors, c_factors));
  static attend::Weights<20, width, attend::float16> gate;
  static float bias[20];
  Random random(21);
  fill(gate, random), random.fill(bias, 20);
  const auto typed = layers->typed(attend::head_norm(layers->query_norm, layers->key_norm, epsilon),
                                   attend::rotated<attend::RotaryPairs::halves>(rotary), attend::scaled_queries(factors, 7, 1),
                                   attend::gated(attend::biased(gate, bias)));
  layers->add_steps(rotary_dim, ATTEND_HALVES, epsilon);
  layers->layer.query_factors = {c_factors, 6, 7, 1};
  layers->layer.gate = c_weights(gate, bias);
  layers->new_cache(Small::max_tokens, ATTEND_FLOAT32, ATTEND_FLOAT32);
  layers->problem.options = ATTEND_CAUSAL;
  attend::KvCache<Small> cache;
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens>>();
  const auto x = random_vectors<tokens, width>(15);
  Vectors<tokens, out_width> y, expected;
  for (int round = 0; round < 2; ++round) {
    REQUIRE(attend::self_attention(*x, typed, cache, expected, *work) == Status::ok);
    layers->run(attend_self_attention, (*x)[0], tokens, y[0]);
    CHECK(same(y, expected));
  }
  attend::Options at;
  at.offset = 9, at.causal = false;
  REQUIRE(attend::cross_attention(*x, typed, cache, expected, *work, at) == Status::ok);
  layers->problem.options = 0, layers->problem.offset = 9;
  layers->run(attend_cross_attention, (*x)[0], tokens, y[0]);
  CHECK(same(y, expected));
  // Positions without rotary, for the factors alone.
  const auto unturned = layers->typed(attend::scaled_queries(factors, 7, 1));
  layers->layer.rotary = nullptr, layers->layer.query_norm = layers->layer.key_norm = nullptr, layers->layer.epsilon = 1e-5f;
  layers->layer.gate = {};
  for (const int part : {0, 1, 2}) {
    attend_weights& set = layers->layer.gate;
    part == 0 ? void(set.bias = bias) : part == 1 ? void(set.format = ATTEND_FLOAT16) : void(set.layout = ATTEND_PANELS);
    CHECK(attend_layer_workspace_size(&layers->problem, &layers->layer) == 0);
    set = {};
  }
  REQUIRE(attend::cross_attention(*x, unturned, cache, expected, *work, at) == Status::ok);
  layers->run(attend_cross_attention, (*x)[0], tokens, y[0]);
  CHECK(same(y, expected));
}

TEST_CASE("c layers: options of the problem") {
  auto layers = std::make_unique<TwoLayers<Small, width, out_width>>();
  const auto typed = layers->typed();
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, tokens, attend::with_options>>();
  const auto x = random_vectors<tokens, width>(7);
  attend::Mask<tokens, 4, tokens> mask;
  Random random(9);
  for (auto& of_token : mask.data) {
    for (auto& of_head : of_token) {
      for (auto& visible : of_head) visible = random.between(0, 2) > 0;
    }
  }
  attend::Lse<Small, tokens> lse, expected_lse;
  attend::ScoreOptions<Small> options;
  options.causal = true, options.window_left = 5, options.soft_cap = 3.0f, options.scale = 0.5f;
  options.mask = mask, options.lse = expected_lse;
  attend_problem& p = layers->problem;
  p.options = ATTEND_CAUSAL, p.window_left = 5, p.soft_cap = 3.0f, p.scale = 0.5f;
  p.mask = {&mask, 0, tokens, 4 * tokens, tokens, ATTEND_MASK_BYTES};
  p.lse.data = &lse;
  Vectors<tokens, out_width> y, expected;
  REQUIRE(attend::self_attention(*x, typed, expected, *work, options) == Status::ok);
  layers->run(attend_self_attention, (*x)[0], tokens, y[0]);
  CHECK(same(y, expected));
  CHECK(same(lse, expected_lse));
  // A length, and queries that are the last of it.
  const std::ptrdiff_t length = 20;
  layers->new_cache(64, ATTEND_FLOAT32, ATTEND_FLOAT32);
  attend::KvCache<Small> cache;
  REQUIRE(attend::self_attention(*x, typed, cache, expected, *work) == Status::ok);
  const auto later = random_vectors<2, width>(8);
  Vectors<2, out_width> y_of_two, expected_of_two;
  attend::Options cut;
  cut.key_length = int(length), cut.offset = int(length) - 2, cut.causal = true;
  REQUIRE(attend::self_attention(*later, typed, cache, expected_of_two, *work, cut) == Status::ok);
  attend_problem_init(&p, sizeof p);
  p.query_heads = 4, p.kv_heads = 2, p.head_dim = 7, p.value_dim = 5, p.options = ATTEND_CAUSAL;
  layers->run(attend_self_attention, (*x)[0], tokens, y[0]);
  CHECK(same(y, expected));
  p.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST, p.key_lengths = &length;
  layers->run(attend_self_attention, (*later)[0], 2, y_of_two[0]);
  CHECK(same(y_of_two, expected_of_two));
}

TEST_CASE("c layers: cross-attention to a memory that is projected once") {
  constexpr int memory_width = 6, memory_tokens = 37;
  auto layers = std::make_unique<TwoLayers<Small, width, out_width, memory_width>>();
  attend::Rotary<rotary_dim> rotary;
  REQUIRE(rotary.init(500.0f, 2.0f) == Status::ok);
  const auto plain = layers->typed();
  const auto turned = layers->typed(attend::head_norm(layers->query_norm, layers->key_norm, epsilon),
                                    attend::rotated<attend::RotaryPairs::halves>(rotary));
  auto work = std::make_unique<attend::LayerWorkspace<Small, memory_tokens, attend::over_cache, attend::with_options>>();
  const auto memory = random_vectors<memory_tokens, memory_width>(12);
  const auto x = random_vectors<tokens, width>(13);
  Vectors<tokens, out_width> y, expected;
  const auto run = [&](const auto& typed, const attend::Options& options) {
    attend::KvCache<Small> cache;
    REQUIRE(attend::project_memory(*memory, typed, cache, *work) == Status::ok);
    REQUIRE(attend::cross_attention(*x, typed, cache, expected, *work, options) == Status::ok);
    layers->new_cache(memory_tokens, ATTEND_FLOAT32, ATTEND_FLOAT32);
    CHECK(layers->project_memory((*memory)[0], 20) == ATTEND_OK);
    CHECK(layers->project_memory((*memory)[20], memory_tokens - 20) == ATTEND_OK);
    CHECK(layers->project_memory((*memory)[0], 1) == wrong(ATTEND_FULL, ATTEND_ARG_CACHE));
    layers->run(attend_cross_attention, (*x)[0], tokens, y[0]);
    CHECK(same(y, expected));
    CHECK(attend_cache_tokens(layers->layer.cache, nullptr) == memory_tokens);
  };
  attend::Options options;
  options.key_length = 30;
  layers->problem.keys = 30;
  run(plain, options);
  layers->add_steps(rotary_dim, ATTEND_HALVES, epsilon);
  run(turned, options);
  options.offset = 17, layers->problem.offset = 17;  // for rotary alone
  run(turned, options);
  options.causal = true, layers->problem.options = ATTEND_CAUSAL;
  run(turned, options);
  options.offset = {}, layers->problem.offset = ATTEND_DEFAULT_OFFSET;
  run(turned, options);
  options.offset = 30 - tokens;
  layers->problem.options |= ATTEND_QUERIES_LAST;
  run(turned, options);
}

TEST_CASE("c layers: additive attention") {
  constexpr int keys = 37, hidden = 11, value_width = 7, queries = 3, gap = 2;
  using Shape = attend::AdditiveShape<hidden, value_width>;
  const auto query = random_vectors<queries, hidden>(1);
  const auto key = random_vectors<keys, hidden>(2);
  const auto value = random_vectors<keys, value_width>(3);
  float v[hidden], spread[keys][hidden + gap];
  Random(4).fill(v, hidden);
  for (int j = 0; j < keys; ++j) {
    std::memcpy(spread[j], (*key)[j], sizeof(float) * hidden);
    spread[j][hidden] = spread[j][hidden + 1] = std::numeric_limits<float>::quiet_NaN();
  }
  attend::BitMask<1, 1, keys> mask{};
  for (auto& byte : mask.data[0][0]) byte = 0xb7;
  attend::Workspace<Shape, queries, keys> work;
  Vectors<queries, value_width> y, expected;
  attend::Scores<Shape, queries, keys> weights, expected_weights;
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  p.query_heads = p.kv_heads = 1, p.head_dim = hidden, p.value_dim = value_width, p.queries = queries, p.keys = keys;
  p.query.data = query.get(), p.value.data = value.get(), p.output.data = &y;
  p.key = {spread, 0, hidden + gap, 0};
  const auto run = [&](const attend::ScoreOptions<Shape>& options) {
    REQUIRE(attend::additive_attention(*query, *key, v, *value, expected, work, options) == Status::ok);
    const std::size_t bytes = attend_additive_workspace_size(&p);
    Aligned memory(bytes);
    std::memset(memory.data(), 0xff, bytes);
    const attend_status status = attend_additive_attention(&p, v, memory.data(), bytes);
    INFO(explain(status));
    CHECK(status == ATTEND_OK);
    CHECK(same(y, expected));
  };
  attend::ScoreOptions<Shape> options;
  run(options);
  options.causal = true, options.offset = 20, options.mask = mask;
  options.scores = expected_weights, options.score_stage = attend::ScoreStage::weights;
  p.options = ATTEND_CAUSAL, p.offset = 20;
  p.mask = {&mask, 0, 0, 0, keys, ATTEND_MASK_BITS};
  p.scores.data = weights.data[0][0], p.scores.stage = ATTEND_SCORES_WEIGHTS;
  run(options);
  CHECK(same(weights, expected_weights));
  const std::ptrdiff_t length = 11;
  p.key_lengths = &length, options.key_length = int(length);
  run(options);
  p.options |= ATTEND_QUERIES_LAST, p.offset = ATTEND_DEFAULT_OFFSET, options.offset = int(length) - queries;
  run(options);
}

TEST_CASE("c layers, refused: what the call's own tokens overwrite in a ring") {
  auto layers = std::make_unique<TwoLayers<Small, width, out_width>>();
  layers->new_cache(1000, ATTEND_FLOAT32, ATTEND_FLOAT32, 20, 0);  // three panels of 16
  layers->problem.options = ATTEND_CAUSAL, layers->problem.window_left = 30;
  const auto x = random_vectors<40, width>(8);
  Vectors<40, out_width> y;
  layers->run(attend_self_attention, (*x)[0], 40, y[0]);
  layers->problem.queries = 17;  // the first of them sees token 10, whose panel the last of them takes
  std::vector<unsigned char> work(attend_layer_workspace_size(&layers->problem, &layers->layer) + ATTEND_ALIGNMENT);
  void* const aligned = work.data() + (ATTEND_ALIGNMENT - reinterpret_cast<std::uintptr_t>(work.data()) % ATTEND_ALIGNMENT);
  CHECK(attend_self_attention(&layers->problem, &layers->layer, (*x)[0], y[0], aligned, work.size() - ATTEND_ALIGNMENT) ==
        wrong(ATTEND_LOST, ATTEND_ARG_CACHE));
  CHECK(attend_cache_tokens(layers->layer.cache, nullptr) == 40);
}
