#!/bin/sh
# vkb-load --count: the same count on every fresh server, what adds work is found,
# what cannot be counted is refused, and nothing is left.
. "${0%/*}/lib.sh"

if ! command -v valgrind >/dev/null; then
  test_skip 'vkb-load --count' valgrind
  test_done
fi
test_server 'vkb-load --count'

# config COMMANDS MORE
config() {
  printf '[{"commands":[%s],"keyspacelen":[1000],"data_sizes":[64],"pipelines":[10],"clients":[4],"tls_mode":false,"cluster_mode":false,"warmup":0,"requests":[1000]%s}]\n' "$@"
}
runs() { jq -c 'select(.type == "run")' "$@"; }
counts() { runs "$1" | jq -r '[.config.command, .metrics.instructions_per_req] | join(" ")'; }

# --- the same on every server, in every session

# The environment has the same length in both sessions: the server copies it, and
# what jemalloc does next moves in the last digits.
config '"SET","GET","ZADD"' '' >c.json
test_that 'three commands are counted' env TZ=UTC \
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-XXX2,-XXX4_2,-XXX2,-XXXS \
  vkb-load -q --count-only -o a.jsonl c.json
test_same 6 "$(runs a.jsonl | wc -l | tr -d ' ')" 'on two servers each'
test_same 3 "$(counts a.jsonl | sort -u | wc -l | tr -d ' ')" \
  'two servers agree to the last digit'
test_same true "$(runs a.jsonl | jq -s 'all(.[]; .status == "ok" and .counted and
  (.metrics | keys - ["bytes_per_key"]) ==
    ["allocations_per_req", "instructions_per_req", "syscalls_per_req"] and
  .metrics.instructions_per_req > 1000 and .metrics.allocations_per_req > 1)')" \
  'a counted run has counts and no times'
test_same true "$(runs a.jsonl | jq -s 'all(.[].metrics; .syscalls_per_req | . >= .3 and . < .301)')" \
  'ten requests need three system calls, those of the library do not count'
sizes() { runs "$1" | jq -c 'select(.config.command != "ZADD") |
  [.config.command, .metrics.bytes_per_key]' | sort -u; }
test_same 2 "$(sizes a.jsonl | grep -c '[1-9]')" 'the keys of two servers have one size'
config '"SET"' '' >set.json
test_that 'one is counted again' env TZ=EST5EDT,M3.2.0,M11.1.0 \
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-SSE4_2,-BMI2,-ERMS \
  vkb-load -q --count-only -o b.jsonl set.json
test_same "$(counts a.jsonl | grep SET | sort -u)" "$(counts b.jsonl | sort -u)" \
  'another session counts the same, in another time zone and on a CPU that can do less'

test_that 'caches are simulated' vkb-load -q --count-only --count-caches -o caches.jsonl set.json
test_same '[true,true]' "$(runs caches.jsonl | jq -s -c 'map(.metrics |
  .l1_misses_per_req > 1 and .ll_misses_per_req > 0 and .branch_misses_per_req > 1 and
  .instructions_per_req > 1000)')" 'the counts have misses'
test_same 1 "$(runs caches.jsonl | jq -c .metrics | sort -u | wc -l | tr -d ' ')" \
  'two servers miss as often'

jq -c 'select(.type == "profile")' b.jsonl >profile
test_same '["count",1,10000]' "$(jq -c '[.mode, .run.index, .requests]' profile)" \
  'a profile follows the first run'
test_same true "$(jq -n --slurpfile p profile --slurpfile r b.jsonl '
  ($p[0].functions | map(.self) | add) as $sum |
  ($r | map(select(.type == "run"))[0].metrics.instructions_per_req) as $all |
  ($sum - $all) / $all | fabs < 1e-9')" \
  'what its functions execute is what was counted'
test_same 1 "$(jq '.functions | map(select(.name == "setCommand")) | .[0].calls' profile)" \
  'setCommand is called once per request'
test_same true "$(jq '. as $p | def near(a; b): (a - b | fabs) < 1e-6;
  ([range(.functions | length) as $i | .functions[$i] |
    select(.name != "aeMain") |
    near(.calls; [$p.edges[] | select(.to == $i).calls] | add) and
    near(.inclusive; [$p.edges[] | select(.to == $i).inclusive] | add) and
    near(.inclusive; .self + ([$p.edges[] | select(.from == $i).inclusive] | add))]
  | all) and (.edges | length) > 100' profile)" \
  'the calls of each function, and what they cost, are those of its callers'

