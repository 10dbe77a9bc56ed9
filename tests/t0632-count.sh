#!/bin/sh
# vkb-load --count: each fresh server has the same count, added work is found,
# a case that cannot be counted is an error, and no file is left.
. "${0%/*}/lib.sh"

if ! command -v valgrind >/dev/null; then
  test_skip 'vkb-load --count' valgrind
  test_done
fi
test_server 'vkb-load --count'

# config COMMANDS MORE: with 50 requests at once, since under valgrind a system call is
# what takes most
config() {
  printf '[{"commands":[%s],"keyspacelen":[1000],"data_sizes":[64],"pipelines":[50],"clients":[4],"tls_mode":false,"cluster_mode":false,"warmup":0,"requests":[1000]%s}]\n' "$@"
}
runs() { jq -c 'select(.type == "run")' "$@"; }
counts() { runs "$1" | jq -r '[.config.command, .metrics.instructions_per_req] | join(" ")'; }

# --- the same on every server, in every session

# The environment has the same length in both sessions: the server copies it, and
# the work of jemalloc depends on its length in the last digits.
config '"SET","ZADD"' '' >c.json
test_that 'two commands are counted' env TZ=UTC \
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-XXX2,-XXX4_2,-XXX2,-XXXS \
  vkb-load -q --count-only -o a.jsonl c.json
test_same 4 "$(runs a.jsonl | wc -l | tr -d ' ')" 'each command is counted on two servers'
test_same 2 "$(counts a.jsonl | sort -u | wc -l | tr -d ' ')" \
  'the counts of two servers are equal'
test_same true "$(runs a.jsonl | jq -s 'all(.[]; .status == "ok" and .counted and
  (.metrics | keys - ["bytes_per_key", "bytes_per_client"]) ==
    ["allocations_per_req", "instructions_per_req", "syscalls_per_req",
     "unfreed_allocations_per_req"] and
  .metrics.instructions_per_req > 1000 and .metrics.allocations_per_req > 1)')" \
  'a counted run has counts and no times'
test_same true "$(runs a.jsonl | jq -s 'all(.[].metrics; .syscalls_per_req | . >= .06 and . < .0602)')" \
  'fifty requests need three system calls; those of the preloaded library are not counted'
test_same 'SET SET' "$(runs a.jsonl | jq -r 'select(.metrics.bytes_per_client > 1000).config.command' |
  xargs)" 'what a client takes is counted with the first case of a server'
sizes() { runs "$1" | jq -c 'select(.config.command != "ZADD") |
  [.config.command, .metrics.bytes_per_key]' | sort -u; }
test_same 1 "$(sizes a.jsonl | grep -c '[1-9]')" 'the keys of both servers have the same size'
# One port cannot be that of two servers at the same time.
config '"SET"' '' >set.json
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
config '"SET"' ",\"port\":$port" >port.json
test_that 'one command is counted again, on a port that is given' env TZ=EST5EDT,M3.2.0,M11.1.0 \
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-SSE4_2,-BMI2,-ERMS \
  vkb-load -q --count-only -o b.jsonl port.json
test_same "$(counts a.jsonl | grep SET | sort -u)" "$(counts b.jsonl | sort -u)" \
  'another session with another time zone and fewer CPU features has the same count'
echo '{"type":"spec","v":1,"id":"other"}' >spec
test_other spec
config '"SET"' ",\"port\":$port" >port.json
test_status 2 'a port that another server has is an error' vkb-load -q --count-only -o taken.jsonl port.json
test_match "port $port is taken" .err 'a message says that it is taken'
test_same '0 keys, no run' "$(valkey-cli -p "$port" dbsize) keys, $(runs taken.jsonl | grep -q '"ok"' || echo no run)" \
  'the other server gets no key, and no count is kept'
end_other

config '"SET"' ',"unixsocket":true' >unix.json
test_that 'a case of a unix socket is counted, with simulated caches' \
  vkb-load -q --count-only --count-caches -o caches.jsonl unix.json
test_that 'other cases are counted over TCP' test "$(counts caches.jsonl | sort -u)" != "$(counts b.jsonl | sort -u)"
test_same '[true,true]' "$(runs caches.jsonl | jq -s -c 'map(.metrics |
  .l1_misses_per_req > 1 and .ll_misses_per_req > 0 and .branch_misses_per_req > 1 and
  .instructions_per_req > 1000)')" 'the counts have misses'
