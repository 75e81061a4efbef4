#!/bin/sh
# vendor.sh for a board of board.sh, for this machine ("host" or ""), or for a compiler and flags:
#   bench/packages/vendor_for.sh CPU COMPILER FLAGS FOLDER USE...
# The whole library is compiled once for each compiler and flags, below build/vendor.
fail() { echo "make vendor: $*" >&2; exit 1; }
cpu=$1 cxx=$2 flags=$3 folder=$4
shift 4
[ -n "$folder" ] || fail 'TO= names the folder that is made'
case $cpu in
  host | '') [ -n "$flags" ] || flags=-O2 ;;
  *)
    cxx=$(sh bench/boards/board.sh compiler "$cpu") || exit 1
    flags="$(FLAGS='' sh bench/boards/board.sh flags "$cpu") ${flags:--Os}"
    ;;
esac
made=build/vendor/$(echo "$cxx $flags" | cksum | cut -d ' ' -f 1)
${MAKE:-make} --no-print-directory static BUILD="$made" CXX="$cxx" CXXFLAGS="$flags" >/dev/null || exit 1
exec sh bench/packages/vendor.sh "$folder" "$cxx" "$flags" "$made/static/libattend.a" "$@"
