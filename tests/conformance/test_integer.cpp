// Integer attention has the bytes of the model, on every backend, however it is cut, and at its extremes.
#include <doctest/doctest.h>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "digest_text.h"
#include "integer_random.h"

using namespace attend_test;

namespace {

void check_every_way(IntegerRun& run, const char* backend, Random& random) {
  IntegerModel model(run.c, run.data);
  const std::vector<char> defined = model.output();
  CHECK_MESSAGE(model.fits(), run.text());
  each_integer_way(run, random, [&](const std::vector<char>& found, const char* way) {
    CHECK_MESSAGE(found == defined, std::string(backend), ", ", std::string(way), ": ", run.text());
  });
}

// Every key and value the same number, every query another.
void set_all(IntegerRun& run, int query, int key, int value) {
  const IntegerCase& c = run.c;
  std::memset(run.data.query, query, c.rows() * std::size_t(c.head_dim));
  const std::size_t keys = std::size_t(c.places()) * std::size_t(c.kv_heads);
  std::memset(run.data.key, key, keys * std::size_t(c.head_dim));
  std::memset(run.data.value, value, keys * std::size_t(c.value_dim));
}

}  // namespace

TEST_CASE("integer attention: random problems have the bytes of the model") {
  for_each_backend([](const char* backend) {
    for (const int i : each_round(160)) {
      Random random(std::uint64_t(i) + 1);
      IntegerRun run(random_shape(random));
      check_every_way(run, backend, random);
    }
  });
}

TEST_CASE("integer attention: random options have the bytes of the model") {
  for_each_backend([](const char* backend) {
    for (const int i : each_round(240)) {
      Random random(std::uint64_t(i) + 1000);
      IntegerRun run(random_options(random, i % 4));
      check_every_way(run, backend, random);
    }
  });
}

TEST_CASE("integer attention: steps that stop between sinks and a window") {
  for_each_backend([](const char* backend) {
    for (const int sinks : {1, 33, 100, 600}) {
      for (const int left : {0, 99, 400}) {
        IntegerRun run(
            integer_problem().tokens(2, 1100, 1098).window(left, -1, sinks).output(Format::int16).steps(2e-4, 100.0));
        const std::vector<char> defined = IntegerModel(run.c, run.data).output();
        for (const int keys : {32, 96, 256, 512, 640}) {
          CHECK_MESSAGE(run.in_steps(keys, 8, 64) == defined, std::string(backend), ", ", keys, " at a time: ", run.text());
        }
      }
    }
  });
}

TEST_CASE("integer attention: the digests' cases have the bytes of the model") {
  for (const Digest<IntegerCase>& digest : digests<IntegerCase>) {
    IntegerRun run(digest.c);
    IntegerModel model(run.c, run.data);
    const std::vector<char> defined = model.output();
    CHECK_MESSAGE(hash_integer_output(run.c, defined.data()) == digest.value, std::string(digest_text(digest.line)));
    CHECK_MESSAGE(model.fits(), std::string(digest_text(digest.line)));
  }
}

TEST_CASE("integer attention: the largest and smallest numbers") {
  for_each_backend([](const char* backend) {
    Random random(7);
    int cases = 0;
    for (const int head_dim : {1, 16, 33, 4096}) {
      for (const double step : {0.0, 1e-12, 6e-9, 2e-8, 1e-7, 3e-5, 0.01, 0.99, 0.9999999}) {
        for (int signs = 0; signs < 8; ++signs) {
          if (!is_tried(cases)) continue;
          const auto most = [&](int sign) { return signs >> sign & 1 ? 127 : -128; };
          IntegerCase c = IntegerCase().heads(1, 1).dims(head_dim, 3).tokens(2, 70, 68).steps(step, 1.0);
          c.query_zero = head_dim == 33 ? -most(0) - 1 : 0;
          IntegerRun run(c);
          set_all(run, most(0), most(1), most(2));
          check_every_way(run, backend, random);
          const std::vector<char> output = run.whole(c.row_block, c.key_block);
          CHECK(output == std::vector<char>(output.size(), char(most(2))));
          // One key stands as far above the others as numbers allow.
          std::memset(run.data.key + 40 * head_dim, most(0), std::size_t(head_dim));
          std::memset(run.data.key, -most(0) - 1, std::size_t(40 * head_dim));
          run.data.value[0] = run.data.value[40 * 3 + 1] = std::int8_t(-most(2) - 1);
          check_every_way(run, backend, random);
        }
      }
    }
  });
}