test_same 1 "$(runs caches.jsonl | jq -c .metrics | sort -u | wc -l | tr -d ' ')" \
  'the misses of two servers are equal'

jq -c 'select(.type == "profile")' b.jsonl >profile
test_same '["count",1,1000]' "$(jq -c '[.mode, .run.index, .requests]' profile)" \
  'a profile follows the first run, of the requests of the case'
test_same true "$(jq -n --slurpfile p profile --slurpfile r b.jsonl '
  ($p[0].functions | map(.self) | add) as $sum |
  ($r | map(select(.type == "run"))[0].metrics.instructions_per_req) as $all |
  ($sum - $all) / $all | fabs < 1e-9')" \
  'the instructions of all functions add up to the count'
test_same 1 "$(jq '.functions | map(select(.name == "setCommand")) | .[0].calls' profile)" \
  'setCommand is called once per request'
test_same 0 "$(jq '[.functions[] | select(.name == "kvstoreDictAddRaw")] | length' profile)" \
  'the counted requests find the keys that they write'
test_same true "$(jq '. as $p | def near(a; b): (a - b | fabs) < 1e-6;
  ([range(.functions | length) as $i | .functions[$i] |
    select(.name != "aeMain") |
    near(.calls; [$p.edges[] | select(.to == $i).calls] | add) and
    near(.inclusive; [$p.edges[] | select(.to == $i).inclusive] | add) and
    near(.inclusive; .self + ([$p.edges[] | select(.from == $i).inclusive] | add))]
  | all) and (.edges | length) > 100' profile)" \
  'calls and costs of each function are the sums of those of its callers'

# --- a module

cat >counted.c <<'END'
#include <stdlib.h>
typedef int (*command)(void *, void **, int);
struct event { unsigned long long id, version; };
typedef void (*listener)(void *, struct event, unsigned long long, void *);
static void *(*take)(size_t), (*give)(void *);
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
#ifdef LEAKS
	*(void *volatile *)&take = malloc(16);
#endif
	return reply(ctx, counted_add(ROUNDS + argc));
}
#ifdef CLIENT
/* The second number of 'data' is that of flags, the third the client's. */
static void
counted_connect(void *ctx, struct event e, unsigned long long sub, void *data)
{
	static void *held[1024];
	void **of = &held[((unsigned long long *)data)[2] % 1024];

	(void)ctx, (void)e;
	if (sub == 0)
		*of = take(CLIENT);
	else
		give(*of);
}
#endif
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
#ifdef CLIENT
	int (*subscribe)(void *, struct event, listener);

	get("ValkeyModule_Alloc", &take);
	get("ValkeyModule_Free", &give);
	get("ValkeyModule_SubscribeToServerEvent", &subscribe);
	subscribe(ctx, (struct event){4, 1}, counted_connect);
#endif
	return create(ctx, "counted.add", counted_command, "readonly", 0, 0, 0);
}
END
printf '[{"test_groups":[{"group":1,"scenarios":[{"id":"add","type":"read",
  "command":"COUNTED.ADD __rand_int__","pipeline":50,"requests":1000}]}],"keyspacelen":[10],
  "cluster_mode":false,"tls_mode":false,"io-threads":2}]\n' >module.json
for rounds in 100 101; do
  cc -g -O1 -fPIC -shared -DROUNDS=$rounds -o "m$rounds.so" counted.c
  test_that "a module with a loop of $rounds rounds is counted" \
    vkb-load -q --count-only --module "./m$rounds.so" -o "m$rounds.jsonl" module.json
done
test_match '^vkb-load: the I/O threads of 1 case [(].*add.*[)] are idle while they are counted' .err \
  'a message says that I/O threads are not counted'
test_same 1 "$(runs m100.jsonl | jq .metrics.instructions_per_req | sort -u | wc -l | tr -d ' ')" \
  'two servers with I/O threads, which one connection leaves idle, have one count'
# per FUNCTION: prints the calls, and how many instructions the second module adds
per() {
  jq -s -c --arg f "$1" 'map(select(.type == "profile").functions[] |
    select(.name == $f)) | [.[0].calls, (.[1].self - .[0].self)]' m100.jsonl m101.jsonl
}
test_match '^\[1,[1-9]' "$(per counted_add >said && echo said)" 'the function with the loop has more instructions'
test_same "$(per counted_add | jq '.[1]')" "$(jq -s '
  map(select(.type == "run").metrics.instructions_per_req) | (.[2] - .[0]) * 1e4 | round / 1e4
  ' m100.jsonl m101.jsonl)" 'the difference of the counts is that of this function'
