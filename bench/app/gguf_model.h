// A Llama with its vocabulary, from one GGUF file.
#pragma once

#include <string>

#include "checkpoint.h"
#include "vocabulary.h"

namespace app {

// What a story is told with.
struct StoryModel {
  Checkpoint checkpoint;
  Vocabulary vocabulary;
};

// Throws Failure, with the file's name, for architectures other than llama and tokenizers other than sentencepiece's byte-pair
// encoding. The weights stay where the file lies in memory.
StoryModel load_gguf(const std::string& path);

}  // namespace app
