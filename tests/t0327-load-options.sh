#!/bin/sh
# Each key of a configuration that says what the load does has an option with the same
# meaning, and is in an example of vkb-config(5), or of vkb-record(1) for traces, which
# t0106 runs.
# sanitize: every option and key.
. "${0%/*}/lib.sh"

# Their examples that use vkb-load.
awk '/^\.Bd -literal/ {s = ""; inside = 1; next} /^\.Ed/ {if (s ~ /vkb-load/) printf "%s", s; inside = 0}
  inside {s = s $0 "\n"}' "$top/man/vkb-config.5" "$top/man/vkb-record.1" >examples
test_that 'vkb-config(5) has examples' test "$(grep -c vkb-load examples)" -gt 15

# same KEY JSON OPTION...: $base with the key has the same cases as $base with the
# option, and other cases than $base alone.
same() {
  same_key=$1 same_json=$2
  echo "$1" >>tried
  shift 2
  printf '{%s,"%s":%s}\n' "$base" "$same_key" "$same_json" >key.json
  printf '{%s}\n' "$base" >plain.json
  vkb-load --plan key.json | jq -S . >by.key
  vkb-load --plan "$@" plain.json | jq -S . >by.option
  vkb-load --plan plain.json | jq -S . >by.none
  test_that "$same_key: $same_json is $*" cmp by.key by.option
  test_status 1 "$same_key: the key changes the cases" cmp -s by.key by.none
  test_match "\"$same_key\": *[^ ]" examples "$same_key: vkb-config(5) has an example"
}
# quick KEY JSON OPTION...: the same for cases of -t.
quick() {
  quick_key=$1 quick_json=$2
  echo "$1" >>tried
  shift 2
  printf '{"commands":["SET"],"%s":%s}\n' "$quick_key" "$quick_json" >key.json
  vkb-load --plan key.json | jq -S . >by.key
  vkb-load --plan -t set "$@" | jq -S . >by.option
  test_that "$quick_key: $quick_json is -t set $*" cmp by.key by.option
  test_match "\"$quick_key\": *[^ ]" examples "$quick_key: vkb-config(5) has an example"
}

quick clients '[3,4]' -c 3,4
quick pipelines '[1,10]' -P 1,10
quick data_sizes '[100]' -d 100
quick keyspacelen '[5000]' -r 5000
base='"commands":["SET"]'
same requests '[300]' -n 300
same duration 2 --duration 2s
same warmup 3 --warmup 3s
same keys '"zipf:0.8"' --set keys=zipf:0.8
same values '"64-100 random"' --set 'values=64-100 random'
same ttl '"10-60"' --set ttl=10-60
same latency '"batch-first-byte"' --set latency=batch-first-byte
same reconnect 5 --set reconnect=5
same storm 0.5 --set storm=500ms
same idle_clients 7 --set idle_clients=7
same db 3 --set db=3
same tracking '"bcast"' --set tracking=bcast
same rate '"100-200/4"' --set rate=100-200/4
same slo '"p95<=2ms"' --set 'slo=p95<=2ms'
same verify true --set verify=true
same populate_with '"SET"' --set populate_with=SET
same sequential true --set sequential=true
same resp3 true --set resp3=true
same unixsocket true --set unixsocket=true
same tls_mode true --set tls_mode=true
same io-threads 3 --set io-threads=3
same benchmark-threads 3 --set benchmark-threads=3
same cluster_mode true --cluster-mode true
base='"commands":["SET"],"cluster_mode":true'
same cluster_nodes 5 --set cluster_nodes=5
same cluster_replicas 1 --set cluster_replicas=1
base='"commands":["GET"],"cluster_mode":true,"cluster_replicas":1'
same read_from '"replica"' --set read_from=replica
base='"commands":["SET"],"duration":1,"rate":1000'
same arrivals '"poisson"' --set arrivals=poisson
base='"commands":["SET"],"duration":1,"slo":"p99<=1ms"'
same arrivals '"poisson"' --set arrivals=poisson
base='"mix":"GET 9 SET 1"'
same mix_order '"turn"' --set mix_order=turn
echo '[{"mix":"SET 1","mix_order":"turn"},{"keys":"zipf:1","commands":["GET"]}]' >replaced.json
test_same 'turn GET 1 turn GET 1' "$(vkb-load --plan --set mix_order=turn --set 'mix=GET 1' replaced.json |
  jq -r '.config | .mix_order, .mix' | paste -sd ' ')" 'the order of a mix is that of the options, in any order of them'
