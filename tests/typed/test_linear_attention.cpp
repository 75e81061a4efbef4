// Linear attention in the typed surface: prefill, decode, drafts, documents, options, saved states, and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "../conformance/linear_definition.h"
#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/linear_attention.h"

using namespace attend_test;
using attend::Status;

namespace {

// 2 key heads and 4 value heads, as Qwen3-Next shares keys.
struct Mixer {
  static constexpr attend::LinearRule rule = attend::LinearRule::gated_delta;
  static constexpr int query_heads = 2, kv_heads = 2, value_heads = 4, head_dim = 20, value_dim = 24;
};
struct ByKey : Mixer {
  static constexpr attend::Decay decay = attend::Decay::per_key;
};
struct Grouped {  // two queries read one state
  static constexpr attend::LinearRule rule = attend::LinearRule::delta;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 20;
};
struct Gated : Grouped {
  static constexpr attend::LinearRule rule = attend::LinearRule::gated;
};
struct Adding : Grouped {
  static constexpr attend::LinearRule rule = attend::LinearRule::linear;
};

constexpr int tokens = 37;

template <class Shape>
struct World {
  using Dims = attend::detail::LinearChecked<Shape>;
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  attend::Gates<Shape, tokens> gates;
  attend::Output<Shape, tokens> output, expected;
  attend::LinearState<Shape> state, other;
  attend::LinearWorkspace<Shape> work;

  World() {
    fill_array(query, 1), fill_array(key, 2, 0.25f), fill_array(value, 3);
    if constexpr (Dims::rule != attend::LinearRule::linear) fill_array(gates, 4);
    if constexpr (Dims::gated) {
      float* const g = &first(gates.log_decay);
      for (std::size_t i = 0; i < sizeof gates.log_decay / sizeof(float); ++i) g[i] = g[i] * 0.5f - 0.5f;
    }
    std::memset(static_cast<void*>(&output), 0xff, sizeof output);
    expected = output;
  }
  template <class Array>
  static float& first(Array& array) {
    if constexpr (std::is_array_v<Array>) {
      return first(array[0]);
    } else {
      return array;
    }
  }

