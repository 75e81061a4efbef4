#!/bin/sh
# Files include what their room may use and nothing else, as tests/support/rooms.awk says: tests/scripts/check_rooms.sh CXX BUILD_DIR
build=$2/check_rooms
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/src/kernel" || exit 1

for top in include src tests bench; do
  # What packages are made from stands in other places there.
  nothing_in "$(find $top -name '*.h' -o -name '*.cpp' -o -name '*.c' | grep -v '^bench/packages/' | sort | xargs awk -f tests/support/rooms.awk)" "includes of $top/"
done

# Nothing from outside but what a freestanding compiler has, string.h for others than GCC and Clang, and intrinsics.
nothing_in "$(git ls-files 2>/dev/null | cut -d / -f 1 | sort -u | grep -vxE 'src|include|tests|bench|Makefile|README.md|LICENSE|[.].*')" \
  "at the top level is nothing that somebody has left there"
nothing_in "$(grep -rnE '^ *# *include <[^ >]+>' include src --include='*.h' --include='*.cpp' | grep -v '^include/attend/hosted/' |
  grep -vE '<(std(def|int)|float|string|cpuid|[a-z0-9]*intrin|arm_(mve|neon)|riscv_vector|wasm_simd128)[.]h>')" "the library includes no header of a C or C++ library"

sh tests/support/budget.sh >"$build/budget"
over=$?
sed 's/^/     /' "$build/budget"
[ $over -eq 0 ] && ok "no room has more lines than its budget" || fail "no room has more lines than its budget" "$(grep -E ' <- |^rooms' "$build/budget")"

# The lines of faster paths that a page names.
nothing_in "$(grep -E '^\| .* \| `.*` \| [0-9]+ \| ' src/guide/measured.md | while IFS='|' read -r _ path files lines _; do
  now=$(cd src && cat $(echo "$files" | tr -d '`,') | wc -l)
  [ $((now - lines)) -le 10 ] && [ $((lines - now)) -le 10 ] || echo "$path: $now lines, the page says $lines"
done)" "a page has the lines of faster paths"

# No test is left out of the compiled ones.
nothing_in "$(ls tests/*/test_*.cpp | grep -vE "^tests/($(sed -n 's/^TEST_ROOMS ?= //p' tests/tests.mk | tr ' ' '|'))/")" \
  "every room of tests is one of TEST_ROOMS"

# The condition of an instruction set's source is defined where all are; otherwise it would compile to nothing anywhere.
sets=$(grep -l '^#define ATTEND_ISA ' src/*/*.cpp)
conditions=$(sed -nE 's/^#(if|elif) !?(ATTEND_[A-Z0-9_]+).*/\2/p' $sets | sort -u)
nothing_in "$(for condition in $conditions; do grep -qE "define $condition\b" src/backend/list.h include/attend/core/config.h || echo "$condition"; done)" \
  "conditions of instruction sets are defined in backend/list.h or core/config.h"

# What stands between begin.h and end.h is a namespace by itself, also where all sources are one file.
nothing_in "$(awk 'FNR == 1 { if (open != "") print before; open = ""; before = FILENAME }
  /^#define ATTEND_ISA / { if (open != "") print FILENAME; open = "begin.h" }
  /^#include ".*(begin|end)[.]h"/ { if ($2 !~ open "\"$") print FILENAME; open = open == "begin.h" ? "end.h" : "" }
  END { if (open != "") print FILENAME }' $sets)" "each namespace of an instruction set begins with begin.h and ends with end.h"

# Headers that are compiled for each set have no guard and no includes: each stands once in the lists of begin.h and body.h, or in that of
# its set. Each compiles with what stands before it there and no more: where one did not, neither would the file of all.
listed=$({ cat src/backend/begin.h src/backend/body.h; for room in layers linear_attention; do sed "s,\"\([^./]*[.]h\)\",\"../$room/\1\"," src/$room/body.h; done; } |
  sed -n 's,^#include "[.][.]/\(.*\)"$,src/\1,p' | sort)
nothing_in "$(echo "$listed" | uniq -d)" "no header stands twice in the lists of begin.h and body.h"
nothing_in "$(for header in $(grep -L '^#pragma once' src/numerics/*.h src/isa/*.h src/isa/*/*.h src/kernel/*.h src/sums/*.h src/attention/*.h src/layers/*.h src/linear_attention/*.h); do
  name=$(basename "$header") folder=$(basename "$(dirname "$header")")
  echo "$listed" | grep -qx "$header" || grep -sqF "\"$name\"" "$(dirname "$header")"/set.h "$(dirname "$header")"/*.cpp ||
    grep -rqE "^#include \"([a-z0-9.]+/)*$folder/$name\"" src/*/*.cpp src/isa || echo "$header"
done)" "every header without #pragma once stands in a list"
# shellcheck disable=SC2086
nothing_in "$(grep -HE '^#include "' $listed $(ls src/isa/*/*.h | grep -vE '/(set|on|intrinsics)[.]h$'))" "headers of the lists include none of each other"
printf '%s\n' '#include "src/layers/list.h"' '#include "src/linear_attention/list.h"' '#define ATTEND_ISA alone' '#include "src/backend/begin.h"' '#include "src/backend/body.h"' \
  '#include "src/layers/body.h"' '#include "src/linear_attention/body.h"' >"$build/alone.cpp"
succeeds "each header of the lists compiles with what stands before it" $1 -std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Werror -I. -fsyntax-only "$build/alone.cpp"

# Where a set stands behind one that its target also has, its source compiles to nothing. Compilers that are not here are left out.
if command -v python3 >/dev/null 2>&1; then
  nothing_in "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/tiles python3 -c 'import builds; print(*builds.empty_sources(), sep="\n")' 2>&1)" \
    "every instruction set's source compiles to something for its target"
else
  missing "sources of instruction sets" "apt-get install python3"
fi

# The operations of each of x86's are tested in a file of its own, which turns them on; of others tests/unit/target_isa.h says it.
nothing_in "$(for name in $(grep -l 'using Isa =' src/isa/*/set.h | sed 's,/set.h$,,; s,.*/,,'); do
  grep -qs "\"$name\"" "tests/unit/test_formats_$name.cpp" || echo "tests/unit/test_formats_$name.cpp, a copy of test_formats_avx2.cpp"
done)" "operations of every instruction set of x86 have their tests"

# Nor do they take names from rooms above their own, which includes would show.
if command -v python3 >/dev/null 2>&1; then
  nothing_in "$(python3 tests/support/upward.py)" "names go down, too"
else
  missing "names that go down" "apt-get install python3"
fi

# An include that goes up is found.
printf '#include "../attention/rows.h"\n#include "../numerics/bits.h"\n' >"$build/src/kernel/up.h"
found=$(cd "$build" && awk -f "$OLDPWD/tests/support/rooms.awk" src/kernel/up.h)
if [ "$found" = 'src/kernel/up.h includes src/attention/rows.h' ]; then
  ok "an include that goes up is found"
else
  fail "an include that goes up is found" "found \"$found\""
fi

# `make mutants`, which no other check runs, knows mistakes that change nothing by their lines.
if command -v python3 >/dev/null 2>&1; then
  succeeds "lines of tests/mutants/equivalent.txt are there" env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/mutants python3 -c \
    'import mutants; mutants.equivalents()'
else
  missing "lines of tests/mutants/equivalent.txt" "apt-get install python3"
fi

finish
