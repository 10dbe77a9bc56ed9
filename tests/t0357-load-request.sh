#!/bin/sh
# A load without a configuration: commands, how the server is populated for them, and
# threads. And requests: options in a file that others wrote, of which only some are
# allowed, within limits.
. "${0%/*}/lib.sh"
test_server 'a load of options'

planned() { vkb-load --plan "$@" </dev/null 2>.err; }
ids() { planned "$@" | jq -r .id | xargs; }

# --- options

test_same 'SET-d3-P1-c50-k1000000 GETRANGE_key:__rand_int___0_9-d3-P1-c50-k1000000 LRANGE_100-d3-P1-c50-k1000000' \
  "$(ids -t set --command 'GETRANGE key:__rand_int__ 0 9' --command lrange)" \
  '--command can be combined with -t'
test_same 'SET-d16-P1-c50-k1000000-io9 SET-d16-P1-c50-k1000000' "$(ids -t set -d 16 --set io-threads=9,1)" \
  'each value of io-threads is a case'
test_same '[[1,1],[9,9]]' "$(planned -t set --set io-threads=1,9 |
  jq -sc 'map([.config.io_threads, .server.io_threads])')" 'the server has these threads'
test_same 3 "$(planned -t set --set benchmark-threads=3 | jq .config.benchmark_threads)" 'the load has its threads'
test_same '[true,1]' "$(planned -t set --cluster-mode true | jq -c '[.config.cluster_mode, .server.primaries]')" \
  'a load on a cluster'
long=$(printf 'SET key:{key} %0300d' 0)
test_that 'the id of a long command has less than 160 characters' \
  test "$(planned --command "$long" | jq '.id | length')" -lt 160
test_same 2 "$(planned --command "$long" --command "${long}1" | jq -r .id | sort -u | wc -l | tr -d ' ')" \
  'two long commands have two ids'
refuses() { # refuses WHAT PATTERN WORD...: these options are an error.
  what=$1 pattern=$2
  shift 2
  test_status 2 "$what" vkb-load --plan "$@"
  test_match "$pattern" .err "$what: the message"
  test_empty_file .out "$what: no plan is printed"
}
echo '[{"commands": ["SET"]}]' >set.json
refuses '--command with a FILE is refused' "'-t' and '--command' say what to measure, and so does FILE" \
  --command 'GET a' set.json
refuses '-c with a FILE is refused' "'-P', '-d', '-c' and '-r' are for '-t'" -c 5 set.json
refuses 'no I/O threads are refused' "option '--set': .*'io-threads' must be a positive integer" \
  -t set --set io-threads=0
refuses 'half a thread is refused' "'benchmark-threads' must be a positive integer" -t set --set benchmark-threads=1.5
refuses 'a test with blanks is refused' "option '-t': 'set get' is not the name of a test: '--command'" -t 'ping,set get'
refuses 'an unknown test is refused' "unknown command 'GETT', did you mean 'GET'" --command gett
refuses 'a command without its arguments is refused' "'HLEN' is not a named test: give its arguments, too" --command hlen
refuses 'it is not a test' "no test is called 'hlen' [(]the tests are .*'--command' is for others" -t hlen
refuses 'a blank command is refused' "must be a non-empty list of non-blank strings" --command ' '

# --- runs of such loads

run() { vkb-load -q --runs 1 -c 2 -n 2000 -r 100 "$@"; }
test_that 'a load with --command' run --command 'GETRANGE key:__rand_int__ 0 9' \
  --set 'populate_with=SET key:__rand_int__ __data__' -d 50 -o own
test_same '["ok",2000,0,2000,0]' "$(jq -c 'select(.type == "run") | [.status, .metrics.requests, .metrics.errors,
  .metrics.keyspace_hits, .metrics.keyspace_misses]' own)" 'it finds what the server was filled with'
test_same '"SET key:__rand_int__ __data__"' "$(jq -c 'select(.type == "run").config.populate_with' own)" \
  'populate_with is in the configuration of the case'
test_that 'populate_with with a named test' run --command 'STRLEN key:__rand_int__' --set populate_with=set -o named
test_same 2000 "$(jq 'select(.type == "run").metrics.keyspace_hits' named)" 'each read finds its key'
test_that 'a mix is filled' run --mix "'GETRANGE key:__rand_int__ 0 1' 3, 'APPEND key:__rand_int__ x' 1" --set populate_with=set -o mixed
test_same 0 "$(jq 'select(.config.command == "mix").metrics.keyspace_misses' mixed)" 'the reads of a mix find their keys'
cat >own.json <<'END'
[{"commands": ["SET", "GETRANGE key:__rand_int__ 0 1"], "populate_with": "SET", "keyspacelen": [100],
  "requests": [1000], "clients": [2], "cluster_mode": [false, true]}]