test_same '[1,0]' "$(per counted_command)" 'the function that calls it has no more instructions'

# pair OTHER: two builds, with the module of 100 rounds and with another one
pair() {
  for name in "same m100.so" "other $1"; do
    printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s","module":"%s"}\n' \
      "${name% *}" "$(command -v valkey-server)" "$PWD/${name#* }"
  done
}
numbers() { runs "$1" | jq -r '"\(.subject.label)\(.run.index)"' | xargs; }
jq "map(del(.[\"io-threads\"]))" module.json >alone.json
cp m100.so m102.so
pair m102.so >twins
test_that 'two builds that execute the same are counted' \
  vkb-load -v --count-only --builds twins --resume twins.jsonl alone.json
test_match '^vkb-load: the instructions of 1 case are counted first, on 2 to 4 servers' .err \
  'a message says how many servers that takes'
test_same 'same1 other1' "$(numbers twins.jsonl)" 'where they agree, one server of each is enough'
test_same 2 "$(grep -c 'vkb-load: measures .*: /' .err)" 'the server of each is named once'
cp twins.jsonl whole
test_that 'they are counted again' vkb-load --count-only --builds twins --resume twins.jsonl alone.json
test_that 'that adds nothing' cmp whole twins.jsonl
test_empty_file .err 'and no message is printed'
test_that 'two counts are compared' vkb-compare -v --baseline same twins.jsonl
test_match '^=  .* bytes_per_client .*equivalent .*exact' .out \
  'counts that agree on one server of each side are exact'
pair m101.so >differ
vkb-load -q --count-only --builds differ -o differ.jsonl alone.json
test_same 'same1 other1 same2 other2' "$(numbers differ.jsonl)" \
  'where they do not agree, each is counted on two servers'
runs differ.jsonl | head -n 2 >half.jsonl
vkb-load -q --count-only --builds differ --resume half.jsonl alone.json
test_same 'same1 other1 same2 other2' "$(numbers half.jsonl)" 'also if the first of them are resumed'

# Each request executes four instructions a round and more.
cc -g -O1 -fPIC -shared -DROUNDS=300000 -DLEAKS -o slow.so counted.c
test_that 'a module with a long loop is counted' \
  vkb-load -q --count-only --module ./slow.so -o slow.jsonl module.json
test_same '[100,1]' "$(jq -c 'select(.type == "profile") | [.requests,
  (.functions[] | select(.name == "counted_add").calls)]' slow.jsonl)" \
  'of a command of more than a million instructions 100 requests are counted, each with its own calls'
unfreed() { runs "$1" | jq -s -c 'map(.metrics.unfreed_allocations_per_req)'; }
test_same '[0,0] [1,1]' "$(unfreed m100.jsonl) $(unfreed slow.jsonl)" \
  'a command that frees what it takes has no unfreed allocation, one that leaks has one a request'
test_that 'a transaction of three commands is counted' vkb-load -q --count-only \
  --command 'MULTI; INCR {key}; EXEC' -P 30 -o multi.jsonl
test_same '[10002,3334]' "$(jq -c 'select(.type == "profile") | .requests as $n | [$n,
  (.functions[] | select(.name == "execCommand").calls * $n | round)]' multi.jsonl)" \
  'whole transactions are counted'

# --- another server

if command -v redis-server >/dev/null; then
  test_that 'redis-server is counted' \
    vkb-load -q --count-only --server redis-server -o redis.jsonl set.json
  test_same 1 "$(counts redis.jsonl | sort -u | grep -c '^SET [1-9]')" \
    'the counts of two redis-servers are equal'
  test_same '["redis-server"]' "$(runs redis.jsonl | jq -s -c \
    'map(.run.server_path | sub(".*/"; "") | sub("redis-check-rdb"; "redis-server")) | unique')" \
    'the record has the program redis-server'
else
  test_skip 'counting redis-server' redis-server
fi

# --- the parts of a mixed scenario

cat >mixed.json <<'END'
[{"test_groups":[{"group":1,"scenarios":[
  {"id":"m","type":"mixed","pipeline":50,"duration":0.2,
   "writes":[{"id":"w","command":"SET k:__rand_int__ v","clients":2}],
   "reads":[{"id":"r","command":"GET k:__rand_int__","clients":2,"parallel_clients":2}]}]}],
  "keyspacelen":[10],"cluster_mode":false,"tls_mode":false}]
