# Building the adapter of TensorFlow Lite and the program that runs models in it: sourced by check.sh and invariance.sh.
# shellcheck shell=sh disable=SC2154
package=build/tflite/node_modules/tfjs-tflite-node/cc_deps
strict='-std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
sources='bench/adapters/tflite/operators.cpp bench/adapters/tflite/cache_operators.cpp bench/adapters/tflite/delegate.cpp bench/adapters/tflite/chain.cpp
  bench/adapters/tflite/graph.cpp'

# adapter COMPILER LIBRARY RUNTIME FOLDER FLAGS…: FOLDER/libattend_tflite.so, and FOLDER/host. RUNTIME: linux_amd64 or linux_arm64.
adapter() {
  compiler=$1 attend=$2 runtime=$(pwd)/$package/$3 folder=$4
  shift 4
  mkdir -p "$folder"
  # shellcheck disable=SC2086
  one_unit $sources | $compiler $strict "$@" -fPIC -shared -fvisibility=hidden -Iinclude -I. -isystem $package/include -x c++ - -x none "$attend" -pthread \
    -Wl,-soname,libattend_tflite.so -Wl,--exclude-libs,ALL -o "$folder/libattend_tflite.so" &&
    $compiler $strict "$@" -Iinclude -I. -isystem $package/include tests/adapters/tflite/host.cpp "$folder/libattend_tflite.so" "$runtime/libtensorflowlite_c.so" \
      -Wl,-rpath,"\$ORIGIN:$runtime" -o "$folder/host"
}
