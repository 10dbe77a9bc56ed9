#!/bin/sh
# vkb-load --again: the server of earlier runs is measured again, interleaved with another
# one; a server that is missing; the same server twice. A copy of the server with one
# more byte is another file that works as well.
. "${0%/*}/lib.sh"
test_server 'a baseline is measured again'

copy() { # copy FILE [TEXT]: copies the server, and appends TEXT
  { cat "$server" && printf %s "${2:-}"; } >"$1" && chmod +x "$1"
}
sha() { sha256sum <"$1" | cut -d' ' -f1; }
copy old
copy new x
old=$(sha old) new=$(sha new)
test_that 'the two servers differ' test "$old" != "$new"
printf '[{"commands":["SET","GET"],"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],"clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[1000]}]\n' >c.json
fields() { jq -c '[.subject.label, .subject.binary_sha256, .run.server_path]' "$@" | sort -u; }

# --- what a run records about its server

test_that 'the baseline' vkb-load --server ./old --runs 2 -o base.jsonl c.json
path=$(jq -r 'select(.type == "run").run.server_path' base.jsonl | sort -u)
test_same "$(readlink -f old)" "$(readlink -f "$path")" \
  'runs have the path of their server'
test_match '^/' - "the path is absolute" <<END
$path
END
test_same "$old" "$(jq -r 'select(.type == "run").subject.binary_sha256' base.jsonl |
  sort -u)" 'and its SHA-256'
printf '{"type":"spec","v":1,"id":"other"}\n' >spec
test_other spec
test_that 'a server that vkb-load did not start' vkb-load --port "$port" --runs 1 -o other.jsonl c.json
test_same null "$(jq -c 'select(.type == "run").run.server_path' other.jsonl | sort -u)" \
  'its runs have no path'

# --- two servers measured interleaved

test_that '--again' vkb-load --server ./new --again base.jsonl --runs 4 c.json
cp .out both
test_match "^vkb-load: base.jsonl: '.*/old' is measured again, as 'baseline'$" .err \
  'a message names the old server'
test_same "$(printf '["%s","%s","%s"]\n' baseline "$old" "$path" new "$new" \
  "${path%old}new" | sort)" "$(fields both)" 'both servers are measured, each with its name'
test_same true "$(jq -s 'length == 16 and (group_by([.config.command, .run.block]) |
  length == 8 and all(map(.subject.label) | sort == ["baseline", "new"]))' both)" \
  'each round has both servers'
test_same true "$(jq -s 'map(select(.config.command == "SET")) |
  [range(0; 8; 2) as $i | .[$i].subject.label] | map(select(. == "new")) | length == 2' both)" \
  'each server begins half of the rounds'
vkb-compare --baseline baseline -f jsonl both >deltas
test_same '["baseline","new",true]' "$(jq -c 'select(.type == "delta") |
  [.baseline.label, .contender.label, .paired]' deltas | sort -u)" \
  'a comparison pairs the runs of this session'
test_same null "$(jq -c 'select(.type == "comparison").same_server' deltas)" \
  'the comparison does not call them the same server'
test_that '-q' vkb-load -q --again base.jsonl --server ./new --runs 1 c.json
test_empty_file .err '-q prints no message'

test_that 'the session is resumed' sh -c 'head -n 5 both >part &&
  vkb-load -q --server ./new --again base.jsonl --runs 4 --resume part c.json'
test_same "$(jq -c '[.subject.label, .config.command, .run.index]' both | sort)" \
  "$(jq -c 'select(.type == "run") | [.subject.label, .config.command, .run.index]' part | sort)" \
  'a resumed session makes the missing runs'

# --- names

jq -c '.subject.label = "8.0"' base.jsonl >named.jsonl
test_that 'a baseline with a name' vkb-load --server ./new --label mine \
  --again named.jsonl --runs 1 c.json
test_same '8.0 mine' "$(jq -r .subject.label .out | sort -u | xargs)" 'a baseline with a name keeps it'
jq -c '.subject.label = "mine"' base.jsonl >named.jsonl
test_that 'a baseline whose name is that of the new server' vkb-load --server ./new \
  --label mine --again named.jsonl --runs 1 c.json
test_same 'baseline mine' "$(jq -r .subject.label .out | sort -u | xargs)" \
  'the old server is called baseline'
