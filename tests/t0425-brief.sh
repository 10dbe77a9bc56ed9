#!/bin/sh
# The text of vkb-compare: a row for each case in which values, change and answer agree,
# within 80 columns, whatever the cases are.
. "${0%/*}/lib.sh"

# runs LABEL RPS NOISE CONFIG [METRICS]: prints eight rounds with the mean RPS.
runs() {
  perl -e 'my ($label, $rps, $noise, $config, $more) = @ARGV;
    srand($noise < 0 ? 1 : $rps);
    for my $k (1 .. 8) {
      my $v = $rps * (1 + abs($noise) * (2 * rand() - 1));
      printf qq({"type":"run","v":1,"subject":{"label":"%s","commit":"%s"},"config":%s,"run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%.4f%s},"status":"ok"}\n),
        $label, join("", ($label eq "old" ? "a" : "b") x 40), $config, $k, $k, $v,
        $more =~ s/([\d.]+)\*RUN/$1 * (1 + $k \/ 1000)/ger }' "$1" "$2" "$3" "$4" "${5:-}"
}
# counted LABEL COMMAND COUNT: prints two counted runs, and the profile of setCommand
counted() {
  of="\"v\":1,\"subject\":{\"label\":\"$1\",\"commit\":\"$(printf '%040d' 0 | tr 0 "$([ "$1" = old ] && echo a || echo b)")\"},\"config\":$2,\"run\":{\"session\":\"s\",\"index\""
  for k in 1 2; do
    printf '{"type":"run",%s:%s},"counted":true,"metrics":{"instructions_per_req":%s},"status":"ok"}\n' "$of" $k "$3"
  done
  printf '{"type":"profile",%s:1},"target":{"exe":"s"},"probed":{},"mode":"count","started":"2026-01-01T00:00:00Z","duration_s":1,"requests":10000,"functions":[{"name":"setCommand","object":"s","self":%s,"inclusive":%s,"calls":1}],"edges":[],"status":"ok"}\n' \
    "$of" "$3" "$3"
}
judge() { vkb-compare --baseline old "$@" >text; }
VKB_CONFIG=set.json
export VKB_CONFIG
# says PATTERN WHAT: the report has such a line, with single blanks
says() {
  tr -s ' ' <text >squeezed
  test_match "$1" squeezed "$2"
}
# fits WHAT: only warnings and the command are longer than 80 columns
fits() {
  test_empty "$(grep -vE '^(warning|Next): ' text | awk 'length > 80')" "$1: the report fits in 80 columns"
}

# --- values and change

{
  runs old 100000 .001 '{"command":"SET"}' ',"p50_latency_ms":0.5*RUN,"p99_latency_ms":1*RUN'
  runs new 92000 .001 '{"command":"SET"}' ',"p50_latency_ms":0.54*RUN,"p99_latency_ms":1*RUN'
  runs old 100000 .001 '{"command":"GET"}' ',"p50_latency_ms":0.5*RUN,"p99_latency_ms":1*RUN'
  runs new 100000 .001 '{"command":"GET"}' ',"p50_latency_ms":0.5*RUN,"p99_latency_ms":1*RUN'
  counted old '{"command":"SET"}' 4700
  counted new '{"command":"SET"}' 4855
} >two
judge two
test_same 1 "$(grep -c 'SET' text | sed 's/^[1-9]$/1/')" 'the report has the case'
says '^ throughput change p50 p99 work answer$' 'the columns have titles'
says '^- SET 100K -> 92\.0K 8\.[0-9]% slower \+8\.0% = \+3\.3% worse$' \
  'a case is one row with values, change in words, p50, p99, work and answer'
says '^ instructions: \+155 in setCommand$' 'the functions are below, where the row has no room for them'
says '^= GET 100K -> 100K = = = no change$' 'a case without a change says so'
says '^Comparing new \(b+\) against old \(a+\)$' 'the report begins with the sides'
says '^All cases: 8 runs each, interleaved$' 'common settings are one line'
says '^Worse: SET executes 3\.3% more instructions per request \(\+155 in setCommand\) and$' 'the summary counts the cases'
says '^Next: vkb-why a{12} b{12} set\.json SET$' 'the report has the next command'
{
  runs old 100000 .3 '{"command":"SET"}'
  runs new 99000 .3 '{"command":"SET"}'
  counted old '{"command":"SET"}' 4700
  counted new '{"command":"SET"}' 4700
} >equal
judge equal
says '^No slowdown found, and no change in instructions\. Undecided: SET \(' 'the same count is in the summary, if the time is undecided'
{
  cat equal
  runs old 100000 .3 '{"command":"GET"}'
  runs new 99000 .3 '{"command":"GET"}'
} >some
judge some
says '^No slowdown found\. Undecided: ' 'unless a case was not counted'
mkdir here
VKB_CONFIG="my set's.json" VKB_REPOSITORY=here judge two
says "^Next: vkb-why -C here a{12} b{12} 'my set'.''s.json' SET$" 'the command has the file and the folder of the workflow, quoted'
VKB_CONFIG=-x VKB_REPOSITORY=https://a.b/c.git judge two
says "^Next: vkb-why --repo https://a.b/c.git a{12} b{12} ./-x SET$" 'or the URL'
jq -c 'if .subject.label == "new" then .subject.dirty = true else . end' two >dirty
judge dirty
says '^Next: vkb-why a{12} "\$\(git stash create\)" set\.json SET$' 'git makes a commit of the changes of a work tree for the next command'
VKB_REPOSITORY="here" judge dirty
says '^Next: vkb-why -C here a{12} "\$\(git -C here stash create\)" set\.json SET$' 'in the folder of the workflow'
VKB_REPOSITORY=https://a.b/c.git judge dirty
test_absent '^Next' text 'no command is printed for a work tree that is not known'
(unset VKB_CONFIG && judge two)
test_absent '^Next' text 'no command is printed without the file that was measured'
# module BUILD [FILE]: makes the sides commits of a module that is built in this way
module() {
  jq -c --argjson build "$1" '.subject |= (.module_commit = .commit | .commit = "c" * 40 |
    .build = {module: "make -j"} + $build)' "${2:-two}" >module
  judge module
}
module '{"module_file":"out/x.so","server_repo":"a b"}'
says "^Next: vkb-why -C \\. a{12} b{12} set\\.json SET -- --module-build 'make -j' --module-file out/x.so --server c{12} --server-repo 'a b'$" \
  'the command builds two commits of a module for their server'
module '{"server":"/opt/valkey-server"}'
says "^Next: vkb-why .* SET -- --module-build 'make -j' --server /opt/valkey-server$" 'the command builds them for an installed server'
vkb-compare --baseline old -f markdown module >module.md
test_match '^Only the machine that measured the module can repeat this: its server is a program of that machine\.$' \
  module.md 'a report for other machines says why it has no such command'
test_absent '/opt|vkb-ab' module.md 'it has no path of the machine'
for folder in /srv/valkey ../valkey file:///srv/valkey; do
  module "{\"server_repo\":\"$folder\"}"
  vkb-compare --baseline old -f markdown module >module.md
  test_match 'can repeat this: the repository of its server is a folder of that machine\.$' module.md \
    "nor has it one with the folder $folder"
  test_absent 'valkey/|srv|vkb-ab' module.md "the folder $folder is not in the report"
done
for url in https://a.b/c.git git@a.b:c.git; do
  module "{\"server_repo\":\"$url\"}"
  vkb-compare --baseline old -f markdown module >module.md
  test_match "^    vkb-ab -C \\. old=a{12} new=b{12} --module-build 'make -j' --server c{12} --server-repo $url -- cases\\.jsonl --runs 8$" \
    module.md "the command has the URL $url"
done
module '{"server":"/opt/valkey-server"}'
{
  runs old 100000 .03 '{"command":"SET"}'
  runs new 99000 .03 '{"command":"SET"}'
} >noisy
judge noisy
says '^Next: vkb-ab old=a{12} new=b{12} -- set\.json --runs [0-9]+$' 'for an undecided result the command measures again with more runs'
# worse METRIC FACTOR: only this metric became worse
worse() {
  runs old 100000 .001 '{"command":"SET"}' ",\"$1\":10*RUN"
  runs new 100000 .001 '{"command":"SET"}' ",\"$1\":$2*RUN"
}
for metric in p99_latency_ms bytes_per_key; do
  worse $metric 13 >worse.jsonl
  judge --metrics "rps,$metric" worse.jsonl
  test_match '^- ' text "$metric is worse"
  test_absent '^Next' text 'no command is printed that cannot explain it'
done
for metric in p50_latency_ms server_cpu_us_per_req; do
  worse $metric 13 >worse.jsonl
  judge --metrics "rps,$metric" worse.jsonl
  says '^Next: vkb-why a{12} b{12} set\.json SET$' "a command is printed that explains $metric"
done
{
  runs old 100000 .001 '{"command":"SET"}' ',"p99_latency_ms":1.01,"p999_latency_ms":2'
  runs new 100000 .001 '{"command":"SET"}' ',"p99_latency_ms":1.01,"p999_latency_ms":2'
} | jq -c 'if .type == "run" then .metrics.p99_latency_ms *= 1 + .6 * (.run.index * 5 % 7 % 3) |
  .metrics.p999_latency_ms *= 1 + .9 * (.run.index * 3 % 7 % 3) else . end |
  if .subject.label == "new" then .metrics.p99_latency_ms *= 1 + .1 * (.run.index % 2) |
  .metrics.p999_latency_ms *= 1 + .1 * (.run.index % 3) else . end' >tails
judge tails
says '^No slowdown found\. Undecided: p99(\.9)? of SET \(the slowest (0\.)?1% of requests; ' 'a tail is explained'
sed 's/"SET"/"GET"/' tails >others
judge tails others
test_same 1 "$(tr '\n' ' ' <text | grep -o 'the slowest' | wc -l | tr -d ' ')" 'and once a report'
module '{"server":"/opt/valkey-server"}' noisy
says "^Next: vkb-ab -C \\. old=a{12} new=b{12} --module-build 'make -j' --server /opt/valkey-server -- set\\.json --runs [0-9]+$" \
  'this command builds the module'
jq -c 'if .subject.label == "new" then .subject |= (.dirty = true | .build.module = "make new") else . end' module >dirty
jq -c 'if .metrics.rps and .subject.label == "new" then .metrics.rps *= .5 else . end' dirty >edited
judge edited
says "^Next: vkb-why -C \\. a{12} .* set\\.json SET -- --module-build 'make new' --server /opt/valkey-server$" \
  'a module with changes is built in the way of the side with the changes'
module '{}'
test_absent 'different servers' text 'two commits of a module with the same server have no warning'
for edit in '.commit = "d" * 40' '.binary_sha256 = "d" * 64'; do
  jq -c "if .subject.label == \"new\" then .subject |= ($edit) else .subject.binary_sha256 = \"c\" * 64 end" module >edited
  judge edited
  test_match 'commits of the module ran in different servers, so a change may come from the server' text \
    "a warning names another server as a possible cause: $edit"
done
for edit in '.commit = "d" * 40' '.build.server = "/opt/other"' '.build.module = "make"' 'del(.module_commit, .build.module)'; do
  jq -c "if .subject.label == \"new\" then .subject |= ($edit) else . end" module >edited
  judge edited
  test_absent '^Next: vkb-why' text "no command is printed if the sides are built in different ways: $edit"
  test_absent 'vkb-ab' "$(vkb-compare --baseline old -f markdown edited >edited.md; echo edited.md)" \
    "no command repeats such a measurement: $edit"
done
jq -c '.subject |= (.module_commit = "c" * 40 | .module_fixed = true | .build.module = "make")' two >fixed
judge fixed
test_absent '^Next' text 'no command is printed for a module that is fixed'
jq -c '.subject.build |= del(.module)' module >unknown
judge unknown
test_absent '^Next' text 'no command is printed for a module that was not built by vkb-build'
jq -c 'del(.subject.commit) | .subject.server_version = if .subject.label == "old" then "7.0.15" else "7.2.4" end' two >versions
judge versions
test_absent '^Next' text 'no command is printed for versions, which may be those of Redis'
runs old 100000 .001 '{"command":"SET"}' | jq -c 'del(.run.block) | .subject.binary_sha256 = "c" * 64' >base.jsonl
runs new 99000 .001 '{"command":"SET"}' | jq -c 'del(.run.block, .subject.commit) | .run.session = "t"' >new.jsonl
vkb-compare base.jsonl new.jsonl >text
says '^Next: vkb-load --again base\.jsonl set\.json \| vkb-compare --baseline old$' 'the command has the file and the label of the baseline'
jq -c 'del(.subject.binary_sha256)' base.jsonl >running.jsonl
vkb-compare running.jsonl new.jsonl >text
test_absent '^Next' text 'no command measures again a server that vkb-load did not start'
vkb-stats base.jsonl >summaries
vkb-compare summaries new.jsonl >text
test_absent '^Next' text 'nor a baseline of which there are no runs'
mkfifo pipe
cat base.jsonl >pipe &
vkb-compare pipe new.jsonl >text
test_absent '^Next' text 'nor one that can be read only once'
jq -c '.subject = {binary_sha256: ("c" * 64)}' base.jsonl >unnamed.jsonl
vkb-compare unnamed.jsonl new.jsonl >text
says '^Next: vkb-load --again unnamed\.jsonl set\.json \| vkb-compare --baseline baseline$' 'vkb-load gives a baseline without a name that label'
jq -c '.subject |= (del(.commit) | .ref = .label + ".tar.gz" | .archive_sha256 = "d" * 64)' two >archives
judge archives
test_absent '^Next' text 'no command is printed for release archives, whose folder is not known'
jq -c '.config.server_config = {requirepass: "***"}' two >hidden
vkb-compare --baseline old -f markdown hidden >hidden.md
test_match '^To repeat this, the configuration with its passwords is needed: ' hidden.md \
  'a report of cases with a password says what is needed to repeat them'
test_absent 'vkb-ab' hidden.md 'it has no command that lacks the password'
# The options of vkb-build.
jq -c '.subject.build = {make: ["BUILD_TLS=yes", "MALLOC=libc", "SERVER_CFLAGS=-O1 -DX=\"it\u0027s\"", "A=b c"], compiler: "cc"}' two >flags
VKB_CACHE="a cache" judge flags
says "^Next: vkb-why a{12} b{12} set\.json SET -- --tls --allocator libc --cflags '-O1 -DX=\"it'.''s\"' --make-arg 'A=b c' --cache 'a cache'$" \
  'the command has all options of the builds'
jq -c 'if .subject.label == "new" then .subject.build.make = [] else . end' flags >edited
judge edited
test_absent '^Next' text 'no command is printed for sides that were built with other options'
judge two
fits 'two cases'
test_same "$(cat text)" "$(vkb-compare --baseline old -f jsonl two | vkb-compare --deltas)" \
  'the report from the records is the same'
vkb-compare -v --baseline old two >long
test_match '^- +SET +rps +8\+8 +100K +92\.0K +-8\.0% ' long '-v has a row for each metric'

# The medians rise, and each round falls: the values follow the rounds.
perl -e 'my @old = (100, 101, 102, 103, 150, 151, 152, 153); my @new = map { $_ * .97 } @old;
  @new[0, 1, 2] = (120, 121, 122);
  for my $k (0 .. 7) { for my $s ("old", "new") {
    printf qq({"type":"run","v":1,"subject":{"label":"$s"},"config":{"command":"SET"},"run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%.3f},"status":"ok"}\n),
      $k + 1, $k + 1, $s eq "old" ? $old[$k] : $new[$k] } }' >crossed
for v in '' -v; do
  # shellcheck disable=SC2086 # an option or nothing
  judge $v crossed
  test_same "as it says${v:+as it says}" "$(tr -s ' ' <text | sed 's/ -> / /; s/8+8 //' | perl -ne '
    next unless /SET (?:rps )?([\d.]+) ([\d.]+) ([-+]?)([\d.]+)% ?(slower|faster)?/;
    my $sign = $3 eq "+" || ($5 // "") eq "faster" ? 1 : -1;
    my $change = 100 * ($2 / $1 - 1);
    print abs($change - $sign * abs $4) < .2 ? "as it says" : "$1 -> $2 is not $sign $4"')" \
    "the change is that of the values beside it${v:+ ($v)}"
done

# --- metrics without a column

{
  runs old 100000 .001 '{"command":"SET"}' ',"bytes_per_key":50*RUN,"server_cycles_per_req":900*RUN'
  runs new 100000 .001 '{"command":"SET"}' ',"bytes_per_key":60*RUN,"server_cycles_per_req":800*RUN'
} >others
judge others
says '^- SET 100K -> 100K = worse: bytes per key$' 'a case may be worse by a metric without a column, which the answer names'
says '^ also cycles per request -11\.1% better; bytes per key \+20\.0% worse$' \
  'these metrics are named in words'
fits 'other metrics'

# --- kinds of cases

{
  runs old 50000 .0001 '{"command":"SET","rate":50000}' ',"p50_latency_ms":0.5*RUN,"p99_latency_ms":1*RUN'
  runs new 50000 .0001 '{"command":"SET","rate":50000}' ',"p50_latency_ms":0.5*RUN,"p99_latency_ms":2*RUN'
} >open
judge open
says '^ p99 change p50 answer$' 'a case with a rate has a column for p99'
says '^- SET 1\.00 ms -> 2\.0[01] ms 2x higher = worse$' 'p99 has values and a change'
{
  counted old '{"command":"SET"}' 4700
  counted new '{"command":"SET"}' 4855
} >counts
judge counts
says '^- SET 4\.70K -> 4\.8[56]K 3\.3% higher \+155 in setCommand more work$' 'a case with only counted runs'
fits 'counts'
{
  runs old 100000 .001 '{"command":"SET","slo":"p99<=1ms"}' ',"capacity_rps":90000*RUN'
  runs new 100000 .001 '{"command":"SET","slo":"p99<=1ms"}' ',"capacity_rps":70000*RUN'
} >capacity
judge capacity
says '^- SET 90\.[0-9]K -> 70\.[0-9]K 22\.2% lower worse$' 'a capacity'
says '^ capacity change answer$' 'the column of a capacity has a title'
cat open capacity two >kinds
judge kinds
says '^- SET .* 1\.00 ms -> 2\.0[01] ms \+100%' 'in a report with several kinds of values they have units'
says '^- SET .* 90\.[0-9]K -> 70\.[0-9]K req/s' 'each value has its own unit'

# A memory metric within its margin has no change, on the terminal and on the page.
memory() { # memory LABEL BYTES CALLS: prints counted runs
  for k in 1 2; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"run":{"session":"s","index":%d},"counted":true,"metrics":{"instructions_per_req":4700,"bytes_per_key":%s,"syscalls_per_req":%s},"status":"ok"}\n' \
      "$1" $k "$2" "$3"
  done
}
{
  memory old 100000 2
  memory new 100200 3
} >memory.jsonl
echo '{"rules": [{"metric": "bytes_per_key", "class": "primary"}]}' >policy
judge --policy policy memory.jsonl
says '^- SET 100K -> 100K = = more work$' 'on the terminal memory within its margin has no change'
vkb-compare --baseline old --policy policy -f jsonl memory.jsonl >deltas
vkb-report deltas memory.jsonl | grep '^<tr><th scope="row">.*more work' | sed 's/<[^>]*>/ /g' >page
test_match 'SET +100K &rarr; 100K +=  ' page 'on the page, too'

# --- many cases, long names, narrow terminals

for k in $(seq 60); do
  runs old 100000 -.001 "{\"command\":\"SET\",\"data_size\":$k}"
  runs new "$([ "$k" -gt 55 ] && echo 80000 || echo 100000)" -.001 "{\"command\":\"SET\",\"data_size\":$k}"
done >many
judge many
test_same 5 "$(grep -c '^- ' text)" 'of many cases only changed ones have rows'
says '^\(55 cases: no change\)$' 'the other cases are counted'
says 'No change: 55 cases\.$' 'the summary counts them, too'
test_same 60 "$(vkb-compare -v --baseline old many | grep -c '^. .*SET.* rps ')" '-v has all cases'
sed 's/"SET"/"A.COMMAND.WITH.A.NAME.THAT.IS.LONGER.THAN.ANY.LINE.OF.A.TERMINAL.MAY.BE"/' two >long
judge long
fits 'a long name'
says '^- A\.COMMAND\.WITH.*\.\.\. ' 'a long name is cut'
tabs=$(printf '%040d' 0 | sed 's/0/\\\\t/g')
sed "s/\"SET\"/\"$tabs\"/" two >long
judge long
fits 'a name that is escaped and has no blank'
says '^\\x09.*\\x09' 'a word that is longer than a line is broken'
if command -v script >/dev/null 2>&1; then
  script -qec 'stty cols 50; vkb-compare --baseline old two' /dev/null </dev/null |
    sed "s/$(printf '\033')\[[0-9;]*m//g; s/\r//" >text
  test_empty "$(grep -v '^Next' text | awk 'length > 50')" 'the lines are not longer than the terminal is wide'
  says '^ also p50 \+8\.0% worse; instructions: \+155 in$' 'columns that do not fit are below the row'
else
  test_skip 'a narrow terminal' script
fi

# --- options and policies accept the names of reports

sed -n '/"data_size":\(59\|60\)}/p' many >names
judge names
says '^- SET 59B ' 'the name of a case has the settings that differ, in short'
for name in 'SET 60B' 'S* 60?'; do
  printf '{"rules": [{"case": "%s", "waiver": {"reason": "known", "expires": "2999-01-01"}}]}\n' \
    "$name" >policy
  judge --policy policy names
  says '^- SET 60B .* waived$' "a waiver of '$name' applies to this case"
  says '^- SET 59B .* worse$' "a waiver of '$name' applies to no other case"
  vkb-compare --baseline old --explain "$name" names >explained
  test_match 'SET 60B' explained "--explain '$name' finds the case"
done
# Runs with a duration have no number of requests in their names.
sed 's/"data_size":\([0-9]*\)/&,"requests":\1,"duration_s":1/' names >timed
judge timed
says '^- SET 59B ' 'the name of a case with a duration has no requests'
echo '[{"commands": ["SET", "GET"], "requests": [10], "keyspacelen": [100], "data_sizes": [16, 256],
  "pipelines": [1, 10], "clients": [4], "cluster_mode": false, "tls_mode": false, "warmup": 0}]' >cfg.json
# chosen NAME: prints the ids of the cases that --case NAME selects
chosen() { vkb-load --plan --case "$1" cfg.json 2>&1 | jq -r .id | xargs; }
test_same SET-d256-P10-c4-k100 "$(chosen 'SET P10 256B')" '--case accepts the name in a report'
test_same SET-d256-P10-c4-k100 "$(chosen 'SET-d256-P10*')" '--case accepts the id'
test_same 'GET-d16-P10-c4-k100 GET-d256-P10-c4-k100' "$(chosen 'GET P10')" \
  '--case accepts a name with only some of the settings'

# --- hostile names do not begin a line, even if it is wrapped

sed 's/"SET"/"x ::error::a ##[error]b \\u001b[31m 11111111111111111111111111111111111111111111111111111111111 ::error::c"/' two >evil
judge evil
test_empty "$(grep -E '^ *(::|##)' text)" 'no name is a command of a CI system'
test_empty "$(tr -cd '\033' <text)" 'no name controls the terminal'
long=$(printf '%055d' 0 | tr 0 A)
{
  runs old 100000 .001 "{\"command\":\"$long\"}"
  runs new 80000 .001 "{\"command\":\"$long\"}"
  runs old 100000 .001 '{"command":"x ::error::c"}'
  runs new 90000 .001 '{"command":"x ::error::c"}'
} >evil
judge evil
says "^Worse: $long \\(20\\.0% slower\\),$" 'the summary names the first case'
says '^x ::error::c \(10\.[0-9]% slower\)\.$' 'no line begins with a command'
fits 'a command in a name'

# --- the same server on both sides

# hashed: replaces the two commits by the same file
hashed() { sed 's/"commit":"[ab]*"/"binary_sha256":"0","server_version":"8"/'; }
{
  runs old 100000 .01 '{"command":"SET"}' ',"p50_latency_ms":0.5*RUN'
  runs new 92000 .01 '{"command":"SET"}' ',"p50_latency_ms":0.5*RUN'
} | hashed >same
judge same
test_same 0 $? 'with the same server no difference fails'
test_same 1 "$(grep -n '^Both sides are the same server' text | cut -d: -f1)" \
  'the first line says that both sides are the same server'
says '^= SET 100K -> 9[12]\.[0-9]K -[78]\.[0-9]% \[.*\] = noise$' 'its case is noise of this size'
says '^Noise: the only case\.$' 'the summary says noise'
test_absent '^Next|[Ww]orse|needed|would decide' text 'no cause and no next step are suggested'
test_same "$(cat text)" "$(vkb-compare --baseline old -f jsonl same | vkb-compare --deltas)" \
  'the report from the records is the same'
# strict ARGUMENT ...: compares with the options with which most results fail
strict() { vkb-compare --baseline old --ci --on-inconclusive fail --on-likely fail --canary SET "$@"; }
for f in $(report_formats | grep -vx jsonl); do
  test_that "nothing fails ($f)" strict -f "$f:report.$f" same
done
vkb-compare -v --baseline old same >long
test_same 1 "$(grep -n '^Both sides are the same server' long | cut -d: -f1)" \
  '-v: the first line says that both sides are the same server'
test_match '^= +SET +rps .* equivalent .*noise: both sides are the same server' long '-v: the row is noise'
test_match '\| equivalent \| noise: both sides are the same server \|' report.markdown 'Markdown: the row is noise'
test_match 'failures="0" errors="0" skipped="0"' report.junit 'junit: all tests pass'
test_absent 'error|warning' report.annotations 'annotations: no error'
test_same '["equivalent",true,true]' "$(vkb-compare --baseline old -f jsonl same |
  jq -c 'select(.metric == "rps") | [.verdict, .noise, .p_adjusted < .05]')" \
  'the record has the p of the test'
