// Numbers that are too large for what they are stored in, on the C surface: refused with nothing lost, or saturated.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/random.h"
#include "attend/c/layers.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int heads = 2, width = 32;
constexpr attend_status of_cache = wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_CACHE);

attend_cache_shape shape_of(int key_format, int value_format) {
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = heads, shape.head_dim = shape.value_dim = width, shape.max_tokens = 300;
  shape.key_format = key_format, shape.value_format = value_format;
  return shape;
}

struct Cache {
  Aligned memory;
  attend_cache* head = nullptr;
  explicit Cache(const attend_cache_shape& shape) : memory(attend_cache_size(&shape)) {
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &head) == ATTEND_OK);
  }
  attend_status append(const std::vector<float>& key, const std::vector<float>& value) {
    const auto dense = [](const std::vector<float>& x) {
      return attend_input{x.data(), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    };
    const attend_input keys = dense(key), values = dense(value);
    return attend_cache_append(head, std::ptrdiff_t(key.size()) / (heads * width), &keys, &values);
  }
  // Of a query that sees keys as far back as the cache holds them: of a ring, from the first panel of 16 that it has.
  std::vector<float> output(int left) const {
    static const std::vector<float> query = numbers(1, 77);
    std::vector<float> found(heads * width, -7.0f);
    attend_problem p;
    REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
    p.query_heads = p.kv_heads = heads, p.head_dim = p.value_dim = width, p.queries = 1;
    p.cache = head, p.query.data = query.data(), p.output.data = found.data();
    if (left >= 0) p.window_left = left;
    REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
    return found;
  }
  static std::vector<float> numbers(int tokens, int seed) {
    std::vector<float> made(std::size_t(tokens * heads * width));
    Random(std::uint64_t(seed)).fill(made.data(), made.size(), 2.0f);
    return made;
  }
};

// Of a ring of so many panels with so many tokens, how far back its last token can see.
int oldest_seen(int panels, int tokens) {
  const int first = ((tokens - 1) / 16 - panels + 1) * 16;
  return tokens - 1 - (first > 0 ? first : 0);
}

}  // namespace

TEST_CASE("c stored range: refused tokens change nothing that can be seen, in a ring its oldest panel included") {
  for (const bool ring : {false, true}) {
    for (const int format : {int(ATTEND_FLOAT16), int(ATTEND_INT4)}) {
      attend_cache_shape shape = shape_of(format, format);
      if (ring) shape.window_keys = 40;
      const int panels = 4;  // of the ring
      Cache cache(shape), twin(shape);
      for (int token = 0; token < 120; ++token) {
        const std::vector<float> key = Cache::numbers(1, token), value = Cache::numbers(1, 1000 + token);
        REQUIRE(cache.append(key, value) == ATTEND_OK);
        REQUIRE(twin.append(key, value) == ATTEND_OK);
        for (const int count : {1, 2, 17, 50}) {
          for (const bool of_key : {true, false}) {
            std::vector<float> keys = Cache::numbers(count, 5), values = Cache::numbers(count, 6);
            (of_key ? keys : values).back() = of_key ? -524160.0f : 1e30f;
            REQUIRE(cache.append(keys, values) == of_cache);
          }
        }
        REQUIRE(attend_cache_tokens(cache.head, nullptr) == token + 1);
        const int left = ring ? oldest_seen(panels, token + 1) : -1;
        REQUIRE(same_bits(cache.output(left), twin.output(left)));
      }
    }
  }
  CHECK(explain(of_cache).find("ATTEND_SATURATED") != std::string::npos);
}

TEST_CASE("c stored range: the last number in range is taken, and with ATTEND_SATURATED all beyond become the largest") {
  struct End {
    int format;
    float last, beyond;
  };
  for (const End& end : {End{ATTEND_FLOAT16, 0x1.ffdffep15f, 65520.0f}, End{ATTEND_INT4, 0x1.ffdffep18f, 524160.0f}}) {
    for (const bool of_key : {true, false}) {
      const int saturated = end.format | ATTEND_SATURATED;
      const auto output = [&](bool saturates, float number, attend_status expected) {
        Cache cache(shape_of(saturates && of_key ? saturated : end.format, saturates && !of_key ? saturated : end.format));
        std::vector<float> key = Cache::numbers(2, 1), value = Cache::numbers(2, 2);
        (of_key ? key : value).back() = number;
        CHECK(cache.append(key, value) == expected);
        (of_key ? value : key).back() = end.beyond;
        CHECK(cache.append(key, value) == of_cache);
        return expected == ATTEND_OK ? cache.output(-1) : std::vector<float>();
      };
      for (const float sign : {1.0f, -1.0f}) {
        const std::vector<float> last = output(false, sign * end.last, ATTEND_OK);
        for (const float number : last) CHECK(std::isfinite(number));
        output(false, sign * end.beyond, of_cache);
        CHECK(same_bits(output(true, sign * end.beyond, ATTEND_OK), last));
        CHECK(same_bits(output(true, sign * 3e38f, ATTEND_OK), last));
      }
    }
  }
  for (const int format : {int(ATTEND_FLOAT32), int(ATTEND_BFLOAT16), int(ATTEND_INT8)}) {
    const attend_cache_shape keys = shape_of(format | ATTEND_SATURATED, ATTEND_FLOAT16),
                             values = shape_of(ATTEND_FLOAT16, format | ATTEND_SATURATED);
    CHECK(status_of(&keys) == wrong(ATTEND_NO_EFFECT, ATTEND_ARG_KEY_FORMAT));
    CHECK(status_of(&values) == wrong(ATTEND_NO_EFFECT, ATTEND_ARG_VALUE_FORMAT));
    Cache cache(shape_of(format, format));
    std::vector<float> key(heads * width, 0.0f), value = key;
    value.back() = format == ATTEND_BFLOAT16 ? 3.4028235e38f : 3.39e38f;
    CHECK(cache.append(key, value) == ATTEND_OK);
    CHECK(std::isfinite(cache.output(-1).back()));
  }
  attend_cache_shape unknown = shape_of(4 | ATTEND_SATURATED, ATTEND_FLOAT16);
  CHECK(status_of(&unknown) == wrong(ATTEND_UNKNOWN, ATTEND_ARG_KEY_FORMAT));
}

