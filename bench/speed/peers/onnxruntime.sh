#!/bin/sh
# Adds ONNX Runtime's lines to those of a benchmark run: bench/speed/peers/onnxruntime.sh build/bench.tsv BENCHMARKS
modules=build/onnxruntime/node_modules
if ! [ -d "$modules/onnxruntime-node" ]; then
  echo "bench: ONNX Runtime was not found and is left out; to compare with it, run make peers" >&2
  exit 0
fi
# The table of the others is worth having when this one fails.
NODE_PATH=$modules node bench/speed/peers/onnxruntime.js "$1" "$2" || echo "bench: ONNX Runtime is left out" >&2
