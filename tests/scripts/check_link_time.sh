#!/bin/sh
# The whole library and a program optimised when they are linked, where functions of several instruction sets meet, and with enumerations that
# are small everywhere: tests/scripts/check_link_time.sh CXX BUILD_DIR
cxx=$1
build=$2/check_link_time
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

if $cxx -dM -E -x c++ /dev/null | grep -q __clang__; then
  skip "-flto" "Clang needs a linker of its own version for it"
elif ! command -v python3 >/dev/null 2>&1; then
  missing "-flto" "apt-get install python3"
else
  whole='-std=c++17 -O1 -flto=2 -fshort-enums -ffp-contract=off'
  # shellcheck disable=SC2086
  succeeds "the whole library is one source" env PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/amalgamate.py "$build" &&
    succeeds "digests: the library and a program link with -flto -fshort-enums" $cxx $whole -Iinclude "$build/attend.cpp" \
      tests/boards/digests_main.cpp tests/boards/hosted.cpp -o "$build/digests" &&
    on_each_backend "-flto" digests
fi
finish
