#!/bin/sh
# The program in the README compiles without a warning and prints what the README says:
# tests/check_readme.sh CXX BUILD_DIR [README]
cxx=$1
build=$2/check_readme
readme=${3:-README.md}
. tests/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

# The first block of C++ that holds a main, and the first block of text after it, if there is one.
awk -v program="$build/readme.cpp" -v expected="$build/expected" '
  /^```/ && block != "" {
    if (block == "cpp" && !found && lines ~ /int main *\(/) {
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

if [ ! -s "$build/readme.cpp" ]; then
  fail "$readme has a program" "no block of cpp holds int main"
else
  strict="-std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude"
  # shellcheck disable=SC2086
  if succeeds "$readme: its program compiles without a warning" \
    compile_all "$build/objects" "$build/readme.cpp $(ls src/*.cpp)" $strict; then
    # shellcheck disable=SC2086
    succeeds "$readme: its program links" $cxx "$build"/objects/*.o -o "$build/readme" && {
      "$build/readme" >"$build/output"
      result=$?
      if [ $result -ne 0 ]; then
        fail "$readme: its program runs" "exit code $result"
      elif [ ! -f "$build/expected" ]; then
        ok "$readme: its program runs"
      else
        nothing_in "$(diff "$build/expected" "$build/output" | head -n 10)" "$readme: its program prints what is promised"
      fi
    }
  fi
fi

finish
