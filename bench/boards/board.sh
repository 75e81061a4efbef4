#!/bin/sh
# Builds images for emulated boards and runs them. From the project's top folder:
#   bench/boards/board.sh build BOARD FOLDER PROGRAM...   (images FOLDER/BOARD.PROGRAM; the library is compiled once)
#   bench/boards/board.sh run BOARD IMAGE [ARGUMENT...]
#   bench/boards/board.sh count BOARD IMAGE [ARGUMENT...]   (runs an image of the program count, worst, streams, tokens or household_count)
#   bench/boards/board.sh size BOARD FOLDER     (images for size.sh, with the compiler's call graph and frames)
#   bench/boards/board.sh link BOARD IMAGE OBJECT...  (the library and a program that are compiled already; no C library.
#     One object defines `int firmware::run()` of platform.h, which is called in the place of main; it prints by semihosting, firmware::write)
#   bench/boards/board.sh library BOARD FOLDER (prints the library's objects, compiled once for all who ask; FOLDER is for its own use)
#   bench/boards/board.sh flags BOARD
#   bench/boards/board.sh compiler BOARD
#   bench/boards/board.sh boards
#   bench/boards/board.sh kinds
# Programs: borders, chains, specials, digests, options, count, streams, tasks, example, two_boards, worst; exported, the self-test of the model in the folder EXPORTED=; keywords and keywords_count, the example's front end and model;
#   keywords_linear and keywords_linear_count, its model with gated delta attention on held-out voices: integers or floats, and of how many voices;
#   receipts and receipts_count, the example's model in the folder EXPORTED= on a file of tokens;
# of the application household, household_int8, household_count, household_exported, household_exported_count, household_floats, tokens, tokens_floats, story.
# OPT= chooses the optimisation level (-Os), FLAGS= replaces the board's own (flags prints them), MODELS= is the folder of the story's model and
# tokenizer. Arguments of household: a sentence, or none for three examples. Of a story: how many tokens, then the prompt.
# Exit status 77: something is not installed, and the message says what.
here=$(dirname "$0")
tests=tests/boards sizes=bench/speed/sizes # other programs
. tests/support/sources.sh
# Calls that size.sh measures beside the plain ones.
kinds='decode_window decode_ring decode_float16 decode_int8 decode_ring_int8 prefill_window prefill_int8 project project_rows project_int8 project_int8_rows layer layer_ring integer integer_ring project_integer linear_attention linear_integer c_plain c_options'
boards='cortex-m0plus cortex-m3 cortex-m4 cortex-m7 cortex-m33 cortex-m55 rv32imac rv32imafc'

fail() { echo "board.sh: $*" >&2; exit 1; }

needs() {  # program package
  command -v "$1" >/dev/null 2>&1 || { echo "$1 was not found: apt-get install $2" >&2; exit 77; }
}

# The emulator's machine, the flags that a vendor would compile with, and where memories lie. An M3 executes the code of an M0+.
# The M33 and the M55 start in the secure state, where memories are seen 0x10000000 higher. RISC-V processors are as small as the
# flags say, so that an instruction that a board lacks is a fault; nobody brings a C library for them.
describe() {  # board; cortex- may be left out
  emulator=qemu-system-arm package=qemu-system-arm cxx=${ARM_CXX:-arm-none-eabi-g++} cxx_package=gcc-arm-none-eabi
  platform="$here/start.cpp $here/semihosting.cpp" libraries='' memory=''
  vectors='' flash=0x00000000 flash_size=4M ram=0x20000000 ram_size=4M
  case ${1#cortex-} in
    m0plus) machine=mps2-an385 flags='-mcpu=cortex-m0plus' ;;
    m3) machine=mps2-an385 flags='-mcpu=cortex-m3' ;;
    m4) machine=mps2-an386 flags='-mcpu=cortex-m4 -mfloat-abi=hard' ;;
    m7) machine=mps2-an500 flags='-mcpu=cortex-m7 -mfloat-abi=hard' ;;
    m33)
      machine=mps2-an505 flags='-mcpu=cortex-m33 -mfloat-abi=hard'
      flash=0x10000000 ram=0x38000000
      ;;
    m55)
      machine=mps3-an547 flags='-mcpu=cortex-m55 -mfloat-abi=hard'
      vectors=0x10000000 flash=0x11000000 flash_size=2M ram=0x31000000
      ;;
    rv32imac) machine='virt -m 8M -cpu rv32,f=false,d=false,h=false' flags='-march=rv32imac -mabi=ilp32' ;;
    rv32imafc) machine='virt -m 8M -cpu rv32,f=true,d=false,h=false' flags='-march=rv32imafc -mabi=ilp32f' ;;
    *) fail "expected one of $boards, found \"$1\"" ;;
  esac
  case $1 in
    rv32*)
      emulator=qemu-system-riscv32 package=qemu-system-misc cxx=${RISCV_CXX:-riscv64-unknown-elf-g++} cxx_package=gcc-riscv64-unknown-elf
      flags="$flags -ffreestanding" machine="$machine -bios none"
      platform="$here/start_riscv.cpp $here/semihosting.cpp" libraries='-nostdlib -lgcc' memory=$here/memory.cpp
      flash=0x80000000 ram=0x80400000
      ;;
  esac
  flags=${FLAGS:-$flags}
}

