// For libFuzzer and for many.cpp: bytes become a projection in floats or in integers, a normalisation, or heads that turn by
// their position. The backend has the bits of the definition, and touches nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../conformance/integer_projection.h"
#include "../conformance/layer_definition.h"
#include "../conformance/linear_case.h"
#include "attend/layers/core_layer.h"
#include "small.h"

namespace {

using namespace attend_test;

struct Counts {
  long tried[4] = {};
  ~Counts() {
    std::printf("fuzz: %ld projections, %ld in integers, %ld normalisations, %ld rotations\n", tried[0], tried[1], tried[2],
                tried[3]);
  }
} counts;

bool is_projection_right(Random& random, int most) {
  constexpr Format formats[] = {Format::float32, Format::float16, Format::bfloat16, Format::int8, Format::int4};
  const Format format = formats[random.between(0, random.between(0, 3) == 0 ? 4 : 3)];
  const LinearShape shape = {random.between(1, 3), random.between(1, most), random.between(1, most), format,
                             random.between(0, 1) == 1};
  const LinearCase projection(shape, random.bits());
  const LinearWay way = {random.between(0, 1) == 1, random.between(0, 1) == 1, random.between(1, 2)};
  return same_bits(projection.run(way), projection.defined()) && projection.is_beyond_untouched;
}

bool is_integer_projection_right(Random& random, int most) {
  static std::vector<std::int64_t> memory(1 << 14);
  const ProjectionShape shape = {random.between(0, most),   random.between(1, most),   random.between(1, 3),
                                 random.between(-128, 127), random.between(-128, 127), random.between(0, 1) == 1,
                                 random.between(0, 1) == 1};
  if (projection_bytes(shape) > memory.size() * 8) std::abort();
  return is_projected(shape, random, memory.data());
}

bool is_normalisation_right(Random& random, int most) {
  const int width = random.between(1, 4 * most), kind = random.between(0, 7), tokens = random.between(1, 2);
  const std::size_t numbers = std::size_t(tokens * width);
  std::vector<float> x(numbers), weight(static_cast<std::size_t>(width)), bias(weight.size()), expected;
  random.fill(x.data(), numbers, std::ldexp(1.0f, random.between(-20, 20)));
  random.fill(weight.data(), weight.size(), 2.0f), random.fill(bias.data(), bias.size(), 2.0f);
  const float epsilon = random.between(0, 3) == 0 ? 1e-30f : 1e-5f;
  const float *const w = kind % 2 == 0 ? nullptr : weight.data(), *const b = kind % 4 < 2 ? nullptr : bias.data();
  for (int row = 0; row < tokens; ++row) {
    const std::vector<float> from(x.begin() + row * width, x.begin() + (row + 1) * width);
    const std::vector<float> to = kind < 4 ? defined_rms_norm(from, w, epsilon) : defined_layer_norm(from, w, b, epsilon);
    expected.insert(expected.end(), to.begin(), to.end());
  }
  const attend::core::Normalisation n = {x.data(), width, x.data(), width, w, b, tokens, width, epsilon};
  kind < 4 ? attend::core::rms_norm(n) : attend::core::layer_norm(n);
  return same_numbers(x, expected);
}

bool is_rotation_right(Random& random, int most) {
  const int pairs = random.between(1, most), head_dim = 2 * pairs + random.between(0, 3), heads = random.between(1, 2);
  const int position = int(random.bits() >> random.between(12, 31));
  const bool halves = random.between(0, 1) == 1;
  std::vector<std::uint64_t> turns(static_cast<std::size_t>(pairs));
  for (std::uint64_t& turn : turns) turn = std::uint64_t(random.bits()) << 32 | random.bits();
  std::vector<float> x(static_cast<std::size_t>(heads * head_dim)), cosines(turns.size()), sines(turns.size());
  random.fill(x.data(), x.size());
  std::vector<float> expected = x;
  attend::core::rotary_angles({turns.data(), 1.0f}, pairs, position, cosines.data(), sines.data());
  for (int head = 0; head < heads; ++head) {
    for (int i = 0; i < pairs; ++i) {
      float* const of = &expected[std::size_t(head * head_dim)];
      defined_turn(of[halves ? i : 2 * i], of[halves ? i + pairs : 2 * i + 1], cosines[std::size_t(i)], sines[std::size_t(i)]);
    }
  }
  const attend::core::Rotation rotation = {x.data(), head_dim, heads, pairs, halves ? pairs : 1, nullptr, nullptr};
  attend::core::rotate_at(rotation, {turns.data(), 1.0f}, position, 1, heads * head_dim);
  return same_numbers(x, expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static long problems = 0;
  const char* const backend = backend_for_a_while(problems++);
  Random random(data, size);
  constexpr bool (*kinds[])(Random&, int) = {is_projection_right, is_integer_projection_right, is_normalisation_right,
                                             is_rotation_right};
  const int kind = random.between(0, 3), most = random.between(0, 31) == 0 ? 70 : random.between(0, 3) == 0 ? 20 : 6;
  ++counts.tried[kind];
  if (kinds[kind](random, most)) return 0;
  std::fprintf(stderr, "found: %s: kind %d, extents up to %d\n", backend, kind, most);
  std::abort();
}
