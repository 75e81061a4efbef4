#!/bin/sh
# Coverage, the quick form: tests/scripts/check_coverage.sh CXX BUILD_DIR
#
# What the tests of the C surface, of operations and of digests, which are compiled already, reach of the library, which Clang 22 compiles for it without
# optimisation: no more lines, branches and conditions may be missing than at most are missing below. `make coverage` runs everything, in every form, and
# nothing may be missing.
# Less than a minute of a processor. `make unit` has made BUILD_DIR/tests.
cxx=$1
build=$2/check_coverage
. tests/support/check.sh
mkdir -p "$build" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
most=855,602,190 # lines, branches, conditions of MC/DC; who adds code that these tests cannot reach raises them

needs clang++-22 clang-22 && needs llvm-cov-22 llvm-22 && needs python3 python3 || { finish; exit; }
if "$2/unit" --no-run | grep -q 'not on this processor'; then
  skip "lines, branches and conditions" "this processor lacks instruction sets"
  finish
  exit
fi
rm -f "$build/raw" "$build/unit.profile"
runs() {
  make -j1 "$build/unit" CXX=clang++-22 BUILD="$build" TEST_BUILD="$2" OPT=-O0 WARNINGS=-w CXXFLAGS='-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc' &&
    ATTEND_QUICK=144 LLVM_PROFILE_FILE="$build/raw" "$build/unit" --test-case='*digests*,c *,*refus*,malformed*,edges*,dispatch*,typed*,rotary*,operations*' \
      --test-case-exclude='*environment*,c in keys*,c int4 caches*,c cache: filled*,c states: they have*' &&
    llvm-profdata-22 merge -sparse "$build/raw" -o "$build/unit.profile" && rm "$build/raw"
}
succeeds "the library counts, and its tests run" runs "$1" "$2" || { finish; exit; }
AT_MOST=$most python3 tests/coverage/coverage.py "$build" "$build/unit" >"$build/said"
grep -v ^FAIL "$build/said"
nothing_in "$(grep ^FAIL "$build/said")" "no more lines, branches and conditions are missing than were"
finish
