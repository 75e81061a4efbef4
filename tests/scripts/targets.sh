#!/bin/sh
# Every target gives the same bits: tests/scripts/targets.sh [BUILD_DIR], from the project's top folder. Installs nothing.
#
# What is missing is skipped, and the table names the package to install; where CI=true, that is a failure. CXX= is the host's
# compiler, CLANG= another Clang than clang++, MODELS= the folder of the story's model and tokenizer, JOBS= how many targets run
# at a time, TARGETS= which of them. Each leaves its log in BUILD_DIR/targets. ALL=1: all compiled tests on AArch64, Armv7-A, s390x and
# RISC-V's vectors, in place of those that look at kernels; these vectors compiled for 256 bits, too; the stack at -O0 and -Os on
# AArch64, Armv7-A and RISC-V of 64 bits; Clang's big-endian AArch64; on each board all programs; all kinds of vendors' builds, and
# each source by itself in these.
# PART= linux, boards or vendors: these targets alone.
build=${1:-build}
work=$build/targets
cxx=${CXX:-g++}
clang=${CLANG:-clang++}
models=${MODELS:-../shared/models}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
board=bench/boards/board.sh
story_tokens=100
# What boards run, and those that execute the code of another one.
programs='chains, outputs, specials, borders, digests, options'
few_programs="${ALL:+chains, outputs, specials, borders, }digests, options"
# Of the compiled tests, what looks at kernels: operations, digests, options beside the definition, reads beyond an array.
kernels='tests/unit/test_operations.cpp tests/conformance/test_digests.cpp tests/conformance/test_options.cpp'
kernels="$kernels tests/conformance/test_guard.cpp tests/conformance/test_option_guard.cpp tests/conformance/test_integer_guard.cpp"
# Those with a float unit and a C++ library run the application too.
application_boards="cortex-m4 ${ALL:+cortex-m7 cortex-m33} cortex-m55"
. tests/support/sources.sh
. tests/support/workers.sh

boards=$(sh $board boards)
linux="aarch64 armv7-a ${ALL:+i686} rv64 rv64v s390x aarch64_be wasm32" vendors='vendor/gcc vendor/clang'
case ${PART:-} in
  linux) targets=$linux ;;
  boards) targets=$boards ;;
  vendors) targets=$vendors ;;
  *) targets="$linux $boards $vendors" ;;
esac
# The slow ones first, so that no worker is left alone with one at the end.
order=$targets
[ -n "${PART:-}" ] || order="vendor/gcc s390x armv7-a aarch64 rv64v vendor/clang rv64 cortex-m0plus cortex-m3 $targets"
# Architectures that are tried now and then, by their names alone: TARGETS="powerpc64le hppa" make targets
others='i686 powerpc64le powerpc sparc64 mips64el mips hppa'
[ -z "${TARGETS:-}" ] || targets=$TARGETS order=$TARGETS

# Exit statuses of a target. What is not there cannot be installed: another processor, files of someone else.
missing=77 not_there=78

say() { echo "$*"; }

