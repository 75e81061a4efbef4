// A device that records receipts, and on which something goes wrong: device INPUTS RECEIPTS STEPS NUMBERS FAULT. Writes the
// receipt of each token, the digests of its steps, and all numbers that its steps have written, which tell the tests where it
// really left the path.
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "attend/backend.h"
#include "model.h"
#ifdef IN_C
#define MODEL(name) keywords_##name
#define APPEND_SILENTLY keywords_append_silently
constexpr attend_status ok = ATTEND_OK;
#else
#define MODEL(name) keywords::name
#define APPEND_SILENTLY keywords::append
constexpr attend::Status ok = attend::Status::ok;
#endif

namespace {

constexpr std::size_t numbers_of_token = 144;
std::vector<unsigned char> steps, numbers;
std::string fault;
int token;

void add(std::vector<unsigned char>& to, const void* from, std::size_t bytes) {
  const unsigned char* const begin = static_cast<const unsigned char*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

void watch(int step, uint32_t digest, const void* written, size_t count, size_t bytes) {
  add(steps, &digest, sizeof digest);
  add(numbers, written, count * bytes);
  // After a step something writes over its result, which a later one reads.
  if (fault == "overwritten_result" && token == 33 && step == 9)
    static_cast<unsigned char*>(const_cast<void*>(written))[5] ^= 64;
}

void overwrite([[maybe_unused]] int which, [[maybe_unused]] int value, [[maybe_unused]] std::size_t at,
               [[maybe_unused]] std::size_t bytes) {
#ifndef IN_C
  unsigned char* const begin = which == 0 ? reinterpret_cast<unsigned char*>(&keywords::caches.cache_0)
                                          : reinterpret_cast<unsigned char*>(&keywords::caches.cache_1);
  std::memset(begin + at, value, bytes);
#endif
}

// What happens before a token.
void go_wrong() {
  constexpr std::size_t key_bytes = 512;  // of the first cache, at least
  if (fault == "first_memory_lost" && token == 100) overwrite(0, 0, 0, key_bytes);
  if (fault == "second_memory_lost" && token == 50) overwrite(1, 0x55, 0, key_bytes);
  if (fault == "memcpy_over_cache" && token == 30) overwrite(0, 90, 0, 200);
  if (fault == "reset" && token == 77) MODEL(clear)();
  if (fault == "round_up" && token == 20) std::fesetround(FE_UPWARD);
  if (fault == "round_to_zero" && token == 0) std::fesetround(FE_TOWARDZERO);
}

bool write(const char* path, const std::vector<unsigned char>& bytes) {
  std::FILE* const file = std::fopen(path, "wb");
  return file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fclose(file) == 0;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const backend = std::getenv("ATTEND_BACKEND");
  if (count != 6 || (backend != nullptr && !attend::use_backend(backend))) return 2;
  fault = arguments[5];
  std::FILE* const file = std::fopen(arguments[1], "rb");
  if (file == nullptr) return 2;
  std::vector<float> inputs(1 << 20);
  inputs.resize(std::fread(inputs.data(), sizeof(float), inputs.size(), file));
  std::fclose(file);
  MODEL(receipt_observer) = watch;
  std::vector<unsigned char> receipts;
  float input[numbers_of_token] = {}, logits[13];
  for (token = 0; std::size_t(token) * numbers_of_token < inputs.size(); ++token) {
    // A copy that is too short leaves numbers of the token before, one that is too late another token.
    const bool is_short = fault == "short_copy" && token >= 12, is_late = fault == "late_copy" && token == 61;
    std::memcpy(input, inputs.data() + std::size_t(token - is_late) * numbers_of_token,
                sizeof input - (is_short ? sizeof(float) : 0));
    go_wrong();
    const bool is_silent = fault == "silent" && token % 3 != 0;
    if ((is_silent ? APPEND_SILENTLY(input) : MODEL(append)(input, logits)) != ok) return 1;
    const uint64_t receipt = MODEL(receipt)();
    add(receipts, &receipt, sizeof receipt);
  }
  return write(arguments[2], receipts) && write(arguments[3], steps) && write(arguments[4], numbers) ? 0 : 1;
}
