// The keyword model with gated delta attention on frames of held-out voices, which lie in flash: how many words of each voice
// it understands, and then the same frames as one stream of ten minutes; with digests of all likelihoods, and with ATTEND_COUNT
// the instructions of a token. Arguments: integers or floats, where it is not both, and of how many voices; the stream comes
// after all.
#include "../exporter/examples/keywords/linear/model/model.h"
#include "../exporter/examples/keywords/listener.h"
#include "platform.h"
#ifdef ATTEND_COUNT
#include "instructions.h"
#endif

extern "C" const unsigned char model_begin[];  // the frames, by embed.S

namespace {

using namespace keywords;

template <class Numbers>
ListenerOf<linear::Stream<Numbers>> listener_of;
uint64_t digest;

const Frame* frames_of(int clip) { return reinterpret_cast<const Frame*>(model_begin) + clip % (voices * clips) * clip_frames; }

void add(const Likelihoods& likelihoods) {
  for (const float part : likelihoods) {
    uint32_t word;
    __builtin_memcpy(&word, &part, sizeof word);
    for (int shift = 0; shift < 32; shift += 8) digest = (digest ^ (word >> shift & 255u)) * 0x100000001b3u;
  }
}

// name, minute 1 of the stream: 40 of 42 words, 10368 bytes, digest …
void say(const char* name, const char* what, int number, int right, int words, size_t bytes) {
  const auto part = [](const char* text, int count) { firmware::print(text), firmware::print_number(uint64_t(count)); };
  firmware::print(name), part(what, number), part(": ", right), part(" of ", words), part(" words, ", int(bytes));
  firmware::print(" bytes, digest "), firmware::print_number(digest, 16, 16), firmware::print("\n");
}

template <class Numbers>
void listen(const char* name, int most_voices) {
  constexpr int minute = 60 * sample_rate / chunk;
  auto& listener = listener_of<Numbers>;
  int right = 0, words = 0, tokens = 0;
  digest = 0xcbf29ce484222325u;
  while (words < most_voices * clips) {
    listener.begin();
    right += heard_in(listener, frames_of(words), add) == kind_of(words % clips);
    if (++words % clips == 0) say(name, ", voice ", words / clips, right, words, sizeof listener);
  }
  listener.begin();
  for (right = words = 0; most_voices == voices && tokens < 10 * minute;) {
    right += heard_in(listener, frames_of(words), add) == kind_of(words % clips);
    ++words;
    if ((tokens += clip_tokens) % minute < clip_tokens) say(name, ", minute ", tokens / minute, right, words, sizeof listener);
  }
#ifdef ATTEND_COUNT
  uint64_t instructions = 0;
  Likelihoods likelihoods;
  listener.begin();
  for (int frame = 0; frame < clip_frames; frame += new_frames) {
    const auto& frames = *reinterpret_cast<const Frame(*)[new_frames]>(frames_of(0) + frame);
    instructions += firmware::count_instructions([&] { (void)listener.look(frames, likelihoods); });
  }
  firmware::print(name), firmware::print(": ");
  firmware::print_number(instructions / clip_tokens);
  firmware::print(" instructions for a token\n");
#endif
}

}  // namespace

int firmware::run() {
  char text[80];
  int most_voices = voices;
  if (!read_arguments(text, sizeof text)) return 1;
#ifdef ATTEND_COUNT
  if (!start_counting()) return 1;
#endif
  for (const char* at = text; *at != '\0'; ++at) most_voices = *at >= '0' && *at <= '5' ? *at - '0' : most_voices;
  if (text[0] != 'f') listen<attend::integer>("integers", most_voices);
  if (text[0] != 'i') listen<float>("floats", most_voices);
  return 0;
}
