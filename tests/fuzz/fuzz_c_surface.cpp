// For libFuzzer: bytes become changes of a problem that is fine, or of a projection in integers and of linear attention.
// Whatever comes of it, a call answers, and either touches nothing or writes the output and nothing else.
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "c_changes.h"
#include "c_linear.h"
#include "c_projections.h"
#include "small.h"

using namespace fuzz;

namespace {

struct Counts {
  long refused = 0, taken = 0, run = 0, ended = 0, kept = 0;  // the last two: states
  ProjectionCounts projections;
  LinearCounts linear;
  ~Counts() {
    std::printf(
        "fuzz: %ld refused, %ld taken, %ld of them run, %ld projections refused, %ld run, %ld states ended, %ld refused, "
        "%ld linear refused, %ld run, %ld states loaded, %ld damaged\n",
        refused, taken, run, projections.refused, projections.run, ended, kept, linear.refused, linear.run, linear.loaded,
        linear.damaged);
  }
} counts;

// The same as bytes, after a change of one of them: what is taken is a state, and saved again as it was.
void save_states(attend_problem p) {
  const std::size_t most = attend_saved_size(&p);
  std::vector<unsigned char> states(attend_state_size(&p)), bytes(most), again(most);
  std::size_t size = 0, same = 0;
  if (attend_save(&p, bytes.data(), most, &size) != ATTEND_OK) return;
  REQUIRE(size <= most);
  p.states = states.data();
  if (state_place % 4 != 0 && state_change % 256 != 0) {
    bytes[state_place % size] ^= static_cast<unsigned char>(state_change);
    const std::vector<unsigned char> before = states;
    REQUIRE(attend_load(&p, bytes.data(), size) != ATTEND_OK && states == before);
    bytes[state_place % size] ^= static_cast<unsigned char>(state_change);
  }
  bytes.resize(size);
  const attend_status loaded = attend_load(&p, bytes.data(), size);
  if (state_change % 256 != 0 && error_of(loaded) == ATTEND_CORRUPT)
    return;  // a maximum was overwritten, which is whole in states
  REQUIRE(loaded == ATTEND_OK);
  REQUIRE(attend_save(&p, again.data(), most, &same) == ATTEND_OK);
  again.resize(same);
  REQUIRE(again == bytes);
}

// States that took keys, merged with a copy, and finished, after a change: whatever is in them, nothing else is touched.
void end_states(attend_problem p) {
  const std::size_t size = attend_state_size(&p);
  std::vector<float> output(std::size_t(p.batch * p.queries * p.query_heads * p.value_dim));
  std::vector<unsigned char> states(size), other;
  std::memcpy(states.data(), p.states, size);
  for (int i = 0; i < 3; ++i) {
    if (state_place < size) states[state_place] ^= static_cast<unsigned char>(state_change);
    other = states;
    p.states = states.data();
    save_states(p);
    const attend_status merged = attend_merge(&p, other.data());
    REQUIRE(merged == ATTEND_OK || states == other);
    ++(merged == ATTEND_OK ? counts.ended : counts.kept);
    p.output = {output.data(), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE},
    p.lse = {nullptr, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    p.query_format = p.output_format = ATTEND_FLOAT32;
    const attend_status finished = attend_finish(&p);
    REQUIRE(finished == ATTEND_OK || states == other || merged == ATTEND_OK);
    ++(finished == ATTEND_OK ? counts.ended : counts.kept);
    std::memcpy(states.data(), &other[0], size);
    if (i == 1 && size > 100) std::memset(states.data() + 64, int(state_change), 8);
  }
}

// A problem that is said to be fine is looked at once more, by other means, and run if its memory exists.
void run(std::size_t workspace_bytes, int parts) {
  const attend_cache* cache = whole.problem.cache;
  const std::ptrdiff_t origin = whole.problem.origin == ATTEND_DEFAULT_ORIGIN ? 0 : whole.problem.origin;
  const std::ptrdiff_t keys =
      whole.problem.keys == ATTEND_ALL_KEYS ? origin + attend_cache_tokens(cache, nullptr) : whole.problem.keys;
  attend_problem p = written_out(whole.problem, keys);
  p.size = sizeof p;
  REQUIRE(keys >= 0 && keys <= ATTEND_MAX_TOKENS && p.queries >= 0 && p.query_heads % p.kv_heads == 0);
  REQUIRE(p.scale - p.scale == 0.0f && p.soft_cap >= 0.0f && p.soft_cap - p.soft_cap == 0.0f);
  if (p.batch == 0 || p.queries == 0) return;
  const bool paged = p.pages.table != nullptr, arrays = cache == nullptr && keys > p.origin, writes = p.states == nullptr;
  const std::ptrdiff_t rows = paged ? 1 : p.batch, stored = paged ? p.pages.page_keys * p.pages.count : keys - p.origin;
  const int output_size = size_of(p.output_format);
  const Reach query = reach(p.query, p.batch, p.queries, p.query_heads, p.head_dim, size_of(p.query_format));
  const Reach output = writes ? reach(p.output, p.batch, p.queries, p.query_heads, p.value_dim, output_size) : query;
  const Reach key = arrays ? reach(p.key, rows, stored, p.kv_heads, p.head_dim, size_of(p.key_format)) : query;
  const Reach value = arrays ? reach(p.value, rows, stored, p.kv_heads, p.value_dim, size_of(p.value_format)) : query;
  for (const Reach& input : {query, key, value}) REQUIRE(!writes || output.high <= input.low || input.high <= output.low);
  if (!query.in_arena || !key.in_arena || !value.in_arena || !output.in_arena || !options_exist(p)) return;
  const double work =
      double(p.batch) * double(p.queries) * double(p.query_heads) * double(keys + 16) * double(p.head_dim + p.value_dim);
  if (work > 1e6) return;
  ++counts.run;

  std::set<std::size_t> elements;  // of the output, as places in the arena
  for (std::ptrdiff_t b = 0; writes && b < p.batch; ++b)
    for (std::ptrdiff_t t = 0; t < p.queries; ++t)
      for (std::ptrdiff_t h = 0; h < p.query_heads; ++h)
        for (std::ptrdiff_t c = 0; c < p.value_dim; ++c) {
          const __int128 at = __int128(reinterpret_cast<std::uintptr_t>(p.output.data)) +
                              output_size * (__int128(b) * p.output.batch_stride + __int128(t) * p.output.token_stride +
                                             __int128(h) * p.output.head_stride + c);
          REQUIRE(elements.insert(std::size_t(at - __int128(reinterpret_cast<std::uintptr_t>(arena)))).second);
        }
  const auto begin = [&](int pattern) {
    std::memcpy(arena, untouched, arena_bytes);
    for (const std::size_t at : elements) std::memset(arena + at, pattern, std::size_t(output_size));
  };

  const attend_problem& given = whole.problem;
  void* workspace = nullptr;
  REQUIRE(posix_memalign(&workspace, ATTEND_ALIGNMENT, workspace_bytes) == 0);
  REQUIRE(error_of(attend_run(&given, workspace, workspace_bytes - 1)) == ATTEND_TOO_SMALL);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  begin(0xff);
  if (const attend_status status = attend_run(&given, workspace, workspace_bytes); status != ATTEND_OK) {
    const int error = error_of(status);  // states that stand elsewhere, or were not begun
    REQUIRE(p.states != nullptr && (error == ATTEND_MISMATCH || error == ATTEND_CORRUPT || error == ATTEND_TOO_SMALL));
    REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
    return std::free(workspace);
  }
  std::vector<unsigned char> once(arena, arena + arena_bytes);
  begin(0xfe);
  for (int part = 0; part < parts; ++part)
    REQUIRE(attend_run_part(&given, part, parts, workspace, workspace_bytes) == ATTEND_OK);
  REQUIRE(std::memcmp(arena, once.data(), arena_bytes) == 0);
  for (const std::size_t at : elements) std::memcpy(arena + at, untouched + at, std::size_t(output_size));
  if (p.states != nullptr) end_states(p);
  put_back_results(p);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  std::free(workspace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes = {data, size};
  prepare();
  const int parts = 1 + bytes.byte() % 5;
  const std::uint8_t chosen = bytes.byte();
  if (attend_test::small) {
    attend_test::backend_for_a_while(counts.refused + counts.taken);
  } else {
    int backends = 0;
    while (attend_backend_name(backends) != nullptr) ++backends;
    const char* backend = attend_backend_name(chosen % backends);
    REQUIRE(backend != nullptr);
    const attend_status used = attend_backend_use(backend);
    REQUIRE(used == ATTEND_OK || error_of(used) == ATTEND_UNAVAILABLE);
  }
  if (bytes.byte() % 4 == 0) {
    Random random(bytes.data, bytes.left);
    for (int i = attend_test::small ? 1 : 10; i > 0; --i) fuzz_projection(random, counts.projections);
    for (int i = attend_test::small ? 1 : 3; i > 0; --i) fuzz_linear(random, counts.linear);
    if (!attend_test::small) return 0;
    prepare();
  }
  change_problem(bytes);
  std::memcpy(untouched, arena, arena_bytes);
  const attend_status status = attend_check(&whole.problem);
  const std::size_t workspace_bytes = attend_workspace_size(&whole.problem);
  REQUIRE((status == ATTEND_OK) == (workspace_bytes > 0));
  const attend_status without = attend_run(&whole.problem, nullptr, 0);
  const auto of_workspace = [](attend_status said) { return argument_of(said) == ATTEND_ARG_WORKSPACE; };
  REQUIRE((status != ATTEND_OK && without == status) || of_workspace(without));
  alignas(ATTEND_ALIGNMENT) static unsigned char some[64];
  const attend_status with_some = status == ATTEND_OK ? status : attend_run(&whole.problem, some, SIZE_MAX / 4);
  REQUIRE(with_some == status || of_workspace(with_some));
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  if (status == ATTEND_OK) {
    ++counts.taken;
    run(workspace_bytes, parts);
  } else {
    ++counts.refused;
    REQUIRE(error_of(status) > 0 && argument_of(status) > 0);
  }
  return 0;
}