needs() {  # program package, and so on
  absent=''
  while [ $# -gt 0 ]; do
    command -v "$1" >/dev/null 2>&1 || absent="$absent $2"
    shift 2
  done
  [ -z "$absent" ] || { say "apt-get install$absent"; exit $missing; }
}

of_kernels='operations, digests, options, guards, '
[ -z "${ALL:-}" ] || of_kernels='compiled tests, '
what() {
  case " $natives " in *" $1 "*) say "specials, digests, options, streams on this machine" && return ;; esac
  case $1 in
    aarch64 | armv7-a) say "${of_kernels}the stack, user-mode emulation" ;;
    rv64) say "specials, digests, options, streams, the stack, emulation" ;;
    s390x) say "specials, digests, options${ALL:+, all tests but accuracy}, emulation" ;;
    aarch64_be) say "digests, options without a C library${ALL:+, and Clang's}, emulation" ;;
    wasm32) say "digests, options in Node.js, without and with SIMD" ;;
    rv64v) say "${of_kernels}operations of 512 bits${ALL:+; digests of 256}" ;;
    vendor/*) say "copied folders, each kind of build, emulated" ;;
    cortex-m0plus) say "$programs, streams; commands in int8" ;;
    cortex-m3 | rv32imac) say "$few_programs" ;;
    cortex-m7) say "$few_programs${ALL:+, household, story}" ;;
    cortex-m33) say "$programs${ALL:+, household, story}" ;;
    rv32imafc) say "$programs, README's first program" ;;
    i686) say "specials, digests, options: SSE2, and what emulation has" ;;
    powerpc* | sparc64 | mips* | hppa) say "specials, digests, options, user-mode emulation" ;;
    cortex-m4) say "$programs, streams, tasks, two boards, traps, household, story" ;;
    cortex-m55) say "$programs, tasks${ALL:+, traps}, household, story" ;;
    *) say "$programs, household, story" ;;
  esac
}

# Constants that Arm's own instructions load lie nearer than Thumb's: a compiler must know how long assembly is. Functions of
# tests are longer than those of the library.
arm_instructions() {
  needs arm-linux-gnueabihf-g++ g++-arm-linux-gnueabihf
  for level in -O1 -O3; do
    arm-linux-gnueabihf-g++ -std=c++17 $level -marm -mfpu=neon-vfpv4 -Iinclude -isystem build/doctest/usr/include \
      -c tests/unit/test_operations.cpp -o "$work/arm$level.o" || return 1
  done
}

native() {  # backend
  ATTEND_BACKEND=$1 "$work/specials" && ATTEND_BACKEND=$1 "$work/digests" && ATTEND_BACKEND=$1 "$work/options" &&
    ATTEND_BACKEND=$1 "$work/streams"
  status=$?
  [ $status -eq 77 ] && exit $not_there
  return $status
}

# The suite of another Linux, with the library whose stack was looked at, which contracts where the compiler does. Extra flags are
# the vendor's: which vector unit there is. The headers promise no stack for s390x, where every frame holds 160 bytes for the callee.
unit() {  # triplet emulator extra-flags tests-to-leave-out rooms-with-ALL
  needs "$1-g++" "g++-$1" "$2" qemu-user
  folder=$work/$1 library=''
  if [ "$1" != s390x-linux-gnu ]; then
    LEVELS="${ALL:+-O0 -Os }-O2" sh tests/scripts/check_stack.sh "$1-g++${3:+ $3}" "$folder" || return 1
    [ ! -d "$folder/levels/O2" ] || library=$(echo "$folder"/levels/O2/*.o)
  fi
  tests=TEST_FILES=$kernels
  [ -z "${ALL:-}" ] || tests=TEST_ROOMS=$5
  make -j1 CXX="$1-g++" EXTRA="$3" TEST_ROOMS=none "$tests" GROUPED=8 BUILD="$folder" ${library:+"LIBRARY=$library"} "$folder/unit" || return 1
  run_unit "$folder" "$2 -L /usr/$1" "$4"
}

# The same library as where there are no floating-point vectors.
rv64() {
  needs riscv64-linux-gnu-g++ g++-riscv64-linux-gnu qemu-riscv64 qemu-user
  LEVELS="${ALL:+-O0 -Os }-O2" sh tests/scripts/check_stack.sh riscv64-linux-gnu-g++ "$work/rv64" || return 1
  for program in specials digests options streams; do
    riscv64-linux-gnu-g++ -std=c++17 -O2 -ffp-contract=off -Iinclude tests/boards/${program}_main.cpp tests/boards/hosted.cpp \
      "$work"/rv64/levels/O2/*.o -static -o "$work/rv64/$program" && emulated qemu-riscv64 "$work/rv64/$program" || return 1
  done
}

run_unit() {  # folder emulator tests-to-leave-out
  if [ -r "$models/stories260K.bin" ]; then
    export ATTEND_MODEL="$models/stories260K.bin" ATTEND_TOKENIZER="$models/tok512.bin"
    export ATTEND_STORY="$models/stories260K.greedy200.txt"
  fi
  # shellcheck disable=SC2086
  emulated env ATTEND_RUNNER="$2" $2 "$1/unit" --test-case-exclude="$3" >"$1/unit.log" 2>&1
  status=$?
  cat "$1/unit.log"
  sed -n 's/^\[doctest\] test cases: *[0-9]* | *\([0-9]*\) passed | *\([0-9]*\) failed.*/\1 passed, \2 failed/p' "$1/unit.log"
  return $status
}

