# Shared by check.sh and invariance.sh, which source it after tests/adapters/support.sh: the runtime, the plugin, the small host, for this
# processor and for AArch64, as machines.py wants them in the environment. False where something is missing, which is said.
# shellcheck shell=sh disable=SC2154
package=build/onnxruntime/node_modules/onnxruntime-node/bin/napi-v6/linux
programs=tests/adapters/onnxruntime
strict_c="-x c -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Wconversion -Wshadow -Werror"

# absolute PATH: the runtime loads plugins by absolute paths only.
absolute() { case $1 in /*) echo "$1" ;; *) echo "$(pwd)/$1" ;; esac; }

set_up() {
  case $(uname -m) in
    x86_64) folder=x64 ;;
    aarch64) folder=arm64 ;;
    *) missing "ONNX Runtime" "its package has no library for $(uname -m)"; return 1 ;;
  esac
  fetched onnxruntime build/onnxruntime "ONNX Runtime" || return 1
  needs_python numpy,onnx "python3-numpy python3-onnx" || return 1
  ORT_WORK=$(absolute "$build/work") ORT_HOST=$(absolute "$build/host") ORT_LIBRARY=$(absolute "$package/$folder/libonnxruntime.so.1")
  ORT_PLUGIN=$(absolute "$build/libattend_onnxruntime.so")
  export ORT_WORK ORT_HOST ORT_LIBRARY ORT_PLUGIN
  mkdir -p "$ORT_WORK"
  # shellcheck disable=SC2086
  $cxx $strict_c $programs/host.c -ldl -o "$ORT_HOST" >"$build/host.log" 2>&1 || { fail "the small host compiles" "$(head -n 1 "$build/host.log")" && return 1; }
  sh bench/adapters/onnxruntime/build.sh "$cxx" "$library" "$ORT_PLUGIN" >"$build/plugin.log" 2>&1 ||
    { fail "the plugin compiles" "$(first_error "$build/plugin.log")" && return 1; }
}

# The same for AArch64 under qemu-aarch64. False where there is no compiler or no emulator.
set_up_arm64() {
  arm64_library || return 1
  arm64_root
  ORT_ARM_HOST=$(absolute "$build/host.arm64") ORT_ARM_LIBRARY=$(absolute "$package/arm64/libonnxruntime.so.1") ORT_ARM_ROOT=$(absolute "$arm_root")
  ORT_ARM_PLUGIN=$(absolute "$build/libattend_onnxruntime.arm64.so")
  # shellcheck disable=SC2086
  $arm $strict_c $programs/host.c -ldl -o "$ORT_ARM_HOST" >"$build/host.log" 2>&1 || return 1
  sh bench/adapters/onnxruntime/build.sh "$arm" "$arm_library" "$ORT_ARM_PLUGIN" >"$build/plugin.arm64.log" 2>&1 || return 1
  export ORT_ARM_HOST ORT_ARM_LIBRARY ORT_ARM_ROOT ORT_ARM_PLUGIN
}
