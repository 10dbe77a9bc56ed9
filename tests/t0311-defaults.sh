#!/bin/sh
# vkb-config(5) and the program agree about defaults and limits. Each default of the
# page is what a configuration without the key has, and each limit is the last valid
# value. A default or limit of the page that this script does not know is an error, so
# that no new key is forgotten.
. "${0%/*}/lib.sh"
page=$top/man/vkb-config.5

# The defaults of the page, as "PLACE.KEY DEFAULT".
perl "$tests/pagekeys.pl" "$page" >rows
awk -F '\t' '$3 != "" { print $1, $3 }' rows >said

# plan PLACE TEXTS: prints the plan of a configuration with these "KEY":VALUE texts, and
# its errors on stderr. The checks below run twice: the first time plan only writes down
# what is asked, and all plans are then made in one go.
plain='"commands":["SET"],"keyspacelen":[1000],"data_sizes":[16],"pipelines":[1],"clients":[1],"requests":[10],"cluster_mode":false,"tls_mode":false,"warmup":0'
mixed='"mix":"GET 1"'
plan() {
  if [ "$asking" ]; then
    printf '%s\t%s\n' "$1" "$2" >>asked
    return
  fi
  n=$(grep -nFx -m 1 -- "$1	$2" asked)
  cat "plans/${n%%:*}"
  cat "errors/${n%%:*}" >&2
}
# make_plans: makes the plans of what was asked. Of a key that is there twice the last one
# counts; jq removes the other.
make_plans() {
  sort -u asked -o asked
  jq -R -c --argjson plain "{$plain}" '
    {command: "SET key:__rand_int__ __data__"} as $write |
    {cluster_mode: false, tls_mode: false} as $group |
    split("\t") as [$place, $texts] | ("{" + $texts + "}" | fromjson) as $more |
    if $place == "config" then
      $plain * $more | if .mix then del(.commands) else . end
    elif $place == "cluster" then $plain * {cluster_mode: true} * $more
    elif $place == "group" then
      $group + {test_groups: [{scenarios: [{id: "a"} + $write]} * $more]}
    elif $place == "scenario" then
      $group + {test_groups: [{group: 1, scenarios: [$write * $more |
        if .mix then del(.command) else . end]}]}
    else
      $group + {test_groups: [{group: 1, scenarios: [{id: "a", type: "mixed", clients: 5,
        duration: 7, writes: [$write * $more], reads: [{command: "GET key:__rand_int__"}]}]}]}
    end | [.]' asked >configs
  mkdir plans errors
  n=0
  while read -r config; do
    n=$((n + 1))
    printf '%s\n' "$config" >c.json
    echo "$n"
    vkb-load --plan c.json 2>"errors/$n"
  done <configs | jq -c -S 'if type == "number" then . else del(.scene) end' |
    awk '/^[0-9]+$/ { file = "plans/" $0; printf "" >file; next } { print >file }'
}

# same_default PLACE KEY DEFAULT OTHER [MORE]: a configuration with the default has the
# plan of one without the key; a configuration with another value does not. MORE is what
# the key needs.
same_default() {
  more=${5:+$5,}
  without=$(plan "$1" "${more%,}")
  test_that "$1 $2: a configuration without it has a plan" test "$without"
  test_same "$without" "$(plan "$1" "$more\"$2\":$3")" \
    "$2: the default is $3, as on the page"
  test_that "$2: $4 gives another plan" test "$without" != "$(plan "$1" "$more\"$2\":$4")"
}

# limit PLACE KEY VALUE BEYOND: VALUE is valid, BEYOND is refused with the path of the
# key.
limit() {
  test_that "$2: $3 passes" test "$(plan "$1" "\"$2\":$3")"
  plan "$1" "\"$2\":$4" >out 2>err
  test_empty_file out "$2: $4 has no plan"
  test_match "$2.*: " err "$2: the error for $4 has the path"
}

# The kinds of values of the page, each with its limits.
awk -F '\t' '{ sub(/.*\./, "", $1); print $1, $2 }' rows >keys
sed 's/^[^ ]* //; s/^a list of /a /; s/, or a list of them$//; s/ or a list of .*//' keys |
  sed 's/positive integers/positive integer/' | sort -u >kinds

