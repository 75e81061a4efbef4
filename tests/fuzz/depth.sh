#!/bin/sh
# Small problems, saved states and files by the million, without libFuzzer and its coverage: tests/fuzz/depth.sh CXX BUILD_DIR
#
# TARGETS= some of those below, FUZZ_RUNS= executions of each (10,000,000; of attention ten times as many), FUZZ_SECONDS= at most, SEED= (1).
# As many targets as there are processors run at a time. An execution is one input through the target's check. How many there were is
# left in build/fuzz/TARGET.SEED.json, which `make evidence` adds up, and what failed in TARGET.SEED.log and TARGET.SEED.json.input.
#
# `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2
. tests/support/check.sh
build=$2/fuzz_depth
mkdir -p "$build" build/fuzz || exit 1
# What ran with other files counts no more.
files=$(sh tests/support/files.sh)
[ "$(cat build/fuzz/files 2>/dev/null)" = "$files" ] || rm -f build/fuzz/*.json*
echo "$files" >build/fuzz/files
targets=${TARGETS:-attention integers layers states c_surface gguf household safetensors onnx}
flags='-std=c++17 -O3 -g1 -ffp-contract=off -Iinclude -DATTEND_FUZZ_SMALL'
# The definitions call fma, which is an instruction then.
$cxx -march=native -E -x c++ /dev/null >/dev/null 2>&1 && flags="$flags -march=native"

# program TARGET: makes $build/TARGET.
program() {
  sources=tests/fuzz/many.cpp
  case $1 in
    attention) sources="$sources tests/fuzz/fuzz_backends.cpp" ;;
    gguf | household) sources="$sources tests/fuzz/fuzz_files.cpp $(ls bench/app/*.cpp | grep -vE '/(run|file_bytes)[.]cpp$')" ;;
    *) sources="$sources tests/fuzz/fuzz_$1.cpp" ;;
  esac
  # shellcheck disable=SC2086
  compile_all "$build/$1.objects" "$sources" $flags "-DATTEND_FUZZ_READER=load_$1" && $cxx "$build/$1.objects"/*.o "$2/libattend.a" -o "$build/$1"
}

# run TARGET: one line, of which the first word is ok or FAIL.
run() {
  runs=${FUZZ_RUNS:-10000000} seconds=${FUZZ_SECONDS:-1000000000} kept=build/fuzz/$1.${SEED:-1}
  [ "$1" != attention ] || runs=${runs}0
  rm -f "$kept.json.input"
  # Problems are drawn, but calls of C and files begin with those that were kept, or few would reach far.
  files=
  case $1 in
    c_surface | gguf | household | safetensors | onnx) kept_inputs "$1" "$build/corpus/$1" && files=$(ls "$build/corpus/$1"/*) ;;
  esac
  # shellcheck disable=SC2086
  case $1 in
    safetensors | onnx) "${PYTHON:-python3}" -W ignore tests/fuzz/fuzz_exporter.py "$1" "$runs" "$seconds" "${SEED:-1}" "$kept.json" $files ;;
    *) "$build/$1" "$runs" "$seconds" "${SEED:-1}" "$kept.json" $files ;;
  esac >"$kept.log" 2>&1 && echo "ok   $1: $(tr -d '{}"\n' <"$kept.json"); $(sed -n 's/^fuzz: //p' "$kept.log")" && return
  echo "FAIL $1: $(grep -m 1 -E '^found|^line|Error' "$kept.log" || tail -n 1 "$kept.log"); see $kept.*"
}

if [ "${3:-}" = run ]; then run "$4"; exit; fi
ready=
for target in $targets; do
  case $target in
    safetensors | onnx) needs_python numpy,onnx 'python3-numpy python3-onnx' && export PYTHON="$python" ;;
    *) succeeds "$target compiles" program "$target" "$2" ;;
  esac && ready="$ready $target"
done
# shellcheck disable=SC2086
printf '%s\n' $ready | xargs -P "$(nproc 2>/dev/null || echo 2)" -n 1 sh "$0" "$cxx" "$2" run | tee "$build/said"
[ "$failed" -eq 0 ] && ! grep -q ^FAIL "$build/said"
