#!/bin/sh
# Models become C++, or C, that computes what they compute, and their self-tests find the same bits on this machine's backends and on boards:
# tests/scripts/check_exporter.sh CXX BUILD_DIR
#
# ALL=1: more boards and processors, and a thousand damaged files. TORCH=1: the models of PyTorch's own exporter, in place of those of
# models.py (make exports).
cxx=$1
build=$2/check_exporter
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
export PYTHONDONTWRITEBYTECODE=1

needs_python "numpy,onnx${TORCH:+,torch}" "python3-numpy python3-onnx${TORCH:+ python3-torch}" || { finish; exit; }

make_packages() { python3 bench/packages/package.py --shared-object "$1" "$build/packages"; }
succeeds "the package is made" make_packages "$2/libattend.so" || { finish; exit; }
export PYTHONPATH="$build/packages/python:tests/exporter:tests/support"
counted "exported models" "$python" tests/exporter/check.py "$cxx" "$build/models" "$2/libattend.a" ${TORCH:+--torch} ${ALL:+--damages 1000}

# ---- As a user does it: a folder that needs nothing else.
if [ -z "${TORCH:-}" ]; then
  by_hand() {
    "$python" -m attend export "$build/models/sensor_float32.onnx" --out "$build/gesture" --weights int8 >"$build/report" &&
      make -C "$build/gesture" CXX="$cxx" FLAGS=-O0 test
  }
  succeeds "python3 -m attend export, then make test" by_hand
  grep -q 'gesture: 2 inputs, .* steps each: the same bits' "$build/log" || fail "the self-test says so" "$(tail -n 1 "$build/log")"
  nothing_in "$(ls "$build/gesture" | sort | tr '\n' ' ' | grep -v '^Makefile arduino attend build model.cpp model.h report.txt self_test.cpp $')" \
    "the folder has what the guide says"
  if [ -n "${ALL:-}" ] && command -v qemu-system-arm >/dev/null && command -v arm-none-eabi-g++ >/dev/null; then
    on_a_target() { "$python" -m attend export "$build/models/sensor_float32.onnx" --out "$build/sized" --target cortex-m4:4; }
    succeeds "python3 -m attend export --target" on_a_target
    nothing_in "$(awk '
      $1 == "step" { table = 1; if ($NF != "cortex-m4") print "no column of the board" }
      table && /^[0-9]+ / && / projection, / { steps++; gsub(",", ""); if ($NF < 100 || $NF > 10000000) print "instructions: " $0 }
      /^cortex-m4: RAM .* of 4 KB, the most at step [0-9]+, / { advised = 1 }
      / about / && /^cortex-m4 / { print "instructions were not counted" }
      END { if (!steps) print "no instructions of a projection"; if (!advised) print "no advice" }' "$build/sized/report.txt")" "instructions of each step are counted on a board"
  fi
  # In C, with the object of the same library.
  by_hand_in_c() {
    "$python" -m attend export "$build/models/sensor_float32.onnx" --out "$build/in_c" --weights int8 --surface c >"$build/report" &&
      mkdir -p "$build/in_c/build" && cp "$build/gesture/build/attend.o" "$build/in_c/build" &&
      make -C "$build/in_c" CC="$(echo "$cxx" | sed 's/clang++/clang/; s/g++/gcc/')" CXX="$cxx" FLAGS=-O0 test
  }
  succeeds "python3 -m attend export --surface c, then make test" by_hand_in_c
  grep -q 'in_c: 2 inputs, .* steps each: the same bits' "$build/log" || fail "the self-test in C says so" "$(tail -n 1 "$build/log")"
  nothing_in "$(ls "$build/in_c" "$build/in_c/arduino/in_c" | sort | tr '\n' ' ' | grep '\.cpp')" "a folder in C has no C++ but the library"
  said() { "$python" -m attend export "$@" 2>&1 | grep -v '^attend export: '; }
  nothing_in "$(said "$build/none.onnx" --out "$build/none"; said "$build/models/sensor_float32.onnx" --out "$build/none" --shape x=a
    said "$build/models/sensor_float32.onnx" --out "$build/none" --surface rust)" \
    "errors of the command are one sentence each"
fi

