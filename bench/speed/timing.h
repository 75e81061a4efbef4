// What is timed against each other: memory of its own pages, and calls that run in turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "../../tests/support/random.h"
#include "machine.h"

namespace bench {

// Pages of 4 KB, or of 2 MB where the system gives them to those who ask.
enum class Pages { small, large };

// Zeros, at the beginning of a page of 2 MB.
template <class T>
struct Memory {
  explicit Memory(std::size_t numbers, [[maybe_unused]] Pages pages = Pages::small) : count(numbers) {
    constexpr std::size_t page = std::size_t(1) << 21;
    const std::size_t bytes = (numbers * sizeof(T) + page - 1) / page * page;
    data.reset(std::aligned_alloc(page, bytes));
    if (!data) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (pages == Pages::large) madvise(data.get(), bytes, MADV_HUGEPAGE);
#endif
    std::memset(data.get(), 0, numbers * sizeof(T));
  }
  T* get() const { return static_cast<T*>(data.get()); }

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::size_t count;
  std::unique_ptr<void, Free> data;
};

inline Memory<float> random_floats(std::size_t count, std::uint64_t seed) {
  Memory<float> memory(count);
  attend_test::Random(seed).fill(memory.get(), count);
  return memory;
}

// A call to time, and its times.
struct Timed {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds{};

  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// All of them in turns, so that what else the machine does meets each of them.
inline void time_in_turns(std::vector<Timed>& calls, int rounds, double window) {
  for (Timed& call : calls) call.run();
  for (int round = 0; round < rounds; ++round) {
    for (Timed& call : calls) {
      int runs = 0;
      const double begin = seconds_now();
      double end;
      do {
        call.run();
        ++runs;
        end = seconds_now();
      } while (end - begin < window);
      call.seconds.push_back((end - begin) / runs);
    }
  }
}

}  // namespace bench
