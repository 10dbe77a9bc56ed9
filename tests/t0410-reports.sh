#!/bin/sh
# Whole reports of the same records: shows each number or text that a change of
# vkb-compare alters. If that is intended, write the reports again: VKB_REPORTS=FOLDER
# sh tests/t0410-reports.sh also writes the reports to FOLDER.
. "${0%/*}/lib.sh"

SOURCE_DATE_EPOCH=1795000000 # 2026-11-18
export SOURCE_DATE_EPOCH

# same NAME ARGUMENT ...: report, messages and exit status are those of
# tests/data/reports/NAME, with numbers to six digits; of tables in Markdown only the
# first 30 rows are compared.
same() {
  name=$1
  shift
  rm -f more
  vkb-compare "$@" >out 2>err
  {
    echo "vkb-compare $*: exit $?"
    cat err out
    case $* in
    *:more*) cat more ;;
    esac
    case $* in
    *'-f text'*)
      echo "--- with -v:"
      vkb-compare -v "$@" 2>/dev/null
      ;;
    esac
    case $* in
    *:records*) jq -c "del(.values, .baseline, .contender)" records ;;
    esac
  } | sed "s/\"version\":\"$(vkb-compare --version | sed 's/.* //')\"/\"version\":\"V\"/" |
    perl -pe 's/-?\b\d+\.\d{6,}(e[-+]?\d+)?/sprintf "%.6g", $&/gie;
      $_ = "" if /^\| / && $rows++ >= 30' >"$name.now"
  if [ "${VKB_REPORTS:-}" ]; then
    cp "$name.now" "$VKB_REPORTS/$name"
  fi
  test_that "the report '$name' has not changed" diff "$tests/data/reports/$name" "$name.now"
}

perl "$tests/reports.pl"
cat >policy <<'END_OF_POLICY'
{"rules": [
  {"metric": "p99_latency_ms", "margin": "12%"},
  {"metric": "p99_latency_ms", "case": "C*", "session": {"sd": "4%", "df": 3}},
  {"metric": "p50_latency_ms", "case": "C*", "class": "primary", "session": {"sd": "2.5%", "df": 3}},
  {"metric": "rps", "class": "primary", "session": {"sd": "1.5%", "df": 4}},
  {"metric": "rps", "case": "INCR*", "margin": "-1%"},
  {"metric": "used_memory_bytes", "class": "gate", "margin": "+0.5%"},
  {"metric": "elapsed_s", "case": {"command": "GET"}, "class": "gate", "better": "lower", "assume": "exact"},
  {"metric": "rps", "case": "SET*", "waiver": {"reason": "wanted", "expires": "2026-11-18", "limit": "20%"}},
  {"metric": "p50_latency_ms", "case": "SET*", "waiver": {"reason": "for a while", "expires": "2026-11-17"}},
  {"metric": "p99_latency_ms", "case": "SET*", "waiver": {"reason": "a little", "expires": "2027-01-01", "limit": "5%"}},
  {"metric": "rps", "case": "C5*", "waiver": {"reason": "never so", "expires": "2027-01-01"}},
  {"metric": "none", "margin": "3%"}]}
END_OF_POLICY

# two FORMAT ARGUMENT ...: the report of 'mixed' in a format
two() {
  format=$1
  shift
  same "mixed.$format" -f "$format" "$@" mixed.old mixed.new
}
for f in $(report_formats | grep -vxE 'text|jsonl'); do
  two "$f"
done
two jsonl --strict --on-insufficient ok
same mixed.all -m all -f text mixed.old mixed.new
same mixed.policy --policy policy --margin +3% --ci --on-likely fail -f text -f jsonl:records mixed.old mixed.new
same mixed.history --margin auto --history history --canary 'GE?' --canary DEL -f text -f jsonl:records \
  mixed.old mixed.new
same mixed.again --deltas -f text -f markdown:more records
same mixed.explained --explain '[SMZ]*' mixed.old mixed.new

same rounds --baseline a --canary GET -f text -f jsonl:records rounds
same rounds.explained --baseline a --explain 'DEL*' -m all rounds
same apart --baseline a -f text -f jsonl:records apart
same apart.explained --baseline a --explain '[Ca]*' apart
same apart.policy --baseline a --policy policy -f text -f markdown:more apart
same apart.history --baseline a --history history -f text apart
same sessions --baseline a -f text -f jsonl:records sessions
same sessions.explained --baseline a --explain '[Ca]*' sessions
for f in uneven uncalm constant busy busier counted zeros still single; do
  same $f --baseline a -f text -f jsonl:records $f
done
jq -c '.subject.binary_sha256 = "00"' rounds >sameserver
same sameserver --baseline a -f text -f jsonl:records sameserver
same sameserver.markdown --baseline a -f markdown sameserver
same sameserver.explained --baseline a --explain 'DEL*' sameserver
same counted.explained --baseline a --explain '[SE]*' counted

for n in 4 6; do
  same calibrate.$n --calibrate $n -f text -f policy:more alike
done
same calibrate.policy --calibrate 5 --policy policy --margin 1% alike

for f in markdown annotations; do
  same many.$f --baseline a -f $f many
done

# The histograms of t0407, in two parts of one side.
old=HISTFAAAADR42pNpmSzMwMAAwiDADKUdgJj3h3sEg/0HiMBBvwW9bH/5Gz6y/OW/MYvxL/8JRgAHLQ2H
moved=HISTFAAAADR42pNpmSzMwMAAwiDADKUdgJj3h3sEg/0HiMBBvwW9bH/5Gz6yrJa4MYvxL/8JRgAEkw0+
# moved LABEL SESSION RPS HIST P95: prints a summary of six rounds
moved() {
  printf '{"type":"summary","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"n":6,"failed":0,"sessions":["%s"],"metrics":{"rps":{"n":6,"median":%s,"values":[%s,%s1,%s2,%s3,%s4,%s5],"blocks":[1,2,3,4,5,6],"sessions":[0,0,0,0,0,0]}},"hist":{"latency_ns":"%s"},"quantiles":{"latency_ns":{"50":[1e6,1.1e6,1e6,1.05e6,1e6,1e6],"95":[%s]}}}\n' \
    "$1" "$2" "$3" "$3" "$3" "$3" "$3" "$3" "$3" "$4" "$5"
}
{
  moved x s 10.0 "$old" 4.0e6,4.1e6,4.2e6,4.3e6,4.4e6,4.5e6
  moved x t 10.3 "$moved" 4.2e6,4.2e6,4.3e6,4.4e6,4.4e6,4.5e6
  moved x t 10.3 "$moved" 4.2e6,4.2e6,4.3e6,4.4e6,4.4e6,4.5e6
} >before
moved y t 9.1 "$moved" 6.0e6,6.25e6,6.3e6,6.45e6,6.6e6,6.7e6 >after
same shift --shift -f text -f jsonl:records -f markdown:more before after
same shift.same --shift before before
sed 's/latency_ns/latency_us/g; s/"95"/"99"/g' before >before.us
sed 's/latency_ns/latency_us/g; s/"95"/"99"/g' after >after.us
same shift.us --shift -f text before.us after.us
sed 's/latency_ns/wait_ms/g' before >before.ms
sed 's/latency_ns/wait_ms/g' after >after.ms
same shift.ms --shift -f text before.ms after.ms
sed 's/latency_ns/waits/g' before >before.bare
sed 's/latency_ns/waits/g' after >after.bare
same shift.bare --shift -f text before.bare after.bare

test_done
