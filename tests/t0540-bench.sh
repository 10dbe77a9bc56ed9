#!/bin/sh
# vkb-bench: each option of benchmark.py, the results, real servers built from
# commits of a small repository.
. "${0%/*}/lib.sh"
test_server 'vkb-bench'
. "$tests/repo.sh"

real_repo
in_repo tag base
burn 600000 slow
cat >cfg.json <<'END'
[{"commands": ["SET", "GET"], "requests": [300], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
base=$(head_of base) main=$(head_of main)
bench() { vkb-bench --valkey-path repo --config cfg.json "$@"; }
flat() { jq -r "$1" "$2/metrics.json"; }

# --- commits

test_that 'two commits are accepted' bench --commits base "$main" --runs 2
test_same "$base 4
$main 4" "$(jq -r '"\(.[0].commit) \(length)"' results/base/metrics.json \
  "results/$main/metrics.json")" 'each commit has a metrics.json'
test_same 'timestamp commit repository command data_size pipeline clients rps avg_latency_ms min_latency_ms p50_latency_ms p95_latency_ms p99_latency_ms max_latency_ms cluster_mode tls requests benchmark_mode io_threads valkey_benchmark_threads warmup architecture' \
  "$(jq -r '.[0] | keys_unsorted[:22] | join(" ")' results/base/metrics.json)" \
  'metrics.json has the keys of the Python tool'
test_same 'GET SET' "$(flat '[.[].command] | unique | join(" ")' results/base)" \
  'metrics.json has each command'
test_match 'base +2 ' .out 'a table of the results is printed'
test_same true "$(cat results/*/runs/*.jsonl | jq -s 'map(select(.type == "run")) |
  group_by(.config.command, .run.block) | all(length == 2)')" 'both commits are measured in each block'
test_same 'base' "$(jq -r .subject.label results/base/runs/*.jsonl | sort -u)" \
  'each folder has only the runs of its commit'
test_same asked "$(ls results/.vkb-bench)" 'the folder .vkb-bench keeps only the arguments'
test_empty "$(in_repo status --porcelain)" 'the work tree is unchanged'
cp results/base/metrics.json before.json
test_that 'the same command is accepted again' \
  bench --commits=base --runs 1 --results-dir "$scratch/results"
test_same 6 "$(flat length results/base)" 'the same command adds to metrics.json'
test_same "$(jq -c '.[]' before.json | sort)" \
  "$(flat '.[:4][] | tojson' results/base | sort)" 'the entries of metrics.json are kept'

# The work tree with its changes.
echo '#define BURN 1' >repo/src/burn.h
test_that 'a run without --commits is accepted' bench --runs 1
test_same "$main true" "$(jq -r '.subject.commit + " \(.subject.dirty)"' \
  results/HEAD/runs/*.jsonl | sort -u)" 'without --commits the work tree is measured'
test_same "$main+dirty" "$(flat '.[0].commit' results/HEAD)" 'the work tree is recorded as dirty'
in_repo checkout -q .
in_repo branch -q feature/x base
test_that 'a branch with a slash is accepted' bench --commits feature/x --runs 1
test_same "$base" "$(flat '.[0].commit' results/feature/x)" \
  'a name with a slash is a folder in a folder'

# --- logs and profiles, in the same places as those of the Python tool

test_match 'vkb-load: .*SET.* run 1/2, base' results/base/logs.txt 'logs.txt has the messages'
test_same 'GET SET' "$(find results/base/logs -name run-1.log | sed 's,.*/\([A-Z]*\)-.*,\1,' |
  sort -u | xargs)" 'the logs of the servers are kept'
test_that 'each commit has a folder of logs' test -d "results/$main/logs"
test_that '--logs with a folder is accepted' \
  bench --commits base --runs 1 --results-dir lo --logs -mine
test_same '1' "$(find ./-mine -path '*SET*' -name run-1.log | wc -l | tr -d ' ')" \
  '--logs with a folder stores the logs there'
test_that '--logs with a folder leaves no logs with the results' test ! -e lo/base/logs
if command -v perf >/dev/null; then
  jq '.[0].commands = ["SET"] | .[0].rate = [1000] | .[0].profiling_sets = [{enabled: false},
    {enabled: true, delays: {write: {delay: 0, duration: 1}}}]' cfg.json >profiled.json
  profiled() {
    vkb-bench --valkey-path repo --config profiled.json --commits base main --runs 1 --results-dir pr "$@"
  }
  test_that 'a configuration with profiling_sets is accepted' profiled
  test_same '1 1' "$(for ref in base main; do
    find "pr/$ref/flamegraphs" -name flame.svg | wc -l
  done | xargs)" 'each commit has a flame graph'
  test_same '1 1' "$(jq length pr/base/metrics.json pr/main/metrics.json | xargs)" \
    'metrics.json has only the measured runs'
  jq 'del(.[0].profiling_sets[0])' profiled.json >only.json && mv only.json profiled.json
  test_that 'a configuration with only profiles is accepted' profiled --anew
  test_match 'nothing was measured, only profiled' .err 'the message says that nothing was measured'
  test_same 2 "$(find pr/base/flamegraphs -name flame.svg | wc -l | tr -d ' ')" \
    'the earlier flame graph is kept'
  test_that '--skip-profiling is accepted' profiled --skip-profiling
  test_same 2 "$(find pr/base/flamegraphs -name flame.svg | wc -l | tr -d ' ')" \
    '--skip-profiling adds no graph'
