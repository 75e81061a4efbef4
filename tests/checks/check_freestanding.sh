#!/bin/sh
# The library links and runs without any C or C++ library: tests/checks/check_freestanding.sh CXX BUILD_DIR
cxx=$1
build=$2/check_freestanding
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

if [ "$(uname -sm)" != "Linux x86_64" ] || [ "$($cxx -dM -E -x c++ /dev/null | grep -cE '__(x86_64|linux)__ 1')" != 2 ]; then
  skip "freestanding program" "it is written for x86-64 Linux"
  finish
  exit
fi

# Stack guards, where a compiler adds them by itself, would need a C library's help.
flags='-std=c++17 -O2 -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -Iinclude'
# shellcheck disable=SC2086
if succeeds "compiles with $flags" compile_all "$build/objects" "$(ls src/*.cpp) tests/firmware/freestanding.cpp" $flags &&
  succeeds "links with -nostdlib" $cxx -nostdlib -nostartfiles -static "$build"/objects/*.o -o "$build/freestanding"; then
  "$build/freestanding" >"$build/output" 2>&1
  result=$?
  said=$(tr '\n' ';' <"$build/output" | sed 's/;$//; s/;/; /g')
  if [ $result -eq 0 ]; then ok "runs: $said"; else fail "runs" "exit code $result: $said"; fi
fi

finish
