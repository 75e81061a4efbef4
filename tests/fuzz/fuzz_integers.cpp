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
#include "small.h"

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

// A problem of some numbers, computed in one way.
void try_small(Random& random) {
  IntegerCase c = random_shape(random);
  const int most = random.between(0, 63) == 0 ? 140 : random.between(0, 7) == 0 ? 40 : 8;
  c.kv_heads = 1, c.query_heads = random.between(0, 3) == 0 ? 2 : 1, c.queries = random.between(1, most > 8 ? 7 : 2);
  c.head_dim = random.between(1, most == 8 ? 7 : 40), c.value_dim = random.between(1, most == 8 ? 5 : 40);
  c.keys = random.between(1, most), c.offset = random.between(-2, c.keys + 1);
  if (random.between(0, 3) > 0) add_options(random, c);
  if (random.between(0, 7) == 0) put_into_ring(random, c);
  const char* const backend = backend_for_a_while(counts.problems);
  IntegerRun run(c);
  IntegerModel model(run.c, run.data);
  const std::vector<char> defined = model.output();
  if (!model.fits()) stop(backend, run, "numbers beyond 32 bits");
  run.panels = random.between(0, 1) == 1;
  counts.ring |= c.ring_chunks > 0, counts.panels |= run.panels, counts.plain |= !c.has_options(),
      counts.options |= c.has_options();
  const int way = random.between(0, 3), rows = random.between(1, 4), keys = 32 * random.between(1, 2);
  const bool steps = way == 3 && c.ring_chunks == 0;
  const std::vector<char> found = way == 0   ? run.whole(rows, keys)
                                  : way == 1 ? run.parts(random.between(2, 3), rows, keys)
                                  : steps    ? run.in_steps(32 * random.between(1, 3), rows, keys)
                                             : run.with_options(rows, keys);
  ++counts.calls;
  if (found != defined) stop(backend, run, "way " + std::to_string(way) + (run.panels ? ", panels" : ""));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Random random(data, size);
  if (small) return try_small(random), ++counts.problems, 0;
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
