#!/bin/sh
# Lines as the documentation of valkey-benchmark, valkey-cli and memtier_benchmark has
# them: behind 'vkb load' each runs, or is answered by what to type.
. "${0%/*}/lib.sh"

test_server 'lines that were copied'
printf '{"type":"spec","v":1,"id":"other","config":{}}\n' >spec
test_other spec

# Each line is what the answer has, or 'runs', and the words.
cat >lines <<'END'
runs|-h 127.0.0.1 -p PORT -n 100000 -c 20 -t set
runs|-h localhost -p PORT -c 100 -n 100000 -t SET,GET
runs|-h 127.0.0.1 -p PORT -t set,lpush -n 100000 -q
runs|-p PORT -t ping,set,get -n 100000 -q
runs|-p PORT -t get -r 10000000 -n 40000000 -P 12 -q
runs|-h127.0.0.1 -p PORT -t set -d 512 -r 3000000 -c 650 -n 1000000
runs|-u valkey://127.0.0.1:PORT -t get -n 1000
runs|-p PORT -t set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_600,mset -n 1000 -q
runs|-h 127.0.0.1 -p PORT --duration 10 --warmup 2 -t set
set VKB_PASSWORD, as arguments can be read|-h 127.0.0.1 -p PORT -a verysecret -t set
set VKB_PASSWORD|-h 127.0.0.1 -p PORT --pass verysecret ping
set VKB_PASSWORD, as arguments|-h 127.0.0.1 -p PORT --password=verysecret -t set
set VKB_PASSWORD, as arguments|-h 127.0.0.1 -p PORT --passwrd=verysecret -t set
taken from VKB_PASSWORD, which is not set|--user bench -h 127.0.0.1 -p PORT -t set
'vkb stats --text FILE' is a table|-t ping,set,get -n 100000 --csv
unknown option '--csv,'; if '--csv' is meant: runs go to '-o FILE'|-t set --csv,
write its list without blanks: -t set,get|-p PORT -t set, get -q
write its list without blanks: -t set,get|-p PORT -t set , get
write its list without blanks: -t set,get|-p PORT -t set get
a name in the list 'set,' is empty|-p PORT -t set, -n 100
--command 'eval '\''return redis.call("ping")'\'' 0'|-r 10000 -n 10000 eval 'return redis.call("ping")' 0
--command 'lpush mylist __rand_int__'|-r 10000 -n 10000 lpush mylist __rand_int__
--command ping|-h 127.0.0.1 -p PORT ping
--command 'SET a 1'|-h localhost -p PORT SET a 1
'--command'|-x -n 1000 set key
--set resp3=true|-3 -t set
'/tmp/none.sock'|-s /tmp/none.sock -t set
the name in '--host'|--tls --sni valkey.example -t set
'--cacert FILE'|--tls --cacertdir /etc/ssl/certs -t set
the tests are PING_INLINE,|-t fcall
did you mean 'LRANGE_|-t lrange_10
--set benchmark-threads=N|-t set -d 512 -r 3000000 -c 650 --threads 50 -n 1000
a running cluster is recognized|-h 127.0.0.1 --cluster -t set,get -c 100
--set rate=N|-t set --rps 10000
--set tracking=on|-t get --enable-tracking
--set db=N|-t get --dbnum 3
--set reconnect=1|-t get -k 0
'--budget TIME'|-t get -l
--set idle_clients=N|-I -c 1000
--set sequential=true|-t set --sequential -r 1000
-t ping -c 1|-h 127.0.0.1 -p PORT --latency
this is for valkey-cli|-p PORT --bigkeys
this is for valkey-cli|-p PORT --stat
vkb env --check|--intrinsic-latency 100
from 1 to 9000000000000000|-p PORT -t get -n 1M
the protocol is RESP2|-s 127.0.0.1 -p PORT --protocol=redis -c 100 -t 10 --pipeline=100 --data-size=32
'-h HOST'|-s 127.0.0.1 -p PORT --pipeline=20 --clients=2 --requests=100 --data-size=32
--mix|--ratio=1:0 --test-time=60 --rate-limiting=100 -t 2 -c 50 --key-pattern=P:P
'--runs N'|-p PORT --run-count=3 --requests=1000
--set keys=|-p PORT --key-pattern=R:R
-r N|-p PORT --key-maximum=1000000 --key-minimum=1
--set values=MIN-MAX|--data-size-range=32-1024 --expiry-range=10-60
__key__|-p PORT --command="SET bench:__key__ __data__" -d 256
leave it out|valkey-benchmark -t set -n 1000
leave it out|redis-benchmark -p PORT -q -n 1000
leave it out|memtier_benchmark -s 127.0.0.1 -p PORT -t 4
write '-h HOST -p PORT'|-h 127.0.0.1:PORT -t set
by '--uri'|valkey://default:verysecret@127.0.0.1:PORT -t set
unknown option '--raw' (see|-p PORT --raw
unknown option '--pipe' (see|-p PORT --pipe
END

while IFS='|' read -r answer words; do
  eval "set -- $(printf '%s\n' "$words" | sed "s/PORT/$port/g")"
  # In the end there are few requests, instead of a time.
  case $answer,$words in
  runs,*--duration*) set -- "$@" --duration .05 --warmup 0 --runs 1 -r 100 ;;
  runs,*) set -- "$@" -n 200 --runs 1 -r 100 -c 4 ;;
  esac
  vkb load "$@" >out 2>err </dev/null
  status=$?
  if [ "$answer" = runs ]; then
    test_same '0 ok' "$status $(jq -r .status out | sort -u | paste -s)" "runs: $words"
  else
    test_same "2 $(grep -cF -e "$answer" err)" "$status 1" "is answered: $words"
    test_empty_file out 'nothing else is printed'
  fi
  test_that 'the answer has at most three lines' test "$answer" = runs -o "$(wc -l <err)" -le 3
  test_absent verysecret err 'no password is repeated'
done <lines
test_that 'thirty and more lines were tried' test "$(wc -l <lines)" -gt 30
test_same 0 "$(valkey-cli -p "$port" dbsize)" 'the server is empty as before'

# --- the same of another program that connects

test_status 2 'a password as an argument of vkb record' vkb record -h 127.0.0.1 -p "$port" -a verysecret
test_same "vkb-record: unknown option '-a'; set VKB_PASSWORD, as arguments can be read by all users" \
  "$(cat .err)" 'is answered in one line'
test_that 'vkb record -h is help' vkb record -h
test_match '^usage: vkb-record' .out 'which is printed'
test_done
