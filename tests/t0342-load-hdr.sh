#!/bin/sh
# --hdr: a log of HdrHistogram with the latencies of each interval of each run, which
# add up to the histograms of the records. Long loads have a rate, since a closed loop
# takes two CPUs; slices are a closed loop in t0319.
. "${0%/*}/lib.sh"
test_server 'logs of HdrHistogram'

# The histograms of runs or of what vkb-parse read: NAME SAMPLES P99 HISTOGRAM.
hists() { jq -r '"\(.config.tag // .about.id // .config.command) \(.metrics.p50_latency_ms) \(.metrics.p99_latency_ms) \(.metrics.p999_latency_ms) \(.hist.latency_ns)"' "$@" | sort; }

printf '[{"commands":["SET","GET"],"keyspacelen":[100],"clients":[3],"duration":2.2,"warmup":0.1,"rate":2000}]\n' >c.json
test_that 'two cases' vkb-load -q --runs 1 --hdr log.hlog -o runs c.json
test_same '#[Histogram log format version 1.3]' "$(sed -n 2p log.hlog)" 'the log says its format'
test_match '^#\[BaseTime: [0-9]{10}\.[0-9]{3} \(seconds since epoch\)\]$' log.hlog 'and when it began'
test_that 'vkb-parse reads it' vkb-parse log.hlog
cp .out parsed
test_same "$(jq -r '.config.command' runs | sort)" \
  "$(jq -r '.config.tag' parsed | sed 's/-.*//' | sort)" 'each case is a tag'
test_same "$(jq -r '.hist.latency_ns' runs | sort)" "$(jq -r '.hist.latency_ns' parsed | sort)" \
  'the intervals add up to the histogram of the record'
test_same "$(jq -c '.metrics | [.p50_latency_ms, .p99_latency_ms, .p999_latency_ms]' runs | sort)" \
  "$(jq -c '.metrics | [.p50_latency_ms, .p99_latency_ms, .p999_latency_ms]' parsed | sort)" \
  'and so do their percentiles'
perl "$tests/histogram.pl" <parsed >.out 2>.err
test_same 0 $? 'an independent reader decodes them'
# Three intervals a case, one second each, begun one after the other.
test_same 'true' "$(grep -c '^Tag=SET' log.hlog | jq '. >= 3 and . <= 4')" 'a line for each second'
test_same 'true' "$(sed -n 's/^Tag=SET[^,]*,//p' log.hlog | awk -F, 'NR > 1 && ($1 - last < .99 || $1 - last > 1.01) {bad = 1}
  {last = $1} END {print bad ? "false" : "true"}')" 'a second lies between the starts'
test_same '1.000 1.000 0.200 ' "$(sed -n 's/^Tag=SET[^,]*,[^,]*,\([^,]*\),.*/\1/p' log.hlog | head -n 3 | tr '\n' ' ')" \
  'the last interval is as long as the rest of the run'
start=$(sed -n 's/^#\[BaseTime: \([0-9.]*\) .*/\1/p' log.hlog)
test_same true "$(jq -s --arg start "$start" 'map(.run.started[:19] + "Z" | fromdate) | min >= ($start | tonumber) - 2 and
  max <= ($start | tonumber) + 60' runs)" 'times are those of the session'
# The largest latency of an interval, in ms.
test_same true "$(sed -n 's/^Tag=[^,]*,[^,]*,[^,]*,\([^,]*\),.*/\1/p' log.hlog |
  jq -s --slurpfile r runs 'max == ($r | map(.metrics.max_latency_ms * 1000 | round / 1000) | max)')" \
  'the largest value is in ms'

# --- several builds, runs and sessions in one file

test_that 'a second session with the same file' vkb-load -q --runs 2 --duration 0.3s --warmup 0 \
  --hdr log.hlog --case 'SET*' c.json
test_same 2 "$(grep -c '^#\[StartTime' log.hlog)" 'adds a header of its own'
vkb-parse log.hlog >parsed
test_same 2 "$(wc -l <parsed | tr -d ' ')" 'its runs are added to the same tags'
printf 'Tag=x,1,1,1,HIST' >>log.hlog
test_that 'a torn line' vkb-load -q --runs 1 --duration 0.2s --warmup 0 --hdr log.hlog --case 'SET*' c.json
test_match '^Tag=x,1,1,1,HIST$' log.hlog 'is ended before the next log'
printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' one "$server" a,b "$server" >builds
test_that 'two builds in slices' vkb-load -q --runs 1 --duration 0.5s --warmup 0.1 --builds builds --hdr builds.hlog \
  -o built --case 'SET*' c.json
test_same 2 "$(sed -n 's/^Tag=[^,]*@\([^,]*\),.*/\1/p' builds.hlog | sort -u | wc -l | tr -d ' ')" 'tags name the build'
test_match '^Tag=SET[^,]*@a_b,' builds.hlog 'without a comma'
vkb-parse builds.hlog >parsed
test_same "$(jq -r '.hist.latency_ns' built | sort)" "$(jq -r '.hist.latency_ns' parsed | sort)" \
  'slices add up to the histograms of the records'
printf '[{"test_groups":[{"group":1,"scenarios":[{"id":"m","type":"mixed","duration":1,"rate":2000,"writes":[{"id":"w","test":"set"}],
  "reads":[{"id":"r","test":"get"}]}]}]}]\n' >mixed.json
test_that 'writers and readers' vkb-load -q --runs 1 --hdr mixed.hlog -o mixed mixed.json
vkb-parse mixed.hlog >parsed
test_same "$(jq -r '.hist.latency_ns' mixed | sort)" "$(jq -r '.hist.latency_ns' parsed | sort)" \
  'have a tag each, and add up'

# --- faults

test_status 2 'a file that cannot be written' vkb-load -q --runs 1 --hdr /dev/full -o none c.json
test_match "cannot write '/dev/full': No space left on device" .err 'the message names it'
test_that 'and nothing was measured' test ! -s none
test_status 2 'a folder that is not there' vkb-load -q --runs 1 --hdr nowhere/log c.json
test_match "cannot append to 'nowhere/log': No such file or directory" .err 'is an error'
test_status 2 'no log without runs' vkb-load --plan --hdr x.hlog c.json
# The disk is full later: the run is recorded, the session fails, no line is torn.
{ echo '#[Histogram log format version 1.3]'; yes '# a log that is long already'; } | head -c 204800 >full.hlog
(
  trap '' XFSZ
  ulimit -f 405 # blocks of 512 bytes, of which the file has 400: room for a line or two
  exec vkb-load -q --runs 1 --duration 4.2s --warmup 0 --hdr full.hlog --case 'SET*' c.json >full 2>full.err
)
test_same 2 $? 'a disk that gets full fails the session'
test_same 1 "$(grep -c "cannot write 'full.hlog': File too large" full.err)" 'and one message reports it'
test_same '"ok"' "$(jq .status full)" 'the run is recorded'
test_that 'and no line of the log is torn' vkb-parse full.hlog
test_litter 20 'nothing is left'
test_done
