#!/bin/sh
# vkb-env --compare: whether two sessions are comparable; each key that differs is named.
. "${0%/*}/lib.sh"
. "$tests/machine.sh"

machine m
VKB_ENV_ROOT=$tree vkb-env >one.json
jq -c '.now.busy_percent = 1 | .now.steal_percent = 0' one.json >a
compare() { vkb-env --compare "$@"; }

test_that 'two equal records are exit 0' compare a a
test_match '^comparable: [0-9]+ values are equal$' .out 'two equal records are comparable'
test_same "$(cat .out)" "$(cp a a2; vkb-env --compare a <a2)" 'B may be the standard input'
jq -c '.time = "2027-01-01T00:00:00Z" | .session = "x" | .now.load_1m = 3 |
  .now.uptime_s = 1 | .now.memory_available_mb = 7' a >b
test_that 'records that differ only in times and load are comparable' compare a b
names() { sed -n 's/^\([a-z0-9_]*\): .* against .*/\1/p' .out; }

# --- every key of the section env

for key in $(jq -r '.env | keys[]' a); do
  jq -c --arg k "$key" '.env[$k] |= if type == "boolean" then not
    elif type == "number" then . + 1 elif type == "object" then . + {x: "y"}
    else . + "x" end' a >b
  test_status 1 "$key: another value is exit 1" compare a b
  test_same "$key" "$(names)" "$key: only this key is named"
  cp .out forth
  test_status 1 "$key: another value on the other side is exit 1" compare b a
  jq -c --arg k "$key" 'del(.env[$k])' a >b
  test_status 1 "$key: a missing value is exit 1" compare a b
  test_match "^$key: .* against unknown$" .out "$key: the missing value is shown as unknown"
done

# --- measured values

moved() { # moved KEY FROM TO STATUS: comparing these values ends with STATUS
  jq -c --arg k "$1" --argjson v "$2" '.now[$k] = $v' a >x
  jq -c --arg k "$1" --argjson v "$3" '.now[$k] = $v' a >y
  test_status "$4" "$1: $2 and $3" compare x y
  [ "$4" -eq 0 ] || test_same "$1" "$(names)" "$1: the key is named"
}
moved busy_percent 1 9 0
moved busy_percent 1 20 1
moved steal_percent 0 .9 0
moved steal_percent 0 4 1
moved freq_mhz 3000 2950 0
moved freq_mhz 3000 2900 1
moved temperature_c 50 60 0
moved temperature_c 50 70 1
moved thermal_throttles 0 1 0
moved swap_used_mb 0 500 1

# --- runs and summaries

run() { # run FILTER: prints four runs of one session, changed by FILTER
  for i in 1 2 3 4; do
    printf '{"type":"run","v":1,"subject":{"label":"a"},"config":{"command":"SET"},"run":{"session":"s","index":%d},"env":{"host":"h","governor":"performance","benchmark_tool_version":"vkb-load 0.1","client_cpus":"2-3"},"metrics":{"rps":100%d,"foreign_cpu_percent":1,"steal_percent":0,"freq_mhz":3000,"thermal_throttles":0,"cgroup_throttled_percent":0},"status":"ok"}\n' $i $i
  done | jq -c "$1"
}
run . >r
test_that 'equal runs are comparable' compare r r
for change in '.env.host = "g"' '.env.governor = "powersave"' \
  '.env.benchmark_tool_version = "x"' '.env.benchmark_tool_sha256 = "x"' \
  '.env.client_cpus = "0"' 'del(.env.client_cpus)' '.env.server_cpus = "1"' \
  '.env.remote = true' '.env.emulated = "warmup"' '.env.module_sha256 = "x"' \
  '.metrics.foreign_cpu_percent = 9' '.metrics.steal_percent = 2' \
  '.metrics.freq_mhz = 2000' '.metrics.thermal_throttles = 1' \
  '.metrics.cgroup_throttled_percent = 3'; do
  run "$change" >s
  test_status 1 "runs with another value are exit 1: $change" compare r s
  test_same "$(echo "$change" | sed 's/.*\.\([a-z0-9_]*\)[ )].*/\1/; s/.*\.\([a-z_]*\))/\1/')" \
    "$(names)" 'the key of the changed value is named'
done
run 'if .run.index == 2 then .env.governor = "powersave" else . end' >s
test_status 1 'one run with another setting is exit 1' compare r s
test_match '^governor: performance against performance and powersave$' .out 'the values of all runs are printed'
test_status 1 'a setting that varies is exit 1 even if both sides are equal' compare s s
vkb-stats r >r.sum
vkb-stats s >s.sum
test_that 'a summary is comparable with its runs' compare r.sum r
test_status 1 'a summary of a setting that varies is exit 1' compare r.sum s.sum
test_match '^governor: performance against several values$' .out 'a setting that varied is reported'

# A session of vkb-load: the record and the runs together.
{ cat a; run '.env = {host: "h"} | .metrics = {rps: 1}'; } |
  sed 's/"host":"[^"]*"/"host":"h"/' >both
test_that 'an env record with runs is comparable' compare both both
grep -v '"type":"env"' both >runs
test_that 'runs are comparable with an env record and runs' compare both runs
test_match '; known of one side only: .*governor' .out 'the keys that only one side has are listed'

# --- errors

printf '{"type":"unheard-of","v":1}\n' >nothing
test_status 2 'a file without env records or runs is an error' compare a nothing
test_match "'nothing' has no state of its machine" .err 'the error names the file without a state'
test_status 2 'a file that does not exist is an error' compare a no-such-file
printf '{"v":1,"type":"run","subject":{},"case":"c","config":{},"run":{"index":1},"metrics":{"rps":1},"status":"ok","env":{"client_cpus":"1"}}\n' >run
jq -c 'del(.now)' a >state
test_status 2 'sides of which no value is known of both are an error' compare state run
test_match '^vkb-env: no value is known of both sides: .*client_cpus' .err 'the error names the values'
printf '{"type":"env","v":1' >torn
test_status 2 'a line that is cut off is an error' compare torn a
test_match torn:1 .err 'the error names the line that is cut off'
printf '{"type":"env","v":1,"time":"t","env":7}\n' >bad
test_status 2 'a key of a wrong type is an error' compare a bad
test_match "bad:1: .*'env' is not of type object" .err 'the error names the key and its type'
jq -c '.env["a\u001b[31mb"] = "c\u009bd\u001b[2J" | .env.os = "\u001b[2J" +
  ("\u00e9" * 80)' a >evil
test_status 1 'hostile values are exit 1' compare a evil
test_same 0 "$(LC_ALL=C grep -c "$(printf '\033\\|\302\233')" .out)" \
  'hostile values are printed without control characters'
test_match '^os: .*\\x1b.*\.\.\.$' .out 'control characters are escaped, and long values are cut'
test_done
