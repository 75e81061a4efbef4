#!/bin/sh
# Runs every part of the tests and adds them up: tests/all.sh CXX BUILD_DIR. The unit tests are BUILD_DIR/unit, already built.
# CHECKS: which scripts follow them; all, unless it is given.
cxx=$1
build=$2
log=$build/test.log
: >"$log"

part() {
  printf '\n== %s\n' "$1" | tee -a "$log"
  shift
  { "$@" 2>&1 || echo "part failed: exit status $?"; } | tee -a "$log"
}

part 'unit tests' "$build/unit"
for check in ${CHECKS-wrong_code symbols stack freestanding vendoring windows c readme}; do
  part "$check" sh "tests/check_$check.sh" "$cxx" "$build"
done

# doctest says "test cases: 3 | 3 passed | 0 failed"; the scripts say "3 passed, 0 failed"; a part that died says so.
awk '
  /^\[doctest\] test cases:/ { gsub(/[^0-9|]/, ""); split($0, n, "|"); passed += n[2]; failed += n[3] }
  /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 }
  /^part failed:/ { broken++ }
  END {
    if (broken > 0 && failed == 0) failed = broken
    printf "\ntotal: %d passed, %d failed\n", passed, failed
    exit failed > 0 || passed == 0
  }
' "$log"
