// The vocabulary of a GGUF file.
#pragma once

#include "gguf.h"
#include "vocabulary.h"

namespace app {

// Of so many pieces: sentencepiece's with scores (tokenizer.ggml.model is "llama"), or GPT-2's with merges of bytes ("gpt2").
// Throws Failure, with the file's name, for others.
Vocabulary read_vocabulary(const GgufFile& file, int size);

}  // namespace app
