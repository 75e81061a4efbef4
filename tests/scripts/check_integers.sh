#!/bin/sh
# Integer attention and projections compute no float, as its machine code shows: tests/scripts/check_integers.sh CXX BUILD_DIR
#
# Boards are asked, with and without a floating-point unit. Options stay out, because they can have an output of floats. From -O2
# on compilers may move pairs of integers by a register of floats (on hosts they always may), which computes nothing; at -Os, as
# firmware is built, not even that is there. The compiler of the other checks is of no use here; those of the boards are.
# ALL=1: -O2 and -O3, and the M7 and M33, which execute the M4's code.
build=$2/check_integers
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

# Instructions of a floating-point unit, by their names. With vectors (Cortex-M55) those of integers begin with v too.
float_instructions() { # board
  case $1 in
    cortex-m55) echo '^v[a-z]+\..*f(16|32|64)' ;;
    cortex-*) echo '^v[a-z]' ;;
    rv32*) echo '^(c\.)?f[a-z]+\.[sdwx]|^(c\.)?f(l|s)[wd](sp)?$' ;;
  esac
}
moves='^v(ldr|str|mov|push|pop|ldmia|stmia)$|^(c\.)?f(l|s)[wd](sp)?$'

# Compilers' helpers that compute floats: __aeabi_fadd, __aeabi_ui2d, __addsf3, __floatsisf.
float_helpers='__aeabi_(c?[fd][a-z]+[0-9a-z]*|u?[il]2[fd]|h2f|[fd]2h)|__(float|fix|extend|trunc)[a-z]*|__[a-z]+[sd]f[0-9]'

attention=_ZN6attend4core8Integers3runERKNS0_13embedded_form7ProblemE projection=_ZN6attend4core18run_integer_linearILi1EEEvRKNS0_13embedded_form13IntegerLinearE

for board in cortex-m0plus cortex-m4 ${ALL:+cortex-m7 cortex-m33} cortex-m55 rv32imafc; do
  triplet=arm-none-eabi package=gcc-arm-none-eabi emulation='' flags="-mcpu=$board -mfloat-abi=hard"
  case $board in
    cortex-m0plus) flags="-mcpu=$board" ;;
    rv32*) triplet=riscv64-unknown-elf package=gcc-riscv64-unknown-elf emulation='-m elf32lriscv' flags="-march=$board -mabi=ilp32f" ;;
  esac
  if ! command -v $triplet-g++ >/dev/null 2>&1; then
    missing "$board" "$triplet-g++ was not found: apt-get install $package"
    continue
  fi
  for level in -Os ${ALL:+-O2 -O3}; do
    # shellcheck disable=SC2034  # compile_all takes it
    cxx=$triplet-g++ left_out='^$'
    [ $level = -Os ] || left_out=$moves
    # shellcheck disable=SC2086
    succeeds "$board $level: integer attention and projections compile" compile_all "$build/objects" \
      'src/call/integers.cpp src/backend/embedded_integers.cpp src/layers/embedded_integer_linear.cpp' -std=c++17 $level $firmware -ffunction-sections $flags || continue
    # Of the objects only what the two need: an instruction set's has floats too.
    # shellcheck disable=SC2086
    succeeds "$board $level: they link by themselves" $triplet-ld -r --gc-sections $emulation -e "$attention" -u "$projection" "$build/objects"/*.o \
      -o "$build/linked.o" || continue
    $triplet-objdump -d --no-show-raw-insn "$build/linked.o" |
      sed -n 's/^ *[0-9a-f]*:[[:space:]]*//p' >"$build/instructions"
    $triplet-nm "$build/linked.o" >"$build/symbols"
    nothing_in "$([ "$(wc -l <"$build/instructions")" -gt 300 ] || echo 'where are the instructions?'
      awk '{ print $1 }' "$build/instructions" | grep -E "$(float_instructions $board)" | grep -vE "$left_out" | sort -u
      grep -oE " U ($float_helpers)\$" "$build/symbols" | sort -u)" "$board $level: no instruction and no helper of floats"
  done
done

finish
