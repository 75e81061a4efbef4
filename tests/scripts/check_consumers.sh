#!/bin/sh
# Public headers under the warnings and flags of other people's projects: tests/scripts/check_consumers.sh CXX BUILD_DIR
#
# They stand in no folder of system headers, so each warning would be the project's own. Templates warn only where they are used: the
# tests of the C++ surface use all of it. What those files are warned of by themselves does not count.
cxx=$1
build=$2/check_consumers
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
cc=$(echo "$cxx" | sed 's/clang++/clang/; s/g++/gcc/')

both='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Wundef -Wcast-align -Wcast-qual -Wpacked'
strict="$both $(sed 's/-Wno-error=.*//' tests/support/other_warnings.flags | tr -d '\n') -Wno-unknown-warning-option"

printf '#include "%s"\n' include/attend/*.h >"$build/all.cpp"
printf '#include "%s"\n' include/attend/attend_*.h include/attend/core/version.h >"$build/all.c"
for standard in -std=c++17 -std=c++20; do
  # shellcheck disable=SC2086
  succeeds "every header with $standard" $cxx $standard $strict -Werror -I. -fsyntax-only "$build/all.cpp"
done
for standard in -std=c99 -std=c11; do
  # shellcheck disable=SC2086
  succeeds "the headers for C with $standard" $cc $standard $both -Wstrict-prototypes -Werror -I. -fsyntax-only "$build/all.c"
done

# GCC warns of templates only when it makes code of them. Its warnings were kept when the tests were compiled.
if [ -d "$2/tests/typed" ]; then header_warnings "$2"; else skip "uses of the C++ surface" "the tests were compiled in another folder"; fi

# Structs would lie otherwise than in the library.
stops "without -fpack-struct" "$build/all.cpp" -std=c++17 -I. -fpack-struct
if $cc -std=c11 -I. -fpack-struct -fsyntax-only "$build/all.c" >"$build/log" 2>&1; then
  fail "C with -fpack-struct stops" "it compiles"
elif grep -q 'error.*attend_structs_must_not_be_packed' "$build/log"; then
  ok "C with -fpack-struct stops"
else
  fail "C with -fpack-struct stops" "$(first_error "$build/log")"
fi
printf '#pragma pack(push, 4)\n#include "include/attend/attend.h"\n#pragma pack(pop)\n' >"$build/pragma.cpp"
if [ "$(printf '__SIZEOF_POINTER__' | $cxx -E -P -x c++ -)" = 8 ]; then
  stops "without -fpack-struct" "$build/pragma.cpp" -std=c++17 -I.
fi

# Small enumerations, in the program alone, change nothing: no struct and no function of the interface has one.
for program in c_surface c_integer c_linear; do
  # shellcheck disable=SC2086
  succeeds "$program.c with -fshort-enums links with the library as it is" \
    $cc -std=c11 -fshort-enums -Iinclude "tests/c/$program.c" "$2/libattend.a" -o "$build/$program" &&
    succeeds "$program.c with -fshort-enums runs" "$build/$program"
done
# shellcheck disable=SC2086
succeeds "digests: a program with -fshort-enums links with the library as it is" $cxx -std=c++17 -O1 -ffp-contract=off -fshort-enums -Iinclude \
  tests/boards/digests_main.cpp tests/boards/hosted.cpp "$2/libattend.a" -o "$build/digests" &&
  succeeds "digests: the committed ones" "$build/digests"

# Sizes of the other form would be wrong: the linker says so.
cat >"$build/form.cpp" <<'EOF'
#include <attend/layers/core_linear.h>
int main(int count, char**) {
  attend::core::Problem problem = {};
  attend::core::Linear linear = {};
  attend::core::IntegerLinear integers = {};
  if (count == 1) attend::core::Floats::run(problem);
  if (count == 2) attend::core::run_linear<attend::core::Format::float32>(linear);
  if (count == 3) attend::core::run_integer_linear<1>(integers);
}
EOF
not_linked() { ! $cxx -std=c++17 -Iinclude -DATTEND_EMBEDDED="$1" "$build/form.cpp" "$2/libattend.a" -o "$build/form" 2>"$build/log"; }
own=$(printf '#include "attend/core/config.h"\nATTEND_EMBEDDED\n' | $cxx -Iinclude -E -x c++ - | tail -n 1)
succeeds "a program of the other form does not link" not_linked $((1 - own)) "$2"
nothing_in "$(for call in 'Floats::run(' 'run_linear<' 'run_integer_linear<'; do grep -qF "undefined reference to \`void attend::core::$call" "$build/log" ||
  grep -qF "undefined reference to \`attend::core::$call" "$build/log" || echo "it finds $call"; done)" "and the linker names each of its calls"
nothing_in "$(not_linked "$own" "$2" && echo "it does not link")" "a program of the library's form links"

finish
