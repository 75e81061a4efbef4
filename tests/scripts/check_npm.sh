#!/bin/sh
# The npm package gives the library's bits in Node: tests/scripts/check_npm.sh CXX BUILD_DIR
cxx=$1
build=$2/check_npm
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
export PYTHONDONTWRITEBYTECODE=1

for needed in 'node nodejs' 'wasm-ld lld' 'clang++ clang' 'python3 python3'; do
  # shellcheck disable=SC2086
  set -- $needed "$2"
  command -v "$1" >/dev/null 2>&1 && shift 2 && set -- "$cxx" "$1" && continue
  missing "the npm package" "it was not found: apt-get install $2"
  finish
  exit
done
folder=$2

succeeds "the package and the native programs are made" make CXX="$cxx" BUILD="$folder" build/npm "$folder/playground_native" "$folder/libattend.a" || { finish; exit; }
package=$(pwd)/build/npm

# ---- Where members of structs lie
python3 bench/packages/c_to_js.py layouts >"$build/layouts.c"
succeeds "structs lie as Clang lays them out for WebAssembly" clang++ --target=wasm32 -x c -std=c11 -Iinclude -fsyntax-only "$build/layouts.c"

# ---- The same bits
# shellcheck disable=SC2086
succeeds "problems.cpp compiles" $cxx -std=c++17 -O1 -Wall -Wextra -Werror -Iinclude tests/javascript/problems.cpp "$folder/libattend.a" -o "$build/problems" &&
  succeeds "500 random problems run in Node" node tests/javascript/problems.mjs "$package" "$build/problems.bin" 500 &&
  succeeds "and have the bits of the native library" "$build/problems" "$build/problems.bin"
[ "$(cat "$build/log")" = '500 problems' ] || fail "500 problems" "$(cat "$build/log")"
sed -n 's/\t.*//p' bench/app/model/held_out.txt | sed -n '2~30p' >"$build/sentences.txt"
ATTEND_BACKEND=scalar "$folder/playground_native" bench/app/model/household.bin "$build/sentences.txt" >"$build/native.mjs" 2>"$build/log" || fail "the native commands" "$(cat "$build/log")"
counted "calls" node tests/javascript/calls.mjs "$package" "$build/native.mjs"
mkdir -p "$build/node_modules" && ln -s "$package" "$build/node_modules/attend" && cp "$package/examples/household.mjs" "$build"
if [ "$(echo 'lock the front door' | node --preserve-symlinks "$build/household.mjs" 2>&1)" = 'lock.lock door=front' ]; then
  ok "the package's example answers"
else fail "the package's example" "$(echo 'lock the front door' | node "$build/household.mjs" 2>&1 | tail -n 3)"; fi
sed -n '/^```js$/,/^```$/p' include/guide/javascript.md | sed '/^```/d' >"$build/guide.mjs"
sed -n '/^```text$/,/^```$/p' include/guide/javascript.md | sed '/^```/d' >"$build/guide.expected"
if node --preserve-symlinks "$build/guide.mjs" >"$build/guide.output" 2>&1 && [ -s "$build/guide.expected" ] && cmp -s "$build/guide.output" "$build/guide.expected"; then
  ok "the guide's program prints what the guide says"
else fail "the guide's program" "$(tail -n 3 "$build/guide.output")"; fi

finish