END
test_that 'a configuration with populate_with' vkb-load -q --runs 1 -o configured own.json
test_same 'ok ok ok ok' "$(jq -r 'select(.type == "run").status' configured | xargs)" 'its runs are ok, on a cluster, too'
printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"valkey-server"}\n' a b >builds
test_that 'two builds are measured in slices' run --builds builds --command 'STRLEN key:__rand_int__' --set populate_with=set -o two
test_same '2000 2000' "$(jq 'select(.type == "run").metrics.keyspace_hits' two | xargs)" 'each build has been populated'
test_status 2 'a command that the server does not have fails its run' run --command 'NOSUCH a b'
test_match "does not know 'NOSUCH': ERR unknown command" .err 'the error has the answer of the server'
test_that 'a command of one word, besides the named tests,' run --command DBSIZE -n 100
test_same '["ok","DBSIZE",100]' "$(jq -c 'select(.type == "run") | [.status, .config.command, .metrics.requests]' .out)" 'is measured'
test_that 'one that is spelled like a named test' run --command INFO --command time -n 100
test_same 'ok INFO ok TIME' "$(jq -r 'select(.type == "run") | "\(.status) \(.config.command)"' .out | xargs)" 'is measured'
test_that 'the same in a mix' run --mix 'GET 3 randomkey 1' -n 100
test_same '["ok","GET"] ["ok","RANDOMKEY"] ["ok","mix"]' \
  "$(jq -c 'select(.type == "run") | [.status, .config.command]' .out | sort | xargs -d '\n')" 'is measured, too'
test_status 2 'a command that cannot be read is not run' run --command "SET 'a b"
test_match "a quote is not closed" .err 'the message gives the reason'

# --- a request

asked() { printf '%s\n' "$@" >request; }
asked '-t set,get' "-d '16,1024'" '  --pipeline=1 "--runs" 5' "--command 'SET a \"b c\"'"
test_that 'a request is read' planned --request request
test_same "$(ids -t set,get -d 16,1024 -P 1 --command 'SET a "b c"')" "$(ids --request request)" \
  'its plan is that of the options'
test_same "$(ids --request request)" "$(vkb-load --plan --request - <request | jq -r .id | xargs)" \
  'a request may come from stdin'
printf -- '-t\r\nset\r\n' >request
test_same SET-d3-P1-c50-k1000000 "$(ids --request request)" 'lines may end as on Windows'
for empty in '' ' ' "$(printf '\n\t\n')"; do
  printf %s "$empty" >request
  test_same 'SET-d3-P1-c50-k1000000 GET-d3-P1-c50-k1000000' "$(ids --request request)" \
    'an empty request is SET and GET'
done
asked '--duration 7' '-c 3'
test_same '[[7,3,10],[7,3,10]]' "$(planned --duration 9 -P 10 -c 5 --request request |
  jq -sc 'map([.config.duration_s, .config.clients, .config.pipeline])')" \
  'options of a request replace those of the command line; other options stay'
asked '-t set --runs 2 --duration 0.1 -c 2 -r 100'
test_that 'a load from a request' vkb-load -q --runs 9 --request request -o asked
test_same 2 "$(grep -c '"type":"run"' asked)" 'it has as many runs as requested'

bad() { # bad WHAT PATTERN WORD...: a request with these lines is refused
  what=$1 pattern=$2
  shift 2
  asked "$@"
  test_status 2 "$what is refused" vkb-load --plan --request request
  test_match "$pattern" .err "$what: the message gives the reason"
  test_absent '[^ -~]' .err "$what: the message is ASCII"
}
allowed=$(asked x; vkb-load --plan --request request 2>&1 | sed -n 's/.*options of a request are //p' | tr -d ',-')
test_same 'tests command mix clients pipeline datasize keyspacelen clustermode duration warmup runs set populate_with set iothreads set benchmarkthreads' \
  "$allowed" 'the message lists the options that a request may have'
vkb-load --dump-options | awk -F '\t' '{ print $2, $4 }' >options
tried=0
while read -r name arg; do
  case " $allowed " in *" $(echo "$name" | tr -d -) "*) continue ;; esac
  asked "-t set --$name$([ "$arg" = - ] || echo ' 1')"
  vkb-load --plan --request request >.out 2>.err
  [ $? -eq 2 ] && grep -q "unknown option '--$name'\|cannot ask for help" .err || echo "$name"
  tried=$((tried + 1))
