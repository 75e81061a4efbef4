#!/bin/sh
# The programs in the README, one in C++ and one in C, compile without a warning and print what the README says:
# tests/check_readme.sh CXX BUILD_DIR [README]
cxx=$1
build=$2/check_readme
readme=${3:-README.md}
. tests/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude"

# program LANGUAGE "FLAG…": the README's program in that language.
program() {
  language=$1
  flags=$2
  source=$build/readme.$language
  expected=$build/expected.$language

  # The first block of the language that holds a main, and the first block of text after it, if there is one.
  awk -v language="$language" -v program="$source" -v expected="$expected" '
    /^```/ && block != "" {
      if (block == language && !found && lines ~ /int main *\(/) {
        found = 1
        printf "%s", lines >program
      } else if (block == "text" && found) {
        printf "%s", lines >expected
        exit
      }
      block = ""
      next
    }
    /^```/ {
      block = substr($0, 4)
      if (block == "") block = "plain"
      lines = ""
      next
    }
    block != "" { lines = lines $0 "\n" }' "$readme"

  if [ ! -s "$source" ]; then
    fail "$readme has a program in $language" "no block of $language holds int main"
    return
  fi
  # shellcheck disable=SC2086
  succeeds "$readme: its program in $language compiles without a warning" \
    $cxx $flags $strict -c "$source" -o "$build/readme.$language.o" || return
  # shellcheck disable=SC2086
  succeeds "$readme: its program in $language links" \
    $cxx "$build/readme.$language.o" "$build"/objects/*.o -o "$build/readme.$language.run" || return
  "$build/readme.$language.run" >"$build/output"
  result=$?
  if [ $result -ne 0 ]; then
    fail "$readme: its program in $language runs" "exit code $result"
  elif [ ! -f "$expected" ]; then
    ok "$readme: its program in $language runs"
  else
    nothing_in "$(diff "$expected" "$build/output" | head -n 10)" "$readme: its program in $language prints what is promised"
  fi
}

# shellcheck disable=SC2086
if succeeds "the library compiles without a warning" compile_all "$build/objects" "$(ls src/*.cpp)" -std=c++17 $strict; then
  program cpp "-x c++ -std=c++17"
  program c "-x c -std=c11"
fi

finish