else
  test_skip 'profiling_sets' perf
fi

# An attempt without a finished run is started again, even with another command.
mkdir -p begun/.vkb-bench
grep -m 1 '"type":"env"' results/base/runs/*.jsonl >begun/.vkb-bench/part.jsonl ||
  echo '{"type":"env","v":1,"session":"s"}' >begun/.vkb-bench/part.jsonl
echo 'another command' >begun/.vkb-bench/asked
test_that 'another command after an attempt without runs is accepted' bench --commits base --runs 1 --results-dir begun
test_same 2 "$(flat length begun/base)" 'an attempt that measured nothing is started again'

# --- a baseline

burned='{"commands":["SET"],"requests":[400],"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"clients":[4],"cluster_mode":false,"tls_mode":false,"warmup":0}'
echo "[$burned]" >burn.json
test_status 1 'a slower commit is exit 1' vkb-bench --valkey-path repo --config burn.json \
  --commits main --baseline base --runs 8 --results-dir slower
test_match '^Worse: ' .out 'the regression of the slower commit is reported'
test_same 8 "$(flat length slower/base)" 'the baseline is measured, too'
test_that 'a baseline that is one of the commits is accepted' bench --commits base --baseline base --runs 1
test_match 'base +1 ' .out 'the table has a baseline that is one of the commits'

# --- results of the Python tool

mkdir -p old/base
printf '[{"timestamp":"2025-01-01T00:00:00+00:00","commit":"base","repository":null,"command":"SET","data_size":16,"pipeline":1,"clients":4,"rps":100.5,"avg_latency_ms":0.0,"cluster_mode":false,"tls":false,"requests":300,"benchmark_mode":"requests","odd":"x"}]' \
  >old/base/metrics.json
cp old/base/metrics.json python.json
test_that 'a metrics.json of the Python tool is accepted' bench --commits base --runs 1 --results-dir old
test_same "3 $(jq -c '.[0]' python.json)" \
  "$(flat '"\(length) \(.[0] | tojson)"' old/base)" 'the entries are added after those of the Python tool'
echo '[{"half":' >old/base/metrics.json
rm -r old/base/runs
test_status 2 'a metrics.json that cannot be read is an error' \
  bench --commits base --runs 1 --results-dir old
test_match "cannot read 'old/base/metrics.json' to add results" .err \
  'the error names the metrics.json that cannot be read'
test_same '[{"half":' "$(cat old/base/metrics.json)" \
  'a metrics.json that cannot be read is unchanged'
rm old/base/metrics.json
test_that 'runs without metrics.json are accepted' bench --commits base --runs 1 --results-dir old
test_match 'resuming' .err 'the runs without metrics.json are continued'
test_same 2 "$(flat length old/base)" 'the run without metrics.json has its entries'

# --- the other options

test_that '--cluster-mode-filter is accepted' bench --commits base --runs 1 --results-dir c \
  --cluster-mode-filter true
test_same true "$(flat '[.[].cluster_mode] | unique[]' c/base)" \
  '--cluster-mode-filter chooses the mode of the cluster'
sed 's/"tls_mode": false/"tls_mode": true/' cfg.json >tls.json
test_that 'a configuration with TLS is accepted' vkb-bench --valkey-path repo --config tls.json --commits base \
  --runs 1 --results-dir t
test_same true "$(flat '[.[].tls] | unique[]' t/base)" 'the results record TLS'
test_same BUILD_TLS=yes "$(jq -r '.subject.build.make[]' t/base/runs/*.jsonl | sort -u)" \
  'the server is built with TLS'
test_that 'the options for repository and module are accepted' bench --commits base --runs 1 --results-dir o \
  --repository me/mine --log-level DEBUG --module-commit abc \
  --module-commit-timestamp 2025-01-01T00:00:00Z --skip-config-set --skip-profiling
test_same 'me/mine abc 2025-01-01T00:00:00Z' "$(flat \
  '[.[] | "\(.repository) \(.module_commit) \(.module_commit_timestamp)"] | unique[]' o/base)" \
  'the entries have the repository and the module'
test_match 'SET.* run 1' .err '--log-level DEBUG prints each run'
test_that '--log-level ERROR is accepted' bench --commits base --runs 1 --results-dir o --log-level ERROR
test_empty_file .err '--log-level ERROR prints nothing on stderr'
test_that 'options for vkb-load are accepted' bench --commits base --runs 1 --results-dir l -- \
  --case 'SET*' --requests 77
test_same '77 SET' "$(flat '.[] | "\(.requests) \(.command)"' l/base)" \
  'options after -- are passed to vkb-load'
cat >lib.c <<'END'
#include <stdio.h>
int
ValkeyModule_OnLoad(void *ctx, void **argv, int argc)
{
	int (*get)(const char *, void *) = ((void **)ctx)[0];
	void (*attributes)(void *, const char *, int, int);

	get("ValkeyModule_SetModuleAttribs", &attributes);
	attributes(ctx, "vkbtest", 1, 1);
	fclose(fopen(SAY, "w"));
	return argc < 0 || (argc && !argv);
}
END
cc -shared -fPIC -DSAY="\"$scratch/loaded\"" -o lib.so lib.c
test_that '--module with --module-path is accepted' bench --commits base main --runs 1 --module mine --module-path lib.so
test_that 'the module is loaded by the server' test -e loaded
test_same "$(printf '%s\n' "$base" "$base" "$main" "$main" | sort)" \
  "$(flat '.[].commit' results/mine_tests | sort)" 'the results are in the folder of the module'
groups='[{"test_groups":[{"group":1,"scenarios":[{"id":"a","type":"read","command":"PING","requests":100,"clients":1},{"id":"b","type":"read","command":"PING","requests":100,"clients":1}]},{"group":2,"scenarios":[{"id":"c","type":"read","command":"PING","requests":100,"clients":1}]}],"cluster_mode":false,"tls_mode":false}]'
echo "$groups" >groups.json
vb=$(command -v valkey-benchmark)
grouped() {
  vkb-bench --valkey-path repo --config groups.json --commits base --runs 1 \
    --valkey-benchmark-path "$vb" "$@"
}
if [ "$vb" ]; then
  test_that '--groups and --scenarios are accepted' grouped --results-dir g --groups 1 --scenarios b
  test_same '1_b' "$(flat '.[].test_id' g/base)" 'the scenario of the group is measured'
  test_that '--valkey-benchmark-path is accepted' bench --commits base main --runs 1 --results-dir v \
    --valkey-benchmark-path "$vb"
  test_same valkey-benchmark "$(jq -r 'select(.type == "run").config.engine' \
    v/base/runs/*.jsonl | sort -u)" 'valkey-benchmark makes the load'
  test_same 4 "$(grep -c '"type":"raw"' v/main/runs/*.jsonl)" \
    'the output of valkey-benchmark is stored'
else
  test_skip 'groups, valkey-benchmark' valkey-benchmark
fi

# --- a running server

# shellcheck disable=SC2016 # for that shell
running() { # running ARGUMENT...: vkb-bench on a server that vkb-serve starts
  vkb-serve -- sh -c 'vkb-bench --config cfg.json --runs 1 --target-ip "$VKB_HOST" --port "$VKB_PORT" "$@"' - "$@"
}
test_that '--use-running-server is accepted' running --use-running-server --results-dir run
test_same 2 "$(flat length run/HEAD)" 'the running server is measured'
test_same null "$(jq -r .subject.label run/HEAD/runs/*.jsonl | sort -u)" \
  'a running server has no label of a commit'
test_that '--mode client is accepted' running --mode client --commits mine --results-dir run
test_same mine "$(jq -r .subject.label run/mine/runs/*.jsonl | sort -u)" \
  '--mode client uses the name given by --commits'
test_status 2 '--mode server is refused' vkb-bench --mode server --config cfg.json
test_match "'vkb-serve start' starts a server .*'--mode client' then measures it" .err \
  'the error names what starts a server'
# shellcheck disable=SC2016 # for that shell
beside() { # beside ARGUMENT...: the same on a server that has a key
  vkb-serve -- sh -c 'valkey-cli -p "$VKB_PORT" set theirs 1 >/dev/null
    vkb-bench --config cfg.json --runs 1 --mode client --results-dir run "$@" \
      -- --port "$VKB_PORT" || exit
    valkey-cli -p "$VKB_PORT" exists theirs' - "$@"
}
test_status 2 'a running server with a key is an error' beside --commits refused
test_match 'holds 1 key .*--flush allows that, --no-flush' .err \
  'the error names --flush and --no-flush'
test_that '--no-flush is accepted' beside --commits beside --no-flush
test_same 1 "$(tail -n 1 .out)" '--no-flush keeps the key'
test_that '--flush is accepted' beside --commits flushed --flush
test_same 0 "$(tail -n 1 .out)" '--flush deletes the key'
test_status 2 '--flush without a running server is an error' vkb-bench --config cfg.json --flush

# --- stopped and resumed

sed 's/"requests": \[300\]/"duration": 1, "rate": 500/' cfg.json >long.json
long() { vkb-bench --valkey-path repo --config long.json --commits base main --runs 2 --results-dir s "$@"; }
lines() { wc -l <"$1" | tr -d ' '; }
part=s/.vkb-bench/part.jsonl
has_two() { [ -e "$part" ] && [ "$(lines "$part")" -ge 2 ]; }
for sig in TERM KILL; do
  rm -rf s
  vkb-bench --valkey-path repo --config long.json --commits base main --runs 2 \
    --results-dir s >long 2>&1 &
  pid=$!
  test_that "SIG$sig: vkb-bench has finished two runs" wait_until 60 has_two
  kill -$sig "$pid"
  wait "$pid"
  test_same "$([ $sig = TERM ] && echo 143 || echo 137)" $? "SIG$sig ends vkb-bench"
  test_litter 20 'no server is left' s/.vkb-bench
  test_that "SIG$sig: there are no results yet" test ! -e s/base -a ! -e s/main
  head -n 2 "$part" >two
  test_status 2 "SIG$sig: another command is an error" bench --commits base --results-dir s
  test_match 'another command that was not finished: --anew deletes them' .err \
    "SIG$sig: the error names --anew"
  test_that "SIG$sig: the same command is accepted" long
  test_match 'resuming' .err "SIG$sig: the same command is continued"
  test_same 8 "$(cat s/base/metrics.json s/main/metrics.json | jq -s 'add | length')" \
    "SIG$sig: the same command measures the rest"
  test_same "$(sort two)" "$(cat s/*/runs/*.jsonl | grep -F -x -f two | sort)" \
    "SIG$sig: the finished runs are kept"
done

# --- failures

test_status 2 'a commit that does not exist is an error' bench --commits base nothing --runs 1 --results-dir f
test_match "'nothing'" .err 'the error names the commit that does not exist'
test_match 'nothing could be built' .err 'the error says that nothing could be built'
test_that 'nothing is measured' test ! -e f/base -a ! -e f/nothing
broken() ( # a commit without a branch: the work tree stays as it is
  git clone -q --shared repo broken && echo 'no number' >broken/src/burn.h &&
    git -C broken commit -qam broken && git -C repo fetch -q ../broken && in_repo rev-parse FETCH_HEAD
)
broken=$(broken)
test_status 2 'a commit that does not build is an error' bench --commits base "$broken" --runs 1 --results-dir f
test_match "^vkb-build: $broken: make exited" .err 'the error says that it was not built'
test_same "2 $base" "$(flat '"\(length) \(.[0].commit)"' f/base)" 'the commit that builds is measured'
test_that 'the commit that does not build has no results' test ! -e "f/$broken"
sed 's/"SET", "GET"/"SET"/; s/300/20000/; s/"warmup": 0/"warmup": 0, "custom-server-configs": {"maxmemory": "1", "maxmemory-policy": "noeviction"}/' \
  cfg.json >oom.json
test_status 2 'runs that fail are an error' vkb-bench --valkey-path repo --config oom.json --commits base \
  --runs 1 --results-dir f3
test_same failed "$(flat '.[].status' f3/base)" 'failed runs are in metrics.json'

bad() { # bad WHAT PATTERN ARGUMENT...: the arguments are an error that matches PATTERN
  what=$1 pattern=$2
  shift 2
  test_status 2 "$what" bench "$@"
  test_match "^vkb-bench: .*$pattern" .err "$what: the error has the reason"
}
bad 'an unknown mode' "'--mode': 'servers' is neither" --mode servers
bad 'an unknown level' "'--log-level': 'x'" --log-level x
bad '--commits without a commit' "'--commits' lacks its argument" --commits
bad '--commits before another option' "'--commits' lacks its argument" --commits --runs 1
bad 'two commits of a running server' 'cannot be measured as several' --mode client --commits a b
bad 'a baseline for a running server' 'cannot be measured as several' \
  --use-running-server --commits a --baseline b
bad 'a server on another machine' "'--target-ip': servers are started on this machine" --target-ip 192.0.2.1
bad 'a module without a name' "'--module-path' needs '--module'" --module-path lib.so
bad 'a module without .so' 'does not end in .so' --module x --module-path lib.c
bad 'a module file that does not exist' "cannot read 'none.so'" --module x --module-path none.so
bad 'the port of a running server' "'--port': it is that of a running server; add '--use-running-server'" --port 7000
bad 'a module for a running server' 'cannot load a module into a running server' --mode client --module x --module-path lib.so
bad 'a name that leads outside' "'../x' cannot be the name" --module ../x
for repository in x /x x/ x/y/z ' /x' 'a/ '; do
  bad "a repository '$repository'" "'--repository': '$repository' is not OWNER/NAME" \
    --repository "$repository"
done
bad 'an unknown option' "unknown option '--nonsense'$" --nonsense
bad 'an operand' "unexpected argument 'word'" word
bad 'an abbreviation' "unknown option '--run'" --run 1
for ref in '' /etc a..b ../x a/ ./a 'a"b' 'a\b' "$(printf 'a\nb')"; do
  test_status 2 "not a commit: $(printf %s "$ref" | tr '\n' ' ')" bench --commits "$ref" base
done
test_status 2 'a hostile commit name is an error' bench --runs 1 --results-dir attack --commits "x'; touch evil; '"
test_empty "$(find . -name evil)" 'the hostile name is not run as a command'
test_status 2 'a missing configuration is an error' vkb-bench --valkey-path repo --config none.json
test_match "cannot read the configuration 'none.json'" .err \
  'the error names the missing configuration'
test_status 2 '--runs 0 is an error' bench --runs 0 --commits base
test_match "'--runs'" .err 'the error names --runs'
test_status 2 'a missing folder is an error' vkb-bench --config cfg.json --valkey-path none
test_match "no folder 'none'" .err 'the error names the missing folder'
test_status 2 'an invalid mode of the cluster is an error' bench --cluster-mode-filter maybe
test_match "'--cluster-mode'" .err 'the error names --cluster-mode'
test_status 2 'a configuration without a case is an error' bench --commits base -- --case nothing
test_match "no case matches 'nothing'; the " .err 'the error says that there is no case'
test_litter 10 'no server is left'
test_done