test_same 'null null' "$(vkb-load --plan --set 'mix=GET 1' replaced.json |
  jq .config.mix_order | paste -sd ' ')" 'a mix does not get the order of the mix that it replaces'
test_same 'null true' "$(vkb-load --plan --set sequential=true replaced.json |
  jq '.config | select(.command == "GET") | .keys, .sequential' | paste -sd ' ')" \
  'a value replaces the one that excludes it, in either direction'
for off in sequential tls_mode cluster_mode; do
  test_same 'zipf:1 true' "$(echo '{"commands":["GET"],"keys":"zipf:1","unixsocket":true}' |
    vkb-load --plan --set $off=false - | jq -r '.config | "\(.keys) \(.unixsocket)"')" \
    "$off=false replaces nothing"
done
test_that 'values of which one is false do not exclude each other' \
  sh -c 'echo "{\"commands\":[\"GET\"]}" | vkb-load --plan --set unixsocket=true --set tls_mode=no -'
base='"commands":["SET"],"tls_mode":true'
same tls_ciphers '"ECDHE-RSA-AES256-GCM-SHA384"' --set tls_ciphers=ECDHE-RSA-AES256-GCM-SHA384
same tls_ciphersuites '"TLS_AES_128_GCM_SHA256"' --set tls_ciphersuites=TLS_AES_128_GCM_SHA256
same tls_protocol '"TLSv1.2"' --set tls_protocol=TLSv1.2
same tls_resumption true --set tls_resumption=true
test_status 2 'a key about TLS without TLS is an error' vkb-load --plan -t set --set tls_protocol=TLSv1.2
test_match "'tls_protocol' needs a 'tls_mode' of true" .err 'the error has the key that is missing'
printf '{"mix":"GET 9 SET 1"}\n' >key.json
test_same "$(vkb-load --plan key.json)" "$(vkb-load --plan --mix 'GET 9 SET 1')" 'mix: is --mix'
test_match '"mix": *[^ ]' examples 'mix: vkb-config(5) has an example'
printf '1700000000.000100 [0 127.0.0.1:5] "SET" "k" "v"\n' | vkb-record -q >trace
printf '{"replay":"trace","replay_speed":3}\n' >key.json
test_same "$(vkb-load --plan key.json)" "$(vkb-load --plan --replay trace --set replay_speed=3)" \
  'replay, replay_speed: are --replay and --set replay_speed'
test_match '"replay": *[^ ]' examples 'replay: vkb-record(1) has an example'
test_match '"replay_speed": *[^ ]' examples 'replay_speed: vkb-record(1) has an example'
test_status 2 '--replay with arrivals is an error' vkb-load --plan --replay trace --set arrivals=poisson
test_match "Cannot specify both 'replay' and 'arrivals'" .err 'the error has both keys'

# The first four are tried above in another form, the last two are files.
"$VKB_BUILD/unit/config" --set | sort >table
test_that 'the table of keys is read' test "$(wc -l <table)" -gt 40
printf '%s\n' commands mix replay replay_speed custom-server-config-file rdb | cat - tried | sort -u >known
test_empty "$(comm -3 table known)" 'each key that tells cases apart is tried here'

# --- --set

# scenarios OPTION...: prints the identities of a scenario and of a mixed one
scenarios() { vkb-load --plan "$@" scenarios.json | jq -c '[.config | .keys, .data_size, .values, .ttl, .resp3,
  (.writes[0] | .keys?, .data_size?)]'; }