check_defaults() {
while read -r name default; do
  section=${name%%.*} key=${name#*.}
  unquoted=$(printf '%s' "$default" | tr -d "'")
  case $name in
  config.benchmark-threads | scenario.clients | scenario.pipeline)
    same_default "$section" "$key" "$default" 2
    ;;
  part.clients)
    # A part inherits keys that it does not have, except for this one: it is not in
    # the record.
    of_part='del(.config.writes[].clients)'
    test_same "$(plan part '')" "$(plan part '"clients":1' | jq -cS "$of_part")" \
      'clients of a part: the default changes nothing else'
    test_same 1 "$default" 'clients of a part: the page says 1'
    ;;
  config.max_lost)
    # It is not part of the identity of a case; t0307 tests lost requests.
    test_same 0 "$default" 'the page has 0 lost requests as the default'
    ;;
  config.max_errors_percent)
    # It is not part of the identity of a case; t0322 tests it.
    test_same 1 "$default" 'the page has 1 % of errors as the default'
    ;;
  scenario.data_size | scenario.keyspacelen)
    same_default "$section" "$key" "$default" 77
    ;;
  config.cluster_nodes) same_default cluster "$key" "$default" 3 ;;
  config.cluster_replicas)
    same_default cluster "$key" "$default" 1
    ;;
  config.bind_ip)
    # It is not part of the identity of a case: the server listens on it.
    test_same 127.0.0.1 "$default" 'the page has the loopback address as the default'
    ;;
  config.mix_order)
    same_default config mix_order "\"$default\"" '"turn"' "$mixed"
    ;;
  scenario.mix_order) same_default scenario mix_order "\"$default\"" '"turn"' "$mixed" ;;
  config.data_sizes | config.pipelines | config.clients | config.keyspacelen)
    # Without 'mix', since the base has these lists.
    test_same "$default" "$(jq -cn '[{commands: ["SET"]}]' | vkb-load --plan |
      jq --arg k "$key" '.config[{data_sizes: "data_size", pipelines: "pipeline"}[$k] // $k]')" \
      "$key: the default is $default, as on the page"
    ;;
  config.arrivals) same_default config "$key" "\"$default\"" '"poisson"' '"rate":500' ;;
  config.db) same_default config "$key" "$default" 1 ;;
  config.placement) same_default config "$key" "\"$default\"" '"none"' ;;
  config.read_from) same_default config "$key" "\"$default\"" '"replica"' ;;
  config.latency) same_default config "$key" "\"$default\"" '"batch-first-byte"' ;;
  scenario.id) same_default scenario id "\"$unquoted\"" '"other"' ;;
  group.group)
    test_same "$(plan group '' | jq .id)" "$(plan group "\"group\":\"$unquoted\"" | jq .id)" \
      "group: the default name is $default, as on the page"
    ;;
  config.timeout)
    # It is not part of the identity of a case, and a minute is too long for a test.
    # So the default is read from the source, wherever it has one.
    grep -rhoE 'timeout_s > 0 \? [a-z>_-]+ : ([A-Z_]+|[0-9]+)' "$top/src/vkb-load" |
      sed 's/.*: //' | sort -u | while read -r word; do
      case $word in
      [0-9]*) echo "$word" ;;
      *) grep -rhE "^#define $word " "$top/src/vkb-load" | awk '{ print $3 }' ;;
      esac
    done | sort -u >seconds
    test_same "$default" "$(cat seconds)" \
      'timeout: the source has the seconds of the page'
    ;;
  profiling.enabled)
    set='"profiling_sets":[{"mode":"wall"'
    test_same "$(plan config "$set}]")" "$(plan config "$set,\"enabled\":$default}]")" \
      "enabled: the default is $default, as on the page"
    test_that 'enabled: true gives another plan' \
      test "$(plan config "$set}]")" != "$(plan config "$set,\"enabled\":true}]")"
    ;;
  profiling.sampling_freq | delay.delay | delay.duration)
    # The plan has only what was configured: the default is read from the source,
    # which has it in one place.
    test_same "$default" "$(sed -n "/\(DELAY\|profiling\).*$key\"/s/.*AT([a-z_.]*), \([0-9]*\),/\1/p" \
      "$top/src/vkb-load/plan/benchcase.c" | sort -u)" "$name: the number of the source is that of the page"
    ;;
  profiling.mode)
    test_same "$default" "$(sed -n '/^get_mode/,/^}/s/.*return "\(.*\)";/\1/p' \
      "$top/src/vkb-load/case/profiles.c")" 'mode: the source has the word of the page'
    ;;
  scenario.cluster_execution) same_default scenario "$key" "\"$default\"" '"parallel"' ;;
  config.replay_speed | scenario.on_iterations)
    : # it needs a trace, see t0340; no fixed default
    ;;
  *)
    test_same 'a check in this script' "$name: $default" 'each default of the page is tested'
    ;;
  esac
