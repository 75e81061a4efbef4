#!/bin/sh
# Builds the self-tests for a board of yours, and runs them there: what `make board-tests` calls, from the project's top folder, with
# FOLDER for the images. README.md beside it says what these are:
# CXX, BOARD_FLAGS the compiler and the flags of the processor; PLATFORM the board's sources and objects; FLASH, RAM its memory for
# link.ld, as origin,size; LINK the linker's flags in the place of these and of start.cpp; RUN a command that shows what the
# board says, with {} where an image's path stands; PROGRAMS some of the tests; SECONDS_TO_LIVE for each. ATTEND_LIBRARY= objects of the
# library that are there already.
here=$(dirname "$0")
folder=${1:-build/board-tests}
programs=${PROGRAMS:-digests options specials chains}
platform=${PLATFORM:-$here/uart.cpp}
seconds=${SECONDS_TO_LIVE:-600}

say() { echo "board-tests: $*"; }
stop() { say "$*" >&2; exit 1; }

command -v "${CXX%% *}" >/dev/null 2>&1 || stop "$CXX was not found"
version=$(awk '/define ATTEND_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." } /define ATTEND_BITS_VERSION / { print ", bits version " $3 }' \
  include/attend/core/version.h)
say "Attend $version, files $(sh tests/support/files.sh); $($CXX --version | head -n 1), $BOARD_FLAGS ${OPT:--Os}"
link=${LINK:-} start=''
if [ -z "$link" ]; then
  case $FLASH,$RAM in *[!,],*[!,],*[!,],*[!,]) ;; *) stop "expected FLASH=origin,size and RAM=origin,size, as FLASH=0x08000000,256K, or LINK= with a linker script of yours" ;; esac
  link="-nostartfiles -T $here/link.ld -Wl,--defsym=flash_origin=${FLASH%,*},--defsym=flash_size=${FLASH#*,},--defsym=ram_origin=${RAM%,*},--defsym=ram_size=${RAM#*,}"
  start=$here/start.cpp
  case $($CXX -dumpmachine) in *riscv*) start=$here/start_riscv.cpp ;; esac
fi

# The library, by the Makefile's own rule: what it was told for this one does not hold there.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
mkdir -p "$folder" || exit 1
[ -n "$ATTEND_LIBRARY" ] || make static CXX="$CXX" CXXFLAGS="$BOARD_FLAGS -fno-exceptions" OPT="${OPT:--Os}" BUILD="$folder" >/dev/null || stop 'the library does not compile: what the compiler says stands above'

objects=''
# compile SOURCE: C++, C or assembly; what is compiled already is taken as it is.
compile() {
  object=$folder/$(echo "${1%.*}" | tr / _).o language='c++ -std=c++17 -fno-rtti -fno-threadsafe-statics'
  case $1 in
    *.o | *.a) objects="$objects $1" && return ;;
    *.c) language=c ;;
    *.s | *.S) language=assembler-with-cpp ;;
  esac
  # shellcheck disable=SC2086
  $CXX $BOARD_FLAGS ${OPT:--Os} -x $language -ffunction-sections -fdata-sections -fno-exceptions -Iinclude -Ibench/boards -c "$1" -o "$object" || return 1
  objects="$objects $object"
}
for source in $platform $start "$here/main.cpp"; do compile "$source" || stop "$source does not compile"; done
common=$objects

# Runs an image until it has said its last line, whether the command ends then or not.
run() { # program image
  last_line="^$1: [0-9]+ passed, [0-9]+ failed"
  case $RUN in *'{}'*) command=$(printf '%s' "$RUN" | sed "s|{}|$2|g") ;; *) command="$RUN $2" ;; esac
  : >"$folder/$1.txt" # the last run's last line is not this one's
  timeout "$seconds" sh -c "$command" </dev/null >"$folder/$1.txt" 2>&1 &
  runner=$!
  while kill -0 $runner 2>/dev/null && ! grep -aqE "$last_line" "$folder/$1.txt"; do sleep 0.2; done
  sleep 0.2 # what is still on its way
  kill $runner 2>/dev/null
  wait $runner 2>/dev/null
  tr -d '\r' <"$folder/$1.txt" | sed -E "/$last_line/q"
}

test_program() { # name
  image=$folder/$1.elf objects=$common
  compile "tests/boards/$1_main.cpp" || { say "$1: 0 passed, 1 failed: it does not compile"; return; }
  # shellcheck disable=SC2086
  if ! $CXX $BOARD_FLAGS -Wl,--gc-sections $objects ${ATTEND_LIBRARY:-"$folder/static/libattend.a"} $link -o "$image" 2>"$folder/$1.log"; then
    # Left out is what a region has no room for, and nothing else is wrong with.
    if grep -q 'overflowed by' "$folder/$1.log" && ! grep -qE 'undefined reference|multiple definition|cannot find' "$folder/$1.log"; then
      say "$1: 0 passed, 0 failed, 1 left out for want of memory: $(grep -o 'region.*overflowed by.*' "$folder/$1.log" | head -n 1)"
    else
      head -n 5 "$folder/$1.log" >&2 && say "$1: 0 passed, 1 failed: it does not link"
    fi
  elif [ -z "$RUN" ]; then
    say "$image"
  else
    run "$1" "$image"
    grep -aqE "$last_line" "$folder/$1.txt" || say "$1: 0 passed, 1 failed: its last line did not come"
  fi
}

for program in $programs; do test_program "$program"; done | tee "$folder/said"
[ -n "$RUN" ] || say "run these, and look at what each says last; RUN='command {}' does both"
sed -nE 's/^(board-tests: )?[a-z]+: ([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) left out)?.*/\2 \3 \5/p' "$folder/said" | awk -v runs="$RUN" '
  { passed += $1; failed += $2; left_out += $3 }
  END {
    if (runs != "" || failed > 0) print "board-tests: " passed + 0 " passed, " failed + 0 " failed" (left_out > 0 ? ", " left_out " left out for want of memory" : "")
    exit failed > 0 || (runs != "" && passed == 0)
  }'
