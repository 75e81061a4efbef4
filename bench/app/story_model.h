// A language model of any architecture that the program knows, with its vocabulary.
#pragma once

#include <memory>
#include <variant>

#include "checkpoint.h"
#include "gpt2.h"
#include "language_model.h"
#include "vocabulary.h"

namespace app {

// What a story is told with.
struct StoryModel {
  std::variant<Checkpoint, Gpt2Checkpoint> checkpoint;
  Vocabulary vocabulary;

  int context() const;  // tokens

  // Of a Llama alone.
  const Checkpoint& llama() const { return std::get<Checkpoint>(checkpoint); }
};

// The same with its matrices packed, as hosts compute fastest.
StoryModel packed(const StoryModel& model);

// What computes it. Room for capacity tokens, 1 … context(). The story's model must outlive it.
std::unique_ptr<LanguageModel> language_model(const StoryModel& model, int capacity);

}  // namespace app
