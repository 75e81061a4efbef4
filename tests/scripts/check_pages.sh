#!/bin/sh
# The pages: programs in them compile without a warning and print what the page says; fragments, and examples in comments of headers,
# compile; links, figures and excerpts are right, and the changes have an entry for this version: tests/scripts/check_pages.sh CXX BUILD_DIR
#
# `make lib` has made BUILD_DIR/libattend.a. tests/scripts/pages.py reads the pages and says what a page may ask of it.
cxx=$1
library=$2/libattend.a
build=$2/check_pages
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
export PYTHONDONTWRITEBYTECODE=1

strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude"
cpp_flags="-x c++ -std=c++17"
c_flags="-x c -std=c99"

# The newest entry of the changes is the version of the header.
version=$(awk '/define ATTEND_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }
  /define ATTEND_BITS_VERSION / { print ", bits version " $3 }' "$(find include -name version.h)")
newest=$(sed -n 's/^## //p' .github/CHANGELOG.md | head -n 1)
nothing_in "$([ "$version" = "$newest" ] || echo "version.h has $version, the changes have $newest")" "changes: the newest entry is this version"

if ! command -v python3 >/dev/null 2>&1; then
  missing "pages" "python3 was not found: apt-get install python3"
  finish
  exit
fi

# A page in which everything is wrong that can be: each check finds its own mistake.
wrong=$build/wrong
mkdir -p "$wrong"
{
  yes '' | head -n 200
  yes word | head -n 2501
  printf '%s\n' '# One heading' '[no file](none.md), [no heading](#another), `make nonsense`, `src/nowhere.cpp`' '' '| a | b |' '| --- | --- |' '| a |' '' \
    '7 things <!-- Figures, row "x": 7 -->' '' '9 things <!-- Figures, count of "x": 9 -->' '' '<!-- Figures: from "begin" to "end" -->' '```cpp' 'int a;' '```'
} >"$wrong/README.md"
printf '%s\n' '| x | 8 |' begin 'int b;' end >"$wrong/Figures"
python3 tests/scripts/pages.py text "$wrong" >"$build/found" 2>&1
for mistake in 'links none.md' 'links #another' 'names make nonsense' 'names src/nowhere.cpp' 'has 1 cells for 2' 'another figure than 7' \
  'another figure than 9' 'is not what Figures has' 'README has at most 200 lines' 'README has at most 2500 words'; do
  if grep -q "^FAIL.*$mistake" "$build/found"; then ok "a mistake in a page is found: $mistake"; else fail "a mistake in a page is found" "$mistake"; fi
done

# What pages tell to type: `make package` makes WebAssembly before it packs it, and what is said to a model arrives as it was typed.
if command -v clang++ >/dev/null 2>&1 && command -v wasm-ld >/dev/null 2>&1; then
  nothing_in "$(make -n -j1 package CXX="$cxx" BUILD="$2" WASM_BUILD="$build/wasm" 2>&1 | grep -qF "$build/wasm/attend.wasm" ||
    echo "it is not made")" "make package makes attend.wasm on a clean clone"
fi
printf 'arguments:\n\t@printf "%%s\\n" $(RUN_OPTIONS)\n' >"$build/arguments.mk"
typed='It cost $5, "she" said to $(HOME)'
printf '%s\n' --model a.gguf --prompt "$typed" >"$build/expected"
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -f Makefile -f "$build/arguments.mk" arguments MODEL=a.gguf PROMPT="$typed" >"$build/output" 2>&1
nothing_in "$(diff "$build/expected" "$build/output" | head -n 5)" "make run takes PROMPT= as it was typed"

counted "pages.py text" python3 tests/scripts/pages.py text
counted "pages.py sources" python3 tests/scripts/pages.py sources "$build/sources"

# shellcheck disable=SC2086
while read -r kind language name where; do
  source=$build/sources/$name.$language
  if [ "$language" = c ]; then flags=$c_flags; else flags=$cpp_flags; fi
  if [ "$kind" = fragments ]; then
    succeeds "$where: its fragments in $language compile without a warning" $cxx $flags $strict -Wno-unused -Wno-unused-result -Wno-shadow -c "$source" -o "$build/$name.o"
    continue
  fi
  succeeds "$where: the program compiles without a warning" $cxx $flags $strict -c "$source" -o "$build/$name.o" || continue
  succeeds "$where: the program links" $cxx "$build/$name.o" "$library" -o "$build/$name" || continue
  "$build/$name" >"$build/output" 2>&1
  result=$?
  if [ $result -ne 0 ]; then
    fail "$where: the program runs" "exit code $result"
  elif [ -f "$build/sources/$name.expected" ]; then
    nothing_in "$(diff "$build/sources/$name.expected" "$build/output" | head -n 10)" "$where: the program prints what the page says"
  else
    ok "$where: the program runs"
  fi
done <"$build/sources/list"

finish
