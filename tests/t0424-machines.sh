#!/bin/sh
# vkb-detect with a history of several machines: each machine is judged separately, and
# changes of several machines at one commit are joined.
. "${0%/*}/lib.sh"

# fleet SEED COMMITS SHARED SPEC...: prints runs of machines. A SPEC is
# HOST,CPUS,LEVEL,FROM,FACTOR: a machine with this level, multiplied by FACTOR from
# commit FROM on. With SHARED 1 each commit is measured by one of them, in turn,
# otherwise by all.
fleet() {
  perl -e 'my ($seed, $n, $shared, @m) = @ARGV; srand $seed;
    sub noise { my $s = -6; $s += rand for 1 .. 12; $s }
    for my $i (0 .. $n - 1) { for my $k (0 .. $#m) {
      next if $shared && $i % @m != $k;
      my ($host, $cpus, $level, $from, $f) = split /,/, $m[$k];
      my $x = $level * (1 + .01 * noise()) * ($i >= $from ? $f : 1);
      printf qq({"type":"run","v":1,"subject":{"commit":"c%04d000"},"config":{"command":"SET"},"run":{"session":"%s-%d","index":1},"env":{%s"arch":"x86_64","cpu_model":"Xeon","cpus":%d},"metrics":{"rps":%.2f},"status":"ok"}\n),
        $i, $host, $i, $host =~ /^-/ ? "" : qq("host":"$host",), $cpus, $x } }' "$@"
}
# changes FILE...: prints "kind commit lo-hi ratio machines without" of each change
changes() {
  vkb-detect -f jsonl "$@" | jq -r '[.kind, .commit, (.indexes | join("-")),
    (.ratio * 100 | round), ([.machines[]?.machine] | sort | join("+")),
    (.machines_without // [] | join("+"))] | join(" ")'
}

# --- one machine

fleet 1 40 0 a,4,1e5,25,.92 >one
test_status 1 'a history of one machine' vkb-detect one
test_absent machine .out 'the report does not mention machines'
vkb-detect -f jsonl one >want
sed 's/"env":{[^}]*},//' one >bare
vkb-detect -f jsonl bare >got
test_same "$(cat want)" "$(cat got)" 'the records are those of runs without environments'
test_absent '"machines' want 'the records do not mention machines'

# --- machines with different speed

fleet 2 40 0 a,4,1e5,99,1 b,8,7e4,99,1 c,8,3e4,99,1 >flat
test_that 'three machines of different speed without a change' vkb-detect flat
test_match '^0 regressions that count; 0 changes .*\(3 series of 1 case on 3 machines\)' .out \
  'no change is reported'
test_match '^3 machines, each judged by itself: a \(Xeon, 4 CPUs; 40 commits\); b \(Xeon, 8 CPUs; 40 commits\); c ' \
  .out 'the report lists the machines'
fleet 2 60 1 a,4,1e5,99,1 b,8,7e4,99,1 c,8,3e4,99,1 >shared
test_that 'three machines that share the commits' vkb-detect shared
test_match '^0 regressions that count; 0 changes ' .out 'their differences are not reported as changes'
fleet 3 45 0 a,4,1e5,25,.92 b,8,7e4,25,.93 c,8,3e4,25,.92 >all
test_status 1 'a step on all machines' vkb-detect all
test_same 'regression c0025000 25-25 92 a+b+c ' "$(changes all)" 'it is one change'
test_match '^regression at c0025000, 26 of 45' .out 'it has its commit'
test_match ' SET +throughput .* NEW, on all 3 machines: [abc]; [abc]; [abc]$' .out 'it has all machines'
test_same 1 "$(grep -c NEW .out)" 'it is one row'
fleet 3 45 0 a,4,1e5,25,.92 b,8,7e4,99,1 c,8,3e4,25,.92 >two
test_status 1 'a step on two machines' vkb-detect two
test_match ' NEW, on 2 of 3 machines: [ac]; [ac]; not on b$' .out 'the row has the machines with and without the change'
fleet 3 45 0 a,4,1e5,99,1 b,8,7e4,25,.9 c,8,3e4,99,1 >single
test_status 1 'a large step on one machine' vkb-detect single
test_match ' NEW, on only 1 of 3 machines: b; not on a; c$' .out 'the row has the only machine'
test_same 'regression c0025000 25-25 90 b a+c' "$(changes single)" 'the record has the only machine'
fleet 3 45 0 a,4,1e5,25,.9 b,8,7e4,25,.9 c,8,3e4,25,.9 d,8,3e4,25,.9 e,8,3e4,25,.9 f,8,3e4,25,.9 g,8,3e4,99,1 >seven
test_status 1 'a step on six of seven machines' vkb-detect seven
test_match ' NEW, on 6 of 7 machines: [a-f](; [a-f]){4}; \.\.\.; not on g$' .out 'the row has five of them'
test_same 'a b c d e f' "$(vkb-detect -f jsonl seven | jq -r '.seen | sub(";[^;]*$"; "")' |
  sed 's/.*: //' | tr -d ';' | tr ' ' '\n' | sort | xargs)" 'the record has all of them'