# --- a module

cat >counted.c <<'END'
typedef int (*command)(void *, void **, int);
static int (*create)(void *, const char *, command, const char *, int, int, int);
static int (*reply)(void *, long long);
static long long sum;
__attribute__((noinline)) static long long
counted_add(long long n)
{
	volatile long long left = n;

	while (left > 0)
		left--;
	return ++sum;
}
static int
counted_command(void *ctx, void **argv, int argc)
{
	(void)argv;
	return reply(ctx, counted_add(ROUNDS + argc));
}
int
ValkeyModule_OnLoad(void *ctx, void **argv, int argc)
{
	int (*get)(const char *, void *) = *(int (**)(const char *, void *))ctx;
	void (*attributes)(void *, const char *, int, int);

	(void)argv, (void)argc;
	get("ValkeyModule_CreateCommand", &create);
	get("ValkeyModule_ReplyWithLongLong", &reply);
	get("ValkeyModule_SetModuleAttribs", &attributes);
	attributes(ctx, "counted", 1, 1);
	return create(ctx, "counted.add", counted_command, "readonly", 0, 0, 0);
}
END
printf '[{"test_groups":[{"group":1,"scenarios":[{"id":"add","type":"read",
  "command":"COUNTED.ADD __rand_int__","requests":1000}]}],"keyspacelen":[10],
  "cluster_mode":false,"tls_mode":false}]\n' >module.json
for rounds in 100 101; do
  cc -g -O1 -fPIC -shared -DROUNDS=$rounds -o "m$rounds.so" counted.c
  test_that "a module with a loop of $rounds rounds is counted" \
    vkb-load -q --count-only --module "./m$rounds.so" -o "m$rounds.jsonl" module.json
done
# per FUNCTION: calls and, of the second module, the further instructions
per() {
  jq -s -c --arg f "$1" 'map(select(.type == "profile").functions[] |
    select(.name == $f)) | [.[0].calls, (.[1].self - .[0].self)]' m100.jsonl m101.jsonl
}
test_match '^\[1,[1-9]' "$(per counted_add >said && echo said)" 'its function has the added work'
test_same "$(per counted_add | jq '.[1]')" "$(jq -s '
  map(select(.type == "run").metrics.instructions_per_req) | (.[2] - .[0]) * 1e4 | round / 1e4
  ' m100.jsonl m101.jsonl)" 'which is all that the whole has more'
test_same '[1,0]' "$(per counted_command)" 'the function that calls it has no more'

# --- another server

if command -v redis-server >/dev/null; then
  test_that 'redis-server is counted' \
    vkb-load -q --count-only --server redis-server -o redis.jsonl set.json
  test_same 1 "$(counts redis.jsonl | sort -u | grep -c '^SET [1-9]')" \
    'two servers agree to the last digit'
  test_same '["redis-server"]' "$(runs redis.jsonl | jq -s -c \
    'map(.run.server_path | sub(".*/"; "") | sub("redis-check-rdb"; "redis-server")) | unique')" \
    'the record names it'
else
  test_skip 'counting redis-server' redis-server
fi

# --- the parts of a mixed scenario

cat >mixed.json <<'END'
[{"test_groups":[{"group":1,"scenarios":[
  {"id":"m","type":"mixed","pipeline":10,"duration":0.2,
   "writes":[{"id":"w","command":"SET k:__rand_int__ v","clients":2}],
   "reads":[{"id":"r","command":"GET k:__rand_int__","clients":2,"parallel_clients":2}]}]}],
  "keyspacelen":[10],"cluster_mode":false,"tls_mode":false}]
END
test_that 'a mixed scenario is measured and counted' \
  vkb-load -q --count --runs 1 --resume mixed.jsonl mixed.json
tests_of() { runs mixed.jsonl | jq -r "select(.counted == $1).config.test_id" | xargs; }
test_same '1_m_write_w 1_m_read_r' "$(tests_of null)" 'each part has a measured run'
test_same '1_m_write_w 1_m_read_r 1_m_write_w 1_m_read_r' "$(tests_of true)" \
  'and two counts with its test_id'
