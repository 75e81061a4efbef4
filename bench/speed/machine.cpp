#include "machine.h"

#include <time.h>

#include <cstdio>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

// Keeps a result alive.
volatile float sink;

struct Loops {
  void (*multiply_add)(int steps);  // steps * chains * lanes multiply-adds
  int multiply_adds_per_step;
  float (*read)(const float* buffer, std::size_t floats);
};

void multiply_add_scalar(int steps) {
  float sums[8] = {};
  for (int i = 0; i < steps; ++i) {
    for (float& sum : sums) sum = sum * 0.999f + 0.001f;
  }
  for (float sum : sums) sink = sum;
}

float read_scalar(const float* buffer, std::size_t floats) {
  float sums[8] = {};
  for (std::size_t i = 0; i + 8 <= floats; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += buffer[i + k];
  }
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

#if defined(__x86_64__)

// 12 independent chains: more than the 8 that latency 4 on 2 ports needs, and the same number as the library's tiles.
__attribute__((target("avx2,fma"))) void multiply_add_avx2(int steps) {
  __m256 sums[12];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  for (int i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) sums[k] = _mm256_fmadd_ps(sums[k], a, b);
  }
  for (const __m256& sum : sums) sink = _mm256_cvtss_f32(sum);
}

// Four parts of the buffer side by side: one stream alone reads at half of the rate of memory on some processors.
__attribute__((target("avx2,fma"))) float read_avx2(const float* buffer, std::size_t floats) {
  __m256 sums[8];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  const std::size_t part = floats / 64 * 16;
  for (std::size_t i = 0; i < part; i += 16) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k)
      sums[k] = _mm256_add_ps(sums[k], _mm256_loadu_ps(buffer + k / 2 * part + i + k % 2 * 8));
  }
  for (int k = 1; k < 8; ++k) sums[0] = _mm256_add_ps(sums[0], sums[k]);
  return _mm256_cvtss_f32(sums[0]);
}

__attribute__((target("avx512f"))) void multiply_add_avx512(int steps) {
  __m512 sums[12];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  for (int i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) sums[k] = _mm512_fmadd_ps(sums[k], a, b);
  }
  for (const __m512& sum : sums) sink = _mm512_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) float read_avx512(const float* buffer, std::size_t floats) {
  __m512 sums[8];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const std::size_t part = floats / 128 * 32;
  for (std::size_t i = 0; i < part; i += 32) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k)
      sums[k] = _mm512_add_ps(sums[k], _mm512_loadu_ps(buffer + k / 2 * part + i + k % 2 * 16));
  }
  for (int k = 1; k < 8; ++k) sums[0] = _mm512_add_ps(sums[0], sums[k]);
  return _mm512_cvtss_f32(sums[0]);
}

#endif

Loops loops_of(const char* backend) {
#if defined(__x86_64__)
  if (std::strcmp(backend, "avx512") == 0) return {multiply_add_avx512, 12 * 16, read_avx512};
  if (std::strcmp(backend, "avx2") == 0) return {multiply_add_avx2, 12 * 8, read_avx2};
#endif
  static bool said = false;
  if (!said && std::strcmp(backend, "scalar") != 0) {
    std::fprintf(stderr, "bench/speed/machine.cpp has no loops for %s: what is compared with it are loops in plain C++\n",
                 backend);
    said = true;
  }
  return {multiply_add_scalar, 8, read_scalar};
}

// Seconds for a round, on average over as many as fit into the time. An average, because what is compared with it is one too:
// other load on the machine slows both alike.
template <class Round>
double average_round(double seconds, Round round) {
  const double start = seconds_now();
  int rounds = 0;
  double took = 0.0;
  while (took < seconds) {
    round();
    ++rounds;
    took = seconds_now() - start;
  }
  return took / rounds;
}

}  // namespace

double free_memory() {
  double kilobytes = std::numeric_limits<double>::infinity();
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    for (char line[128]; std::fgets(line, sizeof line, file);) {
      if (std::sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1) break;
    }
    std::fclose(file);
  }
  return kilobytes * 1024.0;
}

double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double fma_peak(const char* backend, double seconds) {
  const Loops loops = loops_of(backend);
  constexpr int steps = 20000;
  return 2.0 * steps * loops.multiply_adds_per_step / average_round(seconds, [&] { loops.multiply_add(steps); });
}

double read_bandwidth(const char* backend, const float* buffer, std::size_t floats, double seconds) {
  const Loops loops = loops_of(backend);
  const std::size_t passes = 1 + (std::size_t(1) << 22) / floats;  // at least 16 MB a round, so that the clock does not count
  const double took = average_round(seconds, [&] {
    for (std::size_t i = 0; i < passes; ++i) sink = loops.read(buffer, floats);
  });
  return double(passes) * double(floats) * sizeof(float) / took;
}

}  // namespace bench
