#!/bin/sh
# What changes bits in TensorFlow Lite, as shipped and with the library: tests/adapters/tflite/invariance.sh CXX BUILD_DIR
#
# Lines of runtime, what changes, as shipped, with Attend, with tabs between them. `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2/adapters/tflite_invariance
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/tflite/adapter.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
{
  fetched tflite "$package" "TensorFlow Lite" && needs_python numpy python3-numpy &&
    adapter "$cxx" "$2/libattend.a" linux_amd64 "$build/host" -O2 || exit 1
  arm_command=''
  if arm64_library && adapter $arm "$arm_library" linux_arm64 "$build/arm" -O2; then
    arm64_root
    arm_command="qemu-aarch64 -L $(pwd)/$arm_root $(pwd)/$build/arm/host"
  fi
} >&2
# shellcheck disable=SC2086
"$python" tests/adapters/tflite/invariance.py "$build" "$(pwd)/$build/host/host" $arm_command
