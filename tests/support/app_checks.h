// What the tests of the application's parts have in common: what a call throws, what messages say, and every backend in turn.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "../../bench/app/input_file.h"
#include "attend/backend.h"

namespace attend_test {

// What a call throws; "" when it does not.
inline std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const app::Failure& failure) {
    return failure.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One line that names the file, what was expected and what was found.
inline void check_names_file(const std::string& message, const std::string& path) {
  CHECK(message.compare(0, path.size() + 2, path + ": ") == 0);
  CHECK(contains(message, "expected "));
  CHECK(contains(message, ", found "));
  CHECK(!contains(message, "\n"));
}

// Calls for every backend that this machine has, and leaves things as they were.
inline void under_every_backend(const std::function<void()>& call) {
  const std::string active = attend::active_backend();
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::backend_available(i)) continue;
    CAPTURE(attend::backend_name(i));
    REQUIRE(attend::use_backend(attend::backend_name(i)));
    call();
  }
  REQUIRE(attend::use_backend(active.c_str()));
}

}  // namespace attend_test
