// What options and number formats cost: each beside the same call without it, in turns, in one run.
//
//   options [file]     a table on standard output; rows of tab-separated numbers to the file
//
// Prefill is timed against the plain call; documents and chunks in one call against as many calls, one for each. Decode over
// caches of other formats is timed against that over floats; what is read in a second is compared with reading a buffer of as
// many bytes. Decode over latents and chosen blocks: decode_costs.h.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../tests/support/core_numbers.h"
#include "../../tests/support/random.h"
#include "attend/attend.h"
#include "attend/core/ranges.h"
#include "decode_costs.h"
#include "machine.h"
#include "timing.h"
#include "typed_cache.h"

namespace {

using attend::core::Format;
using attend::core::Problem;
using bench::Memory, bench::random_floats, bench::Timed, bench::time_in_turns, bench::FormatMemory;
namespace core = attend::core;
namespace config = attend::config;

std::FILE* rows = nullptr;

void put(const std::string& backend, const std::string& what, const std::string& name, double ratio, double rate,
         double fraction) {
  if (rows)
    std::fprintf(rows, "%s\t%s\t%s\t%.4f\t%.3f\t%.4f\n", backend.c_str(), what.c_str(), name.c_str(), ratio, rate, fraction);
}

// Arrays of as many queries as keys, and the problem over them.
struct Arrays {
  //   block_tokens  those that work memory is for at a time
  Arrays(int tokens, int block_tokens, int heads, int dims)
      : numbers(std::size_t(tokens) * std::size_t(heads) * std::size_t(dims)),
        query(random_floats(numbers, 1)),
        key(random_floats(numbers, 2)),
        value(random_floats(numbers, 3)),
        output(numbers),
        row_block(std::min(block_tokens, config::row_block)),
        key_block(std::min(core::whole_chains(block_tokens), config::key_block)),
        scratch(std::max(core::scratch_floats(row_block, key_block, dims, dims, tokens, false),
                         core::option_scratch_floats(row_block, key_block, dims, dims))) {
    const std::ptrdiff_t stride = std::ptrdiff_t(heads) * dims;
    problem.query = {query.get(), stride, dims};
    problem.key = {key.get(), stride, dims};
    problem.value = {value.get(), stride, dims};
    problem.output = {output.get(), stride, dims};
    problem.query_heads = problem.kv_heads = heads;
    problem.head_dim = problem.value_dim = dims;
    problem.queries = problem.keys = tokens;
    problem.scale = attend::default_scale(dims);
    problem.row_block = row_block;
    problem.key_block = key_block;
    problem.scratch = scratch.get();
  }

