// The operators of TFLite Micro, on a board or here: prints a digest of each output, which is the same everywhere, what is
// refused and why, and, in lines that begin with "arena", how many bytes of the arena a node takes, which depends on the size
// of pointers.
#include <attend/c/integer.h>

#include <initializer_list>

#include "../../../bench/adapters/tflite/attend_tflm.h"
#include "../../../bench/boards/platform.h"
#include "../../conformance/hash.h"
#include "micro_interpreter.h"

namespace {

using attend_test::MicroInterpreter;
using attend_test::Step;

alignas(64) char arena[24 * 1024];
alignas(16) unsigned char memory[4][8192];  // of inputs
alignas(16) unsigned char called[2048];
alignas(64) unsigned char work[20 * 1024];

std::uint32_t state = 1;
int next(int below) {
  state = state * 1664525 + 1013904223;
  return int((state >> 16) % std::uint32_t(below));
}

// Numbers that every machine makes alike.
void fill(void* to, TfLiteType type, int count) {
  for (int i = 0; i < count; ++i) {
    const float number = float(next(512) - 256) / 64.0f;
    if (type == kTfLiteFloat32) std::memcpy(static_cast<char*>(to) + 4 * i, &number, 4);
    if (type == kTfLiteInt8) static_cast<signed char*>(to)[i] = static_cast<signed char>(next(256) - 128);
    if (type == kTfLiteBool) static_cast<unsigned char*>(to)[i] = next(4) != 0;
  }
}

void print_digest(const char* name, const void* data, std::size_t bytes) {
  firmware::print(name);
  firmware::print(" ");
  firmware::print_number(attend_test::hash_bytes(attend_test::hash_begin, data, bytes), 16, 16);
  firmware::print("\n");
}

void print_arena(const char* name, const MicroInterpreter& interpreter) {
  firmware::print("arena ");
  firmware::print(name);
  firmware::print(" ");
  firmware::print_number(interpreter.persistent_bytes());
  firmware::print(" persistent ");
  firmware::print_number(interpreter.scratch_bytes());
  firmware::print(" scratch\n");
}

struct Shape {
  int batch, tokens, keys, heads, kv_heads, head_dim, value_dim;
};
constexpr Step steps[4] = {{0.03f, 3}, {0.02f, -7}, {0.05f, 11}, {0.04f, -2}};

// {"scale": 0.25} as FlexBuffers writes it, and {"kv_cache_max": 24}.
constexpr unsigned char scale[] = {'s', 'c', 'a', 'l', 'e', 0, 1, 7, 1,    0,    0,    0, 1,    0,
                                   0,   0,   1,   0,   0,   0, 0, 0, 0x80, 0x3e, 0x0e, 5, 0x26, 1};
constexpr unsigned char places[] = {'k', 'v', '_', 'c', 'a', 'c', 'h', 'e', '_', 'm',  'a', 'x',
                                    0,   1,   14,  1,   1,   1,   24,  4,   2,   0x24, 1};

// Whether an output is what a call of the library writes for the same tensors. Masks are bytes here, or none.
bool is_as_called(const Shape& shape, TfLiteType type, TfLiteType mask, float factor, const void* output, std::size_t bytes) {
  attend_problem problem;
  attend_integer_constants constants;
  if (type == kTfLiteFloat32) {
    attend_problem_init(&problem, sizeof problem);
    if (factor != 0.0f) problem.scale = factor;
  } else {
    attend_integer_scales scales;
    attend_integer_scales_init(&scales, sizeof scales);
    scales.query_scale = double(steps[0].scale), scales.query_zero_point = steps[0].zero;
    scales.key_scale = double(steps[1].scale), scales.key_zero_point = steps[1].zero;
    scales.value_scale = double(steps[2].scale), scales.value_zero_point = steps[2].zero;
    scales.output_scale = double(steps[3].scale), scales.output_zero_point = steps[3].zero;
    if (factor != 0.0f) scales.scale = double(factor);
    if (attend_integer_prepare(&scales, shape.head_dim, &constants) != ATTEND_OK) return false;
    attend_integer_problem_init(&problem, sizeof problem);
    problem.constants = &constants;
  }
  problem.batch = shape.batch, problem.queries = shape.tokens, problem.keys = shape.keys;
  problem.query_heads = shape.heads, problem.kv_heads = shape.kv_heads;
  problem.head_dim = shape.head_dim, problem.value_dim = shape.value_dim;
  problem.query.data = memory[0], problem.key.data = memory[1], problem.value.data = memory[2];
  problem.output.data = called;
  if (mask != kTfLiteNoType) {
    problem.mask.data = memory[3];
    problem.mask.kind = ATTEND_MASK_BYTES;
    problem.mask.head_stride = 0;
  }
  return bytes <= sizeof called && attend_run(&problem, work, sizeof work) == ATTEND_OK &&
         std::memcmp(called, output, bytes) == 0;
}

// An attention node. mask: the type of one, or none.
bool attention(const char* name, const Shape& shape, TfLiteType type, TfLiteType mask, const void* options = nullptr,
               std::size_t bytes = 0) {
  MicroInterpreter it(arena, sizeof arena, firmware::print);
  const int dims[4][4] = {{shape.batch, shape.tokens, shape.heads, shape.head_dim},
                          {shape.batch, shape.keys, shape.kv_heads, shape.head_dim},
                          {shape.batch, shape.keys, shape.kv_heads, shape.value_dim},
                          {shape.batch, shape.tokens, shape.heads, shape.value_dim}};
  for (int i = 0; i < 3; ++i) {
    it.input(it.tensor(type, 4, dims[i], memory[i], type == kTfLiteInt8 ? &steps[i] : nullptr));
    fill(memory[i], type, dims[i][0] * dims[i][1] * dims[i][2] * dims[i][3]);
  }
  const int mask_dims[4] = {shape.batch, 1, shape.tokens, shape.keys};
  if (mask != kTfLiteNoType) {
    fill(memory[3], mask, shape.batch * shape.tokens * shape.keys);
    it.input(it.tensor(mask, 4, mask_dims, memory[3]));
    if (mask == kTfLiteFloat32 && type == kTfLiteInt8) {
      for (int i = 0; i < shape.batch * shape.tokens * shape.keys; ++i) {
        const float number = next(4) != 0 ? 0.0f : -1e9f;
        std::memcpy(memory[3] + 4 * i, &number, 4);
      }
    }
  }
  const int output = it.tensor(type, 4, dims[3], nullptr, type == kTfLiteInt8 ? &steps[3] : nullptr);
  it.output(output);
  if (!it.prepare(attend_tflm_scaled_dot_product_attention(), options, bytes) || !it.invoke())
    return firmware::print(" (refused)\n"), false;
  print_digest(name, it.data(output), it.tensor_bytes(output));
  print_arena(name, it);
  if (mask != kTfLiteNoType && mask != kTfLiteBool) return true;
  if (is_as_called(shape, type, mask, options == nullptr ? 0.0f : 0.25f, it.data(output), it.tensor_bytes(output))) return true;
  return firmware::print("which a call of the library does not write\n"), false;
}

// A cache, token by token and in chunks, its positions being moved on at its end; then anew.
bool cache(const char* name, TfLiteType type) {
  MicroInterpreter it(arena, sizeof arena, firmware::print);
  const int heads = 2, dim = 8, tokens = 3;
  const int new_dims[4] = {1, tokens, heads, dim}, all_dims[4] = {1, 24, heads, dim}, positions[1] = {tokens};
  const Step* const step = type == kTfLiteInt8 ? steps : nullptr;
  it.input(it.tensor(kTfLiteInt32, 1, positions, memory[0]));
  it.input(it.tensor(type, 4, new_dims, memory[1], step));
  it.input(it.tensor(type, 4, new_dims, memory[2], step));
  const int keys = it.tensor(type, 4, all_dims, nullptr, step), values = it.tensor(type, 4, all_dims, nullptr, step);
  it.output(keys);
  it.output(values);
  if (!it.prepare(attend_tflm_update_kv_cache(), places, sizeof places)) return firmware::print(" (refused)\n"), false;
  for (int call = 0; call < 12; ++call) {
    const int first = call == 11 ? 0 : 3 * call;
    for (int i = 0; i < tokens; ++i) {
      const std::int32_t position = first + i;
      std::memcpy(memory[0] + 4 * i, &position, 4);
    }
    fill(memory[1], type, tokens * heads * dim);
    fill(memory[2], type, tokens * heads * dim);
    if (call == 10) it.reset();
    const bool done = it.invoke();
    if (!done) firmware::print(" (refused)\n");
    if (done != (call != 10)) return false;  // after a reset, position 30 leaves out what was before it
    if (!done) continue;
    print_digest(name, it.data(keys), it.tensor_bytes(keys));
    print_digest(name, it.data(values), it.tensor_bytes(values));
  }
  print_arena(name, it);
  return true;
}

}  // namespace

