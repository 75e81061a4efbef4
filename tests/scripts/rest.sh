#!/bin/sh
# What `make test` leaves out: tests/scripts/rest.sh [BUILD_DIR], from the project's top folder. Installs nothing.
#
# A 36th of the suite over Clang's library; what some of it reaches of the library; the unit tests with contraction and under
# sanitizers; typed calls of many widths;
# the digests on older processors; that benchmarks run; sums over three processes; hot loops within their limits; every emulated
# target; flash, stack and instructions on boards; the self-tests on boards of other people; what make vendor copies; copied
# folders, with layers and without; an install; the library at -O0, its symbols and its recursion; packages of all kinds; a release;
# exported models; keywords as a stream; a story; the playground in a browser and the types of the npm package, for which npm fetches what they need;
# the application where disks are full and files cut short; the library by stand-ins of compilers that are neither GCC nor Clang; the forms that processors get.
#
# ALL=1 is what a release waits for, an hour on two processors. Without it, what is likely to be red together with something
# else is left out: the unit tests with all of their random problems (make test takes a twelfth) and the wheel's in integers
# (packages has a tenth); the tables of errors, whose bounds unit tests hold; the library optimised at link time (symbols: no
# instruction set defines what another one could call) and as one file of C++11 (packages link theirs); GCC's -Os on x86, which
# boards have: symbols, stack, copied folders, a program without a C library (Clang's stays); assembly in Intel's syntax;
# fuzzing, contraction, symbols and warnings of headers with Clang; the typed surface, and vectors other than AVX2's, under
# sanitizers, and four tests that take a third of their time; contracted objects of AVX-512 and of both VNNIs; Clang's hosted objects of instruction sets, in whose place its
# tests have those for bare x86; other compilers' objects of instruction sets that this processor lacks; emulated instruction
# sets on an older processor; widths of typed calls above 26; hot loops with both compilers, but for NEON's; sizes of boards
# that execute the code of another one, and at -O2 of the M55, whose loops are held to limits, and of rv32imafc; objects of each
# source by itself where nothing is asked of them but bits; warnings that need optimisation of a vendor's flags for Cortex-M0+,
# M55, rv32imafc and AArch64, whose sources are then only read with them, and AArch64 freestanding at -Os; Clang's warnings for
# Windows on x86 of 32 bits and AArch64, and each of the sources by itself there; benchmarks with optimisation, and those of
# large projections; that the playground compiles to the same bytes twice; adapters with the optimisation that is installed,
# each of their sources by itself; what else the scripts of packages, releases, vendors, adapters, the exporter and forms say; and of
# targets what targets.sh says.
# Clang's library for bare x86 is always made with -funsafe-math-optimizations, which must change nothing.
#
# PART= is one of five parts that can run on machines beside each other: clang (with sanitizers), linux (its targets), boards
# (with sizes), vendors (their builds), products (adapters, site, packages).
#
# BUILD_DIR is that of CXX=, whose tests are linked with each of its other builds of the library. MODELS= is the folder of the
# story's model and tokenizer, JOBS= how many parts run at a time. What is not installed is a failure where CI=true.
build=${1:-build/g++-O2}
cxx=${CXX:-g++}
clang=${CLANG:-clang++}
models=${MODELS:-../shared/models}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
work=$build/rest${ALL:+-all} # what is compiled otherwise with ALL=1 is not taken for what is there
contracted='-march=native -ffp-contract=fast'
. tests/support/workers.sh

# The slow ones first, so that no worker is left alone with one at the end. What makes the same objects stands apart.
parts="clang sanitized exporter vendoring packages release install ${ALL:+accuracy unit dialects wheel link_time unity} contracted tiles typed_widths site playground coverage distributed board_tests vendor alone adapters app_faults keywords symbols npm types iso forms benchmarks old_processors stack ${ALL:+freestanding}"
[ ! -r "$models/stories260K.bin" ] || parts="$parts story"

