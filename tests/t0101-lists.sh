#!/bin/sh
# Lists agree with each other, layers use only what they may, pages and programs agree.
# Nothing here runs a benchmark.
. "${0%/*}/lib.sh"

cd "$top" || exit 2
programs=$(for f in src/vkb-*.c; do basename "$f" .c; done | sort)
workflows=$(sed -n 's/^WORKFLOWS = //p' Makefile | tr ' ' '\n' | sort)
both=$(printf '%s\n' "$programs" "$workflows" | sort)

bad=$scratch/bad
# empty WHAT: $bad, the list of lines that break a rule, is empty.
empty() { test_empty_file "$bad" "$1"; }

# code PATTERN FOLDER: prints the lines of the folder's files that match the pattern
# outside of comments and strings, after the name of the file. Only files with a match
# anywhere are read.
code() {
  grep -rlE --include='*.[ch]' -e "$1" "$2" | sort | while read -r f; do
    gcc -fpreprocessed -dD -E -P "$f" 2>/dev/null | sed "s|^|$f: |; s/\"[^\"]*\"//g"
  done | grep -E -e "$1"
}

# --- lists

test_same "$programs" \
  "$(sed -n 's|^/bin/||p' .gitignore | sort)" '.gitignore: the built programs'
test_same "$workflows" \
  "$(find bin -name 'vkb-*' -perm /111 | sed 's|^bin/||' | grep -Fvx "$programs" | sort)" \
  'Makefile: the workflows in bin'
# shellcheck disable=SC2012 # plain names
test_same "$(printf '%s\n' "$both" vkb-aws | sort)" "$(ls man | sed -n 's/\.1$//p' | sort)" \
  'man: one page for each program and workflow'
test_same "$both" \
  "$(sed -n 's/^| \(vkb-[a-z]*\) .*/\1/p' CONTRIBUTING.md | sort)" \
  'CONTRIBUTING: the table of programs and workflows'
test_that 'README: it has at most 150 lines' test "$(wc -l <README.md)" -le 150
# Left out are models of names, and the files of the recipes and of the example.
git ls-files >"$scratch/files"
grep -oE '[a-zA-Z0-9_./-]+\.(c|h|sh|pl|md|json|yml|[1-8])\b' CONTRIBUTING.md | sort -u |
  grep -Ev 'NAME|NNNN|TOOL|^foo\.|/(yaml|zipf|wrk)\.c$|^(cfg|base)\.json$' |
  while read -r f; do
    grep -qE "(^|/)$f\$" "$scratch/files" || echo "$f"
  done >"$bad"
empty 'CONTRIBUTING: each file that it names exists'
grep -oE '\]\([^)#:]+\)' README.md | sed 's/^](//; s/)$//' | while read -r f; do
  git ls-files --error-unmatch "$f" >/dev/null 2>&1 || [ -s "$f" ] || echo "$f"
done >"$bad"
empty 'README: the files and pictures that it links to exist'
test_same 3 "$(grep -c '^!\[.*[a-z].*\](pictures/.*\.svg)$' README.md)" \
  'README: each picture has an alternative text'
sed -n 's/^PKGS = //p' Makefile | tr ' ' '\n' | while read -r p; do
  grep -q "^build pkg:$p " bin/vkb-needs || echo "$p"
done >"$bad"
empty 'vkb-needs lists every library of the Makefile'
for f in configs/*.json; do
  grep -rq "${f##*/}" README.md man bin || echo "$f"
done >"$bad"
empty 'configs: each file is named in a page or a workflow'

