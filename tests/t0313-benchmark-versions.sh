#!/bin/sh
# vkb-load --engine valkey-benchmark with versions that lack options: what is emulated,
# how that is recorded, and sessions that are resumed. The load is real; rates that a
# test needs are printed by a script.
. "${0%/*}/lib.sh"

test_server 'versions of valkey-benchmark'
if ! real=$(command -v valkey-benchmark); then
  test_skip 'versions of valkey-benchmark' valkey-benchmark
  test_done
fi

config() {
  printf '[{"commands":[%s],"keyspacelen":[100],"data_sizes":[16],' "$2" >"$1"
  printf '"pipelines":[4],"clients":[4],"cluster_mode":false,' >>"$1"
  printf '"tls_mode":false,"warmup":0,%s}]\n' "$3" >>"$1"
}
config set.json '"SET"' '"requests":[2000]'
config second.json '"SET"' '"duration":1'

# vb PROGRAM ARGUMENT...: runs vkb-load with this valkey-benchmark.
vb() {
  vb_program=$1
  shift
  vkb-load --engine valkey-benchmark --valkey-benchmark-path "$vb_program" "$@"
}
# of FILTER: prints the result of the filter for the runs of the last command, as one
# line
of() { jq -c "select(.type == \"run\") | $1" .out | sort -u | paste -s -d ' ' -; }
calls() { wc -l <calls | tr -d ' '; }
name=SET-d16-P4-c4-k100-valkey_benchmark

# program NAME OPTIONS: writes a script from stdin that lacks the options that match the
# pattern; $n is the number of the call.
# shellcheck disable=SC2016 # the text is a script
program() {
  "$real" --help | grep -v -E "^ ($2)( |\$)" >"$1.help"
  {
    printf '#!/bin/sh\nreal=%s\n' "$real"
    printf 'case ${1-} in --help) cat "$0.help"; exit ;;\n'
    printf -- '--version) echo "${0##*/} 1"; exit ;; esac\n'
    printf 'echo x >>calls\nn=$(wc -l <calls)\n'
    cat
  } >"$1"
  chmod +x "$1"
  rm -f calls
}
# timed NAME: writes a script that prints the rate $r, which stdin sets.
# shellcheck disable=SC2016 # as above
timed() {
  {
    printf '"$real" "$@" >/dev/null || exit\n'
    cat
    printf 'printf "\\"test\\",\\"rps\\"\\n\\"SET\\",\\"$r\\"\\n"\n'
  } >body
  program "$1" '--duration|--warmup' <body
}

# --- a duration is emulated by a number of requests

timed busy <<'END'
r=1000.00
[ "$n" -le 2 ] || r=400.00
END
test_that 'a trial' vb ./busy --runs 2 second.json
test_same '[1000,2.5,400,1,"duration"]' "$(of '[.metrics.requests,
  .metrics.elapsed_s, .metrics.rps, .config.duration_s, .env.emulated]')" \
  'the trial determines the number of requests, and the record has the measured time'
test_same "vkb-load: $name: 1000 requests took 2.5 s instead of 1 s" \
  "$(grep -v 'too few to show\|round 1/2 done' .err)" 'a measured time far from the duration is reported once'
test_same 4 "$(calls)" 'there is one trial for all runs'
timed near <<'END'
r=1000.00
[ "$n" -le 2 ] || r=900.00
END
test_that 'a measured time near the duration is accepted' \
  vb ./near -q --runs 1 second.json
test_empty_file .err 'nothing is printed on stderr'
timed quick <<'END'
r=5000.00
[ "$n" -gt 1 ] || r=inf
END
test_that 'a trial too short to be timed is accepted' \
  vb ./quick --runs 1 second.json
test_same '[5000,1]' "$(of '[.metrics.requests, .metrics.elapsed_s]')" \
  'a trial too short to be timed is repeated with more requests'
program never '--duration' <<'END'
printf '"test","rps"\n"SET","inf"\n'
END
test_status 2 'a rate of inf in each trial is an error' \
  vb ./never --runs 1 second.json
test_same '"never 1 reported no throughput"' "$(of .error)" \
  'the error says that the rate is not known'
test_status 2 'a run with a rate of inf is an error' \
  vb ./never --runs 1 set.json
test_match '"error":"never 1 took less than a millisecond, ' .out \
  'the error says that the run took less than a millisecond'
timed warm <<'END'
r=1000.00
END
test_that 'a warm-up' vb ./warm --runs 1 --warmup 500ms set.json
test_same '[2000,2,0.5,"warmup"]' "$(of '[.metrics.requests,
  .metrics.elapsed_s, .config.warmup_s, .env.emulated]')" \
  'a warm-up is emulated by a number of requests'
test_same '3 1' "$(calls) $(grep -c '"type":"raw"' .out)" \
  'the emulated warm-up is a process whose output is dropped'

# --- sessions that are resumed

timed again <<'END'
r=1000.00
[ "$n" -le 3 ] || r=1100.00
END
test_that 'the first part of a session' vb ./again --runs 1 --resume part second.json
test_that 'the second part of a session' vb ./again --runs 3 --resume part second.json
test_same '5 1000' "$(calls) $(jq 'select(.type == "run").metrics.requests' \
  part | sort -u)" 'a resumed session uses the same number, without a trial'
test_status 2 'another valkey-benchmark in a resumed session is an error' \
  vb ./near --runs 4 --resume part second.json
