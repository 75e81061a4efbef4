// Attention, layers and whole transformer blocks against PyTorch's numbers: textbook.py made them, from inputs that both sides
// generate.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/layers.h"

using namespace attend;
using attend_test::Random;

namespace {

struct Expected {
  const char* name;
  std::size_t count;
  std::size_t step;
  std::vector<double> numbers;
};
const Expected all_expected[] = {
#include "textbook.inc"
};

// The numbers that the script shows of a result: within 1e-5 of the largest of them.
void check(const char* name, const float* found, std::size_t count) {
  for (const Expected& expected : all_expected) {
    if (std::string(expected.name) != name) continue;
    REQUIRE(expected.count == count);
    double largest = 0.0, error = 0.0;
    for (std::size_t i = 0; i < expected.numbers.size(); ++i) {
      largest = std::max(largest, std::fabs(expected.numbers[i]));
      const double difference = std::fabs(double(found[i * expected.step]) - expected.numbers[i]);
      error = difference <= error ? error : difference;  // NaN stays
    }
    CHECK_MESSAGE(error <= 1e-5 * largest, name, ": error ", error, " of ", largest);
    return;
  }
  FAIL("textbook.inc has no such numbers: ", name);
}

// What Random(seed) makes, as an array of a type.
template <class Type>
std::unique_ptr<Type> uniform(std::uint64_t seed, float spread = 1.0f) {
  auto made = std::make_unique<Type>();
  Random(seed).fill(reinterpret_cast<float*>(made.get()), sizeof(Type) / sizeof(float), spread);
  return made;
}
template <int size>
struct Floats {
  float data[size];
};

struct OneHead {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 24, value_dim = 28;
};
struct Tiny {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 3;
};

// One head over the words of x, from Weights of these seeds.
template <class Shape, int tokens, int width>
void one_head(const char* name, std::uint64_t x_seed, float spread, bool is_causal) {
  using Dims = Shape;
  constexpr int value_dim = detail::Checked<Dims>::value_dim;
  const auto x = uniform<Vectors<tokens, width>>(x_seed);
  const auto wq = uniform<Weights<Dims::head_dim, width>>(x_seed + 1, spread);
  const auto wk = uniform<Weights<Dims::head_dim, width>>(x_seed + 2, spread);
  const auto wv = uniform<Weights<value_dim, width>>(x_seed + 3, spread);
  Query<Shape, tokens> query;
  Key<Shape, tokens> key;
  Value<Shape, tokens> value;
  Output<Shape, tokens> output;
  REQUIRE(project(*x, into(*wq, query), into(*wk, key), into(*wv, value)) == Status::ok);
  OptionWorkspace<Shape, tokens> work;
  ScoreOptions<Shape> options;
  Scores<Shape, tokens, tokens> weights;
  options.causal = is_causal;
  options.scores = weights;
  options.score_stage = ScoreStage::weights;
  REQUIRE(attention(query, key, value, output, work, options) == Status::ok);
  check(name, output.data[0][0], std::size_t(tokens) * value_dim);
  if (std::strncmp(name, "six", 3) == 0) {
    const std::string of_weights = std::string(name) + (is_causal ? " weights" : ", weights");
    check(of_weights.c_str(), weights.data[0][0], std::size_t(tokens) * tokens);
  }
}

struct Four32 {
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 8, max_tokens = 16;
};
struct Grouped32 {
  static constexpr int query_heads = 4, kv_heads = 1, head_dim = 8, max_tokens = 16;
};
struct Gpt2 {
  static constexpr int query_heads = 12, kv_heads = 12, head_dim = 64, max_tokens = 16;
};
struct Gpt2Xl {
  static constexpr int query_heads = 25, kv_heads = 25, head_dim = 64, max_tokens = 8;
};
struct Vit {
  static constexpr int query_heads = 12, kv_heads = 12, head_dim = 64;
};

// The matrices of a layer as layer_inputs of the script makes them.
template <class Shape, int width, int memory_width = width>
struct LayerInputs {
  static constexpr int inner = Shape::kv_heads * Shape::head_dim;
  explicit LayerInputs(std::uint64_t seed)
      : spread(float(1.7 / std::sqrt(double(width)))),
        wq(uniform<Weights<width, width>>(seed, spread)),
        wk(uniform<Weights<inner, memory_width>>(seed + 1, spread)),
        wv(uniform<Weights<inner, memory_width>>(seed + 2, spread)),
        wo(uniform<Weights<width, width>>(seed + 3, spread)),
        bq(uniform<Floats<width>>(seed + 4, 0.1f)),
        bk(uniform<Floats<inner>>(seed + 5, 0.1f)),
        bv(uniform<Floats<inner>>(seed + 6, 0.1f)),
        bo(uniform<Floats<width>>(seed + 7, 0.1f)) {}
  auto layer() const {
    return multi_head<Shape>(biased(*wq, bq->data), biased(*wk, bk->data), biased(*wv, bv->data), biased(*wo, bo->data));
  }
  float spread;
  std::unique_ptr<Weights<width, width>> wq;
  std::unique_ptr<Weights<inner, memory_width>> wk, wv;
  std::unique_ptr<Weights<width, width>> wo;
  std::unique_ptr<Floats<width>> bq;
  std::unique_ptr<Floats<inner>> bk, bv;
  std::unique_ptr<Floats<width>> bo;
};

template <int width>
std::unique_ptr<Floats<width>> gain(std::uint64_t seed) {
  auto made = uniform<Floats<width>>(seed, 0.2f);
  for (float& number : made->data) number += 1.0f;
  return made;
}

// x + attention(norm(x)), then x + mlp(norm(x)). `attend` is the call of the layer.
template <class Shape, int tokens, int width, Activation activation, class Attend>
void transformer_block(const char* name, std::uint64_t seed, Attend attend) {
  const LayerInputs<Shape, width> inputs(seed + 1);
  auto x = uniform<Vectors<tokens, width>>(seed);
  auto normal = std::make_unique<Vectors<tokens, width>>(), y = std::make_unique<Vectors<tokens, width>>();
  REQUIRE(layer_norm(*x, gain<width>(seed + 21)->data, uniform<Floats<width>>(seed + 22, 0.1f)->data, *normal) == Status::ok);
  REQUIRE(attend(*normal, inputs.layer(), *y) == Status::ok);
  add(*y, *x);
  REQUIRE(layer_norm(*x, gain<width>(seed + 23)->data, uniform<Floats<width>>(seed + 24, 0.1f)->data, *normal) == Status::ok);
  auto hidden = std::make_unique<Vectors<tokens, 4 * width>>();
  const auto work = std::make_unique<attend::Workspace<attend::Projections>>();
  REQUIRE(project(*normal, *uniform<Weights<4 * width, width>>(seed + 25, inputs.spread),
                  uniform<Floats<4 * width>>(seed + 26, 0.1f)->data, *hidden, *work) == Status::ok);
  activate<activation>(*hidden);
  REQUIRE(project(*hidden, *uniform<Weights<width, 4 * width>>(seed + 27, 0.5f * inputs.spread),
                  uniform<Floats<width>>(seed + 28, 0.1f)->data, *y, *work) == Status::ok);
  add(*y, *x);
  check(name, x->data[0], std::size_t(tokens) * width);
}

// Over a cache, causal.
template <class Shape, int tokens>
struct OverCache {
  template <class X, class Layer, class Y>
  Status operator()(const X& x, const Layer& layer, Y& y) const {
    auto cache = std::make_unique<KvCache<Shape>>();
    auto work = std::make_unique<LayerWorkspace<Shape, tokens>>();
    return self_attention(x, layer, *cache, y, *work);
  }
};
// Over the tokens themselves.
template <class Shape, int tokens>
struct OverEachOther {
  template <class X, class Layer, class Y>
  Status operator()(const X& x, const Layer& layer, Y& y) const {
    auto work = std::make_unique<LayerWorkspace<Shape, tokens, tokens>>();
    return self_attention(x, layer, y, *work);
  }
};

}  // namespace