{
  grep -rhoE --include='*.[ch]' '"VKB_[A-Z0-9_]*[A-Z0-9]\b' src
  git ls-files bin configs deploy .github .ci .gitlab-ci.yml action.yml Jenkinsfile Makefile \
    tests/check tests/run |
    xargs grep -hoE '\bVKB_[A-Z0-9_]*[A-Z0-9]\b'
} | tr -d '"' | sort -u >"$scratch/variables"
cat man/* CONTRIBUTING.md | grep -oE '\bVKB_[A-Z0-9_]*[A-Z0-9]\b' | sort -u |
  comm -23 "$scratch/variables" - >"$bad"
empty 'each VKB_ variable is on a manual page or in CONTRIBUTING'

find tests -name 't[0-9]*.sh' ! -perm -111 >"$bad"
empty 'tests: each script is executable'
find tests -name 't[0-9]*.sh' | sed 's,.*/,,; s,-.*,,' | sort | uniq -d >"$bad"
empty 'tests: no two scripts have the same number'
perl -0ne 'while (/(unit|scripts) *=> *\[qw\((.*?)\)/gs) { print "$1 $_\n" for split " ", $2 }' \
  tests/mutants | while read -r kind t; do
  case $kind in
    unit) test -e "tests/unit/$t.c" || echo "$t" ;;
    *)
      set -- tests/"$t"-*.sh
      test -e "$1" || echo "$t"
      ;;
  esac
done >"$bad"
empty 'tests/mutants: each test that it names exists'
grep -v '^#' tests/mutants.skip | while IFS=$(printf '\t') read -r file text why; do
  test "$file" = '*' || grep -qF -e "$text" "src/$file" || echo "$file: $text ($why)"
done >"$bad"
empty 'tests/mutants.skip: each text is in the source file that it names'

# CI runs one file, which a person can run as well.
test_same '      - run: bash .ci/run' \
  "$(grep 'run:' .github/workflows/ci.yml)" 'CI: the workflow runs .ci/run'
test_that 'CI: this file is executable' test -x .ci/run

# --- layers, as CONTRIBUTING.md lists them: "    NAME  MODULE ...  (uses NAME ...)"

awk '
  /^Layers in src\/lib/ { on = 1 }
  /^Layers in src\/vkb-load/ { on = 0 }
  on && /^    [a-z]+ .*\(/ {
    split($0, half, "(")
    n = split(half[1], mod, " ")
    uses = half[2]
    sub(/\)/, "", uses)
    for (i = 2; i <= n; i++) print mod[i], mod[1], mod[1], uses
  }
  /^## Rules/ { on = 0 }' CONTRIBUTING.md >"$scratch/layers"
# shellcheck disable=SC2012
(ls src/lib && ls src/judge) | sed 's/\.\([ch]\|css\|js\)$//' | sort -u | while read -r m; do
  grep -q "^$m " "$scratch/layers" || echo "$m"
done >"$bad"
empty 'CONTRIBUTING: every module of src/lib and src/judge has a layer'
grep -H '^#include "' src/lib/*.[ch] src/judge/*.[ch] |
  sed 's|^src/[a-z]*/\([^.]*\)\.[ch]:#include "\(judge/\)\{0,1\}\(.*\)\.h".*|\1 \3|' |
  awk '
    NR == FNR {
      layer[$1] = $2
      for (i = 3; i <= NF; i++) may[$1, $i] = 1
      next
    }
    $1 != $2 && !(($1, layer[$2]) in may) {
      print $1 " (" layer[$1] ") includes " $2 " (" layer[$2] ")"
    }' "$scratch/layers" - | sort -u >"$bad"
empty 'src/lib and src/judge: a layer uses only the layers that it may use'

