// Reads a sentence and writes the action that it asks for, such as "light.dim room=bedroom level=30", or "unknown".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "household.h"
#include "llama.h"

namespace app {

constexpr const char* example_sentences[] = {
    "could you dim the lamp in the bedroom to thirty percent",
    "um wake me at half past six please",
    "what is the capital of france",
};

struct Answer {
  std::string action;
  int tokens;  // that the model took
  double seconds;
};

// What each head of each layer looked at when each piece of the action was chosen.
struct AttentionMap {
  int layers = 0, heads = 0;
  std::vector<std::string> words;   // columns: those of the sentence with its marks, then the pieces of the action
  std::vector<std::string> pieces;  // rows: of the action, and its end
  std::vector<float> weights;       // [layers][heads][pieces][words], the share of a word; 0 for pieces yet to come

  // [words]
  const float* row(int layer, int head, std::size_t piece) const { return weights.data() + row_begin(layer, head, piece); }
  float* row(int layer, int head, std::size_t piece) { return weights.data() + row_begin(layer, head, piece); }

 private:
  std::size_t row_begin(int layer, int head, std::size_t piece) const {
    return (static_cast<std::size_t>(layer * heads + head) * pieces.size() + piece) * words.size();
  }
};

enum class Arithmetic { float32, integer };

class Commands {
 public:
  // The household must outlive this.
  // integer: with IntegerLlama, for a household with scales that is not packed; it draws no map.
  explicit Commands(const Household& household, Arithmetic arithmetic = Arithmetic::float32);

  // With another model, of the words of this household alone; it draws no map.
  Commands(const Household& household, std::unique_ptr<LanguageModel> model)
      : household_(household), model_(std::move(model)) {}

  // Throws Failure for what is no sentence (Words::encode). map: filled, where there is one.
  Answer answer(std::string_view text, AttentionMap* map = nullptr);

 private:
  int likeliest_piece();

  const Household& household_;
  std::unique_ptr<LanguageModel> model_;
  Llama* floats_ = nullptr;  // the model, where it is one of floats
};

}  // namespace app
