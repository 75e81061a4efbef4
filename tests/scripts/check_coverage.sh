#!/bin/sh
# Coverage, the quick form: tests/scripts/check_coverage.sh CXX BUILD_DIR
#
# What the tests of the C surface, of operations and of digests, which are compiled already, reach of the library, which Clang 22 compiles for it without
# optimisation: no more lines, branches and conditions may be missing than stand below. `make coverage` runs everything, in every form, and nothing may be
# missing.
# Less than a minute of a processor. `make unit` has made BUILD_DIR/tests.
build=$2/check_coverage
. tests/support/check.sh
mkdir -p "$build" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# Lines, branches, conditions of MC/DC, and eight more than were missing: who adds code that these tests cannot reach raises the numbers.
most=872,647,223

needs clang++-22 clang-22 && needs llvm-cov-22 llvm-22 && needs python3 python3 || { finish; exit; }
if "$2/unit" --no-run | grep -q 'not on this processor' || ! grep -qw avx512_vnni /proc/cpuinfo || ! grep -qw avx_vnni /proc/cpuinfo; then
  skip "lines, branches and conditions" "this processor lacks instruction sets that the limits count"
  finish
  exit
fi
rm -f "$build/raw" "$build/unit.profile"
# shellcheck disable=SC2317 # called by succeeds
runs() {
  make -j1 "$build/unit" CXX=clang++-22 BUILD="$build" TEST_BUILD="$1" OPT=-O0 WARNINGS=-w CXXFLAGS='-fprofile-instr-generate -fprofile-update=atomic -fcoverage-mapping -fcoverage-mcdc' &&
    ATTEND_QUICK=144 LLVM_PROFILE_FILE="$build/raw" "$build/unit" --test-case='*digests*,c *,*refus*,malformed*,edges*,dispatch*,typed*,rotary*,operations*,*environment*' \
      --test-case-exclude='digests whatever*,c in keys*,c int4 caches*,c cache: filled*,c states: they have*' &&
    llvm-profdata-22 merge -sparse "$build/raw" -o "$build/unit.profile" && rm "$build/raw"
}
succeeds "the library counts, and its tests run" runs "$2" || { finish; exit; }
AT_MOST=$most python3 tests/coverage/coverage.py "$build" "$build/unit" >"$build/said"
grep -v ^FAIL "$build/said"
nothing_in "$(grep ^FAIL "$build/said")" "no more lines, branches and conditions are missing than were"
finish
