#!/bin/sh
# The programs in the README, some in C++ and one in C, compile without a warning and print what the README says; the changes have
# an entry for this version:
# tests/checks/check_readme.sh CXX BUILD_DIR [README]
#
# `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
library=$2/libattend.a
build=$2/check_readme
readme=${3:-README.md}
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude"

# program LANGUAGE NUMBER "FLAG…": the README's program of that number in that language.
program() {
  language=$1
  number=$2
  flags=$3
  name=$language.$number
  source=$build/$number.$language
  expected=$build/expected.$name

  # The block of the language that holds a main, and the first block of text after it, if there is one.
  awk -v language="$language" -v number="$number" -v program="$source" -v expected="$expected" '
    /^```/ && block != "" {
      if (block == language && !found && lines ~ /int main *\(/ && ++count == number) {
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
    fail "$readme has program $number in $language" "no block of $language holds int main"
    return
  fi
  # shellcheck disable=SC2086
  succeeds "$readme: program $number in $language compiles without a warning" \
    $cxx $flags $strict -c "$source" -o "$build/$name.o" || return
  # shellcheck disable=SC2086
  succeeds "$readme: program $number in $language links" \
    $cxx "$build/$name.o" "$library" -o "$build/$name.run" || return
  "$build/$name.run" >"$build/output"
  result=$?
  if [ $result -ne 0 ]; then
    fail "$readme: program $number in $language runs" "exit code $result"
  elif [ ! -f "$expected" ]; then
    ok "$readme: program $number in $language runs"
  else
    nothing_in "$(diff "$expected" "$build/output" | head -n 10)" "$readme: program $number in $language prints what is promised"
  fi
}

program cpp 1 "-x c++ -std=c++17"
program cpp 2 "-x c++ -std=c++17"
program cpp 3 "-x c++ -std=c++17"
program cpp 4 "-x c++ -std=c++17"
program c 1 "-x c -std=c11"

# The newest entry of the changes is the version of the header.
version=$(awk '/define ATTEND_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }
  /define ATTEND_BITS_VERSION / { print ", bits version " $3 }' include/attend/core/version.h)
newest=$(sed -n 's/^## //p' .github/CHANGELOG.md | head -n 1)
nothing_in "$([ "$version" = "$newest" ] || echo "version.h has $version, the changes have $newest")" "changes: the newest entry is this version"

finish
