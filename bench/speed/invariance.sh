#!/bin/sh
# What changes the bits of a runtime, as it is shipped and with the library inside: bench/speed/invariance.sh CXX BUILD_DIR
#
# Each adapter's invariance.sh prints lines of four fields, separated by tabs: runtime, what changes, as shipped, with Attend. They go to
# build/invariance.tsv, as a table to standard output, and as tables to bench/speed/results/invariance.md. ADAPTERS: some of them; then, or
# where a runtime is missing, that page stays as it is. `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2
page=bench/speed/results/invariance.md
table=bench/speed/invariance_table.awk
. tests/support/check.sh
. tests/support/page_part.sh
mkdir -p "$build/adapters"
: >build/invariance.tsv
complete=yes
[ -z "${ADAPTERS:-}" ] || complete=no
for adapter in ${ADAPTERS:-onnxruntime ggml tflite pytorch}; do
  sh "tests/adapters/$adapter/invariance.sh" "$cxx" "$build" >"$build/adapters/$adapter.tsv" 2>"$build/adapters/$adapter.log" || {
    echo "$adapter is left out: $(tail -n 1 "$build/adapters/$adapter.log")" >&2
    complete=no
    continue
  }
  cat "$build/adapters/$adapter.tsv" >>build/invariance.tsv
done
[ -s build/invariance.tsv ] || exit 1

awk -v kind=text -f $table build/invariance.tsv
if [ $complete = no ]; then
  echo "$page stays as it is, because not all runtimes were measured"
  exit
fi
version() { sed -n 's/.*"version": "\([^"]*\)".*/\1/p' "build/$1/package.json" | head -n 1; }
{
  awk -v kind=markdown -f $table build/invariance.tsv
  echo
  echo "ONNX Runtime $(version onnxruntime/node_modules/onnxruntime-node), ggml of node-llama-cpp $(version ggml/node_modules/@node-llama-cpp/linux-x64)," \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors."
} >"$build/adapters/invariance.md"
replace_part $page "make invariance" "$build/adapters/invariance.md"
[ "$failed" -eq 0 ]
