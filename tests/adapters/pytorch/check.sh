#!/bin/sh
# The adapter for PyTorch in PyTorch itself: tests/adapters/pytorch/check.sh CXX BUILD_DIR
#
# Random problems beside float64, bits by threads, batch, padding and chunks, modules, refusals. ALL=1: more of each, whole models, every
# backend, and AddressSanitizer.
cxx=$1
build=$2/adapters/pytorch
. tests/support/check.sh
. tests/adapters/support.sh
mkdir -p "$build"
export PYTHONDONTWRITEBYTECODE=1

# counted WHAT SCRIPT ARGUMENTS…: the script's own checks, and that it came to its end.
counted() {
  what=$1
  shift
  if PYTHONPATH=$build:tests/adapters/pytorch "$python" -W ignore "tests/adapters/pytorch/$@" >"$build/$what.log" 2>&1; then
    grep -E '^(ok|FAIL) ' "$build/$what.log"
    passed=$((passed + $(grep -c '^ok ' "$build/$what.log"))) failed=$((failed + $(grep -c '^FAIL ' "$build/$what.log")))
  else
    grep -E '^(ok|FAIL) ' "$build/$what.log"
    fail "$what" "it died: $(tail -n 1 "$build/$what.log")"
  fi
}

needs_python torch python3-torch || { finish && exit; }
headers=$("$python" -c 'from torch.utils import cpp_extension; print(cpp_extension.include_paths()[0])')
[ -f "$headers/torch/library.h" ] || { missing "PyTorch's headers" "apt-get install libtorch-dev"; finish && exit; }
succeeds 'the operators compile' env CXX="$cxx" sh bench/adapters/pytorch/build.sh "$build" "$python" "$2/libattend.a" || { finish; exit 1; }

if [ "${ALL:-}" = 1 ]; then times=10 models=full; else times=1 models=small; fi
counted problems problems.py $((300 * times))
counted bits bits.py $models $((60 * times))
counted modules modules.py
counted refusals refusals.py $((800 * times))

# digest BACKEND CAPABILITY: of models on the library's instruction set and on PyTorch's, by the switches of both; the fastest where they are empty.
digest() {
  env ${1:+ATTEND_BACKEND=$1} ${2:+ATEN_CPU_CAPABILITY=$2} PYTHONPATH="$build:tests/adapters/pytorch" "$python" -W ignore tests/adapters/pytorch/invariance.py digest
}
digests="$(digest '' '') $(digest scalar default)"
if [ "${ALL:-}" = 1 ]; then digests="$digests $(digest avx2 default) $(digest scalar avx2)"; fi
# shellcheck disable=SC2086
if [ "$(printf '%s\n' $digests | sort -u | wc -l)" = 1 ] && [ -n "${digests# }" ]; then ok 'models: one digest on every instruction set'; else fail 'models: one digest on every instruction set' "$digests"; fi

if [ "${ALL:-}" = 1 ]; then
  mkdir -p "$build/asan"
  if succeeds 'the operators compile with AddressSanitizer' env CXX="$cxx -fsanitize=address -g1" sh bench/adapters/pytorch/build.sh "$build/asan" "$python" "$2/libattend.a"; then
    build_of_asan=$build/asan
    # shellcheck disable=SC2086
    if ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$($cxx -print-file-name=libasan.so) PYTHONPATH=$build_of_asan:tests/adapters/pytorch "$python" -W ignore tests/adapters/pytorch/refusals.py 4000 >"$build/asan.log" 2>&1; then
      ok 'any arguments under AddressSanitizer'
    else
      fail 'any arguments under AddressSanitizer' "$(grep -m 1 -E 'ERROR|Error' "$build/asan.log" || tail -n 1 "$build/asan.log")"
    fi
  fi
fi
finish
