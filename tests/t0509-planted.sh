#!/bin/sh
# Secrets are planted wherever a user may put one: configuration, environment, URL,
# option, load, argument of make, reply of a server, commit message. Every workflow runs, and every file, page,
# table, log, branch and list of arguments is searched. Each place has a token of its
# own, so that what is found names its source; tests/unit/redact.c has the ways to write
# a secret.
. "${0%/*}/lib.sh"
test_server 'planted secrets'
. "$tests/repo.sh"
test_postgres 'planted secrets'

# plant PLACE: prints the token of a place
plant() { echo "plant$1$$"; }
number=70${$}4217
places='config rule command note message env database variable option load build url reply'

# What the user has is in the folder own, where the tokens stand.
mkdir own out
ln -s own/repo repo
mkdir own/repo
real_repo
# What is built and measured writes down its environment and arguments.
sed -i "2i\\	env >>'$scratch/out/make.env'" repo/src/Makefile
sed -i "2i env >>'$scratch/out/server.env'; echo \"\$*\" >>'$scratch/out/server.words'" \
  repo/src/server.sh
commit base
in_repo tag base
burn 600000 "use https://u:$(plant message)@host/a and password=$(plant message)"
scenario='"test": "SET", "requests": 400, "clients": 4, "keyspacelen": 100'
settings='"enable-debug-command": "yes", "rename-command": ["FLUSHALL \"\"", "SWAPDB x"],
  "save": ["900 1", "300 10"], "client-output-buffer-limit": "normal 0 0 0",
  "oom-score-adj-values": "0 200 800"'
cat >own/cfg.json <<END
[{"x-note": "password=$(plant note)",
  "custom-server-configs": {"requirepass": "$(plant config)", "masterauth": $number,
    "user": ["bench on >$(plant rule) ~* +@all", "other off"], $settings},
  "test_groups": [{"group": 1, "scenarios": [{"id": "SET", $scenario,
    "setup_commands": ["CONFIG SET masterauth $(plant command)",
      "ACL SETUSER more on '>$(plant command)'", "AUTH $(plant config)"]}]}]}]
END
cat >own/env.json <<END
[{"custom-server-configs": {"requirepass": {"env": "BENCH_LOGIN"},
    "user": ["bench on nopass ~* +@all", "other off"], $settings},
  "test_groups": [{"group": 1, "scenarios": [{"id": "SET", $scenario}]}]}]
END
sed "s/\"AUTH [^]]*/\"EVAL 'return redis.error_reply(\\\\\"ERR token=$(plant reply)\\\\\")' 0\"/" \
  own/cfg.json >own/reply.json
sed "s/\"other off\"/\"other on >$(plant rule) +@none +nonsense\"/" own/cfg.json >own/fatal.json
sed "s/\"requirepass\": \"\([^\"]*\)\"/\"requirepass\": [\"\1\"]/" own/cfg.json >own/wrong.json
VKB_PASSWORD=$(plant env) GITHUB_TOKEN=$(plant env) VKB_GIT_TOKEN=$(plant env)
AWS_SECRET_ACCESS_KEY=$(plant env) PGPASSWORD=$(plant database)
BENCH_LOGIN=$(plant variable)
export VKB_PASSWORD GITHUB_TOKEN VKB_GIT_TOKEN AWS_SECRET_ACCESS_KEY PGPASSWORD BENCH_LOGIN