done <options >passed
test_empty_file passed 'each other option of vkb-load is refused'
test_that 'there are more than 50 such options' test "$tried" -gt 50
for letter in o q v n p h V; do
  bad "the letter $letter" "unknown option '-$letter'|cannot ask for help" "-$letter 5"
done
bad 'a word' "has 'x', which is not an option" x
bad 'a FILE' "has 'set.json', which is not an option" set.json
bad 'a FILE behind --' "has 'set.json', which is not an option" '-- set.json'
bad 'a FILE that is stdin' "has '-', which is not an option" '-'
bad 'an open quote' "request 'request' cannot be read: a quote is not closed" "-t 'set"
bad 'an option without its value' "option '-P' needs an argument: LIST" -P
bad 'a wrong value' "option '-P': pipelines=1x: 'pipelines' must be a list of positive integers" -P 1x
bad 'a key that others may not set' "a request cannot set 'reference'" '-t set --set reference=/bin/sh'
bad 'a key that begins like one' "a request cannot set 'io-threadsx'" '-t set --set=io-threadsx=1'
# shellcheck disable=SC2016 # as it is
bad 'shell text as the name of a test' "option '-t': .* is not the name of a test" '-t "$(touch evil)`touch evil`;touch evil|touch evil"'
test_empty "$(find . -name evil)" 'it is not executed'
bad 'an escape' 'it has a control character' "$(printf -- '-t \033[31mset')"
bad 'a text that is not UTF-8' 'it is not UTF-8' "$(printf -- '-t \377')"
bad 'a form feed' 'it has a control character' "$(printf -- '-t set\f-P 1')"
printf -- '-t set\000get' >request
test_status 2 'a NUL is refused' vkb-load --plan --request request
test_match 'it has a control character' .err 'the message names control characters'
for n in 8192 8193; do
  perl -e 'print "-t set", " " x ($ARGV[0] - 6)' $n >request
  vkb-load --plan --request request >.out 2>long.$n
  echo $? >>long
done
test_same '0 2' "$(xargs <long)" 'a request has at most 8192 bytes'
test_match 'it is longer than 8192 bytes' long.8193 'the message has the limit'

# limit OPTION MOST BEYOND [WORD...]: MOST is accepted, BEYOND is refused.
limit() {
  option=$1 most=$2 beyond=$3
  shift 3
  case $option in *=) gap= ;; *) gap=' ' ;; esac
  asked "$* $option$gap$most"
  test_that "a request may have $option $most" planned --request request
  bad "$option $beyond" "option '${option%=}': $beyond is more than a request may ask for, which is $most" \
    "$* $option$gap$beyond"
}
limit --clients 10000 10001
limit --pipeline 1000 1001
limit --data-size 1048576 1048577 -r 100
limit --keyspacelen 10000000 10000001
limit '--set io-threads=' 128 129
limit '--set benchmark-threads=' 128 129
limit --duration 300 300.5 --runs 1
limit --warmup 300 300.5 --runs 1
bad 'a limit within a list' "option '--pipeline': 5000 is more" -P 1,5000,2
asked '-t set -r 3200 -d 1048576'
test_that 'values that take nearly 4 GiB pass' planned --request request
long=$(printf '%07000d' 0)
room() { # room WHAT WORD...: a request that can take too much memory is refused
  what=$1
  shift
  bad "$what" "can take [0-9.e+]+ GiB, and those of a request may take 4: ask for fewer or smaller keys \\('--keyspacelen'" "$@"
}
room 'more than 4 GiB of values' '-t set -r 4097 -d 1048576'
room 'a long command for each key' \
  "--command 'GET k:{key}' --set 'populate_with=SET k:{key} $long' -r 10000000"
room 'a long mix for each key' "--mix \"'SET k:{key} $long' 1\" -r 10000000 --duration 1"
room 'several values for each key' \
  "--command 'MSET a{key} __data__ b{key} __data__ c{key} __data__ d{key} __data__' -r 1000000 -d 1088 --duration 1"
room 'a large offset for each key' "--command 'SETRANGE k:{key} 51000000 x'"
bad 'an offset that is not a number' 'has an offset that is not a number, so its memory is not known' \
  "--command 'SETRANGE k 1__data__ x'"
room 'bits of each key' "--command 'SETBIT k:__rand_int__ __int:0:4294967295__ 1'"
room 'values of bit fields' "--command 'BITFIELD k:{key} SET u8 #__rand_int__ 1'"
room 'a string that grows' "--command 'APPEND k:__rand_int__ __data__' -d 1000 --duration 60"
room 'a list that grows' '-t lpush -d 1000 --duration 60'
room 'a hash that grows' "--command 'HSET h __seq__ __data__' -d 1000 --duration 60"
room 'a stream that grows' "--command 'XADD s * f __data__' -d 1000 --duration 60"
room 'copies of what the server was filled with' \
  "--command 'COPY a b:__rand_int__' --set 'populate_with=SETRANGE a 99000 x'"
