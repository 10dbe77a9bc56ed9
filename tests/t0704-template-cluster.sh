#!/bin/sh
# Commands with placeholders in a cluster: tags, rows, and requests that are
# redirected to the node that has their slot.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

awk 'BEGIN {print "id,t"; for (i = 1; i <= 2000; i++) print i ",t" i}' >d.csv
echo 'rename-command strlen lengthof' >renamed.conf
cat >script <<'END'
ports=
for node in $VKB_NODES; do ports="$ports -p ${node#*:}"; done
run() { "$ENGINE" $ports --cluster "$@"; }
all() { for node in $VKB_NODES; do valkey-cli -p "${node#*:}" "$@"; done; }
sum() { awk '{s += $1} END {print s}'; }
run -t 'SET k:{tag}:__rand_int__ x' -r 3000 -n 60000 -P 9 -T 2 -c 12 >set
run -t 'SETNX k:{tag}:__rand_int__ x' -r 3000 -n 9000 -P 9 >again
all --scan | sed 's/.*://' | sort >numbers
all flushall >/dev/null
run -t 'HSET doc:{tag}:__field:id__ t __field:t__' --dataset d.csv -n 2000 -P 7 -c 9 -T 2 >rows
all dbsize | sum >rows.size
all --scan | sed 's/.*://' | sort -n | uniq | wc -l | tr -d ' ' >rows.ids
all flushall >/dev/null
run -t 'HSET doc:__field:id__ t __field:t__ s __seq__' --dataset d.csv -n 2000 -P 7 -c 9 -T 2 >moved
all dbsize | sum >moved.size
all eval 'local bad = 0
  for _, k in ipairs(redis.call("keys", "doc:*")) do
    if redis.call("hget", k, "t") ~= "t" .. string.sub(k, 5) then bad = bad + 1 end
  end
  return bad' 0 | sum >moved.bad
all flushall >/dev/null
run -t 'LPUSH list:{tag} x' -n 900 -P 3 -c 9 >lists
all dbsize >lists.sizes
all flushall >/dev/null
run -t 'SET k:__rand_int__ x' --sequential -r 3000 -n 3000 -P 7 -c 5 -T 2 >order
all dbsize | sum >order.size
all flushall >/dev/null
run -t 'MULTI ; INCR {key} ; INCR n:{tag}:__rand_int__ ; INCR {key} ; EXEC' -r 100 -n 10000 -P 5 -c 9 -T 2 >line
all --scan | grep '^key:' >line.keys
all eval 'local odd = 0
  for _, k in ipairs(redis.call("keys", "key:*")) do
    if redis.call("get", k) % 2 ~= 0 then odd = odd + 1 end
  end
  return odd' 0 | sum >line.odd
