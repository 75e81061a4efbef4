// The same tokens fed to llama.cpp in every way, beside the first run, a prompt at once and then token by token: what changes
// its logits?
//   ways FOLDER CPU ADAPTER MODEL PROMPT ADDED all|some|one|none [FILE]
// Prints a line for each way, "way<TAB>same" or how much differs, and last the digest of the first run's logits. FILE: logits
// of another run, of another processor, to be compared with; it is written where it is not there.
#include <cstdio>

#include "compare.h"

using namespace llama;

namespace {

class Ways {
 public:
  Ways(const Library& library, void* model, int prompt, int added) : library_(library), model_(model), text_{{1}, prompt} {
    settings_.context = 1024;
    for (int i = 1; i < prompt; ++i) text_.tokens.push_back(other_token(i * i, 500));
    first_ = first_run(library, model, settings_, text_, added);
    once_.first = prompt;
  }

  const Logits& first() const { return first_; }

  void one() const { way("prompt at once or token by token", settings_, {}); }

  void some() const {
    one();
    threads(2), threads(3), threads(4);
    chunks(3), chunks(33);
    reused();
    speculation(1), speculation(6);
    batch(false, 3, false), batch(false, 7, true);
    batch(true, 3, false), batch(true, 7, true);
    flash();
  }

  void all() const {
    some();
    for (const int chunk : {2, 5, 8, 16, 64}) chunks(chunk);
    for (const int wrong : {2, 3, 4, 5}) speculation(wrong);
    for (const bool unified : {false, true}) {
      for (const int neighbours : {1, 2, 4, 5, 6}) batch(unified, neighbours, false), batch(unified, neighbours, true);
    }
  }

 private:
  void way(const std::string& name, const Settings& settings, const Feed& how) const {
    const Logits logits = feed(library_, model_, settings, text_, how);
    std::printf("%s\t%s\n", name.c_str(), difference(first_, logits).c_str());
    std::fflush(stdout);
  }
  void threads(int count) const {
    Settings settings = settings_;
    settings.threads = count;
    way("threads: " + std::to_string(count), settings, once_);
  }
  void chunks(int size) const {
    Feed how;
    how.chunk = size;
    way("chunks of " + std::to_string(size), settings_, how);
  }
  void reused() const {
    Feed how = once_;
    how.reused = int(text_.tokens.size()) / 2;
    way("reused cache", settings_, how);
  }
  void speculation(int wrong) const {
    Feed how = once_;
    how.chunk = 2, how.wrong = wrong;
    way("speculation of " + std::to_string(2 + wrong), settings_, how);
  }
  void batch(bool unified, int neighbours, bool by_token) const {
    Settings settings = settings_;
    settings.context = 2048, settings.sequences = std::uint32_t(neighbours + 1), settings.unified = unified;
    Feed how = by_token ? Feed{} : once_;
    how.neighbours = neighbours;
    way(std::string(unified ? "unified cache, " : "") + "batch of " + std::to_string(neighbours + 1) +
            (by_token ? ", token by token" : ""),
        settings, how);
  }
  void flash() const {
    Settings settings = settings_;
    settings.flash = false;
    way("flash attention on or off", settings, once_);
    const Logits at_once = feed(library_, model_, settings, text_, once_),
                 by_token = feed(library_, model_, settings, text_, {});
    std::printf("flash attention off, token by token\t%s\n", difference(at_once, by_token).c_str());
  }

  const Library& library_;
  void* model_;
  Settings settings_;
  Text text_;
  Feed once_;
  Logits first_;
};

// Logits of another run.
void compare_with(const char* path, const Logits& first) {
  Logits other = first;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) {
    file = std::fopen(path, "wb");
    if (file == nullptr || std::fwrite(first.numbers.data(), sizeof(float), first.numbers.size(), file) != first.numbers.size())
      fail(path);
  } else {
    if (std::fread(other.numbers.data(), sizeof(float), first.numbers.size(), file) != first.numbers.size()) fail(path);
    std::printf("other run\t%s\n", difference(other, first).c_str());
  }
  std::fclose(file);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 8 && count != 9) fail("expected FOLDER CPU ADAPTER MODEL PROMPT ADDED all|some|one|none [FILE]");
  const Library library(arguments[1], arguments[2], arguments[3]);
  const Ways ways(library, library.model(arguments[4]), std::atoi(arguments[5]), std::atoi(arguments[6]));
  const std::string which = arguments[7];
  if (which == "all") ways.all();
  if (which == "some") ways.some();
  if (which == "one") ways.one();
  if (count == 9) compare_with(arguments[8], ways.first());
  std::printf("digest\t%016llx\n", static_cast<unsigned long long>(digest(ways.first())));
}