# What a module exports is used outside of its file: by an object of the same
# program, where it is of src/lib by one of any program, and where it is of vkb-compare
# by one of vkb-report, too. Left out are:
cat >"$scratch/inner" <<'EOF'
policy_new tests/fuzz gives it a document, without a file
recipe_parse tests/fuzz gives it a document, without a file
monitor_parse tests/fuzz gives it single lines
monitor_free_line tests/fuzz gives it single lines
formats tests/fuzz takes each row of the table
elffile_has_frames a unit test gives it machine code that no compiler makes
schedule_make_order a unit test makes orders of cases that no server could run
plan_format_id a unit test names single cases, which no plan has alone
plan_name_cases a unit test names single cases, and two alike
plan_each a unit test multiplies lists without commands
plan_complete_config a unit test gives it axes, without a configuration
plan_make_server a unit test gives it axes, without a configuration
plan_make_client a unit test gives it axes, without a configuration
vbench_argv a unit test makes arguments that no server would get
vbench_refuse a unit test asks for loads that no configuration has alone
vbench_text a unit test gives it output of valkey-benchmark
vbench_result a unit test gives it output of valkey-benchmark
vbench_describe_end a unit test gives it ends of processes
vbench_free_child a unit test gives it ends of processes
vocabulary_draw_rank a unit test counts thousands of draws
pools_draw a unit test counts thousands of draws
verify_written_add a unit test adds names that no load would write
verify_written_has a unit test asks for them
verify_removes a unit test asks for commands that no load has together
deciding_compare a unit test computes its widths by hand, and simulates sessions
deciding_measure a unit test computes its widths by hand
sampler_intervals a unit test gives it times that no clock would
watch_bound a unit test gives it loads that no machine would have
EOF
find src -name '*.c' ! -path 'src/preload/*' | sed 's/^src\///; s/c$/o/' >"$scratch/objects"
# The symbols of all objects, as "OBJECT:VALUE TYPE NAME": nm takes most of the time here.
(cd "$VKB_BUILD" && xargs nm -A <"$scratch/objects") >"$scratch/symbols"
sed 's/:/ /' "$scratch/symbols" | awk '
  NR == FNR { inner[$1] = 1; next }
  $(NF - 1) ~ /^[A-Z]$/ {
    program = $1
    sub(/[.\/].*/, "", program)
    sub(/^judge$/, "lib", program)
    if ($(NF - 1) == "U") {
      used[program, $NF] = used["lib", $NF] = 1
      if (program == "vkb-report") used["vkb-compare", $NF] = 1
    } else if ($NF != "main") {
      n++
      file[n] = $1
      of[n] = program
      name[n] = $NF
    }
  }
  END {
    for (i = 1; i <= n; i++) {
      alone = !((of[i], name[i]) in used)
      if (alone && !(name[i] in inner))
        print file[i] ": " name[i] " is used in this file alone, or nowhere"
      if (alone) delete inner[name[i]]
    }
    for (rest in inner) print rest ": is listed as an exception, but is not one"
  }' "$scratch/inner" - >"$bad"
empty 'src: what a module exports is used by another file'
test_that 'src: the list of exports is not empty' \
  test "$(grep -c '^lib/.* T ' "$scratch/symbols")" -gt 300

# --- layers of vkb-load, by the symbols of the objects

tests/layers >"$scratch/load"
test_same "$(cat "$scratch/load")" \
  "$(sed -n '/^Layers in src\/vkb-load/,/^## Rules/s/^    /    /p' CONTRIBUTING.md)" \
  'CONTRIBUTING: the list of layers of vkb-load is what tests/layers prints'
# shellcheck disable=SC2012 # plain names
test_same "$(ls src/vkb-load)" "$(awk '{ print $1 }' "$scratch/load" | sort)" \
  'tests/layers: every folder of src/vkb-load is a layer'
awk '{
    uses = $0
    gsub(/.*\(|\)/, "", uses)
    n = split(uses, layer, " ")
    for (i = 1; i <= n; i++) if (!(layer[i] in above)) print $1 " uses " layer[i]
    above[$1]
  }' "$scratch/load" >"$bad"
empty 'src/vkb-load: a layer uses only layers above it in the list'
tests/layers engine >"$scratch/engine"
tsort "$scratch/engine" 2>"$bad" >/dev/null
empty 'src/vkb-load/engine: no modules depend on each other in a circle'
test_same 'scan' \
  "$(awk '$1 == "conn" { print $2 }' "$scratch/engine" | xargs)" \
  'src/vkb-load/engine: connections do not use workers, requests or node maps'
grep '^vkb-load/engine/.* U json_' "$scratch/symbols" >"$bad"
empty 'src/vkb-load/engine: no module uses JSON'

code '[^_a-z](exit|getenv|printf|puts|putchar)\(|[^_a-z]stdout' src/lib |
  grep -Ev '^src/lib/(err|opt)\.c' >"$bad"
