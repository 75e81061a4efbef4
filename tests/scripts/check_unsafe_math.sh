#!/bin/sh
# Flags that would change bits are refused by name, or change none: tests/scripts/check_unsafe_math.sh CXX BUILD_DIR
#
# GCC tells the library of each part of -ffast-math, which refuses it. Clang tells of all of them together and of -ffinite-math-only; under
# other parts the library keeps its bits all the same. Programs are linked without the flag, with which Clang would make the processor drop
# subnormal numbers. The objects are those for bare x86, which have it.
cxx=$1
build=$2/check_unsafe_math
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

refused() { stops " $1" src/backend/target.cpp -std=c++17 -O2 "$1"; } # flag: the message has its name

refused -ffast-math
refused -ffinite-math-only
if ! $cxx -dM -E -x c++ /dev/null | grep -q '__clang__'; then
  for flag in -funsafe-math-optimizations -freciprocal-math -fno-signed-zeros -fsingle-precision-constant; do refused $flag; done
elif succeeds "every source compiles with -funsafe-math-optimizations" library_at bare "$2"; then
  # They were compiled for a fixed address.
  same_bits "-O2 -funsafe-math-optimizations" -no-pie
fi

finish
