#!/bin/sh
# Writes the playground's files: bench/site/playground/build.sh OUT_DIR, from the project's top folder. Prints nothing on success.
# CXX= and BUILD= are those of make, for the digests that this machine computes; so are WASM_BUILD= and NPM_BUILD=, the folders in between.
set -e
out=$1
cxx=${CXX:-g++}
npm=${NPM_BUILD:-build/npm}
native=${BUILD:-build/$cxx-O2}/playground_native
mkdir -p "$out/attend"
make CXX="$cxx" ${BUILD:+"BUILD=$BUILD"} "$native" "$npm" >"$out/log" 2>&1 || { cat "$out/log" >&2 && exit 1; }
rm "$out/log"
cp bench/site/playground/*.js bench/site/playground/playground.css "$out"
cp "$npm"/*.js "$out/attend"
cp "$npm/attend-small.wasm" "$npm/household.bin" "$out"
# Without times: the same files each time.
"$native" bench/app/model/household.bin | sed 's/, milliseconds: [0-9.]*//' >"$out/native.js"