vkb-compare --baseline old --explain SET same >explained
test_match '^  reason +both sides are the same server, measured interleaved, so what differs is noise$' \
  explained '--explain says why'
# otherwise WHAT FILTER: with this difference the result is a regression
otherwise() {
  jq -c "$2" same >other
  test_status 1 "not if $1" judge other
}
otherwise 'the files differ' 'if .subject.label == "new" then .subject.binary_sha256 = "1" else . end'
otherwise 'the modules differ' '.subject.module_sha256 = .subject.label'
otherwise 'only the version is the same' 'del(.subject.binary_sha256)'
otherwise 'a script starts them' '.subject.script_sha256 = "2"'
otherwise 'the runs took no turns' 'if .subject.label == "new" and .run.index > 1 then .run.block += 100 else . end'
jq -c 'if .subject.label == "new" then .run.block += 100 else . end' same >other
judge other
says '^what changed between the measurements: rps differs' \
  'runs that took no turns are not called noise'
jq -c 'if .subject.label == "new" and .run.index > 2 then del(.metrics.p50_latency_ms) else . end' same >sparse
judge sparse
says "^Both sides are the same server, so differences in time are this machine's noise" \
  'a metric that most rounds lack leaves the turns what they are'
otherwise 'the environment differs' '.env = {governor: .subject.label}'
otherwise 'the value differs by the same factor in all rounds' \
  '.metrics.bytes_per_key = if .subject.label == "new" then 60 else 50 end * (1 + .run.index / 100)'
