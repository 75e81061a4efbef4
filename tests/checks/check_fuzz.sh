#!/bin/sh
# Differential fuzzing: every backend of this machine against scalar code, the definition and the float64 oracle, on problems that
# libFuzzer makes: tests/checks/check_fuzz.sh CXX BUILD_DIR. For FUZZ_SECONDS, a minute unless it is given.
#
# `make lib` has made BUILD_DIR/src/*.o.
cxx=$1
objects=$2/src
build=$2/check_fuzz
seconds=${FUZZ_SECONDS:-60}
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

if ! $cxx -dM -E -x c++ /dev/null | grep -q '__clang__'; then
  skip "fuzzing of backends" "only Clang has libFuzzer"
  finish
  exit
fi
sanitizers=address,undefined
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, decltype(sizeof 0)) { return 0; }' |
  $cxx -fsanitize=fuzzer,$sanitizers -x c++ - -o "$build/probe" 2>/dev/null; then
  skip "fuzzing of backends" "$cxx has no run-time for -fsanitize=fuzzer,$sanitizers"
  finish
  exit
fi

# As in check_c.sh, sanitizers watch scalar code, what is common to all, and the fuzzer; the vector backends are the library's.
vectors='_\(avx\|neon\|helium\|rvv\)'
sources=$(printf '%s\n' src/*.cpp | grep -v "$vectors")
# shellcheck disable=SC2046,SC2086
if succeeds "fuzz_backends.cpp compiles" compile_all "$build/fuzzed" "$sources tests/fuzz/fuzz_backends.cpp" \
  -std=c++17 -O2 -g1 -ffp-contract=off -fno-sanitize-recover=all -Iinclude -fsanitize=fuzzer-no-link,$sanitizers &&
  succeeds "it links" $cxx -fsanitize=fuzzer,$sanitizers "$build"/fuzzed/*.o $(printf '%s\n' "$objects"/*.o | grep "$vectors") \
    -o "$build/fuzz"; then
  "$build/fuzz" -max_total_time="$seconds" -seed=1 -max_len=400 -len_control=0 -artifact_prefix="$build/" >"$build/log" 2>&1
  result=$?
  said=$(sed -n 's/^fuzz: //p' "$build/log")
  case $result-$said in
    # A fuzzer that met few problems, or not every option, would prove nothing.
    0-*', every option')
      nothing_in "$(echo "$said" | awk -v least="$seconds" '$1 < least { print "only", $1, "problems" }')" "in $seconds seconds: $said"
      ;;
    *) fail "in $seconds seconds" "exit status $result, $said: $(grep -m 1 -E '^found|ERROR|runtime error' "$build/log")" ;;
  esac
fi

finish