END
test_that 'a mixed scenario is measured and counted' \
  vkb-load -q --count --runs 1 --resume mixed.jsonl mixed.json
tests_of() { runs mixed.jsonl | jq -r "select(.counted == $1).config.test_id" | xargs; }
test_same '1_m_write_w 1_m_read_r' "$(tests_of null)" 'each part has a measured run'
test_same '1_m_write_w 1_m_read_r 1_m_write_w 1_m_read_r' "$(tests_of true)" \
  'each part has two counts with its test_id'
test_same 2 "$(runs mixed.jsonl | jq -c 'select(.counted) |
  [.config, .metrics.instructions_per_req]' | sort -u | wc -l | tr -d ' ')" \
  'the counts of each part are equal on two servers'
runs mixed.jsonl | jq -c 'select(.counted) | "# \(.config.test_id) \(.metrics.instructions_per_req)"' | tr -d '"'
test_same '1_m_write_w 1 0
1_m_read_r 0 1' "$(jq -r 'select(.type == "profile") | . as $p | [$p.case] +
  (["setCommand", "getCommand"] | map(. as $f | [$p.functions[] |
    select(.name == $f).calls] | add // 0)) | join(" ")' mixed.jsonl)" \
  'each part has a profile with the calls of its own command'
test_same 1 "$(jq -s 'map(select(.case == "1_m_read_r").functions[] |
  select(.name == "addReplyBulk").calls) | add' mixed.jsonl)" \
  'the reader finds all keys that were written'
cp mixed.jsonl whole
test_that 'the mixed scenario is resumed' vkb-load -q --count --runs 1 --resume mixed.jsonl mixed.json
test_that 'no part is counted twice' cmp whole mixed.jsonl
# A command that only one of two versions has does not hide the others.
jq -c '.[0].test_groups[0].scenarios[0] |= (del(.duration) | .requests = 100 |
  .writes += [{id: "x", command: "NOSUCH {key}"}] | .reads[0] |= del(.parallel_clients))' \
  mixed.json >refused.json
states() { runs .out | jq -r '[.config.test_id, .status, (.metrics.instructions_per_req // 0) > 100] | join(" ")' | sort | uniq -c | xargs; }
test_status 2 'a part that the server refuses fails a session that demands its count' \
  vkb-load -q --count-only refused.json
test_same '2 1_m_read_r ok true 2 1_m_write_w ok true 2 1_m_write_x failed false' "$(states)" \
  'the other parts are counted'
test_match "the server refuses 1 of 3 commands, which are not counted: 1_m_write_x \(20 of 20 requests were refused: ERR unknown command" \
  .err 'a message names the part and its error'
test_same 1 "$(grep -c 'refuses 1 of 3' .err)" 'and is printed once, not for each server'
test_that 'where no count is demanded the session succeeds' \
  vkb-load -q --count-possible --count-only refused.json
test_same '2 1_m_read_r ok true 2 1_m_write_w ok true' "$(states)" 'and has the parts that are counted'
runs .out >refused.jsonl && cp refused.jsonl refused.was
test_that 'it is resumed' vkb-load -q --count-possible --count-only --resume refused.jsonl refused.json
test_that 'and counts nothing again' cmp refused.was refused.jsonl
test_status 2 'a case that both servers refuse is an error' \
  vkb-load -q --count-only --command 'NOSUCH {key}' -o fails.jsonl
test_same '1 failed 2 failed' "$(jq -r '"\(.run.index) \(.status)"' fails.jsonl | xargs)" 'both counts are recorded as failed'
test_same 2 "$(grep -c "not counted: .*; the log of its server is kept in 'fails.jsonl.logs/" .err)" \
  'the logs of both servers are kept in one folder'
# --- every command, for vkb-ab --commands all

echo '{"type":"spec","v":1,"id":"other"}' >other.json
test_other other.json
jq -r '.[0].test_groups[0].scenarios[0] | (.setup_commands[] | gsub("\n"; "\\n")), (.writes[].command | gsub("; "; "\n"))' \
  "$top/configs/commands.json" |
  sed 's/{key}/key:000000000001/g; s/__rand_1st__/000000000002/g; s/__rand_2nd__/3/g; s/__data__/x/g' >every