# ---- From Python; linear attention; receipts, with planted faults, named by replay.
if [ -z "${TORCH:-}" ]; then
  counted "attend.load" "$python" tests/exporter/load.py "$cxx" "$build/loaded" "$2/libattend.a"
  counted "models with linear attention" "$python" tests/exporter/linear.py "$cxx" "$build/models" "$2/libattend.a"
  emulated=cortex-m4
  needs arm-none-eabi-g++ "gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib" && needs qemu-system-arm qemu-system-arm || emulated=
  # shellcheck disable=SC2086
  counted "receipts" "$python" tests/exporter/receipts.py "$cxx" "$build/receipts" "$2/libattend.a" $emulated
  grep -q '^[0-9]* of [0-9]* faults are named' "$build/counted" || fail "receipts" "no faults are named"
fi

# ---- On other processors: the same digests.
board=bench/boards/board.sh
on_board() { # board model
  EXPORTED=$build/models/$2 sh $board build "$1" "$build/boards" "exported" && sh $board run "$1" "$build/boards/$1.exported"
}
try() { # board model
  case $1 in *m0plus | *m4 | *m55 | *m3 | *m7 | *m33) needed=arm-none-eabi-g++ ;; *) needed=riscv64-unknown-elf-g++ ;; esac
  if ! command -v $needed >/dev/null 2>&1; then
    missing "$1" "$needed was not found: apt-get install $(case $needed in arm*) echo gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib ;; *) echo gcc-riscv64-unknown-elf ;; esac)"
  else
    succeeds "$2 on $1" on_board "$1" "$2"
  fi
}
on_linux() { # triplet emulator model
  $1-g++ -std=c++17 -O1 -ffp-contract=off -Iinclude -DATTEND_SELF_TEST_MAIN "$build/models/$3/model.cpp" "$build/models/$3/self_test.cpp" \
    "$build/$1"/*.o -static -o "$build/$1/test" && $2 "$build/$1/test"
}
linux_library() { # triplet
  [ ! -d "$build/$1" ] || return 0
  mkdir -p "$build/$1"
  for source in src/*/*.cpp; do
    "$1-g++" -std=c++17 -O1 -ffp-contract=off -Iinclude -c "$source" -o "$build/$1/$(basename "$source" .cpp).o" || return 1
  done
}

if [ -n "${TORCH:-}" ]; then
  for model in $(ls "$build/models" | grep '_float32$'); do
    for name in cortex-m0plus cortex-m4 cortex-m55 rv32imac; do try $name "$model"; done
    for pair in 'aarch64-linux-gnu qemu-aarch64' 's390x-linux-gnu qemu-s390x'; do
      linux_library "${pair% *}" && succeeds "$model on ${pair% *}" on_linux $pair "$model"
    done
  done
