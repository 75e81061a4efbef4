# Shared by the check_*.sh scripts, which source it from the repository's root: counting cases, one line for each.
# They set $cxx, the compiler, which may hold flags too and is therefore not quoted, and $build, a folder of their own.
# shellcheck shell=sh disable=SC2154

passed=0
failed=0

ok() {
  passed=$((passed + 1))
  printf 'ok   %s\n' "$1"
}

fail() {
  failed=$((failed + 1))
  printf 'FAIL %s: %s\n' "$1" "$2"
}

skip() {
  printf 'skip %s: %s\n' "$1" "$2"
}

# succeeds WHAT COMMAND…: passes when the command does; otherwise the first error that it printed says why. False then.
succeeds() {
  what=$1
  shift
  if "$@" >"$build/log" 2>&1; then
    ok "$what"
  else
    fail "$what" "$(first_error "$build/log")"
    return 1
  fi
}

# stops TEXT SOURCE FLAGS…: the compiler must stop, and its first error must hold the text.
stops() {
  text=$1
  source=$2
  shift 2
  what="$(basename "$source") stops with $*, saying \"$text\""
  if $cxx "$@" -fsyntax-only "$source" >"$build/log" 2>&1; then
    fail "$what" "it compiles"
  elif first_error "$build/log" | grep -qF "$text"; then
    ok "$what"
  else
    fail "$what" "the first error is $(first_error "$build/log")"
  fi
}

# nothing_in TEXT WHAT: passes when TEXT is empty; otherwise TEXT, as one line, says what is wrong.
nothing_in() {
  if [ -z "$1" ]; then ok "$2"; else fail "$2" "$(printf '%s' "$1" | tr -s '\n\t ' ' ' | cut -c 1-400)"; fi
}

# first_error LOG…: the first complaint of compiler or linker.
first_error() {
  cat "$@" | grep -m 1 -E 'error|undefined' || cat "$@" | head -n 1
}

finish() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}

# compile_all FOLDER "SOURCE…" FLAGS…: every source to FOLDER/NAME.o, all at the same time. Prints what the compiler says and is
# false when it refuses any.
compile_all() (
  folder=$1
  sources=$2
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder"
  jobs=
  for source in $sources; do
    name=$(basename "$source" .cpp)
    $cxx "$@" -c "$source" -o "$folder/$name.o" >"$folder/$name.log" 2>&1 &
    jobs="$jobs $!"
  done
  result=0
  for job in $jobs; do wait "$job" || result=1; done
  [ $result -eq 0 ] || cat "$folder"/*.log
  exit $result
)

# library_at LEVEL FOLDER: the library as a vendor compiles it, with no flag but the standard and LEVEL, and GCC's notes about stack
# frames and calls; its objects are FOLDER/levels/LEVEL/*.o. Scripts that run side by side share it: the first makes it, the others
# wait. Prints what the compiler says and is false when it refuses any.
library_at() {
  objects=$2/levels/${1#-}
  notes='-fcallgraph-info=su -fstack-usage'
  # shellcheck disable=SC2086
  $cxx $notes -E -x c++ /dev/null >/dev/null 2>&1 || notes=''
  mkdir -p "$2/levels"
  (
    flock 9
    if [ -e "$objects.made" ] && [ -z "$(find src include -newer "$objects.made" -type f)" ]; then exit; fi
    rm -f "$objects.made"
    # shellcheck disable=SC2086
    compile_all "$objects" "$(ls src/*.cpp)" -std=c++17 "$1" $notes && touch "$objects.made"
  ) 9>"$objects.lock"
}