# share_of PART: which checks are PART= of it. What stands in none of them is found when all are run.
share_of() {
  for check in $parts; do
    case $check in
      clang | sanitized | contracted | coverage | typed_widths | dialects | link_time | unity | iso) share=clang ;;
      unit | old_processors | distributed | story) share=linux ;;
      tiles | accuracy | board_tests | keywords | forms) share=boards ;;
      benchmarks | vendor | vendoring | install | alone | symbols | stack | freestanding) share=vendors ;;
      site | playground | exporter | packages | release | npm | wheel | adapters | types | app_faults) share=products ;;
      *) echo "rest.sh: no part has $check" >&2 && exit 1 ;;
    esac
    [ "$share" != "${1:-$share}" ] || printf '%s ' "$check"
  done
}
case ${PART:-clang} in
  clang | linux | boards | vendors | products) parts=$(share_of "${PART:-}") || exit 1 ;;
  *) echo 'rest.sh: PART= clang, linux, boards, vendors or products' >&2 && exit 1 ;;
esac

# variant NAME CXX TESTS FLAGS…: the unit tests, a 72nd of the random problems, with another library than that of TESTS, but for
# those of accuracy and of guard pages: sanitizers watch all memory, and contraction changes no address.
variant() {
  name=$1 compiler=$2 tests=$3
  shift 3
  ATTEND_QUICK=72 make -j1 unit CXX="$compiler" BUILD="$work/$name" ${tests:+"TEST_BUILD=$tests"} \
    ARGS="--test-case-exclude='$accuracy_tests,guards*${without:+,$without}'" "$@"
}

# library_of VARIANT NAME…: the objects of its library. Those of the named instruction sets are CXX='s, or lie in the folder $instead,
# unless ALL=1.
library_of() {
  variant=$1
  shift
  for source in src/backend/*.cpp src/layers/layers_*.cpp $(ls src/*/*.cpp | grep -vE '^src/(backend/|layers/layers_)'); do
    case " ${ALL:-$*} " in
      *" $(basename "$source" .cpp) "*) if [ -n "${instead:-}" ]; then echo "$instead/$(basename "$source" .cpp).o"; else echo "$build/${source%.cpp}.o"; fi ;;
      *) echo "$work/$variant/${source%.cpp}.o" ;;
    esac
  done | tr '\n' ' '
}

