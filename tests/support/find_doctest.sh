#!/bin/sh
# Finds doctest for a compiler, or unpacks the distribution's package without root: tests/support/find_doctest.sh CXX FOLDER
cxx=$1
folder=$2
include='#include <doctest/doctest.h>'
found() { echo "$include" | $cxx -std=c++17 "$@" -E -x c++ - >/dev/null 2>&1; }

found && exit 0
found -isystem "$folder/usr/include" && exit 0
mkdir -p "$folder"
if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
  (cd "$folder" && apt-get download -qq doctest-dev && dpkg-deb -x doctest-dev_*.deb .) >/dev/null 2>&1
  if found -isystem "$folder/usr/include"; then
    echo "  doctest was unpacked in $folder" >&2
    exit 0
  fi
fi
echo "test: doctest was not found; install it (Debian: apt-get install doctest-dev, Fedora: dnf install doctest-devel)" >&2
exit 1