valkey-cli -p "$port" <every >answers
# Newer servers have some more, and IFEQ of SET.
test_empty "$(grep -aE '^(ERR|WRONGTYPE|NO[A-Z]+|BUSY[A-Z]*) ' answers |
  grep -v "^ERR unknown command '[DH]\|^ERR syntax error")" \
  'the server accepts each command of commands.json that it has'
test_that 'and answers them' test "$(wc -l <answers)" -gt 300
{
  awk '{ print tolower($1) }' every
  printf '%s\n' asking auth cluster function lolwut module psubscribe punsubscribe quit \
    readonly readwrite reset ssubscribe subscribe sunsubscribe unsubscribe waitaof
  valkey-cli -p "$port" COMMAND LIST FILTERBY ACLCAT admin | sed "s,|.*,,"
  valkey-cli -p "$port" COMMAND LIST FILTERBY ACLCAT dangerous | sed "s,|.*,,"
} | sort -u >known
valkey-cli -p "$port" COMMAND LIST | grep -v '|' | sort >has
test_empty "$(comm -23 has known)" \
  'commands.json has each command of the server but those that vkb-config(5) leaves out'
# What a list lacks is asked of the server.
cat >module.c <<'END'
int answer(void *ctx, void **argv, int argc)
{
	(void)argv;
	int (*reply)(void *, long long);
	int (**get)(const char *, void *) = ctx;

	(*get)("RedisModule_ReplyWithLongLong", &reply);
	return reply(ctx, argc);
}
int die(void)
{
	__builtin_trap();
}
int RedisModule_OnLoad(void *ctx, void **argv, int argc)
{
	void (*attribs)(void *, const char *, int, int);
	int (*create)(void *, const char *, void *, const char *, int, int, int);
	int (**get)(const char *, void *) = ctx;

	(void)argv;
	(void)argc;
	(*get)("RedisModule_SetModuleAttribs", &attribs);
	(*get)("RedisModule_CreateCommand", &create);
	attribs(ctx, "vkbtest", 1, 1);
	return create(ctx, "vkbtest.die", die, "readonly", 0, 0, 0) ||
	    create(ctx, "vkbtest.look", answer, "readonly", 1, 2, 1) ||
	    create(ctx, "vkbtest.far", answer, "readonly", 2000000000, 2000000000, 1) ||
	    create(ctx, "vkbtest.wipe", answer, "admin", 0, 0, 0);
}
END
cc -shared -fPIC -o module.so module.c
jq -c '.[0].test_groups[0].scenarios[0].writes |= map(select(.id | IN("get", "hsetex")))' \
  "$top/configs/commands.json" >few.json
test_that 'the commands of a server that a configuration lacks' \
  vkb-load --module "$scratch/module.so" --add-commands few.json
jq -r '.[0].test_groups[0].scenarios[0].writes[].command' .out >added
test_same 4 "$(grep -cx -e 'GET s:{key}' -e 'HSET h:{key} f1 __data__' -e 'ZUNION 1 z:{key}' \
  -e 'VKBTEST.LOOK m:{key} m:{key}' added)" 'its own are kept, and others have the arguments of their documentation'
for group in admin dangerous blocking connection pubsub transaction scripting; do
  valkey-cli -p "$port" COMMAND LIST FILTERBY ACLCAT $group
done | tr '|' ' ' | sort -u >unsafe
test_empty "$(tr '[:upper:]' '[:lower:]' <added | grep -wFf unsafe | grep -v '^set ')" \
  'none changes the server, a connection or scripts, or waits'
for left in 'administrative:.* debug,' 'administrative:.* shutdown,' 'administrative:.* vkbtest.wipe' \
  'dangerous:.* flushall' 'blocking:.* blpop' 'of scripts:.* script.flush' 'help texts$' \
  'refused with the arguments that were made:.* xadd' 'without an answer: vkbtest.die$'; do
  test_match "few.json: [0-9]+ command(s are| is) left out, $left" .err "a message has: $left"
done
test_that 'most commands have some' test "$(wc -l <added)" -gt 120
for wrong in '-p 1' '--plan' 'few.json'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "--add-commands with $wrong" vkb-load --add-commands few.json $wrong
done
for setup in '[1]' '[{}]' '["SET \"a"]' '[""]'; do
  jq -c ".[0].test_groups[0].scenarios[0].setup_commands = $setup" few.json >setup.json
  test_status 2 "--add-commands with the setup commands $setup" vkb-load --add-commands setup.json
  test_match 'setup.json: a command of its scenario has no text, or not a valid one$' .err \
    'and the message says why'
