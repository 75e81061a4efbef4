#!/bin/sh
# Finds doctest for a compiler: tests/support/find_doctest.sh CXX FOLDER. `make doctest` unpacks the distribution's package there, without root.
cxx=$1
folder=$2
include='#include <doctest/doctest.h>'
found() { echo "$include" | $cxx -std=c++17 "$@" -E -x c++ - >/dev/null 2>&1; }

found && exit 0
found -isystem "$folder/usr/include" && exit 0
echo "test: doctest was not found; install it (Debian: apt-get install doctest-dev, Fedora: dnf install doctest-devel), or on Debian unpack it below build/ without root: make doctest" >&2
exit 1
