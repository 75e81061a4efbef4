#!/bin/sh
# `make vendor`: what it copies compiles alone, has the same bits, and is no more than a program needs: tests/scripts/check_vendor.sh CXX BUILD_DIR
# PAGE=: a page into which the table of targets goes.
cxx=$1
lib=$2/libattend.a
case $2 in /*) build=$2/check_vendor ;; *) build=$PWD/$2/check_vendor ;; esac
. tests/support/check.sh
. tests/support/page_part.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

vendor() {  # name cpu flags use...
  name=$1 cpu=$2 flags=$3
  shift 3
  MAKEFLAGS='' make -s vendor CPU="$cpu" CXX="${compiler:-$cxx}" CXXFLAGS="$flags" PROGRAM="$*" TO="$build/$name" >"$build/$name.log" 2>&1
}
lines() { find "$build/$1/include" "$build/$1/src" -type f -exec cat {} + | wc -l | tr -d ' '; }

# Compiles what was copied for a target, with nothing else of the library in reach, to objects that $objects names.
compile_alone() {  # name compiler flags
  objects=''
  [ -e "$build/$1/attend.mk" ] || return 1
  for source in $(cd "$build/$1" && make -s -f - <<'END'
include attend.mk
all: ; @echo $(ATTEND_SOURCES)
END
  ); do
    object=$build/$1/$(basename "$source").o
    # shellcheck disable=SC2086
    (cd "$build/$1" && $2 $3 -std=c++17 -Wall -Wextra -Werror -Iinclude -c "$source" -o "$object") || return 1
    objects="$objects $object"
  done
}

# This machine: a program of the page of README's kind, from the copied folder and from all of it.
cat >"$build/program.cpp" <<'END'
#include <attend/attend.h>
#include <attend/attention.h>
#include <cstdio>
struct Shape {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 20, max_tokens = 40;
};
static attend::KvCache<Shape> cache;
int main() {
  attend::Query<Shape> query{};
  attend::Key<Shape> key{};
  attend::Value<Shape> value{};
  attend::Output<Shape> output{};
  for (int t = 0; t < 40; ++t) {
    for (int d = 0; d < 20; ++d) query[0][0][d] = query[0][1][d] = key[0][0][d] = float((t * 7 + d * 5) % 11) / 4, value[0][0][d] = float(t * d % 13);
    if (cache.append(key, value) != attend::Status::ok || attend::decode(query, cache, output) != attend::Status::ok) return 1;
    std::printf("%a %a\n", double(output[0][0][1]), double(output[0][1][19]));
  }
}
END
if vendor host host '' "$build/program.cpp" && compile_alone host "$cxx" -O0 &&
  $cxx -O2 -std=c++17 -I"$build/host/include" "$build/program.cpp" $objects -o "$build/alone" &&
  $cxx -O2 -std=c++17 -Iinclude "$build/program.cpp" "$lib" -o "$build/whole" && "$build/whole" >"$build/whole.text"; then
  "$build/alone" >"$build/alone.text"
  succeeds 'this machine: the copied files compile alone and have the bits of all of them' cmp "$build/whole.text" "$build/alone.text"
else
  fail 'this machine: the copied files compile alone' "$(tail -n 3 "$build/host.log")"
fi
[ -s "$build/host/MANIFEST" ] || fail "the manifest" "there is none"
nothing_in "$(cd "$build/host" && sed '/^#/d' MANIFEST | sha256sum -c --quiet 2>&1)" 'the manifest has the sum of each file'
nothing_in "$(cd "$build/host" && find . -type f -name '*.[hc]*' ! -name '*.o' | sed 's|^\./||' | sort | while read -r file; do grep -q " $file\$" MANIFEST || echo "$file"; done)" 'the manifest names each file'
nothing_in "$(sed '/^#/d' "$build/host/MANIFEST" | while read -r sum file; do grep -A 1 "\"\./$file\"" "$build/host/attend.spdx.json" | grep -q "$sum" || echo "$file"; done)" 'the bill of materials has the sum of each file'
nothing_in "$(grep '^# Requirements' "$build/host/MANIFEST" | grep ' bits.01 .* masks.01 ' | grep -vE ' (integers|layers|linear|c|app)[.]' | grep -q . || echo 'they are not')" 'the manifest has the requirements of what was copied'
reason=$(MAKEFLAGS='' make -s vendor USES='decode rings' TO="$build/wrong" 2>&1) && fail 'a word that USES does not know is refused' 'it was taken'
case $reason in *'takes attention'*) ok 'a word that USES does not know is refused, with those that it knows' ;; *) fail 'a word that USES does not know is refused' "$reason" ;; esac

# The table of targets: decode over a cache.
{
  echo '| target | files | lines | bytes |'
  echo '| --- | --- | --- | --- |'
} >"$build/table"
row() {  # name what
  (cd "$build/$1" && printf '| %s | %s | %s | %s |\n' "$2" "$(find include src -type f | wc -l)" "$(lines "$1")" "$(find include src -type f -exec cat {} + | wc -c)") >>"$build/table"
}
row host "$($cxx -dumpmachine | cut -d - -f 1)"
boards=cortex-m4
[ -z "${ALL:-}${PAGE:-}" ] || boards='cortex-m0plus cortex-m4 cortex-m55 rv32imac'
for board in $boards; do
  compiler=$(sh bench/boards/board.sh compiler $board)
  if needs "$compiler" "gcc-arm-none-eabi gcc-riscv64-unknown-elf"; then
    if vendor $board $board '' decode && compile_alone $board "$compiler" "$(sh bench/boards/board.sh flags $board) -Os"; then
      ok "$board: the copied files compile alone"
      row $board $board
    else
      fail "$board: the copied files compile alone" "$(tail -n 3 "$build/$board.log")"
    fi
  fi
done
compiler=aarch64-linux-gnu-g++
if [ -n "${ALL:-}${PAGE:-}" ] && needs $compiler g++-aarch64-linux-gnu; then
  if vendor aarch64 host -O2 decode && compile_alone aarch64 $compiler -O2; then ok 'aarch64: the copied files compile alone'; else
    fail 'aarch64: the copied files compile alone' "$(tail -n 3 "$build/aarch64.log")"
  fi
  row aarch64 aarch64
fi

# The keyword program on a Cortex-M4, from the copied files.
compiler=arm-none-eabi-g++
if needs $compiler gcc-arm-none-eabi && needs qemu-system-arm qemu-system-arm; then
  make -s restored >/dev/null 2>&1
  keywords="bench/boards/keywords_main.cpp build/exported/keywords/model.cpp"
  # shellcheck disable=SC2086
  vendor keywords cortex-m4 '' $keywords || fail 'keywords: make vendor' "$(tail -n 3 "$build/keywords.log")"
  flags="$(sh bench/boards/board.sh flags cortex-m4) -Os"
  compile_alone keywords $compiler "$flags"
  for source in $keywords; do
    # shellcheck disable=SC2086
    $compiler $flags -std=c++17 -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti -I"$build/keywords/include" -c "$source" -o "$build/$(basename "$source").o" && objects="$objects $build/$(basename "$source").o"
  done
  # shellcheck disable=SC2086
  sh bench/boards/board.sh link cortex-m4 "$build/keywords.alone" $objects && sh bench/boards/board.sh build cortex-m4 "$build" keywords >/dev/null &&
    sh bench/boards/board.sh run cortex-m4 "$build/cortex-m4.keywords" >"$build/keywords.text" &&
    sh bench/boards/board.sh run cortex-m4 "$build/keywords.alone" >"$build/keywords.alone.text" || fail 'keywords on a Cortex-M4: the program runs' 'it does not'
  [ -s "$build/keywords.text" ] || fail 'keywords on a Cortex-M4: the program says something' 'it does not'
  succeeds 'keywords on a Cortex-M4: the copied files alone have the same digest' cmp "$build/keywords.text" "$build/keywords.alone.text"
  nothing_in "$(grep '^# Requirements.* integers.01 .* integers.07 ' "$build/keywords/MANIFEST" | grep -vE ' (linear|c)[.]' | grep -q . || echo 'they are not')" 'keywords on a Cortex-M4: the manifest has the requirements of integers'
  most=18500
  if [ "$(lines keywords)" -le $most ]; then ok "keywords on a Cortex-M4: at most $most lines are copied"; else fail "keywords on a Cortex-M4: at most $most lines are copied" "$(lines keywords)"; fi
  row keywords 'cortex-m4, the keyword example, in integers'
fi
[ -z "${PAGE:-}" ] || [ "$failed" -gt 0 ] || [ "$(wc -l <"$build/table")" -ne 9 ] || replace_part "$PAGE" 'make vendor-table' "$build/table"
cat "$build/table"
finish