test_same 2 "$(runs mixed.jsonl | jq -c 'select(.counted) |
  [.config, .metrics.instructions_per_req]' | sort -u | wc -l | tr -d ' ')" \
  'two servers agree on each part'
test_same '1_m_write_w 1 0
1_m_read_r 0 1' "$(jq -r 'select(.type == "profile") | . as $p | [$p.case] +
  (["setCommand", "getCommand"] | map(. as $f | [$p.functions[] |
    select(.name == $f).calls] | add // 0)) | join(" ")' mixed.jsonl)" \
  'each has a profile with the calls of its own command'
test_same 1 "$(jq -s 'map(select(.case == "1_m_read_r").functions[] |
  select(.name == "addReplyBulk").calls) | add' mixed.jsonl)" \
  'the reader finds all keys that were written'
cp mixed.jsonl whole
test_that 'it is resumed' vkb-load -q --count --runs 1 --resume mixed.jsonl mixed.json
test_that 'and no part is counted twice' cmp whole mixed.jsonl
# --- beside measured runs, and resumed

config '"SET"' '' | sed 's/\(requests":.\)1000/\120000/; s/\(keyspacelen":.\)/\12/' >many.json
jq -c 'map(. + {count: true})' many.json >both.json
test_that '"count" in a configuration counts beside what is measured' \
  vkb-load -q --runs 2 --resume m.jsonl both.json
test_same 'false false true true' \
  "$(runs m.jsonl | jq -r '.counted // false' | tr '\n' ' ' | sed 's/ $//')" \
  'the counted runs come last'
test_same 4 "$(runs m.jsonl | jq -r '.metrics.bytes_per_key' | grep -c '^[1-9]')" \
  'all have the bytes per key'
cp m.jsonl whole
test_that 'the whole is resumed' vkb-load -q --runs 2 --resume m.jsonl both.json
test_that 'and nothing is counted twice' cmp whole m.jsonl
runs whole | sed '$d' >m.jsonl
test_that 'a missing count is made' vkb-load -q --runs 2 --resume m.jsonl both.json
test_same 4 "$(runs m.jsonl | wc -l | tr -d ' ')" 'it alone'
test_same '["instructions_per_req",2]' "$(vkb-stats m.jsonl | jq -c '
  select(.type == "summary").metrics.instructions_per_req | ["instructions_per_req", .n]')" \
  'vkb-stats keeps both counts in the case'
sizes='select(.type == "summary").metrics.bytes_per_key.values | sort | unique'
kept() { vkb-stats "$@" | jq -c "$sizes"; }
test_same "$(runs whole | jq -s -c 'map(select(.counted).metrics.bytes_per_key) | unique')" \
  "$(kept whole)" 'and those of counted runs alone'
test_that 'a session without counts' vkb-load -q --runs 2 --resume late.jsonl many.json
test_same 1 "$(kept late.jsonl | grep -c '[1-9]')" 'has those of its measured runs'
test_that 'is resumed with counts' vkb-load -q --runs 2 --count --resume late.jsonl many.json
test_same "$(kept whole)" "$(kept late.jsonl)" 'which then replace them'
for by in '.counted' '.counted | not'; do
  runs late.jsonl | jq -c "select($by)" | vkb-stats >>apart
done
vkb-compare -v --metrics bytes_per_key apart late.jsonl >text
test_match '^=  SET .*bytes_per_key .*equivalent .*exact' text \
  'summaries of both kinds are not mixed, either'
vkb-stats -t whole >table
test_match '^SET  *[^ ]*  *2 ' table 'the table has the number of runs with a throughput'
for tool in 'vkb-report -o page.html' 'vkb-history add history' 'vkb-pgpush --dry-run'; do
  test_that "$tool takes counted runs" sh -c "$tool whole"
done

# --- compared

test_status 0 'the same build is the same' \
  vkb-compare -v a.jsonl b.jsonl
test_match '^=  SET .*instructions_per_req .*equivalent .*exact' .out \
  'its count is exact'
config '"SET"' ',"custom-server-configs":{"maxmemory":"1gb"}' >more.json
test_that 'a server that does more is counted' \
  vkb-load -q --count-only --label more more.json
runs .out | jq -c 'del(.config.server_config, .subject.binary_sha256)' >more.jsonl
test_status 1 'it is found' vkb-compare -v a.jsonl more.jsonl
test_match '^More work: SET takes [0-9.]* more instructions per request \(\+[0-9.]*%\), exactly' \
  .out 'the headline says by how much'
runs b.jsonl | jq -c '.metrics.instructions_per_req *= 1 + .run.index / 100' >loose.jsonl
test_status 0 'a count that varies is not judged' vkb-compare -v b.jsonl loose.jsonl
test_match 'instructions_per_req .*\(info\).*not exact: the runs vary' .out \
  'and a note says why'

runs b.jsonl | jq -c '.config.duration_s = 5 | .config |= del(.requests)' >timed.jsonl
jq -c '.metrics.bytes_per_key += 16' timed.jsonl >larger.jsonl
test_status 1 'larger keys are found' vkb-compare -v --metrics bytes_per_key timed.jsonl larger.jsonl
test_match 'bytes_per_key .*regression.*exact' .out 'exactly, in a case of a fixed duration, too'
jq -c '.metrics.bytes_per_key *= 1.0029' timed.jsonl >larger.jsonl
test_status 0 'less than .3 % is within the margin' vkb-compare timed.jsonl larger.jsonl
jq -c '.metrics.bytes_per_key *= 1.016 + .run.index / 1e5' timed.jsonl >larger.jsonl
test_status 0 'where two servers differ' vkb-compare -v timed.jsonl larger.jsonl
test_match 'bytes_per_key .*the faster side may have more keys' .out 'they are not exact'
runs b.jsonl | jq -c 'del(.counted, .metrics.instructions_per_req) | .metrics.bytes_per_key *= .8' >measured.jsonl
test_status 0 'where one side alone was counted' vkb-compare -v measured.jsonl b.jsonl
test_match 'bytes_per_key .*\(info\).*one side alone was counted' .out \
  'other keys are compared, and not judged'

# --- the reader of the counts, against callgrind_annotate

valgrind -q --tool=callgrind --callgrind-out-file=cg.out "$(command -v jq)" -n 1 >.out 2>&1
test_that 'callgrind_annotate reads the counts' \
  callgrind_annotate --threshold=100 --show-percs=no cg.out
sed -n 's/^ *\([0-9,]*\)  *[^ ]*:\([^ ].*\)$/\1 \2/p' .out | tr -d , |
  sed 's/ \[[^]]*\]$//' | awk '{ n = $1; $1 = ""; sum[$0] += n }
    END { for (f in sum) if (sum[f]) print sum[f] f }' | sort >want
"$VKB_BUILD/unit/callgrind" cg.out | grep -v ' TOTAL$' |
  sed 's/ \[[^]]*\]$//' | awk '{ n = $1; $1 = ""; sum[$0] += n }
    END { for (f in sum) if (sum[f]) print sum[f] f }' | sort >got
test_same "$(cat want)" "$(cat got)" 'callgrind_annotate finds the same in each function'

# --- what is refused, before anything is measured

refuse() { # refuse WHY MESSAGE ARGUMENT...
  why=$1 message=$2
  shift 2
  test_status 2 "$why is refused" vkb-load -q --count-only "$@"
  test_empty_file .out "$why: nothing was measured"
  test_match "$message" .err "$why is named"
}
config '"SET"' ',"io-threads":2' >io.json
sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":3/' set.json >cluster.json
sed 's/"tls_mode":false/"tls_mode":true/' set.json >tls.json
printf '[{"test_groups":[{"group":1,"scenarios":[
  {"id":"w","type":"write","command":"SET k:__rand_int__ v","requests":10},
  {"id":"r","type":"read","command":"GET k:__rand_int__","requests":10}]}],
  "keyspacelen":[10],"cluster_mode":false,"tls_mode":false}]' >scene.json
