#!/bin/sh
# What changes the bits of llama.cpp's logits, as shipped and with the adapter: tests/adapters/ggml/invariance.sh CXX BUILD_DIR
# Prints lines of tab-separated fields (bench/speed/invariance.sh joins them); everything else goes to standard error.
cxx=$1
library=$2/libattend.a
build=$2/adapters/ggml-invariance
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/ggml/build.sh
rm -rf "$build" && mkdir -p "$build/arm64" || exit 1

plugin=$build/libattend_ggml.so
{ fetched ggml build/ggml ggml && adapter "$cxx" "$library" "$plugin" && programs "$cxx" "$build" && host_program prefill && models; } >&2 || exit 1

for with in - "$plugin"; do
  "$build/ways" $ggml_x64 libggml-cpu-haswell.so $with "$build/small.gguf" 72 8 some >"$build/shipped$([ $with = - ] || echo .attend)" 2>>"$build/errors"
done

# line WHAT SHIPPED ATTEND
line() { printf 'llama.cpp\t%s\t%s\t%s\n' "$1" "${2:--}" "${3:--}"; }
# worst FILE PATTERN: of the ways like that, one that differs, or "same".
worst() { grep -E "^$2	" "$1" | cut -f 2 | sort | head -n 1; }
both() { line "$1" "$(worst "$build/shipped" "$2")" "$(worst "$build/shipped.attend" "$2")"; }
both "threads 1 to 4" 'threads: [0-9]'
both "batch" 'batch of [^,]*'
both "prompt at once or by chunks" 'chunks of .*'
both "prompt at once or token by token" 'prompt at once or token by token'
both "reused cache" 'reused cache'
both "flash attention on or off" 'flash attention on or off'
both "neighbours in the cache" 'unified cache, .*'
both "speculation of 2 to 8 tokens" 'speculation of .*'

# other_run OUTPUT COMMAND…: how its logits differ from those of Haswell's library.
compared() {
  with=$1
  shift
  file=$build/logits$([ "$with" = - ] || echo .attend)
  [ -s "$file" ] || "$build/ways" $ggml_x64 libggml-cpu-haswell.so "$with" "$build/small.gguf" 40 8 none "$file" >/dev/null 2>>"$build/errors"
  "$@" "$build/small.gguf" 40 8 none "$file" 2>>"$build/errors" | sed -n 's/^other run	//p'
}
line "x86-64 with AVX2 or without" "$(compared - "$build/ways" $ggml_x64 libggml-cpu-sse42.so -)" \
  "$(compared "$plugin" env ATTEND_BACKEND=scalar "$build/ways" $ggml_x64 libggml-cpu-sse42.so "$plugin")"
if grep -q avx512f /proc/cpuinfo; then
  line "x86-64 AVX2 or AVX-512" "$(compared - "$build/ways" $ggml_x64 libggml-cpu-skylakex.so -)" \
    "$(compared "$plugin" "$build/ways" $ggml_x64 libggml-cpu-skylakex.so "$plugin")"
else
  line "x86-64 AVX2 or AVX-512" "not here: no AVX-512" "not here: no AVX-512"
fi
if fetched ggml-arm64 build/ggml-arm64 AArch64 >&2 && arm64_library >&2; then
  arm64_root
  { adapter "$arm" "$arm_library" "$build/arm64/libattend_ggml.so" && programs "$arm" "$build/arm64"; } >&2
  on_arm() { qemu-aarch64 -L "$arm_root" "$@"; }
  line "x86-64 or AArch64" "$(compared - on_arm "$build/arm64/ways" $ggml_arm64 libggml-cpu-armv8.2_1.so -)" \
    "$(compared "$plugin" on_arm "$build/arm64/ways" $ggml_arm64 libggml-cpu-armv8.2_1.so "$build/arm64/libattend_ggml.so")"
else
  line "x86-64 or AArch64" "not here: no emulator" "not here: no emulator"
fi

# Time of a prompt of 512 tokens, as shipped the better of flash attention on and off.
"$build/random_llama" "$build/f32.gguf" f32
time_of() { "$build/prefill" $ggml_x64 libggml-cpu-haswell.so "$1" "$build/f32.gguf" 512 "$2" 3 2>>"$build/errors"; }
for threads in 1 2; do
  printf '%s\t%s\n' "$(time_of - $threads)" "$(time_of "$plugin" $threads)" | awk -F '\t' -v what="$([ $threads = 1 ] && echo one thread || echo two threads)" \
    '{ shipped = $1 < $2 ? $1 : $2; printf "llama.cpp\ttime, %s\t1\t%.2f\n", what, $5 / shipped }'
done