fleet 5 46 0 a,4,1e5,38,.93 c,8,3e4,38,.93 >surer
sed 's/"host":"a"/"host":"d"/' surer >swapped
surest() { vkb-detect -f jsonl "$1" | jq -r '[.machines[].machine] | join(" ")'; }
test_same 'c a' "$(surest surer)" 'of two machines the one that is surer is shown'
test_same 'c d' "$(surest swapped)" 'the surer machine is shown whatever the order of the two'

# within LOW HIGH: the runs of machine b only of these commits, all of the others
within() {
  jq -c --argjson low "$1" --argjson high "$2" 'select(.env.host != "b" or
    (.subject.commit[1:5] | tonumber | . >= $low and . <= $high))'
}
fleet 3 45 0 a,4,1e5,25,.92 b,8,7e4,99,1 >edge
test_same ' b  b' "$(within 0 26 <edge | changes - | cut -d ' ' -f 6) $(within 0 27 <edge | changes - |
  cut -d ' ' -f 6) $(within 23 44 <edge | changes - | cut -d ' ' -f 6) $(within 22 44 <edge | changes - | cut -d ' ' -f 6)" \
  'a machine needs three commits on each side of a change to be listed as without it'
vkb-detect -f issue single >issue.md
test_match '^Seen on only 1 of 3 machines: b; not on a; c\.' issue.md 'the issue has the only machine'
test_match '^- Only one machine shows it: ' issue.md 'the issue says where to look for the cause'
vkb-detect -f markdown single >single.md
test_match '\| NEW, on only 1 of 3 machines: b; not on a; c \|' single.md 'Markdown has the only machine'
{ fleet 3 45 0 a,4,1e5,25,.92; fleet 4 12 0 b,8,7e4,99,1; } >early
test_match ' NEW, on a$' "$(vkb-detect early >.out; echo .out)" \
  'a machine that was not measured on both sides is not listed as unchanged'
{ fleet 3 30 0 a,4,1e5,15,.92 b,8,7e4,15,.92; fleet 3 45 0 a,4,1e5,99,1 b,8,7e4,99,1 | tail -n 30; } >back
mkdir issues
test_that 'a regression that both machines show to be reverted' vkb-detect -f issue:issues/ back
reverted=$(cd issues && echo *.reverted)
test_same "${reverted%.*}.reverted" "$(cd issues && ls)" 'its issue is one to close'
rm issues/*
within 0 29 <back >behind
test_status 1 'one machine has not measured the revert' vkb-detect -f issue:issues/ behind
test_same "${reverted%.*}.md" "$(cd issues && ls)" 'the same issue stays open until it has'
fleet 5 45 0 a,4,1e5,25,.92 b,8,7e4,25,1.08 >apart
test_same 'improvement c0025000 25-25 108 b a
regression c0025000 25-25 92 a b' "$(changes apart | sort)" 'opposite steps are two changes'
test_same 2 "$(vkb-detect -f jsonl apart | jq -r .key | sort -u | wc -l | tr -d ' ')" 'they have different keys'
fleet 5 60 0 a,4,1e5,20,.92 b,8,7e4,40,.92 >later
test_same 'regression c0020000 a b
regression c0040000 b a' "$(changes later | cut -d ' ' -f 1,2,5,6 | sort)" 'steps at different commits are different changes'
test_same "$(changes all)" "$(tac all | sort >s; grep -h . s | sort -t '"' -k 10 | changes)" \
  'the order of the input does not matter'

# --- machines that share commits: the range of all machines is narrower than that of
# each

fleet 6 120 1 a,4,1e5,61,.9 b,8,7e4,61,.9 c,8,3e4,61,.9 >shared
changes shared >got
test_same 'regression a+b+c' "$(cut -d ' ' -f 1,5 got)" 'a step of three machines is one change'
test_same c0061000 "$(cut -d ' ' -f 2 got)" 'it has its commit'
vkb-detect -f jsonl shared | jq -c '.indexes' >joint
grep '"host":"a"' shared | vkb-detect -f jsonl | jq -c '.indexes' >alone
test_same '[61,61] [21,21]' "$(cat joint alone | xargs)" 'alone, machine a has the same range among its own commits'
grep -v '"host":"a"' shared >.rest
grep '"host":"a"' shared >.a
vkb-detect -f jsonl shared | jq -c '.machines[] | select(.machine == "a").n' >n
test_same '[21,19]' "$(cat n)" 'each machine has the number of its points'

# --- the site of a history

# charts FILE: prints the machine of each chart
charts() { grep -o 'req/s on [^<]*</span>' "$1" | sed 's/.* on //; s/<.*//' | sort | xargs; }
test_that 'vkb-history archives the runs' vkb-history -q add kept single
test_that 'vkb-history writes the pages' vkb-history -q site kept site
test_same 'a b c' "$(charts site/index.html)" 'there is a chart for each machine'
test_match 'on only 1 of 3 machines: b; not on a; c<' site/index.html 'the page has the machines with and without the change'
test_same 1 "$(grep -o '<path class="change ' site/index.html | wc -l | tr -d ' ')" \
  'only the chart of that machine has the change'
