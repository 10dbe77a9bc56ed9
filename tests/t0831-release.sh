#!/bin/sh
# What a release has: one version from one place, the Makefile; all pages as HTML, linked,
# with a search; and text that a terminal without UTF-8 can show.
. "${0%/*}/lib.sh"
cd "$top" || exit 2
version=$(sed -n 's/^VERSION = //p' Makefile)

{
  for f in src/vkb-*.c; do basename "$f" .c; done
  sed -n 's/^WORKFLOWS = //p' Makefile | tr ' ' '\n'
  echo vkb
} >"$scratch/programs"
while read -r p; do
  [ "$("$p" --version </dev/null)" = "$p $version" ] || echo "$p"
done <"$scratch/programs" >"$scratch/other"
test_empty_file "$scratch/other" 'every program and workflow prints the version of the Makefile'

# A number behind the name of the suite or of a program: "vkb 1.0", "vkb-load/1.0",
# "vkb (1.0)", "vkb@v1.0". Tests have versions of others.
git ls-files -- . ':!tests' ':!BENCHMARKS.md' ':!pictures' | while read -r f; do
  grep -HnoiEI '\bvkb(-[a-z]+)?(@v?|[ /:=("]+v?|-v?)[0-9]+\.[0-9]+(\.[0-9]+)*' "$f"
done >"$scratch/named"
grep -v "[^0-9.]$(printf %s "$version" | sed 's/\./\\./g')\$" "$scratch/named" >"$scratch/other"
test_empty_file "$scratch/other" 'no file has a version of its own'
test_same debian/changelog "$(cut -d : -f 1 "$scratch/named" | sort -u | xargs)" \
  'only the changelog, whose format demands it, repeats the version'
test_same "## $version" "$(grep -m 1 '^## ' NEWS.md)" 'NEWS.md has the notes of this version'

# --- the pages as HTML

if command -v mandoc >/dev/null; then
  test_that 'make html is accepted' sh lib/html/make "$scratch/html" "$version"
  find man -name '*.[1-8]' | sed 's,.*/,,' | sort >"$scratch/pages"
  cd "$scratch/html" || exit 2
  test_same "$(cat ../pages)" "$(sed -n 's/.*<dt><a href="\(.*\)\.html">.*/\1/p' index.html | sort)" \
    'the index links to every page'
  grep -oE '(href|src)="[^"#:]+' ./*.html | sed 's/.*="//' | grep -v '^https$' | sort -u | while read -r f; do
    [ -s "$f" ] || echo "$f"
  done >"$scratch/other"
  test_empty_file "$scratch/other" 'every link to a file leads to one in the folder'
  grep -L "<footer>vkb $version</footer>" ./*.html >"$scratch/other"
  test_empty_file "$scratch/other" 'every page names the version'
  test_same "$(wc -l <../pages)" "$(grep -c '^\["' words.js)" 'the search has every page'
  if command -v chromium >/dev/null; then
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/chromium" --dump-dom \
      "file://$scratch/html/index.html#search=bytes_per_client" 2>/dev/null >"$scratch/dom"
    test_match '<a href="vkb-counting.7.html">.*<mark>bytes_per_client</mark>' "$scratch/dom" \
      'the search finds a word, from a file'
    test_status 1 'and lists no page without it' grep -q 'vkb-completion.1.html">vkb-completion.1</a> ' \
      "$scratch/dom"
  else
    test_skip 'the search' chromium
  fi
  cd "$top" || exit 2
else
  test_skip 'make html' mandoc
fi

# --- records and pages

cd "$scratch" || exit 2
vkb-load -q -t ping -n 200 --runs 1 >runs.jsonl
test_same "\"vkb-load $version\"" \
  "$(jq -c 'select(.type == "run").env.benchmark_tool_version' runs.jsonl)" \
  'a record has the version of the program that measured'
vkb-report runs.jsonl >page.html
test_match "by vkb-report $version\\." page.html 'a page has the version of the program that made it'

# --- a machine without a network, where even the loopback interface is down

if unshare -rn true 2>/dev/null; then
  test_status 2 'no network at all is an error' unshare -rn vkb-load -q -t ping -n 200 --runs 1
  test_match 'cannot connect to 127.0.0.1: Network is unreachable; is the loopback' .err \
    'which is named at once'
  if command -v ip >/dev/null; then
    test_that 'the loopback interface is enough' \
      unshare -rn sh -c 'ip link set lo up && vkb-load -q -t ping -n 200 --runs 1'
  fi
else
  test_skip 'no network' 'unshare -rn'
fi

# --- a terminal without UTF-8

ascii() { # ascii WHAT COMMAND...: what it prints is ASCII; its exit status is not looked at
  ascii_what=$1
  shift
  LC_ALL=C "$@" >said 2>&1 || :
  test_same 0 "$([ -s said ] && LC_ALL=C tr -d '\000-\177' <said | wc -c | tr -d ' ')" \
    "$ascii_what: text without UTF-8 has ASCII alone"
}
a=$tests/data/a.jsonl b=$tests/data/b.jsonl
ascii vkb-stats vkb-stats --text "$a" "$b"
ascii vkb-compare vkb-compare -v --shift "$a" "$b"
ascii 'vkb-compare --explain' vkb-compare --explain '*' "$a" "$b"
ascii vkb-detect vkb-detect "$tests/data/v1/nights"
ascii vkb-env vkb-env --check
ascii vkb-flame vkb-flame --format table "$tests/data/perf-script.txt"
ascii vkb vkb help
if command -v man >/dev/null; then
  LC_ALL=C man -l "$top/man/vkb.7" 2>/dev/null | col -bx >page
  test_match '^ +config -+> vkb-load -+> run' page 'the drawing of vkb(7) has ASCII alone'
fi
while read -r p; do
  "$p" --help </dev/null
done <programs >said 2>&1
test_same 0 "$(LC_ALL=C tr -d '\000-\177' <said | wc -c | tr -d ' ')" 'so has --help of every program'
test_done
