#!/bin/sh
# Builds the adapter: bench/adapters/onnxruntime/build.sh CXX LIBRARY OUTPUT, from the project's top folder. LIBRARY is libattend.a of the same processor,
# OUTPUT the shared library that ONNX Runtime loads. Sources that are as old as their objects are not compiled again.
set -e
cxx=$1 library=$2 output=$3
folder=bench/adapters/onnxruntime
objects=$output.objects
mkdir -p "$objects"
for source in "$folder"/*.cpp; do
  object=$objects/$(basename "$source" .cpp).o
  if [ -f "$object" ] && [ -z "$(find "$folder" bench/adapters/common include -newer "$object" -name '*.h' | head -n 1)" ] && [ "$object" -nt "$source" ]; then
    continue
  fi
  # shellcheck disable=SC2086
  $cxx -std=c++17 -O3 -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude ${ADAPTER_FLAGS:-} -c "$source" -o "$object"
done
# The library's own functions stay inside: another copy of it in the same process, of another version perhaps, is not mixed up with it.
$cxx -shared -o "$output" "$objects"/*.o "$library" -Wl,--exclude-libs,ALL -Wl,-z,defs -pthread ${ADAPTER_FLAGS:-}
