// What the keyword example hears in a sound that is made by integers: a digest of the front end's frames and of all
// likelihoods, and with ATTEND_COUNT the instructions for 40 ms of sound, with the front end's part.
#include "../exporter/examples/keywords/listener.h"
#include "platform.h"
#ifdef ATTEND_COUNT
#include "instructions.h"
#endif

namespace {

constexpr int chunks = 40;
keywords::Listener listener;
int16_t sound[keywords::chunk];
uint32_t state = 1;
uint64_t digest = 0xcbf29ce484222325u;

void add(uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) digest = (digest ^ (word >> shift & 255u)) * 0x100000001b3u;
}

// A triangle wave whose pitch moves, and noise that comes and goes.
void make_sound(int chunk) {
  for (int i = 0; i < keywords::chunk; ++i) {
    const int time = chunk * keywords::chunk + i, phase = (time * (60 + chunk)) % 32768;
    state = state * 1664525u + 1013904223u;
    const int noise = int(state >> 18) - 8192, wave = phase < 16384 ? phase - 8192 : 24575 - phase;
    sound[i] = int16_t(wave * (chunk % 8) / 8 + noise * (chunk % 5) / 10);
  }
}

}  // namespace

int firmware::run() {
#ifdef ATTEND_COUNT
  if (!start_counting()) return 1;
  uint64_t whole = 0, front_end = 0;
#endif
  listener.begin();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    make_sound(chunk);
    keywords::Likelihoods likelihoods;
    attend::Status status = attend::Status::ok;
#ifdef ATTEND_COUNT
    whole += count_instructions([&] { status = listener.hear(sound, likelihoods); });
    keywords::Frame frame;
    front_end += keywords::new_frames * count_instructions([&] {
                   keywords::log_mel(*reinterpret_cast<const int16_t(*)[keywords::span]>(sound), frame);
                 });
#else
    status = listener.hear(sound, likelihoods);
#endif
    if (status != attend::Status::ok) return 1;
    for (int i = 0; i < keywords::seen_frames; ++i) {
      for (const int8_t level : listener.frame(i)) add(uint32_t(int32_t(level)));
    }
    for (const float part : likelihoods) {
      uint32_t word;
      __builtin_memcpy(&word, &part, sizeof word);
      add(word);
    }
  }
  print("keywords ");
  print_number(digest, 16, 16);
#ifdef ATTEND_COUNT
  print(", ");
  print_number(whole / chunks);
  print(" instructions for 40 ms of sound, ");
  print_number(front_end / chunks);
  print(" of them the front end's");
#endif
  print("\n");
  return 0;
}
