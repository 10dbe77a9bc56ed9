#!/bin/sh
# Values of different sizes and contents, and times to live, on a real server.
# sanitize: values.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

cat >script <<'END'
run() { "$ENGINE" -p "$VKB_PORT" -r 1000 "$@"; }
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
sizes() { cli eval 'local t = {}
  for i = 0, 999 do t[i + 1] = redis.call("strlen", string.format("key:%012d", i)) end
  return t' 0; }
run -t SET --values 64-1024 --sequential -n 1000 -P 9 -c 3 -T 2 >set
sizes >set.sizes
cli flushall >/dev/null
run --fill -t GET --values '16:80,1024:15,4096:5 random' -n 5000 -P 7 -c 6 -T 2 --seed 3 >get
sizes >get.sizes
cli flushall >/dev/null
run --fill -t GET --values '16:80,1024:15,4096:5 random' -n 500 --seed 4 >get2
sizes >get2.sizes
cli flushall >/dev/null
run -t 'HSET h{key} f __data__ g <__data__>' --values 1-30 -n 9000 -P 20 -c 5 -T 2 >pieces
cli eval 'local bad = 0
  for _, k in ipairs(redis.call("keys", "h*")) do
    local f, g = redis.call("hget", k, "f"), redis.call("hget", k, "g")
    if #f < 1 or #f > 30 or #g < 3 or #g > 32 or not string.match(g, "^<.*>$") then bad = bad + 1 end
  end
  return bad' 0 >pieces.bad
cli flushall >/dev/null
run -t MSET --values '300 random' -n 2000 -P 3 -c 5 -R 20000 >mset
cli eval 'local seen, n = {}, 0
  for _, k in ipairs(redis.call("keys", "*")) do
    local v = redis.call("get", k)
    if #v == 300 and not seen[v] then n = n + 1 end
    seen[v] = true
  end
  return {n, redis.call("dbsize")}' 0 >mset.got
cli flushall >/dev/null
run -t LPOP --values 1-200 -n 3000 -P 7 >pop
cli flushall >/dev/null
run -t LPOP --values '30000 random' -P 100 -c 1 -n 450 --timeout 5 >refill
cli llen mylist >refill.got
run -t SET --values '400000 random' -n 50 -P 2 -c 2 >large
cli flushall >/dev/null
run -t SET --ttl 5000 --sequential -n 1000 -P 9 >ttl
cli ttl key:000000000999 >ttl.got
cli flushall >/dev/null
run -t SET --ttl 1000-5000 --values 9-12 --sequential -n 1000 -P 9 >ttls
cli eval 'local t = {}
  for i = 0, 999 do t[i + 1] = redis.call("ttl", string.format("key:%012d", i)) end
  return t' 0 >ttls.got
END
ENGINE=$engine
export ENGINE
test_that 'the script runs on a server' vkb-serve -- sh script

for f in set get get2 pieces mset pop refill large ttl ttls; do
  test_same 0 "$(value errors_total $f)" "$f has no errors"
done
# Chi-squared of ten equal cells of 64-1024, 9 degrees of freedom, p = 1e-6.
test_same '1000 1 1' "$(awk '{n[int(($1 - 64) / 96.1)]++; if ($1 < 64 || $1 > 1024) bad = 1}
  END {for (i = 0; i < 10; i++) chi += (n[i] - 100) ^ 2 / 100
    print NR, !bad, (chi < 46)}' set.sizes)" 'the sizes of a range are equally frequent'
test_same '16 1024 4096' "$(sort -nu get.sizes | xargs)" 'only the sizes of the list occur'
test_same '1' "$(awk '{n[$1]++}
  END {chi = (n[16] - 800) ^ 2 / 800 + (n[1024] - 150) ^ 2 / 150 + (n[4096] - 50) ^ 2 / 50
    print (chi < 28)}' get.sizes)" 'the sizes have the frequencies of their weights, also in values that are read'
test_that 'each key has the same size in every run' cmp get.sizes get2.sizes
test_same '1 0' "$(awk '$1 == "requests" {print ($2 == 450)}' refill) $(cat refill.got)" \
  'a popped list is refilled, also with more values than were prepared'
test_same 100 "$(value hit_rate_percent get)" 'all keys exist'
test_same 0 "$(cat pieces.bad)" 'a value can be a word or a part of one'
test_same '1 1000' "$(xargs <mset.got | awk '{print ($1 > 700), $2}')" 'random values differ'
test_same 1 "$(awk '{print ($1 > 4000 && $1 <= 5000)}' ttl.got)" 'SET has a time to live'
test_same '1000 1 1' "$(awk '{if ($1 < 900 || $1 > 5000) bad = 1; sum += $1}
  END {print NR, !bad, (sum / NR > 2700 && sum / NR < 3200)}' ttls.got)" 'SET has a time to live from a range'

cat >plan.json <<'END'
[{"commands": ["SET", "GET"], "values": ["1024", "1024:3 constant", "64-1024", "32:1,16:4 random"],
  "pipelines": [1], "clients": [1], "keyspacelen": [10], "requests": [100], "warmup": 0,
  "cluster_mode": false, "tls_mode": false}]
END
test_that 'a plan with values is accepted' vkb-load --plan plan.json
test_same 'SET 1024 - GET 1024 - SET 544 64-1024 GET 544 64-1024 SET 19 16:80,32:20 random GET 19 16:80,32:20 random' \
  "$(jq -r '.config | [.command, .data_size, .values // "-"] | join(" ")' .out | xargs)" \
  'equal values are one case, and data_size is the mean'
test_that 'values and ttl are accepted by --set' vkb-load --plan --set 'values=5 compressible:2' --set ttl=7-7 plan.json
test_same '5 compressible:2 7' "$(jq -r '.config | [.values, .ttl] | join(" ")' .out | sort -u)" \
  'the options replace the values of the case'
test_status 2 'an invalid text of values is an error' vkb-load --plan --set values=9-8 plan.json
test_match "option '--set': values=.*invalid text .9-8.: use bytes such as" .err 'the error has an example of valid values'
test_status 2 'an invalid text of ttl is an error' vkb-load --plan --set ttl=1m plan.json
test_match "option '--set': ttl=.*invalid text .1m.: use seconds such as 60" .err 'the error has an example of a valid ttl'
test_status 2 'ttl for GET is an error' vkb-load --runs 1 --set ttl=10-60 plan.json
test_match "'ttl' is for SET; .* 'SET \{key\} __data__ EX __int:10:60__', not GET" .err 'the error names the command to use'
sed 's/"clients": .1./"clients": [1000000]/; s/"values": .*/"values": "536870912 random",/' plan.json >large.json
test_status 2 'values larger than the memory are an error' vkb-load --runs 1 large.json
test_match 'the values of its requests take 5[0-9]*T?[0-9.]*[TP]?B of memory, and' .err 'the error has the sizes'
jq -c '.[0].values = ["64-1024 random", "100-200"] | .[0].commands = ["SET"]' plan.json >names.json
test_that 'runs with values are accepted' vkb-load -q --runs 2 -o names.jsonl names.json
vkb-stats names.jsonl >names.stats
test_that 'a comparison of cases with values is accepted' vkb-compare --on-insufficient ok names.stats names.stats
test_match 'SET values=64-1024 random' .out 'the name of a case has its values'
test_absent 'data_size=' .out 'the name of a case has no data_size then'
test_done
