#!/bin/sh
# ONNX Runtime's package for node, in build/: bench/peers/onnxruntime.sh install
# Its lines for a benchmark run:             bench/peers/onnxruntime.sh time build/bench.tsv BENCHMARKS
folder=build/onnxruntime
package=$folder/node_modules/onnxruntime-node
command -v node >/dev/null && command -v npm >/dev/null || {
  echo "bench: node was not found, ONNX Runtime is left out; to compare with it, install it (Debian: apt-get install nodejs npm)" >&2
  exit 0
}
if [ "$1" = install ] && ! [ -d "$package" ]; then
  mkdir -p "$folder"
  # Its scripts would fetch code for graphics cards.
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent onnxruntime-node >&2 || {
    echo "bench: npm could not install onnxruntime-node; ONNX Runtime is left out" >&2
    exit 0
  }
fi
if [ "$1" = time ] && [ -d "$package" ]; then
  # The table of the others is worth having when this one fails.
  NODE_PATH="$folder/node_modules" node bench/peers/onnxruntime.js "$2" "$3" || echo "bench: ONNX Runtime is left out" >&2
fi
