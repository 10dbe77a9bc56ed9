#!/bin/sh
# One version from one place, the Makefile: whatever names a version of vkb has that one.
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

cd "$scratch" || exit 2
vkb-load -q -t ping -n 200 --runs 1 >runs.jsonl
test_same "\"vkb-load $version\"" \
  "$(jq -c 'select(.type == "run").env.benchmark_tool_version' runs.jsonl)" \
  'a record has the version of the program that measured'
vkb-report runs.jsonl >page.html
test_match "by vkb-report $version\\." page.html 'a page has the version of the program that made it'
test_done