compile() {  # sources; objects end up in $objects
  for source in "$@"; do
    object=$work/$(echo "$source" | tr / _).o
    compiler=$cxx standard=c++17
    case $source in *.c) compiler=$(echo "$cxx" | sed 's/clang++/clang/; s/g++/gcc/') standard=c99 ;; esac
    # shellcheck disable=SC2086
    $compiler $flags ${OPT:--Os} -std=$standard -ffunction-sections -fdata-sections -Iinclude $extra -c "$source" -o "$object" || exit 1
    objects="$objects $object"
  done
}

library() {  # the C++ library's headers, where there is one
  [ -z "$memory" ] || return 0
  echo '#include <cstddef>' | $cxx -E -x c++ - >/dev/null 2>&1 ||
    { echo "$cxx has no C++ library: apt-get install libstdc++-arm-none-eabi-newlib" >&2; exit 77; }
}

# The attention library for a board and a level, to $objects, with what the compiler tells of its stack. It is made once for all programs
# that are compiled alike, in build/boards: the first who asks makes it, others wait. Boards that AS_ONE= names have it as one object.
attend() {  # board
  case " ${AS_ONE:-} " in *" $1 "*) one=.one ;; *) one='' ;; esac
  alike=$(echo "$cxx $($cxx --version | head -n 1) $flags ${OPT:--Os} $(cat "$0" && echo src/*/*.cpp)" | cksum | cut -d ' ' -f 1)
  made=build/boards/${1#cortex-}$one.$alike sources=$(echo src/*/*.cpp)
  [ -z "$one" ] || sources=$made/library.cpp
  mkdir -p build/boards
  (
    flock 9 2>/dev/null # a system without it builds one board at a time
    [ ! -e "$made/complete" ] || sources_changed_since "$made/begun" || exit 0
    rm -rf "$made"
    mkdir "$made"
    touch "$made/begun"
    export CCACHE_DISABLE=1  # it keeps objects without what is told of the stack
    work=$made extra=-fno-exceptions
    $cxx -fcallgraph-info=su -E -x c++ /dev/null >/dev/null 2>&1 && extra="$extra -fcallgraph-info=su"
    [ -z "$one" ] || all_in_one "$made/library.cpp" >/dev/null
    # shellcheck disable=SC2086
    compile $sources
    touch "$made/complete"
  ) 9>"$made.lock" || exit 1
  for source in $sources; do objects="$objects $made/$(echo "$source" | tr / _).o"; done
}

prepare() {  # board folder-for-objects
  describe "$1"
  needs "$cxx" $cxx_package
  work=$2 objects='' extra='' stack_size=0x4000
  rm -rf "$work"
  mkdir -p "$work" || exit 1
}

link() {  # image options
  image=$1
  shift
  # shellcheck disable=SC2086
  $cxx $flags -nostartfiles -Wl,--gc-sections -Wl,--fatal-warnings -T "$here/link.ld" \
    ${vectors:+-Wl,--defsym=vectors_origin=$vectors} -Wl,--defsym=flash_origin=$flash,--defsym=flash_size=$flash_size \
    -Wl,--defsym=ram_origin=$ram,--defsym=ram_size=$ram_size,--defsym=stack_size=$stack_size \
    $objects "$@" $libraries -o "$image" || exit 1
}

