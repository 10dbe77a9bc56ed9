# shellcheck shell=sh
# Sourced after lib.sh by scripts that need packages of npm's registry.
# shellcheck disable=SC2154 # $scratch and $tests are of lib.sh

# npm_need NAME@VERSION ...: installs these packages in $scratch/node_modules, where
# node and PATH find them; their install scripts are not run. If they cannot be
# installed, or node is too old for them, the script ends here.
npm_need() {
  if command -v node >/dev/null && command -v npm >/dev/null &&
    timeout 120 npm install --prefix "$scratch" --cache "$scratch/npm" \
      --ignore-scripts --engine-strict --no-audit --no-fund \
      --fetch-retries=0 "$@" >"$scratch/npm.log" 2>&1 </dev/null; then
    NODE_PATH=$scratch/node_modules:$tests
    PATH=$scratch/node_modules/.bin:$PATH
    export NODE_PATH PATH
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
