// Attention of ExecuTorch's language models: llama::custom_sdpa and its forms.
#pragma once

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include "../common/masked.h"
#include "arguments.h"

namespace attend_executorch {

using attend_adapter::Memory;
using attend_adapter::Parallel;

// Threads of ExecuTorch's pool, where the runtime is built with one (ET_USE_THREADPOOL); it has no more than 8 parts to do. A
// part is worth about 2^15 multiplications.
inline Parallel threads(double multiplications) {
#ifdef ET_USE_THREADPOOL
  const double most = multiplications / 32768 + 1;
  const auto run = [](void*, int parts, Parallel::Work work, void* context) {
    executorch::extension::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) work(context, int(part));
    });
  };
  return {run, nullptr, most < 8 ? int(most) : 8};
#else
  (void)multiplications;
  return {nullptr, nullptr, 1};
#endif
}

// Memory of the calls of a thread, kept from call to call.
struct CallMemory {
  Memory work, query, key, value;
};
inline CallMemory& memory_of_thread() {
  static thread_local CallMemory memory;
  return memory;
}

inline bool is_float(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Half || type == ScalarType::BFloat16;
}
inline int format_of(ScalarType type) {
  return type == ScalarType::Half ? ATTEND_FLOAT16 : type == ScalarType::BFloat16 ? ATTEND_BFLOAT16 : ATTEND_FLOAT32;
}

// What a call is asked for besides its tensors.
struct Options {
  std::int64_t start = 0;  // the position of the first query among the keys
  Array mask;              // [queries][keys of the cache]; without axes there is none
  bool causal = false;
  bool has_scale = false;
  double scale = 0;
  int tokens = 1;  // the axis of tokens: that of heads is 3 - tokens
};

// Arguments start_pos, attn_mask, dropout_p, is_causal and scale, from an index on.
inline Options read_options(Arguments& arguments, std::size_t start, std::size_t mask) {
  Options options;
  options.start = arguments.integer(start, "has a start_pos that is no whole number");
  const double dropout = arguments.real(mask + 1, "has a dropout_p that is no number");
  arguments.require(dropout == 0, "has a dropout_p that is not 0, and computes inference");
  options.causal = arguments.truth(mask + 2, "has an is_causal that is no bool");
  options.has_scale = !arguments.is_none(mask + 3);
  if (options.has_scale) options.scale = arguments.real(mask + 3, "has a scale that is no number");
  if (!arguments.is_none(mask)) {
    options.mask = arguments.array(mask, 2, "has an attn_mask that is not [queries, keys]");
    arguments.require(options.mask.type == ScalarType::Float || options.mask.type == ScalarType::Bool,
                      "has an attn_mask that is neither Float nor Bool");
    if (options.mask.numbers() == 0) options.mask = Array();
    arguments.require(options.mask.axes == 0 || !options.causal, "has both attn_mask and is_causal; expected one of them");
  }
  return options;
}

// The keys that a call reads: without a mask those up to the last query, otherwise all of the cache.
inline std::ptrdiff_t require_shapes(Arguments& arguments, const Array& query, const Array& key, const Array& value,
                                     const Options& options) {
  const int t = options.tokens, h = 3 - t;
  arguments.require(query.size[0] == key.size[0] && query.size[0] == value.size[0],
                    "has query, key and value of different batches");
  arguments.require(query.size[3] == key.size[3], "has query and key of different widths");
  arguments.require(key.size[t] == value.size[t] && key.size[h] == value.size[h],
                    "has key and value of different tokens or heads");
  arguments.require(key.size[h] > 0 && query.size[h] % key.size[h] == 0,
                    "has query heads that are no multiple of the key heads");
  arguments.require(options.start >= 0 && options.start <= key.size[t], "has a start_pos outside of the keys");
  if (arguments.failed()) return 0;
  if (options.mask.axes == 0) {
    arguments.require(query.size[t] <= key.size[t] - options.start, "has fewer keys than start_pos and the queries need");
    return options.start + query.size[t];
  }
  arguments.require(options.mask.size[0] == query.size[t] && options.mask.size[1] == key.size[t],
                    "has an attn_mask that is not [queries, keys]");
  return key.size[t];
}