done
end_other
# --- together with measured runs, and resumed

config '"SET"' '' | sed 's/\(requests":.\)1000/\120000/; s/\(keyspacelen":.\)/\12/' >many.json
jq -c 'map(. + {count: true})' many.json >both.json
sizes='select(.type == "summary").metrics.bytes_per_key.values | sort | unique'
kept() { vkb-stats "$@" | jq -c "$sizes"; }
test_that 'a session without counts is accepted' vkb-load -q --runs 2 --resume m.jsonl many.json
test_same 1 "$(kept m.jsonl | grep -c '[1-9]')" 'without counts vkb-stats takes the bytes per key of the measured runs'
test_that '"count" in a configuration adds counts to the measured runs' \
  vkb-load -q --runs 2 --resume m.jsonl both.json
test_same 'false false true true' \
  "$(runs m.jsonl | jq -r '.counted // false' | tr '\n' ' ' | sed 's/ $//')" \
  'the counts are added behind the measured runs'
test_same 4 "$(runs m.jsonl | jq -r '.metrics.bytes_per_key' | grep -c '^[1-9]')" \
  'all runs have the bytes per key'
cp m.jsonl whole
test_that 'a complete session is resumed' vkb-load -q --runs 2 --resume m.jsonl both.json
test_that 'a complete session is unchanged' cmp whole m.jsonl
runs whole | sed '$d' >m.jsonl
test_that 'a missing count is made' vkb-load --runs 2 --resume m.jsonl both.json
test_match 'the instructions of 1 case are counted first, on 1 server$' .err 'a message says on how many servers'
test_same 4 "$(runs m.jsonl | wc -l | tr -d ' ')" 'only the missing count is made'
test_same '["instructions_per_req",2]' "$(vkb-stats m.jsonl | jq -c '
  select(.type == "summary").metrics.instructions_per_req | ["instructions_per_req", .n]')" \
  'vkb-stats has both counts of the case'
test_same "$(runs whole | jq -s -c 'map(select(.counted).metrics.bytes_per_key) | unique')" \
  "$(kept whole)" 'the bytes per key of the counted runs replace the others'
for by in '.counted' '.counted | not'; do
  runs whole | jq -c "select($by)" | vkb-stats >>apart
done
vkb-compare -v --metrics bytes_per_key apart whole >text
test_match '^=  SET .*bytes_per_key .*equivalent .*exact' text \
  'vkb-compare takes the summary of the counted runs, too'
vkb-stats -t whole >table
test_match '^SET  *[^ ]*  *2 ' table 'the table has the number of runs with a throughput'
for tool in 'vkb-report -o page.html' 'vkb-history add history' 'vkb-pgpush --dry-run'; do
  test_that "$tool accepts counted runs" sh -c "$tool whole"
done

# --- compared

test_status 0 'two counts of the same build are exit 0' \
  vkb-compare -v a.jsonl b.jsonl
test_match '^=  SET .*instructions_per_req .*equivalent .*exact' .out \
  'the count is compared exactly'
config '"SET"' ',"custom-server-configs":{"maxmemory":"1gb"}' >more.json
cc -g -O1 -fPIC -shared -DROUNDS=1 -DCLIENT=4096 -o client.so counted.c
test_that 'a server that does more is counted' \
  vkb-load -q --count-only --label more --module ./client.so more.json
runs .out | jq -c 'del(.config.server_config, .subject.binary_sha256)' >more.jsonl
memory() { runs "$1" | jq -s -c 'map(.metrics | [.bytes_per_key, .bytes_per_client]) | unique'; }
test_same "$(memory b.jsonl | jq -c '.[0][1] += 4096')" "$(memory more.jsonl)" \
  'where a client takes 4096 bytes more, bytes_per_client has them and bytes_per_key has not'
test_status 1 'more instructions are exit 1' vkb-compare -v a.jsonl more.jsonl
test_match '^SET executes [0-9.]*% more instructions per request' \
  .out 'the headline has the added instructions'
runs b.jsonl | jq -c '.metrics.instructions_per_req *= .985 + .run.index / 100' >loose.jsonl
test_status 0 'counts that vary by more than they changed are exit 0' vkb-compare -v b.jsonl loose.jsonl
test_match 'instructions_per_req .*inconclusive.*not exact: judged by the spread of the runs' .out \
  'counts that vary are judged by their spread, with a note'
