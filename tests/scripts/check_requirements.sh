#!/bin/sh
# Every promise of the pages has tests that have run: tests/scripts/check_requirements.sh CXX BUILD_DIR test | check PART…
#
# The last of `make test` and of `make check`: it reads what their parts have said. Mistakes are planted before.
runs=$2
build=$2/check_requirements
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/parts/unit" "$build/parts/look" "$build/parts/whole" "$build/rest/log/far" "$build/targets/log/cortex-m4" "$build/targets/log/rv32" || exit 1
shift 2
export PYTHONDONTWRITEBYTECODE=1
needs python3 python3 || { finish; exit; }
python3 -c 'import tomllib' 2>/dev/null || { missing "requirements" "they are read by Python from 3.11 on"; finish; exit; }

# A run of some parts, and a requirement with one test each: what is said of it, and in which run.
printf 'ok   one\nok   two times 3\nok   two times 4\n' >"$build/parts/unit/cases"
printf '%s\n' 'skip four: this processor lacks it' '=====================' 'x.cpp:1:' 'TEST CASE:  five' '  in part' 'x.cpp:2: ERROR: CHECK( false ) is NOT correct!' >"$build/parts/unit/log"
printf '%s\n' 'ok   six' 'FAIL seven: why' >"$build/parts/look/log"
printf '%s\n' 'ok   nine' 'skip eight: apt-get install it' >"$build/parts/whole/log"
echo 'ok   no recursion' >"$build/rest/log/far/log"
printf '%s\n' 'options: 2 passed, 0 failed' 'digests: 4 passed, 1 failed' >"$build/targets/log/cortex-m4/log"
printf '%s\n' 'options: 2 passed, 0 failed' 'digests: 4 passed, 0 failed, 7 left out for want of memory' >"$build/targets/log/rv32/log"
echo 1 9 9 | tee "$build/parts/unit/result" "$build/parts/look/result" >"$build/targets/log/cortex-m4/result"
echo 0 9 9 | tee "$build/parts/whole/result" "$build/targets/log/rv32/result" >"$build/rest/log/far/result"
planted() {  # sentence-that-is-expected stage tests [where [is]]
  printf '[a]\n01 = {is = "%s", says = "s", where = "%s", tests = [%s]}\n' "${5-SA}" "${4:-README.md#get-it}" "$3" >"$build/a.toml"
  # shellcheck disable=SC2086
  CI=${ci:-} python3 tests/scripts/check_requirements.py "$build/a.toml" "$build" $2 >"$build/found" 2>&1
  case $1 in ok*) what="what is right is taken: $3" ;; *) what="a mistake among requirements is found: $1" ;; esac
  if grep -qF "$1" "$build/found"; then ok "$what"; else fail "$what" "$(tail -n 1 "$build/found")"; fi
}
planted 'ok   1 requirements' test '"unit: one", "unit: two times *", "look: six", "check far: no recursion"'
planted 'ok   1 requirements' 'check far' '"check far: no recursion"'
planted 'ok   1 requirements' test '"check far: no instruction masks interrupts"'
planted 'ok   1 requirements' test '"unit: two times * (2)"'
planted '"unit: two times * (3)" stands for 2 tests' test '"unit: two times * (3)"'
ci=true planted '"unit: two times *" stands for 2 tests' test '"unit: two times *"'
python3 tests/scripts/check_requirements.py "$build/a.toml" "$build" write
nothing_in "$(grep -vE '^\[a\]|\["unit: two times \* \(2\)"\]' "$build/a.toml")" 'counts are written'
planted 'a.01 has no test' test ''
planted 'a.01 is promised in README.md#got-it' test '"unit: one"' 'README.md#got-it'
planted 'a.01 is promised in src/none.h#one' test '"unit: one"' 'src/none.h#one'
planted 'a.01 does not say whether it is safety-related' test '"unit: one"' '' ''
planted '"unit: five" failed' test '"unit: five"'
planted '"look: seven" failed' test '"look: seven"'
planted '"look: one more" failed' test '"look: one more"'
planted '"check far: no recursions" is not the name of a test' 'check far' '"check far: no recursions"'
planted '"check far: no recursions" is not the name of a test' test '"check far: no recursions"'
planted '"whole: symbols of nobody" is not the name of a test' test '"whole: symbols of nobody"'
planted 'not run here: a.01: "whole: built: no static initialiser"' test '"whole: built: no static initialiser"'
planted 'nowhere did not run, which has 1 of them' test '"nowhere: one"'
planted 'not run here: a.01: "unit: four"' test '"unit: four"'
planted '"check targets/cortex-m4: digests" failed' 'check targets' '"check targets/cortex-m4: digests"'
planted '"check targets/cortex-m4: options" failed' 'check targets' '"check targets/cortex-m4: options"'
planted 'ok   1 requirements' 'check targets' '"check targets/rv32: options"'
planted '"check targets/rv32: digests" is not the name of a test' 'check targets' '"check targets/rv32: digests"'
ci=true planted '"unit: four" is not run here' check '"unit: four"'

# The evidence of that run: the same bytes twice, with what failed in it, which files it was of, and files and links that are there.
echo 0123 >"$build/parts/files" && sh tests/support/files.sh >"$build/rest/log/files"
of_evidence() { PYTHONHASHSEED=$1 python3 bench/evidence/evidence.py "$build" "$build/$2/evidence/made"; }
succeeds "evidence is made" of_evidence 1 one && succeeds "evidence is made again" of_evidence 2 two && made=$build/one/evidence/made && {
  nothing_in "$(diff -r "$build/one" "$build/two" | head -n 3)" "evidence has the same bytes twice"
  nothing_in "$(grep -rlF "$(pwd)" "$build/one")" "evidence has no path of this machine"
  nothing_in "$(sha256sum --quiet -c "$made/MANIFEST" 2>&1 | head -n 3; python3 -m json.tool "$made/sbom.spdx.json" 2>&1 >/dev/null)" "its manifest and its bill of materials are whole"
  nothing_in "$(python3 -c "import json, sys
found = {test['name']: test['state'] for each in json.load(open(sys.argv[1] + '/evidence.json'))['requirements'] for test in each['tests']}
print('' if (found['check targets/cortex-m4: digests'], found['unit: committed digests']) == ('failed', 'failed') else found)" "$made" | grep .)" "what failed is failed in the evidence"
  nothing_in "$(python3 -c "import json, sys
states = dict(next(row['table'] for row in json.load(open(sys.argv[1] + '/evidence.json'))['rows'] if row['name'] == 'Files'))
print('' if (states['\`make test\`'], states['\`make check\`'], states['\`make targets\`']) == ('of other files', 'passed', 'not run yet') else states)" "$made" | grep .)" "evidence of other files says so"
  nothing_in "$(grep -oE 'href="[^"]*"' "$made/index.html" | sed 's/href="//; s/"$//' | sort -u | while read -r link; do case $link in
    '#'*) grep -qF "id=\"${link#?}\"" "$made/index.html" ;; ../../*) file=${link#../../} && [ -e "${file%%#*}" ] ;; *) [ -e "$made/$link" ] ;; esac || echo "$link"; done)" "links of the evidence resolve"
}

counted "requirements" python3 tests/scripts/check_requirements.py tests/requirements.toml "$runs" "$@"
finish
