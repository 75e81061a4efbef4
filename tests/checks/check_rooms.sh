#!/bin/sh
# Files include what their room may use and nothing else, as tests/support/rooms.awk says: tests/checks/check_rooms.sh CXX BUILD_DIR
build=$2/check_rooms
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/src/kernel" || exit 1

for top in include src tests bench; do
  # What packages are made from stands in other places there.
  nothing_in "$(find $top -name '*.h' -o -name '*.cpp' -o -name '*.c' | grep -v '^bench/package/' | sort | xargs awk -f tests/support/rooms.awk)" "includes of $top/"
done

# No test is left out of the compiled ones.
nothing_in "$(ls tests/*/test_*.cpp | grep -vE "^tests/($(sed -n 's/^TEST_ROOMS ?= //p' Makefile | tr ' ' '|'))/")" \
  "every room of tests is one of TEST_ROOMS"

# The condition of an instruction set's source is defined where all are; otherwise it would compile to nothing anywhere.
conditions=$(sed -nE 's/^#(if|elif) !?(ATTEND_[A-Z0-9_]+).*/\2/p' src/isa/*.cpp | sort -u)
nothing_in "$(for condition in $conditions; do grep -qE "define $condition\b" src/isa/list.h include/attend/core/config.h || echo "$condition"; done)" \
  "conditions of instruction sets are defined in isa/list.h or core/config.h"

# What stands between begin.h and end.h is a namespace by itself, also where all sources are one file.
nothing_in "$(awk 'FNR == 1 { if (open != "") print before; open = ""; before = FILENAME }
  /^#define ATTEND_ISA / { if (open != "") print FILENAME; open = "begin.h" }
  /^#include "(begin|end)[.]h"/ { if ($2 != "\"" open "\"") print FILENAME; open = open == "begin.h" ? "end.h" : "" }
  END { if (open != "") print FILENAME }' src/isa/*.cpp)" "each namespace of an instruction set begins with begin.h and ends with end.h"

# Where a set stands behind one that its target also has, its source compiles to nothing. Compilers that are not here are left out.
if command -v python3 >/dev/null 2>&1; then
  nothing_in "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/tiles python3 -c 'import builds; print(*builds.empty_sources(), sep="\n")' 2>&1)" \
    "every instruction set's source compiles to something for its target"
else
  skip "sources of instruction sets" "there is no python3"
fi

# The operations of each of x86's are tested in a file of its own, which turns them on; of others tests/unit/target_isa.h says it.
nothing_in "$(for name in $(grep -l 'x86/on[.]h' $(grep -l 'using Isa =' src/isa/*.cpp) | sed 's,.*/,,; s,[.]cpp$,,'); do
  grep -qs "\"$name\"" "tests/unit/test_formats_$name.cpp" || echo "tests/unit/test_formats_$name.cpp, a copy of test_formats_avx2.cpp"
done)" "operations of every instruction set of x86 have their tests"

# The guards of headers that several namespaces take are those that begin.h takes back.
nothing_in "$({ grep -rhoE '^#ifndef ATTEND_[A-Z0-9_]+_H$' src; grep -oE '^#undef ATTEND_[A-Z0-9_]+_H$' src/isa/begin.h; } | awk '{ print $2 }' | sort | uniq -u)" \
  "guards of headers are those of isa/begin.h"

# An include that goes up is found.
printf '#include "../attention/rows.h"\n#include "../isa/avx2/operations.h"\n' >"$build/src/kernel/up.h"
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
  skip "lines of tests/mutants/equivalent.txt" "there is no python3"
fi

finish
