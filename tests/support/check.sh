# Shared by the check_*.sh scripts, which source it from the repository's root: counting cases, one line for each.
# They set $cxx, the compiler, which may hold flags too and is therefore not quoted, and $build, a folder of their own.
# shellcheck shell=sh disable=SC2154

# Folders are removed and made anew: not at the root, where they would be without BUILD_DIR.
case ${build:-} in
/check_* | /adapters | /adapters/*) echo "usage: $0 CXX BUILD_DIR" >&2 && exit 2 ;;
esac

. tests/support/sources.sh

passed=0
failed=0

ok() {
  passed=$((passed + 1))
  printf 'ok   %s\n' "$1"
}

fail() {
  failed=$((failed + 1))
  printf 'FAIL %s: %s\n' "$1" "$2"
}

# What has no meaning here, for this processor or compiler. It is counted as left out.
skip() {
  printf 'skip %s: %s\n' "$1" "$2"
}

# missing WHAT WHY: what is not installed, with "apt-get install PACKAGE…" in the reason. It is left out too, and a failure where CI=true.
missing() { if [ "${CI:-}" = true ]; then fail "$1" "$2"; else skip "$1" "$2"; fi; }

# needs PROGRAM PACKAGES: false where there is no such program, which is said.
needs() { command -v "$1" >/dev/null 2>&1 || { missing "$1" "it was not found: apt-get install $2"; false; }; }

# needs_python MODULES PACKAGES: sets $python to an interpreter that has the modules, separated by commas, or says what is missing, and is false
# then. It imports none, which would take seconds.
needs_python() {
  there='import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1].split(","))))'
  python=${PYTHON:-}
  for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || { "$candidate" -c "$there" "$1" 2>/dev/null && python=$candidate; }
  done
  [ -n "$python" ] && return
  missing "python3 with $1" "apt-get install $2"
  return 1
}

# succeeds WHAT COMMAND…: passes when the command does; otherwise the first error that it printed says why. False then.
succeeds() {
  what=$1
  shift
  if "$@" >"$build/log" 2>&1; then
    ok "$what"
  else
    fail "$what" "$(first_error "$build/log")"
    return 1
  fi
}

# counted WHAT COMMAND…: what prints a line, ok or FAIL, for each check, added to the counts. Without any, or when it dies, WHAT fails.
counted() {
  counted=$1
  shift
  "$@" >"$build/counted" 2>&1 || grep -q '^FAIL ' "$build/counted" || echo "FAIL $counted: $(tail -n 1 "$build/counted")" >>"$build/counted"
  grep -qE '^(ok|FAIL) ' "$build/counted" || echo "FAIL $counted: it says nothing" >>"$build/counted"
  cat "$build/counted"
  passed=$((passed + $(grep -c '^ok ' "$build/counted"))) failed=$((failed + $(grep -c '^FAIL ' "$build/counted")))
}

# stops TEXT SOURCE FLAGS…: the compiler must stop, and its first error must hold the text.
stops() {
  text=$1
  source=$2
  shift 2
  what="$(basename "$source") stops with $*, saying \"$text\""
  if $cxx "$@" -Wfatal-errors -fsyntax-only "$source" >"$build/log" 2>&1; then
    fail "$what" "it compiles"
  elif first_error "$build/log" | grep -qF "$text"; then
    ok "$what"
  else
    fail "$what" "the first error is $(first_error "$build/log")"
  fi
}

# header_warnings FOLDER: of a build's messages about tests of the C++ surface, only those of its headers count.
header_warnings() {
  nothing_in "$(for source in tests/typed/test_*.cpp; do
    grep -hE 'include/attend/[a-z0-9_/]*\.h:[0-9:]+ .*\[-W' "$1/${source%.cpp}.warnings" 2>&1
  done | sort -u | head -n 10)" "no use of the C++ surface is warned of"
}

# nothing_in TEXT WHAT: passes when TEXT is empty; otherwise TEXT, as one line, says what is wrong.
nothing_in() {
  if [ -z "$1" ]; then ok "$2"; else fail "$2" "$(printf '%s' "$1" | tr -s '\n\t ' ' ' | cut -c 1-400)"; fi
}

# first_error LOG…: the first complaint of compiler or linker.
first_error() {
  cat "$@" | grep -m 1 -E 'error|undefined|stack[.]awk:' || cat "$@" | head -n 1
}

finish() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}

# compile_all FOLDER "SOURCE…" FLAGS…: every source to FOLDER/NAME.o. Prints what the compiler says and is false when it refuses any.
compile_all() (
  folder=$1
  sources=$2
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder"
  # The last argument of each process is its source.
  # shellcheck disable=SC2016,SC2086
  printf '%s\n' $sources | xargs -n 1 -P "$(nproc 2>/dev/null || echo 2)" sh -c '
    cxx=$0 folder=$1
    shift
    for source; do :; done
    name=$folder/$(basename "$source" .cpp)
    $cxx "$@" -c -o "$name.o" >"$name.log" 2>&1' "$cxx" "$folder" "$@"
  result=$?
  [ $result -eq 0 ] || cat "$folder"/*.log
  exit $result
)

# library_at KIND FOLDER: the library as others compile it, with GCC's notes about stack frames and calls; its objects are
# FOLDER/levels/KIND/*.o. Scripts that run side by side share it: the first makes it, the others wait. Prints what the compiler says
# and is false when it refuses any. The kinds:
#   -O0     nothing but -c, unless the compiler's own default is an older standard
#   -O2     the standard, this level and the Makefile's warnings
#   -Os     a firmware that has no C library and no run-time of C++
#   bare    no operating system: there Clang takes no function of a C library for granted, and has no system headers. With a part of
#           -ffast-math, of which it does not tell the library: what is linked with these objects looks at their bits as well.
#           A shared library can have them, which rest.sh makes
library_at() {
  objects=$2/levels/${1#-}
  case $1 in
    -O0) flags_of_kind=$(default_standard) ;;
    -O2) flags_of_kind='-std=c++17 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror' ;;
    -Os) flags_of_kind="-std=c++17 -Os $firmware" ;;
    bare) flags_of_kind='--target=x86_64-unknown-elf -std=c++17 -O2 -ffreestanding -funsafe-math-optimizations -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections' ;;
    *) echo "library_at: there is no kind $1" && return 1 ;;
  esac
  # Functions that are alike stay apart: what GCC makes another name of has no frame in its notes.
  notes='-fcallgraph-info=su -fstack-usage -fno-ipa-icf'
  # shellcheck disable=SC2086
  $cxx $notes -E -x c++ /dev/null >/dev/null 2>&1 || notes=''
  mkdir -p "$2/levels"
  (
    flock 9
    export CCACHE_DISABLE=1  # it keeps objects without the notes
    command="$cxx $($cxx --version | head -n 1) $flags_of_kind $notes: $(ls src/*/*.cpp)"
    if [ "$(cat "$objects.made" 2>/dev/null)" = "$command" ] && ! sources_changed_since "$objects.begun"; then exit; fi
    rm -f "$objects.made"
    touch "$objects.begun"
    # shellcheck disable=SC2086
    compile_all "$objects" "$(ls src/*/*.cpp)" $flags_of_kind $notes && echo "$command" >"$objects.made"
  ) 9>"$objects.lock"
}

