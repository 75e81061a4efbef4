#!/bin/sh
# Programs with -DATTEND_CHECKED stop at misuse, and others hold nothing of it: tests/scripts/check_checked.sh CXX BUILD_DIR
cxx=$1
build=$2/check_checked
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
library=$2/libattend.a
sentence='attend: one work memory is used by two calls at the same time'

# program NAME FLAGS…
program() {
  name=$1
  shift
  # shellcheck disable=SC2086
  succeeds "$name program compiles" $cxx -std=c++17 -O1 -Wall -Wextra -Werror "$@" -Iinclude tests/support/misuse.cpp "$library" -o "$build/$name"
}
# ends NAME MISUSE STATUS TEXT: the program ends with the status, and prints one line that begins with the text, if there is one.
ends() {
  sh -c 'exec "$@" 2>&1' sh "$build/$1" "$2" >"$build/log" 2>/dev/null
  status=$?
  if [ "$status" -ne "$3" ]; then
    fail "$1 program, $2" "it ends with $status"
  elif [ -n "$4" ] && ! head -n 1 "$build/log" | grep -qF "$4"; then
    fail "$1 program, $2" "it does not print the sentence"
  else
    ok "$1 program, $2: ends with $3${4:+ and a sentence}"
  fi
}

if program checked -include include/attend/hosted/checked.h; then
  ends checked right 0
  for call in layer attention arrays decode accumulate memory additive projection; do ends checked $call 134 "$sentence"; done
fi
if program hooked -DATTEND_CHECKED -DOWN_HOOK; then
  ends hooked layer 3 "own hook: $sentence"
fi
if program plain; then
  ends plain layer 0
fi

# In a freestanding program it takes nothing of a C library.
# shellcheck disable=SC2086
if succeeds "a freestanding program compiles" $cxx -std=c++17 -Os $firmware -DATTEND_CHECKED -Iinclude -c bench/speed/sizes/size_main.cpp -o "$build/free.o"; then
  nothing_in "$(nm -u "$build/free.o" | grep -E ' (abort|fputs|stderr|__atomic.*)$')" "a freestanding program needs no C library"
fi

# Elsewhere objects are those of headers that lack each use of the check and its mark.
cp -r include "$build/without"
sed -i -e '/const InUse use(/d' -e '/ in_use = 0;/d' "$build"/without/attend/*.h "$build"/without/attend/detail/*.h "$build"/without/attend/layers/*.h
nothing_in "$(grep -lrE 'InUse use[(]| in_use = 0;' "$build/without")" "headers without the check are made"
for level in -Os -O2; do
  for source in bench/speed/sizes/size_main.cpp tests/support/misuse.cpp; do
    for headers in include "$build/without"; do
      # shellcheck disable=SC2086
      $cxx -std=c++17 $level -w -I"$headers" -c "$source" -o "$build/$(basename "$headers").o" || fail "$source" "does not compile"
    done
    nothing_in "$(cmp "$build/include.o" "$build/without.o" 2>&1)" "$(basename "$source"), $level: not a byte more where nothing is checked"
  done
done

finish
