// The program whose size is measured: a prompt of 64 tokens, then one token at a time. One head of 32 dimensions, because how
// many heads and tokens there are changes no code.
#pragma once

#include <attend/attend.h>
#include <attend/attention.h>

namespace size_program {

struct Shape {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 32, max_tokens = 128;
};
constexpr int prompt_tokens = 64;

template <int tokens>
struct Arrays {
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  attend::Output<Shape, tokens> output;
};

extern attend::KvCache<Shape> cache;
extern attend::Workspace<Shape, prompt_tokens> work;
extern Arrays<prompt_tokens> prompt;
extern Arrays<1> token;
extern attend::core::Problem problem;
extern attend::core::Options options;
alignas(attend::config::alignment) extern float scratch[attend::core::option_scratch_floats(1, attend::chain_keys,
                                                                                            Shape::head_dim, Shape::head_dim)];

}  // namespace size_program

extern "C" {

void append_prompt();
void call_prefill();
void append_token();
void call_decode();
void call_options();
void call_integer();
void begin_integer_ring();
void call_integer_ring();
void call_project_integer();
}