jq -c '.subject.module_sha256 = "2"' same >with
test_that 'with the same module' judge with
says '^Both sides are the same server and module, so differences in time are ' 'the first line names server and module'
jq -c '.metrics.rps = if .subject.label == "new" then [40, 300, 90, 200][.run.index % 4]
  else 100 end' same >unclear
test_that 'an undecided difference of the same server' strict unclear
vkb-compare -v --baseline old unclear >long
test_match '^= +SET +rps .* equivalent' long 'the row is equivalent'
test_absent 'could be seen' long 'the row does not say which changes could be seen'
jq -c 'select(.run.index < 4)' same >few
test_status 1 'too few runs of the same server fail with --ci' judge --ci few
for pair in '100 180 120 90' '100 104 120 123'; do
  # shellcheck disable=SC2086 # four numbers
  set -- $pair
  for i in 1 2; do
    printf '{"type":"run","v":1,"subject":{"label":"old"},"config":{"command":"SET"},"run":{"session":"a"},"metrics":{"rps":%s},"status":"ok"}\n' "$1"
    printf '{"type":"run","v":1,"subject":{"label":"new"},"config":{"command":"SET"},"run":{"session":"b"},"metrics":{"rps":%s},"status":"ok"}\n' "$3"
    shift
  done >few
  test_status 2 "two runs each: $pair" judge few
  says '^[?] +SET +.* too few runs$' "$pair: the row says that they are too few"
  says '^Too few runs: SET\.' "$pair: so does the answer, which does not say that there is no slowdown"
  cp text "text.$2"
