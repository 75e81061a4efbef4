// The same tokens fed to llama.cpp in every way, beside the first run, a prompt at once: what changes its logits?
//   ways FOLDER CPU ADAPTER MODEL PROMPT ADDED
// Prints a line for each way, "way<TAB>same" or how much differs, and last the digest of the first run's logits.
#include <cstdio>

#include "compare.h"

using namespace llama;

int main(int count, char** arguments) {
  if (count != 7) fail("expected FOLDER CPU ADAPTER MODEL PROMPT ADDED");
  const Library library(arguments[1], arguments[2], arguments[3]);
  void* const model = library.model(arguments[4]);
  const int prompt = std::atoi(arguments[5]), added = std::atoi(arguments[6]);
  Text text{{1}, prompt};
  for (int i = 1; i < prompt; ++i) text.tokens.push_back(other_token(i * i, 500));

  Settings settings;
  settings.batch = 512, settings.context = 1024;
  const Logits first = first_run(library, model, settings, text, added);
  const auto way = [&](const char* name, const Settings& s, const Feed& f) {
    const Logits logits = feed(library, model, s, text, f);
    std::printf("%s\t%s\n", name, difference(first, logits).c_str());
    std::fflush(stdout);
  };
  Feed once;
  once.first = prompt;
  for (int threads = 2; threads <= 4; ++threads) {
    Settings s = settings;
    s.threads = threads;
    way(("threads: " + std::to_string(threads)).c_str(), s, once);
  }
  way("token by token", settings, {});
  for (const int chunk : {2, 3, 5, 8, 33}) {
    Feed f;
    f.chunk = chunk;
    way(("chunks of " + std::to_string(chunk)).c_str(), settings, f);
  }
  Feed reused = once;
  reused.reused = prompt / 2;
  way("reused cache", settings, reused);
  for (const int wrong : {1, 3, 6}) {
    Feed f = once;
    f.chunk = 2, f.wrong = wrong;
    way(("speculation of " + std::to_string(2 + wrong)).c_str(), settings, f);
  }
  for (const bool unified : {false, true}) {
    for (const int neighbours : {1, 2, 4, 7}) {
      Settings s = settings;
      s.context = 2048, s.sequences = std::uint32_t(neighbours + 1), s.unified = unified;
      Feed f = once;
      f.neighbours = neighbours;
      const std::string name = std::string(unified ? "unified cache, " : "") + "batch of " + std::to_string(neighbours + 1);
      way((name + ", prompt at once").c_str(), s, f);
      f.first = 0;
      way((name + ", token by token").c_str(), s, f);
    }
  }
  {
    Settings s = settings;
    s.flash = false;
    way("flash attention off", s, once);
    const Logits at_once = feed(library, model, s, text, once), by_token = feed(library, model, s, text, {});
    std::printf("flash attention off, token by token\t%s\n", difference(at_once, by_token).c_str());
  }
  std::printf("digest\t%016llx\n", static_cast<unsigned long long>(digest(first)));
}
