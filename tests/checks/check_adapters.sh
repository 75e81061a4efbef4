#!/bin/sh
# The library inside of runtimes, each in the runtime itself, and what adapters share, `common`: tests/checks/check_adapters.sh CXX BUILD_DIR
#
# ADAPTERS: some of them. ALL=1: every problem and processor. Runtimes are fetched from npm into build/; what is not to be had is said, and
# is a failure where CI=true. `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2/check_adapters
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

for adapter in ${ADAPTERS:-common onnxruntime ggml tflite pytorch executorch}; do
  [ -f "tests/adapters/$adapter/check.sh" ] || { fail "$adapter" "tests/adapters/$adapter/check.sh is not there" && continue; }
  sh "tests/adapters/$adapter/check.sh" "$cxx" "$2" >"$build/$adapter.log" 2>&1
  sed "s/^[0-9]* passed, [0-9]* failed\$/== $adapter: &/" "$build/$adapter.log"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$build/$adapter.log" | tail -n 1)
  if [ -z "$counts" ]; then fail "$adapter" "its tests died"; continue; fi
  passed=$((passed + ${counts%% *})) counts=${counts#*, } failed=$((failed + ${counts%% *}))
done
finish