refuse 'more than one I/O thread' 'SET.*: its instructions cannot be counted: its server has more than one I/O thread' io.json
refuse 'a cluster' 'cannot be counted: it has a cluster' cluster.json
refuse 'TLS' 'cannot be counted: it has TLS' tls.json
refuse 'a case after others' 'cannot be counted: it follows other cases on one server' scene.json
jq '.[0] + {count: true}' tls.json | jq -s . >asks.json
test_status 2 'a case that asks for it' vkb-load -q --count --runs 1 asks.json
test_match 'cannot be counted: it has TLS' .err 'is refused with --count, too'
jq -s 'add' io.json set.json >two.json
test_that 'with --count a case that cannot be counted' \
  vkb-load -q --count --runs 1 -o two.jsonl two.json
test_match 'instructions of 1 case are not counted \(SET.*: its server has more than one I/O thread' \
  .err 'is named'
test_same '[false,false,true,true]' \
  "$(runs two.jsonl | jq -s -c 'map(.counted // false)')" 'and measured, the other one is counted'
printf '#!/bin/sh\nexec valkey-server "$@"\n' >script && chmod +x script
refuse 'a script' "'count' needs the server program itself, '.*/script' is a script: name the program that it starts" \
  --server ./script set.json
refuse 'a running server' 'cannot be combined with a running server, which vkb-load does not start' \
  --use-running-server --no-flush set.json