  // What the definition makes of tokens first … end - 1.
  void define(int begin, int end) {
    const float scale = attend::default_scale(Dims::head_dim);
    for (int h = 0; h < Dims::value_heads; ++h) {
      DefinedLinearHead head(Dims::head_dim, Dims::value_dim);
      for (int t = begin; t < end; ++t) {
        const float *g = nullptr, *beta = nullptr;
        if constexpr (Dims::gated) g = &first(gates.log_decay[t][h]);
        if constexpr (attend::core::has_beta(Dims::rule)) beta = &gates.beta[t][h];
        const int step = Dims::decay == attend::Decay::per_key ? 1 : 0;
        head.take(key[t][h * Dims::kv_heads / Dims::value_heads], value[t][h], g, step, beta);
        constexpr int readers = Dims::query_heads > Dims::value_heads ? Dims::query_heads / Dims::value_heads : 1;
        for (int r = 0; r < readers; ++r) {
          const int out = h * readers + r, heads = readers * Dims::value_heads;
          head.read(query[t][out * Dims::query_heads / heads], scale, expected[t][out]);
        }
      }
    }
  }
  bool is_expected() const { return std::memcmp(&output, &expected, sizeof output) == 0; }
  bool are_states_same() const { return same_states(state, other); }
  static bool same_states(const attend::LinearState<Shape>& a, const attend::LinearState<Shape>& b) {
    auto bytes = std::make_unique<std::uint8_t[][2][attend::LinearState<Shape>::saved_bytes]>(1);
    attend::save(a, bytes[0][0]), attend::save(b, bytes[0][1]);
    return std::memcmp(bytes[0][0], bytes[0][1], sizeof bytes[0][0]) == 0;
  }
};

// Token `t` alone.
template <class One, class Many>
One token_of(const Many& many, int t) {
  One one;
  std::memcpy(static_cast<void*>(&one), &many.data[t], sizeof one);
  return one;
}
template <class Shape>
attend::Gates<Shape> gates_of(const attend::Gates<Shape, tokens>& many, int t) {
  attend::Gates<Shape> one;
  if constexpr (attend::detail::LinearChecked<Shape>::gated)
    std::memcpy(one.log_decay, many.log_decay[t], sizeof one.log_decay);
  if constexpr (attend::core::has_beta(attend::detail::LinearChecked<Shape>::rule))
    std::memcpy(one.beta, many.beta[t], sizeof one.beta);
  return one;
}

template <class Shape>
void check_ways() {
  const auto w = std::make_unique<World<Shape>>();
  w->define(0, tokens);
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output) == Status::ok);
  CHECK(w->is_expected());
  CHECK(w->state.tokens() == tokens);
  CHECK(attend::is_finite(w->state));

  // Token by token, in parts.
  for (int t = 0; t < tokens; ++t) {
    const auto query = token_of<attend::Query<Shape>>(w->query, t);
    const auto key = token_of<attend::Key<Shape>>(w->key, t);
    const auto value = token_of<attend::Value<Shape>>(w->value, t);
    const auto gates = gates_of(w->gates, t);
    attend::Output<Shape> output;
    if (t % 2 == 0) {
      CHECK(attend::decode(query, key, value, gates, w->other, output) == Status::ok);
    } else {
      for (int part = 2; part-- > 0;)
        CHECK(attend::decode(query, key, value, gates, w->other, output, attend::TeamPart{{part, 2}}) == Status::ok);
    }
    CHECK(std::memcmp(&output, &w->expected.data[t], sizeof output) == 0);
  }
  CHECK(w->are_states_same());

  // From an empty state, and drafts after which the first ones are appended.
  std::memset(static_cast<void*>(&w->output), 0xff, sizeof w->output);
  CHECK(attend::attention(w->query, w->key, w->value, w->gates, attend::empty_state, w->output, w->work) == Status::ok);
  CHECK(w->is_expected());
  w->other.clear();
  CHECK(w->other.tokens() == 0);
  std::memset(static_cast<void*>(&w->output), 0xff, sizeof w->output);
  const attend::LinearState<Shape>& stays = w->other;
  CHECK(attend::attention(w->query, w->key, w->value, w->gates, stays, w->output, w->work) == Status::ok);
  CHECK(attend::attention(w->query, w->key, w->value, w->gates, w->other, w->output, w->work) == Status::ok);
  CHECK(w->is_expected());
  CHECK(w->other.tokens() == 0);
  CHECK(w->other.append(w->key, w->value, w->gates, 0) == Status::ok);
  CHECK(w->other.append(w->key, w->value, w->gates) == Status::ok);
  CHECK(w->are_states_same());
  CHECK(w->state.at(0, 3, 17) == w->other.at(0, 3, 17));
}

}  // namespace

TEST_CASE("linear attention: prefill, decode, parts, drafts and append have the bits of the definition") {
  check_ways<Mixer>();
  check_ways<ByKey>();
  check_ways<Grouped>();
  check_ways<Gated>();
  check_ways<Adding>();
}

TEST_CASE("linear attention: at() is the number of a state that the definition has") {
  const auto w = std::make_unique<World<Mixer>>();
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output) == Status::ok);
  DefinedLinearHead head(20, 24);
  for (int t = 0; t < tokens; ++t) head.take(w->key[t][1], w->value[t][3], &w->gates.log_decay[t][3], 0, &w->gates.beta[t][3]);
  bool same = true;
  for (int d = 0; d < 20; ++d) {
    for (int c = 0; c < 24; ++c) same = same && w->state.at(3, d, c) == head.at(d, c);
  }
  CHECK(same);
}

