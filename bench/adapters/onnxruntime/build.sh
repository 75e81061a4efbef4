#!/bin/sh
# Builds the plugin for ONNX Runtime: bench/adapters/onnxruntime/build.sh CXX LIBRARY OUTPUT, from the project's top folder. LIBRARY is libattend.a of the same processor,
# OUTPUT the shared library that ONNX Runtime loads. ADAPTER_FLAGS= has more flags.
set -e
cxx=$1 library=$2 output=$3
# All sources are one translation unit, which takes less than half of the time that they take one by one.
# The library's own functions stay inside: another copy of it in the same process, of another version perhaps, is not mixed up with it.
# shellcheck disable=SC2086
printf '#include "%s"\n' bench/adapters/onnxruntime/*.cpp |
  $cxx -std=c++17 -O3 -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -Wl,--exclude-libs,ALL -Wl,-z,defs ${ADAPTER_FLAGS:-} \
    -x c++ - -x none -shared -o "$output" "$library" -pthread
