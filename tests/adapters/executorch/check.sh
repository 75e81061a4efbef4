#!/bin/sh
# Kernels for ExecuTorch, compiled against the headers that a package of it ships and called through a stub of its registry:
# tests/adapters/executorch/check.sh CXX BUILD_DIR
#
# Random problems beside float64, bits, refusals, too little memory; on x86-64, with the fastest backend and without vectors, and on AArch64 by qemu: one digest.
# ALL=1: ten times the problems, without a pool of threads, each source by itself, AddressSanitizer.
cxx=$1
build=$2/adapters/executorch
. tests/support/check.sh
. tests/adapters/support.sh
mkdir -p "$build"
package=build/executorch/node_modules/react-native-executorch
fetched executorch "$package" "ExecuTorch's headers" || { finish && exit; }
sources="bench/adapters/executorch/kernels.cpp tests/adapters/executorch/runtime.cpp $(echo tests/adapters/executorch/*_test.cpp)"
if [ "${ALL:-}" = 1 ]; then count=3000 few=300 level=-O2; else count=300 few=12 level=-O1; fi  # few: of those whose digests are compared, because emulators are slow
flags="-std=c++17 $level -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -isystem $package/third-party/include -DC10_USING_CUSTOM_GENERATED_MACROS -pthread"
pool=-DET_USE_THREADPOOL

# compiled WHAT COMPILER LIBRARY PROGRAM FLAGS…
compiled() {
  what=$1 compiler=$2 library=$3 program=$4
  shift 4
  # shellcheck disable=SC2086
  one_unit $sources >"$build/sources.cpp"
  # shellcheck disable=SC2086
  succeeds "$what compiles and links" $compiler $flags -I. "$@" -Wl,--wrap=aligned_alloc "$build/sources.cpp" "$library" -o "$build/$program"
}

# counted WHAT COMMAND…: the checks that the program prints, and its digest to $digests.
digests=''
counted() {
  what=$1
  shift
  "$@" >"$build/run.log" 2>&1
  digest=$(sed -n 's/^digest //p' "$build/run.log")
  if [ -z "$digest" ]; then fail "$what" "it died: $(grep -m 1 -E '^FAIL|ERROR' "$build/run.log" || tail -n 1 "$build/run.log")" && return; fi
  sed -nE "s/^(ok  |FAIL) /\\1 $what: /p" "$build/run.log"
  passed=$((passed + $(grep -c '^ok ' "$build/run.log"))) failed=$((failed + $(grep -c '^FAIL ' "$build/run.log")))
  digests="$digests $digest"
}

compiled 'x86-64' "$cxx" "$2/libattend.a" kernels $pool && {
  counted "$(uname -m), many" "$build/kernels" "$count"
  digests=''
  counted "$(uname -m)" "$build/kernels" "$few"
  counted "$(uname -m), scalar" env ATTEND_BACKEND=scalar "$build/kernels" "$few"
}
if arm64_library; then
  arm64_root
  compiled 'AArch64' "$arm" "$arm_library" kernels-arm64 $pool && counted 'AArch64' qemu-aarch64 -L "$arm_root" "$build/kernels-arm64" "$few"
else
  missing 'AArch64' 'apt-get install g++-aarch64-linux-gnu qemu-user'
fi
# shellcheck disable=SC2086
if [ "$(printf '%s\n' $digests | sort -u | wc -l)" = 1 ] && [ -n "$digests" ]; then ok "one digest:$digests"; else fail 'one digest' "$digests"; fi

if [ "${ALL:-}" = 1 ]; then
  # shellcheck disable=SC2086
  each_alone ExecuTorch "$sources" $cxx $flags $pool
  compiled 'without a pool of threads' "$cxx" "$2/libattend.a" kernels-alone && counted 'without a pool' "$build/kernels-alone" 300
  compiled 'with AddressSanitizer' "$cxx" "$2/libattend.a" kernels-asan $pool -g1 -fsanitize=address,undefined && counted 'AddressSanitizer' "$build/kernels-asan" 200
fi
finish