  std::size_t numbers;
  decltype(random_floats(1, 1)) query, key, value;
  Memory<float> output;
  int row_block, key_block;
  Memory<float> scratch;
  Problem problem{};
};

void time_prefill(const std::string& backend, int tokens, int heads, int dims) {
  const Arrays arrays(tokens, tokens, heads, dims);
  const Problem& p = arrays.problem;
  const std::size_t square = std::size_t(tokens) * std::size_t(tokens);
  const auto bias = random_floats(square, 4);
  Memory<std::uint8_t> mask(square), bits(square / 8 + 1);
  attend_test::Random random(5);
  for (std::size_t i = 0; i < square; ++i) mask.get()[i] = std::uint8_t(random.between(0, 3) != 0);
  for (std::size_t i = 0; i < square; ++i) bits.get()[i / 8] = std::uint8_t(bits.get()[i / 8] | mask.get()[i] << i % 8);
  const std::vector<float> alibi_slopes(std::size_t(heads), -0.01f), relative(2001, 0.5f);
  Memory<float> lse(std::size_t(tokens) * std::size_t(heads));
  Problem causal = p;
  causal.causal = true;
  core::Options with_bias, with_mask, with_bits, with_cap, with_slopes, with_relative, with_lse, with_window;
  with_bias.bias = {bias.get(), 0, tokens, 0, tokens};
  with_mask.mask = {mask.get(), 0, tokens, 0, tokens};
  with_bits.mask = {bits.get(), 0, tokens, 0, tokens};
  with_bits.mask_bits = true;
  with_cap.soft_cap = 50.0f;
  with_slopes.alibi_slopes = alibi_slopes.data();
  with_relative.relative = relative.data();
  with_relative.relative_left = with_relative.relative_right = 1000;
  with_lse.lse = {lse.get(), heads, 1};
  with_window.left = 127;
  const auto call = [](const Problem& problem, const core::Options& options) {
    return [&] { core::Floats::run(problem, options); };
  };
  std::vector<Timed> calls = {{"no option", [&] { core::Floats::run(p); }},
                              {"additive bias", call(p, with_bias)},
                              {"boolean mask, bytes", call(p, with_mask)},
                              {"boolean mask, bits", call(p, with_bits)},
                              {"soft cap", call(p, with_cap)},
                              {"ALiBi", call(p, with_slopes)},
                              {"relative positions", call(p, with_relative)},
                              {"log-sum-exp", call(p, with_lse)},
                              {"causal", [&] { core::Floats::run(causal); }},
                              {"causal, window of 128", call(causal, with_window)}};
  time_in_turns(calls, 15, 0.02);
  const std::string shape = std::to_string(heads) + " x " + std::to_string(tokens) + " x " + std::to_string(tokens) +
                            ", head_dim " + std::to_string(dims);
  std::printf("\nprefill, %s, %s\n", backend.c_str(), shape.c_str());
  const double plain = calls[0].median();
  for (const Timed& timed : calls) {
    std::printf("  %-24s %9.1f us  %6.3f of the time without\n", timed.name.c_str(), 1e6 * timed.median(),
                timed.median() / plain);
    put(backend, shape, timed.name, timed.median() / plain, 1e-9 / timed.median(), 0);
  }
}

// `count` pieces of `tokens` tokens side by side, each of which sees itself: in one call, as documents and as ranges, beside
// a call for each.
void time_pieces(const std::string& backend, int count, int tokens, int heads, int dims) {
  const int all = count * tokens;
  const Arrays arrays(all, tokens, heads, dims);
  Problem p = arrays.problem;
  p.causal = true;
  std::vector<std::int32_t> first, boundaries;
  for (int i = 0; i < all; ++i) first.push_back(i / tokens * tokens);
  for (int i = 0; i <= count; ++i) boundaries.push_back(i * tokens);
  core::RangedOptions documents, ranges;
  documents.ranges.boundaries = boundaries.data(), documents.ranges.documents = count;
  ranges.ranges.first = first.data();
  const auto apart = [&] {
    Problem one = p;
    one.queries = one.keys = tokens;
    for (int i = 0; i < count; ++i) {
      core::Floats::run(one);
      const std::ptrdiff_t on = std::ptrdiff_t(tokens) * p.query.token_stride;
      for (auto* const of : {&one.query, &one.key, &one.value}) attend_test::move_by<float>(*of, on);
      attend_test::move_by<float>(one.output, on);
    }
  };
  std::vector<Timed> calls = {{"a call for each", apart},
                              {"documents", [&] { core::Floats::run(p, documents); }},
                              {"ranges", [&] { core::Floats::run(p, ranges); }}};
  time_in_turns(calls, all > 10000 ? 5 : 15, 0.02);
  const std::string shape = std::to_string(count) + " pieces of " + std::to_string(tokens) + " tokens, " +
                            std::to_string(heads) + " heads of " + std::to_string(dims);
  std::printf("\ncausal, %s, %s\n", backend.c_str(), shape.c_str());
  for (const Timed& timed : calls) {
    const double ratio = timed.median() / calls[0].median();
    std::printf("  %-24s %9.1f us  %6.3f of the time of a call for each\n", timed.name.c_str(), 1e6 * timed.median(), ratio);
    put(backend, shape, timed.name, ratio, 1e-9 / timed.median(), 0);
  }
}

// A cache that holds the same tokens over and over.
std::unique_ptr<FormatMemory> filled_cache(Format key, Format value, int heads, int dims, int tokens) {
  auto made = std::make_unique<FormatMemory>(key, value, heads, dims, tokens);
  constexpr int some = 256;
  const std::size_t width = std::size_t(heads) * std::size_t(dims);
  const auto k = random_floats(some * width, 6), v = random_floats(some * width, 7);
  for (int token = 0; token < tokens; token += some) {
    core::store(made->cache, token, std::min(some, tokens - token), {k.get(), std::ptrdiff_t(width), dims},
                {v.get(), std::ptrdiff_t(width), dims});
  }
  return made;
}

void time_decode(const std::string& backend, int tokens, int heads, int dims) {
  const std::size_t width = std::size_t(heads) * std::size_t(dims);
  const auto query = random_floats(width, 8);
  Memory<float> output(width), scratch(core::option_scratch_floats(1, config::decode_keys, dims, dims));
  struct Kind {
    const char* name;
    Format key, value;
  };
  const Kind kinds[] = {{"float32", Format::float32, Format::float32},
                        {"float16", Format::float16, Format::float16},
                        {"bfloat16", Format::bfloat16, Format::bfloat16},
                        {"int8", Format::int8, Format::int8},
                        {"int4", Format::int4, Format::int4},
                        {"int8 keys, float16 values", Format::int8, Format::float16}};
  std::vector<std::unique_ptr<FormatMemory>> caches;
  std::vector<Timed> calls;
  for (const Kind& kind : kinds) {
    caches.push_back(filled_cache(kind.key, kind.value, heads, dims, tokens));
    Problem p{};
    p.query = {query.get(), 0, dims};
    p.output = {output.get(), 0, dims};
    p.query_heads = p.kv_heads = heads;
    p.head_dim = p.value_dim = dims;
    p.queries = 1;
    p.keys = tokens;
    p.scale = attend::default_scale(dims);
    p.row_block = 1;
    p.key_block = std::min(core::whole_chains(tokens), config::decode_keys);
    p.scratch = scratch.get();
    const core::Options options = caches.back()->keep_for(p);
    if (kind.key == Format::float32) {
      calls.push_back({kind.name, [p] { core::Floats::run(p); }});
    } else {
      calls.push_back({kind.name, [p, options] { core::Floats::run(p, options); }});
    }
  }
  std::vector<double> limits;
  const double probe = 0.03;
  const auto read = [&](const FormatMemory& made) {
    return bench::read_bandwidth(backend.c_str(), made.floats(), made.bytes() / sizeof(float), probe);
  };
  for (const auto& made : caches) limits.push_back(read(*made));
  time_in_turns(calls, tokens > 10000 ? 7 : 15, 0.03);
  for (std::size_t i = 0; i < caches.size(); ++i) limits[i] = std::max(limits[i], read(*caches[i]));
  const double megabytes = double(caches[0]->bytes()) / (1 << 20);
  char shape[100];
  std::snprintf(shape, sizeof shape, "decode of %d heads x %d keys, head_dim %d: %.0f MB as float32", heads, tokens, dims,
                megabytes);
  std::printf("\n%s, %s\n", shape, backend.c_str());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const double seconds = calls[i].median(), gbps = 1e-9 * double(caches[i]->bytes()) / seconds;
    const double times = calls[0].median() / seconds, fraction = 1e9 * gbps / limits[i];
    std::printf("  %-26s %8.1f us  %5.2f times the tokens of float32  %6.1f GB/s, %3.0f %% of reading\n", calls[i].name.c_str(),
                1e6 * seconds, times, gbps, 100 * fraction);
    put(backend, shape, calls[i].name, times, gbps, fraction);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && !(rows = std::fopen(argv[1], "w"))) {
    std::fprintf(stderr, "options: cannot write %s\n", argv[1]);
    return 1;
  }
  for (int i = 0; i < attend::backend_count(); ++i) {
    const std::string backend = attend::backend_name(i);
    if (!attend::use_backend(backend.c_str()) || (backend == "scalar" && i > 0)) continue;
    time_prefill(backend, 1024, 1, 64);
    time_prefill(backend, 512, 8, 64);
    time_pieces(backend, 64, 128, 8, 64);
    time_pieces(backend, 4, 8192, 1, 64);
    for (const int tokens : {256, 2048, 131072}) time_decode(backend, tokens, 8, 64);
    const auto put_row = [](const std::string& of, const bench::Row& row) {
      put(of, row.what, row.name, row.ratio, 0, row.fraction);
    };
    bench::time_latents(backend, put_row);
    bench::time_chosen_blocks(backend, put_row);
  }
  if (rows) std::fclose(rows);
}
