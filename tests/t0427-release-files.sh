#!/bin/sh
# What vkb 1.0 wrote is read by every later version, and is still written. tests/data/v1 has
# records of each type, a history, a state of vkb-trackcommits, a trace and a metrics.json
# that the programs of that release made. A program that reads the kind gives the same
# answer, and records that are made anew have every key of the old ones, of the same JSON
# type. VKB_RELEASE=DIR writes the files: only a release with another "v" needs that.
. "${0%/*}/lib.sh"
test_server 'the files of a release'
kept=$tests/data/v1

# --- how the files are made

# make_files: makes a file for each type of record, and the others, in this folder.
make_files() {
  git init -q -b unstable repo && mkdir repo/src
  printf '#!/bin/sh\nexec valkey-server "$@"\n' >repo/src/server.sh
  printf 'valkey-server:\n\tinstall server.sh $@\n%%:\n\t@:\n' >repo/src/Makefile
  git -C repo add .
  for i in $(seq 10 30); do
    echo "# $i" >>repo/src/server.sh
    GIT_COMMITTER_DATE="2026-01-01T00:$i:00Z" git -C repo -c user.name=me \
      -c user.email=me@here commit -qam "change $i"
  done
  vkb-build -q -C repo --cache cache unstable >build.jsonl
  vkb-trackcommits history --repo repo >commit.jsonl
  vkb-trackcommits claim --owner me --repo repo --config-file set.json --file tracked >claimed
  vkb-trackcommits query --format jsonl --config-file set.json --file tracked >track.jsonl
  vkb-trackcommits query --format jsonl --list-configs --file tracked >track_config.jsonl
  vkb-load --plan set.json >case.jsonl
  for label in one two; do
    VKB_ENV_RECORD=yes vkb-load -q --seed 1 --runs 4 --label $label set.json
  done >runs
  vkb-load -q --seed 1 --label one --count-only set.json >counted
  vkb-load -q --runs 1 --engine valkey-benchmark set.json >other
  # Of the env records one is enough, of the functions of a profile the first.
  jq -c 'select(.type == "run")' runs counted >run.jsonl
  jq -c 'select(.type == "env")' runs | head -n 1 >env.jsonl
  jq -c 'select(.type == "profile") | .functions |= .[:20] |
    .edges |= map(select(.from < 20 and .to < 20))' counted >profile.jsonl
  jq -c 'select(.type == "raw")' other >raw.jsonl
  echo '{"type":"spec","v":1,"id":"s","io_threads":1}' >spec.jsonl
  vkb-serve start spec.jsonl >server.jsonl
  port=$(jq '.nodes[0].port' server.jsonl)
  vkb-load -q --client 1/2 --port "$port" --runs 1 set.json >part1 &
  vkb-load -q --client 2/2 --port "$port" --runs 1 set.json >part2
  wait $!
  vkb-serve stop >stopped
  jq -c 'select(.type == "part")' part1 part2 >part.jsonl
  measured run.jsonl | vkb-stats >summary.jsonl
  vkb-compare --baseline one -f jsonl summary.jsonl >deltas || [ $? -eq 1 ]
  for type in delta comparison shift; do
    jq -c --arg t $type 'select(.type == $t)' deltas >$type.jsonl
  done
  # Nights with a slowdown after the twelfth.
  git -C repo log --reverse --format='%H %cI' | awk '{
    printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"%s\",\"time\":\"%sZ\"},", $1, substr($2, 1, 19)
    printf "\"config\":{\"command\":\"SET\",\"data_size\":16},\"run\":{\"session\":\"s%d\",\"index\":1},", NR
    printf "\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n", 1e5 + NR * 37 % 11 * 90 - (NR > 12) * 6e3
  }' >nights
  vkb-detect -f jsonl nights >change.jsonl || [ $? -eq 1 ]
  vkb-history add history nights
  measured run.jsonl | vkb-parse --flat >metrics.json
  printf '%s\n' '1700000000.000100 [0 127.0.0.1:5] "SET" "k" "v"' \
    '1700000000.010100 [0 127.0.0.1:5] "GET" "k"' | vkb-record -q >short.trace
}
# measured FILE: prints its runs that have times.
measured() { jq -c 'select(.counted | not)' "$1"; }
types='build spec server case run part summary delta comparison shift commit track
  track_config change env profile raw'
