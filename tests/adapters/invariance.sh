#!/bin/sh
# What changes the bits of a runtime, as it is shipped and with the library inside: tests/adapters/invariance.sh CXX BUILD_DIR
#
# Each adapter's invariance.sh prints lines of four fields, separated by tabs: runtime, what changes, as shipped, with Attend. They go to
# build/invariance.tsv, and as a table to standard output. ADAPTERS: some of them. `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2
mkdir -p "$build/adapters"
: >build/invariance.tsv
for adapter in ${ADAPTERS:-onnxruntime ggml tflite pytorch}; do
  sh "tests/adapters/$adapter/invariance.sh" "$cxx" "$build" >"$build/adapters/$adapter.tsv" 2>"$build/adapters/$adapter.log" ||
    { echo "$adapter is left out: $(tail -n 1 "$build/adapters/$adapter.log")" >&2 && continue; }
  cat "$build/adapters/$adapter.tsv" >>build/invariance.tsv
done
[ -s build/invariance.tsv ] || exit 1

# Columns as wide as their widest field.
awk -F '\t' '
  { for (f = 1; f <= 4; ++f) { field[NR, f] = $f; if (length($f) > width[f]) width[f] = length($f) } }
  END {
    heading[1] = "runtime"; heading[2] = "what changes"; heading[3] = "as shipped"; heading[4] = "with Attend"
    for (f = 1; f <= 4; ++f) if (length(heading[f]) > width[f]) width[f] = length(heading[f])
    line(heading[1], heading[2], heading[3], heading[4])
    printf "|"; for (f = 1; f <= 4; ++f) printf " --- |"; printf "\n"
    for (n = 1; n <= NR; ++n) line(n > 1 && field[n, 1] == field[n - 1, 1] ? "" : field[n, 1], field[n, 2], field[n, 3], field[n, 4])
  }
  function line(a, b, c, d) { printf "| %-*s | %-*s | %-*s | %-*s |\n", width[1], a, width[2], b, width[3], c, width[4], d }
' build/invariance.tsv