# A library that each program of a workflow loads writes down its arguments.
cat >own/watch.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void
watch(void)
{
	static char buf[1 << 20];
	int in = open("/proc/self/cmdline", O_RDONLY);
	int out = open(STARTED, O_WRONLY | O_APPEND);
	ssize_t n = read(in, buf, sizeof buf - 1);

	for (ssize_t i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	n = n > 0 ? n : 0;
	buf[n++] = '\n';
	if (write(out, buf, (size_t)n) != n)
		abort();
	close(in);
	close(out);
}
END
cc -shared -fPIC -DSTARTED="\"$scratch/out/started\"" -o own/watch.so own/watch.c
: >out/started

# run STATUS NAME COMMAND...: what the command prints is searched with the rest
run() {
  run_want=$1 run_name=$2
  shift 2
  LD_PRELOAD=$scratch/own/watch.so "$@" >"out/$run_name" 2>"out/$run_name.err"
  run_got=$?
  test_same "$run_want" "$run_got" "$run_name ends with $run_want"
  [ "$run_want" = "$run_got" ] || tail -n 20 "out/$run_name.err" | sed 's/^/# /'
}
judged='-m server_cpu_us_per_req --margin 60%'
# What the workflows write down as the question: options of vkb-build and vkb-load.
built="--make-arg DEPLOY_TOKEN=$(plant build)"
mix="--mix=SET 9, 'CONFIG SET masterauth $(plant load)' 1"

# --- the workflows

run 0 quickstart vkb-quickstart --results quickstart --runs 2 own/cfg.json
# shellcheck disable=SC2086 # words
{
  run 1 ab vkb-ab --results ab -C repo base main $built -- --runs 8 own/cfg.json -- $judged
  run 0 ab-again vkb-ab --results ab2 -C repo a=base b=base -- --runs 2 "$mix" own/env.json -- $judged --on-insufficient ok
  run 1 pr vkb-pr --results pr -C repo --baseline ab/runs.jsonl base main $built -- \
    --runs 8 own/cfg.json -- $judged
  run 0 bisect vkb-bisect --results bisect -C repo base main $built -- --runs 8 own/cfg.json -- $judged
}
run 0 bench vkb-bench --results-dir bench --valkey-path repo --config own/cfg.json \
  --commits base main --runs 2 --logs bench-logs -- "$mix"
in_repo branch -f unstable main
run 0 continuous vkb-continuous -C repo --results continuous --file state --max-commits 1 \
  own/cfg.json -- --runs 2 "$mix" -- --make-arg "DEPLOY_TOKEN=$(plant build)"
run 0 continuous-table vkb-continuous -C repo --results continuous2 --table core \
  --max-commits 1 own/cfg.json -- --runs 2
run 0 query vkb-trackcommits query --list-configs --format text
if command -v perf >/dev/null; then
  # shellcheck disable=SC2086 # words
  run 0 why vkb-why -C repo --results why --rounds 1 --time 1s base main own/cfg.json -- $built
fi
run 2 reply vkb-load --runs 1 -o reply.jsonl --logs reply-logs own/reply.json
run 2 fatal vkb-load --runs 1 -o fatal.jsonl --logs fatal-logs own/fatal.json
run 2 wrong vkb-load --runs 1 -o wrong.jsonl own/wrong.json
run 0 plan vkb-load --plan own/cfg.json
run 2 hidden vkb-load --runs 1 -o hidden.jsonl out/plan
# Another program may have written a record, with its secrets.
sed "s/token=[*]*/token=$(plant reply)/" reply.jsonl >own/foreign.jsonl
run 0 foreign vkb-pgpush -q --table foreign own/foreign.jsonl
# shellcheck disable=SC2016 # for the inner sh
run 0 option vkb-serve --config "requirepass=$(plant option)" \
  --config "user=bench on >$(plant option)" -- \
  sh -c 'tr "\\0" " " <"/proc/$PPID/cmdline"'
for format in $(report_formats | grep -vx jsonl); do
  run 1 "compare-$format" vkb-compare -f "$format" -m server_cpu_us_per_req --margin 60% \
    --baseline base ab/summaries.jsonl
done
GITHUB_REPOSITORY=a/b GITHUB_API_URL=http://127.0.0.1:1 GITHUB_SERVER_URL=http://127.0.0.1:1
GITHUB_EVENT_PATH=$scratch/own/event GITHUB_RUN_ID=1
export GITHUB_REPOSITORY GITHUB_API_URL GITHUB_SERVER_URL GITHUB_EVENT_PATH GITHUB_RUN_ID
echo '{"pull_request":{"number":1}}' >own/event
run 0 comment vkb-comment --dry-run github pr/deltas.jsonl
run 0 report vkb-report -o failed.html reply.jsonl fatal.jsonl
run 0 flat vkb-parse --flat ab/runs.jsonl
run 2 dashboards env GRAFANA_URL="http://u:$(plant option)@127.0.0.1:1" GRAFANA_TOKEN="$(plant env)" \
  vkb-dashboards sync
run 0 needs vkb-needs build
run 0 completion vkb-completion "$top/bin" completion
run 0 vkb vkb --version
git init -q --bare store.git
mkdir published
cp -R ab pr bench continuous reply.jsonl published
mkdir published/old.part
sed 's/1_SET/keptout/g' reply.jsonl >published/old.part/kept-out.jsonl
run 0 publish vkb-publish --repo "$scratch/store.git" --table core push published
run 2 refused vkb-publish --repo "http://127.0.0.1:1/store.git?private_token=$(plant url)" push published
git --git-dir=store.git log -p --all >out/branch
sql "SELECT tablename FROM pg_tables WHERE schemaname = 'public'" >out/tables
while read -r table; do
  sql "SELECT t::text FROM \"$table\" t"
done <out/tables >out/dump
test_match 'ab/report.html' out/branch 'the branch has the pages'
test_match 'SET' out/dump 'the database has the runs'

test_empty "$(cd "$top/bin" && grep -l '^#!/bin/sh' -- * | while read -r workflow; do
  grep -q "/$workflow " "$scratch/out/started" || echo "$workflow"
done)" 'every workflow was run'
# The arguments that the user gave are what they are.
sed -i '/^[^ ]*vkb-serve --config /d; /^env GRAFANA_URL=/d' out/started
sed -i "s/DEPLOY_TOKEN=$(plant build)//g; s/masterauth $(plant load)//g; s/private_token=$(plant url)//g" \
  out/started out/make.env

