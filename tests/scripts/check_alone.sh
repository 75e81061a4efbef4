#!/bin/sh
# Attention alone, without layers: tests/scripts/check_alone.sh CXX BUILD_DIR, where the compiled tests and the library are.
#
# The folders of layers and of linear attention and their headers are removed from a copy; all that is left compiles there, and links
# with the tests that know neither. Nothing of these objects differs from the library's own, whose other objects are left out.
cxx=$1
top=$2
build=$2/check_alone
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/attention" || exit 1
cp -r include src "$build/attention" && cd "$build/attention" && rm -r src/layers src/linear_attention include/attend/layers include/attend/linear_attention include/attend/layers.h include/attend/linear_attention.h && cd - >/dev/null || exit 1

# shellcheck disable=SC2086
succeeds "without layers every source compiles" $cxx -std=c++17 -Wall -Wextra -Werror -fsyntax-only "$(all_in_one "$build/attention.cpp" "$build/attention")"
for header in attend.h attend_c.h; do
  echo "#include <attend/$header>" >"$build/program.cpp"
  succeeds "attend/$header compiles" $cxx -std=c++17 -Wall -Wextra -Werror -I"$build/attention/include" -fsyntax-only "$build/program.cpp"
done

# What a vendor copies and audits, as include/guide/targets.md says it, and what a program's header brings in.
lines_of() { find "$@" -name '*.h' -o -name '*.cpp' | xargs cat | wc -l; }
files=$(find "$build/attention/include" "$build/attention/src" -name '*.h' -o -name '*.cpp' | wc -l)
behind=$($cxx -std=c++17 -Iinclude -MM -x c++ include/attend/attend.h | tr -d '\\' | tr ' ' '\n' | grep '[.]h$' | xargs realpath | sort -u | xargs cat | wc -l)
printf '     attention alone: %s files, %s lines; behind attend.h: %s lines\n' "$files" "$(lines_of "$build/attention/include" "$build/attention/src")" "$behind"
pages=$(sed -nE 's/.*some ([0-9]+) files with ([0-9,]+)$/\1 \2/p' include/guide/targets.md | tr -d ,)
nothing_in "$(echo "$pages $files $(lines_of "$build/attention/include" "$build/attention/src")" | awk '{ if (($1 - $3) ^ 2 > 64 || ($2 / $4 - 1) ^ 2 > 1e-4) print }')" \
  "the page says how many files and lines that is"
most=4000 # a limit as those of tests/support/budget.txt
if [ "$behind" -le $most ]; then ok "attend.h is at most $most lines with what it includes"; else fail "attend.h is at most $most lines with what it includes" "$behind"; fi

# The tests without layers, and their program.
objects=$(ls src/*/*.cpp | grep -vE "^src/(layers|linear_attention)/" | sed "s|^|$top/|; s|cpp\$|o|")
tests=$(for test in tests/unit/test_*.cpp tests/typed/test_*.cpp tests/c/test_*.cpp tests/conformance/test_*.cpp; do
  made=$top/${test%cpp}
  grep -qE 'attend/(c/)?layers|attend/linear_attention|src/(layers|linear_attention)/' "${made}d" || echo "${made}o"
done)
count=$(echo "$tests" | wc -l)
# shellcheck disable=SC2086
if succeeds "without layers $count files of tests link" $cxx $tests "$top/tests/support/main.o" $objects -o "$build/unit"; then
  succeeds "their digests are the committed ones" "$build/unit" --test-case='*digests*'
  if [ "$count" -ge 60 ]; then ok "most tests know no layers"; else fail "most tests know no layers" "only $count do not"; fi
fi

# The packages' single source: the same without layers, and a program with it.
if command -v python3 >/dev/null 2>&1; then
  mkdir -p "$build/one/attend"
  if succeeds "the library without layers is one source" env PYTHONDONTWRITEBYTECODE=1 python3 -c "import sys
sys.path.insert(0, 'bench/packages')
import amalgamate, pathlib
for name, text in amalgamate.amalgamate('$build/attention', '').items(): pathlib.Path('$build/one/attend', name).write_text(text)"; then
    sed -n '/^```cpp/,/^```/p' README.md | sed '/^```/d' >"$build/program.cpp"
    succeeds "README's program compiles with it" $cxx -std=c++17 -O1 -ffp-contract=off -w -I"$build/one" "$build/one/attend/attend.cpp" "$build/program.cpp" -o "$build/program" &&
      succeeds "and runs" "$build/program"
  fi
else
  missing "the single source without layers" "apt-get install python3"
fi

finish
