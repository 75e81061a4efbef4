#!/bin/sh
# Times ONNX Runtime on the shapes of a benchmark run and adds its lines to the run's: bench/onnxruntime.sh build/bench.tsv
command -v node >/dev/null && command -v npm >/dev/null || {
  echo "bench: node was not found, ONNX Runtime is left out; to compare with it, install it (Debian: apt-get install nodejs npm)" >&2
  exit 0
}
folder=build/onnxruntime
if ! [ -d "$folder/node_modules/onnxruntime-node" ]; then
  mkdir -p "$folder"
  # Its scripts would fetch code for graphics cards.
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent onnxruntime-node >&2 || {
    echo "bench: npm could not install onnxruntime-node; ONNX Runtime is left out" >&2
    exit 0
  }
fi
NODE_PATH="$folder/node_modules" node bench/onnxruntime.js "$1"
