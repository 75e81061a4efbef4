#!/bin/sh
# Runs every part of the tests and adds them up: tests/checks/all.sh CXX BUILD_DIR. The unit tests are BUILD_DIR/unit, already built.
# CHECKS: which scripts follow them; all, unless it is given. JOBS: how many parts run at a time.
cxx=$1
build=$2
log=$build/test.log
parts="unit ${CHECKS-symbols wrong_code integers c stack vendoring freestanding unsafe_math windows peers install packages consumers rooms examples pages}"
. tests/support/workers.sh

work_on() {
  if [ "$1" = unit ]; then "$build/unit"; else sh "tests/checks/check_$1.sh" "$cxx" "$build"; fi
}

rm -rf "$build/parts"
mkdir -p "$build/parts"
# shellcheck disable=SC2086
share_out "${JOBS:-$(nproc 2>/dev/null || echo 2)}" "$build/parts" $parts

for part in $parts; do
  printf '\n== %s\n' "$part"
  cat "$build/parts/$part/log"
  read -r status seconds <"$build/parts/$part/result"
  [ "$status" -eq 0 ] || echo "part failed: exit status $status, after $seconds seconds"
done | tee "$log"

awk -f tests/support/total.awk "$log"