TEST_CASE("textbook examples of one head") {
  one_head<OneHead, 6, 16>("six words", 1, 0.5f, false);
  one_head<OneHead, 6, 16>("six words, causal", 1, 0.5f, true);
  one_head<Tiny, 4, 6>("four vectors", 6, 1.0f, false);

  const auto words = uniform<Vectors<6, 16>>(1);
  const auto others = uniform<Vectors<8, 16>>(5);
  Query<OneHead, 6> query;
  Key<OneHead, 8> key;
  Value<OneHead, 8> value;
  Output<OneHead, 6> output;
  REQUIRE(project(*words, *uniform<Weights<24, 16>>(2, 0.5f), query) == Status::ok);
  REQUIRE(project(*others, into(*uniform<Weights<24, 16>>(3, 0.5f), key), into(*uniform<Weights<28, 16>>(4, 0.5f), value)) ==
          Status::ok);
  Workspace<OneHead, 6, 8> work;
  REQUIRE(attention(query, key, value, output, work) == Status::ok);
  check("six words to eight others", output.data[0][0], sizeof output / sizeof(float));
}

TEST_CASE("torch.nn.MultiheadAttention") {
  const auto x = uniform<Vectors<10, 32>>(30);
  Vectors<10, 32> y;
  REQUIRE(OverEachOther<Four32, 10>()(*x, LayerInputs<Four32, 32>(31).layer(), y) == Status::ok);
  check("torch.nn.MultiheadAttention", y[0], 320);
  REQUIRE(OverCache<Grouped32, 10>()(*x, LayerInputs<Grouped32, 32>(31).layer(), y) == Status::ok);
  check("grouped heads", y[0], 320);

  const LayerInputs<Four32, 32, 20> inputs(41);
  const auto layer = inputs.layer();
  KvCache<Four32> memory;
  LayerWorkspace<Four32, 13> work;
  REQUIRE(project_memory(*uniform<Vectors<13, 20>>(40), layer, memory, work) == Status::ok);
  REQUIRE(cross_attention(*x, layer, memory, y, work) == Status::ok);
  check("torch.nn.MultiheadAttention, cross", y[0], 320);
}