empty 'src/lib: only err and opt use exit, getenv or stdout'
grep -rlE 'cJSON_' src | grep -v '^src/lib/json\.c$' >"$bad"
empty 'only json.c uses cJSON'
for lib in archive cjson/ curl/ hiredis/ libpq csv.h; do
  n=$(grep -rlE "#include <$lib" src | grep -c '\.c$')
  h=$(grep -rlE "#include <$lib" src | grep -c '\.h$')
  if [ "$n" -gt 1 ] || [ "$h" -gt 0 ]; then
    grep -rnE "#include <$lib" src
  fi
done >"$bad"
{
  grep -rlE '#include <openssl/' src |
    grep -Ev '^src/(lib/(hash|base64|tls)|vkb-serve/certificate)\.c$'
  grep -rlE '#include <zlib' src | grep -Ev '^src/lib/(histcodec|tracefile)\.c$'
  grep -rlE '#include <git2' src | grep -Ev '^src/lib/gitrepo\.c$'
} >>"$bad"
empty 'each third-party header is included by one .c file, or by those that are listed here'
code '[^_a-z](sleep|usleep|nanosleep|clock_nanosleep)\(' src >"$bad"
empty 'src: no code sleeps'
grep -nE '(^|[;&|({[:blank:]])(sleep|usleep) +[0-9"$]' tests/*.sh tests/check \
  tests/run bin/* lib/vkb/* 2>/dev/null | grep -v '^Binary' | grep -v ':[[:blank:]]*#' |
  grep -vE '^tests/t0101-lists.sh:|# between (calls of GitHub|looks)$' >"$bad"
empty 'tests and bin: no script sleeps, except between calls of GitHub and looks of wait_until'
git grep -ohE '\bT=[a-z0-9/]+' -- '*.md' debian .github man | sort -u | while read -r t; do
  [ "$(VKB_TEST_SANITIZE='' sh tests/check --needs "${t#T=}")" ] || echo "$t"
done >"$bad"
empty 'pages, debian/rules: each T=NAME of make check names a test'
# A header that a .c file includes first has been compiled alone by the build.
find src -name '*.c' -exec awk 'FNR == 1 { first = 1 }
  first && /^#include/ {
    first = 0
    gsub(/.*[ \/]|["<>]/, "")
    if (FILENAME ~ "/" substr($0, 1, length($0) - 2) "\\.c$") print substr(FILENAME, 1, length(FILENAME) - 1) "h"
  }' {} + | sort >"$scratch/first"
test_that 'most headers are compiled alone by the build' test "$(wc -l <"$scratch/first")" -gt 200
find src -name '*.h' | sort | comm -23 - "$scratch/first" | while read -r h; do
  gcc -std=c11 -D_GNU_SOURCE -Wall -fsyntax-only -Isrc -Isrc/lib -x c "$h" \
    2>&1 | head -n 2
done >"$bad"
empty 'each header compiles alone'
find src -name '*.h' -exec grep -LE '^#ifndef [A-Z0-9_]+_H$' {} + >"$bad"
empty 'each header has a guard'

# cycles FOLDER: prints the modules of a program that use each other in a cycle.
cycles() {
  grep "^$1/" "$scratch/symbols" | awk '
    {
      at = index($0, ".o:")
      me = substr($0, 1, at - 1)
      sub(/.*\//, "", me)
    }
    $(NF - 1) ~ /^[TDBRC]$/ { home[$NF] = me }
    $(NF - 1) == "U" { uses[me, $NF] }
    END {
      for (u in uses) {
        split(u, half, SUBSEP)
        if (half[2] in home && home[half[2]] != half[1]) print half[1], home[half[2]]
      }
    }' | sort -u | { tsort >/dev/null; } 2>&1
}
for d in build compare detect env flame gendata history load parse pgpush profile record report serve trackcommits; do
  cycles "vkb-$d"
done >"$bad"
empty 'no module of these programs uses one that uses it'

# --- pages

squeeze() { tr -s ' \n\t' ' ' | sed 's/^ //; s/ $//'; }

# What each program and workflow prints about itself, as HELP and OPTIONS in its folder.
PATH=$PATH:$top/deploy/aws
for p in $both vkb-aws; do
  mkdir -p "$scratch/of/$p"
  "$p" --help >"$scratch/of/$p/HELP"
  "$p" --dump-options >"$scratch/of/$p/OPTIONS"
done

# section NAME FILE: prints a section of a page as text.
section() {
  mandoc -T ascii -O width=200 "$2" | sed 's/.\x08//g' |
    awk -v s="$1" '/^[A-Z]/ { on = $0 == s; next } on'
}

if command -v mandoc >/dev/null 2>&1; then
  for p in $both; do
    [ -e "man/$p.1" ] || continue
    test_same "$(sed 's/^usage: //; /^$/q' "$scratch/of/$p/HELP" | squeeze)" \
      "$(section SYNOPSIS "man/$p.1" | squeeze)" \
      "$p: the usage of --help is that of the SYNOPSIS"
  done
else
  test_skip 'SYNOPSIS' mandoc
fi

# The options of a page, ".It Fl o , -output Ar FILE", are exactly those of
# --dump-options.
for p in $programs; do
  [ -e "man/$p.1" ] || continue
  test_same "$(awk -F '\t' '{
      print ($1 == "-" ? "" : "-" $1 ", ") "--" $2 ($4 == "-" ? "" : " " $4)
    }' "$scratch/of/$p/OPTIONS" | sort)" \
    "$(sed -n 's/^\.It Fl //p' "man/$p.1" |
      sed 's/^/-/; s/ ,/,/; s/ Fl / -/; s/, -\([^-]\)/, --\1/; s/, --*/, --/
        s/ Ar / /g' | sort)" \
    "$p: the page lists exactly the options of the program"
