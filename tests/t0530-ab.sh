#!/bin/sh
# From two commits to a verdict: a real server that is really slower, and the
# same server twice. The CPU time of the server is judged: other work on the
# machine makes a run slower, but does not make its requests tenfold. What takes long is
# the start of a server, so runs are few, of few requests.
. "${0%/*}/lib.sh"
test_server 'the comparison of two commits'
. "$tests/repo.sh"

real_repo
in_repo tag base
burn 600000 slow
cat >cfg.json <<'END'
[{"commands": ["SET"], "requests": [200], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
judged='-m server_cpu_us_per_req --margin 60%'

# --- the pipeline of the manual

line() { # line LABEL REF...: compares the commits with the one called LABEL
  base=$1
  shift
  # shellcheck disable=SC2086 # words
  vkb-build -C repo "$@" | vkb-load --builds - --runs 6 cfg.json | vkb-stats |
    vkb-compare --baseline "$base" $judged
}
test_status 1 'a slower commit is exit 1' line base base main
test_match '^-  SET .* worse' .out 'the slower commit is reported as worse'

# --- vkb-ab

ab() { # ab DIR BUILD...: the same with vkb-ab
  dir=$1
  shift
  # shellcheck disable=SC2086 # words
  vkb-ab --results "$dir" -C repo "$@" -- --runs 6 cfg.json -- $judged
}
lines() { wc -l <"$1" | tr -d ' '; }
test_status 1 'vkb-ab with a slower commit is exit 1' ab r base main
test_match '^-  SET .* worse' .out 'vkb-ab reports the slower commit as worse'
next=$(sed -n 's/^Next: //p' .out)
test_same "vkb-why -C repo $(git -C repo rev-parse --short=12 base) $(git -C repo rev-parse --short=12 main) r/cases.jsonl SET" \
  "$next" 'the report proposes a vkb-why command for this repository and case'
test_same SET "$(vkb-load --plan --case SET r/cases.jsonl | jq -r .config.command)" 'the file of the proposed command has the case'
test_match "^vkb-ab: the page is 'r/report.html'" .err 'a message names the page'
test_match 'Worse: SET ' r/report.html 'the page has the verdict'
test_same '.gitignore asked base builds.jsonl cases.jsonl report.html runs.jsonl summaries.jsonl' \
  "$(find r -type f | sed 's,r/,,' | sort | xargs)" 'the folder has all files of the comparison'
test_same 12 "$(lines r/runs.jsonl)" 'all runs are stored'
test_same true "$(jq -s 'group_by(.run.block) | all(length == 2)' r/runs.jsonl)" \
  'both sides are measured in each block'
test_status 2 'a server that cannot be counted is an error' vkb-ab --results none -C repo base main -- --count-only cfg.json
test_match 'the server program itself' .err 'the error asks for the server program itself'
test_absent 'no subject' .err 'nothing is compared'
# shellcheck disable=SC2086 # words
test_that 'vkb-ab with the same commit twice is exit 0' vkb-ab --results same --no-page -C repo \
  a=base b=base -- --runs 6 cfg.json -- $judged
test_absent '^-  ' .out 'the same commit twice is not reported as worse'
test_that '--no-page writes no page' test ! -e same/report.html
test_status 1 'vkb-ab with three builds is exit 1' ab three -j 2 a=base again=base main
test_match '^Comparing again' .out 'the second build is compared'
test_match '^Comparing main' .out 'the third build is compared'
# shellcheck disable=SC2086 # words
test_status 1 'several formats of the report are accepted' vkb-ab --results r -C repo base main -- \
  cfg.json -- -vvf "markdown:it's.md" -f jsonl:deltas.jsonl $judged
test_empty_file .out 'with formats for files there is no text on stdout'
test_match 'at least 7 runs of 1 case, at most 30s; a case ends when it is decided' .err \
  'without a number of runs there is a budget'
test_match '[Ww]orse' "it's.md" 'the Markdown report has the verdict'
test_same regression "$(jq -r 'select(.metric).verdict' deltas.jsonl)" \
  'the JSON report has the verdict'

sed 's/"tls_mode": false/"tls_mode": true/' cfg.json >tls.json
test_status 2 'a case that has TLS is not counted' vkb-ab --results tls --no-page -C repo a=base b=base -- --count-only tls.json
test_same '["BUILD_TLS=yes"]' "$(jq -c .subject.build.make tls/builds.jsonl | sort -u)" 'but its servers are built with TLS'

# --- the commands that a report prints, run as they are printed

# LD_PRELOAD of the built server allows no blank in the folder of the cache.
place=it\'s
mkdir "$place"
cp cfg.json "$place/cfg.json"
cp -a repo "$place/it's a repo"
# here COMMAND [FOLDER]: runs it there
here() { (cd "$place/${2:-.}" && run_proposed "$1"); }
# next: prints the proposed command
next() { next_of "$scratch/.out"; }
built="--tls --allocator jemalloc --cflags '-O1 -DX=\"a b\"' --make-arg 'WORD=it'\\''s' --cache 'the'\\''cache'"
test_status 1 'builds with all options are compared' here "vkb-ab -C \"it's a repo\" 'old one=base' new=main $built -- \
  --runs 6 cfg.json -- -f text -f markdown:comment.md $judged"
command=$(next)
test_same "$built" "${command#* -- }" 'the proposed command has all options of the builds'
here "$command" >out 2>err
test_same 2 "$(grep -c 'BUILD_TLS=yes.*MALLOC=jemalloc.*-DX=.*WORD=it' "$place/why-results/builds.jsonl")" \
  'the proposed vkb-why command builds with these options'
test_same SET "$(jq -r .config.command "$place/why-results/case.jsonl")" 'it finds the case'
# In the clone of another machine, with the cases of the results.
command=$(sed -n '/^To reproduce:$/,/^    /s/^    //p' "$place/comment.md")
test_absent "$place|cache|cfg" "$place/comment.md" 'the comment names no file of this machine'
cp "$place/ab-results/cases.jsonl" "$place/it's a repo"
here "$command" "it's a repo" >out 2>err
test_same 'new/main old one/base' "$(jq -r 'select(.type == "run") | .subject | "\(.label)/\(.commit)"' \
  "$place/it's a repo/ab-results/runs.jsonl" | sort -u |
  sed "s/$(head_of main)/main/; s/$(head_of base)/base/" | xargs)" 'the command of the comment measures the same commits with the same labels'
test_same "$(jq -c .subject.build "$place/ab-results/builds.jsonl")" \
  "$(jq -c .subject.build "$place/it's a repo/ab-results/builds.jsonl")" 'it builds with the same options'
# Two runs are too few: vkb-ab is proposed.
test_that 'two runs of each side are made' here "vkb-ab --results few -C \"it's a repo\" 'old one=base' new=main $built -- \
  --runs 2 cfg.json -- --on-insufficient ok"
command=$(next)
here "$command" >out 2>err
test_match '^Comparing new .* against old one ' out 'the proposed vkb-ab command compares the sides'
test_same "$(jq -c '.subject | del(.ref)' "$place/few/builds.jsonl")" \
  "$(jq -c '.subject | del(.ref)' "$place/ab-results/builds.jsonl")" 'it builds the same'
# A work tree with changes.
git -C "$place/it's a repo" checkout -q base
echo '#define BURN 600000' >"$place/it's a repo/src/burn.h"
test_status 1 'a slower work tree is exit 1' here "vkb-ab --results tree --worktree \"mine=it's a repo\" -- --runs 6 cfg.json -- $judged"
command=$(next)
rm -rf "$place/why-results"
here "$command" >out 2>err
git -C "$place/it's a repo" show "$(jq -r 'select(.subject.label == "contender").subject.commit' \
  "$place/why-results/builds.jsonl"):src/burn.h" >burn.h
test_that 'the proposed vkb-why command builds the changes of a work tree' cmp burn.h "$place/it's a repo/src/burn.h"
# A baseline of another session.
for side in old new; do
  vkb-load -q --label $side --runs 2 cfg.json >"$place/$side.jsonl" 2>err
done
jq -c '.subject.binary_sha256 = "0"' "$place/new.jsonl" >"$place/other.jsonl"
test_that 'two sessions are compared' here 'VKB_CONFIG=cfg.json vkb-compare --on-insufficient ok old.jsonl other.jsonl'
here "$(next)" >out 2>err
test_match '^(Comparing .* against old|Both sides are the same server)' out 'the proposed vkb-load command measures the baseline again'

# Of a running server, which vkb-load cannot start again, and of cases with a password, which
# no file has, no command is printed.
printf '{"type":"spec","v":1,"id":"running"}\n' >spec
test_other spec
for side in old new; do
  vkb-load -q --port "$port" --flush --label $side --runs 2 cfg.json >"$place/$side.jsonl" 2>err
done
end_other
test_that 'two sessions with a running server are compared' here 'VKB_CONFIG=cfg.json vkb-compare --on-insufficient ok old.jsonl new.jsonl'
test_empty "$(next)" 'no command is proposed for a running server'
sed 's/{/{"custom-server-configs": {"requirepass": "sesame"},/' cfg.json >"$place/secret.json"
test_that 'a server with a password is measured' here "vkb-ab --results secret --no-page -C \"it's a repo\" a=base b=base -- \
  --runs 2 secret.json -- --on-insufficient ok -f text -f markdown:secret.md"
test_empty "$(next)" 'no command is proposed for cases whose password no file has'
test_absent '^    vkb-ab' "$place/secret.md" 'nor is one in the comment'
# An issue, with the configuration as config.json.
cp cfg.json "$place/it's a repo/config.json"
# shellcheck disable=SC2016 # variables of jq
jq -nc '[inputs | select(.type == "run" and .run.index == 1)] as $runs | range(1; 41) as $i | $runs[] |
  select((.subject.label == "new") == ($i > 30)) |
  if $i != 30 and $i != 31 then .subject.commit = (("0" * 38) + ($i + 10 | tostring)) else . end |
  .subject.time = "2026-01-01T00:00:\($i + 10)Z" | del(.subject.ref, .subject.label) |
  .metrics = {rps: (50000 + $i * 37 % 11 * 30 - (if $i > 30 then 4000 else 0 end))}' "$place/ab-results/runs.jsonl" >history
test_status 1 'a history with a regression is exit 1' vkb-detect -f issue:issue.md history
# shellcheck disable=SC2016 # Markdown
command=$(sed -n 's/^  `\(vkb-ab .*\)`$/\1/p' issue.md)
rm -rf "$place/it's a repo/ab-results"
here "$command" "it's a repo" >out 2>err
test_same "$(jq -c '.subject | [.commit, .build]' "$place/ab-results/builds.jsonl")" \
  "$(jq -c '.subject | [.commit, .build]' "$place/it's a repo/ab-results/builds.jsonl")" 'the command of an issue builds the same'
test_match '^Comparing ' out 'and measures both sides'
# shellcheck disable=SC2016 # Markdown
test_that 'the git command of an issue shows the commits' here "$(sed -n 's/.*`\(git log .*\)`$/\1/p' issue.md)" "it's a repo"

# A work tree compared with its commit, and with another commit.
echo '#define BURN 0' >repo/src/burn.h
# shellcheck disable=SC2086 # words
test_that 'a work tree without a second build is accepted' vkb-ab --results mine --worktree mine=repo -- --runs 6 \
  cfg.json -- $judged
test_match '^Comparing mine .* against base ' .out 'the work tree is compared with its commit'
test_match 'better' .out 'the faster work tree is reported as better'
in_repo checkout -q .
# shellcheck disable=SC2086 # words
test_status 1 'a work tree with a slower build is exit 1' vkb-ab --results other --worktree=mine=repo -C repo \
  base -- --runs 6 cfg.json -- $judged
test_match '^Comparing mine .* against base ' .out 'the work tree is compared with the named commit'
test_empty "$(in_repo status --porcelain)" 'the work tree is unchanged'

# Without arguments: the changes of this clone since its merge base with the default branch.
# It is that of origin, as the local one may be old, or have the changes.
fork=$(head_of base)
in_repo update-ref refs/remotes/origin/main main
in_repo checkout -q -b unstable base
test_status 2 'a clone without a change is an error' sh -c "cd repo && exec vkb-ab --results ../e"
test_match "^vkb-ab: there is nothing to compare: the work tree is the same as its merge base with 'origin/main'" \
  .err 'the error names the merge base'
echo '#define BURN 600000' >repo/src/burn.h
in_repo commit -qam change
# shellcheck disable=SC2086 # words
test_status 1 'a clone with a slower change is exit 1' sh -c "cd repo &&
  exec vkb-ab --results ../clone -- --runs 6 ../cfg.json -- $judged"
test_match "^Comparing mine .* against base " .out 'the work tree is compared with the merge base'
test_same "$fork" "$(jq -r 'select(.subject.label == "base").subject.commit' clone/builds.jsonl)" \
  'the merge base is the commit where the branch began'
in_repo checkout -q main
in_repo branch -q -D unstable
in_repo update-ref -d refs/remotes/origin/main
test_status 2 'a folder outside a clone is an error' sh -c "mkdir -p no && cd no && GIT_CEILING_DIRECTORIES=$PWD exec vkb-ab"
test_match 'no BUILD is given, and this is not a clone$' .err 'the error says that this is not a clone'

# --- a release, and a branch that still says its version

version=$("$server" --version | sed 's/.* v=\([^ ]*\) .*/\1/')
in_repo tag "$version" main
burn 0 branch
# shellcheck disable=SC2086 # words
test_that 'a tag that equals the version of both servers is accepted' vkb-ab --results tagged -C repo \
  "$version" main -- --runs 6 cfg.json -- $judged
test_match "^Comparing main .* against $version " .out 'the build of the tag is the baseline'
test_match 'better' .out 'the branch is reported as better than the tag'
# shellcheck disable=SC2086 # words
test_status 2 'a single build is an error' vkb-ab --results e -C repo \
  a=base -- --runs 6 cfg.json -- $judged
test_match '^vkb-ab: nothing to compare with: a=base is the only build' .err 'the error names it'
test_that 'nothing is built without a contender' test ! -e e/builds.jsonl
in_repo reset -q --hard "$version"

# --- stopped, and resumed

cat >long.json <<'END'
[{"commands": ["SET"], "duration": 0.4, "rate": 1000, "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
mkdir -p slow/src
printf 'valkey-server:\n\tsleep 60\n' >slow/src/Makefile
{ git init -q slow && git -C slow add -A && git -C slow commit -qm a && git -C slow commit -q --allow-empty -m b; } >.log
builds() { grep -q 'vkb-build: building' slow.log; }
vkb-ab --results b -C slow HEAD~1 HEAD -- long.json >slow.log 2>&1 &
pid=$!
test_that 'vkb-ab builds' wait_until 60 builds
kill "$pid"
wait "$pid"
test_same 143 $? 'SIGTERM ends it'
test_match 'stopped by a signal; the same command builds again what was not complete' slow.log \
  'a message says what is lost'
test_absent 'results so far' slow.log 'and does not speak of results'
has_two() { [ -e s/part.jsonl ] && [ "$(lines s/part.jsonl)" -ge 2 ]; }
vkb-ab --results s -C repo base main -- --runs 6 long.json >long 2>&1 &
pid=$!
test_that 'vkb-ab has finished two runs' wait_until 60 has_two
kill "$pid"
wait "$pid"
test_same 143 $? 'SIGTERM ends vkb-ab'
test_litter 10 'no server and no file is left'
head -n 2 s/part.jsonl >two
test_status 2 'another command in the same folder is an error' ab s base main
test_match 'of another command that was not finished: --anew deletes them' .err \
  'the error names --anew'
# The commits are those of the first start, even if the branch has moved.
main=$(head_of main)
in_repo branch -qf main base 2>/dev/null || in_repo reset -q --hard base
# shellcheck disable=SC2086 # words
test_status 1 'the same command is accepted' vkb-ab --results s -C repo base main -- --runs 6 \
  long.json -- $judged
test_match 'resuming' .err 'a message says that it resumes'
test_same "$(cat two)" "$(head -n 2 s/runs.jsonl)" 'the first two runs are kept'
test_same 12 "$(lines s/runs.jsonl)" 'the other runs are added'
in_repo reset -q --hard "$main"

# --- errors

test_status 2 'a commit that does not exist is an error' sh -c 'cd repo &&
  exec vkb-ab --results ../q base nothing'
test_match "^vkb-ab: taking the commits from this clone, '$PWD/repo'" .err 'a message says that the commits are those of this clone'
test_match "'nothing'" .err 'the error names the commit'
for archive in tar tar.gz tgz tar.bz2 tbz2 tar.xz txz tar.zst zip; do
  test_status 2 "an archive .$archive that does not exist is an error" sh -c "cd repo &&
    exec vkb-ab --results ../q --anew a.$archive b=../b.$archive"
  test_match "'a.$archive'" .err 'the error names the archive'
  test_absent 'this clone' .err 'no message says that commits of the clone are used'
done
test_status 2 'an archive and a commit that does not exist are an error' \
  sh -c "cd repo && exec vkb-ab --results ../q --anew a.tar nothing"
test_match 'taking the commits from this clone' .err 'a message says that the commit is one of this clone'
test_status 2 'a clone that git does not trust is an error' env GIT_TEST_ASSUME_DIFFERENT_OWNER=1 \
  GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null sh -c 'cd repo && exec vkb-ab --results ../q base nothing'
test_match 'cannot read the clone .*dubious ownership' .err 'the error is that of git'
test_same "$(vkb-load --plan "$top/configs/quick.json")" "$(cat q/cases.jsonl)" \
  'without a configuration the cases are those of quick.json'
test_status 2 'a comparison without commits is an error' vkb-ab --results e -C repo -- cfg.json
test_match 'no REF' .err 'the error says that there is no commit'
test_status 2 'a commit that cannot be built is an error' ab e base nothing
test_match "'nothing'" .err 'the error names the commit that cannot be built'
test_match 'not all commits could be built; nothing was measured' .err 'the error says that nothing was measured'
test_status 2 'an unknown option of vkb-load is an error' vkb-ab --results e -C repo base main \
  -- --nonsense cfg.json
test_match "^vkb-load: unknown option '--nonsense'" .err 'the error is that of vkb-load'
test_status 2 'an option of vkb-ab after a commit is an error' vkb-ab -C repo base main --results e -- cfg.json
test_match "^vkb-ab: option '--results' must come before the operands$" .err 'the error says where it belongs'
test_status 2 'a hostile name of a commit is an error' vkb-ab --results e -C repo base \
  "\$(touch evil)'; touch evil; '" -- cfg.json
test_empty "$(find . -name evil)" 'the hostile name is not run as a command'
test_empty "$(find e -name 'runs*' -o -name 'part*')" 'there are no runs'
test_litter 10 'no server is left'
# --- servers that are built, and the usual cases

real=$(command -v valkey-server)
cp "$real" new
test_that 'two servers that are built are compared' vkb-ab --no-page --results built old="$real" new=./new \
  -t set --count-only -n 200 -r 100
test_match '^Comparing new against old' .out 'the first is the baseline'
test_same "$real $(pwd -P)/new" "$(jq -r .server built/builds.jsonl | paste -sd ' ')" 'their paths are whole'
test_same 'SET' "$(jq -r .config.command built/runs.jsonl | sort -u)" 'options of vkb-load need no --'
test_that 'without labels they have those of their files' vkb-ab --no-page --results counted "$real" ./new \
  -t get --count-only -n 200 -r 100
test_match '^Comparing new against valkey-server' .out 'the labels are in the result'
test_absent 'the times follow' .err 'of counts alone no times follow'
test_status 2 'a misspelled option' vkb-ab --reslts x
test_match "^vkb-ab: unknown option '--reslts', did you mean '--results'[?]" .err 'is answered by the right one'
test_status 2 'an option of vkb-load without its argument' vkb-ab -t
test_match "^vkb-ab: option '-t' lacks its argument" .err 'the error names it'
test_status 2 'a single server that is built is an error' vkb-ab --results e "$real" -t get
test_match "nothing to compare with: $real is the only build" .err 'the error names it'
mkdir twin
cp new twin/new
test_status 2 'two servers of one name' vkb-ab --no-page --results twins ./new twin/new -t get --count-only
test_match "^vkb-ab: two servers are called 'new': give them labels" .err 'need labels'
test_empty "$(ls twins 2>/dev/null)" 'and nothing is written'
cp built/runs.jsonl built/part.jsonl
printf x >>new
test_status 2 'a server that was built anew after a kill' vkb-ab --no-page --results built old="$real" new=./new \
  -t set --count-only -n 200 -r 100
test_match 'of another command that was not finished' .err 'is another command'
vkb-ab --no-count --results usual "$real" ./new -- --runs 1 --requests none >.out 2>.err
test_match "^vkb-load: option '--requests'" .err 'options of vkb-load alone keep the usual cases'

# What the page proposes for a change runs, here with one of the usual cases.
sed -n '/^changed /,/^\.Ed/p' "$top/man/vkb-ab.1" | sed '1d;$d' | cut -c 26-52 |
  sed '/usual cases/d; /--commands/d; s/NAME, .*/get/' >proposed
test_same 8 "$(wc -l <proposed)" 'the page proposes options for eight changes'
while read -r words; do
  case $words in -t*) set -- ;; *) set -- --case 'SET-*-P1-*' "$top/configs/quick.json" ;; esac
  # shellcheck disable=SC2086 # words
  vkb-load -q --runs 1 --requests 500 $words "$@" >.out 2>err
  [ "$?,$(jq -r .status .out)" = 0,ok ] || echo "$words: $(cat err)"
done <proposed >refused
test_empty "$(cat refused)" 'each of them is measured'
test_done
