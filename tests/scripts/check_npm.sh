#!/bin/sh
# The npm package gives the library's bits in Node, and is as fast as it should be: tests/scripts/check_npm.sh CXX BUILD_DIR
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
count_lines() { # of a program that prints ok and FAIL itself
  "$@" >"$build/lines" 2>&1 || echo "FAIL $*: $(tail -n 1 "$build/lines")" >>"$build/lines"
  cat "$build/lines"
  passed=$((passed + $(grep -c '^ok ' "$build/lines"))) failed=$((failed + $(grep -c '^FAIL ' "$build/lines")))
}

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
count_lines node tests/javascript/calls.mjs "$package" "$build/native.mjs"
mkdir -p "$build/node_modules" && ln -s "$package" "$build/node_modules/attend" && cp "$package/examples/household.mjs" "$build"
if [ "$(echo 'lock the front door' | node --preserve-symlinks "$build/household.mjs" 2>&1)" = 'lock.lock door=front' ]; then
  ok "the package's example answers"
else fail "the package's example" "$(echo 'lock the front door' | node "$build/household.mjs" 2>&1 | tail -n 3)"; fi
sed -n '/^```js$/,/^```$/p' include/guide/javascript.md | sed '/^```/d' >"$build/guide.mjs"
sed -n '/^```text$/,/^```$/p' include/guide/javascript.md | sed '/^```/d' >"$build/guide.expected"
if node --preserve-symlinks "$build/guide.mjs" >"$build/guide.output" 2>&1 && [ -s "$build/guide.expected" ] && cmp -s "$build/guide.output" "$build/guide.expected"; then
  ok "the guide's program prints what the guide says"
else fail "the guide's program" "$(tail -n 3 "$build/guide.output")"; fi

# ---- Speed, beside the library without vectors, and beside the native one without them
sources=$(ls src/*/*.cpp)
without_vectors() (
  cxx=clang++
  compile_all "$build/plain" "$sources bench/javascript/wasm/memory.cpp" \
  --target=wasm32 -mbulk-memory -std=c++17 -O2 -ffp-contract=off -ffreestanding -fno-exceptions -fno-rtti -ffunction-sections -Iinclude
)
if succeeds "the library without vectors is compiled" without_vectors; then
  # shellcheck disable=SC2046
  succeeds "and linked" clang++ --target=wasm32 -nostdlib -Wl,--no-entry -Wl,--gc-sections -Wl,--export=__heap_base \
    $(python3 bench/packages/c_to_js.py exports) "$build"/plain/*.o -o "$build/plain.wasm" &&
    node tests/javascript/speed.mjs "$package" "$build/plain.wasm" "$package/attend.wasm" "$package/attend-small.wasm" >"$build/speed"
  echo 'could you dim the lamp in the bedroom to thirty percent' >"$build/one.txt"
  native=$(ATTEND_BACKEND=scalar "$folder/playground_native" bench/app/model/household.bin "$build/one.txt" | sed -n 's/.*milliseconds: \([0-9.]*\).*/\1/p')
  sed "s/^/     /" "$build/speed"
  echo "     native, scalar: the command $native"
  nothing_in "$(awk -v native="$native" 'NR == 1 {plain = $2} NR == 2 && $2 * 3 > plain {print "prefill " $2 " ms, " plain " without vectors"}
    NR == 2 && $3 > 8 * native {print "a command " $3 " ms, natively " native} END {if (NR < 3) print "not measured"}' "$build/speed")" \
    "with vectors a prefill is at least 3 times as fast, and a command takes at most 8 times as long as natively"
fi

# ---- Types
types=build/node/node_modules/typescript/bin/tsc
[ -f $types ] || (mkdir -p build/node && cd build/node && npm install --no-audit --no-fund --silent typescript@5.7.2) >"$build/log" 2>&1
if [ -f $types ]; then
  cp tests/javascript/types.ts "$build/types.mts"
  if node $types --noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext --lib es2022,dom --skipLibCheck "$build/types.mts" >"$build/log" 2>&1; then
    ok "types: what is right compiles, what is wrong does not"
  else fail "types" "$(head -n 3 "$build/log")"; fi
else
  missing "types" "npm cannot fetch typescript"
fi
finish
