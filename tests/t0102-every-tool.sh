#!/bin/sh
# What all programs have in common, from one table: options of all programs, and good,
# torn, wrong and hostile input of those that read records.
. "${0%/*}/lib.sh"

for i in 1 2 3 4 5; do
  printf '{"type":"run","v":1,"subject":{"label":"mine"},"config":{"command":"SET","pipeline":%d},"run":{"session":"s","index":%d,"block":%d},"env":{"arch":"x86_64"},"metrics":{"rps":10%d.5,"p99_latency_ms":1.%d},"status":"ok"}\n' \
    1 $i $i $i $i
done >run.jsonl
printf '%s\n' '[{"commands":["SET","GET"],"requests":[1000],"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0}]' >config.json
printf '{"type":"unheard-of","v":7,"x":[1]}\n' >unknown.jsonl

no_control() { # no_control FILE WHAT: FILE has no control characters
  if LC_ALL=C grep -aq "$(printf '[\001-\010\013-\037\177]\\|\302[\200-\237]')" \
    "$1"; then
    test_result 1 "$2"
    cat -v "$1" | sed 's/^/# /'
  else
    test_result 0 "$2"
  fi
}

# to_closed COMMAND...: runs the command with a pipe as stdout whose reader has closed
# it.
to_closed() {
  perl -e 'pipe R, W; close R; open STDOUT, ">&W"; close W;
    $SIG{PIPE} = "DEFAULT"; exec @ARGV or exit 127' "$@"
}

to_full() { "$@" >/dev/full; }
to_nothing() { "$@" >&-; } # stdout is closed before the program starts
from() { # from FILE COMMAND...
  from_file=$1
  shift
  "$@" <"$from_file"
}

# --- every program

test_that 'vkb: -V' vkb -V
version=$(cat .out)
test_match '^vkb [0-9.]+$' .out 'vkb: its version'
most=$(sed -n 's/.*OPT_MOST = \([0-9]*\).*/\1/p' "$top/src/lib/opt.h")
for program in "$VKB_BIN"/vkb-*; do
  [ -x "$program" ] || continue
  p=${program##*/}
  for option in -V --version; do
    test_that "$p: $option" "$p" $option
    test_same "$p ${version#* }" "$(cat .out)" "$p: $option prints the version"
  done
  # Of an option with a text two values are an error, of a number the last counts.
  "$p" --dump-options 2>/dev/null | awk -F '\t' '$3 == "string" && $2 != "-" { print $2 }' >texts
  while read -r name; do
    case $p,$name in vkb-load,data-size | vkb-load,keyspacelen | vkb-load,clients | vkb-load,pipeline | \
      vkb-load,runs | vkb-bench,commits | vkb-build,server) continue ;; esac
    "$p" "--$name" a "--$name" b >.out 2>.err </dev/null
    echo "$? $(grep -c "option '--$name' is given twice" .err) $name"
  done <texts >twice
  test_empty "$(grep -v '^2 1 ' twice)" "$p: an option with a text is refused if it is given twice"
  test_that "$p: there is room for what is given" \
    test "$("$p" --dump-options 2>/dev/null | wc -l)" -lt "$most"
  case $(head -c 2 "$program") in
  '#!') continue ;;
  esac
  test_status 2 "$p: unknown option" "$p" --no-such-option
  test_match "^$p: unknown option '--no-such-option'" .err "$p: the error names the unknown option"
  test_empty_file .out "$p: nothing is printed on stdout"
  test_status 2 "$p: unknown letter" "$p" -Z
  test_that "$p: --help" "$p" --help
  test_match "^usage: $p" .out "$p: --help prints the usage on stdout"
  test_empty "$(awk 'length > 79' .out)" "$p: --help has at most 79 columns"
  test_that "$p: -h" "$p" -h
  test_status 2 "$p: --help to a full disk" to_full "$p" --help
  test_match "^$p: .*No space left" .err "$p: the error names the cause"
  test_status 2 "$p: --help to a closed stdout" to_nothing "$p" --help
  test_match "^$p: .*Bad file descriptor" .err "$p: the error names the cause"
  test_status 2 "$p: --version to a closed stdout" to_nothing "$p" --version
  printf '\033[31m' >word
  test_status 2 "$p: hostile option" "$p" "--x$(cat word)"
  no_control .err "$p: control characters of an option are escaped"
