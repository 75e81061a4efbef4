#include "cases.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "../tests/conformance/oracle.h"
#include "../tests/support/random.h"
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

}  // namespace

std::string Shape::name() const {
  std::string text = "q" + std::to_string(queries) + "_k" + std::to_string(keys) + "_d" + std::to_string(head_dim) + "_h" +
                     std::to_string(query_heads);
  if (kv_heads != query_heads) text += "_kv" + std::to_string(kv_heads);
  return causal ? text + "_causal" : text;
}

Case::Case(const Shape& s, Layout layout)
    : key_floats(layout == Layout::cache ? attend::core::cache_key_floats(s.kv_heads, s.head_dim, s.keys)
                                         : attend::core::cache_value_floats(s.kv_heads, s.head_dim, s.keys)),
      value_floats(attend::core::cache_value_floats(s.kv_heads, s.head_dim, s.keys)),
      query(random_buffer(query_floats(s), 1)),
      output(random_buffer(query_floats(s), 2)),
      memory(random_buffer(if_there_is_memory(key_floats + value_floats), 3)),
      shape_(s),
      layout_(layout) {
  const bool cache = layout == Layout::cache;
  // The blocks that the typed surface chooses.
  const int rows = attend::core::rows_per_kv_head(s.query_heads, s.kv_heads, s.queries);
  int most_rows = config::row_block, most_keys = config::key_block;
  if (cache && s.queries == 1) {
    most_rows = std::max(1, config::decode_stack_floats / (2 * s.head_dim + attend::panel_keys + config::score_keys));
    most_keys = std::min(rows, most_rows) == 1 ? config::decode_keys : config::score_keys;
  }
  problem_.row_block = std::min(rows, most_rows);
  problem_.key_block = std::min(attend::core::whole_chains(s.keys), most_keys);
  problem_.query_heads = s.query_heads;
  problem_.kv_heads = s.kv_heads;
  problem_.head_dim = problem_.value_dim = s.head_dim;
  problem_.queries = s.queries;
  problem_.keys = s.keys;
  problem_.offset = s.keys - s.queries;
  problem_.scale = attend::default_scale(s.head_dim);
  problem_.causal = s.causal;
  problem_.key_panels = cache;
  for (Buffer& buffer : scratch) {
    buffer = random_buffer(
        attend::core::scratch_floats(problem_.row_block, problem_.key_block, s.head_dim, s.head_dim, s.keys, cache), 4);
  }
  problem_ = over_arrays(memory.get());
  if (layout == Layout::tokens) return;
  const Buffer in_rows = random_buffer(2 * value_floats, 3);
  const Problem arrays = over_arrays(in_rows.get());
  if (layout == Layout::heads) {
    problem_.key = by_heads(memory.get(), arrays.key);
    problem_.value = by_heads(memory.get() + key_floats, arrays.value);
    return;
  }
  attend::core::store({memory.get(), memory.get() + key_floats, s.kv_heads, s.head_dim, s.head_dim, s.keys}, 0, s.keys,
                      arrays.key, arrays.value);
  problem_.key = {memory.get(), 0, std::ptrdiff_t(key_floats) / s.kv_heads};
  problem_.value = {memory.get() + key_floats, s.head_dim, std::ptrdiff_t(s.keys) * s.head_dim};
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
          shape_.causal};
}

void Case::check(const std::string& name, const Peer* peer) const {
  std::memset(output.get(), 255, query_floats(shape_) * sizeof(float));  // not a number, unless it is written
  if (peer) {
    peer->run(theirs());
  } else {
    attend::core::run(ours());
  }
  const Buffer rows = layout_ == Layout::tokens ? Buffer() : random_buffer(2 * value_floats, 3);
  const Problem whole = over_arrays(rows ? rows.get() : memory.get());
  const double work_per_token = double(shape_.query_heads) * shape_.keys * shape_.head_dim;
  const int tokens = std::clamp(int(5e6 / work_per_token), 2, 64);
  const int step = std::max(1, (shape_.queries - 1) / tokens);
  for (int token = shape_.queries - 1; token >= 0; token = token > 0 ? std::max(0, token - step) : -1) {
    Problem one = whole;
    one.query.data += token * one.query.token_stride;
    one.output.data += token * one.output.token_stride;
    one.offset += token;
    one.queries = 1;
    const double error = attend_test::errors_against(attend_test::oracle(one), one).largest;
    if (!(error <= tolerance)) {
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
