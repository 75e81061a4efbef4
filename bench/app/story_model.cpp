#include "story_model.h"

#include "llama.h"

namespace app {
namespace {

std::unique_ptr<LanguageModel> computed(const Checkpoint& checkpoint, int capacity) {
  return std::make_unique<Llama>(checkpoint, capacity);
}

std::unique_ptr<LanguageModel> computed(const Gpt2Checkpoint& checkpoint, int capacity) {
  return std::make_unique<Gpt2>(checkpoint, capacity);
}

}  // namespace

int StoryModel::context() const {
  return std::visit([](const auto& of) { return of.config.seq_len; }, checkpoint);
}

StoryModel packed(const StoryModel& model) {
  StoryModel result{{}, model.vocabulary};
  std::visit([&](const auto& checkpoint) { result.checkpoint = packed(checkpoint); }, model.checkpoint);
  return result;
}

std::unique_ptr<LanguageModel> language_model(const StoryModel& model, int capacity) {
  return std::visit([&](const auto& checkpoint) { return computed(checkpoint, capacity); }, model.checkpoint);
}

}  // namespace app
