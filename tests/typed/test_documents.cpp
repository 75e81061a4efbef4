// Packed documents in the typed surface: the bits of separate calls.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <type_traits>

#include "../support/rounds.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Packed {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 12, value_dim = 9;
};
struct PackedBytes : Packed {
  using arithmetic = attend::integer;
};
constexpr attend::Quantisation<PackedBytes> of_packed(0.03, 0.03, 0.02, 0.01);
constexpr int lengths[] = {37, 1000, 1, 0, 513, 100}, packed_tokens = 1651;

template <class Shape>
struct PackedWorld {
  attend::Query<Shape, packed_tokens> query;
  attend::Key<Shape, packed_tokens> key;
  attend::Value<Shape, packed_tokens> value;
  attend::Output<Shape, packed_tokens> output, expected, alone;
  attend::OptionWorkspace<Shape, packed_tokens, packed_tokens> work;
  attend::Documents<6> documents;
};

template <class Shape>
void check_documents(bool causal, bool windowed) {
  auto w = std::make_unique<PackedWorld<Shape>>();
  fill_array(w->query, 1), fill_array(w->key, 2), fill_array(w->value, 3);
  attend::RangedOptions<Shape> options;
  options.causal = causal;
  if (windowed) options.window_left = 30, options.sink_tokens = 4;
  options.documents = w->documents;
  const auto call = [&](const auto& with, auto& to, const auto&... part) {
    if constexpr (std::is_same_v<Shape, PackedBytes>) {
      return attend::attention(w->query, w->key, w->value, to, w->work, of_packed, with, part...);
    } else {
      return attend::attention(w->query, w->key, w->value, to, w->work, with, part...);
    }
  };
  // Each alone: the first tokens of the same arrays, to which it is moved.
  int first = 0;
  const auto packed_query = w->query;
  const auto packed_key = w->key;
  const auto packed_value = w->value;
  for (const int length : lengths) {
    REQUIRE(w->documents.add(length) == Status::ok);
    attend::ScoreOptions<Shape> of_one = options;
    of_one.query_length = of_one.key_length = length;
    const auto move = [&](auto& to, const auto& from) {
      const auto bytes = sizeof to.data[0] * std::size_t(length);
      std::memcpy(to.data, &from.data[first], bytes);
    };
    move(w->query, packed_query), move(w->key, packed_key), move(w->value, packed_value);
    REQUIRE(call(of_one, w->alone) == Status::ok);
    std::memcpy(&w->expected.data[first], w->alone.data, sizeof w->alone.data[0] * std::size_t(length));
    first += length;
  }
  REQUIRE(first == packed_tokens);
  w->query = packed_query, w->key = packed_key, w->value = packed_value;
  REQUIRE(call(options, w->output) == Status::ok);
  CHECK(same_array(w->output, w->expected));
  fill_array(w->output, 4);
  for (int part = 0; part < 3; ++part) REQUIRE(call(options, w->output, attend::Part{part, 3}) == Status::ok);
  CHECK(same_array(w->output, w->expected));
}

}  // namespace

TEST_CASE("documents: of 1, 37, 100, 513 and 1,000 tokens and of none, side by side, each has the bits that it has alone") {
  for (int kind = 0; kind < 8; kind += stride()) {
    const bool causal = kind / 4 == 0, windowed = kind / 2 % 2 == 1;
    kind % 2 == 0 ? check_documents<Packed>(causal, windowed) : check_documents<PackedBytes>(causal, windowed);
  }
}

TEST_CASE("documents: their list refuses what does not fit; boundaries are its tokens") {
  attend::Documents<2> documents;
  CHECK(documents.tokens() == 0);
  CHECK(documents.add(-1) == Status::bad_count);
  CHECK(documents.add(7) == Status::ok);
  CHECK(documents.add(0x7fffffff - 6) == Status::bad_count);
  CHECK(documents.add(0x7fffffff - 7) == Status::ok);
  CHECK(documents.add(0) == Status::bad_count);
  CHECK(documents.count() == 2);
  CHECK(documents.tokens() == 0x7fffffff);
  CHECK(documents.first_token(1) == 7);
  documents.clear();
  CHECK(documents.add(3) == Status::ok);
  CHECK(documents.tokens() == 3);
}
