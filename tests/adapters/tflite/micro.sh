# TFLite Micro's operators, here and on emulated boards: sourced by check.sh, which has set $cxx, $build and $library.
# shellcheck shell=sh disable=SC2154

# Their headers, as a firmware has them, are the declarations of the tests.
micro_headers() {
  mkdir -p "$build/micro/tensorflow/lite/c" "$build/micro/tensorflow/lite/micro"
  for header in c/common.h micro/micro_common.h micro/micro_context.h; do
    echo "#include \"$(pwd)/tests/adapters/tflite/micro_shim.h\"" >"$build/micro/tensorflow/lite/$header"
  done
}
micro_sources='tests/adapters/tflite/micro_main.cpp bench/adapters/tflite/attend_tflm.cpp'

# on_board BOARD: the program's digests are those of this machine. Its lines about the arena go into the name of the case.
on_board() {
  board=$1
  folder=$build/$1
  boards_compiler=$(sh bench/boards/board.sh compiler "$board")
  if ! command -v "$boards_compiler" >/dev/null || ! command -v qemu-system-arm >/dev/null; then
    missing "TFLite Micro on $board" "apt-get install gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm"
    return
  fi
  if ! objects=$(sh bench/boards/board.sh library "$board" "$folder" 2>"$build/$board.log"); then
    fail "TFLite Micro on $board: the library" "$(first_error "$build/$board.log")"
    return
  fi
  mkdir -p "$folder"
  for source in $micro_sources; do
    object=$folder/$(basename "$source" .cpp).o
    # shellcheck disable=SC2046,SC2086
    succeeds "TFLite Micro on $board: $(basename "$source") compiles" $boards_compiler $(sh bench/boards/board.sh flags "$board") -Os -std=c++17 \
      -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections -Wall -Wextra -Iinclude -I. -isystem "$build/micro" -c "$source" -o "$object" || return
    objects="$objects $object"
  done
  # shellcheck disable=SC2086
  succeeds "TFLite Micro on $board: links without heap, C library and libm" sh bench/boards/board.sh link "$board" "$folder/image" $objects || return
  if ! sh bench/boards/board.sh run "$board" "$folder/image" >"$folder/output" 2>&1; then
    fail "TFLite Micro on $board: runs" "$(tail -n 2 "$folder/output" | tr '\n' ' ')"
    return
  fi
  grep -v '^arena' "$folder/output" >"$folder/digests"
  nothing_in "$(diff "$build/micro.digests" "$folder/digests" | head -n 4)" \
    "TFLite Micro on $board: this machine's digests; arena: $(sed -n 's/^arena \(.*words\|.*cache\) \([0-9]* persistent [0-9]* scratch\)$/\1 \2/p' "$folder/output" | tr '\n' ';' | sed 's/;$//; s/;/, /g')"
}

check_micro() {
  micro_headers
  # shellcheck disable=SC2086
  succeeds "TFLite Micro's operators compile without a warning" $cxx $strict -O1 -fno-exceptions -fno-rtti -fsanitize=address -Iinclude -I. -isystem "$build/micro" \
    $micro_sources tests/boards/hosted.cpp "$library" -o "$build/micro_host" || return
  succeeds "TFLite Micro's operators run here, with ASan, and are the library's bits" "$build/micro_host" || return
  grep -v '^arena' "$build/log" >"$build/micro.digests"
  boards='cortex-m0plus'
  [ -z "${ALL:-}" ] || boards='cortex-m0plus cortex-m4 cortex-m55'
  for board in $boards; do on_board "$board"; done
}
