#!/bin/sh
# Fetches peers and runtimes that are no packages of the distribution from npm, in the version whose functions are declared here, each into
# a folder of build/: bench/speed/peers/fetch.sh PEER…
command -v npm >/dev/null || {
  echo "bench: npm was not found, $* cannot be fetched; install it (Debian: apt-get install nodejs npm)" >&2
  exit 0
}
for peer in "$@"; do
  case $peer in
    onnxruntime) package=onnxruntime-node version=1.30.0 ;;
    # The compiled libraries, for each kind of processor; llama.cpp v0.5.0.
    ggml) package=@node-llama-cpp/linux-x64 version=3.22.1 ;;
    ggml-arm64) package=@node-llama-cpp/linux-arm64 version=3.22.1 ;;
    node-llama) package=node-llama-cpp version=3.22.1 ;;
    tflite) package=tfjs-tflite-node version=0.0.2 ;;
    executorch) package=react-native-executorch version=0.9.3 ;;
    *) echo "bench: there is no peer named $peer to fetch" >&2 && exit 2 ;;
  esac
  folder=build/$peer
  [ ! -d "$folder/node_modules/$package" ] || continue
  mkdir -p "$folder"
  # Scripts of packages would fetch code for graphics cards; libraries of other processors and packages that these come with are not needed.
  npm install --prefix "$folder" --ignore-scripts --force --omit=peer --omit=optional --no-audit --no-fund --silent "$package@$version" >&2 ||
    echo "bench: npm could not install $package; $peer is left out" >&2
done