# RISC-V with vectors, which need Clang: the suite with registers of 128 bits, the same program where registers are longer, and
# what makes use of longer ones. Slow tests are left out: those of scalar functions, which rv64 runs, and those of errors, which
# are the same where the bits are. Those of the application throw out of code which Clang has vectorised: the
# unwinder of GCC 12 cannot restore frames whose size depends on the vectors' length, and ends the program.
# shellcheck disable=SC2086
rv64v() {
  needs clang++-19 clang-19 riscv64-linux-gnu-g++ g++-riscv64-linux-gnu qemu-riscv64 qemu-user
  compiler='clang++-19 --target=riscv64-linux-gnu'
  emulator='qemu-riscv64 -L /usr/riscv64-linux-gnu -cpu rv64,v=true,vext_spec=v1.0,vlen'
  folder=$work/rv64v
  vectors "$folder" -march=rv64gcv && emulated env ATTEND_RUNNER="$emulator=1024" $emulator=1024 "$folder/unit" --test-case='committed digests*,operations*' || return 1
  [ -z "${ALL:-}" ] || { vectors "$folder/256" '-march=rv64gcv_zvl256b -mrvv-vector-bits=zvl' &&
    emulated env ATTEND_RUNNER="$emulator=256" $emulator=256 "$folder/256/unit" --test-case='*digests*,*random shapes*'; } || return 1
  operations 128 && { [ -z "${ALL:-}" ] || operations 256; } && operations 512 || return 1
  run_unit "$folder" "$emulator=128" \
    'the polynomial*,the software fused*,scale * log2*,formats: floats become*,errors*,app:*'
}

# Without debug information, of which GNU ld 2.40 crashes. What the cross compiler's C++ library deprecates in itself is no
# warning with that compiler.
vectors() {  # build-folder flags
  tests=TEST_FILES=$kernels
  [ -z "${ALL:-}" ] || tests='TEST_ROOMS=conformance unit app'
  make -j1 DEBUG= CXX="$compiler" EXTRA="$2 -Wno-deprecated-declarations" TEST_ROOMS=none "$tests" GROUPED=8 TEST_BUILD="$folder" BUILD="$1" "$1/unit"
}

# shellcheck disable=SC2086
operations() {  # bits
  mkdir -p "$folder/$1"
  $compiler -march=rv64gcv_zvl$1b -std=c++17 -O1 -Iinclude -isystem build/doctest/usr/include -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS \
    tests/unit/test_operations.cpp "$folder/tests/support/main.o" "$folder/libattend.a" -o "$folder/$1/operations" && emulated $emulator=$1 "$folder/$1/operations"
}

emulated() { ATTEND_QUICK=36 timeout 900 "$@"; }

