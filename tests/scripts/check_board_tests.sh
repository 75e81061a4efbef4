#!/bin/sh
# The self-tests on somebody's own board: tests/scripts/check_board_tests.sh CXX BUILD_DIR
#
# Runs the commands of bench/boards/README.md as they stand there, with boards that QEMU emulates, and compares what they say with the page; then a board
# with 32 KB and no floating-point unit, and boards that have too little of something. The library is that of board.sh.
build=$2/check_board_tests
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
page=bench/boards/README.md board=bench/boards/board.sh
needs() { command -v "$1" >/dev/null 2>&1 || { missing "boards of others" "$1 was not found: apt-get install $2"; finish; exit; }; }
needs arm-none-eabi-g++ 'gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib'
needs qemu-system-arm qemu-system-arm
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
export SECONDS_TO_LIVE=300

# block LANGUAGE NUMBER: a block of code of the page.
block() { awk -v kind="\`\`\`$1" -v number="$2" '$0 == kind { n++; if (n == number) { inside = 1; next } } /^```/ { inside = 0 } inside' $page; }
library() { ATTEND_LIBRARY=$(sh $board library "$1" "$build/library.$1") && export ATTEND_LIBRARY; }
# said NAME COMMAND…: what it says, to $build/NAME.
said() { name=$1 && shift && FOLDER=$build/images "$@" >"$build/$name" 2>&1; }
has() { if grep -qF "$3" "$build/$2"; then ok "$1"; else fail "$1" "$(tail -n 3 "$build/$2" | tr '\n' ' ')"; fi; }
lacks() { if grep -qF "$3" "$build/$2"; then fail "$1" "$(grep -F "$3" "$build/$2" | head -n 1)"; else ok "$1"; fi; }

library cortex-m4 || { fail "the library for cortex-m4" "it does not compile"; finish; exit; }
block sh 1 >"$build/first.sh" && block sh 2 >"$build/second.sh" && block text 1 >"$build/page"
if said first sh "$build/first.sh"; then ok "64 KB, a UART: the page's command"; else fail "64 KB, a UART: the page's command" "$(tail -n 1 "$build/first")"; fi
nothing_in "$(grep -E ' passed,' "$build/first" | diff "$build/page" - 2>&1)" "64 KB, a UART: it says what stands on the page"
if said second sh "$build/second.sh"; then ok "a linker script and a start of its owner"; else fail "a linker script and a start of its owner" "$(tail -n 1 "$build/second")"; fi
nothing_in "$(for name in first second; do grep -oE '^[a-z]+: [0-9]+ passed, 0 failed' "$build/$name" >"$build/$name.counts"; done
  [ -s "$build/first.counts" ] || echo nothing
  diff "$build/first.counts" "$build/second.counts")" "a linker script and a start of its owner: the same counts"

# What is wrong with a board is said. With flash for some of the programs, these run.
of_m4="make board-tests CXX=arm-none-eabi-g++ FLAGS='-mcpu=cortex-m4 -mfloat-abi=hard'"
run="RUN='qemu-system-arm -M mps2-an386 -display none -monitor none -serial stdio -kernel'"
memory='-Wl,--defsym=flash_origin=0,--defsym=flash_size=256K,--defsym=ram_origin=0x20000000,--defsym=ram_size=64K'
said small_flash sh -c "$of_m4 FLASH=0,64K RAM=0x20000000,64K PROGRAMS='digests specials' $run" || fail "64 KB of flash: no failure" "$(tail -n 1 "$build/small_flash")"
has "64 KB of flash: digests are left out" small_flash "digests: 0 passed, 0 failed, 1 left out for want of memory: region"
has "64 KB of flash: specials run" small_flash "board-tests: 4 passed, 0 failed, 1 left out"
said small_stack sh -c "$of_m4 PROGRAMS=specials PLATFORM='bench/boards/uart.cpp bench/boards/start.cpp' LINK='-nostartfiles -T bench/boards/link.ld $memory,--defsym=stack_size=2K' $run" &&
  fail "a stack of 2 KB" "it passes"
has "a stack of 2 KB is too small" small_stack "of which the tests need 4096"
said built sh -c "$of_m4 FLASH=0,64K RAM=0x20000000,64K PROGRAMS=specials" || fail "without RUN=" "$(tail -n 1 "$build/built")"
has "without RUN= the image is named" built "$build/images/specials.elf"
said silent sh -c "$of_m4 FLASH=0,64K RAM=0x20000000,64K PROGRAMS=specials RUN='true {}'" && fail "a board that says nothing" "it passes"
has "a board that says nothing" silent "board-tests: 0 passed, 1 failed"
arm-none-eabi-nm "$build/images"/*.elf >"$build/symbols"
[ -s "$build/symbols" ] || fail "symbols of the programs" "there are none"
nothing_in "$(grep -wE 'strlen|memcmp|malloc|printf|strcmp' "$build/symbols")" "programs take nothing of a C library but what the page names"

library cortex-m0plus || { fail "the library for cortex-m0plus" "it does not compile"; finish; exit; }
said m0plus sh -c "make board-tests CXX=arm-none-eabi-g++ FLAGS=-mcpu=cortex-m0plus FLASH=0,256K RAM=0x20000000,32K \
  RUN='qemu-system-arm -M mps2-an385 -display none -monitor none -serial stdio -kernel'" || fail "cortex-m0plus with 32 KB" "$(tail -n 1 "$build/m0plus")"
lacks "cortex-m0plus with 32 KB: every program runs" m0plus ": 0 passed"
has "cortex-m0plus with 32 KB: all chains" m0plus "chains: 26003 passed, 0 failed"
has "cortex-m0plus with 32 KB: something is left out, nothing fails" m0plus " 0 failed, "
finish