# The application's sources but those of one program.
application() {
  [ -z "$app_objects" ] || return 0
  [ -z "$memory" ] || fail "the application needs a C++ library, which $cxx does not have"
  objects='' extra='-Wall -Wextra -Wshadow'
  for part in cached_attention characters checkpoint commands generate household input_file integer_llama llama matrix sampler tokenizer vocabulary word_rules words; do
    compile "bench/app/$part.cpp"
  done
  compile "$here/newlib.cpp"
  app_objects=$objects
}

# A program of the application, with its files in flash.
application_program() {  # main model tokenizer-or-none options-or-none other-sources
  for file in "$2" ${3:+"$3"}; do [ -r "$file" ] || fail "$file is not there"; done
  application
  objects="$common $app_objects"
  extra="-DMODEL_PATH=\"$2\" ${3:+-DTOKENIZER_PATH=\"$3\"}" stack_size=0x10000
  compile "$here/embed.S"
  extra="-Wall -Wextra -Wshadow $counts ${4:-}"
  compile "$here/$1_main.cpp" ${5:+"$5"}
}

# Makes the model of household commands with floats as its weights.
write_floats() {
  needs python3 python3
  python3 bench/app/train/float_weights.py bench/app/model/household.bin "$work/floats.bin" || exit 1
}

build_program() {  # program image
  objects=$common extra='-Wall -Wextra -Wshadow' counts='' stack_size=0x4000
  case $1 in
    borders | digests | options | chains | outputs | specials | tasks | two_boards) compile "$tests/$1_main.cpp" ;;
    worst) extra="$extra -DATTEND_LOOPS" && compile "$tests/worst_main.cpp" ;;
    example) compile "$here/example_main.cpp" ;;
    count) compile "$sizes/count_main.cpp" ;;
    streams) extra="$extra -DATTEND_COUNT" && compile "$tests/streams_main.cpp" ;;
    exported)
      language=cpp
      [ ! -e "$EXPORTED/self_test.c" ] || language=c
      name_of_test=$(sed -n 's/^int \([a-z0-9_]*_self_test\)(\(void\)*) {$/\1/p' "$EXPORTED/self_test.$language")
      [ -n "$name_of_test" ] || fail "EXPORTED=$EXPORTED has neither self_test.cpp nor self_test.c"
      compile "$EXPORTED/model.$language" "$EXPORTED/self_test.$language"
      extra="$extra -DATTEND_SELF_TEST=$name_of_test -DATTEND_SELF_TEST_IN_$language"
      compile "$here/exported_main.cpp"
      ;;
    keywords | keywords_count)
      [ "$1" = keywords ] || extra="$extra -DATTEND_COUNT"
      make -j1 restored >&2 || fail "the model of keywords cannot be made"
      compile build/exported/keywords/model.cpp "$here/keywords_main.cpp"
      ;;
    keywords_linear | keywords_linear_count)
      extra="-DMODEL_PATH=\"bench/exporter/examples/keywords/held_out.bin\""
      compile "$here/embed.S"
      extra='-Wall -Wextra -Wshadow'
      [ "$1" = keywords_linear ] || extra="$extra -DATTEND_COUNT"
      make -j1 restored >&2 || fail "the model of keywords cannot be made"
      compile build/exported/keywords/linear/model.cpp "$here/keywords_linear_main.cpp"
      ;;
    receipts | receipts_count)
      [ "$1" = receipts ] || extra="$extra -DATTEND_COUNT"
      extra="$extra -I$EXPORTED"
      compile "$EXPORTED/model.cpp" "$here/receipts_main.cpp"
      ;;
    household | household_int8 | tokens) application_program "$1" bench/app/model/household.bin '' ;;
    household_count) counts=-DATTEND_COUNT && application_program household_int8 bench/app/model/household.bin '' ;;
    household_exported | household_exported_count)
      [ "$1" = household_exported ] || counts=-DATTEND_COUNT
      application_program household_exported "$EXPORTED/words.bin" '' "-I$EXPORTED/household" "$EXPORTED/household/model.cpp"
      ;;
    household_floats | tokens_floats) write_floats && application_program "${1%_floats}" "$work/floats.bin" '' ;;
    story)
      models=${MODELS:-../shared/models}
      application_program story "$models/stories260K.bin" "$models/tok512.bin"
      ;;
    *) fail "expected borders, digests, options, exported, keywords, keywords_count, keywords_linear, keywords_linear_count, receipts, receipts_count, household, household_int8, household_count, household_exported, household_exported_count, household_floats, tokens, tokens_floats, story, count, streams, chains, outputs, specials, tasks, example, worst or two_boards, found \"$1\"" ;;
  esac
  link "$2"
}

