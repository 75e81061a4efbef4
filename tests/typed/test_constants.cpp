// What the typed surface asks in constant expressions, asked again at run time: the answers are the same.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "attend/attend.h"
#include "attend/layers.h"
#include "attend/linear_attention.h"
#include "attend/states.h"
#include "attend/worst_case.h"

using namespace attend;
using namespace attend::detail;

namespace {

struct Endless {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32;
};
struct Wake : Endless {
  static constexpr int max_tokens = 1024;
};
template <int query_heads_, int kv_heads_>
struct Odd {
  using arithmetic = attend::integer;
  static constexpr int query_heads = query_heads_, kv_heads = kv_heads_, head_dim = 30, value_dim = 17;
};
struct Many {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 15, kv_heads = 1, head_dim = 64;
};
template <int dims>
struct Wide {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = dims;
};
struct Mixer : Endless {
  static constexpr auto rule = LinearRule::gated;
};

using Work = WorkFloats<8>;
using Some = Vectors<2, 4>;
using Normalised = decltype(head_norm(*null_of<float[32]>(), *null_of<float[32]>()));
using Into = decltype(into(*null_of<Weights<4, 4>>(), *null_of<Some>()));

template <class... Answers>
constexpr std::array<std::int64_t, sizeof...(Answers)> numbers(Answers... answers) {
  return {std::int64_t(answers)...};
}
#define AT_RUN_TIME(...)                             \
  do {                                               \
    constexpr auto constants = numbers(__VA_ARGS__); \
    CHECK((numbers(__VA_ARGS__) == constants));      \
  } while (false)

volatile int hidden_one = 1;

}  // namespace

TEST_CASE("constants: kinds of arguments are the same at run time") {
  AT_RUN_TIME(kind_of(null_of<Work>()), kind_of(null_of<Quantisation<Integer<Wake>>>()), kind_of(null_of<Options>()),
              kind_of(null_of<Part>()), kind_of(null_of<RowCall<Part>>()), kind_of(null_of<int>()));
  AT_RUN_TIME(is_of_shape<Wake>(null_of<int>()), is_of_shape<Wake>(null_of<ScoreOptions<Endless>>()),
              is_of_shape<Wake>(null_of<Quantisation<Integer<Wake>>>()), is_score_options(null_of<Options>()),
              is_score_options(null_of<ScoreOptions<Wake>>()), has_ranges(null_of<Options>()),
              has_ranges(null_of<RangedOptions<Wake>>()), is_list_of_documents(null_of<Documents<3>>()));
  AT_RUN_TIME(is_projection(null_of<Into>()), is_projection(null_of<int>()), is_count(null_of<int>()),
              is_count(null_of<float>()), begin_with_output(null_of<Some>()), begin_with_output(),
              scale_count(null_of<ProjectionScales<4>>()), scale_count(null_of<int>()), weight_extents(null_of<int>()).outputs);
  AT_RUN_TIME(is_any_part(null_of<Part>()), is_any_part(null_of<int>()), is_team_part(null_of<TeamPart>()),
              is_team_part(null_of<Part>()), is_layer<int>(), step_uses_positions(null_of<int>()),
              step_uses_positions(null_of<Normalised>()), is_state_of<Wake, 2>(null_of<State<Wake, 2>>()));
  AT_RUN_TIME(are_linear_arguments<1, int, LinearOptions, Part>(), are_linear_arguments<0, LinearOptions, LinearOptions>(),
              is_linear_state(null_of<int>()), is_linear_state(null_of<EmptyState>()),
              is_linear_state(null_of<LinearState<Mixer>>()),
              are_linear_arrays<Mixer, 2, Key<Mixer, 2>, Value<Mixer, 2>, Gates<Mixer, 2>>());
}