done

# reads COMMAND...: the input $good is read from a file and from stdin.
reads() {
  test_that "$name: good input" "$@" "$good"
  test_empty_file .err "$name: nothing is printed on stderr"
  cp .out want
  test_that "$name: stdin" from "$good" "$@"
  test_same "$(cat want)" "$(cat .out)" "$name: input from stdin gives the same output"
  test_that "$name: - is stdin" from "$good" "$@" -
  test_same "$(cat want)" "$(cat .out)" "$name: - gives the same output"
}

# --- programs that read records: filter GOOD COMMAND...

filter() {
  good=$1
  shift
  name=$*
  n=$(($(wc -l <"$good") + 1))
  reads "$@"

  { cat "$good"; head -n 1 "$good" | tr -d '\n'; } >torn
  test_status 2 "$name: a last line without its newline" "$@" torn
  test_match "torn:$n" .err "$name: the error has the torn line"
  { cat "$good"; printf '{"type":"run","v":1,"subj'; } >short
  test_status 2 "$name: a line that is cut off" "$@" short
  test_match "short:$n" .err "$name: the error has the line that is cut off"
  sed '2s/"config":/"config":7,"x":/' "$good" >wrong
  test_status 2 "$name: a key of a wrong type" "$@" wrong
  test_match "wrong:2: .*'config' is not of type object" .err "$name: the error has the line and the key"
  sed '2s/"config":/"konfig":/' "$good" >lacks
  test_status 2 "$name: a missing key" "$@" lacks
  test_match "lacks:2: .* lacks 'config'" .err "$name: the error has the line with a missing key"
  sed '2s/"v":1/"v":2/' "$good" >newer
  test_status 2 "$name: a newer version of a record" "$@" newer
  test_match "newer:2: " .err "$name: the error has the line with a newer version"
  sed 's/"v":1,/"v":1,"unheard_of":{"a":1},/' "$good" >keys.more
  test_that "$name: an unknown key is accepted" "$@" keys.more

  test_status 2 "$name: a missing file" "$@" no-such-file
  test_match "no-such-file.*No such file" .err "$name: the error names the missing file"
  test_status 2 "$name: a folder" "$@" /
  test_status 2 "$name: a full disk" to_full "$@" "$good"
  test_match 'No space left' .err "$name: an error says that the disk is full"
  test_status 2 "$name: a closed stdout" to_nothing "$@" "$good"
  test_match 'Bad file descriptor|stdout is closed' .err "$name: an error says that stdout is closed"
  test_status 141 "$name: a closed pipe" to_closed "$@" "$good"
  test_empty_file .err "$name: nothing is printed on stderr"

  hostile=$(printf 'a\033[31mb')
  cp torn "$hostile"
  test_status 2 "$name: a hostile file name" "$@" "$hostile"
  no_control .err "$name: control characters of a file name are escaped"
  printf '{"type":"run","v":1,"subject":{},"config":{},"run":{},"metrics":{"\\u001b]0;x\\u0007\\u009b":"1"},"status":"ok"}\n' >keys
  "$@" keys >.out 2>.err </dev/null
  no_control .err "$name: control characters of a key are escaped"
  printf '{"a\033[31mb":}\n' >raw
  test_status 2 "$name: a hostile line" "$@" raw
  no_control .err "$name: control characters of a line are escaped"
  head -c 20000 /dev/zero | tr '\0' '[' >deep
  test_status 2 "$name: deeply nested records" "$@" deep
  printf '\377\376\n' >bytes
  test_status 2 "$name: no UTF-8" "$@" bytes
}

# Programs that execute records refuse unknown ones; filters do not.
passes_unknown() {
  good=$1
  shift
  cat unknown.jsonl "$good" >types
  test_that "$*: records of an unknown type are accepted" "$@" types
  test_empty_file .err "$*: nothing is printed on stderr"
}

