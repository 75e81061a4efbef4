#!/bin/sh
# vendor.sh for a board of board.sh, for this machine ("host" or ""), or for a compiler and flags:
#   bench/packages/vendor_for.sh CPU COMPILER FLAGS FOLDER USE...
# The whole library is compiled once for each compiler and flags, below build/vendor.
fail() { echo "make vendor: $*" >&2; exit 1; }
cpu=$1 cxx=$2 flags=$3 folder=$4
shift 4
[ -n "$folder" ] || fail 'TO= names the folder that is made'
made=build/vendor/$(echo "$cpu $cxx $flags" | cksum | cut -d ' ' -f 1)
make="${MAKE:-make} --no-print-directory"
case $cpu:$flags in
  host: | :) # as `make lib` has it
    flags=-O2
    library=$($make lib CXX="$cxx" | grep 'libattend[.]a$') || exit 1
    ;;
  host:* | :*)
    $make static BUILD="$made" CXX="$cxx" CXXFLAGS="$flags" >/dev/null || exit 1
    library=$made/static/libattend.a
    ;;
  *) # as board.sh has it, which others may have asked for
    cxx=$(sh bench/boards/board.sh compiler "$cpu") && own=$(FLAGS='' sh bench/boards/board.sh flags "$cpu") || exit 1
    rm -rf "$made" && mkdir -p "$made" || exit 1
    objects=$(FLAGS="$own${flags:+ $flags}" sh bench/boards/board.sh library "$cpu" "$made/work" | tr ' ' '\n') || exit 1
    for source in src/*/*.cpp; do
      cp "$(echo "$objects" | grep "/$(echo "$source" | tr / _)[.]o\$")" "$made/$(basename "$source" .cpp).o" || exit 1
    done
    flags="$own $flags -Os" library=$made/libattend.a
    "${cxx%g++}ar" rcs "$library" "$made"/*.o || exit 1
    ;;
esac
exec sh bench/packages/vendor.sh "$folder" "$cxx" "$flags" "$library" "$@"
