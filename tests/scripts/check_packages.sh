#!/bin/sh
# What `make package` makes is what each kind of user expects, and gives the library's bits: tests/scripts/check_packages.sh CXX BUILD_DIR
#
# Nothing of Arduino, ESP-IDF or Zephyr is on this machine: small stand-ins take what the packages hand to these, exactly that is
# compiled as they would compile it, and the examples run on emulated boards.
cxx=$1
build=$2/check_packages
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/forward/attend" "$build/system/zephyr/sys" || exit 1
packages=$build/packages
board=bench/boards/board.sh

needs python3 python3 || { finish && exit; }
export PYTHONDONTWRITEBYTECODE=1 SECONDS_TO_LIVE=60 # of a program on a board

# ---- What they consist of
make_packages() { python3 bench/packages/package.py --shared-object "$2" "$1"; }
succeeds "all packages are made" make_packages "$packages" "$2/libattend.so" || { finish; exit; }
make_packages "$build/again" "$2/libattend.so" >/dev/null
for archive in "$packages"/*.*; do
  name=$(basename "$archive")
  if cmp -s "$archive" "$build/again/$name"; then ok "$name: the same bytes again"; else fail "$name" "its bytes differ when it is made again"; fi
done
rm -rf "$build/again"
counted "contents of packages" python3 tests/scripts/package_contents.py "$packages"

# Links of the pages that packages carry resolve; what a package does not hold is linked where the project lies, if it lies anywhere.
make_linked() { python3 bench/packages/package.py --shared-object "$2" --url https://example.org/attend "$1"; }
succeeds "all packages are made with a URL" make_linked "$build/linked" "$2/libattend.so"
counted "contents of linked packages" python3 tests/scripts/package_contents.py "$build/linked" https://example.org/attend
for made in "$packages" "$build/linked"; do
  counted "links of $made" env -C "$made" python3 "$PWD/tests/scripts/pages.py" links amalgamation arduino/Attend platformio esp-idf/attend zephyr/attend cmsis-pack
done
linked=$(grep -oh 'https://example.org/attend/blob/HEAD/[^)#]*' "$build/linked/amalgamation/README.md" | sed 's|.*/HEAD/||' | sort -u)
nothing_in "$(for path in ${linked:-none}; do [ -e "$path" ] || echo "$path"; done)" "links of packages to the project lead to its files"
nothing_in "$(grep -l 'example.org' -r "$packages")" "packages without a URL link nowhere"

# ---- Few files
cp "$packages/amalgamation/attend.h" "$packages/amalgamation/attend_c.h" "$packages/amalgamation/attend.cpp" "$build"
for header in include/attend/*.h include/attend/*/*.h; do
  mkdir -p "$build/forward/$(dirname "${header#include/}")"
  case $header in
    */attend_c.h | */c/*.h | */version.h) echo "#include \"$(pwd)/$build/attend_c.h\"" ;;
    *) echo "#include \"$(pwd)/$build/attend.h\"" ;;
  esac >"$build/forward/${header#include/}"
done
for copy in arduino/Attend/src cmsis-pack/src; do
  nothing_in "$(cmp "$packages/$copy/attend.cpp" "$build/attend.cpp" 2>&1)" "$copy has the amalgamation's source"
done
alone() (cd "$build" && $cxx -std=c++17 "$@" -c attend.cpp -o one/attend.o)
mkdir -p "$build/one"
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Wold-style-cast -Werror'
# shellcheck disable=SC2086
succeeds "attend.cpp compiles alone" alone -fsyntax-only $strict
# Without optimisation, as C++11, a static constant that C++17 defines by itself would be missing when a program is linked.
# shellcheck disable=SC2086
succeeds "attend.cpp compiles as C++11" alone -std=c++11 -O0 $strict && {
  objects=$build/one
  whole=$cxx
  cxx="$cxx -I$build/forward" # before the library's own headers
  same_bits "attend.cpp"
  cxx=$whole
}
refuses() { if alone "$1" -Wfatal-errors -fsyntax-only >"$build/log" 2>&1; then fail "attend.cpp with $1" "it compiles"; else
  if first_error "$build/log" | grep -qF "$2"; then ok "attend.cpp with $1 stops: $2"; else fail "attend.cpp with $1" "$(first_error "$build/log")"; fi
fi; }
refuses -std=gnu++98 "attend needs C++11"
refuses -ffast-math "attend cannot keep its bits"

# ---- On boards
# The systems' own headers, as the examples use them.
echo '#include "package_system.h"' | tee "$build/system/stdio.h" >"$build/system/zephyr/sys/printk.h"
printf '#include "package_system.h"\nnamespace std {\nusing ::printf;\n}\n' >"$build/system/cstdio"
printf 'token %d: head 0 puts out %d thousandths\n' 0 0 1 5441 2 12309 >"$build/expected"