# Input that is not records: stacks FILE COMMAND...
stacks() {
  good=$1
  shift
  name=$*
  reads "$@"
  printf %s "$(cat "$good")" >torn
  test_status 2 "$name: a last line without its newline" "$@" torn
  test_match "torn:$(wc -l <"$good")" .err "$name: the error has the torn line"
  { cat "$good"; echo nonsense; } >wrong
  test_status 2 "$name: an invalid line" "$@" wrong
  test_match "wrong:$(($(wc -l <"$good") + 1))" .err "$name: the error has the invalid line"
  test_status 2 "$name: a missing file" "$@" no-such-file
  test_match "no-such-file.*No such file" .err "$name: the error names the missing file"
  test_status 2 "$name: a folder" "$@" /
  test_status 2 "$name: a full disk" to_full "$@" "$good"
  test_match 'No space left' .err "$name: an error says that the disk is full"
  test_status 2 "$name: a closed stdout" to_nothing "$@" "$good"
  test_match 'Bad file descriptor' .err "$name: an error says that stdout is closed"
  test_status 141 "$name: a closed pipe" to_closed "$@" "$good"
  test_empty_file .err "$name: nothing is printed on stderr"
  printf 'a\033[31mb;c\033]0;x\007 1\n\377\376\302\233 2\n' >evil
  test_that "$name: hostile names" "$@" evil
  no_control .out "$name: control characters of names are escaped"
  head -c 20000 /dev/zero | tr '\0' ';' >deep
  echo ' 1' >>deep
  test_that "$name: very deep stacks" "$@" deep
}

has() { [ -x "$VKB_BIN/$1" ]; }

if has vkb-load; then
  vkb-load --plan config.json >case.jsonl
  filter case.jsonl vkb-load --plan
fi
if has vkb-stats; then
  filter run.jsonl vkb-stats
  filter run.jsonl vkb-stats --text
  passes_unknown run.jsonl vkb-stats --text
  passes_unknown run.jsonl vkb-stats
  test_same "$(cat unknown.jsonl)" "$(grep unheard-of .out)" 'vkb-stats prints an unknown record unchanged'
fi
if has vkb-parse; then
  filter run.jsonl vkb-parse
  filter run.jsonl vkb-parse --flat
  passes_unknown run.jsonl vkb-parse
  test_same "$(cat unknown.jsonl)" "$(grep unheard-of .out)" 'vkb-parse prints an unknown record unchanged'
fi
if has vkb-pgpush; then
  filter run.jsonl vkb-pgpush --dry-run
  passes_unknown run.jsonl vkb-pgpush --dry-run
fi
# Records may take several lines each, as jq prints them. A file that has no record is
# answered once, by what to type. Of many bad lines the first three are reported, and the
# others are counted.
if has vkb-compare; then
  jq . run.jsonl run.jsonl >pretty
  for tool in vkb-stats 'vkb-stats --text' vkb-report vkb-detect vkb-parse 'vkb-compare run.jsonl'; do
    # shellcheck disable=SC2086 # a program and its arguments
    test_same "$(cat run.jsonl run.jsonl | $tool 2>&1)" "$($tool <pretty 2>&1)" \
      "$tool: records over several lines are read"
  done
  jq . run.jsonl | sed '$d' >torn
  test_status 2 'the last of them is torn' vkb-stats torn
  n=$(wc -l <run.jsonl)
  test_match "^vkb-stats: torn:$(($(wc -l <torn) + 2 - $(tail -n 1 run.jsonl | jq . | wc -l))): bad record: it ends too early$" .err \
    'the line in which it begins is named'
  test_same "$((n - 1))" "$(jq -s 'map(.n) | add' .out)" 'those before it are used'
  printf 'BenchmarkA-8 \t 100 \t 1000 ns/op\n%.0s' 1 2 3 4 5 6 >go
  printf '{"context": {},\n  "benchmarks": [\n    {\n      "name": "BM_A"\n    }\n  ]\n}\n' >gbench
  printf '{"context": {},\n  "benchmarks": [\n{"name": "BM_A"},\n{"name": "BM_B"}\n  ]\n}\n' >mixed
  for file in gbench mixed go; do
    for tool in vkb-compare vkb-stats vkb-report vkb-detect; do
      test_status 2 "$tool: $file" "$tool" "$file" run.jsonl
      test_same "$tool: $file: there is no record: 'vkb parse' reads the output of other programs" \
        "$(cat .err)" "$tool: $file is answered in one line"
    done
  done
  # What writes an empty file failed, or measured nothing. vkb-detect without a change
  # leaves one to vkb-report, vkb-history and vkb-pgpush.
  for tool in vkb-stats vkb-detect vkb-compare vkb-parse vkb-flame vkb-record vkb-gendata \
    vkb-load 'vkb-serve start' 'vkb-profile --as-runs' 'vkb-env --compare run.jsonl'; do
    # shellcheck disable=SC2086 # a program and its arguments
    test_status 2 "$tool: an empty file is an error" $tool /dev/null
    [ "$tool" != vkb-detect ] || continue
    test_match '/dev/null' .err "$tool: it is named"
    test_empty_file .out "$tool: nothing is written"
  done
  (cat run.jsonl && for i in 1 2 3 4 5 6; do echo garbage; done) >bad
  test_status 2 'bad lines behind a record' vkb-stats bad
  test_same 4 "$(wc -l <.err)" 'three of them are reported'
  test_match '^vkb-stats: bad: 3 more bad records$' .err 'and the others are counted'
  test_match '"type":"summary"' .out 'the record is used'
  for i in 1 2 3 4 5 6; do echo '{"metrics":{"rps":1}}'; done >foreign
  test_status 2 'objects of another tool' vkb-compare foreign run.jsonl
  test_match "^vkb-compare: foreign:1: record lacks 'type'; .*use vkb-parse" .err \
    'the error for such objects suggests vkb-parse'
  test_match '^vkb-compare: foreign: 3 more bad records$' .err 'the other bad records are counted'
