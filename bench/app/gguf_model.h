// A model with its vocabulary, from one GGUF file.
#pragma once

#include <string>

#include "story_model.h"

namespace app {

// Throws Failure, with the file's name, for architectures other than llama and gpt2, and vocabularies that gguf_vocabulary.h
// does not read. The weights stay where the file lies in memory.
StoryModel load_gguf(const std::string& path);

}  // namespace app
