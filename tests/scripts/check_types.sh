#!/bin/sh
# The npm package's types, by TypeScript's compiler, which npm fetches: tests/scripts/check_types.sh CXX BUILD_DIR
build=$2/check_types
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/node_modules" || exit 1
if ! command -v npm >/dev/null 2>&1; then
  missing "types" "apt-get install nodejs npm"
  finish
  exit
fi
succeeds "the package is made" make CXX="$1" BUILD="$2" build/npm || { finish; exit; }
ln -s "$(pwd)/build/npm" "$build/node_modules/attend"
types=build/node/node_modules/typescript/bin/tsc
[ -f $types ] || (mkdir -p build/node && cd build/node && npm install --no-audit --no-fund --silent typescript@5.7.2) >"$build/log" 2>&1
if [ -f $types ]; then
  cp tests/javascript/types.ts "$build/types.mts"
  if node $types --noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext --lib es2022,dom --skipLibCheck "$build/types.mts" >"$build/log" 2>&1; then
    ok "types: what is right compiles, what is wrong does not"
  else fail "types" "$(head -n 3 "$build/log")"; fi
else
  missing "types" "npm cannot fetch typescript"
fi
finish
