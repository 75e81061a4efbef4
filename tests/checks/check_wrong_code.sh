#!/bin/sh
# Wrong code must not compile, and must be told why: tests/checks/check_wrong_code.sh CXX BUILD_DIR
#
# Every file in tests/wrong_code begins with the text of the static_assert that must be the compiler's first error, or with what
# the line of code holds that the first error must be about.
cxx=$1
build=$2/check_wrong_code
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

for source in tests/wrong_code/*.cpp; do
  name=$(basename "$source" .cpp)
  log=$build/$name.log
  expected=$(sed -n '1s|^// expect: ||p' "$source")
  at=$(sed -n '1s|^// expect at: ||p' "$source")
  $cxx -std=c++17 -Iinclude -fsyntax-only "$source" >"$log" 2>&1
  compiled=$?
  first=$(grep -m 1 'error:' "$log")
  if [ -n "$at" ]; then
    nothing_in "$(grep -m 1 -A 1 'error:' "$log" | grep -qF "$at" || echo "the first error is $first")" "$name"
  elif [ -z "$expected" ]; then
    fail "$name" "its first line is not // expect: TEXT"
  elif [ "$expected" = nothing ]; then
    if [ $compiled -eq 0 ]; then ok "$name compiles"; else fail "$name" "$first"; fi
  elif [ $compiled -eq 0 ]; then
    fail "$name" "it compiles"
  else
    case $first in
      *"error: static"*assert*"$expected"*) ok "$name" ;; # "static assertion failed: …" and "static_assert failed … "
      *) fail "$name" "the first of $(grep -c 'error:' "$log") errors is $first" ;;
    esac
  fi
done

finish
