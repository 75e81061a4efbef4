#!/bin/sh
# Peers of the benchmarks that are fetched or loaded: tests/scripts/check_peers.sh CXX BUILD_DIR
#
# What is not there is left out with a sentence, whoever computes something else is refused before it is timed, and the table
# compares what is comparable. Nothing is fetched here: a library of our own stands in for ggml.
cxx=$1
library=$2/libattend.a
build=$2/check_peers
top=$(pwd)
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/none" "$build/text" "$build/other" "$build/stand_in" || exit 1

# says NAME PATTERN COMMAND…: the command succeeds and prints a line like that.
says() {
  name=$1 pattern=$2
  shift 2
  if "$@" >"$build/output" 2>&1 && grep -q "$pattern" "$build/output"; then ok "$name"; else fail "$name" "$(cat "$build/output")"; fi
}

# Fetched or not.
inside() { (cd "$1" && shift && GGML_LIBRARIES='' "$@"); }
says "ggml that was not fetched is left out" '^bench: ggml was not found and is left out' \
  inside "$build/none" sh "$top/bench/speed/peers/find_peers.sh" "$cxx" peers.mk
says "ONNX Runtime that was not fetched is left out" '^bench: ONNX Runtime was not found and is left out' \
  inside "$build/none" sh "$top/bench/speed/peers/onnxruntime.sh" bench.tsv none
without_npm() { (PATH=$build/none && /bin/sh bench/speed/peers/fetch.sh ggml); }
says "without npm nothing is fetched" '^bench: npm was not found, ggml cannot be fetched' without_npm
mkdir -p "$build/fetched/build/ggml/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"
inside "$build/fetched" sh "$top/bench/speed/peers/find_peers.sh" "$cxx" peers.mk >/dev/null 2>&1
says "ggml that was fetched is found" '^GGML_LIBRARIES ?= .*/build/ggml/' cat "$build/fetched/peers.mk"

# Loaded: each peer on causal attention over arrays and on one token over a cache, both of grouped heads.
cat >"$build/peers.cpp" <<'END'
#include <cstdio>
#include <stdexcept>

#include "bench/speed/cases.h"

int main() {
  const bench::Case prefill({5, 7, 16, 4, 2, true}, bench::Layout::tokens), decode({1, 40, 32, 6, 2, false}, bench::Layout::heads);
  for (int i = 0; i < bench::peer_count(); ++i) {
    const bench::Peer& peer = bench::peer(i);
    for (const bench::Case* problem : {&prefill, &decode}) {
      try {
        problem->check(peer.name, &peer);
        std::printf("%s is right\n", peer.name);
      } catch (const std::runtime_error& error) {
        std::printf("refused: %s\n", error.what());
      }
    }
  }
}
END
strict="-std=c++17 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -I."
# shellcheck disable=SC2086
succeeds "peers compile without a warning" $cxx $strict "$build/peers.cpp" bench/speed/cases.cpp bench/speed/machine.cpp bench/speed/peers/peers.cpp \
  bench/speed/peers/peer_naive.cpp bench/speed/peers/peer_ggml.cpp bench/speed/peers/ggml_library.cpp "$library" -ldl -o "$build/peers" || finish
peers() { GGML_LIBRARIES=$1 "$build/peers"; }

says "no folder of ggml's libraries is said" '^naive is right' peers ''
says "a folder that is not there" '^bench: ggml is left out: /none: ' peers /none
says "a folder without libraries" '^bench: ggml is left out: .*: it has no library for this processor' peers "$build/none"
echo 'int nothing;' | $cxx -shared -fPIC -x c - -o "$build/other/libggml-cpu-other.so"
says "a library that has not ggml's functions" '^bench: a library of ggml has no ggml_init and is left out' peers "$build/other"
echo text >"$build/text/libggml-cpu-text.so"
says "a file that is no library" '^bench: ggml is left out: .*libggml-cpu-text.so: ' peers "$build/text"
$cxx -x c -std=c11 -Wall -Wextra -Werror -shared -fPIC -O1 tests/support/ggml_stand_in.c -lm -o "$build/stand_in/libggml-cpu-stand_in.so"
says "its fused operator is given the right tensors" '^ggml-avx2:flash is right' peers "$build/stand_in"
if [ "$(grep -c '^ggml-avx2:flash is right' "$build/output")" = 2 ]; then ok "over a cache too"; else fail "over a cache too" "$(cat "$build/output")"; fi
if [ "$(grep -c '^refused: ggml-avx2:products: token .* is wrong by' "$build/output")" = 2 ]; then
  ok "who computes something else is refused"
else
  fail "who computes something else is refused" "$(cat "$build/output")"
fi

# The figures: of two ways the faster one, formats apart, and an instruction set beside its like.
row() { printf '"name": "%s",\n"family_index": %s,\n"run_type": "iteration",\n"gbps": %s,\n"bandwidth_fraction": 0.5\n},\n' "$@"; }
{
  row decode/f32/avx2/q1_k16_d16_h4 0 20
  row decode/f32/avx512/q1_k16_d16_h4 1 40
  row decode/f32/ggml-avx2:flash/q1_k16_d16_h4 2 5
  row decode/f32/ggml-avx2:products/q1_k16_d16_h4 3 10
  row decode/f32/naive/q1_k16_d16_h4 4 80
  row decode/f16/avx2/q1_k16_d16_h4 5 30
} | awk -f bench/speed/medians.awk >"$build/bench.tsv"
says "the faster way counts" "^decode	q1_k16_d16_h4	ggml-avx2	10	" cat "$build/bench.tsv"
says "other formats are other operations" "^decode_f16	q1_k16_d16_h4	avx2	30	" cat "$build/bench.tsv"
says "a peer stands beside its like" '^decode/.* 10.0 (2.00) .* 80.0 (0.50) .* 0.50' awk -f bench/speed/table.awk "$build/bench.tsv"
says "who is ahead is named" '^  decode/q1_k16_d16_h4: naive, 0.50' awk -f bench/speed/table.awk "$build/bench.tsv"
finish