# Instruction sets of x86, and those but AVX2.
sets=$(ls src/*/*.cpp | sed -nE 's,.*/((layers_|linear_)?(sse|avx)[0-9a-z]*)[.]cpp$,\1,p' | tr '\n' ' ')
others=$(echo "$sets" | tr ' ' '\n' | grep -v 'avx2$' | tr '\n' ' ')

# clang_library: its objects. Without ALL=1, those of instruction sets are for bare x86, which are made for other checks as well.
clang_library() {
  [ -n "${ALL:-}" ] && runnable_library_of clang && return
  # shellcheck disable=SC2086
  instead=$work/clang/levels/bare library_of clang $sets
}
bare_library() (
  cxx=$clang build=$work/clang/bare
  . tests/support/check.sh
  library_at bare "$work/clang"
)

# The library for bare x86, which is made with -funsafe-math-optimizations, under the tests of what multiplies by constants.
bare_activations() {
  make -j1 unit CXX="$clang" BUILD="$work/clang_bare" TEST_BUILD="$build" ARGS="--test-case='activations*'" \
    LIBRARY="$(echo "$work"/clang/levels/bare/*.o)"
}

# The same but for instruction sets that this processor has not: nothing would run what a variant makes of them.
runnable_library_of() {
  absent=$("$build/unit" --no-run | grep -o '[a-z0-9]* (not on this processor)' | cut -d ' ' -f 1 | sed 's/^avx512$/avx512 avx512vnni layers_avx512 layers_avx512vnni linear_avx512/')
  grep -qw avx_vnni /proc/cpuinfo 2>/dev/null || absent="$absent avxvnni layers_avxvnni"
  # shellcheck disable=SC2086
  library_of "$1" $absent
}

# Where tiles.py looks for objects of GCC, by the names that it gives them.
library_for_tiles() {
  case $cxx/$build in g++/*-O2) ;; *) return ;; esac
  mkdir -p build/tiles
  for name in avx2 avx512 avx512vnni; do
    cp "$build/src/backend/$name.o" "build/tiles/$name.gcc-$(g++ -dumpversion | cut -d. -f1).$name.cpp.o"
    cp "$build/src/layers/layers_$name.o" "build/tiles/$name.gcc-$(g++ -dumpversion | cut -d. -f1).layers_$name.cpp.o"
  done
}

old_processors() {
  for cpu in Nehalem Haswell,-fma Haswell,-xsave Haswell; do
    qemu-x86_64 -cpu $cpu "$build/unit" --test-case='committed digests' >"$work/$cpu.txt" 2>&1 || { cat "$work/$cpu.txt" && return 1; }
    echo "$cpu: $(head -n 1 "$work/$cpu.txt")"
  done
  # Emulated instruction sets need nothing that this one lacks.
  [ -z "${ALL:-}" ] || ATTEND_QUICK=36 qemu-x86_64 -cpu Haswell "$build/emulated" --test-case='committed digests*,integer attention: every*' \
    >"$work/emulated.txt" 2>&1 || { cat "$work/emulated.txt" && return 1; }
}

# One sequence over three processes; `make distributed-check` takes more of them, and every MPI that is installed.
distributed() {
  if [ "${CI:-}" != true ] && ! command -v mpirun >/dev/null 2>&1; then
    echo 'skip sums over processes: there is no MPI; apt-get install libopenmpi-dev openmpi-bin'
    return
  fi
  MPI=openmpi make -j1 distributed-check CXX="$cxx" BUILD="$build" RANKS=3
}

story() {
  for backend in $("$build/unit" --no-run | sed -n 's/ [^ ]* (not on this processor)//g; s/^backends:\(.*\);.*/\1/p'); do
    ATTEND_BACKEND=$backend make run CXX="$cxx" BUILD="$build" MODEL="$models/stories260K.bin" TOKENIZER="$models/tok512.bin" STEPS=200 |
      cmp - "$models/stories260K.greedy200.txt" || return 1
  done
}

# The guarded calls of the typed surface, 26 widths to a program. Clang instantiates them in half the time.
typed_widths() {
  for first in 1 ${ALL:+27 53 79 105}; do
    # shellcheck disable=SC2086
    $clang -std=c++17 -ffp-contract=off -Iinclude -isystem build/doctest/usr/include -DATTEND_TEST_FIRST_WIDTH=$first \
      tests/typed/test_typed_guard.cpp tests/typed/test_typed_layer_guard.cpp \
      "$build/tests/support/main.o" "$build/libattend.a" -o "$work/typed_widths" &&
      "$work/typed_widths" || return 1
  done
}

# Every random problem of the wheel in integers.
wheel() {
  make -j1 lib CXX="$cxx" BUILD="$build" && python3 bench/packages/package.py --shared-object "$build/libattend.so" "$work/packages" || return 1
  for python in python3 /usr/bin/python3; do
    $python -c 'import numpy' 2>/dev/null && break
  done
  PYTHONPATH=$work/packages/python "$python" tests/python/wheel_integers.py
}

# Of the headers, when Clang made the tests for the sanitizers.
clang_warnings() (
  . tests/support/check.sh
  header_warnings "$work/sanitized"
  [ $failed -eq 0 ]
)

# Assembly for x86 is written in AT&T's syntax and in Intel's, which -masm=intel asks for: both must be the same instructions.
dialects() {
  mkdir -p "$work/dialects"
  for compiler in "$cxx" "$clang"; do
    for source in src/backend/*.cpp src/layers/layers_*.cpp src/linear_attention/linear_*.cpp; do
      for dialect in att intel; do
        $compiler -std=c++17 -O1 -ffp-contract=off -Iinclude -masm=$dialect -c "$source" -o "$work/dialects/made.o" || return 1
        objdump -d "$work/dialects/made.o" >"$work/dialects/$dialect.txt"
      done
      cmp "$work/dialects/att.txt" "$work/dialects/intel.txt" || { echo "$compiler: $source differs with -masm=intel" && return 1; }
    done
  done
}

# counts COMMAND…: of what prints no count of its own.
counts() {
  if "$@"; then echo '1 passed, 0 failed'; else echo '0 passed, 1 failed' && return 1; fi
}

work_on() { # part
  case $1 in
    # Clang's library under the tests that are there already: it compiles them once, for the sanitizers. The other checks take
    # several compilers by themselves, and the targets have Clang's builds of copied folders. Emulated instruction sets are
    # GCC's here; `make test CXX=clang++` has Clang's. What this processor cannot run Clang compiles for bare x86.
    clang)
      bare_library || return
      ATTEND_QUICK=36 CHECKS="${ALL:+symbols fuzz} c wrong_code freestanding unsafe_math windows consumers" JOBS=1 \
        make -j1 test CXX="$clang" BUILD="$work/clang" TEST_BUILD="$build" LIBRARY="$(clang_library)" &&
        bare_activations &&
        { [ -z "${ALL:-}" ] || variant contracted_clang "$clang" "$build" OPT=-O3 EXTRA="$contracted"; }
      ;;
    contracted) variant contracted "$cxx" "$build" LIBRARY="$(library_of contracted $(echo "$others" | sed s/sse2//))" OPT=-O3 EXTRA="$contracted" ;;
    # The sanitizers look into the tests too, and see most where nothing is optimised. Without ALL=1 they watch scalar code, AVX2 and
    # what is common to all: the other vectors are those of CXX=, which compute there twenty times as fast. What vectors read beyond
    # an array is for guard pages, on every backend.
    sanitized)
      [ -n "${ALL:-}" ] || without='sparse masks: the one key*,a few tokens over rows*,one token over weights*,digests whatever*' # a third of its time
      variant sanitized "$clang" '' TEST_ROOMS="unit conformance app c ${ALL:+typed}" GROUPED="$([ -n "${ALL:-}" ] || echo 8)" OPT=-O0 TEST_OPT=-O0 LIBRARY="$(library_of sanitized $others)" \
        EXTRA='-fsanitize=address,undefined -fno-sanitize-recover=all' &&
        "$work/sanitized/unit" --test-case='malformed*' && { [ -z "${ALL:-}" ] || counts clang_warnings; }
      ;;
    unit) "$build/unit" ;;
    dialects) counts dialects ;;
    wheel) counts wheel ;;
    typed_widths) typed_widths ;;
    symbols | stack) LEVELS="-O0${ALL:+ -Os}" sh "tests/scripts/check_$1.sh" "$cxx" "$build" ;;
    old_processors) counts old_processors ;;
    distributed) distributed ;;
    adapters | app_faults | coverage | exporter | keywords | packages | release | npm | vendoring | install | alone | freestanding | playground | types | link_time | unity | board_tests | iso | forms | vendor) sh "tests/scripts/check_$1.sh" "$cxx" "$build" ;;
    site) make -j1 lib CXX="$cxx" BUILD="$build" >&2 && sh tests/scripts/check_site.sh "$cxx" "$build" ;;
    # Their figures are for people: without optimisation they are compiled sooner, beside the objects that are there.
    benchmarks)
      bench=$work/bench objects=$(ls src/*/*.cpp bench/app/*.cpp | grep -v '/run[.]cpp' | sed "s,^,$build/,; s,cpp\$,o,")
      made() {
        env $([ -n "${ALL:-}" ] || echo ATTEND_QUICK=1) make -j1 CXX="$cxx" BUILD="$bench" OPT="${ALL:+-O2}" LIBRARY="$(echo "$objects" | grep /src/ | tr '\n' ' ')" \
          APPLICATION="$(echo "$objects" | grep /app/ | tr '\n' ' ')" "$@"
      }
      counts made "$bench/integer" "$bench/options" "$bench/tokens" "$bench/sweep" && counts made linear-attention &&
        counts made bench ARGS='--benchmark_filter=q16_ --benchmark_min_time=0.01 --benchmark_repetitions=1 --benchmark_report_aggregates_only=false'
      ;;
    # Backends whose loops were worked on; `make tiles` takes all. Without ALL=1
    # GCC's loops for x86 are those of the library itself.
    tiles)
      [ -n "${ALL:-}" ] || library_for_tiles
      counts make -j1 tiles JOBS=1 COMPILERS="gcc ${ALL:+clang-22}" BACKENDS="avx2 avx512 avx512vnni vfp-m4 helium ${ALL:+neon64}" &&
        { [ -n "${ALL:-}" ] || counts make -j1 tiles JOBS=1 COMPILERS=clang-22 BACKENDS=neon64; }
      ;;
    accuracy)
      counts make -j1 accuracy CXX="$cxx" BUILD="$build" &&
        { [ ! -r "$models/stories260K.bin" ] || counts make -j1 perplexity CXX="$cxx" BUILD="$build" MODELS="$models" TOKENS=300; }
      ;;
    story) counts story ;;
  esac
}

# The builds here are other builds: nothing that the caller's make was told holds for them.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# Boards of which neither size nor stack is asked have the library as one object.
[ -n "${ALL:-}" ] || export AS_ONE='cortex-m3 cortex-m7 cortex-m33 rv32imac'
rm -rf "$work/log"
mkdir -p "$work/log" || exit 1
make CXX="$cxx" BUILD="$build" "$build/unit" "$build/emulated" "$build/run" >&2 || exit 1
# Checks side by side have the npm package in common; what cannot be made they say.
case ${PART:-products} in products) make CXX="$cxx" BUILD="$build" "$build/playground_native" build/npm >"$work/npm.log" 2>&1 ;; esac
# Parts, targets and boards' sizes follow each other, so that no worker idles: one that finds nothing to begin leaves its place.
export PLACES="$work/places"
mkdir -p "$PLACES"
: >"$work/targets.log" && : >"$work/size.log"
case ${PART:-linux} in linux | boards | vendors)
  CXX=$cxx CLANG=$clang MODELS=$models ALL=$ALL JOBS=$jobs sh tests/scripts/targets.sh "$build" >"$work/targets.log" || echo 'part failed: targets' >>"$work/targets.log" &
esac
boards='' && [ -n "${ALL:-}" ] || boards='m0plus m4 m55-Os rv32imafc-Os'
case ${PART:-boards} in boards)
  cp bench/speed/results/sizes.md "$work/sizes.md" # tests write nothing outside build/
  TARGETS=$boards PAGE=$work/sizes.md JOBS=$jobs sh bench/speed/sizes/size.sh >"$work/size.log" || echo 'part failed: size' >>"$work/size.log" &
esac
# shellcheck disable=SC2086
share_out "$jobs" "$work/log" $parts
wait
{
  for part in $parts; do
    read -r status seconds processor <"$work/log/$part/result"
    printf '\n== %s: %s seconds, %s of a processor\n' "$part" "$seconds" "$processor"
    grep -vE '^(total|left out):|^[0-9]+ passed, [0-9]+ failed, [0-9]+ left out' "$work/log/$part/log" # what it adds up is counted here
    [ "$status" -eq 0 ] || echo "part failed: exit status $status"
  done
  printf '\n== targets\n'
  cat "$work/targets.log"
  printf '\n== size\n'
  cat "$work/size.log"
  [ -n "${PART:-}" ] || parts="$parts targets size"
  printf '\n== requirements\n'
  # shellcheck disable=SC2086
  sh tests/scripts/check_requirements.sh "$cxx" "$build" check $parts
} | tee "$work/all.log"
awk -f tests/support/total.awk "$work/all.log"
