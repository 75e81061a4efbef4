#!/bin/sh
# One file that includes every source, as C++11 and at -O0, where a static constant that C++17 defines by itself would be missing when
# the program is linked: tests/scripts/check_unity.sh CXX BUILD_DIR. check_vendoring.sh only reads that file; check_packages.sh links the package's.
cxx=$1
build=$2/check_unity
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
objects=$build/objects
succeeds "it compiles" compile_all "$objects" "$(all_in_one "$build/unity.cpp")" -std=c++11 -O0 && same_bits "c++11"
finish