room 'a result for each key' "--command 'BITOP NOT b:{key} a' --set 'populate_with=SETRANGE a 99000 x'"
room 'the table of LCS' "--command 'LCS a b' --set 'populate_with=MSET a __data__ b __data__' -d 100000 -r 1"
room 'requests without a reply' '-t set -r 10 -d 1000000 -c 1000 -P 100'
room 'replies that wait' '-t get -r 10 -d 1000000 -c 1000 -P 100'
room 'whole collections as replies' "--command 'SMEMBERS s' --set 'populate_with=SADD s __rand_int__' -P 100"
for good in '-t set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_600,mset,mget,xadd,xrange' \
  '-t lpush,sadd,hset,xadd -d 64 --duration 10' "--command 'XADD s MAXLEN ~ 1000 * f __data__' -d 1000 --duration 60" \
  "--command 'COPY key:__rand_int__ c:__rand_int__ REPLACE' --set populate_with=set" \
  "--command 'LRANGE l 0 99' --set 'populate_with=RPUSH l __data__' -P 100" "--command 'SETBIT b __int:0:4294967295__ 1'"; do
  asked "$good"
  test_that "$good passes" planned --request request
done

# --- its commands, compared with the categories of the server

# shellcheck disable=SC2016 # the shell that reads the lines expands them
sed 's/.*/echo & "$(valkey-cli -p "$VKB_PORT" acl cat & | xargs)"/' >categories <<'END'
read
write
dangerous
admin
scripting
END
test_that 'the categories of the server' vkb-serve -q -- sh ./categories
cp .out lists
in_list() { sed -n "s/^$1 //p" lists | tr ' ' '\n' | grep -v '|' | sort; }
sort -u - <<END >data
$(in_list read)
$(in_list write)
END
{ in_list dangerous; in_list admin; in_list scripting; } | sort -u >unsafe
allows() { # allows NAME...: prints the commands that a request may have
  for name; do
    asked "--command '$name k 1 k' --duration 0.1"
    planned --request request >/dev/null || ! grep -q 'may not have the command' .err || continue
    echo "$name"
  done
}
# shellcheck disable=SC2046 # words
allows $(cat unsafe) >.unsafe
test_empty_file .unsafe 'no command is allowed that the server lists as dangerous, as administration or as a script'
# shellcheck disable=SC2046 # words
allows $(comm -23 data unsafe) | sort >.data
test_same 'blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin lolwut' \
  "$(comm -23 data unsafe | comm -23 - .data | xargs)" \
  'all others that read or write are allowed, except those that block, and LOLWUT'
for name in SHUTDOWN 'CONFIG SET dir /tmp' 'REPLICAOF a 1' 'MODULE LOAD x' 'DEBUG SLEEP 9' 'ACL SETUSER a' \
  'EVAL "while true do end" 0' 'FUNCTION LOAD x' 'JSON.GET k' 'XREAD BLOCK 0 STREAMS s 0' 'SUBSCRIBE c' 'NOSUCH a'; do
  bad "$name behind another command" "may not have the command ${name%% *}: .* it may have those that read or write keys" \
    "--command 'GET a; 2 $name'"
  bad "$name in a mix" "may not have the command ${name%% *}: " "--mix \"'GET a' 1, '$(echo "$name x" | sed 's/"/\\"/g')' 1\""
  bad "$name to fill the server" "may not have the command ${name%% *}: " "-t get --set 'populate_with=$name x'"
done
numbers() { seq -s , "$1"; }
asked "-t set --runs 1 --duration 0.1 -P $(numbers 200)"
test_that '200 cases pass' planned --request request
bad '201 cases' 'the request has 201 cases, and may have 200' "-t set --runs 1 -P $(numbers 201)"
asked '-t set --runs 72 --duration 89 --warmup 10'
test_that 'two hours pass' planned --request request
bad 'more than two hours' 'takes about 122 minutes for each build, and may take 120' \
  '-t set --runs 73 --duration 89 --warmup 10'
bad 'more than two hours without a number of runs' 'takes about 200 minutes' \
  '-t set,get --duration 300 --warmup 299'
for words in 'set.json' '-t set' '--mix GET' '--command ping' '--replay x'; do
  asked '-t get'
  # shellcheck disable=SC2086 # words
  refuses "--request with $words is refused" "'--request' has the commands" --request request $words
done
test_status 2 'a request that is missing is an error' vkb-load --plan --request none
test_match "'none'" .err 'the error names the file'
test_litter 10 'no file is left'
test_done
