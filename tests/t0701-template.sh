#!/bin/sh
# Commands with placeholders on a real server: it receives what the text means.
# sanitize: templates.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

cat >script <<'END'
run() { "$ENGINE" -p "$VKB_PORT" -r 1000 "$@"; }
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
run -t 'SET "k\x01\xff__rand_1st__" "\x00__rand_1st__\r\n"' -n 3000 -P 9 -T 2 >set
cli --scan | head -n 1 >key
cli eval 'local bad = 0
  for _, k in ipairs(redis.call("keys", "*")) do
    local n = string.match(k, "^k\1\255(%d%d%d%d%d%d%d%d%d%d%d%d)$")
    if not n or tonumber(n) >= 1000 or redis.call("get", k) ~= "\0" .. n .. "\\r\\n"
    then bad = bad + 1 end
  end
  return bad' 0 >bad
cli flushall >/dev/null
run -t 'SET k:__rand_int__ __data__' -d 20000 -n 1000 --sequential -P 30 -T 2 >seq
cli dbsize >seq.size
cli strlen k:000000000999 >seq.len
cli flushall >/dev/null
run -t 'SET k:__seq__ x' -t 'SETNX k:__seq__ y' -n 5011 -P 7 -T 3 -c 6 >two
cli dbsize >two.size
cli exists k:000000000000 k:000000010021 k:000000010022 >two.ends
cli flushall >/dev/null
run -t '3 INCR a ; INCR b' -n 4000 -c 1 -P 10 >weights
cli mget a b >weights.got
run -t 'MULTI ; INCR c ; EXEC' -n 3000 -P 7 -c 1 >multi
cli get c >multi.got
run -t 'SET t{tag}:__rand_int__ x' -n 10 >tag
cli keys 't{tag}:*' >tag.got
run -t 'HSET k v' -n 10 >wrong
cli set s x >/dev/null
run -t '2 LPUSH s x ; NOSUCH ; PING' -n 40 -c 1 >kinds
run -t 'SET k:__rand_int__ x' -D 0.5 -R 2000 -P 3 >open
cli flushall >/dev/null
cli mset k:000000000000 x k:000000000002 y >/dev/null
run -t 'get k:__seq__' -n 8 >hits
run -t 'SET latest:__rand_int__ x' --sequential -n 1000 >/dev/null
run -t 'SET latest:__seq__ x' -t 'GET latest:__rand_int__' --spec latest -n 5000 -c 2 >latest
cli exists latest:000000001000 latest:000000005999 latest:000000006000 >latest.ends
run -t 'MGET none k:__seq__ k:000000000002' -n 4 >hits3
run -t 'EXISTS k:__seq__' -n 4 >hits0
run -t 'EXISTS k:__seq__ none' -n 4 >hits2
run -t 'HGETALL none' -n 4 >nohits
cli hset h f v >/dev/null
cli config resetstat >/dev/null
run -3 -t 'get k:__seq__' -n 8 -c 4 >hits3nil
run -3 -t 'HGETALL h' -n 100 -P 7 -c 4 >maps
cli info commandstats >stats
run -t 'SET k:__nope__ x' -n 5 2>unknown; echo $? >>unknown
run -t 'SET k:__field:f__ x' -n 5 2>nodata; echo $? >>nodata
END
ENGINE=$engine
export ENGINE
test_that 'the script runs on a server' vkb-serve -- sh script

test_same '3000 0' "$(value requests set) $(value errors_total set)" 'a text with bytes of all kinds is sent'
test_same 0 "$(cat bad)" 'a placeholder has one number in both places, below keyspacelen'
test_same '1000 20000' "$(cat seq.size) $(cat seq.len)" '--sequential makes each number once'
test_same '5011 5011' "$(value requests two | xargs)" 'two streams run at once'
test_same 10022 "$(cat two.size)" '__seq__ gives each number once'
test_same 2 "$(cat two.ends)" '__seq__ begins with 0'
test_same '3000 1000' "$(xargs <weights.got)" 'commands are sent in turn by their weights'
test_same '1000 0' "$(cat multi.got) $(value errors_total multi)" 'a transaction is sent whole'
test_same 10 "$(grep -c '^t{tag}:0000' tag.got)" 'without a cluster {tag} is unchanged'
test_same '10 10' "$(value requests wrong) $(value refused wrong)" 'an error is counted as a refused request'
test_match '^error ERR: ' wrong 'the first error is printed'
test_same 'WRONGTYPE: 20: ERR: 10:' "$(awk '$1 == "error" {print $2, $3}' kinds | xargs)" 'errors are counted by kind'
test_match '^offered_rps (19|20)[0-9][0-9]' open 'open loop sends the text at its rate'
test_same '25 50 50' "$(for i in hits hits3 hits0; do value hit_rate_percent $i; done | xargs)" \
  'the hit rate of reads'
test_empty "$(value hit_rate_percent hits2; value hit_rate_percent nohits)" 'no hit rate if the replies do not show hits'
test_same 25 "$(value hit_rate_percent hits3nil)" 'a nil of RESP3 is a miss'
test_same '100 0' "$(value requests maps) $(value errors_total maps)" 'a map of RESP3 is a reply'
test_match '^cmdstat_hello:calls=8,' stats 'HELLO is sent only with -3'
test_match "unknown placeholder '__nope__': use '__rand_int__'" unknown 'the error names an unknown placeholder'
test_match '^2$' unknown 'an unknown placeholder is exit 2'
test_match 'uses a field, but the case has no dataset' nodata 'the error says that a field needs a dataset'
test_match '^2$' nodata 'a field without a dataset is exit 2'
test_same '5000 2' "$(value requests latest | head -n 1) $(cat latest.ends)" \
  'with latest keys __seq__ begins after the key space'
test_that 'a reader of the latest keys finds them' \
  test "$(awk '$1 == "hit_rate_percent" { n = $2 } END { print int(n) }' latest)" -ge 90
test_done