# library_sources FOLDER: without ALL=1 one file.
library_sources() { if [ -n "${ALL:-}" ]; then ls src/*/*.cpp; else all_in_one "$1/library.cpp"; fi; }

# What the digests of x86 of 32 bits or one of the others take: a cross compiler of Debian with its C library, and user-mode emulation.
# shellcheck disable=SC2086
other() {  # architecture
  triplet=$1-linux-gnu emulator=qemu-$1 flags='' backends=''
  case $1 in
    i686) emulator=qemu-i386 flags='-msse2 -mfpmath=sse' backends=sse2 ;;
    powerpc64le) emulator=qemu-ppc64le ;;
    powerpc) emulator=qemu-ppc ;;
    mips64el) triplet=mips64el-linux-gnuabi64 ;;
  esac
  needs $triplet-g++ g++-$triplet $emulator qemu-user
  rm -rf "$work/$1" && mkdir -p "$work/$1"
  for source in $(library_sources "$work/$1"); do
    $triplet-g++ $flags -std=c++17 -O2 -ffp-contract=off -Iinclude -c "$source" -o "$work/$1/$(basename "$source" .cpp).o" || return 1
  done
  for program in specials digests options; do
    $triplet-g++ $flags -std=c++17 -O2 -ffp-contract=off -Iinclude tests/boards/${program}_main.cpp tests/boards/hosted.cpp \
      "$work/$1"/*.o -static -o "$work/$1.$program" && emulated $emulator "$work/$1.$program" || return 1
    for backend in $backends; do
      emulated env ATTEND_BACKEND=$backend $emulator "$work/$1.$program" || return 1
    done
  done
}

# Digests and options without a C library. $link: flags for the linker, and libraries. $objects: the library's, where they are there.
freestanding() {  # name-of-folder "compiler and flags" platform "emulator"
  folder=$work/$1
  compile="$2 -std=c++17 -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -ffunction-sections -fdata-sections -Iinclude"
  rm -rf "$folder"
  mkdir -p "$folder"
  sources="tests/boards/$3.cpp bench/boards/memory.cpp"
  [ -n "${objects:-}" ] || sources="$(library_sources "$folder") $sources"
  for source in $sources; do
    # shellcheck disable=SC2086
    $compile -c "$source" -o "$folder/$(basename "$source").o" || return 1
  done
  for program in digests options; do
    # shellcheck disable=SC2086
    $compile ${of_programs:-} tests/boards/${program}_main.cpp "$folder"/*.o ${objects:-} -nostdlib -Wl,--gc-sections $link -o "$folder/$program" || return 1
    timeout 900 $4 "$folder/$program" || return
  done
}

# There is no C library for it: the libraries of the cross compiler are little-endian.
aarch64_be() {
  needs aarch64-linux-gnu-g++ g++-aarch64-linux-gnu qemu-aarch64_be qemu-user "$clang" clang ld.lld lld
  link=-static
  freestanding aarch64_be 'aarch64-linux-gnu-g++ -mbig-endian -O2' linux qemu-aarch64_be || return
  [ -n "${ALL:-}" ] || return 0
  link='-static -fuse-ld=lld'
  freestanding aarch64_be-clang "$clang --target=aarch64_be-linux-gnu -O2" linux qemu-aarch64_be
}

# The stack comes first in memory, so that a program that needs more of it stops.
wasm32() {
  needs "$clang" clang wasm-ld lld node nodejs
  link='-Wl,--no-entry -Wl,--stack-first'
  # The library with vectors is that of the npm package, if it was made.
  objects=''
  freestanding wasm32 "$clang --target=wasm32 -Os" wasm 'node tests/boards/wasm.mjs' || return
  objects=''
  if [ -f build/wasm/attend.wasm ] && make -q wasm CLANG="$clang" >/dev/null 2>&1; then objects=$(echo build/wasm/attend/src/*/*.o); fi
  # With it Clang 14, unlike 19 and 22, makes other combinations of options from the program's random numbers.
  of_programs=-fno-slp-vectorize
  freestanding wasm32-simd128 "$clang --target=wasm32 -msimd128 -O2" wasm 'node tests/boards/wasm.mjs'
}

# Two boards over one sequence, in floats and in integers: one saves its states in a file, and the other one's output has the
# bits of a board that holds all keys.
two_boards() {  # board
  as_alone=0
  for numbers in floats integers; do
    rm -f "$work/$1.states"
    for role in first second alone; do
      sh $board run "$1" "$work/$1.two_boards" $role $numbers "$work/$1.states" >"$work/$1.$role.txt"
      status=$?
      sed "s/^/$role of two boards, $numbers: /" "$work/$1.$role.txt"
      [ $status -eq 0 ] || return $status
    done
    grep -q digest "$work/$1.alone.txt" && cmp "$work/$1.second.txt" "$work/$1.alone.txt" && as_alone=$((as_alone + 1))
  done
  say "two boards: $as_alone passed, $((2 - as_alone)) failed"
  [ $as_alone -eq 2 ]
}

