#!/bin/sh
# vkb-detect on a history that several machines measured: each is judged by itself,
# and what they show of one change is joined.
. "${0%/*}/lib.sh"

# fleet SEED COMMITS SHARED SPEC...: each SPEC is HOST,CPUS,LEVEL,FROM,FACTOR: a
# machine with this level, times FACTOR from commit FROM on. With SHARED 1 each
# commit is measured by one of them, in turn, else by all.
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
# changes FILE...: "kind commit lo-hi ratio machines without" of each change
changes() {
  vkb-detect -f jsonl "$@" | jq -r '[.kind, .commit, (.indexes | join("-")),
    (.ratio * 100 | round), ([.machines[]?.machine] | sort | join("+")),
    (.machines_without // [] | join("+"))] | join(" ")'
}

# --- one machine is what it was

fleet 1 40 0 a,4,1e5,25,.92 >one
test_status 1 'a history of one machine' vkb-detect one
test_absent machine .out 'has a report without the word machine'
vkb-detect -f jsonl one >want
sed 's/"env":{[^}]*},//' one >bare
vkb-detect -f jsonl bare >got
test_same "$(cat want)" "$(cat got)" 'and is as one without environments'
test_absent '"machines' want 'neither do its records'

# --- machines of different speed

fleet 2 40 0 a,4,1e5,99,1 b,8,7e4,99,1 c,8,3e4,99,1 >flat
test_that 'three machines of different speed without a change' vkb-detect flat
test_match '^0 regressions that count; 0 changes .*\(3 series of 1 case on 3 machines\)' .out \
  'have none'
test_match '^3 machines, each judged by itself: a \(Xeon, 4 CPUs; 40 commits\); b \(Xeon, 8 CPUs; 40 commits\); c ' \
  .out 'the report lists them'
fleet 2 60 1 a,4,1e5,99,1 b,8,7e4,99,1 c,8,3e4,99,1 >shared
test_that 'nor do they if they share the commits' vkb-detect shared
test_match '^0 regressions that count; 0 changes ' .out 'the differences between them are not taken for changes'
fleet 3 45 0 a,4,1e5,25,.92 b,8,7e4,25,.93 c,8,3e4,25,.92 >all
test_status 1 'a step on all machines' vkb-detect all
test_same 'regression c0025000 25-25 92 a+b+c ' "$(changes all)" 'is one change'
test_match '^regression at c0025000, 26 of 45' .out 'with its commit'
test_match ' SET +rps .* NEW, on all 3 machines: [abc]; [abc]; [abc]$' .out 'and its machines'
test_same 1 "$(grep -c NEW .out)" 'in one row'
fleet 3 45 0 a,4,1e5,25,.92 b,8,7e4,99,1 c,8,3e4,25,.92 >two
test_status 1 'a step on two machines' vkb-detect two
test_match ' NEW, on 2 of 3 machines: [ac]; [ac]; not on b$' .out 'says on which, and on which not'
fleet 3 45 0 a,4,1e5,99,1 b,8,7e4,25,.9 c,8,3e4,99,1 >single
test_status 1 'a large step on one machine' vkb-detect single
test_match ' NEW, on only 1 of 3 machines: b; not on a; c$' .out 'says that only one shows it'
test_same 'regression c0025000 25-25 90 b a+c' "$(changes single)" 'as does its record'
vkb-detect -f issue single >issue.md
test_match '^Seen on only 1 of 3 machines: b; not on a; c\.' issue.md 'and its issue'
test_match '^- Only one machine shows it: ' issue.md 'which says where to look'
vkb-detect -f markdown single >single.md
test_match '\| NEW, on only 1 of 3 machines: b; not on a; c \|' single.md 'and Markdown'
{ fleet 3 45 0 a,4,1e5,25,.92; fleet 4 12 0 b,8,7e4,99,1; } >early
test_match ' NEW, on a$' "$(vkb-detect early >.out; echo .out)" \
  'a machine that was not measured on both sides is not one without the change'
fleet 5 45 0 a,4,1e5,25,.92 b,8,7e4,25,1.08 >apart
test_same 'improvement c0025000 25-25 108 b a
regression c0025000 25-25 92 a b' "$(changes apart | sort)" 'opposite steps are two changes'
test_same 2 "$(vkb-detect -f jsonl apart | jq -r .key | sort -u | wc -l | tr -d ' ')" 'with two keys'
fleet 5 60 0 a,4,1e5,20,.92 b,8,7e4,40,.92 >later
test_same 'regression c0020000 a b
regression c0040000 b a' "$(changes later | cut -d ' ' -f 1,2,5,6 | sort)" 'steps at other commits are other changes'
test_same "$(changes all)" "$(tac all | sort >s; grep -h . s | sort -t '"' -k 10 | changes)" \
  'the order of the input does not matter to the machines'

# --- shared commits: each machine knows a range, all together the commit

fleet 6 120 1 a,4,1e5,61,.9 b,8,7e4,61,.9 c,8,3e4,61,.9 >shared
changes shared >got
test_same 'regression a+b+c' "$(cut -d ' ' -f 1,5 got)" 'a step that three machines share is one change'
test_same c0061000 "$(cut -d ' ' -f 2 got)" 'at its commit'
vkb-detect -f jsonl shared | jq -c '.indexes' >joint
grep '"host":"a"' shared | vkb-detect -f jsonl | jq -c '.indexes' >alone
test_same '[61,61] [21,21]' "$(cat joint alone | xargs)" 'which is all that machine a says of its own commits'
grep -v '"host":"a"' shared >.rest
grep '"host":"a"' shared >.a
vkb-detect -f jsonl shared | jq -c '.machines[] | select(.machine == "a").n' >n
test_same '[21,19]' "$(cat n)" 'each machine has the points that it measured'

# --- the site of a history

# charts FILE: the machine of each chart
charts() { grep -o 'req/s on [^<]*</span>' "$1" | sed 's/.* on //; s/<.*//' | sort | xargs; }
test_that 'a history is kept' vkb-history -q add kept single
test_that 'its site is written' vkb-history -q site kept site
test_same 'a b c' "$(charts site/index.html)" 'it has a chart for each machine'
test_match 'on only 1 of 3 machines: b' site/index.html 'and says which machine shows a change'
test_same 1 "$(grep -o '<path class="step ' site/index.html | wc -l | tr -d ' ')" \
  'the change is drawn in the chart of that machine alone'
vkb-history -q add kept2 all
vkb-history -q site kept2 site2
test_same 'a b c' "$(charts site2/index.html)" 'also of commits that several machines measured'
test_match '100K req/s on a|9[0-9][.0-9]*K req/s on a' site2/index.html 'with the values of each'

fleet 13 45 0 a,4,1e5,99,1 b,8,7e4,36,.8 | perl -ne 'next if /"c00(\d\d)000".*"b"/ && $1 > 31 && $1 < 36;
  s/"commit":"c00(\d\d)000"/$& . sprintf q(,"ref":"%s","time":"2026-03-01T00:%s:00Z"), $1 < 32 ? "old" : "new", $1/e; print' >branches
vkb-history -q add kept3 branches
vkb-history -q site kept3 site3
test_same 'a other hosts with Xeon, 8 CPUs' "$(charts site3/index.html)" \
  'a host with few commits of the branch has a chart of another name'
test_match '<path class="step ' site3/index.html 'which has the changes of that host'

# --- what is a machine

fleet 7 40 0 a,4,1e5,25,.92 | perl -pe 's{"host":"a"}{sprintf "\"host\":\"h%d\"", $. / 3}e' >runners
test_status 1 'hosts that are new for each job' vkb-detect runners
vkb-detect -f jsonl runners >got
test_same "$(vkb-detect -f jsonl one | jq -c '[.kind, .indexes]')" "$(jq -c '[.kind, .indexes]' got)" \
  'are one machine if they are alike'
test_absent machine .out 'the report does not mention machines then'
{ fleet 8 30 0 a,4,1e5,99,1; fleet 8 30 0 x,2,4e4,99,1 |
  perl -pe 's{"host":"x"}{sprintf "\"host\":\"h%d\"", $. / 3}e'; } >mixed
vkb-detect mixed >.out
test_match '^2 machines, each judged by itself: a \(Xeon, 4 CPUs; 30 commits\); other hosts with Xeon, 2 CPUs \(30 commits\)' \
  .out 'other hosts are taken together beside a machine'
{ fleet 9 20 0 a,4,1e5,99,1 | sed 's/"host":"a",//'; fleet 9 40 0 a,4,1e5,99,1 | tail -n 20; } >older
vkb-detect older >.out
test_absent machines .out 'older runs without a host are of the one machine that they fit'
sed 's/"env":{"arch"/"env":{"host":"unknown","arch"/' older >unknown
vkb-detect unknown >.out
test_absent machines .out 'so are runs of a host that is called unknown'
{ cat older; fleet 9 40 0 b,4,1e5,99,1; } >older2
vkb-detect older2 >.out
test_match 'a \(Xeon, 4 CPUs; 20 commits\); a host with Xeon, 4 CPUs \(20 commits\)' .out 'and a machine of their own if they fit two'
sed 's/"host":"b"/"host":"<b>|@x\\u001b[31m"/' two >evil
vkb-detect evil >.out
test_empty "$(tr -d '[:print:]\n' <.out)" 'the name of a host is harmless on a terminal'
vkb-detect -f markdown evil >.out
test_empty "$(grep -F -e '<b>' -e '|@' .out)" 'and in Markdown'
vkb-stats all >summaries
vkb-detect summaries >.out
test_match '^warning: 45 summaries of runs of several machines, which cannot be told apart: read the runs' \
  .out 'a warning is printed of summaries of several machines'
for h in a b c; do grep "\"host\":\"$h\"" all | vkb-stats; done >summaries
test_same "$(changes all)" "$(changes summaries)" 'those of each machine are as its runs'

# --- what changes besides the commit

# served FROM [NAME]: the commits are those of a module, from commit FROM on with
# another server; with NAME another setting of the host.
served() {
  perl -pe '/"commit":"c(\d+)000"/; my $new = $1 >= '"$1"'; my $x = $new ? "9.0.0" : "8.0.1";
    s/"subject":\{"commit"/"subject":{"server_version":"$x","binary_sha256":"${\ ($x x 8)}","module_commit"/ unless "'"${2:-}"'";
    s/"env":\{/"env":{"'"${2:-}"'":"$x",/ if "'"${2:-}"'"'
}
fleet 14 45 0 a,4,1e5,25,.92 >plain
served 25 <plain >server
test_that 'a module whose server changed with it' vkb-detect server
test_match '^0 regressions that count; 1 change ' .out 'has no regression'
test_match '^different at c0025000' .out 'it has a change'
test_match ' SET +rps .* the server changed from 8\.0\.1 \(SHA-256 8\.0\.18\.0\.18\.\) to 9\.0\.0 \(' .out 'which names the servers'
test_same 'different c0025000 25-25 92' "$(changes server | cut -d ' ' -f 1-4)" 'as does its record'
test_same 'the server changed from' "$(vkb-detect -f jsonl server | jq -r .setup | cut -d ' ' -f 1-4)" 'with both servers'
served 20 <plain >earlier
test_status 1 'a server that changed earlier' vkb-detect earlier
test_same 'regression c0025000 25-25 92' "$(changes earlier | cut -d ' ' -f 1-4)" 'leaves the change to the commit'
test_absent 'the server changed' .out 'and is not named'
{ served 25 <plain; for i in 1 2 3; do fleet "14$i" 45 0 a,4,1e5,25,.92 | sed "s/\"index\":1/\"index\":1$i/" | served 25; done; } |
  grep -E '"c00(2[0-5])000"' >newest
test_that 'a newest commit with another server' vkb-detect --latest 5 newest
test_match ' the server changed from 8\.0\.1 ' .out 'is not a regression either'
sed 's/"module_commit"/"commit":"4711","module_fixed":true,&/' server | perl -pe 's/4711/"s" . (\/"c00(..)000"\/ ? $1 : 0)/e' >fixed
test_status 1 'servers that are compared with one module' vkb-detect fixed
served 25 kernel <plain >updated
test_that 'a host with another kernel' vkb-detect updated
test_match ' the kernel changed from 8\.0\.1 to 9\.0\.0' .out 'is named as well'
perl -pe 's{"host":"a"}{sprintf "\"host\":\"h%d\"", $. / 3}e' updated >runners
test_status 1 'runners of CI with different kernels' vkb-detect runners
vkb-history -q add kept4 server
vkb-history -q site kept4 site4
test_match 'the server changed from 8\.0\.1 ' site4/index.html 'the site names the servers'
sed 's/"8\.0\.1"/"<b>\\n\\u001b[31m"/' server updated >evil
vkb-detect evil >.out
test_match 'changed from .*<b>' .out 'a name with an escape is shown'
test_empty "$(tr -d '[:print:]\n' <.out)" 'and harmless on a terminal'
vkb-history -q add kept5 evil
vkb-history -q site kept5 site5
test_empty "$(grep -rF --include='*.html' 'from <b>' site5)" 'and on the site'

# --- the order without commit records

fleet 11 40 0 a,4,1e5,25,.92 | perl -pe 's{"commit":"c00(\d\d)000"}{$& . sprintf q(,"time":"2026-03-%02dT%s"), int($1 / 2) + ($1 % 2 ? 1 : 2), $1 % 2 ? "18:00:00-04:00" : "01:00:00+04:00"}e' >zones
tac zones >backwards
test_status 1 'commits whose times have zones' vkb-detect backwards
test_match '^40 commits in the order of their time' .out 'are ordered by their time'
test_same 'c0025000 25-25' "$(changes backwards | cut -d ' ' -f 2,3)" 'in one zone'

{
  printf '{"type":"commit","v":1,"commit":"%s","parents":[%s],"time":"%s"}\n' \
    a1111111 '' 2026-03-01T23:00:00-04:00 b2222222 '"a1111111"' 2026-03-02T02:00:00-04:00
  printf '{"type":"run","v":1,"subject":{"commit":"%s","time":"%s"},"config":{"command":"SET"},"run":{},"metrics":{"rps":1},"status":"ok"}\n' \
    a1111111 '' b2222222 '' c3333333 2026-03-02T01:00:00Z
} >placed
vkb-detect placed >.out
test_match '^3 commits in the order of their ancestry, c3333333 to b2222222; 1 placed by time' .out \
  'commit records with zones give the place of a commit that they do not have'

# --- the newest commit, and counts

fleet 10 12 0 a,4,1e5,11,.8 b,8,7e4,11,.8 >newest
for i in 1 2 3; do fleet "1$i" 12 0 a,4,1e5,11,.8 b,8,7e4,11,.8 |
  sed "s/\"index\":1/\"index\":1$i/"; done >>newest
test_status 1 'a newest commit that is slower on two machines' vkb-detect --latest 3 newest
test_match ' NEW, on all 2 machines: ' .out 'is one regression of both'
grep -v '"commit":"c0011000".*"host":"b"' newest >absent
test_status 1 'a newest commit that one machine measured' vkb-detect --latest 3 absent
test_match ' NEW, on a$' .out 'is compared with that machine alone'
test_absent 'not measured at the newest' .out 'and no series is missed'
fleet 12 12 0 a,4,1e5,99,1 | head -n 11 >replaced
for i in 1 2 3 4 5; do fleet "2$i" 12 0 n,4,1e5,99,1 | tail -n 1 | sed "s/\"index\":1/\"index\":1$i/"; done >>replaced
test_status 2 'a newest commit that only a new machine measured is not judged' vkb-detect --latest 3 replaced
test_match '^vkb-detect: nothing was judged: no case has [0-9]+ runs of one machine at the newest' .err \
  'the error says why'
counts() { # counts HOST COUNT FIRST STEP: every second commit
  for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
    [ $((i % 2)) -eq "$3" ] || continue
    printf '{"type":"run","v":1,"subject":{"commit":"c%03d000"},"config":{"command":"SET"},"run":{"session":"%s%d","index":1},"env":{"host":"%s","cpus":%d},"metrics":{"instructions_per_req":%d},"status":"ok","counted":true}\n' \
      $i "$1" $i "$1" "$2" $((i >= $4 ? $2 * 110 : $2 * 100))
  done
}
{ counts a 40 0 6; counts b 50 1 6; } | sort >counted
test_status 1 'counts of two processors' vkb-detect counted
test_same 'regression c006000 6-6 110' "$(changes counted | cut -d ' ' -f 1-4)" \
  'a step of counts is found at its commit, though each machine measured every second'

test_done