int firmware::run() {
  bool well = true;
  constexpr Shape encoder = {2, 5, 7, 4, 2, 8, 6}, decoder = {1, 1, 100, 2, 1, 16, 16}, words = {1, 12, 12, 2, 2, 16, 16};
  for (const bool floats : {true, false}) {
    const TfLiteType type = floats ? kTfLiteFloat32 : kTfLiteInt8;
    well = attention(floats ? "float32 encoder" : "int8 encoder", encoder, type, kTfLiteNoType) && well;
    well =
        attention(floats ? "float32 encoder, mask" : "int8 encoder, mask", encoder, type, kTfLiteBool, scale, sizeof scale) &&
        well;
    well = attention(floats ? "float32 decoder" : "int8 decoder", decoder, type, kTfLiteFloat32) && well;
    well = attention(floats ? "float32 words" : "int8 words", words, type, kTfLiteNoType) && well;
    well = cache(floats ? "float32 cache" : "int8 cache", type) && well;
  }
  // Each is refused.
  well = !attention("", {1, 2, 3, 4, 3, 8, 8}, kTfLiteFloat32, kTfLiteNoType) && well;
  well = !attention("", {1, 2, 3, 4, 2, 8, 8}, kTfLiteInt16, kTfLiteNoType) && well;
  well = !attention("", encoder, kTfLiteFloat32, kTfLiteInt32) && well;
  well = !attention("", encoder, kTfLiteFloat32, kTfLiteNoType, scale, sizeof scale - 1) && well;
  well = !attention("", encoder, kTfLiteInt8, kTfLiteNoType, places, sizeof places) && well;
  well = !attention("", {1, 1, 3, 1, 1, 0, 8}, kTfLiteFloat32, kTfLiteNoType) && well;
  return well ? 0 : 1;
}
