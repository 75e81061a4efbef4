// What the constants of include/attend/detail/instruction_counts.h are computed from: for each call whether it is one of
// attention, a projection or append, whether it is one of the typed surface, whether it is causal, its instructions, and how
// many times each constant is in the formula. For worst_main.cpp.
#pragma once

#include "worst_calls.h"

namespace {

constexpr int numbers_of_counts = sizeof(InstructionCounts) / sizeof(int16_t), divisions = 5;

template <class Formula>
void print_loops(int kind, bool typed, bool causal, uint64_t found, Formula formula) {
  int row[4 + numbers_of_counts] = {kind, typed, causal, int(found)};
  for (int i = 0; i < numbers_of_counts; ++i) {
    InstructionCounts one{};
    memcpy(&one, &counts, divisions * sizeof(int16_t));
    int16_t unit = 1;
    if (i >= divisions) memcpy(reinterpret_cast<char*>(&one) + i * int(sizeof unit), &unit, sizeof unit);
    memcpy(&unit, reinterpret_cast<const char*>(&one) + i * int(sizeof unit), sizeof unit);
    row[4 + i] = i < divisions ? unit : int(formula(one));
  }
  print_row(row, 4 + numbers_of_counts);
}
void print_loops(bool typed, const CountedCall& call, uint64_t found) {
  print_loops(0, typed, call.causal, found, [&](const InstructionCounts& one) {
    return attend::detail::CountedLoops{one, call}.instructions();
  });
}

void print_projection(int outputs, int inputs, int tokens, bool zero, uint64_t typed = 0) {
  print_loops(1, typed > 0, false, typed > 0 ? typed : count_projection(outputs, inputs, tokens, zero), [=](const auto& one) {
    return typed > 0 ? attend::detail::counted_projection(one, outputs, inputs, tokens, zero)
                     : of_core(one, outputs, inputs, tokens, zero);
  });
}
template <unsigned... seed>
void print_others(std::integer_sequence<unsigned, seed...>) {
  for (int zero = 0; zero < 2; ++zero) {
    for (int i = 1; i <= 18; ++i) print_projection(i, 8, 1, zero), print_projection(i, 19, 2, zero);
    for (int i = 4; i <= 20; ++i) print_projection(5, i, 1, zero), print_projection(16, i, 3, zero);
    for (int i = 60; i <= 84; ++i) print_projection(8, i, 1 + i % 2, zero);
    for (int i = 125; i <= 134; ++i) print_projection(7, i, 1, zero), print_projection(2, i, 4, zero);
    for (int i = 1; i <= 16; i += 3) print_projection(20, 40, i, zero), print_projection(1, 3 + i, i, zero);
    for (int i = 4; i <= 1000; i += 199) print_projection(1000, i / 8 + 4, 1, zero), print_projection(1, i, 1, zero);
  }
  for (int i = 0; i < 220; ++i) {
    const auto random = [](int low, int high) { return int(numbers.between(low, high)); };
    print_projection(random(1, i % 4 == 0 ? 1000 : 70),
                     random(4, i % 4 == 1   ? 1000
                               : i % 4 == 2 ? 40
                                            : 300),
                     i % 3 == 0 ? random(1, 16) : 1, i % 2);
  }
  const auto append = [](auto drawn) {
    print_loops(2, true, false, drawn.counted(), [=](const InstructionCounts& one) {
      return attend::detail::counted_append(one, drawn.heads, drawn.dims, drawn.values);
    });
  };
  const auto projection = [](auto drawn) {
    print_projection(drawn.outputs, drawn.inputs, drawn.tokens, drawn.zero, drawn.counted());
  };
  (append(DrawnAppend<seed>()), ...);
  (append(DrawnAppend<40 + seed>()), ...);
  (append(DrawnAppend<80 + seed>()), ...);
  (projection(DrawnProjection<seed>()), ...);
}

// A call below the surface, whose shape may be any.
void print_loops(const CountedCall& call) {
  using namespace attend;
  if (call.value_dim < counts.columns || (counts.value_keys > 1 && call.head_dim < 4)) return;  // other loops, which take less
  static int8_t arrays[4][150'000];
  static int32_t work[20'000];
  const core::ScoreScale score_scale = core::score_scale(0x1p-12);
  const core::OutputScale output_scale = core::output_scale(4);
  const int heads = call.query_heads;
  core::Problem problem{};
  problem.query = {arrays[0], heads * call.head_dim, call.head_dim};
  problem.key = {arrays[1], call.head_dim, call.keys * call.head_dim};
  problem.value = {arrays[2], call.value_dim, call.keys * call.value_dim};
  problem.output = {arrays[3], heads * call.value_dim, call.value_dim};
  problem.query_heads = heads;
  problem.kv_heads = call.kv_heads;
  problem.head_dim = call.head_dim;
  problem.value_dim = call.value_dim;
  problem.queries = call.queries;
  problem.keys = call.keys;
  problem.offset = call.keys - call.queries;
  problem.causal = call.causal;
  problem.score_scales = &score_scale;
  problem.output_scales = &output_scale;
  problem.row_block = detail::smaller(call.queries * heads / call.kv_heads, config::integer_row_block);
  problem.key_block = config::integer_key_block;
  problem.scratch = work;
  const int64_t about = int64_t(heads) * call.queries * (call.keys + 32) * (call.head_dim + call.value_dim + 20) * 6;
  print_loops(false, call, count(about, [&] { core::Integers::run(problem); }));
}

template <class Shape>
void print_typed() {
  const Typed<Shape> typed;
  for (int keys = 3; keys < 70; keys += 11) {
    CountedCall call = typed.template call_of<1>(keys);
    call.causal = false;
    print_loops(true, call, typed.template counted<1>(keys));
    print_loops(true, typed.template call_of<3>(keys), typed.template counted<3>(keys));
  }
}

void print_all() {
  constexpr int dims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 17, 20, 30, 35, 48, 64};
  constexpr int some_keys[] = {1, 4, 6, 7, 32}, many_keys[] = {500, 512, 513, 1024, 1025, 1537, 2049, 2561, 3600};
  for (int heads = 1; heads <= 2; ++heads) {
    for (const int width : dims) {
      for (const int keys : some_keys)
        print_loops({width, 8, heads, 1, 1, keys, false}), print_loops({8, width, heads, 1, 1, keys, false});
    }
    for (int keys = 1; keys <= 70; ++keys) print_loops({8, 12, heads, 1, 1, keys, false});
    for (const int keys : many_keys)
      print_loops({4, 4, heads, 1, 1, keys, false}), print_loops({4, 8, heads, 1, 1, keys, false});
  }
  for (int heads = 1; heads <= 4; ++heads) {
    for (int group = 1; group <= 5; ++group) print_loops({8, 8, heads * group, heads, 1, 7, false});
  }
  const auto random = [](int low, int high) { return int(numbers.between(low, high)); };
  for (int i = 0; i < 300; ++i) {
    const int kv_heads = random(1, 3), queries = random(1, 5);
    print_loops(
        {random(4, 70), random(4, 70), kv_heads * random(1, 4), kv_heads, queries, queries + random(0, 100), i % 3 != 0});
  }
  print_typed<Sized<2, 1, 12, 20>>();
  print_typed<Sized<3, 3, 7, 8>>();
  print_typed<Sized<8, 2, 40, 11>>();
#ifdef ATTEND_LOOPS  // board.sh build: it compiles for long
  print_others(std::make_integer_sequence<unsigned, 40>());
#endif
}

}  // namespace