TEST_CASE("errors of blocks of GPT-2 and of a vision transformer") {
  transformer_block<Gpt2, 16, 768, Activation::gelu_tanh>("GPT-2 block, 12 heads", 100, OverCache<Gpt2, 16>());
  if (attend_test::rounds(2) == 1) return;
  transformer_block<Gpt2Xl, 8, 1600, Activation::gelu_tanh>("GPT-2 block, 25 heads", 200, OverCache<Gpt2Xl, 8>());
  transformer_block<Vit, 197, 768, Activation::gelu>("ViT-B/16 block", 300, OverEachOther<Vit, 197>());
}

TEST_CASE("additive attention") {
  const auto state = uniform<Vectors<3, 10>>(400);
  const auto encoded = uniform<Vectors<12, 14>>(401);
  const auto v = uniform<Floats<9>>(404);
  Vectors<3, 9> query;
  Vectors<12, 9> key;
  Vectors<3, 14> context;
  REQUIRE(project(*state, *uniform<Weights<9, 10>>(402, 0.5f), query) == Status::ok);
  REQUIRE(project(*encoded, *uniform<Weights<9, 14>>(403, 0.5f), uniform<Floats<9>>(405, 0.2f)->data, key) == Status::ok);
  attend::Workspace<attend::AdditiveShape<9, 14>, 3, 12> work;
  REQUIRE(additive_attention(query, key, v->data, *encoded, context, work) == Status::ok);
  check("additive attention", context[0], 42);
}