done
test_match '^[?] +SET +[0-9.]+ -> [0-9.]+ +~ +too few' text.90 'an interval beyond a factor of ten is not shown'
test_match '^[?] +SET +[0-9.]+ -> [0-9.]+ +[+][0-9.]+% \[[-+][0-9.]+, ' text.123 'a narrower one is'
{
  cat same
  { counted old '{"command":"SET"}' 4700 && counted new '{"command":"SET"}' 4855; } | hashed
} >work
test_status 1 'an exact count that differs fails, with the same server too' judge work
says '^- SET 100K -> 9[12]\.[0-9]K -[78]\.[0-9]% \[.*\] = \+3\.3% .*more work$' 'the row has the count'
vkb-compare -v --baseline old work >long
test_match 'SET executes 3\.3% more instructions .*; what$' long 'the answer has the count'

# --- a change that looks clear, of few runs that vary much

# rounds LABEL RPS...: prints a round for each
rounds() {
  label=$1 n=0
  shift
  for v; do
    n=$((n + 1))
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"run":{"session":"s","index":%d,"block":%d},"env":{"virtual":true},"metrics":{"rps":%s,"elapsed_s":5},"status":"ok"}\n' "$label" $n $n "$v"
  done
}
{
  rounds old 1040 820 1110 1270
  rounds new 1930 1150 2250 1680
} >few
test_that 'four rounds that vary' judge few
says '^[?] SET .* \+[0-9.]+% \[\+[0-9.]+, \+[0-9.]+\] undecided$' 'the interval of the change is beyond 0'
tr '\n' ' ' <text >line
test_match 'Undecided: SET \(4 runs that vary by 2[0-9]% can differ as much by chance\)\. [0-9]+ more runs' line \
  'the answer says why it is not decided, and how many runs are missing'
