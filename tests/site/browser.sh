# Sourced after check.sh: what tests in a browser need. Versions for Node 18 and later.
# shellcheck shell=sh

# browser_found WHAT: exports CHROMIUM and NODE_MODULES, with puppeteer-core and axe-core in it; false, which is said, where there is none.
browser_found() {
  CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
  NODE_MODULES=$PWD/build/browser/node_modules
  export CHROMIUM NODE_MODULES
  if [ -z "$CHROMIUM" ] || ! command -v npm >/dev/null 2>&1; then
    missing "$1" "apt-get install chromium nodejs npm"
    return 1
  fi
  mkdir -p build/browser
  # Checks that run side by side share them: the first fetches, the others wait.
  (
    flock 9
    [ ! -e build/browser/fetched ] || exit 0
    npm install --prefix build/browser --ignore-scripts --no-audit --no-fund --silent puppeteer-core@24.10.0 axe-core@4.10.3 >"$build/log" 2>&1 &&
      : >build/browser/fetched
  ) 9>build/browser.lock || { fail "$1" "npm cannot fetch puppeteer-core and axe-core" && return 1; }
}