jq -c '.metrics.instructions_per_req *= 1.1' loose.jsonl >far.jsonl
test_status 1 'counts that vary by less than they changed are exit 1' vkb-compare b.jsonl far.jsonl

runs b.jsonl | jq -c '.config.duration_s = 5 | .config |= del(.requests)' >timed.jsonl
jq -c '.metrics.bytes_per_key += 16' timed.jsonl >larger.jsonl
test_status 1 'larger keys are exit 1' vkb-compare -v --metrics bytes_per_key timed.jsonl larger.jsonl
test_match 'bytes_per_key .*regression.*exact' .out 'the size of keys is compared exactly, in a case of a fixed duration, too'
jq -c '.metrics.bytes_per_key *= 1.0029' timed.jsonl >larger.jsonl
test_status 0 'a change below 0.3 % is within the margin' vkb-compare timed.jsonl larger.jsonl
jq -c '.metrics.bytes_per_key *= 1.016 + .run.index / 1e5' timed.jsonl >larger.jsonl
test_status 0 'sizes that differ between two servers are exit 0' vkb-compare -v timed.jsonl larger.jsonl
test_match 'bytes_per_key .*the faster side may have more keys' .out 'sizes that differ are not compared exactly'
runs b.jsonl | jq -c 'del(.counted, .metrics.instructions_per_req) | .metrics.bytes_per_key *= .8' >measured.jsonl
test_status 0 'sizes of which only one side was counted are exit 0' vkb-compare -v measured.jsonl b.jsonl
test_match 'bytes_per_key .*\(info\).*one side alone was counted' .out \
  'sizes of which only one side was counted are not judged'

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
test_same "$(cat want)" "$(cat got)" 'each function has the same count as in callgrind_annotate'

# --- errors before anything is measured

refuse() { # refuse WHY MESSAGE ARGUMENT...: the arguments are an error that matches MESSAGE
  why=$1 message=$2
  shift 2
  test_status 2 "$why is an error" vkb-load -q --count-only "$@"
  test_empty_file .out "$why: nothing is measured"
  test_match "$message" .err "$why: the error has the reason"
}
config '"SET"' ',"idle_clients":1' >idle.json
sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":3/' set.json >cluster.json
sed 's/"tls_mode":false/"tls_mode":true/' set.json >tls.json
printf '[{"test_groups":[{"group":1,"scenarios":[
  {"id":"w","type":"write","command":"SET k:__rand_int__ v","requests":10},
  {"id":"r","type":"read","command":"GET k:__rand_int__","requests":10}]}],
  "keyspacelen":[10],"cluster_mode":false,"tls_mode":false}]' >scene.json
refuse 'a cluster' 'cannot be counted: it has a cluster, whose nodes exchange messages at times that differ' cluster.json
sed 's/"cluster_nodes":3/"cluster_nodes":1/' cluster.json >node.json
refuse 'a cluster of one node' 'cannot be counted: it has a cluster, whose node takes no command before its clock advances' node.json
refuse 'TLS' 'cannot be counted: it has TLS, whose library executes other instructions on each CPU' tls.json
refuse 'a case after others' 'cannot be counted: it follows other cases on one server' scene.json
jq '.[0] + {count: true}' tls.json | jq -s . >asks.json
test_status 2 'a case with "count" that cannot be counted is an error' vkb-load -q --count --runs 1 asks.json
test_match 'cannot be counted: it has TLS' .err 'the error is the same with --count'
jq -s 'add' idle.json set.json >two.json
test_that '--count accepts a case that cannot be counted' \
  vkb-load -q --count --runs 1 -o two.jsonl two.json
test_match 'instructions of 1 case are not counted \(SET.*: it has reconnects, idle connections or tracking' \
  .err 'a message names the case that is not counted'
test_same '[true,true,false,false]' \
  "$(runs two.jsonl | jq -s -c 'map(.counted // false)')" 'both cases are measured, the other one is counted'
printf '#!/bin/sh\nexec valkey-server "$@"\n' >script && chmod +x script
refuse 'a script' "'count' needs the server program itself, '.*/script' is a script: name the program that it starts" \
  --server ./script set.json
refuse 'a running server' 'cannot be combined with a running server, which vkb-load does not start' \
  --use-running-server --no-flush set.json
