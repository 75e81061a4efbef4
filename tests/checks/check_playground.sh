#!/bin/sh
# The playground in a browser: what is typed, pointed at and moved gives what the native library gives: tests/checks/check_playground.sh CXX BUILD_DIR
# SCREENSHOTS= is a folder for pictures of it.
cxx=$1
build=$2/check_playground
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/site" || exit 1

CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
if [ -z "$CHROMIUM" ] || ! command -v npm >/dev/null 2>&1 || ! command -v wasm-ld >/dev/null 2>&1; then
  what="apt-get install chromium nodejs npm clang lld"
  if [ "${CI:-}" = true ]; then fail "the playground" "$what"; else skip "the playground" "$what"; fi
  finish
  exit
fi
export CHROMIUM NODE_MODULES="$PWD/build/browser/node_modules"
if [ ! -d "$NODE_MODULES/axe-core" ]; then
  mkdir -p build/browser
  npm install --prefix build/browser --ignore-scripts --no-audit --no-fund --silent puppeteer-core@24.10.0 axe-core@4.10.3 >"$build/log" 2>&1
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
node tests/site/playground.mjs "$build/site" "${SCREENSHOTS:-}" >"$build/lines" 2>&1 || echo "FAIL the browser: $(tail -n 1 "$build/lines")" >>"$build/lines"
cat "$build/lines"
passed=$((passed + $(grep -c '^ok ' "$build/lines"))) failed=$((failed + $(grep -c '^FAIL ' "$build/lines")))
finish
