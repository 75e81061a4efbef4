#!/bin/sh
# Programs of processors that trap unaligned accesses, and of those whose flags reserve registers: tests/scripts/check_strict.sh BOARD BUILD_DIR,
# from the project's top folder. On an emulated Cortex-M4, M7, M33 or M55 (tests/boards/strict_main.cpp). Part of `make targets`.
board=$1
build=$2/check_strict-$1
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
cxx=$(sh bench/boards/board.sh compiler "$board") && flags=$(sh bench/boards/board.sh flags "$board") || exit 1
command -v qemu-system-arm >/dev/null 2>&1 || { echo 'qemu-system-arm was not found: apt-get install qemu-system-arm' >&2; exit 77; }
command -v "$cxx" >/dev/null 2>&1 || { echo "$cxx was not found: apt-get install gcc-arm-none-eabi" >&2; exit 77; }

# The library with its flags; the program with its own, which never make it access words anywhere; start-up code and memcpy with others.
# shellcheck disable=SC2046,SC2086
image() { # name library-flags program-flags platform-flags
  FLAGS="$flags $2" sh bench/boards/board.sh library "$board" "$build/$1.work" >"$build/$1.list" || return 1
  $cxx $flags $3 -mno-unaligned-access -std=c++17 -Os -ffreestanding -fno-exceptions -fno-rtti -Wall -Wextra -Wshadow -Werror -Iinclude \
    -c tests/boards/strict_main.cpp -o "$build/$1.o" &&
    FLAGS="$flags $4 -mno-unaligned-access" sh bench/boards/board.sh link "$board" "$build/$1" "$build/$1.o" $(cat "$build/$1.list")
}
runs() { # name what
  succeeds "$2" sh bench/boards/board.sh run "$board" "$build/$1"
  sed -n 's/^\([a-z]*\): \([0-9]* passed, .*failed.*\)/     \1: \2/p; s/^\(registers: .*\)/     \1/p; /fault/p' "$build/log"
}

# The macro alone is the harder case: the compiler was told nothing.
aligned=-DATTEND_ALIGNED
[ "$board" != cortex-m55 ] || aligned=-mno-unaligned-access
for how in $aligned ${ALL:+-mno-unaligned-access}; do
  succeeds "$board $how: compiles" image "aligned$how" "$how" '' '' && runs "aligned$how" "$board $how: nothing is trapped"
done

# By r9 code that is independent of its position finds its data, as -msingle-pic-base says; start-up code leaves it alone.
others='-ffixed-r8 -ffixed-r10 -ffixed-r11 -DATTEND_FIXED_REGISTERS -mno-unaligned-access'
based="$others -fpic -msingle-pic-base"
succeeds "$board: compiles with $based" image based "$based" "$based" "$others -ffixed-r9" &&
  runs based "$board: r8 to r11 stay, r9 by -msingle-pic-base"
if [ -n "${ALL:-}" ]; then
  succeeds "$board: compiles with $others -ffixed-r9" image fixed "$others -ffixed-r9" "$others -ffixed-r9" "$others -ffixed-r9" &&
    runs fixed "$board: r8 to r11 stay"
fi

# Without that macro there is no object.
for reserved in -ffixed-r8 -ffixed-r9 -ffixed-r10 -ffixed-r11 '-fpic -msingle-pic-base'; do
  what="$board: $reserved alone stops, and says what to do"
  # shellcheck disable=SC2086
  if $cxx $flags $reserved -std=c++17 -Os -Iinclude -c src/backend/target.cpp -o "$build/reserved.o" >"$build/log" 2>&1; then
    fail "$what" "it compiles"
  elif grep -q 'attend: reserved registers: -DATTEND_FIXED_REGISTERS' "$build/log"; then
    ok "$what"
  else
    fail "$what" "$(first_error "$build/log")"
  fi
done
finish
