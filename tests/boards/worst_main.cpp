// What attend/worst_case.h says of calls in integers, beside what an emulator counts: `worst outside 0`, where each bound is as
// large as what was counted and at most 3 % larger, or three times of append. With the argument `loops` it prints what the
// constants are computed from. For an emulator whose clock moves with the instructions (instructions.h).
#include "worst_loops.h"

namespace {

int calls = 0, outside = 0;
template <int size>
void compare(const char* what, bool right, const int (&row)[size]) {
  ++calls;
  outside += !right;
  firmware::print(right ? what : "outside: ");
  print_row(row, size);
}
bool within(uint64_t found, int64_t bound, int more = 0) {
  return uint64_t(bound) >= found && (uint64_t(bound) * 100 <= found * 103 || uint64_t(bound) <= found + uint64_t(more));
}
void compare(const char* what, const CountedCall& call, uint64_t found, int64_t bound) {
  compare(what, within(found, bound),
          {call.query_heads, call.kv_heads, call.head_dim, call.value_dim, call.queries, call.keys, int(found), int(bound)});
}

template <unsigned seed>
void check_drawn() {
  using P = DrawnProjection<seed>;
  using A = DrawnAppend<seed>;
  const uint64_t found = P::counted(), append = A::counted();
  constexpr int64_t bound = attend::worst_project_instructions<P::outputs, P::inputs, P::tokens, P::zero>(counts),
                    of_append = attend::worst_append_instructions<typename A::Shape>(counts);
  compare("project: ", within(found, bound, 120), {P::outputs, P::inputs, P::tokens, P::zero, int(found), int(bound)});
  // Short appends may take a third of it.
  compare("append: ", of_append >= int64_t(append) && of_append <= int64_t(3 * append + 100),
          {A::heads, A::dims, A::values, int(append), int(of_append)});
}
template <unsigned... seed>
void check_others(std::integer_sequence<unsigned, seed...>) {
  (check_drawn<1000 + seed>(), ...);
  for (int i = 0; i < 100; ++i) {
    const int outputs = int(numbers.between(1, i % 9 == 0 ? 1000 : 70)),
              inputs = int(numbers.between(4, i % 9 == 1 ? 1000 : 200)), tokens = i % 3 == 0 ? int(numbers.between(1, 16)) : 1,
              zero = i % 2;
    const uint64_t found = count_projection(outputs, inputs, tokens, zero);
    const int64_t bound = of_core(counts, outputs, inputs, tokens, zero) / 16 + 1;
    compare("project: ", within(found, bound, 120), {outputs, inputs, tokens, zero, int(found), int(bound)});
  }
}

template <class Shape, int queries>
void check_call(int keys) {
  using Calls = Typed<Shape>;
  const CountedCall call = Calls::template call_of<queries>(keys);
  compare("", call, Calls::template counted<queries>(keys), attend::detail::CountedLoops{counts, call}.most());
}
template <class Shape>
void check_shape(int keys) {
  const Typed<Shape> typed;  // fills the cache
  check_call<Shape, 1>(1 + keys % 5);
  check_call<Shape, 1>(32 + keys % 3 * 32);
  check_call<Shape, 1>(keys);
  check_call<Shape, 1>(keys + 512);
  check_call<Shape, 3>(3 + keys % 7);
  check_call<Shape, 10>(keys);
}

// worst_instructions, beside all numbers of keys that may be the worst.
template <class Shape, int keys>
void check_worst() {
  const Typed<Shape> typed;  // fills the cache
  uint64_t found = 0;
  for (int fewer = 0; fewer < 32 && fewer < keys; ++fewer) {
    const uint64_t here = typed.template counted<1>(keys - fewer);
    if (here > found) found = here;
  }
  constexpr int64_t bound = attend::worst_instructions<Shape, keys>(counts);
  compare("worst: ", typed.template call_of<1>(keys), found, bound);
}

void check_all() {
  check_shape<Sized<4, 2, 32, 32>>(100);
  check_shape<Sized<1, 1, 16, 16>>(64);
  check_shape<Sized<8, 8, 64, 64>>(39);
  check_shape<Sized<6, 3, 24, 40>>(250);
  check_shape<Sized<5, 1, 10, 14>>(33);
  check_shape<Sized<3, 1, 33, 7>>(511);
  check_shape<Sized<2, 1, 128, 96>>(77);
  check_shape<Sized<12, 4, 9, 13>>(95);
  check_shape<Sized<1, 1, 5, 31>>(12);
  check_shape<Sized<16, 2, 48, 48>>(30);
  check_worst<Sized<4, 2, 32, 32>, 64>();
  check_worst<Sized<1, 1, 16, 16>, 60>();
  check_worst<Sized<5, 1, 10, 14>, 17>();
  check_worst<Sized<4, 4, 8, 8>, 200>();
  check_others(std::make_integer_sequence<unsigned, 12>());
  firmware::print("worst calls ");
  firmware::print_number(uint64_t(calls));
  firmware::print("\nworst outside ");
  firmware::print_number(uint64_t(outside));
  firmware::print("\n");
}

}  // namespace

int firmware::run() {
  if (!start_counting()) return 1;
  char argument[16];
  if (!read_arguments(argument, sizeof argument)) return 1;
  argument[0] == 'l' ? print_all() : check_all();
  return 0;
}