cat >set.json <<'END'
[{"commands": ["SET"], "requests": [200], "keyspacelen": [100], "data_sizes": [16],
  "pipelines": [10], "clients": [2], "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
make_files >made 2>&1
if [ -n "${VKB_RELEASE:-}" ]; then
  mkdir -p "$VKB_RELEASE"
  # shellcheck disable=SC2086 # words
  for f in $(printf '%s.jsonl ' $types) nights tracked metrics.json short.trace history; do
    cp -R "$f" "$VKB_RELEASE"
  done
  # No file of this tree has a path or the name of one machine.
  find "$VKB_RELEASE" -type f -exec sed -i "s|$scratch|/tmp/vkb|g; s|\"kernel\":\"[^\"]*|\"kernel\":\"6.1.0|g; s|\"$(uname -n)\"|\"h\"|g; s|\"/[^\"]*/vkb-still|\"/opt/vkb/vkb-still|g" {} +
  cat made
  exit
fi

# --- what was written is read

test_same "$(jq -cS '[.subject.label, .n, .metrics.rps.median]' "$kept/summary.jsonl")" \
  "$(measured "$kept/run.jsonl" | vkb-stats | jq -cS '[.subject.label, .n, .metrics.rps.median]')" \
  'run: vkb-stats gives the same summary'
# jq 1.7 prints the digits that it has read, unless it has computed.
test_same "$(jq -c 'select(.metric == "rps").median | map(. * 1)' "$kept/delta.jsonl")" \
  "$(vkb-compare --baseline one -f jsonl "$kept/summary.jsonl" |
    jq -c 'select(.type == "delta" and .metric == "rps").median | map(. * 1)')" \
  'summary: vkb-compare has the same medians'
test_same "$(jq -s 'map(.metrics.requests) | add' "$kept/part.jsonl")" \
  "$(vkb-stats --join "$kept/part.jsonl" | jq .metrics.requests)" \
  'part: vkb-stats joins the parts'
test_same "$(jq -cS '[.id, .config]' "$kept/case.jsonl")" \
  "$(vkb-load --plan "$kept/case.jsonl" | jq -cS '[.id, .config]')" 'case: vkb-load plans the same case'
test_that 'build: vkb-compare finds its subject' \
  vkb-compare --check-sides --baseline "$(jq -r .subject.commit "$kept/build.jsonl")" \
  "$kept/build.jsonl" "$kept/run.jsonl"
vkb-serve start "$kept/spec.jsonl" >started
vkb-serve stop >stopped
test_same ok "$(jq -r .status started)" 'spec: vkb-serve starts the server'
cat "$kept/delta.jsonl" "$kept/shift.jsonl" "$kept/comparison.jsonl" >deltas.old
test_that 'delta, shift and comparison: vkb-compare writes them once more' \
  vkb-compare --deltas -f text deltas.old
test_match '^. +SET ' .out 'and the text has the case'
at=$(jq -r 'select(.kind == "regression").commit' "$kept/change.jsonl")
sort "$kept/nights" >shuffled
test_same "$at" "$(vkb-detect -f jsonl shuffled "$kept/commit.jsonl" | jq -r .commit)" \
  'commit: vkb-detect orders runs by these records'
vkb-report "$kept/change.jsonl" "$kept/env.jsonl" "$kept/run.jsonl" >page.html
test_match "$(printf %.8s "$at")" page.html 'change: vkb-report has the commit'
test_match "$(jq -r .env.kernel "$kept/env.jsonl")" page.html 'env: vkb-report has the machine'
test_same "$(jq -r '.functions[0].name' "$kept/profile.jsonl")" \
  "$(vkb-flame --format table "$kept/profile.jsonl" 2>.err | grep -oxE '.*' |
    grep -o "$(jq -r '.functions[0].name' "$kept/profile.jsonl")" | head -n 1)" \
  'profile: vkb-flame has its first function'
test_same "$(jq -c '[.commit, .status]' "$kept/track.jsonl")" \
  "$(cp "$kept/tracked" state && vkb-trackcommits query --format jsonl --config-file set.json \
    --file state | jq -c '[.commit, .status]')" 'track: vkb-trackcommits reads its state'
test_same "$(jq -c '[.config_hash, .in_progress]' "$kept/track_config.jsonl")" \
  "$(vkb-trackcommits query --format jsonl --list-configs --file state |
    jq -c '[.config_hash, .in_progress]')" 'track_config: and the configuration in it'
cp -R "$kept/history" kept
test_match instructions_per_req "$kept/run.jsonl" 'run: there are counted ones'
test_same "$(jq -c 'select(.counted).metrics.instructions_per_req' "$kept/run.jsonl")" \
  "$(jq -c 'select(.counted)' "$kept/run.jsonl" | vkb-stats |
    jq -c '.metrics.instructions_per_req.values[]')" 'and vkb-stats has their counts'
test_that 'a history: vkb-history writes its site' vkb-history site kept site
test_same "$at" "$(find kept -name '*.jsonl*' -exec cat {} + | vkb-detect -f jsonl | jq -r .commit)" \
  'and vkb-detect finds the change in its files'
test_same "$(jq length "$kept/metrics.json")" \
  "$(vkb-parse --flat "$kept/metrics.json" | jq length)" 'metrics.json: vkb-parse reads each run'
test_same "$(vkb-load --plan --replay short.trace | jq -c .config)" \
  "$(vkb-load --plan --replay "$kept/short.trace" | jq -c '.config | .replay = "short.trace"')" \
  'a trace: vkb-load plans the same case'
for type in $types; do
  jq -c '.v = 2' "$kept/$type.jsonl" >later
  ! vkb-report later >page.html 2>.err && grep -q "$type" .err || echo "$type"
done >accepted
test_empty_file accepted 'a record with another "v" is refused, whatever its type is'

# --- what is written has all keys

# keys FILE: prints the keys of its records, of the sections that identify a run, and the
# metrics of runs and summaries, with their types. What limited a run, and what a machine
# can read, is chance.
keys() {
  jq -r '. as $r | [paths] | map(select(length == 1 or
      (length == 2 and (.[0] | IN("run", "config", "subject", "target") or
        (. == "metrics" and ($r.type | IN("run", "summary"))))))) |
    .[] as $p | "\($p | map(tostring) | join(".")) \($r | getpath($p) | type)"' "$1" |
    grep -Ev '^(bound|errors|error|canary|reason|needed|visible|functions|together|note|notes|whole|steady|env_varied|next|outlook|probability|rest|ci9.|se|df|answer|noise|outweighed|counters|counted_percent|derived|ratio|session_.*|same_server|metrics[.](cpu[0-9]+_busy|foreign_cpu|steal)_percent) ' |
    sort -u
}
for type in $types; do
  test_that "$type: it is made" test -s "$type.jsonl"
  keys "$kept/$type.jsonl" >old
  keys "$type.jsonl" | comm -23 old - >gone
  test_empty_file gone "$type: a new record has every key of the old one"
done
test_done
