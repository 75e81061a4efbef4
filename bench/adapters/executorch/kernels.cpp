// Kernels of ExecuTorch by the names and schemas of its own operators for language models, registered when a program starts:
//
//   llama::custom_sdpa.out(query, key, value, start_pos, attn_mask, dropout_p, is_causal, scale, out)
//   llama::custom_quantized_sdpa.out(the same, and zero points and scales of query, key and value, is_seq_at_dim_2, out)
//   llama::sdpa_with_kv_cache.out(query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask, dropout_p,
//   is_causal, scale, out) llama::update_cache.out(value, cache, start_pos, out) llama::update_cache_with_indices.out(value,
//   cache, start_pos, indices, out)
#include <executorch/runtime/kernel/operator_registry.h>

#include "../common/backend.h"
#include "cache.h"
#include "quantised.h"

namespace attend_executorch {
namespace {

Array read_numbers(Arguments& arguments, std::size_t index, const char* rank, const char* type) {
  const Array read = arguments.array(index, 4, rank);
  arguments.require(is_float(read.type), type);
  return read;
}

struct Operands {
  Array query, key, value;
};
Operands read_operands(Arguments& arguments) {
  return {read_numbers(arguments, 0, "has a query that is not of 4 axes", "has a query that is not Float, Half or BFloat16"),
          read_numbers(arguments, 1, "has a key that is not of 4 axes", "has a key that is not Float, Half or BFloat16"),
          read_numbers(arguments, 2, "has a value that is not of 4 axes", "has a value that is not Float, Half or BFloat16")};
}

void custom_sdpa(KernelRuntimeContext& context, Span<EValue*> stack) {
  Arguments arguments(context, "llama::custom_sdpa", stack, 9);
  const auto [query, key, value] = read_operands(arguments);
  const Options options = read_options(arguments, 3, 4);
  const std::ptrdiff_t keys = require_shapes(arguments, query, key, value, options);
  const Array output = resized_output(arguments, 8, query, value);
  run(arguments, problem_of(arguments, query, key, value, keys, options, output));
}

void custom_quantized_sdpa(KernelRuntimeContext& context, Span<EValue*> stack) {
  Arguments arguments(context, "llama::custom_quantized_sdpa", stack, 16);
  Options options = read_options(arguments, 3, 4);
  options.tokens = arguments.truth(14, "has an is_seq_at_dim_2 that is no bool") ? 2 : 1;
  const Quantised query = read_quantised(arguments, 0, 8), key = read_quantised(arguments, 1, 10),
                  value = read_quantised(arguments, 2, 12);
  const std::ptrdiff_t keys = require_shapes(arguments, query.numbers, key.numbers, value.numbers, options);
  CallMemory& memory = memory_of_thread();
  const Array q = widened(arguments, query, options.tokens, query.numbers.size[options.tokens], memory.query);
  const Array k = widened(arguments, key, options.tokens, keys, memory.key);
  const Array v = widened(arguments, value, options.tokens, keys, memory.value);
  const Array output = resized_output(arguments, 15, q, v);
  run(arguments, problem_of(arguments, q, k, v, keys, options, output));
}

void sdpa_with_kv_cache(KernelRuntimeContext& context, Span<EValue*> stack) {
  Arguments arguments(context, "llama::sdpa_with_kv_cache", stack, 12);
  const auto [query, key, value] = read_operands(arguments);
  const Array key_cache = arguments.array(3, 4, "has a key_cache that is not of 4 axes"),
              value_cache = arguments.array(4, 4, "has a value_cache that is not of 4 axes");
  const Options options = read_options(arguments, 5, 7);
  const std::int64_t tokens = arguments.integer(6, "has a seq_len that is no whole number");
  arguments.require(tokens == key.size[1] && tokens == value.size[1] && tokens == query.size[1],
                    "has a seq_len that is not the tokens of query, key and value");
  arguments.require(key.size[0] == value.size[0], "has key and value of different batches");
  require_cache(arguments, key, key_cache);
  require_cache(arguments, value, value_cache);
  const std::ptrdiff_t keys = require_shapes(arguments, query, key_cache, value_cache, options);
  require_room(arguments, key, key_cache, options.start);
  const Array output = resized_output(arguments, 11, query, value_cache);
  const attend_problem problem = problem_of(arguments, query, key_cache, value_cache, keys, options, output);
  if (arguments.failed()) return;
  update(key, key_cache, options.start);
  update(value, value_cache, options.start);
  run(arguments, problem);
}

void update_cache(KernelRuntimeContext& context, Span<EValue*> stack) {
  Arguments arguments(context, "llama::update_cache", stack, 4);
  const Array value = arguments.array(0, 4, "has a value that is not of 4 axes"),
              cache = arguments.array(1, 4, "has a cache that is not of 4 axes");
  const std::int64_t start = arguments.integer(2, "has a start_pos that is no whole number");
  require_cache(arguments, value, cache);
  require_room(arguments, value, cache, start);
  if (!arguments.failed()) update(value, cache, start);
}

void update_cache_with_indices(KernelRuntimeContext& context, Span<EValue*> stack) {
  Arguments arguments(context, "llama::update_cache_with_indices", stack, 5);
  const Array value = arguments.array(0, 4, "has a value that is not of 4 axes"),
              cache = arguments.array(1, 4, "has a cache that is not of 4 axes");
  const Array indices = arguments.array(3, 2, "has indices that are not [batch, tokens]");
  require_cache(arguments, value, cache);
  arguments.require(indices.type == ScalarType::Long && indices.size[0] == value.size[0] && indices.size[1] == value.size[1],
                    "has indices that are not Long [batch, tokens]");
  if (arguments.failed()) return;
  const auto position = [&](std::ptrdiff_t row, std::ptrdiff_t token) {
    return static_cast<const std::int64_t*>(indices.data)[row * indices.stride[0] + token * indices.stride[1]];
  };
  for (std::ptrdiff_t row = 0; row < value.size[0]; ++row) {
    for (std::ptrdiff_t token = 0; token < value.size[1]; ++token) {
      if (!arguments.require(position(row, token) >= 0 && position(row, token) < cache.size[1],
                             "has an index outside of the cache"))
        return;
    }
  }
  for (std::ptrdiff_t row = 0; row < value.size[0]; ++row) {
    for (std::ptrdiff_t token = 0; token < value.size[1]; ++token)
      copy_token(value, row, token, cache, std::ptrdiff_t(position(row, token)));
  }
}

Error register_all() {
  attend_adapter::use_backend_of_environment();
  using executorch::runtime::Kernel;
  static const Kernel kernels[] = {
      Kernel("llama::custom_sdpa.out", custom_sdpa),
      Kernel("llama::custom_quantized_sdpa.out", custom_quantized_sdpa),
      Kernel("llama::sdpa_with_kv_cache.out", sdpa_with_kv_cache),
      Kernel("llama::update_cache.out", update_cache),
      Kernel("llama::update_cache_with_indices.out", update_cache_with_indices),
  };
  return executorch::runtime::register_kernels({kernels, sizeof kernels / sizeof kernels[0]});
}

}  // namespace

// Error::Ok, or why the runtime has not taken them: it has kernels of these names already.
extern const Error registered;
const Error registered = register_all();

}  // namespace attend_executorch