TEST_CASE("constants: extents and sizes are the same at run time") {
  AT_RUN_TIME(has_heads<Wake, Mask<2, 4, 9>>(), has_heads<Wake, Mask<2, 3, 9>>(), limits_of(null_of<Ranges<5>>()).tokens,
              limits_of(null_of<FirstKeys<5>>()).first, limits_of(null_of<EndKeys<5>>()).end,
              ArrayExtents<float[3][4]>::has_rows_of(4), ArrayExtents<float[3][4]>::has_rows_of(5));
  AT_RUN_TIME(work_floats(null_of<Work>()), work_floats(null_of<int>()), levels_of<Wake, 2000>(), levels_of<Wake, over_cache>(),
              levels_of<Endless, over_cache>(), levels_of<Wake, over_cache - 3>(), is_enough<Work, Plan<Wake, 1, 1, false>>(),
              are_weights<4, 32, int4>(), named_enumerator<LinearRule>(LinearRule::gated),
              cache_traits(null_of<int>()).most_queries);
  const int one = hidden_one;
  CHECK((has_width<int4>(32 * one) && !has_width<int4>(33 * one) && has_width<float>(33 * one)));
  CHECK((at_least_one(one - 1) == 1 && at_least_one(7 * one) == 7));
  CHECK((extent(3 * one) == 3 && extent((std::int64_t(one) << 32) + 1) == -1));
  CHECK(state_nodes(2000 * one) == core::state_nodes(2000));
  static_assert(default_scale(64) == 0.125f, "");
  CHECK(default_scale(64 * one) == 0.125f);
}

// The worst case, row by row: two rows at a time, whoever their queries are.
std::int64_t in_pairs(const InstructionCounts& counts, const CountedCall& call) {
  const CountedLoops loops = {counts, call};
  const int group = call.query_heads / call.kv_heads, rows = group * call.queries;
  std::int64_t sum = counts.kv_head;
  for (int row = 0; row < rows; row += 2) {
    const int last = row + 1 < rows ? row + 1 : row;
    sum += loops.block(last - row, loops.seen(row / group), loops.seen(last / group));
  }
  sum = counts.call + call.kv_heads * sum;
  return sum + sum / 96;
}

template <int query_heads_, int kv_heads_, int keys, int queries, bool causal>
void is_worst(const InstructionCounts& counts) {
  std::int64_t most = 0;
  for (int seen = keys; seen > keys - 32 && seen >= (causal ? queries : 1); --seen) {
    const CountedCall call = {30, 17, query_heads_, kv_heads_, queries, seen, causal};
    const std::int64_t here = in_pairs(counts, call);
    CHECK(CountedLoops{counts, call}.most() == here);
    most = here > most ? here : most;
  }
  CHECK(worst_instructions<Odd<query_heads_, kv_heads_>, keys, queries, causal>(counts) == most);
}

TEST_CASE("the worst case is that of the rows in pairs, over the last 32 numbers of keys") {
  for (const InstructionCounts* counts : {&gcc_12_O2::cortex_m0_plus, &gcc_12_O2::cortex_m3, &gcc_12_Os::cortex_m4}) {
    is_worst<6, 2, 600, 5, true>(*counts);
    is_worst<6, 2, 600, 6, false>(*counts);
    is_worst<4, 2, 40, 1, true>(*counts);
    is_worst<4, 4, 7, 7, true>(*counts);
    is_worst<4, 4, 70, 2, false>(*counts);
  }
}

TEST_CASE("the worst cases of projections and append grow with what they do") {
  for (const InstructionCounts* counts : {&gcc_12_O2::cortex_m0_plus, &gcc_12_O2::cortex_m3, &gcc_12_Os::cortex_m4}) {
    const std::int64_t one = worst_project_instructions<40, 70>(*counts);
    CHECK((worst_project_instructions<40, 70, 2>(*counts) > one && worst_project_instructions<41, 70>(*counts) > one));
    CHECK((worst_project_instructions<40, 74>(*counts) > one && worst_project_instructions<40, 70, 1, false>(*counts) < one));
    CHECK(worst_project_instructions<40, 66>(*counts) > worst_project_instructions<40, 64>(*counts));
    const std::int64_t append = worst_append_instructions<Odd<2, 1>>(*counts);
    CHECK((worst_append_instructions<Odd<6, 2>>(*counts) > append && worst_append_instructions<Many>(*counts) > append));
    CHECK(worst_append_instructions<Wide<140>>(*counts) > worst_append_instructions<Wide<70>>(*counts));
  }
}

// Compilers limit what a constant takes: many queries, of many heads, must stay within.
TEST_CASE("the worst case of a prefill of 512 queries of 15 heads is a constant") {
  constexpr std::int64_t most = worst_instructions<Many, 1024, 512>(gcc_12_O2::cortex_m4);
  CHECK(most == worst_instructions<Many, 1024, 512>(gcc_12_O2::cortex_m4));
  CHECK(most > 400 * std::int64_t(worst_instructions<Many, 768>(gcc_12_O2::cortex_m4)));
}
