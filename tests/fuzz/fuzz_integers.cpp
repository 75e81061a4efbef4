// For libFuzzer: bytes become a problem of integer attention, by the generator of the unit tests. Every backend of the machine
// must have the bytes of the model, however it computes the problem: whole, in parts, in steps, over rows and over panels, and
// with other numbers where no query sees them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../conformance/integer_random.h"
#include "../support/instance.h"

namespace {

using namespace attend_test;

struct Counts {
  long problems = 0, calls = 0;
  bool plain = false, options = false, ring = false, origin = false, panels = false;
  ~Counts() {
    const bool every = plain && options && ring && origin && panels;
    std::printf("fuzz: %ld problems, %ld calls, %s kind\n", problems, calls, every ? "every" : "not every");
  }
} counts;

[[noreturn]] void stop(const char* backend, const IntegerRun& run, const std::string& wrong) {
  std::fprintf(stderr, "found: %s: %s; %s\n", backend, wrong.c_str(), run.text().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Random random(data, size);
  const int kind = random.between(0, 4);
  const IntegerCase c = kind == 4 ? random_shape(random) : random_options(random, kind);
  ++counts.problems;
  (kind == 4 ? counts.plain : counts.options) = true;
  counts.ring |= c.ring_chunks > 0;
  counts.origin |= c.origin > 0;
  for_each_backend([&](const char* backend) {
    IntegerRun run(c);
    IntegerModel model(run.c, run.data);
    const std::vector<char> defined = model.output();
    if (!model.fits()) stop(backend, run, "numbers beyond 32 bits");
    each_integer_way(run, random, [&](const std::vector<char>& found, const char* way) {
      ++counts.calls;
      counts.panels |= run.panels;
      if (found != defined) stop(backend, run, way);
    });
  });
  return 0;
}
