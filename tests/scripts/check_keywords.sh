#!/bin/sh
# Keywords with gated delta attention: tests/scripts/check_keywords.sh CXX BUILD_DIR
#
# What the stream understands of held-out voices, in floats and in integers, and that a board decides the same with the same bits of all
# likelihoods. ALL=1: more boards, and with the M4 the stream of ten minutes. `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2/check_keywords
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
board=bench/boards/board.sh main=bench/boards/keywords_linear_main.cpp
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

succeeds "weights are restored" make -j1 restored CXX="$cxx"
packed_again() {
  python3 bench/exporter/examples/pack.py build/exported/keywords/linear "$build/packed" && diff -r "$build/packed" bench/exporter/examples/keywords/linear/model
}
! needs python3 python3 || succeeds "they are packed as they stand" packed_again
# shellcheck disable=SC2086
hosted() {
  $cxx -DMODEL_PATH='"bench/exporter/examples/keywords/held_out.bin"' -c bench/boards/embed.S -o "$build/embed.o" &&
    $cxx -std=c++17 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude $main tests/boards/hosted.cpp \
      build/exported/keywords/linear/model.cpp "$build/embed.o" "$1" -Wl,-z,noexecstack -o "$build/hosted" && "$build/hosted" >"$build/hosted.txt"
}
succeeds "it listens to held-out voices" hosted "$2/libattend.a" || { finish; exit; }
cat "$build/hosted.txt"
# Of the 210 words; with softmax attention the example understands 200. One word is 0.48 points.
nothing_in "$(awk '
  / voice 5: / { right[$1] = $4; clips += $6 == 210 }
  / minute / { minutes++ }
  END {
    if (clips != 2 || minutes != 20) print "not all voices, and ten minutes, in both arithmetics"
    if (right["floats,"] < 198) print "floats understand " right["floats,"]
    if (right["integers,"] < right["floats,"] - 1) print "integers understand " right["integers,"] ", floats " right["floats,"]
  }' "$build/hosted.txt")" "so many words as with softmax, and in integers as in floats"

# A stream has neither a heap nor other memory than this.
bytes_of() { sed -n "s/^$1, voice 1: .* words, \([0-9]*\) bytes.*/\1/p" "$build/cortex-m4.txt"; }
on_board() { # board numbers voices
  sh $board run "$1" "$build/boards/$1.keywords_linear" "$2" "$3" | tr -d '\r' >"$build/$1.txt" && [ -s "$build/$1.txt" ] &&
    grep "^$2" "$build/hosted.txt" | head -n "$(wc -l <"$build/$1.txt")" | sed 's/ [0-9]* bytes,//' >"$build/expected.txt" &&
    sed 's/ [0-9]* bytes,//' "$build/$1.txt" | diff - "$build/expected.txt"
}
for name in cortex-m4 ${ALL:+cortex-m0plus cortex-m55 rv32imac}; do
  compiler=arm-none-eabi packages='gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib'
  [ "$name" != rv32imac ] || compiler=riscv64-unknown-elf packages=gcc-riscv64-unknown-elf
  needs $compiler-g++ "$packages" || continue
  succeeds "it is built for $name" sh $board build "$name" "$build/boards" keywords_linear || continue
  nothing_in "$($compiler-nm "$build/boards/$name.keywords_linear" | grep -wE 'malloc|_malloc_r|_sbrk|_Znwj')" "$name: there is no heap"
  voices=1
  [ "$name${ALL:+ all}" != 'cortex-m4 all' ] || voices=5
  succeeds "$name: the same decisions and bits in integers" on_board "$name" integers $voices
  [ "$name" != cortex-m4 ] || nothing_in "$(grep -q '| 10,216 |$' include/guide/export.md && [ "$(bytes_of integers)" = 10216 ] || bytes_of integers)" "its bytes are the page's"
  succeeds "$name: the same decisions and bits in floats" on_board "$name" floats 1
done
finish
