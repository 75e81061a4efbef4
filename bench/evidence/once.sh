#!/bin/sh
# What `make evidence` shows, run first: bench/evidence/once.sh NAME…, from the project's top folder. Each name is a target of the Makefile.
#
# A target that has passed with the same files is not run again: build/evidence-runs/NAME has their hash. One that fails does not stop the others,
# and its log is build/evidence-runs/NAME.log.
runs=build/evidence-runs
mkdir -p "$runs"
files=$(sh tests/support/files.sh)
for name in "$@"; do
  [ "$(cat "$runs/$name" 2>/dev/null)" != "$files" ] || { echo "make $name: has passed with these files" && continue; }
  begin=$(date +%s)
  if make "$name" >"$runs/$name.log" 2>&1; then echo "$files" >"$runs/$name" && result=passed; else result="failed, $runs/$name.log"; fi
  echo "make $name: $result, $(($(date +%s) - begin)) seconds"
done