test_status 2 'a new server with the name of the baseline' vkb-load --server ./new --label baseline \
  --again base.jsonl --runs 1 c.json
test_match "two builds are called 'baseline'" .err 'two builds with one name are an error'
jq -c '.subject.commit = "c0ffee00c0ffee"' base.jsonl >named.jsonl
printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
  a "$PWD/new" b "$PWD/old" >builds
test_that '--again and two builds' vkb-load --builds builds --again named.jsonl --runs 1 c.json
test_same 'a b null' "$(jq -r .subject.label .out | sort -u | xargs)" \
  'three builds are measured; a commit is a name'
test_match "^vkb-load: 'b' and 'c0ffee00' are the same server" .err \
  'a message names the build that is the same server'
test_same 0 "$(grep -c "'a' and" .err)" 'the message does not name the other build'

# --- the same server

copy again
test_that 'a copy of the same server' vkb-load --server ./again \
  --again base.jsonl --runs 4 -o same c.json
test_match "^vkb-load: 'new' and 'baseline' are the same server, so differences are noise$" \
  .err 'a message names both builds'
test_same 1 "$(grep -n 'are the same server' .err | cut -d: -f1)" 'the message is printed first'
test_same 'baseline new' "$(jq -r 'select(.type == "run").subject.label' same |
  sort -u | xargs)" 'both builds are measured'
vkb-compare -v --baseline baseline -f text:text -f markdown:page -f jsonl:deltas same
said="^\**Both sides are the same server, so differences in time are this machine's noise: rps differs by up to [0-9.]*%\. "
tr '\n' ' ' <text >whole
test_match "$said" whole \
  'the comparison begins with the difference between two equal servers'
test_match "${said% }" page 'the Markdown report has the same sentence'
most=$(jq -s 'map(select(.metric == "rps") | .ratio - 1 | fabs) | max * 1000 | round / 10' deltas)
test_match "rps differs by up to $(printf %.1f "$most")%" text 'the sentence has the largest change'
vkb-report -o page.html deltas
test_match 'class="caution">Both sides are the same server, so differences in time are this machine.*rps differs' \
  page.html 'the page begins with the same sentence'

# A file is the same server only with the same module and configuration.
same() { # same FILTER: changes the new side; prints whether the comparison calls the sides the same server
  jq -c "if .type == \"run\" and .subject.label == \"new\" then $1 else . end" same |
    vkb-compare --baseline baseline -f jsonl | jq -r 'select(.type == "comparison") |
    .same_server // "another" | sub(": .*"; "")'
}
test_same 'another' "$(same '.subject.module_sha256 = "00"')" \
  'with a module it is another server'
test_same 'another' "$(same '.subject.script_sha256 = "00"')" \
  'with a script and its options it is another server'
test_same 'another' "$(same '.subject.binary_sha256 = "00"')" 'another file is another server'
test_same 'another' "$(same 'del(.subject.binary_sha256)')" 'a server without a SHA-256 is another one'
test_same 'another' "$(same '.config.io_threads_do_reads = true')" \
  'with an unknown configuration it is another server'
test_same 'both sides are the same server, so differences in time are noise or come from the environment, which differs too' \
  "$(same '.env.governor = "powersave" | .env.kernel = "1"')" \
  'differences of the environment are named as another reason'

# --- a server that is missing

gone() { # gone PATTERN WHAT [FILE]
  rm -f never
  test_status 2 "$2" timeout 60 vkb-load --again "${3:-base.jsonl}" --runs 1 -o never c.json
  test_match "^vkb-load: $1" .err "$2: the error names the file, and what to do"
  test_that "$2: nothing is measured" test ! -e never
  test_status 2 "$2: with --plan there is the same error" vkb-load --plan --again "${3:-base.jsonl}" c.json
  test_empty_file .out "$2: no plan is printed"
}
mv old away
gone "base.jsonl: cannot read '.*/old', which was measured: No such file or directory; put the old one there or at 'base.jsonl.server', or measure the baseline again" \
  'a file that was removed'
cp new old
gone "base.jsonl: '.*/old' is not the file that was measured: it was replaced, or is a script; put the old one there or at 'base.jsonl.server', or" \
  'a file that was replaced'
