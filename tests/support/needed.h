// What a test case needs and this machine may lack: TEST_CASE("..." * needs_backend("avx2")). It is then left out, and main.cpp
// says why.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "attend/backend.h"

namespace attend_test {

struct Needed {
  bool is_here;
  const char* why_not;

  void fill(doctest::detail::TestCase& test) const {
    if (is_here) return;
    test.m_skip = true, test.m_description = why_not;
  }
};

inline Needed needs_backend(const std::string& name) {
  // A name that no backend has is not left out: the case runs, and fails.
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (name == attend::backend_name(i)) return {attend::backend_available(i), "this processor lacks the instruction set"};
  }
  return {true, ""};
}

// The path of a file of a real model, ATTEND_MODEL, ATTEND_TOKENIZER or ATTEND_STORY; empty where there is none.
inline std::string model_file(const char* variable) {
  const char* const path = std::getenv(variable);
  return path == nullptr ? "" : path;
}

inline Needed needs_model() {
  return {!model_file("ATTEND_MODEL").empty(), "stories260K.bin of llama2.c, and its tokenizer, are not in the folder MODELS="};
}

}  // namespace attend_test
