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

for variant in "-std=c++17 -O2" "-std=c++20 -O0"; do
  # Stack guards, where a compiler adds them by itself, would need a C library's help.
  flags="$variant -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -Iinclude"
  folder=$build/$(printf '%s' "$variant" | tr -d ' =')
  # shellcheck disable=SC2086
  succeeds "$variant: compiles" compile_all "$folder" "$(ls src/*.cpp) tests/firmware/freestanding.cpp" $flags || continue
  # shellcheck disable=SC2086
  succeeds "$variant: links with -nostdlib" \
    $cxx -nostdlib -nostartfiles -static "$folder"/*.o -o "$folder/freestanding" || continue
  "$folder/freestanding" >"$folder/output" 2>&1
  result=$?
  said=$(tr '\n' ';' <"$folder/output" | sed 's/;$//; s/;/; /g')
  if [ $result -eq 0 ]; then ok "$variant: runs: $said"; else fail "$variant: runs" "exit code $result: $said"; fi
done

finish
