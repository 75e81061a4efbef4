#!/bin/sh
# The adapter of ONNX Runtime in the runtime itself: tests/adapters/onnxruntime/check.sh CXX BUILD_DIR
#
# By itself the most telling share: every form of node here and a 19th of them on other processors, one encoder of two layers, AArch64 too, and one
# decoder. ALL=1: every form of node on every processor, encoders of six layers, the decoder on AArch64, all wrong models, those under
# AddressSanitizer, what PyTorch exports, and each source by itself. SHIPPED=1 with it: the runtime's own kernels beside float64, which shows that
# what is expected is right.
cxx=$1
library=$2/libattend.a
build=$2/adapters/onnxruntime
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/onnxruntime/setup.sh
mkdir -p "$build" || exit 1
rm -rf "$build/work"
trap 'rm -rf "$build/work"' EXIT

# runs WHAT PROGRAM ARGUMENT…: a Python program whose lines "ok" and "FAIL" count, and its last line is said; it has to end with 0.
runs() {
  what=$1 program=$programs/$2.py
  shift 2
  "$python" "$program" "$@" >"$build/output" 2>&1
  status=$?
  grep '^FAIL' "$build/output" | cut -c 1-300 | head -n 20
  failed=$((failed + $(grep -c '^FAIL' "$build/output")))
  counted=$(grep -c '^ok' "$build/output")
  passed=$((passed + counted))
  if [ $status = 0 ]; then
    if [ "$counted" -gt 0 ]; then passed=$((passed - 1)) && ok "$what: $counted comparisons"; else ok "$what: $(tail -n 1 "$build/output")"; fi
  elif ! grep -q '^FAIL' "$build/output"; then
    fail "$what" "$(tail -n 3 "$build/output" | tr '\n' ' ' | cut -c 1-400)"
  fi
}

# What is compiled for a few runs is optimised less: all levels have the same bits.
[ "${ALL:-}" = 1 ] || export ADAPTER_FLAGS=-O1
set_up || { finish; exit; }
machines=here,scalar
[ "${ALL:-}" = 1 ] || ADAPTER_FLAGS=-O0
if set_up_arm64; then machines=$machines,AArch64; else missing "AArch64" "apt-get install g++-aarch64-linux-gnu qemu-user; $(tail -n 1 "$build/plugin.arm64.log" 2>/dev/null)"; fi

threads_are_found() {
  $cxx -std=c++17 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude $programs/threads_test.cpp "$library" -pthread -o "$build/threads_test" && "$build/threads_test"
}
succeeds "threads of a session that come late are found" threads_are_found

# The page's program in C says that a chain is one node.
# shellcheck disable=SC2086
if succeeds "the page's program in C compiles" $cxx $strict_c -pedantic -I$programs bench/adapters/onnxruntime/example.c -x none "$ORT_LIBRARY" -o "$build/example"; then
  PYTHONPATH=$programs "$python" -c 'import spellings, sys; open(sys.argv[1], "wb").write(spellings.chain("ready", "Where", 64).onnx())' "$build/example.onnx"
  said=$(LD_LIBRARY_PATH=$(dirname "$ORT_LIBRARY") "$build/example" "$build/example.onnx" "$ORT_PLUGIN" 2>&1)
  nothing_in "$([ "$said" = "AttendExecutionProvider: Transpose MatMul Div Where Softmax MatMul" ] || echo "$said")" "the page's program in C says what is computed as one"
fi

every=7
[ "${ALL:-}" = 1 ] && every=1
runs "forms of nodes beside float64" nodes "$ORT_LIBRARY" --plugin "$ORT_PLUGIN"
runs "masks of one column" one_column "$ORT_LIBRARY" --plugin "$ORT_PLUGIN"
runs "published cases of ONNX" published "$ORT_LIBRARY" --plugin "$ORT_PLUGIN"
runs "attention that is spelled out" chains "$ORT_LIBRARY" --plugin "$ORT_PLUGIN" --machines "$machines"
runs "products of one input, each row by its own range" dynamic "$ORT_LIBRARY" --plugin "$ORT_PLUGIN"
runs "custom operators" custom "$ORT_LIBRARY" --plugin "$ORT_PLUGIN" --every $every
runs "unknown and changed attributes" attributes "$ORT_LIBRARY" --plugin "$ORT_PLUGIN" --count "${ALL:+1}200"
runs "forms of nodes on processors" processors --every "$((every * 3 - 2))" --machines "$machines"
if [ "${ALL:-}" != 1 ]; then
  runs "a decoder and its cache" decoder --machines here,scalar
  runs "an encoder, whatever surrounds its texts" encoder --quick --layers 2 --width 64 --machines "$machines"
  runs "wrong models and inputs" hostile "$ORT_LIBRARY" --plugin "$ORT_PLUGIN" --every 9
  finish
  exit
fi

# shellcheck disable=SC2086
each_alone "ONNX Runtime" "$(echo bench/adapters/onnxruntime/*.cpp)" $cxx -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude
runs "a decoder and its cache" decoder --machines "$machines"
runs "an encoder, whatever surrounds its texts" encoder --machines "$machines"
runs "wrong models and inputs" hostile "$ORT_LIBRARY" --plugin "$ORT_PLUGIN"
for level in 0 1 2; do runs "forms of nodes, graphs rewritten at level $level" nodes "$ORT_LIBRARY" --plugin "$ORT_PLUGIN" --level $level; done
if "$python" -c 'import torch' 2>/dev/null; then
  runs "encoders that PyTorch exports" exported --machines "$machines"
else
  missing "encoders that PyTorch exports" "apt-get install python3-torch"
fi

# Under AddressSanitizer, which has to be the first library of the process. The library of the adapter is instrumented too.
sanitized="-g -O1 -fPIC -fsanitize=address,undefined -fno-sanitize-recover=undefined"
if make "$build/sanitized/libattend.a" CXX="$cxx" CXXFLAGS="$sanitized" BUILD="$build/sanitized" >"$build/sanitized.log" 2>&1 &&
  ADAPTER_FLAGS="$sanitized -Wl,-z,undefs" sh bench/adapters/onnxruntime/build.sh "$cxx" "$build/sanitized/libattend.a" "$build/sanitized/plugin.so" >>"$build/sanitized.log" 2>&1; then
  nothing_in "$(nm "$build/sanitized/libattend.a" | grep -q ' U __asan_report_load' || echo "its objects call no sanitizer")" \
    "the library is instrumented"
  LD_PRELOAD="$($cxx -print-file-name=libasan.so) $($cxx -print-file-name=libubsan.so)"
  export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
  runs "forms of nodes under AddressSanitizer" nodes "$ORT_LIBRARY" --plugin "$(absolute "$build/sanitized/plugin.so")"
  runs "attention that is spelled out under AddressSanitizer" chains "$ORT_LIBRARY" --plugin "$(absolute "$build/sanitized/plugin.so")"
  runs "wrong models under AddressSanitizer" hostile "$ORT_LIBRARY" --plugin "$(absolute "$build/sanitized/plugin.so")"
  unset LD_PRELOAD
else
  fail "the plugin compiles with AddressSanitizer" "$(first_error "$build/sanitized.log")"
fi

if [ "${SHIPPED:-}" = 1 ]; then
  runs "forms of nodes as shipped beside float64" nodes "$ORT_LIBRARY"
  runs "published cases as shipped" published "$ORT_LIBRARY"
fi
finish
