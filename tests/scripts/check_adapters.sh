#!/bin/sh
# The library inside of runtimes, each in the runtime itself, and what adapters share, `common`: tests/scripts/check_adapters.sh CXX BUILD_DIR
#
# ADAPTERS: some of them. JOBS: how many adapters are tested at a time. Runtimes are fetched from npm into build/; what is not to be had is said,
# and is a failure where CI=true. `make lib` has made BUILD_DIR/libattend.a; that of AArch64 is of the objects that targets.sh has.
#
# Adapters are compiled here as one translation unit each, with little optimisation. ALL=1 adds the optimisation that is installed, each source by
# itself, and AddressSanitizer for all; ten times the problems of PyTorch and ExecuTorch, four times those of TensorFlow Lite and its other boards,
# every form of ONNX Runtime's nodes on each processor, its decoder on AArch64, wider and deeper encoders, and all of llama.cpp's ways and models.
cxx=$1
library=$2
build=$2/check_adapters
. tests/support/check.sh
. tests/support/workers.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
# Builds here are other builds: nothing that the caller's make was told holds for them.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Says what it has taken of the processors, too, because wall time is that of two adapters side by side.
work_on() {
  if [ -f "tests/adapters/$1/check.sh" ]; then sh "tests/adapters/$1/check.sh" "$cxx" "$library"; else echo "tests/adapters/$1/check.sh is not there"; fi
  times >"$build/$1/times"
}
# The longest come first, so that no worker is left alone with one at the end.
adapters=${ADAPTERS:-onnxruntime ggml tflite executorch pytorch common}
# shellcheck disable=SC2086
share_out "${JOBS:-$(nproc 2>/dev/null || echo 2)}" "$build" $adapters

for adapter in $adapters; do
  log=$build/$adapter/log
  seconds=$(tr 'ms' '  ' <"$build/$adapter/times" | awk 'NR == 2 { printf "%.0f", 60 * ($1 + $3) + $2 + $4 }')
  sed "s/^[0-9]* passed, [0-9]* failed\$/== $adapter: &, $seconds seconds of processor time/" "$log"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  if [ -z "$counts" ]; then fail "$adapter" "its tests died: $(tail -n 1 "$log")"; continue; fi
  passed=$((passed + ${counts%% *})) counts=${counts#*, } failed=$((failed + ${counts%% *}))
done
# What programs load. Without ALL=1 it is optimised as tests need it.
level=''
[ "${ALL:-}" = 1 ] || level=" (for tests: with ALL=1, or by its page's command, it is optimised)"
for adapter in $adapters; do
  case $adapter in tflite) part=tflite/host ;; pytorch) part=pytorch/attend_torch ;; *) part=$adapter ;; esac
  for file in "$library/adapters/$part"/libattend_*.so; do
    case $file in *\* | *arm64*) ;; *) echo "== $adapter: its library is $file$level" ;; esac
  done
done
finish