test_match 'No slowdown found\. Undecided' line 'an undecided change for the better stays behind that sentence'
sed 's/"rps"/"p50_latency_ms"/' few >longer
test_that 'latencies that are longer, but undecided' judge longer
says '^Undecided: SET \(4 runs' 'the answer does not begin with a calm sentence'
test_match '^\*\*Undecided: SET \(4 runs' "$(
  vkb-stats longer | vkb-compare --baseline old -f markdown:longer.md >longer.text
  echo longer.md
)" 'nor does a comment'
sed 's/"rps"/"instructions_per_req":5000,"rps"/' few | sed 's/"old"/"older"/; s/"new"/"old"/; s/"older"/"new"/' >fewer
test_that 'a throughput that is lower, but undecided, of the same work' judge fewer
tr '\n' ' ' <text >line
test_match ' Undecided: SET \(4 runs .*\)\. No change in instructions\.' line 'what did not change comes after it'
{
  rounds old 1040 500 1510 1270
  rounds new 830 450 1250 980
} >few
test_that 'a throughput that is lower by a sixth, of runs that vary by a third' judge few
says '^Undecided: SET \(' 'the answer does not begin with a calm sentence'
{
  rounds old 1040 820 1110 1270
  rounds new 1260 1030 1090 810
} >few
test_that 'a throughput that is lower by a hundredth' judge few
says '^No slowdown found\. Undecided: SET \(' 'no slowdown is found'
{
  cat few
  { rounds old 1000 1010 && rounds new 500 510; } | sed 's/SET/GET/'
} >fewer
test_that 'half of the throughput in two runs of another case' judge fewer
says '^Undecided: SET \(' 'the answer does not begin with a calm sentence'
{
  rounds old 1040 820 1110 1270
  rounds new 1130 850 1250 1180
} >few
test_that 'four rounds that vary more than they changed' judge few
says 'Undecided: SET \(runs vary by 1[0-9]%\)' 'the reason is that they vary'
test_done