vkb-history -q add kept2 all
vkb-history -q site kept2 site2
test_same 'a b c' "$(charts site2/index.html)" 'if several machines measured each commit, each has a chart, too'
test_match '100K req/s on a|9[0-9][.0-9]*K req/s on a' site2/index.html 'the charts have the values of their machines'

fleet 13 45 0 a,4,1e5,99,1 b,8,7e4,36,.8 | perl -ne 'next if /"c00(\d\d)000".*"b"/ && $1 > 31 && $1 < 36;
  s/"commit":"c00(\d\d)000"/$& . sprintf q(,"ref":"%s","time":"2026-03-01T00:%s:00Z"), $1 < 32 ? "old" : "new", $1/e; print' >branches
vkb-history -q add kept3 branches
vkb-history -q site kept3 site3
test_same 'a b' "$(charts site3/index.html)" 'the charts have the machines of vkb-detect'
test_match '<path class="change ' site3/index.html 'this chart has the changes of the host'

# --- what counts as a machine

fleet 7 40 0 a,4,1e5,25,.92 | perl -pe 's{"host":"a"}{sprintf "\"host\":\"h%d\"", $. / 3}e' >runners
test_status 1 'a new host for each job' vkb-detect runners
vkb-detect -f jsonl runners >got
test_same "$(vkb-detect -f jsonl one | jq -c '[.kind, .indexes]')" "$(jq -c '[.kind, .indexes]' got)" \
  'hosts with the same processor are one machine'
test_absent machine .out 'the report does not mention machines then'
{ fleet 8 30 0 a,4,1e5,99,1; fleet 8 30 0 x,2,4e4,99,1 |
  perl -pe 's{"host":"x"}{sprintf "\"host\":\"h%d\"", $. / 3}e'; } >mixed
