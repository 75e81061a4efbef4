#!/bin/sh
# Fuzzing by libFuzzer, with sanitizers: tests/scripts/check_fuzz.sh CXX BUILD_DIR
#
# Every backend of this machine against scalar code, the definition and the float64 oracle, for FUZZ_SECONDS, a minute unless it is
# given; integers beside their model, for a third of that; then calls of the C surface, most of them malformed, projections in
# integers among them; layers, saved states, and files of the application. What earlier runs kept lies in tests/fuzz/corpus: a few
# inputs that reach what others do not, and all that once found something.
#
# `make lib` has made BUILD_DIR/src/*/*.o.
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

# Sanitizers watch scalar code, what is common to all, and the fuzzers; the vector backends are the library's. They take minutes to
# compile with sanitizers, which is done for the unit tests as a whole.
backends=$(ls "$objects"/*/*.o | grep -E '/(layers_|linear_)?(avx|sse)[0-9a-z]*[.]o$')
sources=$(ls src/*/*.cpp | grep -vE '/(layers_|linear_)?(avx|sse)[0-9a-z]*[.]cpp$')
watched="-std=c++17 -O2 -g1 -ffp-contract=off -fno-sanitize-recover=all -Iinclude -fsanitize=fuzzer-no-link,$sanitizers"

# fuzz FUZZER FLAGS…: links and runs it; true when it found nothing. What it says of itself is in $said then. $defined and $others: its
# own flags, and more sources.
defined='' others=''
fuzz() {
  fuzzer=$1 kept=${corpus:-${1#fuzz_}}
  shift
  inputs=$build/corpus/$kept
  kept_inputs "$kept" "$inputs"
  # shellcheck disable=SC2086
  succeeds "$fuzzer $defined: compiles" compile_all "$build/$fuzzer" "tests/fuzz/$fuzzer.cpp $others" $watched $defined &&
    succeeds "$fuzzer: links" $cxx -fsanitize=fuzzer,$sanitizers "$build/library"/*.o "$build/$fuzzer"/*.o $backends -o "$build/fuzz" ||
    return
  "$build/fuzz" -seed=1 -len_control=0 -artifact_prefix="$build/" "$inputs" "$@" >"$build/log" 2>&1
  result=$?
  said=$(sed -n 's/^fuzz: //p' "$build/log")
  [ $result -eq 0 ] && [ -n "$said" ] && return
  fail "$fuzzer" "exit status $result, $said: $(grep -m 1 -E '^found|^line|ERROR|runtime error' "$build/log")"
  false
}

# A fuzzer that met few problems, not every option, or only ever one kind of call would prove nothing.
# shellcheck disable=SC2086
if succeeds "the library compiles with sanitizers" compile_all "$build/library" "$sources" $watched; then
  if fuzz fuzz_backends -max_total_time="$seconds" -max_len=400; then
    nothing_in "$(echo "$said" | awk -v least="$seconds" '$1 < least { print "only", $1, "problems" }
      !/, every option$/ { print "not every option" }')" "fuzz_backends, $seconds seconds: $said"
  fi
  # A count, with which it takes a third of that time: on a busy machine a time would be too short for every kind.
  if fuzz fuzz_integers -runs=$((seconds * 40)) -max_len=400; then
    nothing_in "$(echo "$said" | awk -v least="$seconds" '$1 < least { print "only", $1, "problems" }
      !/, every kind$/ { print "not every kind" }')" "fuzz_integers: $said"
  fi
  if fuzz fuzz_c_surface -runs=10000 -max_len=300; then
    nothing_in "$(echo "$said" | awk '$1 < 1000 || $5 < 100 || $9 < 1000 || $12 < 1000 || $14 < 30 || $17 < 100 || $19 < 1000 || $22 < 1000 || $24 < 500 || $27 < 1000')" "fuzz_c_surface, 10,000 inputs: $said"
  fi
  defined=-DATTEND_FUZZ_SMALL
  for each in fuzz_backends fuzz_integers; do
    fuzz $each -runs=30000 -max_len=64 && nothing_in "$(echo "$said" | awk '$1 < 30000')" "$each, small problems: $said"
  done
  fuzz fuzz_layers -runs=100000 -max_len=64 && nothing_in "$(echo "$said" | awk '$1 * $3 * $6 * $8 == 0')" "fuzz_layers: $said"
  fuzz fuzz_states -runs=100000 -max_len=64 && nothing_in "$(echo "$said" | awk '$1 < 1000 || $4 < 1000')" "fuzz_states: $said"
  others=$(ls bench/app/*.cpp | grep -vE '/(run|file_bytes)[.]cpp$')
  for corpus in gguf household; do
    defined=-DATTEND_FUZZ_READER=load_$corpus
    fuzz fuzz_files -runs=100000 -max_len=8000 && nothing_in "$(echo "$said" | awk '$1 < 1000 || $3 < 1 || $7 < 1000')" "fuzz_files, $corpus: $said"
  done
fi

finish
