# shellcheck shell=sh
# Sourced after lib.sh by scripts that need packages of npm's registry.
# shellcheck disable=SC2154 # $scratch and $tests are of lib.sh

# npm_need NAME@VERSION ...: installs these packages, where node and PATH find them; their
# install scripts are not run. If they cannot be installed, or node is too old for them,
# the script ends here. The scripts of one tests/check that need the same share them.
npm_need() {
  npm_modules=${TEST_MADE:-/none}/npm-$(echo "$@" | tr -c 'a-z0-9\n' -)
  [ -d "$npm_modules" ] || npm_install "$@"
  NODE_PATH=$npm_modules:$tests
  PATH=$npm_modules/.bin:$PATH
  export NODE_PATH PATH
}
npm_install() {
  if command -v node >/dev/null && command -v npm >/dev/null &&
    timeout 120 npm install --prefix "$scratch" --cache "$scratch/npm" \
      --ignore-scripts --engine-strict --no-audit --no-fund \
      --fetch-retries=0 "$@" >"$scratch/npm.log" 2>&1 </dev/null; then
    npm_shared=$npm_modules npm_modules=$scratch/node_modules
    [ -z "${TEST_MADE:-}" ] || { # another script may have made it meanwhile
      cp -a "$npm_modules" "$npm_shared.$$" && mv -T "$npm_shared.$$" "$npm_shared"
    } 2>/dev/null || :
    return
  fi
  if [ -e "$scratch/npm.log" ]; then
    grep -ai '^npm err' "$scratch/npm.log" | head -n 5 | sed 's/^/# /'
  fi
  test_unable "what needs $*" 'npm cannot install it'
  test_done
}

# browser_need PACKAGE ...: the script needs a browser and these packages. run_hands
# FILE DIR runs FILE, which uses tests/browser.js, on the pages in DIR; the output is in
# 'log'.
browser_need() {
  browser=$(command -v chromium || command -v google-chrome)
  if [ -z "$browser" ]; then
    test_skip 'in a browser' chromium
    test_done
  fi
  [ $# -eq 0 ] || npm_need "$@"
}
run_hands() {
  timeout 600 node "$1" "$browser" "$2" >log 2>node.err </dev/null
}