done

# The page of a workflow lists its options, and --help has a line for each.
for p in $workflows vkb-aws; do
  test_same "$(awk -F '\t' '{ print ($2 == "-" ? "-" $1 : "--" $2) }' "$scratch/of/$p/OPTIONS" | sort)" \
    "$(sed -n 's/^\.It Fl //p' "man/$p.1" | perl -ne \
      'for (split / , (?:Fl )?/) { /^(\S+)/; print "-$1\n" unless $1 =~ /^[hV]$/ }' | sort)" \
    "$p: the page lists exactly the options of the workflow"
done
for p in $both; do
  awk -v p="$p" 'length > 79 { print p ": " $0 }' "$scratch/of/$p/HELP"
  awk -F '\t' -v p="$p" '$6 !~ /[a-z]/ { print p ": " $0 }' "$scratch/of/$p/OPTIONS"
done >"$bad"
empty '--help has a line for each option, and fits in 79 columns'

# EXAMPLES follow DESCRIPTION, and details follow OPTIONS.
for f in man/*.1; do
  sections=$(sed -n 's/^\.Sh //p' "$f" | tr '\n' '|')
  case $sections in
  'NAME|SYNOPSIS|DESCRIPTION|EXAMPLES|OPERATIONS|OPTIONS|EXIT STATUS|'*) ;;
  'NAME|SYNOPSIS|DESCRIPTION|EXAMPLES|OPTIONS|EXIT STATUS|'*) ;;
  *)
    echo "$f: $sections"
    continue
    ;;
  esac
  case ${sections#*EXIT STATUS|} in
  ?*ENVIRONMENT\|* | *'SEE ALSO|'[!SC]* | *'SEE ALSO|S'[!T]*) echo "$f: $sections" ;;
  esac
done >"$bad"
empty 'man: NAME, SYNOPSIS, DESCRIPTION, EXAMPLES, OPERATIONS, OPTIONS, EXIT STATUS, ENVIRONMENT, others'
test_that 'man: vkb(7) has at most 150 lines' test "$(wc -l <man/vkb.7)" -le 150

# Cross references lead to pages that exist.
grep -hoE '^\.Xr vkb[a-z-]* [0-9]' man/* | sort -u |
  while read -r _ name section; do
    [ -e "man/$name.$section" ] || echo "$name($section)"
  done >"$bad"
empty 'man: every reference to a page of vkb leads to a page'

for f in man/*.[157]; do
  f=${f##*/}
  [ "$f" = vkb.7 ] ||
    grep -q "^\.\(It \)*Xr ${f%.*} ${f##*.}" man/vkb.7 || echo "$f"
done >"$bad"
empty 'man: vkb(7) refers to every page'

test_done
