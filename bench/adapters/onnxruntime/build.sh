#!/bin/sh
# Builds the plugin for ONNX Runtime: bench/adapters/onnxruntime/build.sh CXX LIBRARY OUTPUT, from the project's top folder. LIBRARY is libattend.a of the same processor,
# OUTPUT the shared library that ONNX Runtime loads. Sources that are older than their objects are not compiled again, unless the command is another one.
# ADAPTER_FLAGS= has more flags; JOBS= so many are compiled at a time, by default one for each processor.
set -e
cxx=$1 library=$2 output=$3
folder=bench/adapters/onnxruntime
objects=$output.objects
command="$cxx -std=c++17 -O3 -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude ${ADAPTER_FLAGS:-} -c"
[ "$(cat "$objects/command" 2>/dev/null)" = "$command" ] || rm -rf "$objects"
mkdir -p "$objects"
echo "$command" >"$objects/command"
for source in "$folder"/*.cpp; do
  object=$objects/$(basename "$source" .cpp).o
  if [ -f "$object" ] && [ -z "$(find "$folder" bench/adapters/common include -newer "$object" -name '*.h' | head -n 1)" ] && [ "$object" -nt "$source" ]; then
    continue
  fi
  echo "$source"
done >"$objects/sources"
# Each in a process of its own, to which xargs gives the source last.
# shellcheck disable=SC2016,SC2086
[ ! -s "$objects/sources" ] || xargs -n 1 -P "${JOBS:-$(nproc 2>/dev/null || echo 2)}" sh -c 'for source; do :; done; "$@" -o "$0/$(basename "$source" .cpp).o"' "$objects" $command <"$objects/sources"
# The library's own functions stay inside: another copy of it in the same process, of another version perhaps, is not mixed up with it.
$cxx -shared -o "$output" "$objects"/*.o "$library" -Wl,--exclude-libs,ALL -Wl,-z,defs -pthread ${ADAPTER_FLAGS:-}
