#!/bin/sh
# The repository of a module has the whole flow of the server's: vkb-ab, vkb-pr,
# vkb-bisect, vkb-why, vkb-continuous, vkb-history. A small module of our own, of
# which the fifth of seven commits has a loop too many, and the installed server.
# slow: what it runs is tested with the sanitizers elsewhere
. "${0%/*}/lib.sh"
test_programs 'the flow of a module' perf valgrind
test_server 'the flow of a module'
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
# change LOOPS [TEXT]: the next commit, cN, a day after the one before.
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
    "command": "WORDS.COUNT one two", "clients": 4, "requests": 1500}]}]}]
END
module="--module-build make --server $server"
short() { id "$1" | cut -c 1-"$2"; }

# --- side by side

# shellcheck disable=SC2086 # words
ab() { vkb-ab --results "$1" -C words $module $2 $3 -- --runs 4 cfg.json -- -m instructions_per_req; }
test_status 1 'a module that needs more instructions' ab ab c1 c7
test_match '^-  1_count .* more work$' .out 'is worse'
test_match 'spin_words \+[0-9.]+' .out 'by a function of its own'
test_match "^Comparing c7 \\($(short c7 8)\\) against c1 \\($(short c1 8)\\)" .out 'the sides are named by its commits'
test_absent 'same server' .out 'they are not called the same'
test_match "^Next: vkb-why -C words $(short c1 12) $(short c7 12) ab/cases.jsonl '1_count WORDS.COUNT one two' -- $module\$" .out 'what is proposed builds the module'
test_same "c1 $(id c1) null c7 $(id c7) null" "$(jq -r 'select(.type == "run") | .subject |
  "\(.ref) \(.module_commit) \(.commit)"' ab/runs.jsonl | sort -u | xargs)" \
  'the runs have the commits'
test_same 2 "$(jq -r 'select(.type == "run") | .subject.module_sha256' ab/runs.jsonl | sort -u | wc -l)" \
  'and the hashes of two files'
# shellcheck disable=SC2086
test_that 'commits that make the same file' vkb-ab --results same --no-count -C words $module c6 c7 -- \
  --runs 4 cfg.json -- -m rps
test_match '^Both sides are the same server and module, so differences in time are ' .out 'are known to be the same'
echo '#define LOOPS 900' >words/loops.h
# shellcheck disable=SC2086
in_work() { (cd words && vkb-ab --results ../work $module -- --runs 4 ../cfg.json -- -m instructions_per_req); }
test_status 1 'a clone of the module and what it changes' in_work
test_match "^vkb-ab: comparing the work tree with its merge base with 'main', [0-9a-f]+, [0-9]+ commits? before HEAD$" .err 'need no names'
test_match "^Comparing mine \\($(short c7 8)\\) against base " .out 'the sides are the work tree and its commit'
in_words checkout -q -- .

# shellcheck disable=SC2086
test_status 1 'a pull request of the module' vkb-pr --results pr -C words \
  --commit-url https://github.com/me/words/commit/ c1 c7 $module -- --runs 4 cfg.json -- -m instructions_per_req
test_same regression "$(cat pr/verdict)" 'is a regression'
test_match 'spin_words' pr/report.md 'the comment names the function'
test_match "vkb-ab -C \\. $(short c1 12) $(short c7 12) --module-build make --server $server -- " pr/report.md \
  'and the command that measures it again'
test_match "href=\"https://github.com/me/words/commit/$(id c7)\"" pr/report.html 'the page links its commit'

# --- the commit and the function

# The branch of the server moves with each build.
git init -q -b trunk moving && mkdir moving/src
printf 'valkey-server:\n\tcp %s $@\n%%:\n\t@:\n' "$server" >moving/src/Makefile
git -C moving add -A && git -C moving commit -qm one
first=$(git -C moving rev-parse trunk)
test_that 'a bisection of the module' vkb-bisect -C words --results bisect \
  --metric instructions_per_req c1 c7 --server trunk --server-repo moving --module-build \
  "make && git -c user.name=me -c user.email=me@here -C $scratch/moving commit -q --allow-empty -m next" -- cfg.json
test_same "first bad commit: $(id c5)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" 'finds the commit'
test_differs() { [ "$1" != "$2" ]; }
test_that 'the branch of its server moved' test_differs "$first" "$(git -C moving rev-parse trunk)"
test_same "$first" "$(cat bisect/counts/*/build | jq -r .subject.commit | sort -u)" \
  'the bisection kept the server of its first build'
# shellcheck disable=SC2086
test_that 'the cause of it' vkb-why -C words --results why --rounds 1 --time 1s c4 c5 cfg.json -- $module
test_match '^\+[0-9.]+  count_words calls spin_words|^\+[0-9.]+  spin_words' .out 'is a function of the module'
test_match 'spin_words' why/exact.svg 'which is in the graph of counts'
test_match 'spin_words' why/diff.svg 'and in that of times'
# shellcheck disable=SC2086
test_status 2 'other options of the module' vkb-why -C words --results why --rounds 1 --time 1s c4 c5 cfg.json -- \
  $module --module-file words.so
test_match "holds results of another command" .err 'are another command'

# --- commit by commit

# shellcheck disable=SC2086
continuous() {
  vkb-continuous -q -C words --branch main --file commits.jsonl --results r --max-commits 9 --attempts 1 \
    cfg.json -- --count-only -- $module
}
test_status 1 'the branch of the module' continuous
test_match "1_count" .out 'a regression is printed'
test_same 'c7 c6 c5 c4 c3 c1' "$(vkb-trackcommits query --file commits.jsonl --status complete --format jsonl |
  jq -r .commit | while read -r c; do in_words show -s --format=%s "$c"; done | sort -r | xargs)" \
  'each commit that builds is measured'
test_same "regression $(id c5)" "$(jq -r 'select(.type == "change") | "\(.kind) \(.commit)"' r/changes.jsonl)" \
  'and the one with the loop is the change'
test_match "https://github.com/me/words/commit/$(id c5)" "$(echo r/issues/*.md)" 'the issue links it'
test_match "github.com/me/words/compare/$(id c4)\\.\\.\\.$(id c5)" "$(echo r/issues/*.md)" 'and what changed'
test_match "vkb-build -C \\. $(short c4 12) $(short c5 12) --module-build make --server $server \\| vkb-load" \
  "$(echo r/issues/*.md)" 'and the command that measures both'
test_that 'the next time' continuous
test_empty "$(cat .out .err)" 'nothing is left to do'

test_that 'the history of the module' vkb-history -q add h r/history r/*/*.jsonl
test_same "$(for i in 1 3 4 5 6 7; do id c$i; done | sort | sed 's/$/.jsonl/' | xargs)" \
  "$(find h -name '*.jsonl' ! -name commits.jsonl -printf '%f\n' | sort | xargs)" 'has a file for each commit'
test_that 'the newest before a commit' vkb-history baseline -C words --commit c5~1 --last 2 h
test_same "$(id c3) $(id c4)" "$(jq -r 'select(.type == "run") | .subject.module_commit' .out | uniq | xargs)" \
  'are its ancestors'
test_that 'its site' vkb-history site --commit-url https://github.com/me/words/commit/ h site
test_match "https://github.com/me/words/commit/$(id c5)" "site/commit/$(id c5).html" 'links the commits of the module'
test_match "$(short c5 8) c5" site/index.html 'and has their titles'
test_litter 10 'nothing is left'
test_done