# --- what was planted is nowhere

test_match 'vkb-serve --follow' out/started 'the arguments of programs are known'
test_match '^PATH=' out/make.env 'the environment of make is known'
test_match '/vkb-run' out/server.words 'the arguments of servers are known'
for place in $places; do
  test_empty "$(grep -rlaF --exclude-dir=own --exclude-dir=repo.git \
    -e "$(plant "$place")" . | sort | xargs)" \
    "no file has the secret of the $place"
done
test_empty "$(grep -rlaF --exclude-dir=own -e "$number" . | xargs)" \
  'no file has a password that is a number'

# --- and what is not secret is there

test_same '***' "$(jq -r 'select(.type == "run").config.server_config.requirepass' \
  ab/runs.jsonl | sort -u)" 'a record has stars in place of the password'
test_same 'bench on >*** ~* +@all' "$(jq -r 'select(.type == "run").config.server_config.user[0]' \
  ab/runs.jsonl | sort -u)" 'a record has the rules of a user without the password'
test_match 'ERR token=\*\*\*' reply.jsonl 'a record has the reply of the server without the token'
test_same 3 "$(grep -lF 'DEPLOY_TOKEN=***' ab/asked pr/asked bisect/asked | wc -l | tr -d ' ')" \
  'the questions have the argument of make without its token'
test_match 'CONFIG SET masterauth \*\*\*' ab2/asked 'a question has the command of the load without the password'
test_match "^vkb-publish: .*private_token=\*\*\*" out/refused.err 'the error of vkb-publish has the URL without its token'
test_match "for the user named 'other'" out/fatal.err 'the error of a server names the user'
test_match 'requirepass.*list|requirepass.*not' out/wrong.err \
  'the error of a password of a wrong type names its key'
test_match "its record is without its secrets" out/hidden.err \
  'a case record without its password is an error that tells what to do'
test_same '{"env":"BENCH_LOGIN"}' "$(vkb-load --plan own/env.json | jq -c .server.config.requirepass)" \
  'a case record keeps the name of the variable'
vkb-load --plan own/env.json >named.jsonl
unset BENCH_LOGIN
test_status 2 'a variable that is not set is an error' vkb-load --runs 1 named.jsonl
test_match "variable 'BENCH_LOGIN', which is not set" .err 'the error names the variable'
BENCH_LOGIN=other
export BENCH_LOGIN
test_that 'a case record that names a variable is run' vkb-load --runs 1 -o named-runs.jsonl named.jsonl
test_same ok "$(jq -r 'select(.type == "run").status' named-runs.jsonl)" \
  'a user with rules, a renamed command and settings of several words are accepted'
BENCH_LOGIN=another
test_that 'another password is the same session' vkb-load --runs 2 --resume named-runs.jsonl own/env.json
test_same '1 2' "$(jq -r 'select(.type == "run").run.index' named-runs.jsonl | xargs)" 'the session is resumed'
test_same 0 "$(git --git-dir=store.git ls-tree -r --name-only vkb-history | grep -c kept-out)" \
  'the branch has no file of a folder that is not finished'
test_empty "$(grep keptout out/dump)" 'nor has the database'
test_litter 60 'no file is left'
test_done
