#!/bin/sh
# The library links and runs without any C or C++ library: tests/scripts/check_freestanding.sh CXX BUILD_DIR
cxx=$1
build=$2/check_freestanding
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

if [ "$(uname -sm)" != "Linux x86_64" ] || [ "$($cxx -dM -E -x c++ /dev/null | grep -cE '__(x86_64|linux)__ 1')" != 2 ]; then
  skip "freestanding program" "it is written for x86-64 Linux"
  finish
  exit
fi

# What Clang calls where there is no operating system, or what a firmware asks of any compiler.
kind=-Os
if echo | $cxx --target=x86_64-unknown-elf -ffreestanding -E -x c++ - >/dev/null 2>&1; then kind=bare; fi
# shellcheck disable=SC2086
if succeeds "every source compiles ($kind)" library_at $kind "$2" &&
  succeeds "a program compiles" compile_all "$build/program" tests/boards/freestanding.cpp -std=c++17 -O2 $firmware -Iinclude &&
  succeeds "links with -nostdlib" $cxx -nostdlib -nostartfiles -static "$build"/program/*.o "$objects"/*.o -o "$build/freestanding"; then
  "$build/freestanding" >"$build/output" 2>&1
  result=$?
  said=$(tr '\n' ';' <"$build/output" | sed 's/;$//; s/;/; /g')
  if [ $result -eq 0 ]; then ok "runs: $said"; else fail "runs" "exit code $result: $said"; fi
fi

finish
