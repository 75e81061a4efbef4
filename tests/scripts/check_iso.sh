#!/bin/sh
# Compilers that are neither GCC nor Clang give the same bits: tests/scripts/check_iso.sh CXX BUILD_DIR
#
# GCC and Clang stand in for them. A header that is included first brings the C library's headers, takes back every macro by which
# a source could tell its compiler, its processor or the order of bytes, and poisons the words that are not ISO C++17: what is left
# is what every compiler must have. Also what Visual C++ gets to see: its kernels, which have no assembly, run here as GCC's.
#
# The library of CXX is in BUILD_DIR. ALL=1: four stand-ins on this machine, at -O0 and at -O3 with contraction, the host's form without
# vectors, and more targets, with what a build can say about its floats: ATTEND_SOFT_FLOAT, ATTEND_SOFT_DOUBLE and ATTEND_FMA_OF.
cxx=$1
build=$2/check_iso library=$2/libattend.a
clang=${CLANG:-clang++}
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
board=bench/boards/board.sh
programs='specials digests options'

# stand_in COMMAND…: headers of a compiler that nobody knows, as $folder/forgets.h and, for the library, $folder/iso.h. Macros of
# which the C library's headers are made stay. A board's fused multiply-add is its hook's, which is no ISO C++ either.
stand_in() {
  {
    for header in stddef stdint string float limits; do echo "#include <$header.h>"; done
    echo 'static inline float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }'
    "$@" -dM -E -x c++ /dev/null | sed -n 's/^#define \([A-Za-z_0-9]*\).*/#undef \1/p' |
      grep -vE ' (__STDC|__cplusplus|__cpp_|__(FLT|DBL|LDBL|DECIMAL|INT|UINT|SIZE|PTRDIFF|WCHAR|WINT|SIG_ATOMIC|CHAR|SCHAR|SHRT|LONG)|__(FILE|LINE|DATE|TIME))'
  } >"$folder/forgets.h"
  {
    cat "$folder/forgets.h"
    echo '#pragma GCC poison __attribute__ __attribute __asm__ __asm asm typeof __typeof__ __extension__ __int128 __restrict __alignof__ __thread'
    for builtin in memcpy memset inff prefetch expect unreachable trap clz ctz popcount bswap32 fmaf fabsf; do echo "#pragma GCC poison __builtin_$builtin"; done
    for builtin in mul_overflow add_overflow sub_overflow is_constant_evaluated; do echo "#pragma GCC poison __builtin_$builtin"; done
    for word in load_n store_n exchange_n compare_exchange_n always_lock_free; do echo "#pragma GCC poison __atomic_$word"; done
    echo '#pragma GCC poison __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__ __ORDER_BIG_ENDIAN__'
  } >"$folder/iso.h"
}