build() {  # board folder program...
  name=$1 folder=$2 app_objects=''
  prepare "$1" "$2/$1.objects"
  library
  attend "$1"
  extra='-Wall -Wextra -Wshadow'
  # shellcheck disable=SC2086
  compile $platform $memory
  common=$objects
  shift 2
  for program in "$@"; do build_program "$program" "$folder/$name.$program"; done
  rm -rf "$work"
}

library_objects() {  # board folder
  prepare "$1" "$2"
  library
  attend "$1"
  echo "$objects"
  rm -rf "$work"
}

link_compiled() {  # board image object...
  prepare "$1" "$2.objects"
  result=$2
  shift 2
  extra='-ffreestanding -fno-exceptions -fno-rtti -Wall -Wextra -Wshadow'
  # shellcheck disable=SC2086
  compile $platform "$here/memory.cpp"
  objects="$objects $*"
  # What is said about stacks holds for operating systems: parts of libgcc say nothing, Clang's objects do.
  link "$result" -nostdlib -lgcc -Wl,-z,noexecstack
  rm -rf "$work"
}

# Without exceptions, as firmware is built: otherwise an unwinder comes along, which no call needs.
size() {  # board folder
  prepare "$1" "$2"
  library
  attend "$1"
  extra='-fno-exceptions -fcallgraph-info=su'
  export CCACHE_DISABLE=1
  compile "$sizes/size_main.cpp"
  cp "$made"/*.ci "$work" || exit 1
  alone=$objects
  [ -z "$memory" ] || compile "$memory"
  stack_size=0
  for program in nothing prefill decode both options $kinds; do link "$work/$program" -Wl,-e,begin_$program; done
  # The same without the run-time helpers of compiler and C library, which tells how much of it they are.
  library_objects=$objects objects=$alone
  link "$work/alone" -Wl,-e,begin_both -nodefaultlibs -Wl,--unresolved-symbols=ignore-all
  objects=$library_objects stack_size=0x4000 extra='-fno-exceptions -Wall -Wextra -Wshadow'
  # shellcheck disable=SC2086
  compile $platform
  common=$objects
  for program in stack count; do
    objects=$common
    compile "$sizes/${program}_main.cpp"
    link "$work/$program"
  done
  case ${1#cortex-} in m0plus | m3 | m4 | m33) objects=$common && compile "$tests/worst_main.cpp" && link "$work/worst" ;; esac
}

run() {  # board image [argument...]; $clock: options for the emulator's clock
  describe "$1"
  image=$2
  shift 2
  needs $emulator $package
  arguments=arg=$(basename "$image")
  # The emulator takes a doubled comma for one.
  for argument in "$@"; do arguments=$arguments,arg=$(printf '%s' "$argument" | sed 's/,/,,/g'); done
  # shellcheck disable=SC2086
  timeout "${SECONDS_TO_LIVE:-600}" $emulator -machine $machine -display none -serial none -monitor none \
    -chardev stdio,id=console -semihosting-config "enable=on,target=native,chardev=console,$arguments" $clock -kernel "$image" </dev/null
}

case ${1:-} in
  build) [ $# -ge 4 ] || fail 'expected build BOARD FOLDER PROGRAM...'; shift; build "$@" ;;
  link) [ $# -ge 4 ] || fail 'expected link BOARD IMAGE OBJECT...'; shift; link_compiled "$@" ;;
  library) [ $# -eq 3 ] || fail 'expected library BOARD FOLDER'; library_objects "$2" "$3" ;;
  run) [ $# -ge 3 ] || fail 'expected run BOARD IMAGE [ARGUMENT...]'; clock=''; shift; run "$@" ;;
  size) [ $# -eq 3 ] || fail 'expected size BOARD FOLDER'; size "$2" "$3" ;;
  count) [ $# -ge 3 ] || fail 'expected count BOARD IMAGE [ARGUMENT...]'; clock='-icount shift=0'; shift; run "$@" ;;
  flags) [ $# -eq 2 ] || fail 'expected flags BOARD'; describe "$2"; echo "$flags" ;;
  compiler) [ $# -eq 2 ] || fail 'expected compiler BOARD'; describe "$2"; echo "$cxx" ;;
  boards) echo "$boards" ;;
  kinds) echo "$kinds" ;;
  *) fail 'expected build, link, library, run, count, size, flags, compiler, boards or kinds' ;;
esac
