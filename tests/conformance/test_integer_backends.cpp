// Every backend's kernels of integer attention give the bits of the scalar ones: packed or where keys lie, few rows and many,
// widths that are no multiple of a vector, numbers at the ends of their range, weights from all to none.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../src/backend/list.h"
#include "../support/core_numbers.h"
#include "../support/random.h"
#include "../support/rounds.h"
#include "attend/core/integer.h"
#include "attend/integer.h"
#include "replaced_integers.h"

namespace {

namespace core = attend::core;
using Int8s = std::vector<std::int8_t>;

Int8s random_bytes(attend_test::Random& random, int numbers) {
  Int8s bytes(static_cast<std::size_t>(numbers));
  const int kind = random.between(0, 5);
  for (std::int8_t& byte : bytes) {
    const int any = random.between(-128, 127);
    byte = std::int8_t(kind == 0 ? -128 : kind == 1 ? 127 : kind == 2 ? (any < 0 ? -128 : 127) : any);
  }
  return bytes;
}

struct Call {
  // in_place: each row by itself, of widths that kernels read where they lie.
  Call(attend_test::Random& random, bool in_place) {
    const int group = random.between(1, 3), kv_heads = random.between(1, 2), heads = kv_heads * group;
    p.head_dim = random.between(1, 130);
    p.value_dim = random.between(1, 130);
    if (in_place) p.head_dim = 16 * random.between(1, 8), p.value_dim = 16 * random.between(1, 8);
    p.keys = random.between(1, 700);
    p.queries = random.between(0, 3) == 0 ? 1 : random.between(1, 20);
    p.query_heads = heads;
    p.kv_heads = kv_heads;
    p.causal = random.between(0, 1) == 1;
    p.offset = random.between(-3, p.keys);
    p.row_block = in_place || random.between(0, 2) == 0 ? 1 : 192;
    p.key_block = attend::integer_chunk * random.between(1, 9);
    query = random_bytes(random, p.queries * heads * p.head_dim);
    key = random_bytes(random, p.keys * kv_heads * p.head_dim);
    value = random_bytes(random, p.keys * kv_heads * p.value_dim);
    p.query = {query.data(), heads * p.head_dim, p.head_dim};
    p.key = {key.data(), kv_heads * p.head_dim, p.head_dim};
    p.value = {value.data(), kv_heads * p.value_dim, p.value_dim};
    double step = 0.99;
    for (int halvings = random.between(0, 30); halvings > 0; --halvings) step *= 0.5;
    score_scale = core::score_scale(step);
    output_scale = core::output_scale(random.between(1, 300) * 0.01, random.between(-128, 127), random.between(-128, 127));
    p.score_scales = &score_scale;
    p.output_scales = &output_scale;
    const std::size_t bytes =
        core::integer_scratch_bytes(p.row_block, p.key_block, p.head_dim, p.value_dim, core::segment_levels(p.keys));
    scratch = std::make_unique<Line[]>(bytes / sizeof(Line) + 1);
    p.scratch = scratch.get();
    options.output_format = core::Format::int8;
    options.query_zero = random.between(-1, 1) * random.between(0, 127);
    if (random.between(0, 1) == 1) options.left = random.between(0, p.keys);
    scales.resize(std::size_t(kv_heads * p.keys));
    for (std::uint16_t& scale : scales) scale = std::uint16_t(random.between(0, 32768));
    if (random.between(0, 1) == 1) options.key_scales = scales.data(), options.key_scale_stride = p.keys;
    if (random.between(0, 1) == 1) options.value_scales = scales.data(), options.value_scale_stride = p.keys;
  }

  // The same keys and values in panels.
  void use_panels() {
    const int room = core::whole_chunks(p.keys);
    panel_key.assign(std::size_t(p.kv_heads * room * core::whole_quads(p.head_dim)), -128);
    panel_value.assign(std::size_t(p.kv_heads * room * p.value_dim), 127);
    core::store({panel_key.data(), panel_value.data(), p.kv_heads, p.head_dim, p.value_dim, room}, 0, p.keys,
                attend_test::numbers_of<std::int8_t>(p.key), attend_test::numbers_of<std::int8_t>(p.value));
    p.key = core::key_quads(panel_key.data(), p.head_dim, room);
    p.value = core::value_quads(panel_value.data(), p.value_dim, room);
    p.key_panels = true;
  }

  // By the kernels of a backend, or by those that are chosen.
  template <class Backend>
  Int8s output_of(bool with_options) {
    return output([&] { with_options ? Backend::run_integer_options(p, options) : Backend::run_integers(p); });
  }
  Int8s chosen_output(bool with_options) {
    return output([&] { with_options ? core::Integers::run(p, options) : core::Integers::run(p); });
  }

  template <class Run>
  Int8s output(Run run) {
    Int8s result(std::size_t(p.queries * p.query_heads * p.value_dim), 99);
    p.output = {result.data(), p.query_heads * p.value_dim, p.value_dim};
    run();
    return result;
  }

  struct alignas(attend::config::alignment) Line {
    char bytes[attend::config::alignment];
  };
  core::Problem p{};
  core::Options options;
  core::ScoreScale score_scale{};
  core::OutputScale output_scale{};
  Int8s query, key, value, panel_key, panel_value;
  std::vector<std::uint16_t> scales;
  std::unique_ptr<Line[]> scratch;
};

}  // namespace

TEST_CASE("integer attention: every backend gives the bits of the scalar one") {
  const std::string before = attend::active_backend();
  attend_test::Random random(24);
  for (int round = 0; round < attend_test::rounds(400); ++round) {
    Call call(random, round % 3 == 0);
    const auto scalar = [&](bool with_options) { return call.output_of<attend::embedded_integers::Backend>(with_options); };
    const Int8s plain = scalar(false), with = scalar(true);
    for (const bool panels : {false, true}) {
      if (panels && attend::config::embedded) break;
      if (panels) call.use_panels();
      for (int i = 0; i < attend::backend_count(); ++i) {
        if (!attend::use_backend(attend::backend_name(i))) continue;
        INFO("round ", round, ", panels ", panels, ", ", attend::backend_name(i));
        CHECK(call.chosen_output(false) == plain);
        CHECK(call.chosen_output(true) == with);
        attend_test::for_each_replaced([&](const char* name, auto backend) {
          INFO(name);
          CHECK(call.output_of<decltype(backend)>(false) == plain);
          CHECK(call.output_of<decltype(backend)>(true) == with);
        });
      }
    }
  }
  attend::use_backend(before.c_str());
}