TEST_CASE("c stored range: weights that are too large are refused, and nothing is written") {
  std::vector<float> rows = Cache::numbers(1, 3);
  attend_weights from = {};
  from.data = rows.data(), from.outputs = 2, from.inputs = width, from.format = ATTEND_FLOAT32, from.layout = ATTEND_ROWS;
  for (const int format : {int(ATTEND_FLOAT16), int(ATTEND_INT4), int(ATTEND_BFLOAT16)}) {
    std::vector<unsigned char> memory(4 * rows.size(), 0x5a), before = memory;
    attend_weights to = {};
    rows.back() = -1e6f;
    const attend_status status = attend_convert_weights(&from, format, memory.data(), memory.size(), nullptr, &to);
    const bool fits = format == ATTEND_BFLOAT16;
    CHECK(status == (fits ? ATTEND_OK : wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_WEIGHTS)));
    CHECK((memory == before) != fits);
    CHECK((to.data == nullptr) != fits);
  }
}

TEST_CASE("c stored range: layers whose keys are too large write no output and take their tokens back; a ring keeps blocks") {
  constexpr int tokens = 203, block = attend::config::layer_tokens;  // more than a layer takes at a time
  std::vector<float> square(width * width, 0.0f), x = Cache::numbers(tokens / heads + 1, 4);
  for (int i = 0; i < width; ++i) square[std::size_t(i * (width + 1))] = 1.0f;
  attend_layer layer;
  REQUIRE(attend_layer_init(&layer, sizeof layer) == ATTEND_OK);
  attend_weights weights = {};
  weights.data = square.data(), weights.outputs = weights.inputs = width, weights.format = ATTEND_FLOAT32;
  weights.layout = ATTEND_ROWS;
  layer.query = layer.key = layer.value = layer.output = weights;
  attend_cache_shape shape = shape_of(ATTEND_FLOAT16, ATTEND_FLOAT16);
  shape.kv_heads = 1, shape.max_tokens = 1000;
  attend_problem p;
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.query_heads = p.kv_heads = 1, p.head_dim = p.value_dim = width, p.queries = tokens;
  p.options = ATTEND_CAUSAL, p.window_left = 30;
  std::vector<float> y(std::size_t(tokens * width), -7.0f);
  const std::vector<float> before = y;
  for (const bool ring : {false, true}) {
    shape.window_keys = ring ? tokens + 30 : 0;
    Cache cache(shape);
    layer.cache = cache.head;
    Aligned workspace(attend_layer_workspace_size(&p, &layer));
    const auto attend_to = [&] {
      return attend_self_attention(&p, &layer, x.data(), y.data(), workspace.data(), attend_layer_workspace_size(&p, &layer));
    };
    const auto project = [&] {
      Aligned memory(attend_memory_workspace_size(&layer, tokens));
      return attend_project_memory(&layer, x.data(), tokens, memory.data(), attend_memory_workspace_size(&layer, tokens));
    };
    std::ptrdiff_t held = 0;
    for (const int token : {0, tokens - 1}) {
      float& number = x[std::size_t(token * width)];
      const float fits = number;
      number = 1e5f;
      for (const bool self : {true, false}) {
        CHECK((self ? attend_to() : project()) == of_cache);
        if (ring) held += token / block * block;
        CHECK(attend_cache_tokens(cache.head, nullptr) == held);
      }
      number = fits;
    }
    CHECK(same_bits(y, before));
    CHECK(attend_memory_workspace_size(&layer, 0) == ATTEND_ALIGNMENT);
    CHECK(attend_to() == ATTEND_OK);
    CHECK(attend_cache_tokens(cache.head, nullptr) == held + tokens);
    y = before;
  }
}
