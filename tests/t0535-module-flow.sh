#!/bin/sh
# All workflows for the repository of a module: vkb-ab, vkb-pr,
# vkb-bisect, vkb-why, vkb-continuous, vkb-history. A small module, of
# which the fifth of seven commits adds a loop, and the installed server.
. "${0%/*}/lib.sh"
test_programs 'the workflows for a module' perf valgrind
test_server 'the workflows for a module'
. "$tests/repo.sh"
unset VKB_COUNT

git init -q words
in_words() { git -C words "$@"; }
id() { in_words rev-parse "$1"; }
cat >words/words.c <<'END'
#include "loops.h"

typedef struct context context;
typedef int command(context *, void **, int);
static int (*reply)(context *, long long);

__attribute__((noinline)) static long long
spin_words(void)
{
	volatile long long n = 0;

	for (int i = 0; i < LOOPS; i++)
		n += i;
	return n;
}

static int
count_words(context *c, void **argv, int argc)
{
	(void)argv;
	return reply(c, argc - 1 + spin_words() * 0);
}

int
ValkeyModule_OnLoad(context *c, void **argv, int argc)
{
	int (*get)(const char *, void *) = ((void **)c)[0];
	void (*attributes)(context *, const char *, int, int);
	int (*create)(context *, const char *, command *, const char *, int, int,
	    int);

	(void)argv;
	(void)argc;
	if (get("ValkeyModule_SetModuleAttribs", &attributes) ||
	    get("ValkeyModule_CreateCommand", &create) ||
	    get("ValkeyModule_ReplyWithLongLong", &reply))
		return 1;
	attributes(c, "words", 1, 1);
	return create(c, "words.count", count_words, "readonly fast", 0, 0, 0);
}
END
printf 'words.so: words.c loops.h\n\tcc -O1 -shared -fPIC -o $@ words.c\n' >words/Makefile
# change LOOPS [TEXT]: makes the next commit, cN, one day after the last
n=0
change() {
  n=$((n + 1))
  echo "#define LOOPS $1" >words/loops.h
  echo "${2:-}" >>words/README
  in_words add -A
  GIT_COMMITTER_DATE=$(printf '2026-01-%02dT00:00:00Z' $n) in_words commit -qm "c$n"
  in_words tag c$n
}
change 10
change 'no number'
change 11
change 11 'A text alone.'
change 400 'The regression.'
change 401
change 401 'The last one.'
in_words remote add origin https://github.com/me/words.git

cat >cfg.json <<'END'
[{"keyspacelen": [10], "cluster_mode": false, "tls_mode": false, "test_groups":
  [{"group": 1, "scenarios": [{"id": "count", "type": "read",
    "command": "WORDS.COUNT one two", "clients": 4, "pipeline": 50, "requests": 1000}]}]}]
END
module="--module-build make --server $server"
short() { id "$1" | cut -c 1-"$2"; }

# --- vkb-ab and vkb-pr

# shellcheck disable=SC2086 # words
ab() { vkb-ab --results "$1" -C words $module $2 $3 -- --runs 4 cfg.json -- -m instructions_per_req; }
test_status 1 'a module that needs more instructions is exit 1' ab ab c1 c7
test_match '^-  1_count .* more work$' .out 'the report says that the module needs more instructions'
test_match '\+[0-9.]+ in spin_words' .out 'the report names the function of the module'
test_match "^Comparing c7 \\($(short c7 8)\\) against c1 \\($(short c1 8)\\)" .out 'the sides are named by its commits'
test_absent 'same server' .out 'the report does not say that both servers are the same'
test_match "^Next: vkb-why -C words $(short c1 12) $(short c7 12) ab/cases.jsonl '1_count WORDS.COUNT one two' -- $module\$" .out 'the proposed vkb-why command has the options of the module'
run_proposed "$(next_of .out)" >next 2>&1
test_same "$(id c1) $(id c7) 1_count" "$(jq -r '.subject.module_commit // .config.test_id' \
  why-results/builds.jsonl why-results/case.jsonl | xargs)" 'the command builds the module and finds the case'
test_same "c1 $(id c1) null c7 $(id c7) null" "$(jq -r 'select(.type == "run") | .subject |
  "\(.ref) \(.module_commit) \(.commit)"' ab/runs.jsonl | sort -u | xargs)" \
  'the runs have the commits of the module'
test_same 2 "$(jq -r 'select(.type == "run") | .subject.module_sha256' ab/runs.jsonl | sort -u | wc -l)" \
  'the runs have the hashes of two module files'
# shellcheck disable=SC2086
test_that 'two commits with the same module file are accepted' vkb-ab --results same --no-count -C words $module c6 c7 -- \
  --runs 4 cfg.json -- -m rps
test_match '^Both sides are the same server and module, so differences in time are ' .out 'the report says that server and module are the same'
# The server is installed: it has TLS or not, whatever the cases need.
sed 's/"tls_mode": *false/"tls_mode": true/' cfg.json >tls.json
# shellcheck disable=SC2086
test_status 2 'cases with TLS are not counted' vkb-ab --results tls --no-page -C words $module c6 c7 -- --count-only tls.json
test_match '"tls_mode":true' tls/cases.jsonl 'they have TLS'
test_same 'ok ok' "$(jq -r .status tls/builds.jsonl | xargs)" 'but the module is built for an installed server'
echo '#define LOOPS 900' >words/loops.h
# shellcheck disable=SC2086
in_work() { (cd words && vkb-ab --results ../work --no-count $module -- --runs 2 ../cfg.json -- --on-insufficient ok); }
test_that 'the work tree of a clone of the module is compared' in_work
test_match "^vkb-ab: comparing the work tree with its merge base with 'main', [0-9a-f]+, [0-9]+ commits? before HEAD$" .err 'a message names the merge base'
test_match "^Comparing mine \\($(short c7 8)\\) against base " .out 'the sides are the work tree and its commit'
test_same 2 "$(jq -r 'select(.type == "run") | .subject.module_sha256' work/runs.jsonl | sort -u | wc -l)" \
  'the changes of the work tree are built'
