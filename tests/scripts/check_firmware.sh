#!/bin/sh
# Copied into a firmware's tree, the library compiles with its compiler and flags, asks for little, and computes the host's bits:
# tests/scripts/check_firmware.sh gcc|clang BUILD_DIR LIBRARY, from the project's top folder. LIBRARY is the host's, which
# computes the bits to expect. Part of `make targets`.
#
# gcc: the cross compilers by their usual names. clang: CLANG= (clang++), linked by the same cross compilers. CXX= is the host's
# compiler, JOBS= how many targets run at a time, VENDOR_TARGETS= which. What is missing is skipped, and the line says what to
# install; where CI=true, that is a failure. Exit status 77: nothing at all was there.
family=$1
top=$2/check_firmware-$family
host_cxx=${CXX:-g++}
clang=${CLANG:-clang++}
at_a_time=${JOBS:-$(nproc 2>/dev/null || echo 2)}
board=bench/boards/board.sh
vendor=$top/vendor
build=$top
. tests/support/check.sh
targets='cortex-m0plus cortex-m3 cortex-m4/soft cortex-m4/softfp cortex-m4 cortex-m7 cortex-m33/soft cortex-m33 cortex-m55/nomve
  cortex-m55 armv7-a armv7-a/neon aarch64 rv32imac rv32imafc rv64gc rv64gc/linux'
# Without ALL=1, GCC's that Clang's list below has not, and those with loops that no other of GCC's has.
[ -n "${ALL:-}" ] || targets='cortex-m0plus cortex-m4/softfp cortex-m33/soft cortex-m55/nomve cortex-m55 armv7-a aarch64 rv32imafc rv64gc'
# Clang's: one for each set of loops that the library has; without ALL=1 those that no other check compiles with it. What differs
# between the others is the C library and the way floats are passed, in which it uses the same headers as GCC.
[ "$family" = gcc ] || targets="${ALL:+cortex-m0plus cortex-m4 cortex-m33/soft cortex-m55 rv32imafc rv64gc/linux }armv7-a/neon aarch64"

# What a firmware of our own might say: no C or C++ library, no exceptions, every warning.
strict='-fno-exceptions -fno-rtti -ffreestanding -nostdlib -Wall -Wextra -Werror'

# Which flags a vendor would give, which backend is to be expected, where it runs, and whether floats are computed in software.
describe() { # target
  triplet=arm-none-eabi package=gcc-arm-none-eabi emulator=qemu-system-arm backend=scalar software=no
  case $1 in
    cortex-m0plus | cortex-m3 | */soft) software=yes ;;
    cortex-m55) backend=helium ;;
    cortex-m[47] | cortex-m4/softfp | cortex-m33 | */nomve) backend=vfp ;;
    rv32imafc) backend=rvf ;;
    armv7-a/neon | aarch64) backend=neon ;;
  esac
  case $1 in
    */soft) flags="-mcpu=${1%/*} -mfloat-abi=soft" ;;
    */softfp) flags="-mcpu=${1%/*} -mfloat-abi=softfp" ;;
    */nomve) flags="-mcpu=${1%/*}+nomve -mfloat-abi=hard" ;;
    cortex-*) flags=$(sh $board flags "$1") ;;
    armv7-a) triplet=arm-linux-gnueabihf emulator=qemu-arm flags='-march=armv7-a -mfpu=vfpv3-d16' ;;
    armv7-a/neon) triplet=arm-linux-gnueabihf emulator=qemu-arm flags='-march=armv7-a -mfpu=neon-vfpv4' ;;
    aarch64) triplet=aarch64-linux-gnu emulator=qemu-aarch64 flags='' ;;
    rv32imac) triplet=riscv64-unknown-elf emulator=qemu-riscv32 flags='-march=rv32imac -mabi=ilp32' software=yes ;;
    rv32imafc) triplet=riscv64-unknown-elf emulator=qemu-riscv32 flags='-march=rv32imafc -mabi=ilp32f' ;;
    rv64gc) triplet=riscv64-unknown-elf emulator=qemu-riscv64 flags='-march=rv64gc -mabi=lp64d' ;;
    rv64gc/linux) triplet=riscv64-linux-gnu emulator=qemu-riscv64 flags='-march=rv64gc -mabi=lp64d' ;;
  esac
  case $triplet in *-linux-*) package=g++-$triplet ;; riscv*) package=gcc-$triplet ;; esac
  [ $emulator = qemu-system-arm ] && emulator_package=qemu-system-arm || emulator_package=qemu-user
}