vkb-detect mixed >.out
test_match '^2 machines, each judged by itself: a \(Xeon, 4 CPUs; 30 commits\); other hosts with Xeon, 2 CPUs \(30 commits\)' \
  .out 'such hosts are grouped, separately from a machine with a name'
{ fleet 9 20 0 a,4,1e5,99,1 | sed 's/"host":"a",//'; fleet 9 40 0 a,4,1e5,99,1 | tail -n 20; } >older
vkb-detect older >.out
test_absent machines .out 'older runs without a host belong to the only machine that fits'
sed 's/"env":{"arch"/"env":{"host":"unknown","arch"/' older >unknown
vkb-detect unknown >.out
test_absent machines .out 'runs of a host that is called unknown belong to it, too'
{ cat older; fleet 9 40 0 b,4,1e5,99,1; } >older2
vkb-detect older2 >.out
test_match 'a \(Xeon, 4 CPUs; 20 commits\); a host with Xeon, 4 CPUs \(20 commits\)' .out 'they are a machine of their own if two machines fit'
sed 's/"host":"b"/"host":"<b>|@x\\u001b[31m"/' two >evil
vkb-detect evil >.out
test_empty "$(tr -d '[:print:]\n' <.out)" 'the name of a host is escaped on a terminal'
vkb-detect -f markdown evil >.out
test_empty "$(grep -F -e '<b>' -e '|@' .out)" 'the name of a host is escaped in Markdown'
vkb-stats all >summaries
vkb-detect summaries >.out
test_match '^warning: 45 summaries of runs of several machines, which cannot be told apart: read the runs' \
  .out 'a warning is printed about summaries of several machines'
for h in a b c; do grep "\"host\":\"$h\"" all | vkb-stats; done >summaries
test_same "$(changes all)" "$(changes summaries)" 'summaries of each machine give the same changes'

# --- changes besides the commit

