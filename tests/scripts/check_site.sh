#!/bin/sh
# The site: the same bytes twice, its pages and its reference, what Tidy says of them, and what a browser makes of it: tests/scripts/check_site.sh CXX BUILD_DIR
# With ALL=1 axe looks at every page, and not at one of each kind, and what the playground computes with is compiled twice.
build=$2/check_site
library=$2/libattend.so
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
export PYTHONDONTWRITEBYTECODE=1

needs_python clang.cindex,markdown_it,pygments "python3-clang-19 python3-markdown-it python3-pygments" || { finish; exit; }

# Two sites at a time, with other orders of sets and other times.
PYTHONHASHSEED=7 "$python" bench/site/make_site.py "$build/again" >"$build/again.log" 2>&1 &
counted "the reference" "$python" tests/site/reference.py "$build/site" "$library"
wait
playground() { CXX=$cxx BUILD=$build/.. sh bench/site/playground/build.sh "$build/$1/playground"; }
# Once more; with ALL=1 in clean folders, from its sources on.
playground_again() {
  [ -z "${ALL:-}" ] || export WASM_BUILD="$build/wasm" NPM_BUILD="$build/npm"
  playground again
}
succeeds "the playground is made" playground site
succeeds "the playground is made again" playground_again
nothing_in "$(diff -rq "$build/site" "$build/again" 2>&1 | head -n 5)" "two sites have the same bytes"
counted "pages of the site" "$python" tests/site/pages.py "$build/site"

# A page in which everything is wrong that can be: each check finds its own mistake.
mkdir -p "$build/wrong/figures"
printf '%s\n' '<!DOCTYPE html>' '<html><head><title>Wrong</title><meta name="viewport" content="width=device-width"></head><body style="color:#aaa;background:#bbb"><h1>Wrong</h1>' \
  '<a href="none.html">a</a><a href="#none">b</a><p id="a">c<p id="a"><div>d</div></p><img src="http://127.0.0.1:1/x.png"><li>e</li>' \
  '<div style="width:900px">f</div><bold>h</bold><nav id="site-pages"><a href="wrong.html">i</a><a href="wrong.html">i</a></nav><script>throw new Error("g")</script></body></html>' >"$build/wrong/wrong.html"
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >"$build/wrong/figures/none.svg"
"$python" tests/site/pages.py "$build/wrong" >"$build/found" 2>&1
for mistake in 'links none.html' 'links #none' 'id a is there twice' 'stands in a paragraph' 'no words in its place' 'li stands in' 'has no language' \
  'loads http' 'none.svg' 'two entries i'; do
  if sed 's/; /\nFAIL /g' "$build/found" | grep -q "^FAIL.*$mistake"; then ok "a mistake in a site is found: $mistake"; else fail "a mistake in a site is found" "$mistake"; fi
done

if command -v tidy >/dev/null 2>&1; then
  counted "tidy" sh tests/site/tidy.sh "$build/site"
  sh tests/site/tidy.sh "$build/wrong" >"$build/found" 2>&1
  for mistake in '<bold> is not recognized' 'inserting implicit <p>' '<p> anchor "a" already defined' '<img> lacks "alt"'; do
    if grep -q "^FAIL.*$mistake" "$build/found"; then ok "Tidy finds a mistake: $mistake"; else fail "Tidy finds a mistake" "$mistake: $(cat "$build/found")"; fi
  done
else
  missing "Tidy" "apt-get install tidy"
fi

. tests/site/browser.sh
browser_found "the site in a browser" || { finish; exit; }
counted "the browser" node tests/site/browser.mjs "$build/site" ${ALL:+all}
node tests/site/browser.mjs "$build/wrong" >"$build/found" 2>&1
for mistake in 'Error: g' 'fails' 'wrong.html by' 'color-contrast'; do
  if grep -q "^FAIL.*$mistake" "$build/found" || [ "$mistake" = 'Error: g' ] && grep -q '^FAIL.*: g' "$build/found"; then
    ok "a mistake is found in the browser: $mistake"
  else
    fail "a mistake is found in the browser" "$mistake"
  fi
done

finish
