#!/bin/sh
# What changes bits in ONNX Runtime, as shipped and with the plugin: tests/adapters/onnxruntime/invariance.sh CXX BUILD_DIR
#
# Lines of four fields with tabs between: the runtime, what changes, as shipped, with the plugin. Times are those of an encoder of 6 layers of 384,
# batches of 1 and 8 texts of 128 tokens, the less favourable ratio of medians.
cxx=$1
library=$2/libattend.a
build=$2/adapters/onnxruntime
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/onnxruntime/setup.sh
mkdir -p "$build" || exit 1
set_up >&2 || exit 1
set_up_arm64 >&2 || echo "onnxruntime: no AArch64 here" >&2
# shellcheck disable=SC2154
"$python" $programs/invariance.py
status=$?
rm -rf "$ORT_WORK"
exit $status
