#!/bin/sh
# Writes the playground's files: bench/site/playground/build.sh OUT_DIR, from the project's top folder. Prints nothing on success.
# CXX= and BUILD= are those of make, for the digests that this machine computes.
set -e
out=$1
cxx=${CXX:-g++}
native=${BUILD:-build/$cxx-O2}/playground_native
mkdir -p "$out/attend"
make CXX="$cxx" ${BUILD:+"BUILD=$BUILD"} "$native" build/npm >"$out/log" 2>&1 || { cat "$out/log" >&2 && exit 1; }
rm "$out/log"
cp bench/site/playground/*.js bench/site/playground/playground.css "$out"
for file in index cache layers problem memory digest words household c; do cp "build/npm/$file.js" "$out/attend"; done
cp build/npm/attend-small.wasm build/npm/household.bin "$out"
# Without times: the same files each time.
"$native" bench/app/model/household.bin | sed 's/, milliseconds: [0-9.]*//' >"$out/native.js"