# Stack guards, where a compiler adds them by itself, would need a C library's help.
firmware='-ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -Wall -Wextra -Werror'

default_standard() {
  # shellcheck disable=SC2086
  if $cxx -dM -E -x c++ /dev/null | grep -qE '__cplusplus (199711|201103|201402)L'; then echo -std=c++17; fi
}

# same_bits KIND [FLAG]: with the objects that library_at made last, linked with the flag, the programs that compute digests give them on
# every backend, and the four programs in C, which call what those do not, find nothing wrong.
same_bits() {
  programs_of_bits
  for program in c_surface c_layers c_integer c_linear; do
    # shellcheck disable=SC2086
    succeeds "$1: $program.c links" $cxx ${2:-} "$build/programs/$program.o" "$objects"/*.o -o "$build/$program" &&
      succeeds "$1: $program.c runs" "$build/$program"
  done
  for program in specials digests options; do
    # shellcheck disable=SC2086
    succeeds "$1: $program link" $cxx ${2:-} "$build/programs/$program.o" "$build/programs/hosted.o" "$objects"/*.o -o "$build/$program" || continue
    succeeds "$1: $program are the committed ones" "$build/$program"
    on_each_backend "$1" $program
  done
}

# on_each_backend NAME PROGRAM: what $build/PROGRAM computes is what is committed, on every backend that the processor can run.
on_each_backend() {
  backends=$(ATTEND_BACKEND=list "$build/$2")
  [ -n "$backends" ] || fail "$1: $2 lists backends" "it lists none"
  for backend in $backends; do
    ATTEND_BACKEND=$backend "$build/$2" >"$build/log" 2>&1
    case $? in
      0) ok "$1: $2 are the committed ones on $backend" ;;
      77) ;; # the processor cannot run it
      *) fail "$1: $2 on $backend" "$(tail -n 1 "$build/log")" ;;
    esac
  done
}

# The objects of these programs, which are the same for each library: $build/programs/*.o, made once.
programs_of_bits() {
  [ ! -d "$build/programs" ] || return 0
  mkdir -p "$build/programs"
  for program in c_surface c_layers c_integer c_linear; do
    # shellcheck disable=SC2086
    succeeds "$program.c compiles" $cxx -x c -std=c11 -Iinclude -c tests/c/$program.c -o "$build/programs/$program.o"
  done
  for program in specials_main digests_main options_main hosted; do
    # shellcheck disable=SC2086
    succeeds "$program.cpp compiles" $cxx -std=c++17 -O1 -ffp-contract=off -Iinclude -c tests/boards/$program.cpp -o "$build/programs/${program%_main}.o"
  done
}

# kept_inputs NAME FOLDER: what fuzzers have kept in tests/fuzz/corpus, as files: those of a folder, or each line of NAME.inputs, which is written
# as printf takes it.
kept_inputs() {
  mkdir -p "$2"
  [ ! -d "tests/fuzz/corpus/$1" ] || cp "tests/fuzz/corpus/$1"/* "$2"
  number=0
  [ ! -f "tests/fuzz/corpus/$1.inputs" ] || while read -r line; do
    number=$((number + 1)) && printf '%b' "$line" >"$2/$number"
  done <"tests/fuzz/corpus/$1.inputs"
}