test_match "$name: some runs were made with another valkey-benchmark" .err \
  'the error says that runs are of another valkey-benchmark'
test_same 3 "$(grep -c '"type":"run"' part)" \
  'no run is added with another valkey-benchmark'
program hangs '' <<'END'
[ "$n" -ne 2 ] || { echo $$ >pid && exec tail -f /dev/null; }
exec "$real" "$@"
END
vkb-load --engine valkey-benchmark --valkey-benchmark-path ./hangs --runs 3 \
  --resume cut set.json 2>.err &
load=$!
test_that 'the second run has begun' wait_until 20 test -s pid
kill -KILL "$load"
wait "$load" 2>/dev/null
test_that 'valkey-benchmark ends when vkb-load is killed' \
  wait_until 10 gone "$(cat pid)"
test_that 'a session that was killed is resumed' \
  vb ./hangs --runs 3 --resume cut set.json
test_same '1 2 3' "$(jq 'select(.type == "run" and .status == "ok").run.index' \
  cut | sort | paste -s -d ' ' -)" 'a session that was killed has each run once'
test_same 3 "$(grep -c '"type":"raw"' cut)" \
  'a session that was killed has the output of each run'
cat >group.json <<'END'
[{"keyspacelen":[100],"cluster_mode":false,"tls_mode":false,"test_groups":[
  {"group":1,"scenarios":[
    {"id":"fill","test":"SET","data_size":16,"pipeline":4,"clients":4,"requests":2000,"warmup":0.5},
    {"id":"read","test":"GET","data_size":16,"pipeline":4,"clients":4,"requests":2000}]}]}]
END
test_that 'a case after one that is not selected and has an emulated warm-up' \
  vb "$real" --runs 1 --case '*read*' group.json
test_same '["read","ok",100]' \
  "$(of '[.config.scenario, .status, .metrics.hit_rate_percent]')" \
  'the data of the first case are there'

test_that 'a shard' vb ./hangs --plan --shard 2/2 set.json
test_empty_file .out 'the second of two shards of one case is empty'

# --- valkey-benchmark of a build is not used

for l in old new; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok",' "$l"
  printf '"server":"%s","benchmark":"%s/never"}\n' "$server" "$scratch"
done >builds
test_that 'two builds' vkb-load --engine valkey-benchmark --builds builds \
  --runs 1 set.json
test_same "\"$(sha256sum <"$real" | cut -d ' ' -f 1)\"" \
  "$(of .env.benchmark_tool_sha256)" \
  'one valkey-benchmark makes the load of both builds'

# --- tests that a version does not have, or has under another meaning

config tests.json '"PING","HSET","ZADD","ZPOPMIN","XADD"' '"requests":[400]'
program five '--seed|--threads|--cluster|--duration' <<'END'
case $* in *--seed* | *'-t hset'* | *'-t z'* | *'-t xadd'*) exit 9 ;; esac
echo 'Cluster has 3 masters:'
echo
"$real" "$@" | sed -n '2s/^\(".*[^\\]","[^"]*"\),"[0-9].*/\1/p' |
  sed 's/","[0-9.]*","[0-9.]*$/"/; s/PING_MBULK/PING_BULK/' |
  sed 's/^\("[^,]*","[0-9.]*"\).*/\1/'
END
test_that 'tests that a version does not have' vb ./five --runs 1 tests.json
test_same '["HSET","ok"] ["PING","ok"] ["XADD","ok"] ["ZADD","ok"] ["ZPOPMIN","ok"]' \
  "$(of '[.config.command, .status]')" \
  'tests that a version lacks are sent as commands'
jq -r 'select(.type == "raw").source' .out >sources
test_match "--csv HSET myhash element:__rand_int__ 'VXK" sources \
  'HSET is sent as a command'
test_match "--csv XADD mystream '\\*' myfield 'VXK" sources \
  'XADD is sent as a command'
test_same 4 "$(grep -c -v -e ' -t ' sources)" 'PING is sent as a test'

# --- a command that is not quoted in its CSV

cat >own.json <<'END'
[{"test_groups":[{"group":1,"scenarios":[
 {"id":"t","type":"write","requests":400,
  "command":"SET k:__rand_int__ 'say \"x\",\"y\"' EX 100"}]}]}]
END
test_that 'a command with quotes and commas is accepted' \
  vb "$real" --runs 1 own.json
test_same '"ok"' "$(of .status)" 'a command with quotes and commas is run'

# --- an error among the results

program oom '' <<'END'
printf '"test","rps"\nError from server: OOM\n"SET","9.00"\n'
END
test_status 2 'an error among the rows is an error' vb ./oom --runs 1 set.json
test_match 'an invalid result: 1 columns where there should be 2; it exited with 0: .*OOM' \
  .out 'an error among the rows is in the error of the run'

# --- paths

mkdir 'my bin'
ln -s "$real" "my bin/it's \"mine\""
test_that 'a path with blanks and quotes' vb "my bin/it's \"mine\"" --runs 1 \
  set.json
jq -r 'select(.type == "raw").source' .out >source
test_match "^'my bin/it'.''s \"mine\"' -h 127" source \
  'the recorded command line is quoted for a shell'
cp "$real" plain
chmod -x plain
test_status 2 'a file that cannot be run' vb ./plain --runs 1 set.json
test_match "there is no program './plain'" .err \
  'the error names the file that is not executable'
test_litter 0 'no server, socket or folder is left'

test_done