echo '{"scenarios":[{"id":"a","test":"SET","sequential":true,"data_size":9},{"id":"b","type":"mixed",
  "writes":[{"id":"w","command":"SET {key} x","data_size":7}]}],"resp3":false}' >scenarios.json
test_same '["zipf:0.9",5,"1-9","5",true,null,null]' \
  "$(scenarios --set keys=zipf:0.9 --set values=1-9 --set ttl=5 --set resp3=yes | sort -u)" \
  'a key of scenarios is set in all of them, another in the configuration'
echo '{"scenarios":[{"id":"a","test":"SET"},{"id":"b","command":"GET {key}"}]}' >scenarios.json
test_same '["GET 1, SET 1","mix"]' \
  "$(vkb-load --plan --mix 'GET 1 SET 1' scenarios.json | jq -c '.config | [.mix, .command]' | sort -u)" \
  '--mix replaces the commands of scenarios'
for wrong in 'nonsense KEY=VALUE' "=5 KEY=VALUE" "clents=5 did you mean 'clients'" \
  "clients=x 'clients' must be a list of positive integers, not \"x\"" \
  "verify=maybe 'verify' must be true or false" "keys=zipf:x zipf:THETA" "modules=x write it into a configuration" \
  "slo=p98<=1ms use p50, " 'storm=-1s a positive number' 'commands= a non-empty list of non-blank strings'; do
  test_status 2 "--set '${wrong%% *}' is an error" vkb-load --plan -t set --set "${wrong%% *}"
  test_match "option '--set'.*${wrong#* }" .err "--set '${wrong%% *}': the error has the reason"
done
vkb-load --plan -t set >cases
test_status 2 '--set for cases is an error' vkb-load --plan --set keys=zipf cases
test_match "cases: '--set', '--mix' and '--replay' change configurations" .err 'the error says what they change'

# --- what is sent and when, with a virtual clock and always with one seed

case ${SANITIZE:-} in
*address*) ;;
*)
  gcc -O2 -shared -fPIC -o virtual.so "$tests/virtual.c"
  cat >sent <<'END'
cd "$1"
shift
LD_PRELOAD=$SCRATCH/virtual.so VIRTUAL_LOG=$PWD/log vkb-load -q --no-lock --flush --runs 1 --seed 1 --warmup 0 \
  --port "$VKB_PORT" --timeout 20s -c 1 -r 100 -n 1000 --set rate=1000 "$@" >run
END
  export SCRATCH="$scratch"
  # sent NAME OPTION...: writes what a load with these options sends to NAME/log
  sent() {
    mkdir "$1"
    test_that "$1" vkb-serve -q -- sh "$scratch/sent" "$@"
  }
  vary() { # vary LOG: prints the standard deviation of the gaps by their mean, in percent
    awk 'NR > 1 {d = $1 - l; n++; s += d; q += d * d} {l = $1}
      END {v = q / n - (s / n) ^ 2; printf "%.0f\n", 100 * sqrt(v > 0 ? v : 0) / (s / n)}' "$1"
  }
  orders() { # orders LOG: prints the sequences of four commands and how often each occurs, without those that fill the server
    tail -n 800 "$1" | awk '{a = a ($3 ~ /474554/ ? "G" : "S")} END {for (i = 1; i < length(a); i += 4) print substr(a, i, 4)}' |
      sort | uniq -c | xargs
  }
  sent constant -t set
  test_same 0 "$(vary constant/log)" 'constant arrivals: all gaps are equal'
  sent poisson -t set --set arrivals=poisson
  vary poisson/log >varies
  test_match '^(9[0-9]|10[0-9])$' varies 'Poisson arrivals: the standard deviation of the gaps is about their mean'
  sent turn --mix 'GET 3 SET 1' --set mix_order=turn
  test_same 1 "$(orders turn/log | wc -w | awk '{print $1 / 2}')" 'a mix in turn: the sequence of four commands is always the same'
  sent random --mix 'GET 3 SET 1'
  test_that 'a mix at random: the sequence of four commands varies' test "$(orders random/log | wc -w)" -gt 10
  ;;
esac
test_done