done <said
# A scenario without duration, requests and maxdocs.
seconds=$(sed -n 's/^Without both: one second, in S those of C, else \([0-9]*\)\.$/\1/p' "$page")
same_default scenario duration "$seconds" 61
}
check_limits() {
while read -r kind; do
  case $kind in
  'a positive integer up to 65535')
    limit config port 65535 65536
    limit config port 1 0
    limit config cluster_ports '[65535]' '[65536]'
    ;;
  'a positive integer')
    limit config benchmark-threads 1 0
    limit config benchmark-threads 2 -1
    limit config benchmark-threads 2 1.5
    limit config requests '[1]' '[0]'
    ;;
  'an integer >= 0') limit cluster cluster_replicas 0 -1 ;;
  'a number from 0 to 100')
    limit config max_errors_percent 0 -1
    limit config max_errors_percent 100 101
    ;;
  'a positive number')
    limit config timeout 0.001 0
    limit config timeout 1 -1
    ;;
  'a positive number, a ramp such as '*)
    limit config rate 1 0
    limit config rate 1000000000 1000000001
    limit config rate '"1-2/1000"' '"1-2/1001"'
    ;;
  'a limit of the latency such as '*)
    limit scenario slo '"p99<=1ms"' '"p99<=0ms"'
    limit scenario slo '"p99<=60s"' '"p99<=60.1s"'
    ;;
  'a number >= 0') limit config warmup 0 -0.001 ;;
  'true, false or a 32-bit integer')
    limit config seed 4294967295 4294967296
    limit config seed 0 -1
    ;;
  'true or false') limit config sequential true 1 ;;
  'one of '*)
    first=$(printf '%s' "${kind#one of }" | sed 's/,.*//')
    key=$(sed -n "s/ $kind\$//p" keys | head -n 1)
    section=config more='' end=''
    case $key in
    arrivals) more='"rate":5,' ;;
    mix_order) more="$mixed," ;;
    tls_protocol) more='"tls_mode":true,' ;;
    mode) more='"profiling_sets":[{' end='}]' ;;
    esac
    [ "$first" != single ] || section=scenario
    test_that "$key: $first passes" test "$(plan $section "$more\"$key\":\"$first\"$end")"
    plan $section "$more\"$key\":\"x$first\"$end" >out 2>err
    test_empty_file out "$key: another word is refused"
    test_match "$key.*$first" err "$key: the error lists the valid words"
    ;;
  'a non-blank string') limit config description '"x"' '" "' ;;
  'a non-empty list of objects' | 'a non-empty list of objects of strings and numbers')
    limit config config_sets '[{"maxmemory":1}]' '[]'
    ;;
  'a distribution such as '*)
    limit config keys '"zipf:10"' '"zipf:10.01"'
    limit config keys '"gaussian:0.000001"' '"gaussian:0.0000009"'
    ;;
  'sizes such as '*)
    limit scenario values '"1-536870912"' '"1-536870913"'
    limit scenario values '"1"' '"0"'
    limit scenario values '"9 compressible:100"' '"9 compressible:101"'
    ;;
  'seconds such as '*)
    limit config ttl '"1-1000000000"' '"1-1000000001"'
    limit config ttl '"1"' '"0"'
    ;;
  'commands and weights such as '*)
    limit scenario mix '"SET 1000000000"' '"SET 1000000001"'
    ;;
  'a number from 0.000001 to '*) : ;; # it needs a trace, see t0340
  'a CPU list such as '*) limit config server_cpu_range '"0"' '"0-"' ;;
  'a non-empty list of CPU lists') limit cluster cluster_cpu_ranges '["0"]' '[]' ;;
  'a non-empty list of non-blank strings')
    limit config commands '["GET"]' '[]'
    ;;
  'a non-blank strings' | 'a objects' | 'an object' | 'an object of strings' | \
    'an object of strings, numbers and lists of strings' | anything)
    : # types without a limit: t0300 tests values of other types
    ;;
  *) test_same 'a check in this script' "$kind" 'each kind of value of the page is tested' ;;
  esac
done <kinds
}

asking=yes
(
  check_defaults
  check_limits
) >/dev/null 2>&1
make_plans
asking=
check_defaults
check_limits
test_that 'the page has at least 16 defaults' test "$(wc -l <said)" -ge 16
test_that 'the page has at least 15 kinds of values' test "$(wc -l <kinds)" -ge 15
test_done
