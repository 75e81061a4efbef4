#!/bin/sh
# Times of linear attention and its convolution, as shipped and with the plugin: tests/adapters/onnxruntime/linear_timing.sh CXX BUILD_DIR
#
# A table in Markdown, which becomes part of the adapter's page; with AVX-512, and where the processor allows that without it.
cxx=$1
library=$2/libattend.a
build=$2/adapters/onnxruntime
. tests/support/check.sh
. tests/support/page_part.sh
. tests/adapters/support.sh
. tests/adapters/onnxruntime/setup.sh
mkdir -p "$build" || exit 1
set_up >&2 || exit 1
without=
# shellcheck disable=SC2154,SC2086
if grep -q avx512f /proc/cpuinfo && $cxx $strict_c -fPIC -shared $programs/without_avx512.c -o "$build/without_avx512.so" >&2 && env LD_PRELOAD="$build/without_avx512.so" true; then
  without=$build/without_avx512.so
fi
{
  "$python" $programs/linear_timing.py ${without:+--without "$(absolute "$without")"} || failed=1
  echo
  echo "ONNX Runtime $(sed -n 's/.*"version": "\([^"]*\)".*/\1/p' build/onnxruntime/node_modules/onnxruntime-node/package.json | head -n 1)," \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)."
} >"$build/linear.md"
cat "$build/linear.md"
[ "$failed" -ne 0 ] || replace_part bench/adapters/onnxruntime/README.md "make linear-nodes" "$build/linear.md"
[ "$failed" -eq 0 ]