TEST_CASE("linear attention: documents have the bits of single runs, and absent tokens change nothing") {
  const auto w = std::make_unique<World<Mixer>>();
  const int lengths[] = {0, 7, 1, 0, 12};  // the first is what the state had before
  attend::Documents<5> documents;
  int begin = 0;
  w->define(0, 0);
  for (const int length : lengths) {
    w->define(begin, begin + length);
    CHECK(documents.add(length) == Status::ok);
    begin += length;
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int t = 20; t < tokens; ++t) {
    for (auto& row : w->query[t]) std::fill_n(row, 20, nan);
    for (auto& row : w->key[t]) std::fill_n(row, 20, nan);
    for (auto& row : w->value[t]) std::fill_n(row, 24, nan);
    std::fill_n(w->gates.log_decay[t], 4, nan), std::fill_n(w->gates.beta[t], 4, nan);
  }
  CHECK(w->state.append(w->key, w->value, w->gates, 5) == Status::ok);
  attend::LinearOptions options;
  options.count = 20;
  options.documents = documents;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, options) == Status::ok);
  CHECK(w->is_expected());
  CHECK(attend::is_finite(w->state));
  CHECK(w->state.tokens() == 25);

  // The same from an empty state, in parts.
  std::memset(static_cast<void*>(&w->output[0]), 0xff, 20 * sizeof w->output[0]);
  for (int part = 3; part-- > 0;) {
    const attend::EmptyState& empty = attend::empty_state;
    const attend::Part of{part, 3};
    CHECK(attend::attention(w->query, w->key, w->value, w->gates, empty, w->output, w->work, of, options) == Status::ok);
  }
  CHECK(w->is_expected());
  options.scale = 0.5f;  // a power of 2: exact beside the scale's 1
  attend::LinearOptions once = options;
  once.scale = 1.0f;
  CHECK(attend::attention(w->query, w->key, w->value, w->gates, attend::empty_state, w->output, w->work, options) ==
        Status::ok);
  CHECK(attend::attention(w->query, w->key, w->value, w->gates, attend::empty_state, w->expected, w->work, once) == Status::ok);
  bool halves = true;
  for (int t = 0; t < 20; ++t) {
    for (int h = 0; h < 4; ++h) {
      for (int c = 0; c < 24; ++c) halves = halves && w->output[t][h][c] == w->expected[t][h][c] * 0.5f;
    }
  }
  CHECK(halves);
  options.scale = {};

  // An empty document at the end: it has no token yet, and its state is empty.
  CHECK(documents.add(0) == Status::bad_count);
  attend::Documents<6> more;
  for (const int length : {0, 20, 0}) CHECK(more.add(length) == Status::ok);
  options.documents = more;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, options) == Status::ok);
  for (int h = 0; h < 4; ++h) CHECK(w->state.at(h, 3, 5) == 0.0f);

  // Padding in front.
  for (int t = 0; t < 4; ++t) {
    for (auto& row : w->key[t]) std::fill_n(row, 20, nan);
  }
  w->state.clear();
  attend::LinearOptions padded;
  padded.first = 4, padded.count = 7;
  std::memset(static_cast<void*>(&w->expected), 0xff, sizeof w->expected);
  w->output = w->expected;
  w->define(4, 7);
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, padded, attend::Part{}) == Status::ok);
  CHECK(w->is_expected());
  CHECK(w->state.tokens() == 3);
}