mkdir -p bare
ln -s "$(command -v valkey-server)" bare
load=$(command -v vkb-load)
test_status 2 'a machine without valgrind is an error' \
  env PATH="$PWD/bare" "$load" -q --count set.json
test_match "'vkb-needs run' installs it \(package valgrind\)" .err 'the error names the command that installs valgrind'
mkdir -p alone/bin
cp "$load" "$(command -v vkb-serve)" alone/bin
test_status 2 'a missing library is an error' alone/bin/vkb-load -q --count set.json
test_match "'vkb-still.so', which makes counts exact, is not in '../lib/vkb'" .err \
  'the error names the library'

# served MEMBERS: prints the error of a counted server whose spec has these members
served() {
  printf '{"type":"spec","v":1,"id":"a","count":1,%s}\n' "$1" |
    vkb-serve --follow 2>.err | jq -r .error
}
test_same "'count' needs the server program itself, '$PWD/script' is a script: name the program that it starts" \
  "$(served "\"server\":\"$PWD/script\"")" 'vkb-serve has the same error for a script'
served '"config":{"maxmemory":"nonsense"}' >said
test_match '^node 1 [(]port [0-9]*[)] exited with 1; from the end of its log' said \
  'the error of a counted server that exits has the end of its log'
# Another server gets the port while ours, which valgrind makes slow, starts. Ours has another
# process id than it knows of, so only its control socket tells them apart.
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
starts() { pgrep -f "callgrind-out-file=$TMPDIR/" >.pid; }
served "\"port\":$port" >said &
job=$!
wait_until 60 starts
valkey-server --port "$port" --bind 127.0.0.1 --save '' >other.log &
other=$!
end_late() { kill "$other" && wait "$other"; }
test_cleanup() { end_late; }
wait "$job"
test_match "^node 1 [(]port ${port}[)] exited with 1; from the end of its log" said \
  'a server that answers in place of a counted one is not taken for it'
test_same PONG "$(valkey-cli -p "$port" ping)" 'and is left alone'
end_late
test_cleanup() { :; }

# --- a record that cannot be written

test_status 2 'a full disk is an error' sh -c 'vkb-load -q --count --runs 1 set.json >/dev/full'
test_same 1 "$(grep -c 'No space left' .err)" 'the session ends before it counts'
test_status 2 'a full disk during a count is an error' \
  sh -c 'vkb-load -q --count-only c.json >/dev/full'
test_same 1 "$(grep -c 'No space left' .err)" 'the session ends after the count'

# --- a terminal, and a command whose cost is not known before

if command -v script >/dev/null; then
  config '"EVAL '"'for i=1,200 do redis.call([[GET]],1) end'"' 0"' '' |
    sed 's/"requests":.1000/"requests":[300/' >slow.json
  test_that 'counts on a terminal' script -qec 'vkb-load --count-only -o slow.jsonl slow.json' screen
  tr '\r' '\n' <screen >lines
  test_match '^.\[Kcount 1/2, EVAL .* [0-9]+%' lines 'the progress of the counts has the share that is done'
else
  test_skip 'progress of counts' script
fi

# --- kills during a count

# Each CPU makes a count, each case has two.
servers=$(nproc)
[ "$servers" -lt 2 ] || servers=2
server() { pgrep -f "callgrind-out-file=$TMPDIR/" >.pid; }
config '"SET"' ',"seed":23' >seed.json
seeded() { server && [ "$(wc -l <.pid)" -eq "$servers" ] && tr '\0' '\n' <"/proc/$(head -n 1 .pid)/environ" | grep '^VKB_STILL_SEED=' >seed; }
for signal in TERM KILL; do
  vkb-load --count --runs 4 -o k.jsonl seed.json 2>"said.$signal" &
  job=$!
  wait_until 30 seeded
  kill -"$signal" "$job"
  wait "$job" 2>/dev/null
  test_that "SIG$signal frees the file of results at once" flock -n k.jsonl true
  gone_too() { ! server && no_litter; }
  wait_until 30 gone_too
  test_that "SIG$signal leaves no server and no file" gone_too
done
test_match '^vkb-load: 0 of 4 runs kept; continue with: vkb-load --resume k.jsonl --count --runs 4 seed.json$' \
  said.TERM 'SIGTERM: a message says that the runs are still to be made, and how to continue'
test_same VKB_STILL_SEED=23 "$(cat seed)" 'the seed of a configuration is also that of the hash tables'
test_litter 0 'no server and no file is left'
test_done
