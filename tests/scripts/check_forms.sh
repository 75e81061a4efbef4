#!/bin/sh
# Each processor gets the form of the algorithm that is right for it, and the same bits: tests/scripts/check_forms.sh CXX BUILD_DIR
#
# Real-time processors are embedded, in Thumb state with the kernels of the Cortex-M; a build may choose either form anywhere; what
# is neither has floats in software where its compiler says so. Arm's user-mode emulator runs processors that no board here has.
# Without ALL=1 all sources are one file. With it: more processors and, by Clang, of which Arm Compiler 6 is made, more than the M55.
cxx=$1
build=$2/check_forms
clang=${CLANG:-clang++}
[ -z "${ALL:-}" ] || clang=clang++-22 # knows M52 and M85
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
board=bench/boards/board.sh
hard='-mfpu=vfpv3-d16 -mfloat-abi=hard'
bare='-ffreestanding -fno-exceptions -Os'
sources=$(all_in_one "$build/library.cpp") kernels=library.o
[ -z "${ALL:-}" ] || sources=$(ls src/*/*.cpp) kernels=target.o

# made NAME "PLATFORM…" SET COMPILER FLAG…: the library, the programs and their platform; its kernels must be the set's.
made() {
  name=$1 beside=$2 set=$3
  shift 3
  folder=$build/$name
  needs "$1" "${package:-gcc-arm-none-eabi}" || return
  cxx=$1
  shift
  succeeds "$name: every source compiles" \
    compile_all "$folder" "$sources tests/boards/digests_main.cpp tests/boards/options_main.cpp $beside" -std=c++17 -Iinclude "$@" || return
  nothing_in "$(grep -q "_ZN6attend[0-9]*${set}7Backend3runE" "$folder/$kernels" || echo "they are not")" "$name: its kernels are $set"
  case $* in *ATTEND_EMBEDDED=0*) embedded=false ;; *) embedded=${form:-true} ;; esac
  printf '#include <attend/core/config.h>\nstatic_assert(attend::config::embedded == %s, "the form");\n' $embedded >"$build/form.cpp"
  succeeds "$name: its form is the right one" $cxx "$@" -std=c++17 -Iinclude -fsyntax-only "$build/form.cpp"
}

# runs NAME "PLATFORM…" SET "EMULATOR" COMPILER FLAG…: the same, linked and run.
runs() {
  label=$1 where=$2 which=$3 emulator=$4
  shift 4
  made "$label" "$where" "$which" "$@" || return
  [ -z "$emulator" ] || needs "${emulator%% *}" qemu-user || return
  for program in digests options; do
    # shellcheck disable=SC2046
    succeeds "$label: $program link" "$@" $(ls "$folder"/*.o | grep -v _main.o) "$folder/${program}_main.o" ${linked:-} -o "$folder/$program" || return
    # shellcheck disable=SC2086
    succeeds "$label: $program are the committed ones" timeout 600 $emulator "$folder/$program"
  done
}

# on_board NAME BOARD SET COMPILER FLAG…: the same on a board that executes the code.
on_board() {
  label=$1 on=$2
  shift 2
  made "$label" '' "$@" -ffunction-sections -fdata-sections -fshort-enums || return
  needs qemu-system-arm qemu-system-arm || return
  for program in digests options; do
    # shellcheck disable=SC2046
    succeeds "$label: $program link" sh $board link "$on" "$folder/$program" "$folder/${program}_main.o" $(ls "$folder"/*.o | grep -v _main.o) &&
      succeeds "$label: $program are the committed ones" sh $board run "$on" "$folder/$program"
  done
}

runs embedded tests/boards/hosted.cpp scalar '' "$cxx" -O1 -DATTEND_EMBEDDED=1

platform='tests/boards/linux.cpp bench/boards/memory.cpp' linked=-lgcc arm=${ARM_CXX:-arm-none-eabi-g++}
# shellcheck disable=SC2086
{
  runs cortex-r5 "$platform" scalar 'qemu-arm -cpu cortex-r5f' "$arm" -mcpu=cortex-r5 $hard -mthumb -nostdlib $bare
  # Names must not depend on what a compiler's int32_t is: with GCC for Arm it is long, with Clang int.
  nothing_in "$([ -e "$build/cortex-r5/$kernels" ] || echo 'there are no objects'
    arm-none-eabi-nm -C "$build"/cortex-r5/*.o | sed 's/long long//g' | grep -v attend_test | grep ' [TW] .*\<long\>')" "no function that programs call has long in its name"
  cat >"$build/size.cpp" <<'EOF'
#include <attend/attend.h>
#include <attend/integer.h>
struct Wake {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32, max_tokens = 64;
};
static_assert(sizeof(attend::Workspace<Wake, 1>) <= 640 + 64, "as on an M4");
static_assert(attend::config::embedded, "the embedded form");
EOF
  for processor in r5 m4; do
    succeeds "cortex-$processor: a token in integers works in at most 704 bytes" "$arm" -std=c++17 -mcpu=cortex-$processor -mthumb -Iinclude -fsyntax-only "$build/size.cpp"
  done
  if [ -n "${ALL:-}" ]; then
    runs cortex-r5_arm "$platform" scalar 'qemu-arm -cpu cortex-r5f' "$arm" -mcpu=cortex-r5 $hard -marm -nostdlib $bare
    runs cortex-r5_soft "$platform" scalar 'qemu-arm -cpu cortex-r5' "$arm" -mcpu=cortex-r5 -mfloat-abi=soft -mthumb -nostdlib $bare
    runs cortex-r5_host "$platform" scalar 'qemu-arm -cpu cortex-r5f' "$arm" -mcpu=cortex-r5 $hard -mthumb -nostdlib $bare -DATTEND_EMBEDDED=0
    made cortex-r5_big "$platform" scalar "$arm" -mcpu=cortex-r5 $hard -mbig-endian -mthumb $bare # no library of such a compiler's is there
    on_board cortex-m55_host cortex-m55 scalar "$arm" -mcpu=cortex-m55 -mfloat-abi=hard $bare -DATTEND_EMBEDDED=0
    runs cortex-r52 "$platform" vfp 'qemu-arm -cpu max' "$arm" -mcpu=cortex-r52 -mfpu=neon-fp-armv8 -mfloat-abi=hard -mthumb -nostdlib $bare
    runs arm1176 "$platform" scalar 'qemu-arm -cpu arm1176' "$arm" -mcpu=arm1176jzf-s -mfpu=vfpv2 -mfloat-abi=hard -marm -nostdlib $bare
    package=g++-aarch64-linux-gnu linked=-static
    runs aarch64_embedded tests/boards/hosted.cpp scalar qemu-aarch64 aarch64-linux-gnu-g++ -DATTEND_EMBEDDED=1 -Os
    package=gcc-xtensa-lx106
    made xtensa '' scalar xtensa-lx106-elf-g++ $bare
    package='gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64'
    form=false made mingw '' scalar x86_64-w64-mingw32-g++ -O2
    nothing_in "$([ -e "$build/mingw/target.o" ] || echo 'there are no objects'
      x86_64-w64-mingw32-objdump -d "$build"/mingw/*.o | grep -m 3 '%[yz]mm')" "mingw: nothing of 32 bytes lies on its stack"
  fi
  # Arm Compiler 6's stand-in.
  package=clang arm_clang="$clang --target=arm-none-eabi -nostdlibinc -nostdinc++ $bare"
  pairs='m55:m55:helium'
  [ -z "${ALL:-}" ] || pairs="$pairs m4:m4:vfp m33:m33:vfp m23:m0plus:scalar m52:m55:helium m85:m55:helium"
  for pair in $pairs; do
    name=${pair%%:*} pair=${pair#*:}
    on_board "clang_$name" "${pair%:*}" "${pair#*:}" $arm_clang -mcpu=cortex-$name $([ $name = m23 ] || echo -mfloat-abi=hard)
  done
}

finish