else
  try cortex-m0plus vision_float32
  try cortex-m4 sensor_float32
  try cortex-m4 masks_spelled_cpp
  for model in linear_stream linear_nodes ${ALL:+conv_nodes linear_microsoft}; do try cortex-m4 $model; done
  ${ALL:+try cortex-m0plus windowed_integers}
  # In C; and whether the sizes of work memory that are written there are enough on a board.
  try cortex-m0plus windowed_integers_in_c
  try cortex-m4 decoder_float32_in_c
  try cortex-m0plus padded_integers_in_c
  try cortex-m0plus work_sizes
  # A real model, where there is one.
  models=${MODELS:-../shared/models}
  if [ -r "$models/stories260K.bin" ]; then
    story() {
      "$python" tests/exporter/story.py "$models/stories260K.bin" "$models/tok512.bin" "$models/stories260K.greedy200.txt" "$build/models" &&
        $cxx -std=c++17 -O1 -Iinclude -DATTEND_SELF_TEST_MAIN "$build/models/story/model.cpp" "$build/models/story/self_test.cpp" \
          "$2/libattend.a" -o "$build/story" && "$build/story"
    }
    succeeds "a Llama from its published files, whole and a token at a time" story "$cxx" "$2"
    nothing_in "$(grep -v '^ok   the story$\|story: 2 inputs, .* the same bits$' "$build/log")" "it tells its story"
    ${ALL:+try cortex-m4 story}
  fi
  # The shipped model of household commands, beside the program that was written by hand for it.
  exported_household() { "$python" tests/exporter/household.py "$build/models" && grep -q '^FAIL' "$build/log" && return 1; return 0; }
  beside_by_hand() { # board: actions are the same; RAM at most 1.05 times, flash 16 KB more, instructions 1.03 times
    EXPORTED=$build/models sh $board build "$1" "$build/boards" household_count household_exported_count &&
      for program in household_count household_exported_count; do
        sh $board count "$1" "$build/boards/$1.$program" | tr -d '\r' >"$build/$program.txt" && arm-none-eabi-size "$build/boards/$1.$program" >>"$build/$program.txt" || return 1
      done
    awk -v board="$1" '
      FNR == 1 { program++ }
      /^  [a-z.]+( |$)/ && !/^  scores/ { actions[program] = actions[program] $0 }
      / instructions, / { instructions[program] += $3; if (!heap[program]) heap[program] = $5 }
      /^ *[0-9]+\t/ { flash[program] = $1 + $2; ram[program] = $2 + $3 + heap[program] }
      END {
        printf "%s: %d bytes of flash, %d of RAM, %d instructions; by hand %d, %d, %d\n", board, flash[2], ram[2], instructions[2], flash[1], ram[1], instructions[1]
        exit !(actions[1] != "" && actions[1] == actions[2] && ram[2] <= 1.05 * ram[1] && flash[2] <= flash[1] + 16384 && instructions[2] > 0 && instructions[2] <= 1.03 * instructions[1])
      }' "$build/household_count.txt" "$build/household_exported_count.txt"
  }
  succeeds "the model of household commands" exported_household
  for name in ${ALL:+cortex-m4} cortex-m0plus; do
    if command -v arm-none-eabi-g++ >/dev/null 2>&1; then
      succeeds "household commands on $name, beside the program by hand" beside_by_hand $name
      grep '^cortex-.* by hand' "$build/log"
    fi
  done
  # The trained examples: what they make of held-out data, and their self-tests.
  for name in gestures keywords anomaly; do
    succeeds "the example $name" make -j1 run EXAMPLE=$name CXX="$cxx" BUILD="$2"
    ln -sfn "$(pwd)/build/exported/$name" "$build/models/example_$name"
    packed_again() { "$python" bench/exporter/examples/pack.py "build/exported/$name" "$build/packed" && diff -r "bench/exporter/examples/$name/model" "$build/packed"; }
    succeeds "the numbers of the example $name are packed as they stand" packed_again
    for target in ${ALL:+cortex-m0plus cortex-m55 rv32imafc} cortex-m4; do try "$target" example_$name; done
  done
  # Keywords from sound: those that are spoken in the recording, and the same bits of front end, model and likelihoods on boards.
  succeeds "keywords of a recording" make -j1 run EXAMPLE=keywords FILE=bench/exporter/examples/keywords/keywords.wav CXX="$cxx" BUILD="$2"
  nothing_in "$(awk '/ s  / { said = said " " $3 } END { if (said != " yes louder stop left go off") print "it heard" said }' "$build/log")" "it hears them in order"
  # What it cannot read or write it says.
  nothing_in "$("$2/keywords" none "$build/none.svg" "$build" 2>&1 | grep -v "^keywords: $build is no WAV file")" "a folder is no sound"
  nothing_in "$(for name in gestures keywords anomaly; do
    "$2/$name" bench/exporter/examples/$name/held_out.bin "$build/none/none.svg" 2>&1 | grep -q "^$name: $build/none/none.svg cannot be written" || echo "$name"
  done)" "a picture that cannot be written is told"
  hosted_keywords() {
    "$cxx" -std=c++17 -O2 -Iinclude bench/boards/keywords_main.cpp tests/boards/hosted.cpp build/exported/keywords/model.cpp "$2" \
      -o "$build/keywords" && "$build/keywords" >"$build/keywords.txt"
  }
  succeeds "keywords of a sound that is made" hosted_keywords "$cxx" "$2/libattend.a"
  keywords_on() {
    sh $board build "$1" "$build/boards" keywords && sh $board run "$1" "$build/boards/$1.keywords" | tr -d '\r' | diff - "$build/keywords.txt"
  }
  for name in ${ALL:+cortex-m4 cortex-m55} cortex-m0plus; do
    ! command -v arm-none-eabi-g++ >/dev/null 2>&1 || succeeds "the same likelihoods on $name" keywords_on "$name"
  done
  for name in ${ALL:+cortex-m55 rv32imac}; do
    for model in grouped_float32 cross_float32 front_end_float32 decoder_float32 encoder_int8 encoder_int4 \
      cross_float32_in_c encoder_int4_in_c qwen3_published_in_c masks_nodes_c work_sizes; do try "$name" $model; done
  done
fi
finish
