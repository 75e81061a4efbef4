#!/bin/sh
# The adapter for PyTorch in PyTorch itself: tests/adapters/pytorch/check.sh CXX BUILD_DIR
#
# Random problems beside float64, bits by threads, batch, padding and chunks, modules, refusals. ALL=1: ten times as many, whole models, every
# backend, with the optimisation that is installed, and AddressSanitizer.
cxx=$1
build=$2/adapters/pytorch
. tests/support/check.sh
. tests/adapters/support.sh
mkdir -p "$build"
export PYTHONDONTWRITEBYTECODE=1
export OMP_WAIT_POLICY=passive # threads that wait for each other sleep: others have the processors

# tests FOLDER TEST…: run.py with the adapter that was built in FOLDER; what it prints goes to FOLDER/tests.log.
tests() {
  folder=$1
  shift
  PYTHONPATH=$folder:tests/adapters/pytorch:tests/support "$python" -W ignore tests/adapters/pytorch/run.py "$@" >"$folder/tests.log" 2>&1
}

needs_python torch,numpy python3-torch || { finish && exit; }
# What is compiled for a few runs is not optimised: all levels have the same bits.
[ "${ALL:-}" = 1 ] || export ADAPTER_FLAGS=-O0
if ! CXX=$cxx sh bench/adapters/pytorch/build.sh "$build" "$python" "$2/libattend.a" >"$build/build.log" 2>&1; then
  if grep -q 'torch/library.h: No such file' "$build/build.log"; then missing "PyTorch's headers" "apt-get install libtorch-dev"
  else fail 'the operators compile' "$(first_error "$build/build.log")"; fi
  finish
  exit
fi
ok 'the operators compile'

if [ "${ALL:-}" = 1 ]; then times=10 models=full; else times=1 models=small; fi
tests "$build" problems:$((300 * times)) bits:$models:$((60 * times)) modules refusals:$((800 * times)) digest
status=$?
grep -E '^(ok|FAIL) ' "$build/tests.log"
passed=$((passed + $(grep -c '^ok ' "$build/tests.log"))) failed=$((failed + $(grep -c '^FAIL ' "$build/tests.log")))
digests=$(sed -n 's/^digest //p' "$build/tests.log")
[ $status = 0 ] && [ -n "$digests" ] || fail "$(sed -n 's/^begins //p' "$build/tests.log" | tail -n 1)" "it died: $(tail -n 1 "$build/tests.log")"

# digest BACKEND CAPABILITY: on the library's instruction set and on PyTorch's, by the switches of both. Above they are the fastest.
digest() {
  mkdir -p "$build/$1.$2"
  ln -sfn ../attend_torch "$build/$1.$2/attend_torch"
  (
    export ATTEND_BACKEND="$1" ATEN_CPU_CAPABILITY="$2"
    tests "$build/$1.$2" digest
  )
  sed -n 's/^digest //p' "$build/$1.$2/tests.log" | grep . || echo "none of $1 and $2"
}
digests="$digests $(digest scalar default)"
if [ "${ALL:-}" = 1 ]; then digests="$digests $(digest avx2 default) $(digest scalar avx2)"; fi
# shellcheck disable=SC2086
if [ "$(printf '%s\n' $digests | sort -u | wc -l)" = 1 ]; then ok 'models: one digest on every instruction set'; else fail 'models: one digest on every instruction set' "$digests"; fi

if [ "${ALL:-}" = 1 ]; then
  mkdir -p "$build/asan"
  if succeeds 'the operators compile with AddressSanitizer' env CXX="$cxx -fsanitize=address -g1" sh bench/adapters/pytorch/build.sh "$build/asan" "$python" "$2/libattend.a"; then
    # Both have to be the first libraries of the process: the sanitizer looks for what throws exceptions when it starts.
    if (
      LD_PRELOAD="$($cxx -print-file-name=libasan.so) $($cxx -print-file-name=libstdc++.so)"
      export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0
      tests "$build/asan" refusals:4000
    ) && ! grep '^FAIL ' "$build/asan/tests.log"; then
      ok 'any arguments under AddressSanitizer'
    else
      fail 'any arguments under AddressSanitizer' "$(grep -m 1 -E 'ERROR|Error|FAIL|CHECK' "$build/asan/tests.log" || tail -n 1 "$build/asan/tests.log")"
    fi
  fi
fi
finish