TEST_CASE("integer attention: weights end at 15 octaves") {
  for_each_backend([](const char* backend) {
    for (int end = 16; end < 255; ++end) {
      for (const int distance : {end - 1, end, end + 1}) {
        IntegerCase c = IntegerCase().heads(1, 1).dims(1, 2).tokens(1, 32, 31).steps(15.0 / end, 4096.0);
        c = c.output(Format::float32);
        IntegerRun run(c);
        set_all(run, 1, 127 - distance, 127);
        run.data.key[5] = 127;
        run.data.value[10] = run.data.value[11] = 0;
        const std::vector<char> defined = IntegerModel(run.c, run.data).output();
        CHECK_MESSAGE(run.whole(1, 32) == defined, std::string(backend), " end ", end, " distance ", distance);
        float output;
        std::memcpy(&output, defined.data(), 4);
        if (distance > end) CHECK(output == 0.0f);
      }
    }
  });
}

TEST_CASE("integer attention: the smallest scales of single keys and values, and weights halfway between two") {
  for_each_backend([](const char* backend) {
    Random random(11);
    for (const int scale : {0, 1, 0x3fff, 0x4000, 0x7fff, 0x8000}) {
      IntegerCase c = IntegerCase().heads(4, 2).token_scales(true, true).output(Format::float32);
      IntegerRun run(c);
      for (int i = 0; i < c.places() * c.kv_heads; ++i) {
        if (i % 3 > 0) run.data.key_scales[i] = std::uint16_t(scale);
        if (i % 5 > 0) run.data.value_scales[i] = std::uint16_t(scale);
      }
      check_every_way(run, backend, random);
    }
  });
}

TEST_CASE("integer attention: 65,535 keys of equal scores have their values' mean, exactly where values are equal") {
  int cases = 0;
  for_each_backend([&](const char* backend) {
    for (const int value : {127, -128, 1}) {
      for (const double step : {0.0, 1e-4, 0.99}) {
        for (const int score : {1, -1}) {
          if (cases++ % stride() != 0) continue;
          const IntegerCase c = IntegerCase().heads(1, 1).dims(1, 1).tokens(1, attend::integer_keys, 65534).steps(step, 1.0);
          IntegerRun run(c);
          set_all(run, score, 1, value);
          IntegerModel model(run.c, run.data);
          const std::vector<char> found = run.whole(c.row_block, 512);
          CHECK_MESSAGE(int(std::int8_t(found[0])) == value, std::string(backend), " step ", step);
          CHECK(found == model.output());
          CHECK(model.fits());
        }
      }
    }
  });
}

TEST_CASE("integer attention: 65,534 keys too far below one other add nothing, wherever it is") {
  for_each_backend([](const char* backend) {
    int cases = 0;
    for (const int octaves : {15, 21, 25, 29, 30, 31, 32, 33, 60, 120}) {
      for (const int place : {0, 511, 512, 40000, 65534}) {
        if (!is_tried(cases)) continue;
        IntegerCase c = IntegerCase().heads(1, 1).dims(1, 1).tokens(1, attend::integer_keys, 65534);
        c = c.steps(octaves / 127.0, 100.0).output(Format::int16);
        IntegerRun run(c);
        set_all(run, 1, -1, 127);  // weights near 2^15: denominators of 30 bits
        run.data.key[place] = 127;
        run.data.value[place] = -128;
        IntegerModel model(run.c, run.data);
        const std::vector<char> found = run.whole(c.row_block, 512);
        CHECK_MESSAGE(found == model.output(), std::string(backend), " octaves ", octaves, " place ", place);
        CHECK(model.fits());
        std::int16_t output;
        std::memcpy(&output, found.data(), 2);
        const double others = 65534 * std::exp2(-octaves * 128 / 127.0), exact = 100.0 * (127 * others - 128) / (others + 1.0);
        CHECK_MESSAGE(std::fabs(output - exact) <= 60.0, octaves, " octaves: ", output, " instead of ", exact);
      }
    }
  });
}