cp new base.jsonl.server
gone "base.jsonl: '.*/old' is not the file" 'a copy of another file'
cp away base.jsonl.server
test_that 'a copy beside the runs' vkb-load -q --server ./new --again base.jsonl \
  --runs 1 c.json
test_same "$(printf '["%s","%s","%s"]\n' baseline "$old" "$(readlink -f base.jsonl.server)" \
  new "$new" "${path%old}new" | sort)" "$(fields .out)" 'a copy beside the runs is measured instead'
test_that 'a plan' vkb-load --plan --again base.jsonl c.json
test_same "$(vkb-load --plan c.json)" "$(cat .out)" 'a plan is the same as without --again'
printf '#!/bin/sh\nexec %s/away "$@" --maxclients 99\n' "$PWD" >script && chmod +x script
vkb-load -q --server ./script --runs 1 -o script.jsonl c.json
test_same "[\"$(sha away)\",\"$(sha script)\"]" "$(jq -c 'select(.type == "run").subject |
  [.binary_sha256, .script_sha256]' script.jsonl | sort -u)" \
  'a script that starts the server is recorded by its SHA-256'
test_same null "$(jq -c 'select(.type == "run").subject.script_sha256' both | sort -u)" \
  'a server that is started directly has none'
gone "script.jsonl: '.*/script' is not the file that was measured: it was replaced, or is a script" \
  'a server that a script started' script.jsonl
gone 'other.jsonl:[0-9]*: .*run.server_path' 'a server that vkb-load did not start' other.jsonl
vkb-stats base.jsonl >summaries.jsonl
gone "summaries.jsonl: no runs; '--again' needs the run records" 'a summary' summaries.jsonl
gone "cannot read 'nothing'" 'a file that does not exist' nothing
jq -c 'if .type == "run" then .status = "failed" | .error = "x" |
  del(.run.server_path) else . end' base.jsonl >failed.jsonl
gone 'failed.jsonl: all runs failed before they had a server' \
  'runs without a server' failed.jsonl
cat base.jsonl failed.jsonl >some.jsonl
mv base.jsonl.server some.jsonl.server
test_that 'a failed run among others is ignored' vkb-load --plan --again some.jsonl c.json

# edited FILTER: prints base.jsonl with this change of its runs
edited() { jq -c "if .type == \"run\" then $1 else . end" base.jsonl >edited.jsonl; }
edited '.run.server_path = "old"'
gone "edited.jsonl:[0-9]*: record 'run': 'run.server_path' is 'old', which does not begin with '/'" \
  'a path that is not absolute' edited.jsonl
edited '.subject.label = ["a"]'
gone "edited.jsonl:[0-9]*: record 'run': 'subject.label' is not of type string" \
  'a label that is not a string' edited.jsonl
mkfifo pipe
for f in "$PWD/pipe" /dev/zero; do
  edited ".run.server_path = \"$f\""
  gone "edited.jsonl: cannot read '$f', which was measured: it is not a regular file" \
    "$f" edited.jsonl
done
printf '{"type":"build","v":1,"subject":{"label":"a"},"status":"ok","again":true,"server":"%s","binary_sha256":"%s"}\n' \
  "$PWD/new" "$old" >builds
test_status 2 'a server that is replaced before it starts' \
  vkb-load --builds builds --runs 1 c.json
test_same failed "$(jq -r 'select(.type == "run").status' .out | sort -u)" \
  'its runs fail'
test_match "the server '.*/new' is not the one that is wanted: it was replaced; its SHA-256 is $new instead of $old" \
  .out 'the error has both hashes'

# --- options that cannot be combined with it

test_status 2 'a server that vkb-load does not start' vkb-load --port "$port" --again base.jsonl c.json
test_match 'which vkb-load does not start' .err 'the error says that vkb-load does not start it'
test_status 2 'the runs in the file of the baseline' vkb-load --resume base.jsonl \
  --again ./base.jsonl c.json
test_match "'base.jsonl' has the baseline of '--again'" .err '--again with the file that runs are written to is refused'
test_status 2 'stdin twice' vkb-load --again - --builds - c.json
test_match 'stdin can be only one of' .err 'two files from stdin are refused'
exec 3>&- 4<&- # stops the other server
wait "$serve"
test_litter 10 'no server and no file is left'
test_done