has() { # program package
  command -v "$1" >/dev/null 2>&1 && return
  missing "$target" "$1 was not found: apt-get install $2"
  false
}

# asks_for_little WHAT OBJECT…: of the world outside only the three functions of memory and helpers of the compiler, such as
# __aeabi_idiv or __muldf3; with a floating-point unit none that computes floats. Nothing runs before main.
asks_for_little() {
  whose=$1
  shift
  readelf -SsW "$@" >"$build/elf" 2>&1 || fail "$whose: readelf reads the objects" "$(head -n 1 "$build/elf")"
  awk '$7 == "UND" && $8 != "" { print $8 }' "$build/elf" | sort -u >"$build/names"
  helpers='__aeabi_[a-z0-9_]+|__gnu_thumb1_case_[a-z]+|__[a-z]+[sdt][fi][a-z]*[23]?'
  nothing_in "$([ -s "$build/names" ] || echo 'no name was found'
    grep -vxE "_ZN6attend.*|mem(cpy|set|move)|_GLOBAL_OFFSET_TABLE_|$helpers" "$build/names"
    grep -xE '__aeabi_atexit' "$build/names")" "$whose: asks for memcpy, memset, memmove and the compiler's helpers only"
  [ $software = yes ] || no_software_floats "$whose" "$@"
  nothing_in "$(grep -oE '\.(preinit_array|init_array|ctors|fini_array|dtors)[^ ]*|_GLOBAL__(sub_)?[ID][A-Za-z0-9_]*' "$build/elf" |
    sort -u)" "$whose: no static initialiser"
}

# Names such as __aeabi_fadd, __aeabi_ui2d, __addsf3, __extendsfdf2.
no_software_floats() { # what object...
  whose=$1
  shift
  nothing_in "$(for object in "$@"; do
    case $object in *c_integer_scales.o | *c_linear_scales.o) continue ;; esac # scales are doubles: constants are made of them once, or beforehand
    readelf -sW "$object" | awk -v object="$(basename "$object")" '$7 == "UND" && $8 ~ \
      /^(__aeabi_(c?[fd](add|r?sub|mul|div|neg|r?cmp.*|2.*)|u?[il]2[fd])|__[a-z]+[sdt]f[a-z0-9]*)$/ { print object ": " $8 }'
  done)" "$whose: no float is computed in software"
}

# Links compiled objects for the target, with as little as there is: -nostdlib, except where an operating system's library prints.
link_image() { # image object...
  case $triplet in
    arm-none-eabi) FLAGS=$flags sh $board link "$processor" "$@" ;;
    riscv64-unknown-elf)
      image=$1
      shift
      # shellcheck disable=SC2086
      $triplet-g++ $flags -Os -ffreestanding -nostdlib -static "$@" tests/boards/linux.cpp bench/boards/memory.cpp -lgcc \
        -o "$image"
      ;;
    *)
      image=$1
      shift
      # shellcheck disable=SC2086
      $triplet-g++ $flags -std=c++17 -static -I"$vendor/include" tests/boards/hosted.cpp "$@" -o "$image"
      ;;
  esac
}

run_image() { # image
  case $triplet in
    arm-none-eabi) sh $board run "$processor" "$1" ;;
    *) timeout 60 $emulator "$1" ;;
  esac
}

