#!/bin/sh
# A part of -ffast-math changes no bit: tests/checks/check_unsafe_math.sh CXX BUILD_DIR
#
# GCC tells the library, which refuses it. Clang does not tell, and the library keeps its bits all the same. Programs are linked without
# the flag, with which Clang would make the processor drop subnormal numbers. The objects are those for bare x86, which have it.
cxx=$1
build=$2/check_unsafe_math
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

if ! $cxx -dM -E -x c++ /dev/null | grep -q '__clang__'; then
  stops "attend cannot keep its bits" src/isa/scalar.cpp -std=c++17 -funsafe-math-optimizations
elif succeeds "every source compiles with -funsafe-math-optimizations" library_at bare "$2"; then
  # They were compiled for a fixed address.
  same_bits "-O2 -funsafe-math-optimizations" -no-pie
fi

finish