# The sources of which other compilers make something; without ALL=1 one file of all of them.
sources=$(all_in_one "$build/library.cpp")
[ -z "${ALL:-}" ] || sources=$(ls src/*/*.cpp | grep -vE '/(layers_|linear_)?(avx|sse)[0-9a-z]*[.]cpp')

# Objects of the library and of these programs, by a stand-in, in $folder.
made() { # "FLAGS" "PROGRAM…" COMMAND…
  flags=$1 mains=$2
  shift 2
  stand_in "$@" -std=c++17
  cxx=$*
  # shellcheck disable=SC2086
  compile_all "$folder/library" "$sources" -std=c++17 -pedantic-errors -Wno-unknown-pragmas $flags -include "$folder/iso.h" -Iinclude || return 1
  # shellcheck disable=SC2086
  compile_all "$folder/programs" "$mains" -std=c++17 -O1 -w $flags -include "$folder/forgets.h" -Iinclude
}
mains() { for program in $programs; do echo "tests/boards/${program}_main.cpp"; done; }

# run_all WHAT EMULATOR LINKER…: links each program, and runs it.
run_all() {
  what_runs=$1 emulator=$2
  shift 2
  for program in $programs; do
    # shellcheck disable=SC2086
    succeeds "$what_runs: $program link" "$@" "$folder/programs/${program}_main.o" "$folder"/library/*.o -o "$folder/$program" &&
      succeeds "$what_runs: $program are the committed ones" timeout 600 $emulator "$folder/$program"
  done
}

host() { # NAME "FLAGS" COMMAND…
  name=$1 folder=$build/$1 flags_of_host=$2
  shift 2
  command -v "$1" >/dev/null 2>&1 || { missing "$name" "apt-get install $1" && return; }
  mkdir -p "$folder"
  succeeds "$name: every source compiles" made "$flags_of_host" "$(mains)" "$@" || return
  succeeds "$name: hosted.cpp compiles" "$1" -std=c++17 -Iinclude -c tests/boards/hosted.cpp -o "$folder/hosted.o" &&
    run_all "$name" '' "$1" "$folder/hosted.o"
}

on_board() { # BOARD "FLAGS"
  folder=$build/$1
  compiler=$(sh $board compiler "$1")
  command -v "$compiler" >/dev/null 2>&1 && command -v qemu-system-arm >/dev/null 2>&1 ||
    { missing "$1" 'apt-get install gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm' && return; }
  mkdir -p "$folder"
  # shellcheck disable=SC2046
  succeeds "$1: every source compiles" made "-ffunction-sections -fdata-sections -fno-exceptions $2" "$(mains)" "$compiler" $(sh $board flags "$1") || return
  for program in digests options; do
    succeeds "$1: $program link" sh $board link "$1" "$folder/$program" "$folder/programs/${program}_main.o" "$folder"/library/*.o &&
      succeeds "$1: $program are the committed ones" sh $board run "$1" "$folder/$program"
  done
}

big_endian() { # NAME LINKED-WITH EMULATOR "SOURCE…" COMMAND…
  name=$1 folder=$build/$1 linked=$2 emulator=$3 platform=$4
  shift 4
  command -v "$1" >/dev/null 2>&1 && command -v "$emulator" >/dev/null 2>&1 || { missing "$name" "apt-get install $(echo "$1" | sed 's/\(.*\)-g++/g++-\1/') qemu-user" && return; }
  mkdir -p "$folder/gnu"
  : >"$folder/gnu/stubs-lp64_be.h" # which Debian's headers of AArch64 ask for and do not bring
  programs='digests options'
  # shellcheck disable=SC2046,SC2086
  succeeds "$name: every source compiles" made "-O2 -ffreestanding -fno-exceptions -fno-stack-protector" "$(mains)" "$@" "-isystem$folder" || return
  # shellcheck disable=SC2086
  succeeds "$name: its platform compiles" compile_all "$folder/platform" "$platform" -std=c++17 -O2 -ffreestanding -fno-exceptions -fno-stack-protector -Iinclude &&
    run_all "$name" "$emulator" "$@" $linked "$folder"/platform/*.o
  programs='specials digests options'
}

# Visual C++'s kernels for x86, as GCC compiles them: its assembly stays out of those, not out of the rest of the library.
without_assembly() {
  folder=$build/without_assembly
  mkdir -p "$folder"
  flags='-std=c++17 -ffp-contract=off -DATTEND_NO_ASSEMBLY -Iinclude'
  # shellcheck disable=SC2086
  succeeds "x86 without assembly: AVX-512 compiles" compile_all "$folder/avx512" "$(ls src/*/*avx512*.cpp)" $flags ${ALL:+-O2} &&
    succeeds "x86 without assembly: AVX2, which is emulated too, compiles" compile_all "$folder/avx2" "$(ls src/*/*avx2.cpp src/*/*avxvnni.cpp)" $flags -O1 ${ALL:+-O2} || return
  for program in $programs; do
    # shellcheck disable=SC2086
    succeeds "x86 without assembly: $program link" $cxx -std=c++17 -O1 -Iinclude tests/boards/${program}_main.cpp tests/boards/hosted.cpp \
      "$folder"/avx*/*.o "$library" -o "$build/$program" && on_each_backend 'x86 without assembly' $program
  done
  # A processor with VNNI takes that for integers: here AVX2's are taken.
  if command -v qemu-x86_64 >/dev/null 2>&1; then
    succeeds 'x86 without assembly: digests are the committed ones on an older processor' qemu-x86_64 -cpu Haswell "$build/digests"
  else
    missing 'an older processor' 'apt-get install qemu-user'
  fi
}

if [ -n "${ALL:-}" ]; then
  host gcc-O0 -O0 g++
  host gcc-O3 '-O3 -ffp-contract=fast' g++
  host clang-O0 -O0 "$clang"
  host clang-O3 '-O3 -ffp-contract=fast' "$clang"
  host host_form '-O1 -D_M_ARM64' g++
  on_board cortex-m0plus '-Os -DATTEND_SOFT_FLOAT=1'
  on_board cortex-m55 '-Os -DATTEND_SOFT_DOUBLE=1'
  big_endian s390x -static qemu-s390x tests/boards/hosted.cpp s390x-linux-gnu-g++
  big_endian aarch64_be '-static -nostdlib' qemu-aarch64_be 'tests/boards/linux.cpp bench/boards/memory.cpp' aarch64-linux-gnu-g++ -mbig-endian
fi
on_board cortex-m4 '-Os -DATTEND_SOFT_DOUBLE=1 -DATTEND_FMA_OF=multiply_add'
cxx=$1
case $(uname -m) in x86_64) without_assembly ;; esac

finish