mkdir -p bare
ln -s "$(command -v valkey-server)" bare
load=$(command -v vkb-load)
test_status 2 'a machine without valgrind is refused' \
  env PATH="$PWD/bare" "$load" -q --count set.json
test_match "'vkb-needs run' installs it \(package valgrind\)" .err 'valgrind is named'
mkdir -p alone/bin
cp "$load" "$(command -v vkb-serve)" alone/bin
test_status 2 'a missing library is refused' alone/bin/vkb-load -q --count set.json
test_match "'vkb-still.so', which makes counts exact, is not in '../lib/vkb'" .err \
  'the library is named'

# served MEMBERS: the error of a counted server with these members of its spec
served() {
  printf '{"type":"spec","v":1,"id":"a","count":1,%s}\n' "$1" |
    vkb-serve --follow 2>.err | jq -r .error
}
test_same "'count' needs the server program itself, '$PWD/script' is a script: name the program that it starts" \
  "$(served "\"server\":\"$PWD/script\"")" 'vkb-serve refuses a script, too'
served '"config":{"maxmemory":"nonsense"}' >said
test_match '^node 1 exited with 1; from the end of its log' said \
  'an error of a counted server names no port'

# --- a record that cannot be written

test_status 2 'a full disk' sh -c 'vkb-load -q --count --runs 1 set.json >/dev/full'
test_same 1 "$(grep -c 'No space left' .err)" 'ends the session before it counts'
test_status 2 'a full disk while counting' \
  sh -c 'vkb-load -q --count-only c.json >/dev/full'
test_same 1 "$(grep -c 'No space left' .err)" 'ends the session, too'

# --- a terminal, and a command whose cost is not known before

if command -v script >/dev/null; then
  config '"EVAL '"'for i=1,5 do redis.call([[GET]],1) end'"' 0"' '' >slow.json
  test_that 'a terminal' script -qec 'vkb-load --count-only -o slow.jsonl slow.json' screen
  tr '\r' '\n' <screen >lines
  test_match '^.\[KEVAL .* count 1/2 [0-9]+%' lines 'shows how much of the first count is made'
  test_match '^.\[KEVAL .* count 2/2, [0-9]+ s left' lines 'and the time that the next one takes'
else
  test_skip 'progress' script
fi

# --- killed in the middle

server() { pgrep -f "callgrind-out-file=$TMPDIR/" >.pid; }
config '"SET"' ',"seed":23' >seed.json
vkb-load -q --count-only -o seed.jsonl seed.json 2>/dev/null &
seeded() { server && tr '\0' '\n' <"/proc/$(head -n 1 .pid)/environ" | grep '^VKB_STILL_SEED=' >seed; }
wait_until 30 seeded
test_same VKB_STILL_SEED=23 "$(cat seed)" 'the seed of a configuration is that of the hash tables, too'
wait
test_same 1 "$(counts seed.jsonl | sort -u | wc -l | tr -d ' ')" 'and two servers agree'
for signal in TERM KILL; do
  vkb-load -q --count-only -o k.jsonl c.json 2>/dev/null &
  job=$!
  wait_until 30 server
  kill -"$signal" "$job"
  wait "$job" 2>/dev/null
  gone_too() { ! server && no_litter; }
  wait_until 30 gone_too
  test_that "SIG$signal leaves no server and no file" gone_too
done
test_litter 0 'nothing is left in the end'
test_done