fi
if has vkb-compare; then
  filter run.jsonl vkb-compare run.jsonl
  passes_unknown run.jsonl vkb-compare run.jsonl
fi
if has vkb-record; then
  printf '1.000001 [0 a] "SET" "k" "v"\n' >lines
  vkb-record -q lines >trace
  for show in --show --monitor; do
    good=trace name="vkb-record $show"
    reads vkb-record $show
  done
  for good in '--show trace' lines; do
    # shellcheck disable=SC2086 # an option
    test_status 2 "vkb-record $good: a full disk" to_full vkb-record -q $good
    test_match 'No space left' .err "vkb-record $good: the error says that the disk is full"
    # shellcheck disable=SC2086
    test_status 141 "vkb-record $good: a closed pipe" to_closed vkb-record -q $good
  done
  test_status 2 'vkb-record: a missing file' vkb-record no-such-file
  test_match 'no-such-file.*No such file' .err 'vkb-record: the error names the missing file'
fi
if has vkb-redact; then
  test_same "$(cat run.jsonl)" "$(vkb-redact <run.jsonl)" 'vkb-redact: a record without secrets is unchanged'
  test_status 2 'vkb-redact: a missing file' vkb-redact no-such-file
  test_status 2 'vkb-redact: a full disk' to_full vkb-redact run.jsonl
  test_status 141 'vkb-redact: a closed pipe' to_closed vkb-redact run.jsonl
fi
if has vkb-env; then
  filter run.jsonl vkb-env --compare run.jsonl
  passes_unknown run.jsonl vkb-env --compare run.jsonl
fi
if has vkb-detect; then
  filter run.jsonl vkb-detect
  passes_unknown run.jsonl vkb-detect
fi

if has vkb-report; then
  filter run.jsonl vkb-report
  passes_unknown run.jsonl vkb-report
fi

if has vkb-flame; then
  printf '%s\n' 'a;b 1' 'a;c 2' >stacks.txt
  stacks stacks.txt vkb-flame
  stacks stacks.txt vkb-flame -f folded
fi

# A program that prints texts of records escapes their control characters.
sed 's/mine/\\u001b[31mm\\u009b\\u0007/; s/"SET"/"S\\u001b[2JT"/' run.jsonl >evil
for view in 'vkb-stats --text evil' 'vkb-compare run.jsonl evil' \
  'vkb-compare evil evil' 'vkb-detect evil' 'vkb-report evil' \
  'vkb-report --list evil'; do
  has "${view%% *}" || continue
  # shellcheck disable=SC2086 # words
  $view >.out 2>.err </dev/null
  no_control .out "$view: stdout"
  no_control .err "$view: stderr"
done
test_done