# served FROM [NAME]: makes the commits those of a module, with another server from
# commit FROM on; with NAME another setting of the host.
served() {
  perl -pe '/"commit":"c(\d+)000"/; my $new = $1 >= '"$1"'; my $x = $new ? "9.0.0" : "8.0.1";
    s/"subject":\{"commit"/"subject":{"server_version":"$x","binary_sha256":"${\ ($x x 8)}","module_commit"/ unless "'"${2:-}"'";
    s/"env":\{/"env":{"'"${2:-}"'":"$x",/ if "'"${2:-}"'"'
}
fleet 14 45 0 a,4,1e5,25,.92 >plain
served 25 <plain >server
test_that 'a module whose server changed at the same commit' vkb-detect server
test_match '^0 regressions that count; 1 change ' .out 'it is not a regression'
test_match '^different at c0025000' .out 'it is a change'
test_match ' SET +throughput .* the server changed from 8\.0\.1 \(SHA-256 8\.0\.18\.0\.18\.\) to 9\.0\.0 \(' .out 'the row has both servers'
test_same 'different c0025000 25-25 92' "$(changes server | cut -d ' ' -f 1-4)" 'the record is a change'
test_same 'the server changed from' "$(vkb-detect -f jsonl server | jq -r .setup | cut -d ' ' -f 1-4)" 'the record has both servers'
served 20 <plain >earlier
test_status 1 'a module whose server changed earlier' vkb-detect earlier
test_same 'regression c0025000 25-25 92' "$(changes earlier | cut -d ' ' -f 1-4)" 'the change is a regression'
test_absent 'the server changed' .out 'the row does not mention the server'
{ served 25 <plain; for i in 1 2 3; do fleet "14$i" 45 0 a,4,1e5,25,.92 | sed "s/\"index\":1/\"index\":1$i/" | served 25; done; } |
  grep -E '"c00(2[0-5])000"' >newest
test_that 'a newest commit with another server' vkb-detect --latest 5 newest
test_match ' the server changed from 8\.0\.1 ' .out 'the row has the server, and it is not a regression'
sed 's/"module_commit"/"commit":"4711","module_fixed":true,&/' server | perl -pe 's/4711/"s" . (\/"c00(..)000"\/ ? $1 : 0)/e' >fixed
test_status 1 'commits of a server with the same module' vkb-detect fixed
served 25 kernel <plain >updated
test_that 'a host whose kernel changed at the same commit' vkb-detect updated
test_match ' the kernel changed from 8\.0\.1 to 9\.0\.0' .out 'the row has the kernel'
perl -pe 's{"host":"a"}{sprintf "\"host\":\"h%d\"", $. / 3}e' updated >runners
test_status 1 'hosts of CI with different kernels' vkb-detect runners
vkb-history -q add kept4 server
vkb-history -q site kept4 site4
test_match 'the server changed from 8\.0\.1 ' site4/index.html 'the page has the servers'
sed 's/"8\.0\.1"/"<b>\\n\\u001b[31m"/' server updated >evil
vkb-detect evil >.out
test_match 'changed from .*<b>' .out 'a hostile name of a server is shown'
test_empty "$(tr -d '[:print:]\n' <.out)" 'its control characters are escaped'
vkb-history -q add kept5 evil
vkb-history -q site kept5 site5
test_empty "$(grep -rF --include='*.html' 'from <b>' site5)" 'it is escaped on the page'

# --- the order of commits without commit records

fleet 11 40 0 a,4,1e5,25,.92 | perl -pe 's{"commit":"c00(\d\d)000"}{$& . sprintf q(,"time":"2026-03-%02dT%s"), int($1 / 2) + ($1 % 2 ? 1 : 2), $1 % 2 ? "18:00:00-04:00" : "01:00:00+04:00"}e' >zones
tac zones >backwards
test_status 1 'commits whose times have time zones' vkb-detect backwards
test_match '^40 commits in the order of their time' .out 'they are in the order of their times'
test_same 'c0025000 25-25' "$(changes backwards | cut -d ' ' -f 2,3)" 'the times are compared in one zone'

{
  printf '{"type":"commit","v":1,"commit":"%s","parents":[%s],"time":"%s"}\n' \
    a1111111 '' 2026-03-01T23:00:00-04:00 b2222222 '"a1111111"' 2026-03-02T02:00:00-04:00
  printf '{"type":"run","v":1,"subject":{"commit":"%s","time":"%s"},"config":{"command":"SET"},"run":{},"metrics":{"rps":1},"status":"ok"}\n' \
    a1111111 '' b2222222 '' c3333333 2026-03-02T01:00:00Z
} >placed
vkb-detect placed >.out
test_match '^3 commits in the order of their ancestry, c3333333 to b2222222; 1 placed by time' .out \
  'a commit without a record is placed by its time among those with records'

# --- the newest commit, and counts

fleet 10 12 0 a,4,1e5,11,.8 b,8,7e4,11,.8 >newest
for i in 1 2 3; do fleet "1$i" 12 0 a,4,1e5,11,.8 b,8,7e4,11,.8 |
  sed "s/\"index\":1/\"index\":1$i/"; done >>newest
test_status 1 'a newest commit that is slower on two machines' vkb-detect --latest 3 newest
test_match ' NEW, on both machines: ' .out 'it is one regression on both machines'
grep -v '"commit":"c0011000".*"host":"b"' newest >absent
test_status 1 'a newest commit that one machine measured' vkb-detect --latest 3 absent
test_match ' NEW, on a$' .out 'it is compared with commits of that machine only'
test_absent 'not measured at the newest' .out 'no series is reported as missing'
fleet 12 12 0 a,4,1e5,99,1 | head -n 11 >replaced
for i in 1 2 3 4 5; do fleet "2$i" 12 0 n,4,1e5,99,1 | tail -n 1 | sed "s/\"index\":1/\"index\":1$i/"; done >>replaced
test_status 2 'a newest commit that only a new machine measured is not judged' vkb-detect --latest 3 replaced
test_match '^vkb-detect: nothing was judged: no case has [0-9]+ runs of one machine at the newest' .err \
  'the error has the reason'
counts() { # counts HOST COUNT FIRST STEP: prints counted runs of every second commit
  for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
    [ $((i % 2)) -eq "$3" ] || continue
    printf '{"type":"run","v":1,"subject":{"commit":"c%03d000"},"config":{"command":"SET"},"run":{"session":"%s%d","index":1},"env":{"host":"%s","cpus":%d},"metrics":{"instructions_per_req":%d},"status":"ok","counted":true}\n' \
      $i "$1" $i "$1" "$2" $((i >= $4 ? $2 * 110 : $2 * 100))
  done
}
{ counts a 40 0 6; counts b 50 1 6; } | sort >counted
test_status 1 'counts of two processors' vkb-detect counted
test_same 'regression c006000 6-6 110' "$(changes counted | cut -d ' ' -f 1-4)" \
  'a step of counts is found at its commit, though each machine measured only every second one'

# --- a reference server beside each run

# beside COMMIT: gives the runs on stdin ratios to a reference, from this commit on to one
# that is twice as slow; the machine varies by a factor of three, and latencies double for
# good at c0030, whatever the server
beside() {
  jq -c --argjson from "$1" '(.subject.commit[1:5] | tonumber) as $i | ($i >= $from) as $new |
    .metrics.rps_ratio = .metrics.rps / (if $new then 5e4 else 1e5 end) |
    .metrics.p50_latency_ratio = 1 / .metrics.rps_ratio |
    .metrics.p50_latency_ms = 5e6 / .metrics.rps * (if $i < 30 then 1 else 2 end) |
    .env.reference_sha256 = (if $new then "bb" else "aa" end) |
    .metrics.rps /= 1 + $i * 7 % 5 / 2'
}
found() { # prints the metric and the commit of each change
  vkb-detect -f jsonl "$@" | jq -r 'select(.type == "change") | .kind + " " + .metric + " " + .commit'
}
fleet 1 40 0 a,4,1e5,25,.92 | beside 99 >ratios
test_same 'regression p50_latency_ratio c0025000
regression rps_ratio c0025000' "$(found ratios | sort)" \
  'runs beside a reference are judged by the ratios to it, not by throughput and latency'
test_match '\(2 series of 1 case\)' - 'neither is judged beside it' <<END
$(vkb-detect ratios)
END
vkb-stats ratios >summaries
test_same "$(found ratios)" "$(found summaries)" 'so are their summaries'
# Other programs used most of the CPU up to commit 24: the machine may be the cause of the
# change of the ratios, which is small, but not of one that is large.
used() { jq -c '.metrics.foreign_cpu_percent = (if .subject.commit < "c0025" then 90 else 1 end)' "$@"; }
used ratios >busy
test_that 'a small change of a ratio when other programs ended does not count' vkb-detect busy
test_match '^different at c0025000' .out 'it is a difference'
test_match 'throughput ratio .* -[78]\.[0-9]% .* other processes used 90% of the CPU before and 1% since$' .out \
  'which names what other programs used'
fleet 1 40 0 a,4,1e5,25,.5 | beside 99 | used >busy
test_status 1 'a large one is' vkb-detect busy
test_match '^regression at c0025000' .out 'it has its commit'
jq -c '.metrics.foreign_cpu_percent = 90' ratios >busy
test_status 1 'a change beside the same other programs is one' vkb-detect busy
jq -c 'if .subject.commit < "c0025" then . else .metrics.foreign_cpu_percent = 1 end' ratios >late
test_status 1 'where nothing is known of them before, it is one' vkb-detect late
fleet 1 40 0 a,4,1e5,25,.8 | used >freed
test_status 1 'a server that is slower when other programs ended is slower' vkb-detect freed
fleet 1 40 0 a,4,1e5,25,1.3 | used >freed
test_match '^different at c0025000' - 'one that is faster then may be as fast as before' <<END
$(vkb-detect freed)
END
used ratios | head -n 26 | jq -c 'range(6) as $i | .run.index = $i | .metrics.rps_ratio *= 1 + $i / 1000 |
  .metrics.p50_latency_ratio *= 1 + $i / 1000' >busy
test_that 'nor does --latest call it one' vkb-detect --latest 5 busy
test_match 'other processes used 90% of the CPU before and 1% since' .out 'which says why'
sed 's/"foreign_cpu_percent":90/"foreign_cpu_percent":1/' busy >calm
test_status 1 'on a calm machine it is one with --latest' vkb-detect --latest 5 calm
used ratios | jq -c '.metrics.instructions_per_req = (if .subject.commit < "c0025" then 100 else 110 end) | .counted = true' >busy
test_status 1 'a change of counts is one' vkb-detect busy
test_match '^regression at c0025000' .out 'it is that of the commit'
fleet 1 60 0 a,4,1e5,45,.92 | beside 20 >two
test_same 'regression p50_latency_ratio c0045000
regression rps_ratio c0045000' "$(found two | sort)" \
  'another reference begins another series'
# The former reference, twice as fast, is measured beside the new one.
fleet 1 60 0 a,4,1e5,21,.92 | beside 20 >short
test_absent c0021 - 'a change soon after it is not found' <<END
$(found short)
END
grep c0010 short | jq -c '.subject += {commit: "r8", binary_sha256: "aa"} |
  .env.reference_sha256 = "bb" | .metrics.rps_ratio = 2 * (1 + .run.index / 1000) |
  .metrics.p50_latency_ratio = .5' >chain
test_same 'regression p50_latency_ratio c0021000
regression rps_ratio c0021000' "$(found chain short | sort)" \
  'where the former one was measured beside it, the series are joined, and the change is found'
test_same "$(found chain short)" "$(vkb-stats chain short | found)" 'so are their summaries'
test_match '\(2 series of 1 case\)' - 'the series of the former reference is not counted' <<END
$(vkb-detect chain short)
END
# On another machine the former one is faster by a factor of 1.6.
fleet 1 60 0 a,4,1e5,99,1 b,8,1e5,99,1 | beside 20 |
  jq -c 'if .env.host == "b" and .env.reference_sha256 == "bb" then .metrics.rps_ratio *= .8 else . end' >pair
jq -c '., (.env += {host: "b", cpus: 8} | .run.session = "b-chain" | .metrics.rps_ratio *= .8)' chain >links
test_empty "$(found links pair)" 'each machine joins its series by its own ratio'
test_match '\(4 series of 1 case on 2' - 'each has one series of a metric' <<END
$(vkb-detect links pair)
END
test_match '\(6 series of 1 case on 2' - 'a machine without a ratio joins nothing' <<END
$(vkb-detect chain pair)
END
jq -c '.subject.binary_sha256 = "cc"' chain >other
test_match '\(4 series of 1 case\)' - 'another server beside it joins nothing' <<END
$(vkb-detect other short)
END
vkb-detect --latest 10 two >latest 2>&1
test_absent 'not measured at the newest commit' latest 'the series of the former reference is not missing'
jq -c 'if .subject.commit < "c0035" then del(.metrics.p50_latency_ratio) else . end |
  .metrics.p50_latency_ms = (if .subject.commit < "c0020" then 1 else 1.4 end) * .metrics.p50_latency_ms' ratios >older
test_match '^regression p50_latency_ms c0020000$' - 'where some runs lack the ratio, the latency itself is judged' <<END
$(found older)
END
jq -c 'if .subject.commit < "c0020" then del(.env.reference_sha256, .metrics["rps_ratio", "p50_latency_ratio"]) else . end' two >joined
test_status 1 'a history that is partly without a reference' vkb-detect joined
test_match '\(4 series of 1 case\)' .out 'is judged by throughput and latency as well'

test_done