run -t 'INCR {key} ; INCR {key}' --sequential -n 10 2>line.err || echo $? >line.status
all flushall >/dev/null
run -t 'SET {key} x' --sequential -r 3000 -n 3000 -P 7 -c 5 -T 2 >keys
all dbsize | sum >keys.size
all flushall >/dev/null
run -t INCR --spec zipf:0.9 -r 20 --seed 5 -n 100000 -P 1 -c 12 -T 2 >zipf
all eval 'local t = {}
  for _, k in ipairs(redis.call("keys", "*")) do
    t[#t + 1] = string.sub(k, -12) .. " " .. redis.call("get", k)
  end
  return t' 0 | sort >zipf.counts
all flushall >/dev/null
run -t 'SET foo:__rand_int__ x' -r 300 -n 20000 -P 7 -c 9 -T 2 >drawn
all dbsize >drawn.sizes
all flushall >/dev/null
run -t 'SET foo:__rand_int__ x' -r 1 -n 900 -P 7 -c 9 >single
run -t 'SET foo:__rand_int__ x; 2 SET __int:1:40__ x' -r 40 -R 20000 -n 900 -P 7 -c 9 >turns
all flushall >/dev/null
run --mix "'INCR hits' 1, 'INCR pages:__rand_int__' 3" --spec zipf:0.9 -r 200 -n 9000 -P 7 -c 9 -T 2 >mixed
all eval 'local n = 0
  for _, k in ipairs(redis.call("keys", "pages:*")) do n = n + redis.call("get", k) end
  return n' 0 | sum >mixed.pages
all get hits | grep '^[0-9]' >mixed.hits
run -t 'SET v:__rand_int__ __data__; GET v:__rand_int__' --verify -r 90 -d 40 -n 9000 -P 7 -c 9 >verified
run -t 'LENGTHOF v:__rand_int__' -r 90 -n 900 -P 7 -c 9 >renamed
END
ENGINE=$engine
export ENGINE
test_that 'the script runs on a cluster' vkb-serve -q --primaries 3 --config-file renamed.conf -- sh -u ./script

test_same '60000 9000' "$(value requests set) $(value requests again)" 'all requests with tags are made'
test_same '0 0' "$(value errors_total set) $(value errors_total again)" 'requests with tags go to the right node'
test_same 0 "$(uniq -d numbers | wc -l | tr -d ' ')" 'each number has one tag'
test_that 'more than 1000 numbers are used' test "$(wc -l <numbers)" -gt 1000
test_same 0 "$(awk '$1 + 0 >= 3000' numbers | wc -l | tr -d ' ')" 'the numbers are below keyspacelen'
test_same '2000 0 2000 2000' \
  "$(value requests rows) $(value errors_total rows) $(cat rows.size) $(cat rows.ids)" \
  'each row is sent once'
test_same '2000 2000 0' "$(value requests moved) $(cat moved.size) $(cat moved.bad)" \
  'a request without a tag is sent again to its node'
test_same 0 "$(value refused moved)" 'no redirected request is refused'
test_match '^error MOVED: [1-9]' moved 'redirections are counted'
test_same '20000 0 0' "$(value requests drawn) $(value errors_total drawn) $(value refused drawn)" \
  'a key without a tag that has a random number goes to its node'
test_same '300 3' "$(awk '{n += $1} END {print n}' drawn.sizes) $(awk '$1 > 60' drawn.sizes | wc -l | tr -d ' ')" \
  'all keys of the key space are used, on each node'
test_same '900 0' "$(value requests single) $(value errors_total single)" 'that holds for one key'
test_same '900 0' "$(value requests turns) $(value errors_total turns)" \
  'and for commands in turn with a rate and numbers of a range'
test_same '9000 0' "$(value requests mixed) $(value errors_total mixed)" \
  'in a mix, also with a key that is always the same'
test_same 9000 "$(cat mixed.pages mixed.hits | awk '{n += $1} END {print n}')" 'each request of the mix is made once'
test_that 'the command with one key has its part of the mix' \
  test "$(cat mixed.hits)" -gt 2000 -a "$(cat mixed.hits)" -lt 2500
test_same '9000 0 0' "$(value requests verified) $(value errors_total verified) $(value wrong verified)" \
  'and if the values are verified'
test_same '900 0' "$(value requests renamed) $(value errors_total renamed)" \
  'of a command that vkb does not know, the server says which word is the key'
test_same 900 "$(value requests lists)" 'a key without a number is accepted'
test_same 3 "$(awk '$1 > 1' lists.sizes | wc -l | tr -d ' ')" 'such a key has slots on each node'
test_same '3000 3000' "$(value requests order) $(cat order.size)" '--sequential makes each number once'
test_same '10000 0 0' "$(value requests line) $(value errors_total line) $(cat line.odd)" \
  'a transaction has one key in one slot and is complete'
test_same '100 100' "$(wc -l <line.keys | tr -d ' ') $(sed 's/.*://' line.keys | sort -u | wc -l | tr -d ' ')" \
  'all keys are used, each with its own tag'
test_same 2 "$(cat line.status)" 'several commands with {key} and --sequential are an error'
test_match "keys in sequence need one command, but \{key\} is in several" line.err 'the error has the reason'
test_same '3000 3000' "$(value requests keys) $(cat keys.size)" 'one command with {key} and --sequential is accepted'

# Twenty keys on three nodes: chi-squared of their counts, with 19 degrees of
# freedom, compared with 1 / rank^.9 and with an exponent that is wrong by
# 10 %. The order of the threads is not fixed, so no two runs are equal: the unit test of
# the chooser is more exact.
cat >chi.pl <<'END'
my ($space, %count) = 20;
my $b = 1; $b++ while 1 << $b < $space;
my ($h, $mask) = (int(($b + 1) / 2), (1 << $b) - 1);
while (<STDIN>) { my ($k, $n) = split; $count{$k + 0} = $n; $all += $n }
use integer;
my @key = map { my $v = $_;
  do { $v = ($v * (0x9e3779b97f4a7c15 & $mask) + (0x632be59bd9b4e019 & $mask)) & $mask;
    $v ^= $v >> $h } while $v >= $space;
  $v } 0 .. $space - 1;
no integer;
for my $theta (.9, .9 * 1.1) {
  my ($sum, $chi) = (0, 0);
  $sum += ($_ + 1) ** -$theta for 0 .. $space - 1;
  for (0 .. $space - 1) {
    my $e = $all * ($_ + 1) ** -$theta / $sum;
    $chi += (($count{$key[$_]} // 0) - $e) ** 2 / $e;
  }
  print $chi < 62 ? "fits" : "differs", " "; # p = 2e-6
}
print "$all\n";
END
test_same 'fits differs 100000' "$(perl chi.pl <zipf.counts)" \
  'in a cluster keys have the distribution of the whole key space'
test_same 0 "$(value errors_total zipf)" 'keys of that distribution go to the right node'

cat >populate.json <<'END'
{"keyspacelen": [3001], "cluster_mode": true, "cluster_nodes": 3,
 "benchmark-threads": 2, "test_groups": [{"group": 1, "scenarios": [
  {"id": "a", "type": "read", "command": "GET k:{tag}:__rand_int__", "requests": 9000,
   "populate_with": "SET k:{tag}:__rand_int__ x"},
  {"id": "b", "type": "read", "command": "GET key:{tag}:__rand_int__", "requests": 9000,
   "populate_with": "set"}]}]}
END
test_that 'populate_with in a cluster is accepted' vkb-load --runs 1 populate.json
test_same '["a",100] ["b",100]' "$(jq -c 'select(.type == "run") |
  [.config.scenario, .metrics.hit_rate_percent]' .out | xargs -d '\n')" 'populate_with writes all keys of each node'
cat >moved.json <<'END'
[{"cluster_mode": true, "cluster_nodes": 3, "test_groups": [{"group": 1, "scenarios": [
   {"id": "c", "type": "write", "command": "SET foo:__seq__ x", "requests": 900}]}]}]
END
test_status 2 'a load that is redirected fails' vkb-load --runs 1 moved.json
test_match "[5-7][0-9][0-9] errors in 900 requests, more than 'max_errors_percent' \(1\) allows, the first: MOVED [0-9]+ [0-9.:]+; put \{tag\} into the keys" \
  .err 'the message has the number, the limit, the first error and advice'
cat >unserved.json <<'END'
[{"cluster_mode": true, "cluster_nodes": 3, "custom-server-configs": {"cluster-require-full-coverage": "no"},
  "test_groups": [{"group": 1, "scenarios": [{"id": "d", "type": "write", "command": "SET foo:__rand_int__ x",
   "duration": 0.3, "setup_commands": ["CLUSTER DELSLOTSRANGE 0 1999"]}]}]}]
END
test_status 2 'a load on a cluster that does not serve all slots fails' vkb-load --runs 1 unserved.json
# On a slow machine the load may end before one of the other requests is answered.
test_match "(errors in [0-9]+ requests, more than 'max_errors_percent' \(1\) allows, the first|no request was answered): CLUSTERDOWN Hash slot not served; does the cluster serve all slots\?" \
  .err 'the message has the error of such a slot, and what to look at'
test_same true "$(jq -s 'map(select(.type == "run")) | length == 1 and .[0].status == "failed" and .[0].errors.CLUSTERDOWN > 0' .out)" \
  'the failed run has the number of these errors'
test_done
