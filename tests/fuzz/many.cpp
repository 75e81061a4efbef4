// Calls a fuzzer's function again and again in one process, without coverage: what libFuzzer does in a week is done in an hour.
//
//   many RUNS SECONDS SEED RESULT FILE…
//
// Inputs are bytes drawn from the seed, or where there are files, these and then these with changes: bytes, words, lengths,
// parts in other places. Each ends, but for its alignment, where memory ends. RESULT tells how many there were, as JSON, while
// it goes on; RESULT.input is the last one where the process did not end by itself.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t most = std::size_t(1) << 20;
std::string result;
std::uint8_t* memory = nullptr;
std::size_t size = 0;
std::uint64_t counter = 0;

std::uint64_t bits() {
  std::uint64_t z = counter += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
std::size_t below(std::size_t end) { return end == 0 ? 0 : std::size_t(bits() % end); }

std::uint8_t* place() { return memory + ((most - size) & ~std::size_t(63)); }

void keep_input(int signal) {
  std::ofstream(result + ".input", std::ios::binary).write(reinterpret_cast<const char*>(place()), std::streamsize(size));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Most changes are small: what is refused at once was met a million times.
void change(std::vector<std::uint8_t>& bytes) {
  constexpr std::uint64_t edges[] = {0, 1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, ~std::uint64_t(0), 1u << 24};
  for (std::size_t changes = below(2) == 0 ? 1 : 2 + below(4); changes > 0 && !bytes.empty(); --changes) {
    // Headers have what decides, and are short.
    const std::size_t at = below(below(4) == 0 ? std::min<std::size_t>(bytes.size(), 64) : bytes.size()), kind = below(16);
    const std::size_t length = std::min(std::size_t(1) << below(4), bytes.size() - at), from = below(bytes.size() - length + 1);
    const std::uint64_t word = below(2) == 0 ? edges[below(std::size(edges))] : bits() >> below(64);
    const auto begin = bytes.begin() + std::ptrdiff_t(at);
    if (kind > 8) *begin = std::uint8_t(kind > 11 ? bits() : *begin ^ 1 << below(8));
    if (kind > 5 && kind < 9) *begin = std::uint8_t(*begin + (kind == 6 ? -1 : 1));
    if (kind > 3 && kind < 6) std::memcpy(&*begin, &word, length);
    if (kind == 3) std::memmove(&*begin, &bytes[from], length);
    if (kind == 2) bytes.erase(begin, begin + std::ptrdiff_t(length));
    if (kind == 1) bytes.insert(begin, length, std::uint8_t(word));
    if (kind == 0) bytes.resize(at);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const auto runs = std::strtoull(arguments[1], nullptr, 10), seed = std::strtoull(arguments[3], nullptr, 10);
  const double seconds = std::atof(arguments[2]);
  result = arguments[4], counter = seed << 40;
  std::vector<std::vector<std::uint8_t>> files;
  for (int i = 5; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  memory = static_cast<std::uint8_t*>(mmap(nullptr, most + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED || mprotect(memory, most, PROT_READ | PROT_WRITE) != 0) return 2;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, keep_input);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::uint8_t> bytes;
  double elapsed = 0.0, told = 0.0;
  std::uint64_t done = 0;
  while (done < runs && elapsed < seconds) {
    for (int i = 0; i < 256 && done < runs; ++i, ++done) {
      if (files.empty()) {
        bytes.resize(std::size_t(8) << below(4));
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
          const std::uint64_t word = bits();
          std::memcpy(&bytes[at], &word, 8);
        }
      } else {
        bytes = files[done < files.size() ? std::size_t(done) : below(files.size())];
        if (done >= files.size()) change(bytes);
      }
      size = std::min(bytes.size(), most);
      std::memcpy(place(), bytes.data(), size);
      LLVMFuzzerTestOneInput(place(), size);
    }
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (elapsed < told + 5.0 && done < runs && elapsed < seconds) continue;
    told = elapsed;
    std::ofstream(result + ".new") << "{\"executions\": " << done << ", \"seconds\": " << std::uint64_t(elapsed)
                                   << ", \"seed\": " << seed << "}\n";
    std::rename((result + ".new").c_str(), result.c_str());
  }
}
