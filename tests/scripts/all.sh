#!/bin/sh
# Runs every part of the tests and adds them up: tests/scripts/all.sh CXX BUILD_DIR. The unit tests are BUILD_DIR/unit, already built, and
# BUILD_DIR/emulated are the same with every instruction set of x86, whatever the processor has.
# ALL=1, before a release: integers' machine code at -O2 and -O3, and on the M7 and the M33.
# CHECKS: which scripts follow them; all, unless it is given. JOBS: how many parts run at a time.
cxx=$1
build=$2
log=$build/test.log
# The longest come first, so that no worker is left alone with one at the end. Random tests take a twelfth of their rounds here,
# and all of them in rest.sh with ALL=1. The library is that of BUILD_DIR: what compiles another one is rest.sh's.
parts=${CHECKS+unit $CHECKS}
parts=${parts:-unit emulated wrong_code integers pages checked peers c symbols consumers examples stack windows unsafe_math rooms}
. tests/support/workers.sh

work_on() {
  case $1 in
    unit) ATTEND_QUICK=${ATTEND_QUICK:-12} "$build/unit" ;;
    emulated) emulated ;;
    stack) LEVELS=-O2 sh tests/scripts/check_stack.sh "$cxx" "$build" ;;
    symbols) LEVELS=built sh tests/scripts/check_symbols.sh "$cxx" "$build" ;;
    *) sh "tests/scripts/check_$1.sh" "$cxx" "$build" ;;
  esac
}

# A share of the tests, but for those of accuracy, of the application, and of a backend's own intrinsics or availability. All that is
# emulated is so by AVX2.
emulated() {
  if "$build/unit" --no-run | grep -qF 'avx2 (not on this processor)'; then
    echo 'skip instruction sets of x86 are emulated by AVX2, which this processor has not'
  else
    ATTEND_QUICK=72 "$build/emulated" --test-case-exclude="$accuracy_tests,app*,soft floats*,dispatch*,*of x86*"
  fi
}

rm -rf "$build/parts"
mkdir -p "$build/parts"
# shellcheck disable=SC2086
share_out "${JOBS:-$(nproc 2>/dev/null || echo 2)}" "$build/parts" $parts

{ for part in $parts; do
  # A part that was killed has none.
  [ -f "$build/parts/$part/result" ] || echo '1 ? ?' >"$build/parts/$part/result"
  read -r status seconds processor <"$build/parts/$part/result"
  printf '\n== %s: %s seconds, %s of a processor\n' "$part" "$seconds" "$processor"
  cat "$build/parts/$part/log"
  [ "$status" -eq 0 ] || echo "part failed: exit status $status, after $seconds seconds"
done
# Of some parts alone nobody asks whether all promises have their tests.
[ -n "${CHECKS+some}" ] || { printf '\n== requirements\n' && sh tests/scripts/check_requirements.sh "$cxx" "$build" test; }; } | tee "$log"

awk -f tests/support/total.awk "$log" >"$log.total"; status=$?; tee -a "$log" <"$log.total"; exit $status
