#!/bin/sh
# The playground in a browser: what is typed, pointed at and moved gives what the native library gives: tests/scripts/check_playground.sh CXX BUILD_DIR
# SCREENSHOTS= is a folder for pictures of it.
cxx=$1
build=$2/check_playground
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/site" || exit 1

. tests/site/browser.sh
browser_found "the playground" || { finish; exit; }
if ! command -v wasm-ld >/dev/null 2>&1; then
  missing "the playground" "apt-get install clang lld"
  finish
  exit
fi
build_playground() { CXX=$1 BUILD=$2 sh bench/site/playground/build.sh "$3"; }
succeeds "its files are made" build_playground "$cxx" "$2" "$build/site/playground" || { finish; exit; }
cp bench/site/style.css "$build/site"
{
  echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Playground</title>'
  echo '<link rel="stylesheet" href="style.css"><link rel="stylesheet" href="playground/playground.css"></head><body><main>'
  cat bench/site/playground/fragment.html
  echo '</main><script type="module" src="playground/playground.js"></script></body></html>'
} >"$build/site/index.html"
counted "the browser" node tests/site/playground.mjs "$build/site" "${SCREENSHOTS:-}"
finish