# Without optimisation compilers keep everything in memory, and find the fewest registers for assembly.
unoptimised() {  # board
  for source in src/*/embedded_*.cpp src/*/*target.cpp; do
    # shellcheck disable=SC2046
    $(sh $board compiler "$1") $(sh $board flags "$1") -O0 -fno-omit-frame-pointer -std=c++17 -Iinclude -c "$source" \
      -o "$work/$1.unoptimised.o" || return 1
  done
}

on_board() {  # board
  case $1 in cortex-m3 | cortex-m7 | rv32imac) programs=$few_programs ;; esac
  programs=$(echo "$programs" | tr -d ,)
  case $1 in
    rv32imac) programs="$programs ${ALL:+example}" ;;
    rv32imafc) programs="$programs example" ;;
    cortex-m0plus) programs="$programs streams household_int8" ;;
    cortex-m4) programs="$programs streams tasks" ;;
    cortex-m55) programs="$programs tasks" ;;
  esac
  case " $application_boards " in *" $1 "*)
    programs="$programs household household_int8 household_floats"
    [ ! -s "$work/story.txt" ] || programs="$programs story"
    ;;
  esac
  built=$programs
  [ "$1" != cortex-m4 ] || built="$built two_boards"
  # shellcheck disable=SC2086
  MODELS=$models sh $board build "$1" "$work" $built || return
  case $1 in cortex-m4 | cortex-m55 | rv32imafc) unoptimised "$1" || return ;; esac
  for program in $programs; do
    arguments=''
    [ $program != story ] || arguments=$story_tokens
    how=run
    case $program in streams | tasks) how=count ;; esac
    sh $board $how "$1" "$work/$1.$program" $arguments >"$work/$1.$program.txt"
    status=$?
    cat "$work/$1.$program.txt"
    [ $status -eq 0 ] || return $status
    ! grep 'left out' "$work/$1.$program.txt" || return 1 # these boards have the memory
    [ $program != borders ] || for how in over under; do
      sh $board run "$1" "$work/$1.borders" $how | grep -A 1 '^within' | grep '^fault: .*, data at' || return 1
      say "ok   $1: one number $how an array is a fault"
    done
    case $program in household* | story | example) cmp "$work/$1.$program.txt" "$work/$program.txt" || return 1 ;; esac
  done
  [ "$1" != cortex-m4 ] || two_boards "$1" || return
  # It asks for objects of single sources, which some boards have with ALL=1 alone.
  case "$1${ALL:+ all}" in cortex-m0plus* | cortex-m4* | cortex-m55* | rv32imafc* | *' all') AS_ONE='' sh tests/scripts/check_tasks.sh "$1" "$work" || return ;; esac
  case "$1${ALL:+ all}" in cortex-m4* | 'cortex-m55 all' | 'cortex-m7 all' | 'cortex-m33 all') sh tests/scripts/check_strict.sh "$1" "$work" || return ;; esac
  case $programs in
    *story*) say "actions, scores and text as on this machine" ;;
    *household_floats*) say "actions and scores as on this machine; no model in $models for a story" ;;
    *household*) say "actions and scores as on this machine" ;;
  esac
}

