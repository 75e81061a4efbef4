#!/bin/sh
# The programs of bench/examples, in C++17 and C99: each compiles without a warning, links with the library and prints what
# bench/examples/expected has, with every backend of this processor: tests/scripts/check_examples.sh CXX BUILD_DIR [FOLDER]
#
# `make lib` has made BUILD_DIR/libattend.a. FOLDER holds other examples than those of bench/examples.
cxx=$1
library=$2/libattend.a
build=$2/check_examples
folder=${3:-bench/examples}
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude'
printf '#include <attend/attend.h>\n#include <stdio.h>\nint main() {\n  for (int i = 0; i < attend::backend_count(); ++i) {\n%s\n  }\n}\n' \
  '    if (attend::backend_available(i)) puts(attend::backend_name(i));' >"$build/backends.cpp"

# shellcheck disable=SC2086
succeeds "backends are listed" $cxx -std=c++17 $strict "$build/backends.cpp" "$library" -o "$build/backends" || { finish; exit; }
# shellcheck disable=SC2086
succeeds "backends are chosen" $cxx -std=c++17 $strict -c tests/support/chosen_backend.cpp -o "$build/chosen_backend.o" || { finish; exit; }
backends=$("$build/backends")

for source in "$folder"/*.cpp "$folder"/*.c; do
  [ -f "$source" ] || continue
  name=$(basename "${source%.*}")
  expected=$folder/expected/$name.txt
  case $source in
    *.c) flags='-x c -std=c99' ;;
    *) flags='-std=c++17' ;;
  esac
  # shellcheck disable=SC2086
  succeeds "$name compiles without a warning" $cxx $flags $strict -c "$source" -o "$build/$name.o" || continue
  # As its reader links it, and then with the choice of a backend.
  # shellcheck disable=SC2086
  succeeds "$name links" $cxx "$build/$name.o" "$library" -lpthread -o "$build/$name" || continue
  # shellcheck disable=SC2086
  succeeds "$name links with the choice of a backend" $cxx "$build/$name.o" "$build/chosen_backend.o" "$library" -lpthread \
    -o "$build/$name.chosen" || continue
  for backend in default $backends; do
    if [ "$backend" = default ]; then
      "$build/$name" >"$build/output" 2>"$build/errors"
    else
      ATTEND_BACKEND=$backend "$build/$name.chosen" >"$build/output" 2>"$build/errors"
    fi
    result=$?
    if [ $result -ne 0 ]; then
      fail "$name, $backend backend: it runs" "exit code $result: $(tail -n 1 "$build/errors")"
    else
      nothing_in "$(diff "$expected" "$build/output" 2>&1 | head -n 10)" "$name, $backend backend: it prints what is expected"
    fi
  done
  # Parts that pages show: each begins, and ends before the next.
  nothing_in "$(sed -nE 's,^ *(//|/\*) \[(/?[a-z_]+)\]( \*/)?$,\2,p' "$source" | awk '
    open == "" && !/^\// { open = $0; next }
    $0 == "/" open { open = ""; next }
    { print $0 }
    END { print open }')" "$name: its parts for pages begin and end"
done

# Every expected output is that of a program.
for expected in "$folder"/expected/*.txt; do
  name=$(basename "$expected" .txt)
  [ -f "$folder/$name.cpp" ] || [ -f "$folder/$name.c" ] || fail "$expected is of an example" "there is no $name"
done

finish
