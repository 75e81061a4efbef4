# Shared by scripts that have the same to do for many names, which source it from the project's top folder: several at a time.
# They define work_on NAME.
# shellcheck shell=sh

# Tests of accuracy and of what the application's models understand, which are the same wherever the bits are: other builds and
# emulators leave them out.
accuracy_tests='errors*,integer attention keeps*,app: at least*,app: times*,app: the model in integers understands*'

# share_out WORKERS FOLDER NAME…: works on every name, on so many at a time. FOLDER/NAME/log has what was said, FOLDER/NAME/cases the
# compiled test cases that passed, FOLDER/NAME/result the exit status, how many seconds it took, and how many of one processor: those tell
# what to make shorter, because others run beside it.
# In these folders' names - stands for /. FOLDER/files has the hash of what they were of.
# PLACES= a folder: several calls side by side have so many places for workers together, and a worker waits for its place.
share_out() {
  workers=$1 logs=$2
  shift 2
  sh tests/support/files.sh >"$logs/files"
  while [ "$workers" -gt 0 ]; do
    if [ -n "${PLACES:-}" ]; then in_place "$PLACES/$workers" "$@" & else worker "$@" & fi
    workers=$((workers - 1))
  done
  wait
}

# What a worker starts may share out work of its own, which does not wait.
in_place() (
  place=$1
  shift
  exec 8>"$place"
  flock 8
  unset PLACES
  worker "$@" 8>&-
)

# Of what `times` has written: user and system, of the shell and of its children, as 1m2.5s each.
processor_seconds() { tr ' ms' '\n  ' <"$1" 2>/dev/null | awk 'NF == 2 { seconds += 60 * $1 + $2 } END { printf "%.0f\n", seconds }'; }

# Several of these run at a time. A folder can be made only once, and so each name has one worker.
worker() {
  for name in "$@"; do
    files=$logs/$(echo "$name" | tr / -)
    mkdir "$files" 2>/dev/null || continue
    begin=$(date +%s)
    (trap 'times >"$files/times"' EXIT && export ATTEND_CASES="$files/cases" && work_on "$name") >"$files/log" 2>&1
    echo "$? $(($(date +%s) - begin)) $(processor_seconds "$files/times")" >"$files/result"
    echo "  done    $name" >&2
  done
}
