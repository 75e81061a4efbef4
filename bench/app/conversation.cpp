#include "conversation.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "attend/backend.h"
#include "commands.h"
#include "heatmap.h"

namespace app {
namespace {

class Conversation {
 public:
  Conversation(const CommandLine& line, const Terminal& terminal)
      : terminal_(terminal),
        folder_(line.heatmap),
        household_(line.integer ? load_household(line.household) : packed(load_household(line.household))),
        commands_(household_, line.integer ? Arithmetic::integer : Arithmetic::float32) {}

  // Writes the action; indent: before it.
  void answer(std::string_view sentence, std::string_view indent) {
    AttentionMap map;
    const Answer answer = commands_.answer(sentence, folder_.empty() ? nullptr : &map);
    terminal_.write(std::string(indent) + answer.action + "\n");
    tokens_ += answer.tokens;
    seconds_ += answer.seconds;
    if (folder_.empty()) return;
    terminal_.write(heatmap_text(map, terminal_.colour));
    save(heatmap_svg(map, title(map) + answer.action));
  }

  // What it took, for a person.
  void report() const {
    char text[100];
    std::snprintf(text, sizeof text, "%d tokens of sentences and actions, %.1f ms, backend %s\n", tokens_, 1000 * seconds_,
                  attend::active_backend());
    terminal_.note(text);
  }

 private:
  // Of the words as they were understood: nothing in them can break a line.
  static std::string title(const AttentionMap& map) {
    const std::size_t spoken = map.words.size() - (map.pieces.size() - 1) - 1;  // without the pieces and the mark before them
    std::string title;
    for (std::size_t i = 1; i < spoken; ++i) title += map.words[i] + " ";
    return title + "→ ";
  }

  void save(const std::string& svg) {
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);  // what went wrong shows when the file is opened
    const std::string path = folder_ + "/heatmap-" + std::to_string(++saved_) + ".svg";
    std::ofstream file(path, std::ios::binary);
    file << svg;
    file.close();
    if (!file) throw Failure(path + ": cannot be written");
    terminal_.note(path + "\n");
  }

  const Terminal& terminal_;
  const std::string folder_;
  const Household household_;
  Commands commands_;
  int tokens_ = 0, saved_ = 0;
  double seconds_ = 0;
};

void answer_typed(Conversation& conversation, const Terminal& terminal) {
  terminal.write("Say what the house shall do, such as \"" + std::string(example_sentences[0]) + "\"; an empty line ends.\n");
  std::string sentence;
  while (terminal.write("> "), std::getline(*terminal.typed, sentence) && !sentence.empty()) {
    try {
      conversation.answer(sentence, "  ");
    } catch (const Failure& failure) {
      terminal.write("  " + std::string(failure.what()) + "\n");
    }
  }
}

}  // namespace

void converse(const CommandLine& line, const Terminal& terminal) {
  Conversation conversation(line, terminal);
  if (line.sentence) {
    conversation.answer(*line.sentence, "");
  } else if (terminal.typed != nullptr) {
    answer_typed(conversation, terminal);
    return;
  } else {
    for (const char* const sentence : example_sentences) {
      terminal.write(std::string(sentence) + "\n");
      conversation.answer(sentence, "  ");
    }
  }
  conversation.report();
}

}  // namespace app
