// How long llama.cpp takes for a prompt: the least of some runs, as shipped or with the adapter, with flash attention on and
// off.
//   prefill FOLDER CPU ADAPTER MODEL TOKENS THREADS RUNS
// Prints milliseconds of a prompt, with flash attention and without, and of a token after it.
#include <ctime>

#include <cstdio>

#include "feed.h"

using namespace llama;

int main(int count, char** arguments) {
  if (count != 8) fail("expected FOLDER CPU ADAPTER MODEL TOKENS THREADS RUNS");
  const Library library(arguments[1], arguments[2], arguments[3]);
  void* const model = library.model(arguments[4]);
  const int tokens = std::atoi(arguments[5]), runs = std::atoi(arguments[7]);
  const bool own_time = std::atoi(arguments[6]) == 1;
  double prompts[2], steps[2];
  for (int flash = 1; flash >= 0; --flash) {
    Settings settings;
    settings.context = std::uint32_t(tokens + 256), settings.threads = std::atoi(arguments[6]), settings.flash = flash == 1;
    Calls calls(library, model, settings);
    // Processor time of one thread, which others on the machine disturb less; otherwise that of the clock.
    const auto timed = [&](int first, int number) {
      const auto now = [&] {
        timespec time;
        clock_gettime(own_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
        return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
      };
      const double begin = now();
      for (int at = first; at < first + number; at += 512) {
        for (int i = at; i < at + 512 && i < first + number; ++i)
          calls.add(other_token(i, 1000), i, 0, i + 1 == first + number);
        calls.run([](int, const float*) {});
      }
      return now() - begin;
    };
    for (int run = 0; run < runs; ++run) {
      const double prompt = timed(0, tokens);
      if (run == 0 || prompt < prompts[flash]) prompts[flash] = prompt;
      for (int i = 0; i < 8; ++i) {
        const double step = timed(tokens + i, 1);
        if ((run == 0 && i == 0) || step < steps[flash]) steps[flash] = step;
      }
      calls.remove(0, 0);
    }
  }
  std::printf("%.1f\t%.1f\t%.2f\t%.2f\n", prompts[1], prompts[0], steps[1], steps[0]);
}
