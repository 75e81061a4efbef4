#!/bin/sh
# Times of attention as exporters spell it out, and of an encoder, as shipped and with the plugin: tests/adapters/onnxruntime/spellings.sh CXX BUILD_DIR [OPTION…]
#
# Tables in Markdown, which become part of the adapter's page too; on a processor with AVX-512 one with it, and one without it, where the processor allows that.
# OPTION: those of spellings.py; then the page stays as it is.
cxx=$1
library=$2/libattend.a
build=$2/adapters/onnxruntime
page=bench/adapters/onnxruntime/README.md
shift 2
. tests/support/check.sh
. tests/support/page_part.sh
. tests/adapters/support.sh
. tests/adapters/onnxruntime/setup.sh
mkdir -p "$build" || exit 1
set_up >&2 || exit 1

# measured WHAT COMMAND…: two tables, by a command that runs the programs.
measured() {
  what=$1
  shift
  # shellcheck disable=SC2154,SC2086
  "$@" "$python" $programs/spellings.py "$ORT_LIBRARY" --plugin "$ORT_PLUGIN" --what "$what" $options || failed=1
  [ -n "$options" ] || { echo && "$@" "$python" $programs/timing.py --what "$what" || failed=1; }
}
options=$*
{
  if grep -q avx512f /proc/cpuinfo; then
    measured "with AVX-512" env
    echo
    # shellcheck disable=SC2086
    if $cxx $strict_c -fPIC -shared $programs/without_avx512.c -o "$build/without_avx512.so" >&2 && env LD_PRELOAD="$build/without_avx512.so" true; then
      measured "AVX-512 hidden from both" env LD_PRELOAD="$build/without_avx512.so"
      echo
    fi
  else
    measured "with AVX2" env
    echo
  fi
  echo "ONNX Runtime $(sed -n 's/.*"version": "\([^"]*\)".*/\1/p' build/onnxruntime/node_modules/onnxruntime-node/package.json | head -n 1)," \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors."
} >"$build/spellings.md"
cat "$build/spellings.md"
[ -n "$options" ] || replace_part $page "make spellings" "$build/spellings.md"
[ "$failed" -eq 0 ]