# example BOARD WHOSE FILE CALL INCLUDE FLAGS…: runs on the board, with the objects in $objects; the last $lines of its output are what is $expected.
expected=$build/expected lines=+1
self_test() { expected=tests/boards/SelfTest.expected lines=1 && example "$@"; expected=$build/expected lines=+1; }
example() {
  target=$1 whose=$2 file=$3 call=$4 include=$5
  shift 5
  compiler=$(sh $board compiler "$target")
  # shellcheck disable=SC2046
  on_board() {
    $compiler $(sh $board flags "$target") "$@" -fno-exceptions -ffreestanding -Wall -Wextra -Werror -Itests/boards -I"$build/system" -I"$include" \
      -I"$(dirname "$file")" -DEXAMPLE="\"$(pwd)/$file\"" -DCALL="$call" -c tests/boards/package_main.cpp -o "$build/example.o" &&
      sh $board link "$target" "$build/example.elf" "$build/example.o" "$objects"/*.o
  }
  succeeds "$whose: the example links for $target" on_board "$@" || return
  sh $board run "$target" "$build/example.elf" 2>&1 | tr -d '\r' | tail -n $lines >"$build/output"
  nothing_in "$(diff "$expected" "$build/output")" "$whose: the example prints what it should on $target"
}

# one_source BOARD FLAGS…: attend.cpp for the board, to $objects.
one_source() {
  objects=$build/one.$1
  mkdir -p "$objects"
  compiler=$(sh $board compiler "$1") flags=$(sh $board flags "$1")
  shift
  # shellcheck disable=SC2086
  (cd "$build/unzipped/Attend/src" && $compiler $flags "$@" -I. -c attend.cpp -o "../../../$(basename "$objects")/attend.o")
}
# Who names the C++ surface with a core of an older standard reads what to do.
printf '#include <Attend.h>\nstatic attend::KvCache<int> cache;\n' >"$build/typed.cpp"
stops "namespace attend needs C++17: set -std=gnu++17" "$build/typed.cpp" -std=gnu++11 "-I$packages/arduino/Attend/src"
# As Arduino's cores compile: what they switch off, and every level that one of them asks for.
arduino='-Os -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti -fno-threadsafe-statics -nostdlib'
# sketch BOARD NAME STANDARD: from the unpacked archive alone, with the objects in $objects. Of the self-test, the last line counts.
sketch() {
  result=$build/$2.$1.$3
  of_sketch=+1 && [ "$2" != SelfTest ] || of_sketch=1
  on_board() {
    # shellcheck disable=SC2046,SC2086
    arm-none-eabi-g++ $(sh $board flags "$1") -std="$3" $arduino -Wall -Wextra -Werror -I"$build/unzipped/Attend/src" -x c++ \
      -include tests/boards/Arduino.h -c "$build/unzipped/Attend/examples/$2/$2.ino" -o "$build/example.o" &&
      arm-none-eabi-g++ $(sh $board flags "$1") -std=c++17 $arduino -Wall -Wextra -Werror -c tests/boards/arduino.cpp -o "$build/arduino.o" &&
      sh $board link "$1" "$result.elf" "$build/arduino.o" "$build/example.o" "$objects"/*.o
  }
  succeeds "Arduino: $2 links for $1 in $3" on_board "$@" || return
  sh $board run "$1" "$result.elf" 2>&1 | tr -d '\r' | tail -n $of_sketch >"$result.output"
  nothing_in "$(diff "tests/boards/$2.expected" "$result.output")" "Arduino: $2 prints what it should on $1 in $3"
}
if needs arm-none-eabi-g++ "gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib" && needs qemu-system-arm qemu-system-arm; then
  python3 -m zipfile -e "$packages"/attend-*-arduino.zip "$build/unzipped"
  # The oldest and the newest language level, and each kind of processor; check_vendoring.sh compiles all sources with gnu++14.
  for build_of in cortex-m0plus/gnu++11 cortex-m4/gnu++17; do
    target=${build_of%/*} standard=${build_of#*/}
    # shellcheck disable=SC2086
    succeeds "Arduino: src/ compiles for $target in $standard" one_source $target -std=$standard $arduino -Wall -Wextra -Werror || continue
    sketch $target SensorStream $standard
    sketch $target Household $standard
    case $standard in *11) ;; *) sketch $target SelfTest $standard ;; esac
  done
  # A stream that passes its last position goes on: it prints every reading, and no refusal.
  mkdir -p "$build/unzipped/Attend/examples/Short"
  sed 's/most_readings = 1000000/most_readings = 100/' "$build/unzipped/Attend/examples/SensorStream/SensorStream.ino" \
    >"$build/unzipped/Attend/examples/Short/Short.ino"
  result=$build/short
  succeeds "Arduino: a stream of 100 positions links" on_board cortex-m4 Short gnu++11 && {
    sh $board run cortex-m4 "$result.elf" 2>&1 | tr -d '\r' | sed 's/, predicted.*//' >"$result.output"
    nothing_in "$(sed 's/, predicted.*//' tests/boards/SensorStream.expected | diff - "$result.output")" "Arduino: a stream goes on after its last position"
    # Linked with the folders' objects: of one source no more must stay, which takes -fdata-sections.
    # shellcheck disable=SC2046
    sh $board link cortex-m4 "$build/folders.elf" "$build/arduino.o" "$build/example.o" $(sh $board library cortex-m4 "$build/folders")
    nothing_in "$(arm-none-eabi-size "$result.elf" "$build/folders.elf" |
      awk 'NR > 1 { bytes[NR] = $1 + $2 } END { if (bytes[3] == 0 || bytes[2] > 1.05 * bytes[3]) print bytes[2], "bytes and", bytes[3] }')" \
      "attend.cpp: a program has at most 1.05 times the bytes that the folders give it"
  }
  digests() {
    # shellcheck disable=SC2046
    arm-none-eabi-g++ $(sh $board flags cortex-m4) -std=c++17 -Os -I"$build/forward" -c tests/boards/digests_main.cpp -o "$build/digests.o" &&
      sh $board link cortex-m4 "$build/digests.elf" "$build/digests.o" "$objects"/*.o && sh $board run cortex-m4 "$build/digests.elf"
  }
  succeeds "attend.cpp: digests are the committed ones on cortex-m4" digests
  mkdir -p "$build/project" # where an IDE copies a template to
  cp "$packages/cmsis-pack/template/wake.h" "$packages/platformio/examples/wake/src/main.cpp" "$build/project"
  example cortex-m4 CMSIS-Pack "$build/project/main.cpp" example_main "$packages/cmsis-pack/include" -std=c++17 -Os
fi

# ---- Folders and a build system
# recorded PACKAGE CMAKE: what its CMakeLists.txt hands over, as lines "source …", "include …" and "option …".
recorded() {
  mkdir -p "$build/$1"
  cat >"$build/$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(recorded NONE)
function(record kind)
  foreach(word \${ARGN})
    if(NOT kind STREQUAL option)
      get_filename_component(word "\${word}" ABSOLUTE BASE_DIR "\${CMAKE_CURRENT_LIST_DIR}")
    endif()
    file(APPEND "$(pwd)/$build/$1/record" "\${kind} \${word}\n")
  endforeach()
endfunction()
function(idf_component_register)
  cmake_parse_arguments(GIVEN "" "" "SRCS;INCLUDE_DIRS" \${ARGN})
  record(source \${GIVEN_SRCS})
  record(include \${GIVEN_INCLUDE_DIRS})
endfunction()
function(target_compile_features)
endfunction()
function(target_compile_options library scope)
  record(option \${ARGN})
endfunction()
function(zephyr_library_named name)
endfunction()
function(zephyr_library_sources)
  record(source \${ARGN})
endfunction()
function(zephyr_include_directories)
  record(include \${ARGN})
endfunction()
function(zephyr_library_compile_options)
  record(option \${ARGN})
endfunction()
add_subdirectory($(pwd)/$2 package)
END
  rm -f "$build/$1/record"
  cmake -S "$build/$1" -B "$build/$1/out" -DCONFIG_ATTEND="${3:-y}" -DCOMPONENT_LIB=attend
}
# built PACKAGE CMAKE BOARD STANDARD FILE CALL
built() {
  succeeds "$1: CMake takes it" recorded "$1" "$2" || return
  sources=$(sed -n 's/^source //p' "$build/$1/record") include=$(sed -n 's/^include //p' "$build/$1/record")
  nothing_in "$(printf '%s\n' $sources | sed 's|.*/||' | sort | diff - "$build/sources")" "$1: it compiles the project's sources, and no others"
  nothing_in "$(for source in $sources; do cmp "$source" src/*/"$(basename "$source")" 2>&1; done)" "$1: byte for byte"
  board_compiler=$(sh $board compiler "$3") objects=$build/$1/objects
  command -v "$board_compiler" >/dev/null 2>&1 || { missing "$1" "$board_compiler was not found: apt-get install gcc-arm-none-eabi gcc-riscv64-unknown-elf"; return; }
  # Without ALL=1 they are only read with the package's flags, as one: at this level the board has objects of the same sources.
  to_compile=$sources only=
  [ -n "${ALL:-}" ] || to_compile=$build/$1/unity.cpp only=-fsyntax-only
  printf '#include "%s"\n' $sources >"$build/$1/unity.cpp"
  with_board() (cxx=$board_compiler && compile_all "$objects" "$@")
  # shellcheck disable=SC2046,SC2086
  succeeds "$1: these compile for $3" with_board "$to_compile" $only $(sh $board flags "$3") "$4" -Os -ffunction-sections -fdata-sections -fno-exceptions \
    -fno-rtti -I"$include" $(sed -n 's/^option //p' "$build/$1/record") || return
  [ -n "${ALL:-}" ] || succeeds "$1: the board's objects" objects_of_board "$3" || return
  example "$3" "$1" "$5" "$6" "$include" "$4" -Os
  self_test "$3" "$1's self-test" "$(echo "$5" | sed 's/wake/self_test/')" "$6" "$include" "$4" -Os
}
objects_of_board() { # board
  rm -rf "$objects" && mkdir -p "$objects" && made=$(sh $board library "$1" "$build/of_board") && cp $made "$objects"
}
ls src/*/*.cpp | sed 's|.*/||' | sort >"$build/sources"
if needs cmake cmake; then
  built ESP-IDF "$packages/esp-idf/attend" rv32imac -std=gnu++20 "$packages/esp-idf/attend/examples/wake/main/main.cpp" app_main
  built Zephyr "$packages/zephyr/attend/zephyr" cortex-m33 -std=c++17 "$packages/zephyr/attend/samples/wake/src/main.cpp" example_main
  succeeds "Zephyr: CMake takes it, switched off" recorded off "$packages/zephyr/attend/zephyr" n
  nothing_in "$(cat "$build/off/record" 2>/dev/null)" "Zephyr: switched off, nothing is compiled"