in_words checkout -q -- .

# shellcheck disable=SC2086
test_status 1 'a pull request with a slower module is exit 1' vkb-pr --results pr -C words \
  --commit-url https://github.com/me/words/commit/ c1 c7 $module -- --runs 4 cfg.json -- -m instructions_per_req
test_same regression "$(cat pr/verdict)" 'the verdict is a regression'
test_match 'spin_words' pr/report.md 'the comment names the function'
test_match '^Only the machine that measured the module can repeat this' pr/report.md \
  'the comment says why it has no command that measures again'
test_match "href=\"https://github.com/me/words/commit/$(id c7)\"" pr/report.html 'the page links the commit of the module'

# --- vkb-bisect and vkb-why

# Each build makes a new commit on the branch of the server.
git init -q -b trunk moving && mkdir moving/src
printf 'valkey-server:\n\tcp %s $@\n%%:\n\t@:\n' "$server" >moving/src/Makefile
git -C moving add -A && git -C moving commit -qm one
first=$(git -C moving rev-parse trunk)
test_that 'vkb-bisect finds a commit of the module' vkb-bisect -C words --results bisect \
  --metric instructions_per_req c4 c6 --server trunk --server-repo moving --module-build \
  "make && git -c user.name=me -c user.email=me@here -C $scratch/moving commit -q --allow-empty -m next" -- cfg.json
test_same "first bad commit: $(id c5)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" 'the first bad commit is the one with the loop'
test_differs() { [ "$1" != "$2" ]; }
test_that 'the branch of its server moved' test_differs "$first" "$(git -C moving rev-parse trunk)"
test_same "$first" "$(cat bisect/counts/*/build | jq -r .subject.commit | sort -u)" \
  'all builds have the first commit of the server'
# shellcheck disable=SC2086
test_that 'vkb-why accepts two commits of the module' vkb-why -C words --results why --rounds 1 --time 1s c4 c5 cfg.json -- $module
test_match '^\+[0-9.]+  count_words calls spin_words|^\+[0-9.]+  spin_words' .out 'vkb-why names the function of the module'
test_match 'spin_words' why/exact.svg 'the flame graph of counts has the function'
test_match 'spin_words' why/diff.svg 'the flame graph of times has the function'
# shellcheck disable=SC2086
test_status 2 'other module options in the same folder are an error' vkb-why -C words --results why --rounds 1 --time 1s c4 c5 cfg.json -- \
  $module --module-file words.so
test_match "holds results of another command" .err 'the error says that the folder has results of another command'

# --- vkb-continuous and vkb-history

# shellcheck disable=SC2086
continuous() {
  vkb-continuous -q -C words --branch main --file commits.jsonl --results r --max-commits 9 --attempts 1 \
    cfg.json -- --count-only -- $module
}
test_status 1 'a branch of the module with a regression is exit 1' continuous
test_match "1_count" .out 'the regression is printed'
test_same 'c7 c6 c5 c4 c3 c1' "$(vkb-trackcommits query --file commits.jsonl --status complete --format jsonl |
  jq -r .commit | while read -r c; do in_words show -s --format=%s "$c"; done | sort -r | xargs)" \
  'each commit that builds is measured'
test_same "$(id c2) vkb-build" "$(vkb-trackcommits query --file commits.jsonl --format jsonl |
  jq -r 'select(.status != "complete") | "\(.commit) \(.reason // "" | sub("^vkb-build: .*"; "vkb-build"))"')" \
  'the other one has the error of its build'
test_same "regression $(id c5)" "$(jq -r 'select(.type == "change") | "\(.kind) \(.commit)"' r/changes.jsonl)" \
  'the change is at the commit with the loop'
test_match "https://github.com/me/words/commit/$(id c5)" "$(echo r/issues/*.md)" 'the issue links the commit'
test_match "github.com/me/words/compare/$(id c4)\\.\\.\\.$(id c5)" "$(echo r/issues/*.md)" 'the issue links the comparison of both commits'
test_absent 'vkb-ab -C' "$(echo r/issues/*.md)" 'the issue has no command that needs a file of this machine'
test_that 'the next start is exit 0' continuous
test_empty "$(cat .out .err)" 'the next start prints nothing'

test_that 'vkb-history add accepts the results' vkb-history -q add h r/history r/*/*.jsonl
test_same "$(for i in 1 3 4 5 6 7; do id c$i; done | sort | sed 's/$/.jsonl/' | xargs)" \
  "$(find h -name '*.jsonl' ! -name commits.jsonl -printf '%f\n' | sort | xargs)" 'the history has a file for each commit of the module'
test_that 'vkb-history baseline accepts a commit of the module' vkb-history baseline -C words --commit c5~1 --last 2 h
test_same "$(id c3) $(id c4)" "$(jq -r 'select(.type == "run") | .subject.module_commit' .out | uniq | xargs)" \
  'the baseline is the last two ancestors'
test_that 'vkb-history site accepts the history' vkb-history site --commit-url https://github.com/me/words/commit/ h site
test_match "https://github.com/me/words/commit/$(id c5)" "site/commit/$(id c5).html" 'the page of a commit links the commit of the module'
test_match "$(short c5 8) c5" site/index.html 'the site has the titles of the commits'
test_litter 10 'no server and no file is left'
test_done
