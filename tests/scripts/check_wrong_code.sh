#!/bin/sh
# Wrong code must not compile, and must be told why: tests/scripts/check_wrong_code.sh CXX BUILD_DIR
#
# A line "//! NAME: TEXT" in tests/wrong_code/*.cpp begins a case, which ends before the next one: the compiler's first error must be
# a static_assert that holds TEXT, or be about a line that does, where TEXT begins with "at ", or about a constant that calls TEXT, where it
# begins with "calls ". "nothing" is the TEXT of code that must compile, without a warning and in each standard. Cases
# share objects.h, but for those that include a header themselves. What the compiler says after its first error is noise: it may be one error more.
cxx=$1
build=$2/check_wrong_code
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Weffc++ -Werror'

awk -v folder="$build" '
  sub(/^\/\/! /, "") {
    close(file)
    name = $0
    sub(/:.*/, "", name)
    file = folder "/" name ".cpp"
    print substr($0, length(name) + 3) >(folder "/" name ".expected")
    close(folder "/" name ".expected")
    next
  }
  { print >file }' tests/wrong_code/*.cpp

# What all cases share is compiled once; compilers find it beside the header. Code that must compile has the header itself, and its
# warnings.
cp tests/wrong_code/objects.h "$build" || exit 1
flags='-Iinclude -I.'
# shellcheck disable=SC2086
$cxx -std=c++17 $flags -x c++-header "$build/objects.h" -o "$build/objects.h.gch" || exit 1

for source in "$build"/*.cpp; do
  name=$(basename "$source" .cpp)
  log=$build/$name.log
  expected=$(cat "$build/$name.expected")
  if [ "$expected" = nothing ]; then
    standards='c++17 c++20 c++2b' warnings="$strict -include tests/wrong_code/objects.h"
  else
    standards=c++17 warnings="-include $build/objects.h"
    grep -q '^#include' "$source" && warnings=''
  fi
  compiled=0
  for standard in $standards; do
    # shellcheck disable=SC2086
    $cxx -std=$standard $warnings $flags -fsyntax-only "$source" >"$log" 2>&1 || { compiled=1 && break; }
  done
  first=$(grep -m 1 'error:' "$log")
  if [ "$expected" = nothing ]; then
    if [ $compiled -eq 0 ]; then ok "$name compiles"; else fail "$name" "$standard: $first"; fi
  elif [ $compiled -eq 0 ]; then
    fail "$name" "it compiles"
  elif [ "${expected#at }" != "$expected" ]; then
    nothing_in "$(grep -m 1 -A 1 'error:' "$log" | grep -qF "${expected#at }" || echo "the first error is $first")" "$name"
  elif [ "${expected#calls }" != "$expected" ]; then
    nothing_in "$(grep -q "non-.*constexpr.* function .*${expected#calls }" "$log" || echo "the first error is $first")" "$name"
  elif [ "$(grep -c 'error:' "$log")" -gt 2 ]; then
    fail "$name" "$(grep -c 'error:' "$log") errors, of which the first is $first"
  else
    case $first in
      *"error: static"*assert*"$expected"*) ok "$name" ;; # "static assertion failed: …" and "static_assert failed … "
      *) fail "$name" "the first of $(grep -c 'error:' "$log") errors is $first" ;;
    esac
  fi
done

finish