TEST_CASE("linear attention: saved states go on with the same bits, and damaged bytes change nothing") {
  const auto w = std::make_unique<World<Mixer>>();
  using State = attend::LinearState<Mixer>;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output) == Status::ok);
  std::vector<std::uint8_t> memory(State::saved_bytes + 1);
  auto& bytes = *reinterpret_cast<std::uint8_t(*)[State::saved_bytes]>(memory.data());
  attend::save(w->state, bytes);
  CHECK(attend::load(w->other, bytes, sizeof bytes) == Status::ok);
  CHECK(w->are_states_same());
  CHECK(w->other.tokens() == tokens);
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] = std::uint8_t(bytes[i] ^ 1u << i % 8);
    const Status status = attend::load(w->other, bytes, sizeof bytes);
    const bool is_version = i >= 4 && i < 8, is_shape = i >= 12 && i < 32;
    REQUIRE(status == (is_version ? Status::other_bits : is_shape ? Status::other_shape : Status::bad_saved));
    bytes[i] = std::uint8_t(bytes[i] ^ 1u << i % 8);
  }
  for (std::size_t size = 0; size < sizeof bytes; size += size < 50 ? 1 : 97) {
    const std::vector<std::uint8_t> cut(bytes, bytes + size);  // of that size, so that a sanitizer sees what is read behind it
    REQUIRE(attend::load(w->other, cut.data(), size) == Status::bad_saved);
  }
  CHECK(w->are_states_same());
  const auto by_key = std::make_unique<World<ByKey>>();
  CHECK(attend::load(by_key->state, bytes, sizeof bytes) == Status::other_shape);
  CHECK(by_key->are_states_same());
  // Whoever computes the check sum anew: the sums of heads are none that a state can have. They are the last words, two a head.
  std::vector<std::uint32_t> words(sizeof bytes / 4);
  std::memcpy(words.data(), bytes, sizeof bytes);
  const auto forged = [&](float first, float second) {
    std::memcpy(&words[words.size() - 2], &first, 4), std::memcpy(&words[words.size() - 1], &second, 4);
    words[2] = attend::core::linear_magic;
    for (std::size_t i = 0; i < words.size(); ++i) words[2] = i == 2 ? words[2] : attend::core::hash_with(words[2], words[i]);
    return attend::load(w->other, reinterpret_cast<const std::uint8_t*>(words.data()), sizeof bytes);
  };
  if (words[0] == attend::core::linear_magic) {  // not where a word begins with its highest byte
    float sum;
    std::memcpy(&sum, &words.back(), sizeof sum);
    CHECK(sum < -0.26f);
    CHECK(forged(sum, sum) == Status::ok);
    const float others[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 1e-9f,
                            -16.63554f};
    for (const float other : others) CHECK(forged(other, other) == Status::bad_saved);
    CHECK(forged(sum, sum * 0.5f) == Status::bad_saved);
    CHECK(forged(sum * 0.5f, sum) == Status::bad_saved);
    CHECK(w->are_states_same());
  }
  // NaN has one form, and zeros are positive.
  w->value[0][0][0] = -std::numeric_limits<float>::quiet_NaN();
  w->state.clear();
  CHECK(w->state.append(w->key, w->value, w->gates, 1) == Status::ok);
  CHECK_FALSE(attend::is_finite(w->state));
  attend::save(w->state, bytes);
  CHECK(bytes[40] == 0);
  CHECK(bytes[42] == 0xc0);
  CHECK(bytes[43] == 0x7f);
  w->state.clear();
  std::fill_n(w->key[0][0], 20, -1e-30f), std::fill_n(w->value[0][0], 24, 1e-30f);
  CHECK(w->state.append(w->key, w->value, w->gates, 1) == Status::ok);
  CHECK(std::signbit(w->state.at(0, 0, 0)));
  attend::save(w->state, bytes);
  CHECK(bytes[43] == 0);
}

TEST_CASE("linear attention refuses what is out of range, and changes nothing") {
  const auto w = std::make_unique<World<Mixer>>();
  CHECK(w->state.append(w->key, w->value, w->gates, 3) == Status::ok);
  w->other = w->state;
  const auto refused = [&](const attend::LinearOptions& options, const attend::Part& part = {}) {
    const Status status = attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, options, part);
    CHECK(attend::attention(w->query, w->key, w->value, w->gates, w->state, w->output, w->work, options, part) == status);
    CHECK(w->are_states_same());
    CHECK(w->is_expected());
    return status;
  };
  attend::LinearOptions options;
  options.count = tokens + 1;
  CHECK(refused(options) == Status::bad_count);
  options.count = -1;
  CHECK(refused(options) == Status::bad_count);
  options.count = 5, options.first = 6;
  CHECK(refused(options) == Status::bad_count);
  options.first = -1;
  CHECK(refused(options) == Status::bad_count);
  options = {};
  options.scale = std::numeric_limits<float>::infinity();
  CHECK(refused(options) == Status::bad_scale);
  options = {};
  attend::Documents<2> documents;
  options.documents = documents;
  CHECK(refused(options) == Status::bad_documents);
  CHECK(documents.add(tokens - 1) == Status::ok);
  CHECK(refused(options) == Status::bad_documents);
  CHECK(refused({}, attend::Part{2, 2}) == Status::bad_part);
  CHECK(refused({}, attend::Part{0, 0}) == Status::bad_part);
  CHECK(w->state.append(w->key, w->value, w->gates, tokens + 1) == Status::bad_count);
  CHECK(w->state.append(w->key, w->value, w->gates, -1) == Status::bad_count);
  CHECK(w->are_states_same());
}