// Where the library refuses a call, what it says is logged.
inline void require_taken(Arguments& arguments, attend_status status) {
  if (status == ATTEND_OK || arguments.failed()) return;
  // Work memory is the adapter's own, so that what is missing is the system's.
  if (status / 256 == ATTEND_ARG_WORKSPACE) {
    arguments.require(false, "finds too little memory", Error::MemoryAllocationFailed);
    return;
  }
  ET_LOG(Error, "attend: %s: %s", attend_argument_name(status), attend_error_text(status));
  arguments.require(false, "has arguments that the library refuses");
}

template <class To>
void place(To& to, const Array& array, int tokens) {
  to.data = array.data;
  to.batch_stride = array.stride[0];
  to.token_stride = array.stride[tokens];
  to.head_stride = array.stride[3 - tokens];
}

// The output, resized to the query's sizes with the value's width.
inline Array resized_output(Arguments& arguments, std::size_t index, const Array& query, const Array& value) {
  Tensor* const tensor = arguments.tensor(index, "has an output that is no tensor");
  if (tensor == nullptr) return Array();
  executorch::aten::SizesType sizes[4] = {};
  for (int axis = 0; axis < 4; ++axis) sizes[axis] = executorch::aten::SizesType(axis == 3 ? value.size[3] : query.size[axis]);
  arguments.require(tensor->dim() == 4 && tensor->scalar_type() == query.type,
                    "has an output of another type or rank than the query");
  if (arguments.failed()) return Array();
  const Error resized =
      executorch::runtime::resize_tensor(*tensor, executorch::aten::ArrayRef<executorch::aten::SizesType>(sizes, 4));
  arguments.require(resized == Error::Ok, "has an output without room for the query's sizes");
  return arguments.array(index, 4, "has an output that is not of 4 axes");
}

// The problem of a call, which the library has checked.
inline attend_problem problem_of(Arguments& arguments, const Array& query, const Array& key, const Array& value,
                                 std::ptrdiff_t keys, const Options& options, const Array& output) {
  const int t = options.tokens, h = 3 - t;
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  if (arguments.failed() || output.numbers() == 0) {  // nothing to compute
    problem.batch = 0;
    return problem;
  }
  problem.batch = query.size[0];
  problem.query_heads = query.size[h];
  problem.kv_heads = key.size[h];
  problem.head_dim = query.size[3];
  problem.value_dim = value.size[3];
  problem.queries = query.size[t];
  problem.keys = keys;
  problem.query_format = problem.output_format = format_of(query.type);
  problem.key_format = format_of(key.type);
  problem.value_format = format_of(value.type);
  if (options.has_scale) problem.scale = float(options.scale);
  if (options.causal) {
    problem.options = ATTEND_CAUSAL;
    problem.offset = std::ptrdiff_t(options.start);
  }
  place(problem.query, query, t);
  place(problem.key, key, t);
  place(problem.value, value, t);
  place(problem.output, output, t);
  if (options.mask.axes != 0 && options.mask.type == ScalarType::Bool) {
    problem.mask = {options.mask.data, 0, 0, options.mask.stride[0], keys, ATTEND_MASK_BYTES};
  } else if (options.mask.axes != 0) {
    problem.bias = {static_cast<const float*>(options.mask.data), 0, 0, options.mask.stride[0], keys};
  }
  require_taken(arguments, attend_check(&problem));
  return problem;
}

inline void run(Arguments& arguments, const attend_problem& problem) {
  if (arguments.failed() || problem.batch == 0) return;
  const double work = double(problem.batch) * double(problem.query_heads) * double(problem.queries) * double(problem.keys) *
                      double(problem.head_dim + problem.value_dim);
  require_taken(arguments, attend_adapter::run_masked_attention(problem, threads(work), memory_of_thread().work));
}

}  // namespace attend_executorch
