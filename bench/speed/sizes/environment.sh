#!/bin/sh
# What setting the floating-point environment costs in flash: bench/speed/sizes/environment.sh, from the project's top folder.
#
# The programs of size.sh at -Os, with and without ATTEND_KEEP_FLOAT_ENVIRONMENT, on boards with a floating-point unit; TARGETS=
# chooses some. Prints a table of bytes. Exit status 77: something is not installed, and the message says what.
board=bench/boards/board.sh
build=build/environment
programs='prefill decode both options decode_int8 project layer integer integer_ring project_integer'

flash() { "${tools}size" "$1" | awk 'NR == 2 { print $1 + $2 }'; }

# shellcheck disable=SC2086
printf '| bytes of flash |%s\n|%s --- |\n' "$(printf ' `%s` |' $programs)" "$(printf ' --- |%.0s' $programs)"
for name in ${TARGETS:-cortex-m4 cortex-m7 cortex-m33 cortex-m55 rv32imafc}; do
  tools=$(sh "$board" compiler "$name")
  tools=${tools%g++}
  flags=$(sh "$board" flags "$name")
  OPT=-Os sh "$board" size "$name" "$build/$name.set" || exit
  FLAGS="$flags -DATTEND_KEEP_FLOAT_ENVIRONMENT" OPT=-Os sh "$board" size "$name" "$build/$name.kept" || exit
  printf '| %s |' "$name"
  for program in $programs; do printf ' %d |' $(($(flash "$build/$name.set/$program") - $(flash "$build/$name.kept/$program"))); done
  echo
done