fi

nothing_in "$(grep -L fdata-sections bench/packages/platformio/library.json bench/packages/esp-idf/CMakeLists.txt bench/packages/zephyr/zephyr/CMakeLists.txt src/CMakeLists.txt)" \
  "packages and CMake put data into sections of their own"
# PlatformIO on this machine: its sources are the project's, byte for byte, so the library's objects are theirs.
for folder in include src; do
  nothing_in "$(diff -r -x '*.md' "$folder" "$packages/platformio/$folder" | grep -vE '^Only in (include|src): (guide|CMakeLists.txt|install.sh|README.md)')" "PlatformIO: $folder/ is the project's"
done
wake() {
  $cxx -std=gnu++17 -I"$packages/platformio/include" "$packages/platformio/examples/wake/src/main.cpp" "$2/libattend.a" -o "$build/wake" &&
    "$build/wake" | diff "$build/expected" -
}
succeeds "PlatformIO: the example prints what it should" wake "$@"

# ---- Python
wheel=$(ls "$packages"/*.whl)
version=$(basename "$wheel" | cut -d- -f2)
if needs_python numpy python3-numpy; then numpy=$python; else numpy=''; fi
# numpy comes from the system; the environment has nothing else.
if ${numpy:-python3} -m venv --system-site-packages "$build/venv" >"$build/log" 2>&1; then
  python=$build/venv/bin/python
  succeeds "the wheel installs into a fresh environment" "$python" -m pip install --no-index "$wheel"
  pip_shows() { "$python" -m pip show attend | grep -x "Version: $version"; }
  succeeds "pip knows its version" pip_shows
  succeeds "the wheel computes over buffers, without numpy" "$python" tests/python/wheel.py "$version" buffers
  if [ -n "$numpy" ]; then
    succeeds "the wheel is ONNX's Attention, 500 problems against float64, nothing copied" "$python" tests/python/wheel_onnx.py 500
    succeeds "the wheel's other options, caches and refusals" "$python" tests/python/wheel.py "$version"
    succeeds "the wheel's states, threads, remembered calls and sentences" "$python" tests/python/wheel_ways.py
    succeeds "the wheel takes tensors by DLPack, and bfloat16" "$python" tests/python/wheel_dlpack.py
    succeeds "the wheel's layers" "$python" tests/python/wheel_layers.py
    succeeds "the wheel's linear attention, beside float64" "$python" tests/python/wheel_linear.py
    succeeds "the wheel's causal convolution, beside float64" "$python" tests/python/wheel_convolution.py
    succeeds "the wheel's layers as objects, beside their calls and PyTorch" "$python" tests/python/wheel_nn.py
    succeeds "the wheel's rotary positions of published configurations" "$python" tests/python/wheel_rotary.py
    # A tenth of its 2,000 problems here, and all of them in rest.sh.
    succeeds "the wheel computes the families of the page beside float64" "$python" tests/python/wheel_families.py
    succeeds "the wheel in integers beside the exact model" \
      env ATTEND_QUICK="${ATTEND_QUICK:-10}" "$python" tests/python/wheel_integers.py
    python3 tests/scripts/pages.py python "$build/pages"
    for page in "$build"/pages/*.py; do succeeds "the wheel runs the page $(basename "$page" .py)" "$python" "$page"; done
  fi
else
  missing "a fresh environment" "$(head -n 1 "$build/log") (Debian: apt-get install python3-venv)"
fi

finish
