// Computes the committed digests, those of attention as far as memory holds them, with one backend, and projections in integers
// beside their definition.
#include "../conformance/digest.h"
#include "../conformance/integer_digest.h"
#include "../conformance/integer_projection.h"
#include "../conformance/layer_digest.h"
#include "../conformance/linear_digest.h"
#include "platform.h"

namespace {

using attend_test::digest_case_count, attend_test::digest_cases;

void print_difference(const char* name, uint64_t expected, uint64_t found) {
  firmware::print(name);
  firmware::print(": expected 0x");
  firmware::print_number(expected, 16, 16);
  firmware::print(", found 0x");
  firmware::print_number(found, 16, 16);
  firmware::print("\n");
}

// True when the case gives its digest. The memory is NaN before, so that a read of anything never written shows.
bool check(int index, float* memory) {
  const attend_test::DigestCase& digest_case = digest_cases[index];
  const size_t floats = attend_test::digest_floats(digest_case);
  for (size_t i = 0; i < floats; ++i) memory[i] = __builtin_nanf("");
  const uint64_t digest = attend_test::compute_digest(digest_case, memory);
  if (digest == digest_case.digest) return true;
  firmware::print("case ");
  firmware::print_number(uint64_t(index));
  print_difference(" of digests.inc", digest_case.digest, digest);
  return false;
}

// The same of what stands around attention.
bool check(const attend_test::LayerDigest& layer, float* memory) {
  const uint64_t digest = layer.compute(memory);
  if (digest == layer.digest) return true;
  print_difference(layer.name, layer.digest, digest);
  return false;
}

// The same of a projection, in every way that must give it. There must be memory for it.
bool check_linear(int index, const firmware::Memory& memory) {
  const attend_test::LinearDigest& digest_case = attend_test::linear_digests[index];
  const size_t floats = attend_test::linear_digest_floats(digest_case);
  for (int way = 0; way < attend_test::linear_digest_way_count && floats <= memory.count; ++way) {
    for (size_t i = 0; i < floats; ++i) memory.floats[i] = __builtin_nanf("");
    const uint64_t digest =
        attend_test::compute_linear_digest(digest_case, attend_test::linear_digest_ways[way], memory.floats);
    if (digest == digest_case.digest) continue;
    firmware::print("case ");
    firmware::print_number(uint64_t(index));
    firmware::print(" of linear_digests.inc, way ");
    firmware::print_number(uint64_t(way));
    firmware::print(": expected 0x");
    firmware::print_number(digest_case.digest, 16, 16);
    firmware::print(", found 0x");
    firmware::print_number(digest, 16, 16);
    firmware::print("\n");
    return false;
  }
  return floats <= memory.count;
}

// The same of integer attention, in memory of which every byte is 0x5a before.
bool check(const attend_test::IntegerDigest& of, void* memory) {
  const size_t bytes = attend_test::integer_digest_bytes(of.c);
  for (size_t i = 0; i < bytes; ++i) static_cast<char*>(memory)[i] = 0x5a;
  const uint64_t digest = attend_test::compute_integer_digest(of.c, memory);
  if (digest == of.digest) return true;
  print_difference(of.text, of.digest, digest);
  return false;
}

}  // namespace

int firmware::run() {
  const Memory memory = free_memory();
  int passed = 0, failed = 0, left_out = 0;
  for (int i = 0; i < digest_case_count; ++i) {
    if (attend_test::digest_floats(digest_cases[i]) > memory.count) {
      ++left_out;
    } else if (check(i, memory.floats)) {
      ++passed;
    } else {
      ++failed;
    }
  }
  for (int i = 0; i < attend_test::linear_digest_count; ++i) {
    if (check_linear(i, memory)) {
      ++passed;
    } else {
      ++failed;
    }
  }
  for (const attend_test::IntegerDigest& of : attend_test::integer_digests) {
    if (attend_test::integer_digest_bytes(of.c) > memory.count * sizeof(float)) {
      ++left_out;
    } else {
      ++(check(of, memory.floats) ? passed : failed);
    }
  }
  attend_test::Random random(1);
  for (const attend_test::ProjectionShape& of : attend_test::projection_shapes) {
    const bool right = projection_bytes(of) <= memory.count * sizeof(float) && is_projected(of, random, memory.floats);
    ++(right ? passed : failed);
    if (right) continue;
    print("a projection in integers of ");
    print_number(uint64_t(of.inputs));
    print(" inputs is wrong\n");
  }
  for (const attend_test::LayerDigest& layer : attend_test::layer_digests) ++(check(layer, memory.floats) ? passed : failed);
  print_number(uint64_t(passed));
  print(" passed, ");
  print_number(uint64_t(failed));
  print(" failed");
  if (left_out > 0) {
    print(", ");
    print_number(uint64_t(left_out));
    print(" left out for want of memory");
  }
  print("\n");
  return failed == 0 && passed > 0 ? 0 : 1;
}