# Where board.sh has the same compiler and processor, its objects are taken, unless ALL=1: they differ in the standard, and in flags that
# change nothing here. Those of AArch64 are the ones whose stack `make targets` looks at: hosted, at -O2, where vendors' are freestanding,
# at -Os.
is_of_board() {
  [ -z "${ALL:-}" ] && [ "$family" = gcc ] && case $target in cortex-m0plus | cortex-m55 | rv32imafc | aarch64) true ;; *) false ;; esac
}
objects_of_board() {
  if [ "$target" = aarch64 ]; then
    library_at -O2 "$2/$triplet" && cp "$objects"/*.o "$folder"
    return
  fi
  made=$(sh $board library "$target" "$build/of_board") || return
  for object in $made; do cp "$object" "$folder/$(basename "$object" .cpp.o | sed 's/^src_[a-z]*_//').o"; done
}

# Compiles library and program with these flags, looks at the objects, links them and runs the image.
build_and_run() { # flags...
  name=$target
  folder=$build/objects
  # shellcheck disable=SC2086
  if is_of_board; then
    succeeds "$name: every source passes with $*" compile_all "$folder" "$top/unity.cpp" $flags "$@" -fsyntax-only || return
    succeeds "$name: the objects of its board" objects_of_board "$family" "${top%/*}" || return
  else
    succeeds "$name: compiles with $*" compile_all "$folder" "$library" $flags "$@" || return
  fi
  # shellcheck disable=SC2086
  succeeds "$name: a program compiles" \
    compile_all "$folder/program" tests/boards/vendor_main.cpp $flags "$@" -I"$vendor/include" || return
  asks_for_little "$name" "$folder"/*.o
  [ $software = yes ] || no_software_floats "$name: the program" "$folder/program/vendor_main.o"
  has $triplet-g++ "$package" || return
  succeeds "$name: links" link_image "$folder/image" "$folder"/*.o "$folder/program/vendor_main.o" || return
  has $emulator "$emulator_package" || return
  if ! run_image "$folder/image" >"$folder/output" 2>&1; then
    fail "$name: runs" "$(head -n 3 "$folder/output" | tr '\n' ' ')"
    return
  fi
  active=$(head -n 1 "$folder/output")
  [ "$active" = $backend ] || fail "$name: runs on $backend" "it runs on $active"
  nothing_in "$(sed 1d "$folder/output" | diff "$top/expected" - | head -n 4)" "$name: runs on $active, with the host's bits"
  # This one belongs to the project, not to the vendor. Boards of `make targets` run it by themselves, at the same level.
  case " $(sh $board boards | tr '\n' ' ') $family" in *" $target "*" gcc") return ;; esac
  for program in options ${ALL:+digests}; do
    # shellcheck disable=SC2086
    succeeds "$name: the program $program compiles" \
      compile_all "$folder/$program" "tests/boards/${program}_main.cpp" $flags "$@" -I"$vendor/include" || return
    succeeds "$name: it links" link_image "$folder/$program.image" "$folder"/*.o "$folder/$program/${program}_main.o" || return
    succeeds "$name: it passes" run_image "$folder/$program.image"
  done
}

# What ATTEND_HOT and ATTEND_HOT_DATA say about sections: the entry, the loops that take the time, and their constants go there. GCC 12
# ignores sections for templates, which do the bookkeeping.
placement() { # flags...
  folder=$build/placed
  succeeds "$target placed: compiles with sections of its own" compile_all "$folder" "$vendor/src/backend/target.cpp" "$@" \
    '-DATTEND_HOT=__attribute__((section(".itcm")))' '-DATTEND_HOT_DATA=__attribute__((section(".dtcm")))' || return
  $triplet-objdump -t "$folder/target.o" >"$folder/symbols"
  operations='N_1[0-9]+(Vfp|Helium)[A-Za-z]*[0-9]+[a-z_0-9]*(chains|weights_of_scores|outputs|tile|row|widen)[a-z_0-9]*E'
  nothing_in "$(grep -E " F [.]text.*($operations|7Backend3runE)" "$folder/symbols"
    [ "$(grep -c ' F [.]itcm' "$folder/symbols")" -ge 4 ] || echo 'fewer than 4 functions in .itcm'
    grep -q ' [.]dtcm.*exp2_coefficients' "$folder/symbols" || echo 'no table in .dtcm')" "$target placed: loops and tables lie where told"
}

check_target() {
  describe "$target"
  processor=${target%%/*}
  library="$top/others.cpp $(ls "$vendor"/src/*/c_*_scales.cpp)"
  [ -z "${ALL:-}" ] || library=$(ls "$vendor"/src/*/*.cpp)
  if [ "$family" = clang ]; then
    has "$clang" clang || return
    case $target in rv32*) cxx="$clang --target=riscv32-unknown-elf" ;; *) cxx="$clang --target=$triplet" ;; esac
    # shellcheck disable=SC2086
    if ! $cxx $flags -c -x c++ /dev/null -o "$build/probe.o" >"$build/log" 2>&1; then
      missing "$target" "$clang cannot: $(first_error "$build/log")"
      return
    fi
    # It has no C library for these targets, and is not to find the host's.
    own='-ffreestanding -nostdlibinc -nostdinc++'
    # The linker wants enums as the other compiler has them.
    [ "$triplet" != arm-none-eabi ] || own="$own -fshort-enums"
  else
    cxx=$triplet-g++
    has "$cxx" "$package" || return
    # Nor do all cross compilers; then their own headers are those of a freestanding implementation.
    own=
    echo '#include <stdint.h>' | $cxx -E -x c++ - >/dev/null 2>&1 || own=-ffreestanding
  fi
  # shellcheck disable=SC2086
  {
    build_and_run -std=c++20 -Os $own $strict
    # Once for each cross compiler: what else is there, such as its C library's headers, does no harm.
    case $target in
      cortex-m4 | armv7-a | aarch64 | rv32imac | rv64gc/linux)
        succeeds "$target: every source compiles with${own:+ $own} -std=c++17 alone" \
          compile_all "$build/plain" "$top/unity.cpp" $flags -std=c++17 $own -fsyntax-only
        ;;
    esac
    stops "attend cannot keep its bits" "$vendor/src/backend/target.cpp" $flags -std=c++17 $own -ffast-math
    case $target in
      cortex-m4) placement $flags -std=c++17 -Os $own ;;
      cortex-m55) placement $flags -std=c++17 -Os $own ;;
    esac
  }
}

case $family-$# in gcc-3 | clang-3) true ;; *) false ;; esac || { echo "usage: tests/scripts/check_firmware.sh gcc|clang BUILD_DIR LIBRARY" >&2; exit 2; }
rm -rf "$top" && mkdir -p "$vendor" && cp -r include src "$vendor" || exit 1
# What only reads the sources has them as one file. So have objects without ALL=1, in a third less time, but for the two sources whose
# constants are doubles: boards and hosts compile each by itself.
all_of() { ls "$vendor"/src/*/*.cpp | grep -v "$1" | sed "s|^$top|#include \".|; s|\$|\"|"; }
all_of /none/ >"$top/unity.cpp"
all_of '/c_[a-z]*_scales' >"$top/others.cpp"
$host_cxx -std=c++17 -O1 -Iinclude tests/boards/vendor_main.cpp tests/boards/hosted.cpp "$3" -o "$top/host" && "$top/host" >"$top/output" || exit 1
sed 1d "$top/output" >"$top/expected"

# Several targets at a time, each in a process of its own, which leaves its lines in a file.
running=0 logs=''
for target in ${VENDOR_TARGETS:-$targets}; do
  build=$top/$(echo "$target" | tr / -)
  mkdir -p "$build"
  logs="$logs $build/lines"
  (
    check_target
    echo "$target is through"
  ) >"$build/lines" 2>&1 &
  running=$((running + 1))
  [ $running -lt "$at_a_time" ] || { wait; running=0; }
done
wait
skipped=0
for log in $logs; do
  grep -v ' is through$' "$log"
  tail -n 1 "$log" | grep -q ' is through$' || fail "$log" "broke off"
  passed=$((passed + $(grep -c '^ok ' "$log")))
  failed=$((failed + $(grep -c '^FAIL ' "$log")))
  skipped=$((skipped + $(grep -c '^skip ' "$log")))
done
# shellcheck disable=SC2086
[ $((passed + failed)) -gt 0 ] || { cat $logs | sed -n 's/^skip [^:]*: //p' | head -n 1; exit 77; }
printf '%d passed, %d failed%s\n' $passed $failed "$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
[ $failed -eq 0 ]
