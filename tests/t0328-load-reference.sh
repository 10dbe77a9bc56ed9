#!/bin/sh
# vkb-load --reference: a server that is measured beside each build, to whose runs those
# of the builds are related; a reference that dies, does not start, or refuses a command.
. "${0%/*}/lib.sh"
test_server 'a reference is measured beside a server'

{ cat "$server" && printf x; } >ref && chmod +x ref
sha=$(sha256sum <ref | cut -d' ' -f1)
base='"keyspacelen":[100],"data_sizes":[16],"clients":[4],"cluster_mode":false,"tls_mode":false,"warmup":0'
printf '[{"commands":["SET"],"pipelines":[4],%s,"duration":0.15}]\n' "$base" >c.json
build() { # build LABEL SERVER
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$1" "$2"
}
{ build a "$server"; build b "$server"; } >builds
facts() { # the ratios and the reference of the runs that have them
  jq -c 'select(.type == "run" and .metrics.rps_ratio > 0 and .metrics.cpu_ratio > 0) |
    [.subject.label, .run.index, .env.reference_sha256]' "$@" | sort
}

# --- ratios

test_that 'a reference beside two builds' vkb-load --builds builds --reference ./ref \
  --runs 2 -o both c.json
test_same "$(for l in a b; do for i in 1 2; do
  printf '["%s",%s,"%s"]\n' "$l" "$i" "$sha"
done; done)" "$(facts both)" 'each run has its ratios and the SHA-256 of the reference'
test_same 4 "$(grep -c '"type":"run"' both)" 'the reference has no runs of its own'
test_same "$("$server" --version | sed 's/.* v=\([^ ]*\).*/\1/')" \
  "$(jq -r '.env.reference_version' both | sort -u)" 'and its version'
# Both builds of a block are related to one run of the reference.
test_same true "$(jq -s 'map(select(.type == "run")) | group_by(.run.block) |
  length == 2 and all(map(.metrics) | length == 2 and
    (.[0].rps / .[1].rps / (.[0].rps_ratio / .[1].rps_ratio) - 1 | fabs < 1e-9) and
    (.[0].server_cpu_us_per_req / .[1].server_cpu_us_per_req /
      (.[0].cpu_ratio / .[1].cpu_ratio) - 1 | fabs < 1e-9))' both)" \
  'the runs of a block are related to one run of the reference'
test_same '[true,true]' "$(jq -s -c 'map(select(.type == "run").run.slices >= 1) | .[:2]' both)" \
  'it is loaded in the same slices'
head -n 3 both >part
test_that 'the session is resumed' vkb-load -q --builds builds --reference ./ref \
  --runs 2 --resume part c.json
test_same "$(facts both)" "$(facts part)" 'a resumed run has its ratios too'

build r "$PWD/ref" >record
printf '[{"commands":["SET"],"pipelines":[4],%s,"duration":0.1,"reference":"record"},
  {"commands":["SET"],"pipelines":[4],%s,"duration":0.1,"rate":1000}]\n' "$base" "$base" >key.json
test_that 'a build record as the reference of a configuration' vkb-load -q --runs 1 key.json
cp .out keyed
test_same "[null,1,\"$sha\"]" "$(facts keyed)" 'one server alone has ratios too'
test_same 'null null' "$(jq -r 'select(.config.rate) | "\(.metrics.rps_ratio) \(.env.reference_sha256)"' keyed)" \
  'with a rate there are none'
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
jq -c ".[0].port = $port" c.json >port.json
test_that 'a port, which one server at a time can have' vkb-load -q --builds builds --reference ./ref \
  --runs 1 port.json
test_same "$(facts both | grep ',1,')" "$(facts .out)" 'the reference runs before each build'
test_same '1 null 1 null' "$(jq -r 'select(.type == "run").run | .block, .slices' .out | xargs)" \
  'the builds are paired, though not in slices'

# --- what cannot be

