#include "cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "../../tests/conformance/oracle.h"
#include "../../tests/support/random.h"
#include "machine.h"

namespace bench {
namespace {

using attend::core::Problem;
namespace config = attend::config;

// Random, but only up to a period that is long and odd: filling hundreds of megabytes would take longer than timing them.
Buffer random_buffer(std::size_t floats, std::uint64_t seed) {
  constexpr std::size_t period = 1000003;
  const std::size_t bytes = (floats * sizeof(float) + 4095) / 4096 * 4096;
  Buffer buffer(static_cast<float*>(std::aligned_alloc(4096, bytes)));
  if (!buffer) throw std::bad_alloc();
  attend_test::Random(seed).fill(buffer.get(), std::min(floats, period));
  for (std::size_t at = period; at < floats; at += period) {
    std::memcpy(buffer.get() + at, buffer.get(), std::min(period, floats - at) * sizeof(float));
  }
  return buffer;
}

// Three times the keys and values: the memory that is timed, rows to make it from, and what the system likes to keep.
std::size_t if_there_is_memory(std::size_t floats) {
  if (free_memory() < 3.0 * double(floats) * sizeof(float)) throw std::bad_alloc();
  return floats;
}

std::size_t query_floats(const Shape& s) {
  return std::size_t(s.queries) * std::size_t(s.query_heads) * std::size_t(s.head_dim);
}

attend::core::Format core_format(Format format) {
  return format == Format::float32   ? attend::core::Format::float32
         : format == Format::float16 ? attend::core::Format::float16
                                     : attend::core::Format::int8;
}

double root_mean_square(const std::vector<double>& numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += number * number;
  return std::sqrt(sum / double(numbers.size()));
}

// How far an output may be from the oracle's, whose keys and values are floats. Other formats round in proportion to the
// output. A peer may round more: ggml adds float16 values up in float16, and is off by 20 % after 131072 keys. An output of
// another problem would be off by several times its root mean square.
double tolerance(Format format, const Peer* peer, const std::vector<double>& expected) {
  if (format == Format::float32) return 1e-5;
  return (peer ? 0.5 : format == Format::float16 ? 0.01 : 0.05) * root_mean_square(expected);
}

}  // namespace

std::string Shape::name() const {
  std::string text = "q" + std::to_string(queries) + "_k" + std::to_string(keys) + "_d" + std::to_string(head_dim) + "_h" +
                     std::to_string(query_heads);
  if (kv_heads != query_heads) text += "_kv" + std::to_string(kv_heads);
  return causal ? text + "_causal" : text;
}

Case::Case(const Shape& s, Layout layout, Format format)
    : key_floats(layout == Layout::cache ? attend::core::cache_key_floats(s.kv_heads, s.head_dim, s.keys)
                                         : attend::core::cache_value_floats(s.kv_heads, s.head_dim, s.keys)),
      value_floats(attend::core::cache_value_floats(s.kv_heads, s.head_dim, s.keys)),
      query(random_buffer(query_floats(s), 1)),
      output(random_buffer(query_floats(s), 2)),
      memory(random_buffer(if_there_is_memory(key_floats + value_floats), 3)),
      shape_(s),
      layout_(layout),
      format_(format),
      cache_floats_(key_floats + value_floats) {
  problem_.query_heads = s.query_heads;
  problem_.kv_heads = s.kv_heads;
  problem_.head_dim = problem_.value_dim = s.head_dim;
  problem_.queries = s.queries;
  problem_.keys = s.keys;
  problem_.offset = s.keys - s.queries;
  problem_.scale = attend::default_scale(s.head_dim);
  problem_.causal = s.causal;
  problem_.key_panels = layout == Layout::cache;
  choose_blocks();
  problem_ = over_arrays(memory.get());
  if (layout != Layout::tokens) lay_out(random_buffer(2 * value_floats, 3).get());
}

// As the typed surface chooses them.
void Case::choose_blocks() {
  const Shape& s = shape_;
  const bool widened = format_ != Format::float32, cache = layout_ == Layout::cache;
  const int rows = attend::core::rows_per_kv_head(s.query_heads, s.kv_heads, s.queries);
  int most_rows = widened ? config::option_row_block : config::row_block, most_keys = config::key_block;
  if (cache && !widened && s.queries == 1) {
    most_rows = std::max(1, config::decode_stack_floats / (2 * s.head_dim + attend::panel_keys + config::score_keys));
    most_keys = std::min(rows, most_rows) == 1 ? config::decode_keys : config::score_keys;
  }
  problem_.row_block = std::min(rows, most_rows);
  problem_.key_block = widened ? most_keys : std::min(attend::core::whole_chains(s.keys), most_keys);
  const std::size_t floats =
      widened ? attend::core::option_scratch_floats(problem_.row_block, problem_.key_block, s.head_dim, s.head_dim)
              : attend::core::scratch_floats(problem_.row_block, problem_.key_block, s.head_dim, s.head_dim, s.keys, cache);
  for (Buffer& buffer : scratch) buffer = random_buffer(floats, 4);
}

// Writes keys and values, which come as arrays, where the problem has them.
void Case::lay_out(const float* rows) {
  const Shape& s = shape_;
  const Problem arrays = over_arrays(rows);
  const auto key = attend_test::numbers_of<float>(arrays.key), value = attend_test::numbers_of<float>(arrays.value);
  const attend::core::Format format = core_format(format_);
  if (format_ != Format::float32) {
    cache_floats_ = FormatMemory::bytes_of(format, format, s.kv_heads, s.head_dim, s.keys) / sizeof(float);
  }
  if (layout_ == Layout::heads) {
    problem_.key = by_heads(memory.get(), key);
    problem_.value = by_heads(memory.get() + key_floats, value);
  } else if (format_ != Format::float32) {
    memory.reset();
    format_cache_ = std::make_unique<FormatMemory>(format, format, s.kv_heads, s.head_dim, s.keys);
    attend::core::store(format_cache_->cache, 0, s.keys, key, value);
    options_ = format_cache_->keep_for(problem_);
  } else {
    attend::core::store({memory.get(), memory.get() + key_floats, s.kv_heads, s.head_dim, s.head_dim, s.keys}, 0, s.keys, key,
                        value);
    problem_.key = {memory.get(), 0, std::ptrdiff_t(key_floats) / s.kv_heads};
    problem_.value = {memory.get() + key_floats, s.head_dim, std::ptrdiff_t(s.keys) * s.head_dim};
  }
}

attend::core::Tensor<const float> Case::by_heads(float* to, attend::core::Tensor<const float> rows) const {
  const std::size_t width = std::size_t(shape_.head_dim);
  const attend::core::Tensor<const float> heads{to, shape_.head_dim, std::ptrdiff_t(shape_.keys) * shape_.head_dim};
  for (int head = 0; head < shape_.kv_heads; ++head) {
    for (int token = 0; token < shape_.keys; ++token, to += width) {
      std::memcpy(to, rows.data + token * rows.token_stride + head * rows.head_stride, width * sizeof(float));
    }
  }
  return heads;
}

Problem Case::over_arrays(const float* keys_then_values) const {
  Problem arrays = problem_;
  const int q_width = shape_.query_heads * shape_.head_dim, kv_width = shape_.kv_heads * shape_.head_dim;
  arrays.query = {query.get(), q_width, shape_.head_dim};
  arrays.output = {output.get(), q_width, shape_.head_dim};
  arrays.key = {keys_then_values, kv_width, shape_.head_dim};
  arrays.value = {keys_then_values + value_floats, kv_width, shape_.head_dim};
  return arrays;
}

Problem Case::ours(int part) const {
  Problem problem = problem_;
  problem.scratch = scratch[part].get();
  return problem;
}

PeerProblem Case::theirs() const {
  return {query.get(),
          memory.get(),
          memory.get() + key_floats,
          output.get(),
          problem_.key.token_stride,
          problem_.key.head_stride,
          shape_.query_heads,
          shape_.kv_heads,
          shape_.head_dim,
          shape_.queries,
          shape_.keys,
          problem_.scale,
          shape_.causal,
          format_};
}

std::function<void()> Case::call(const Peer* peer) const {
  if (peer) {
    const std::shared_ptr<void> prepared = peer->prepare ? peer->prepare(theirs()) : nullptr;
    return [run = peer->run, problem = theirs(), prepared] { run(problem); };
  }
  if (format_cache_) return [problem = ours(), options = options_] { attend::core::Floats::run(problem, options); };
  return [problem = ours()] { attend::core::Floats::run(problem); };
}

void Case::check(const std::string& name, const Peer* peer) const {
  std::memset(output.get(), 255, query_floats(shape_) * sizeof(float));  // not a number, unless it is written
  call(peer)();
  const Buffer rows = layout_ == Layout::tokens ? Buffer() : random_buffer(2 * value_floats, 3);
  const Problem whole = over_arrays(rows ? rows.get() : memory.get());
  const double work_per_token = double(shape_.query_heads) * shape_.keys * shape_.head_dim;
  const int tokens = std::clamp(int(5e6 / work_per_token), 2, 64);
  const int step = std::max(1, (shape_.queries - 1) / tokens);
  for (int token = shape_.queries - 1; token >= 0; token = token > 0 ? std::max(0, token - step) : -1) {
    Problem one = whole;
    attend_test::move_by<float>(one.query, token * one.query.token_stride);
    attend_test::move_by<float>(one.output, token * one.output.token_stride);
    one.offset += token;
    one.queries = 1;
    const std::vector<double> expected = attend_test::oracle(one);
    const double error = attend_test::errors_against(expected, one).largest;
    if (!(error <= tolerance(format_, peer, expected))) {
      throw std::runtime_error(name + ": token " + std::to_string(token) + " is wrong by " + std::to_string(error));
    }
  }
}

double operations(const Shape& s) {
  double pairs = 0;
  for (int i = 0; i < s.queries; ++i) pairs += s.causal ? s.keys - s.queries + i + 1 : s.keys;
  return 4.0 * pairs * s.head_dim * s.query_heads;
}

}  // namespace bench
