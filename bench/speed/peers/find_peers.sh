#!/bin/sh
# Writes which libraries can be timed beside ours, as lines for make: bench/speed/peers/find_peers.sh CXX FILE
# The file changes only with what it says, so that nothing is compiled anew without need.
cxx=$1
file=$2
lines=$(mktemp)
program=$(mktemp)
trap 'rm -f "$lines" "$program"' EXIT
exec >"$lines"
missing() { echo "bench: $1 was not found and is left out; to compare with it, install it (Debian: apt-get install $2)" >&2; }

eigen=
for folder in /usr/include/eigen3 /usr/local/include/eigen3 /opt/homebrew/include/eigen3; do
  [ -n "$eigen" ] || ! [ -f "$folder/Eigen/Core" ] || eigen="-isystem $folder"
done
if [ -n "$eigen" ]; then echo "HAVE_eigen := $eigen"; else missing Eigen libeigen3-dev; fi

# OpenBLAS that does not know a processor falls back to code for very old ones; then it is told what the processor can.
if echo '#include <cblas.h>
#include <stdio.h>
int main() { puts(openblas_get_corename()); }' | $cxx -std=c++17 -x c++ - -o "$program" -lopenblas >/dev/null 2>&1; then
  echo "HAVE_openblas := -lopenblas"
  case $("$program") in
    Prescott | Core2 | Nehalem | Generic)
      if grep -q avx512bw /proc/cpuinfo 2>/dev/null; then
        echo "OPENBLAS_CORETYPE ?= SkylakeX"
      elif grep -q avx2 /proc/cpuinfo 2>/dev/null; then
        echo "OPENBLAS_CORETYPE ?= Haswell"
      fi ;;
  esac
else
  missing OpenBLAS libopenblas-dev
fi

# Compiled libraries of ggml are loaded when a benchmark runs; an architecture that they are not for has no such folder.
ggml=$(pwd)/build/ggml/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
if [ -n "$GGML_LIBRARIES" ] || [ -d "$ggml" ]; then
  echo "GGML_LIBRARIES ?= $ggml"
else
  echo "bench: ggml was not found and is left out; to compare with it, run make peers" >&2
fi
cmp -s "$lines" "$file" || cp "$lines" "$file"