test_status 2 'two builds in the file of the reference' vkb-load --reference builds --runs 1 c.json
test_match "'builds' has 2 builds: the reference is one of them" .err 'a message says so'
sed 's/"record"/"other"/' key.json | jq -c '. + [.[0] + {reference: "record", pipelines: [1]}]' >two.json
test_status 2 'two references' vkb-load --runs 1 two.json
test_match "two references, 'other' and 'record': choose one by '--reference'" .err \
  'a message names both'
test_status 2 'a commit' vkb-load --reference 8.0.1 --runs 1 c.json
test_match "the reference '8.0.1' is neither a server nor a file: if it is a commit, build it" .err \
  'a message says how it becomes a reference'
test_that 'without the reference of the configuration' vkb-load -q --reference none --runs 1 key.json
test_empty "$(facts .out)" 'runs have no ratios'
test_status 2 'a running server' vkb-load --reference ./ref --port 1 --runs 1 c.json
test_match "'--reference', .* cannot be combined with a running server" .err 'is refused'
jq -c '.[0].reference = "./ref"' c.json >named.json
# shellcheck disable=SC2016 # a variable of vkb-serve
test_that 'a running server and the key' vkb-serve -q -- sh -c \
  'vkb-load --port "$VKB_PORT" --flush --runs 1 named.json'
test_match "^vkb-load: the reference './ref' is not measured: " .err 'a message says that there are no ratios'

# --- failures

test_status 2 'a reference that does not start' vkb-load --builds builds \
  --reference /bin/false --runs 1 c.json
test_same 'a failed
b failed' "$(jq -r 'select(.type == "run") | .subject.label + " " + .status' .out | sort)" \
  'the runs beside it have failed'
test_match "the reference '/bin/false' failed: " .out 'the runs name the reference'

printf '#!/bin/sh\nexec %s "$@" --rename-command SET ""\n' "$server" >noset
chmod +x noset
test_status 2 'a reference that refuses the command' vkb-load --builds builds \
  --reference ./noset --runs 1 c.json
test_same 'a ok null
b ok null' "$(jq -r 'select(.type == "run") |
  .subject.label + " " + .status + " \(.metrics.rps_ratio)"' .out | sort)" \
  'the builds are measured alone'
test_match 'run 1 of the reference failed in slices: .*unknown command .*; each build is measured alone, without the reference' \
  .err 'a message names the reference'
test_match '^vkb-load: the reference failed beside 2 runs, which have no ratios$' .err \
  'and another counts the runs without it'

test_status 2 'such a reference in an order without slices' vkb-load --builds builds \
  --reference ./noset --order interleaved --runs 1 c.json
test_match '^vkb-load: the reference failed beside 2 runs, which have no ratios$' .err \
  'a message counts the runs beside it'
test_absent 'runs? failed|make what is missing' .err 'no message says that runs of builds have failed'
test_same 'ok ok' "$(jq -r 'select(.type == "run").status' .out | xargs)" 'they have not'

printf '[{"commands":["SET"],"pipelines":[1],%s,"duration":5}]\n' "$base" >five.json
vkb-load --server "$server" --label a --reference ./ref --runs 1 five.json >dead 2>.err </dev/null &
pid=$!
loaded() { # the clients of both servers are connected
  [ "$(find "/proc/$pid/fd" -lname 'socket:*' | wc -l)" -ge 9 ]
}
wait_until 20 loaded
kill -9 "$(descendants "$pid" ref)"
wait "$pid"
test_same 2 $? 'a reference that is killed'
test_same "a failed $sha" "$(jq -r 'select(.type == "run") |
  .subject.label + " " + .status + " " + .env.reference_sha256' dead)" 'the run beside it has failed'
test_match "the reference './ref' failed: .*killed by signal 9" dead 'the run names the reference'
test_match 'run 1 of the reference failed: .*killed by signal 9' .err 'a message does, too'

test_done
