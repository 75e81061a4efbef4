#include "decode_costs.h"

#include <cstdint>
#include <cstdio>
#include <vector>

#include "../../tests/support/random.h"
#include "attend/attend.h"
#include "attend/core/options.h"
#include "machine.h"
#include "timing.h"
#include "typed_cache.h"

namespace bench {
namespace {

namespace core = attend::core;
namespace config = attend::config;
using core::Format;

}  // namespace

void time_latents(const std::string& backend, Put put) {
  constexpr int heads = 128, head_dim = 576, value_dim = 512, keys = 4096;
  const auto query = random_floats(std::size_t(heads) * head_dim, 1), key = random_floats(std::size_t(keys) * head_dim, 2);
  const auto value = random_floats(std::size_t(keys) * value_dim, 3);
  const Memory<float> output(std::size_t(heads) * value_dim);
  const Memory<float> scratch(core::option_scratch_floats(heads, config::key_block, head_dim, value_dim));
  core::Problem p{};
  p.query = {query.get(), 0, head_dim};
  p.key = {key.get(), head_dim, 0};
  p.value = p.key;
  p.output = {output.get(), 0, value_dim};
  p.query_heads = heads;
  p.kv_heads = p.queries = 1;
  p.head_dim = head_dim;
  p.value_dim = value_dim;
  p.keys = keys;
  p.scale = attend::default_scale(head_dim);
  p.row_block = heads;
  p.key_block = config::key_block;
  p.scratch = scratch.get();
  core::Problem apart = p;
  apart.value = {value.get(), value_dim, 0};
  const core::Options none;
  std::vector<Timed> calls = {{"values in keys", [&] { core::Floats::run(p, none); }},
                              {"values apart", [&] { core::Floats::run(apart, none); }}};
  // The peak is measured before and after each call, because a processor's clock changes with what its other cores do.
  std::vector<std::vector<double>> fractions(calls.size());
  for (int round = 0; round < 21; ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const double before = fma_peak(backend.c_str(), 0.002), begin = seconds_now();
      calls[i].run();
      const double seconds = seconds_now() - begin, peak = (before + fma_peak(backend.c_str(), 0.002)) / 2;
      calls[i].seconds.push_back(seconds);
      fractions[i].push_back(2.0 * heads * keys * (head_dim + value_dim) / seconds / peak);
    }
  }
  const std::string what = "decode of 128 heads over 4096 latents of 576, values of 512";
  std::printf("\n%s, %s\n", what.c_str(), backend.c_str());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::sort(fractions[i].begin(), fractions[i].end());
    const double fraction = fractions[i][fractions[i].size() / 2];
    std::printf("  %-26s %9.1f us  %5.1f %% of the FMA peak\n", calls[i].name.c_str(), 1e6 * calls[i].median(), 100 * fraction);
    put(backend, {what, calls[i].name, calls[0].median() / calls[i].median(), fraction});
  }
}

namespace {

void time_chosen_blocks_in(Pages pages, const std::string& backend, Put put) {
  constexpr int heads = 8, dims = 64, capacity = 131072, chosen = 2048;
  const FormatMemory cache(Format::float32, Format::float32, heads, dims, capacity, pages);
  constexpr int width = heads * dims;
  const auto query = random_floats(width, 4), key = random_floats(width, 5);
  for (int token = 0; token < capacity; ++token) {
    core::store(cache.cache, token, 1, {key.get(), width, dims}, {key.get(), width, dims});
  }
  const Memory<float> output(width), scratch(core::option_scratch_floats(1, config::decode_keys, dims, dims));
  core::Problem p{};
  p.query = {query.get(), 0, dims};
  p.output = {output.get(), 0, dims};
  p.query_heads = p.kv_heads = heads;
  p.head_dim = p.value_dim = dims;
  p.queries = 1;
  p.keys = chosen;
  p.scale = attend::default_scale(dims);
  p.row_block = 1;
  p.key_block = config::decode_keys;
  p.scratch = scratch.get();
  core::Options options = cache.keep_for(p);
  std::vector<Timed> calls = {{"2048 keys side by side", [p] { core::Floats::run(p); }}};
  p.keys = capacity;
  attend_test::Random random(6);
  std::vector<std::vector<std::uint8_t>> masks;
  for (const int block : {512, 128, 64, 16}) {
    masks.emplace_back(capacity / 8);
    std::vector<std::uint8_t>& bits = masks.back();
    for (int left = chosen / block; left > 0;) {
      const int first = random.between(0, capacity / block - 1) * block / 8;
      if (bits[std::size_t(first)] != 0) continue;
      std::fill_n(bits.begin() + first, block / 8, std::uint8_t(0xff));
      --left;
    }
    options.mask = {bits.data(), 0, 0, 0, capacity};
    options.mask_bits = true;
    calls.push_back({"blocks of " + std::to_string(block) + " of 131072", [p, options] { core::Floats::run(p, options); }});
  }
  time_in_turns(calls, 25, 0.01);
  const std::string what = std::string("decode of 8 heads over 2048 chosen keys, head_dim 64, in pages of ") +
                           (pages == Pages::large ? "2 MB" : "4 KB");
  std::printf("\n%s, %s\n", what.c_str(), backend.c_str());
  for (const Timed& timed : calls) {
    const double ratio = timed.median() / calls[0].median();
    std::printf("  %-26s %9.1f us  %6.2f of the time side by side\n", timed.name.c_str(), 1e6 * timed.median(), ratio);
    put(backend, {what, timed.name, ratio, 0});
  }
}

}  // namespace

void time_chosen_blocks(const std::string& backend, Put put) {
  for (const Pages pages : {Pages::small, Pages::large}) time_chosen_blocks_in(pages, backend, put);
}

}  // namespace bench