work_on() {  # target
  case $1 in
    aarch64) unit aarch64-linux-gnu qemu-aarch64 '' "$accuracy_tests" 'unit conformance app' ;;
    armv7-a) arm_instructions && unit arm-linux-gnueabihf qemu-arm -mfpu=neon-vfpv4 "$accuracy_tests" "unit conformance app c typed" ;;
    s390x)
      other s390x && { [ -z "${ALL:-}" ] || unit s390x-linux-gnu qemu-s390x '' "$accuracy_tests,the polynomial*" 'unit conformance app c typed'; }
      ;;
    i686) other i686 ;;
    rv64 | rv64v | aarch64_be | wasm32) "$1" ;;
    vendor/*) CXX=$cxx JOBS=1 sh tests/scripts/check_firmware.sh "${1#vendor/}" "$work" "$build/libattend.a" ;;
    *) case " $natives , $others " in *" $1 "*,*) native "$1" ;; *,*" $1 "*) other "$1" ;; *) on_board "$1" ;; esac ;;
  esac
}

row() { printf '%-17s %-8s %5s  %-50s %s\n' "$@"; }

# One row for each target, and the logs of those that failed.
report() {
  passed=0 failed=0 skipped=0 logs='' together=0
  row target result time 'what was run' ''
  for name in $targets; do
    files=$work/log/$(echo "$name" | tr / -)
    status=1 seconds='?' processor=0
    [ -r "$files/result" ] && read -r status seconds processor <"$files/result"
    together=$((together + processor))
    detail=$(grep -v '^$' "$files/log" | tail -n 1)
    case $status in
      0) result=passed passed=$((passed + 1)) ;;
      "$missing") result=skipped ;;
      "$not_there") result=skipped ;;
      *) result=failed ;;
    esac
    [ "$status" = "$missing" ] && [ "${CI:-}" = true ] && result=failed
    [ $result = skipped ] && skipped=$((skipped + 1))
    [ $result = failed ] && failed=$((failed + 1)) logs="$logs $files/log"
    row "$name" $result "$seconds s" "$(what "$name")" "$detail"
  done
  for log in $logs; do printf '\n== %s\n' "$log" && tail -n 20 "$log"; done
  printf '\nall targets: %s seconds of a processor\n%d passed, %d failed%s\n' "$together" $passed $failed "$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
  [ $failed -eq 0 ] && [ $passed -gt 0 ]
}

# The emulated builds are other builds: nothing that the caller's make was told holds for them.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
rm -rf "$work/log" "$work/story.txt"
mkdir -p "$work/log" || exit 1
make CXX="$cxx" BUILD="$build" "$build/run" "$build/libattend.a" build/doctest.ready >&2 || exit 1
# shellcheck disable=SC2086
for program in specials digests options streams; do
  $cxx -std=c++17 -O2 -ffp-contract=off -Iinclude tests/boards/${program}_main.cpp tests/boards/hosted.cpp "$build/libattend.a" \
    -o "$work/$program" || exit 1
done
# The backends of this machine, by the list that the library has.
natives=$(ATTEND_BACKEND=list "$work/digests" | tac | paste -sd' ')
[ -n "$natives" ] || exit 1
case ${TARGETS:-}/${PART:-linux} in /linux) targets="$natives $targets" order="$order $natives" ;; esac
# What the first program of README and the application say on this machine.
$cxx -std=c++17 -O2 -ffp-contract=off -Iinclude bench/boards/example_main.cpp tests/boards/hosted.cpp "$build/libattend.a" \
  -o "$work/example" && "$work/example" >"$work/example.txt" || exit 1
if [ -r "$models/stories260K.bin" ] && [ -r "$models/tok512.bin" ]; then
  "$build/run" --model "$models/stories260K.bin" --tokenizer "$models/tok512.bin" --steps $story_tokens \
    >"$work/story.txt" 2>/dev/null || exit 1
fi
$cxx -std=c++17 -O2 -Iinclude bench/boards/household_main.cpp tests/boards/hosted.cpp \
  $(ls "$build"/bench/app/*.o | grep -v '/run\.o$') "$build/libattend.a" -o "$work/household" || exit 1
command -v python3 >/dev/null || { echo "targets: python3 was not found: apt-get install python3" >&2; exit 1; }
python3 bench/app/train/float_weights.py bench/app/model/household.bin "$work/floats.bin" || exit 1
ATTEND_MODEL=bench/app/model/household.bin "$work/household" >"$work/household.txt" || exit 1
$cxx -std=c++17 -O2 -Iinclude bench/boards/household_int8_main.cpp tests/boards/hosted.cpp \
  $(ls "$build"/bench/app/*.o | grep -v '/run\.o$') "$build/libattend.a" -o "$work/household_int8" || exit 1
ATTEND_MODEL=bench/app/model/household.bin "$work/household_int8" >"$work/household_int8.txt" || exit 1
ATTEND_MODEL=$work/floats.bin "$work/household" >"$work/household_floats.txt" || exit 1

begin=$(date +%s)
# shellcheck disable=SC2086
share_out "$jobs" "$work/log" $order
echo
report
status=$?
echo "$(($(date +%s) - begin)) seconds" >&2
exit $status
