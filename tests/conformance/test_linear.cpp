// Projections: the bits of the definition on every backend, in every layout, whole and in parts; and the error.
#include <doctest/doctest.h>

#include "../support/rounds.h"
#include "linear_case.h"

using namespace attend_test;

namespace {

constexpr Format formats[] = {Format::float32, Format::float16, Format::bfloat16, Format::int8, Format::int4};

void check_every_way(const LinearCase& c, const char* backend, int parts) {
  const std::vector<float> defined = c.defined();
  for (const bool panels : {false, true}) {
    for (const bool work : {false, true}) {
      for (const int count : {1, parts}) {
        const std::vector<float> found = c.run({panels, work, count});
        CHECK_MESSAGE(same_bits(found, defined), std::string(backend), ": ", c.text(), panels ? ", panels" : ", rows",
                      work ? ", work memory, " : ", ", count, " parts");
      }
    }
  }
  CHECK_MESSAGE(c.is_beyond_untouched, std::string(backend), ": ", c.text());
}

}  // namespace

TEST_CASE("projections of random shapes have the bits of their definition") {
  for_each_backend([](const char* backend) {
    for (const int i : each_round(300)) {
      Random random(std::uint64_t(i) + 1);
      const LinearShape shape = {random.between(0, 20), random.between(1, 70), random.between(1, 70), formats[i % 5],
                                 random.between(0, 1) == 1};
      check_every_way(LinearCase(shape, std::uint64_t(i)), backend, random.between(2, 9));
    }
  });
}

TEST_CASE("projections of long and many inputs, outputs and tokens have the bits of their definition") {
  const LinearShape shapes[] = {
      {1, 700, 150, Format::float32, true},  {3, 530, 90, Format::float32, false},  {200, 40, 70, Format::float32, true},
      {201, 300, 5, Format::float32, false}, {7, 600, 33, Format::int8, true},      {1, 1100, 130, Format::int8, true},
      {1, 300, 200, Format::float16, false}, {1, 300, 200, Format::bfloat16, true}, {30, 270, 100, Format::float16, true},
      {1, 1, 1, Format::float32, false},     {1, 1, 40, Format::float32, true},     {25, 257, 65, Format::bfloat16, false},
      {1, 1120, 130, Format::int4, true},    {1, 96, 16, Format::int4, false},      {7, 608, 33, Format::int4, true},
      {30, 288, 100, Format::int4, false},   {1, 32, 15, Format::int4, false},      {4, 64, 16, Format::int4, true},
      {2, 300, 33, Format::float16, true},   {3, 259, 40, Format::int8, false},     {3, 140, 50, Format::bfloat16, true},
      {8, 90, 50, Format::float32, true},
  };
  for_each_backend([&](const char* backend) {
    std::uint64_t seed = 1000;
    for (const LinearShape& shape : shapes) check_every_way(LinearCase(shape, ++seed), backend, 3);
  });
}

#if ATTEND_X86
TEST_CASE("one token over weights of other formats that no cache holds has the bits of its definition") {
  const LinearCase c({1, 2053, 4125, Format::float16, true}, 5);
  const std::vector<float> defined = c.defined();
  for_each_backend([&](const char* backend) {
    for (const int parts : {1, 3})
      CHECK_MESSAGE(same_bits(c.run({true, false, parts}), defined), std::string(backend), ": ", c.text());
  });
}

TEST_CASE("a few tokens over rows of weights that the second-level cache does not hold have the bits of their definition") {
  const LinearShape shapes[] = {
      {1, 517, 521, Format::float32, true},    {2, 519, 520, Format::float32, false},  {4, 516, 530, Format::float32, true},
      {8, 515, 523, Format::float32, false},   {1, 1031, 520, Format::float16, true},  {4, 1025, 525, Format::float16, false},
      {1, 1029, 521, Format::bfloat16, false}, {3, 1032, 520, Format::bfloat16, true}, {1, 2053, 520, Format::int8, true},
      {3, 2049, 517, Format::int8, false},     {1, 4096, 530, Format::int4, true},     {3, 2053, 2051, Format::float32, true},
      {8, 2053, 2051, Format::float32, false},  // nor the third, maybe
      {1, 125, 2101, Format::float32, true},    // and short rows
  };
  std::uint64_t seed = 2000;
  for (const LinearShape& shape : shapes) {
    const LinearCase c(shape, ++seed);
    const std::vector<float> defined = c.defined();
    for_each_backend([&](const char* backend) {
      CHECK_MESSAGE(same_bits(c.run({false, true, 1}), defined), std::string(backend), ": ", c.text());
    });
  }
}
#endif

TEST_CASE("projections: an infinite input is seen through a weight of 0 too") {
  for (const Format format : formats) {
    LinearCase c({1, 32, 40, format, false}, 3);
    c.set_input(0, 5, INFINITY);
    const std::vector<float> defined = c.defined();
    for_each_backend([&](const char* backend) {
      const std::vector<float> found = c.run({});
      const bool same = std::equal(found.begin(), found.end(), defined.begin(),
                                   [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); });
      CHECK_MESSAGE(same, std::string(backend), ": ", c.text());
    });
  }
}

TEST_CASE("projections keep to their error bound") {
  double worst = 0.0;
  for (const int i : each_round(120)) {
    Random random(std::uint64_t(i) + 77);
    const LinearCase c({3, random.between(1, 300), 40, formats[i % 5], i % 3 > 0}, std::uint64_t(i));
    worst = std::max(worst, c.error(c.run({true, false, 1})));
  }
  CHECK(worst < 1.0);
  CHECK(worst > 0.01);  // or it was not measured
}
