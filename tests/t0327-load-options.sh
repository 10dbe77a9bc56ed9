#!/bin/sh
# Each key of a configuration that says what the load does has an option with the same
# meaning, and is in an example of vkb-config(5), which t0106 runs.
# sanitize: every option and key.
. "${0%/*}/lib.sh"

# The examples of vkb-config(5) that use vkb-load.
awk '/^\.Bd -literal/ {s = ""; inside = 1; next} /^\.Ed/ {if (s ~ /vkb-load/) printf "%s", s; inside = 0}
  inside {s = s $0 "\n"}' "$top/man/vkb-config.5" >examples
test_that 'vkb-config(5) has examples' test "$(grep -c vkb-load examples)" -gt 15

# same KEY JSON OPTION...: $base with the key has the same cases as $base with the
# option, and other cases than $base alone.
same() {
  same_key=$1 same_json=$2
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
same keys '"zipf:0.8"' --keys zipf:0.8
same values '"64-100 random"' --values '64-100 random'
same ttl '"10-60"' --ttl 10-60
same latency '"batch-first-byte"' --latency batch-first-byte
same reconnect 5 --reconnect 5
same storm 0.5 --storm 500ms
same idle_clients 7 --idle-clients 7
same db 3 --db 3
same tracking '"bcast"' --tracking bcast
same rate '"100-200/4"' --rate 100-200/4
same slo '"p95<=2ms"' --slo 'p95<=2ms'
same verify true --verify
same cluster_mode true --cluster-mode true
base='"commands":["GET"],"cluster_mode":true,"cluster_replicas":1'
same read_from '"replica"' --read-from replica
base='"commands":["SET"],"duration":1,"rate":1000'
same arrivals '"poisson"' --arrivals poisson
base='"commands":["SET"],"duration":1,"slo":"p99<=1ms"'
same arrivals '"poisson"' --arrivals poisson
base='"mix":"GET 9 SET 1"'
same mix_order '"turn"' --mix-order turn
base='"commands":["SET"],"tls_mode":true'
same tls_ciphers '"ECDHE-RSA-AES256-GCM-SHA384"' --tls-ciphers ECDHE-RSA-AES256-GCM-SHA384
same tls_ciphersuites '"TLS_AES_128_GCM_SHA256"' --tls-ciphersuites TLS_AES_128_GCM_SHA256
same tls_protocol '"TLSv1.2"' --tls-protocol TLSv1.2
same tls_resumption true --tls-resumption
base='"commands":["SET"]'
printf '{%s}\n' "$base" >plain.json
vkb-load --plan plain.json >by.none
test_same "$(cat by.none)" "$(vkb-load --plan --arrivals poisson --mix-order turn --tls-protocol TLSv1.2 \
  --tls-ciphers X --tls-ciphersuites X --tls-resumption plain.json)" \
  'options about rates, mixes and TLS do not change cases without them'
printf '{"mix":"GET 9 SET 1"}\n' >key.json
test_same "$(vkb-load --plan key.json)" "$(vkb-load --plan --mix 'GET 9 SET 1')" 'mix: is --mix'
test_match '"mix": *[^ ]' examples 'mix: vkb-config(5) has an example'
printf '1700000000.000100 [0 127.0.0.1:5] "SET" "k" "v"\n' | vkb-record -q >trace
printf '{"replay":"trace","replay_speed":3}\n' >key.json
test_same "$(vkb-load --plan key.json)" "$(vkb-load --plan --replay trace --replay-speed 3)" \
  'replay, replay_speed: are --replay and --replay-speed'
test_match '"replay": *[^ ]' examples 'replay: vkb-config(5) has an example'
test_match '"replay_speed": *[^ ]' examples 'replay_speed: vkb-config(5) has an example'
test_status 2 '--replay with --arrivals' vkb-load --plan --replay trace --arrivals poisson
test_match "'--replay' excludes .*'--arrivals'" .err 'the error says that a replay has recorded times'

# --- what is sent and when, with a virtual clock and always with one seed

case ${SANITIZE:-} in
*address*) ;;
*)
  gcc -O2 -shared -fPIC -o virtual.so "$tests/virtual.c"
  cat >sent <<'END'
cd "$1"
shift
LD_PRELOAD=$SCRATCH/virtual.so VIRTUAL_LOG=$PWD/log vkb-load -q --no-lock --flush --runs 1 --seed 1 --warmup 0 \
  --port "$VKB_PORT" --timeout 20s -c 1 -r 100 -n 1000 --rate 1000 "$@" >run
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
  sent poisson -t set --arrivals poisson
  vary poisson/log >varies
  test_match '^(9[0-9]|10[0-9])$' varies 'Poisson arrivals: the standard deviation of the gaps is about their mean'
  sent turn --mix 'GET 3 SET 1' --mix-order turn
  test_same 1 "$(orders turn/log | wc -w | awk '{print $1 / 2}')" 'a mix in turn: the sequence of four commands is always the same'
  sent random --mix 'GET 3 SET 1'
  test_that 'a mix at random: the sequence of four commands varies' test "$(orders random/log | wc -w)" -gt 10
  ;;
esac
test_done
