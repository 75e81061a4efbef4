#!/bin/sh
# What adapters share, without a runtime: tests/adapters/common/check.sh CXX BUILD_DIR
#
# Attention under masks to the bit, and threads of an adapter's own. ALL=1: with ASan and TSan too.
cxx=$1
build=$2/adapters/common
library=$2/libattend.a
. tests/support/check.sh
mkdir -p "$build"
limit=300 # a thread that never comes hangs a test
flags='-std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude'

# runs NAME FLAGS…: compiles a test and tells what it checks.
runs() {
  name=$1
  shift
  # shellcheck disable=SC2086
  succeeds "$name compiles with $*" $cxx $flags "$@" "tests/adapters/common/$name.cpp" "$library" -pthread -o "$build/$name" || return
  timeout "$limit" "$build/$name" >"$build/run.log" 2>&1
  status=$?
  grep -E '^(ok  |FAIL) ' "$build/run.log"
  passed=$((passed + $(grep -c '^ok ' "$build/run.log"))) failed=$((failed + $(grep -c '^FAIL ' "$build/run.log")))
  if [ $status = 124 ]; then fail "$name" "it has not ended within $limit seconds"
  elif [ $status != 0 ] && ! grep -q '^FAIL ' "$build/run.log"; then fail "$name" "it died: $(tail -n 1 "$build/run.log")"; fi
}

runs masked_test -O1
runs threads_test -O1
if [ "${ALL:-}" = 1 ]; then
  runs masked_test -O1 -fsanitize=address,undefined
  runs threads_test -O1 -fsanitize=thread
fi
finish
