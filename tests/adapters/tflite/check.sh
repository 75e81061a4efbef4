#!/bin/sh
# The adapter in TensorFlow Lite itself, and that of TFLite Micro on emulated boards: tests/adapters/tflite/check.sh CXX BUILD_DIR
#
# Problems at random, beside float64 and beside each other: with any backend and number of threads, and on AArch64. ALL=1: four times as many,
# UndefinedBehaviorSanitizer, all boards, the optimisation that is installed, and each source by itself.
cxx=$1
build=$2/adapters/tflite
library=$2/libattend.a
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/tflite/adapter.sh
. tests/adapters/tflite/micro.sh
rm -rf "$build" && mkdir -p "$build/run" || exit 1
# Without ALL=1 every third model runs where it takes long, and every sequence.
if [ -n "${ALL:-}" ]; then
  count=400 fuzzed=2000 sanitisers=address,undefined emulated=1 level=-O2 arm_level=-O2
else
  # (AArch64's is optimised, so that products and sums could be contracted there, which must not happen.)
  count=100 fuzzed=300 sanitisers=address emulated=3 level=-O0 arm_level='-O1 -fexpensive-optimizations'
fi

if ! fetched tflite "$package" "TensorFlow Lite" || ! needs_python numpy python3-numpy; then
  check_micro
  finish
  exit
fi

# sanitised: both in one program with ASan, and with ALL=1 UBSan; the library and the runtime are as they are.
sanitised() {
  # shellcheck disable=SC2086
  one_unit tests/adapters/tflite/host.cpp $sources | $cxx $strict -g1 -O0 -fsanitize=$sanitisers -fno-sanitize-recover=all -Iinclude -I. -isystem $package/include \
    -x c++ - -x none "$library" "$(pwd)/$package/linux_amd64/libtensorflowlite_c.so" -Wl,-rpath,"$(pwd)/$package/linux_amd64" -pthread -o "$build/sanitised"
}
# What is needed last is compiled beside the rest.
(sanitised >"$build/sanitised.log" 2>&1) &
sanitised=$!
arm64_library && is_arm=yes || is_arm=''
({ [ -z "$is_arm" ] || adapter "$arm" "$arm_library" linux_arm64 "$build/arm" $arm_level; } >"$build/adapter_arm.log" 2>&1) &
adapter_arm=$!
check_micro
succeeds "the adapter compiles without a warning" adapter "$cxx" "$library" linux_amd64 "$build/host" $level || { finish; exit 1; }
# shellcheck disable=SC2086
[ -z "${ALL:-}" ] || each_alone "TensorFlow Lite" "$sources" $cxx $strict -Iinclude -I. -isystem $package/include
succeeds "models are written" "$python" tests/adapters/tflite/cases.py "$build" $count
succeeds "wrong models are written" "$python" tests/adapters/tflite/refusals.py write "$build" $fuzzed

# runs FOLDER COMMAND…: the script of models; outputs are files of FOLDER.
runs() {
  mkdir -p "$build/$1"
  (cd "$build/$1" && shift && "$@") >"$build/log" 2>&1 && ! grep -q '^refused' "$build/log"
}
# judged WHAT COMMAND…: what it says is told.
judged() {
  what=$1
  shift
  if "$@" >"$build/log" 2>&1; then ok "$what: $(head -n 1 "$build/log")"; else fail "$what" "$(tr '\n' ' ' <"$build/log" | cut -c 1-1000)"; fi
}
# same_outputs WHAT FOLDER: as those of the first run.
same_outputs() {
  nothing_in "$(diff -rq "$build/run" "$build/$2" 2>&1 | head -n 4; [ -e "$build/$2/float0.out" ] || echo "there are no outputs")" "$1"
}
top=$(pwd)
host=$top/$build/host/host
if runs run "$host" ../script; then ok "models run"; else fail "models run" "$(tail -n 2 "$build/log")"; fi
judged "operators and chains are within the bound of float64, chains and sequences to the bit" "$python" tests/adapters/tflite/judge.py "$build" run
# What the delegate leaves alone has the runtime's bits, which threads and processors change.
rm -f "$build"/run/left_*
awk '$1 == "model" { take = $2 !~ "/left_" } take' "$build/script" >"$build/script.taken"
for threads in 2 3 4; do
  sed "s/threads=1/threads=$threads/" "$build/script.taken" >"$build/script.$threads"
  runs threads$threads "$host" ../script.$threads
  same_outputs "the same bits on $threads threads" threads$threads
done
# Without vector instructions, and on AArch64.
awk -v every=$emulated '$1 == "model" { take = $2 ~ "/sequence" || count++ % every == 0 } take' "$build/script.taken" >"$build/script.some"
for output in "$build"/run/*.out; do
  grep -q " $(basename "$output")\$" "$build/script.some" || rm "$output"
done
runs scalar env ATTEND_BACKEND=scalar "$host" ../script.some
same_outputs "the same bits without vector instructions" scalar
if [ -z "$is_arm" ]; then
  missing "AArch64" "apt-get install g++-aarch64-linux-gnu qemu-user: $(tail -n 1 "$build/arm64.log" 2>/dev/null)"
elif ! wait $adapter_arm; then
  fail "AArch64: the adapter compiles" "$(first_error "$build/adapter_arm.log")"
else
  arm64_root
  runs aarch64 qemu-aarch64 -L "$top/$arm_root" "$top/$build/arm/host" ../script.some || fail "AArch64: models run" "$(tail -n 2 "$build/log")"
  same_outputs "the same bits on AArch64" aarch64
fi

# What is wrong.
if wait $sanitised; then ok "the adapter compiles with ASan"; else fail "the adapter compiles with ASan" "$(first_error "$build/sanitised.log")"; fi
runs wrong_out "$top/$build/sanitised" ../wrong/script
grep -q 'AddressSanitizer\|runtime error\|LeakSanitizer' "$build/log" && fail "wrong models under ASan" "$(grep -m 1 'Sanitizer\|runtime error' "$build/log")"
cp "$build/log" "$build/wrong/log"
judged "wrong models get the runtime's error with a sentence, and nothing crashes" "$python" tests/adapters/tflite/refusals.py judge "$build" "$build/wrong/log"
if runs sanitised_out "$top/$build/sanitised" ../script.3; then ok "models run under ASan"; else fail "models run under ASan" "$(grep -m 1 'Sanitizer\|runtime error\|refused' "$build/log")"; fi
finish
