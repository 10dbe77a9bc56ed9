#!/bin/sh
# Every example of every page and of README.md does what it says: literal blocks, lines of
# .Dl and fenced blocks, in any section. Each is one script. A block is run in an empty
# folder with configs and tests-data (our tests/data) in it; a line also gets the files
# and clones that it names. "# exits N" at the end of a line is the expected exit status;
# after "; echo $?", and of a line of .Dl, it may be 0 or 1, as the machine may be busy. So
# that this takes minutes, runs have 2000 requests instead of a second and more, and
# there are 4 of each case, the fewest that are judged, instead of 10 or a minute of them;
# configs/quick.json has two cases, which the examples name. What cannot be run here is
# listed in examples.skip, with the reason; an entry of that list that is not the beginning
# of an example is an error.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

# shorten FILE: prints the file with short runs, which a busy machine can do, too; a
# search for a limit of the latency needs a time. A profile loads for some seconds, however
# short the run is: it gets a rate.
shorten() {
  shorten_to=2000
  ! grep -q LOOPS "$1" || shorten_to=100 # of a server that is slowed down
  sed -E '/"slo"/b
    s/"duration": [0-9]*/"requests": ['$shorten_to']/; s/--duration [0-9]*s/--requests 2000/
    s/--duration \.5/--duration .1/
    s/(vkb[ -]load .*-t set,get .*)-n [0-9]+/\1-n 2000/
    s/vkb[ -]load .*-t set,get -P 10$/& -n 2000 -r 1000/
    s/--budget [0-9]+s/--budget 1s/; s/-d 2s/-d .5s/
    s/--runs 8/--runs 6/; s/--runs 10/--runs 4/; s/--runs 40/--runs 16/; s/--calibrate 10/--calibrate 4/
    /--runs|--budget|--plan|--count-only/b
    s/vkb[ -]load /&--runs 4 /
    s/(vkb[ -](ab|pr|bisect) .*-- )([a-z]+\.json)/\1--runs 4 \3/
    s/vkb-quickstart --results mine/& --runs 4/
    /vkb[ -]why/s,(configs/quick| set)\.json,\1-at-a-rate.json,
    s/^( *vkb[ -]why )/\1--rounds 1 --time .3s /' "$1"
}

# expected FILE: prints a script that fails if a command of the block does.
expected() {
  echo 'set -e'
  awk '
    function run(line, test) {
      print "was=0; {\n" line "\n} || was=$?; [ $was " test " ]"
    }
    /\\$/ && !/# exits [0-9]+$/ {
      held = held substr($0, 1, length($0) - 1)
      next
    }
    { line = held $0; held = "" }
    line ~ /# exits [0-9]+$/ {
      want = line
      sub(/.*# exits /, "", want)
      run(line, "-eq " want)
      next
    }
    sub(/; echo \$\?$/, "", line) {
      run(line, "-le 1")
      next
    }
    { print line }' "$1"
}

in_folder() { # in_folder DIR COMMAND...
  (cd "$1" && shift && "$@")
}

cp -R "$top/configs" configs
shorten "$top/configs/quick.json" | sed 's/\[2000\]/[200]/; s/\[100000\]/[1000]/' |
  jq '.[0].commands = ["SET"] | .[1].commands = ["SET"] | .[:2]' >configs/quick.json
jq 'map(.rate = 4000)' configs/quick.json >configs/quick-at-a-rate.json
test_status 1 'configs/quick.json has short runs, and fewer, here' \
  cmp -s "$top/configs/quick.json" configs/quick.json

# --- the examples, and those that are not run

mkdir examples run
ln -s "$top/tests/data" tests-data
perl "$tests/examples.pl" examples "$top"/man/*.[1-8] "$top/README.md" >index
test_that 'the examples are found' test "$(wc -l <index)" -gt 150
grep -v '^#' "$tests/examples.skip" >skip
# Of each example: its line of the index, behind "-" if it is run, else the entry.
awk -F '\t' 'NR == FNR { page[NR] = $1; begin[NR] = $2; n = NR; next }
  { p = $1
    sub(/\.[0-9]+$/, "", p)
    found = "-"
    for (i = 1; i <= n; i++)
      if (page[i] == p && (index($4, begin[i]) == 1 || begin[i] == $4 "$"))
        found = i
    print found "\t" $0 }' skip index >decided
cut -f 1 decided | sort -u >used
seq "$(wc -l <skip)" | sort | comm -23 - used >stale
test_empty_file stale 'each entry of examples.skip is the beginning of an example'
test_empty "$(awk -F '\t' '$3 !~ /[a-z]/' skip)" 'and has a reason'
test_that 'most examples are run' \
  test "$(grep -c '^-' decided)" -gt "$((3 * $(grep -vc '^-' decided) / 2))"
for page in "$top"/man/*.1; do
  grep -q "^[^\t]*	${page##*/}\.[0-9]*	" decided || echo "$page"
done >bad
test_empty_file bad 'each page of a program has an example'

# --- what the lines name

server=$(command -v valkey-server)
exact_repo
(
  cd repo || exit
  git branch -m unstable
  for tag in 8.0 8.0.0 8.0.1; do git tag $tag; done
)
burn 1 later
(
  cd repo || exit
  git branch base
  git update-ref refs/remotes/origin/unstable HEAD
  git checkout -q -b my-branch
)
burn 2 mine
(cd repo && git branch head && git branch pr/2931)
mv repo valkey
cat >set.json <<'END'
[{"commands": ["SET"], "requests": [2000], "keyspacelen": [100], "data_sizes": [16],
  "pipelines": [50], "clients": [2], "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
for name in config.json cfg.json; do cp set.json $name; done
jq 'map(.rate = 4000)' set.json >set-at-a-rate.json
vkb-load -q --runs 6 set.json >base.jsonl
vkb-load -q --runs 6 set.json >new.jsonl
for label in unstable mine; do
  jq -c --arg l $label '.subject.label = $l' base.jsonl
done >runs.jsonl
cp base.jsonl monday.jsonl
cp new.jsonl tuesday.jsonl
tail -c +2 "$tests/data/fuzz/parse/memtier" >memtier.json # behind the choice of a parser
cp -R "$tests/data/python-tool" results
perl "$tests/history.pl" core >results/core.jsonl
mkdir results/night old new
mv results/core.jsonl results/night
cp "$server" old
cp "$server" new
cp "$server" srv
printf '{"type":"build","v":1,"subject":{"label":"%s"},"server":"%s","status":"ok"}\n' \
  base "$PWD/old/valkey-server" mine "$PWD/new/valkey-server" >builds.jsonl

# give_files FILE DIR: copies what the text names, unless the folder has it.
give_files() {
  # A name may follow a blank and more, but not what makes it the end of another name.
  given=$(perl -e 'undef $/;
    my $text = <STDIN>;
    print join "\n", grep { $text =~ m{(^|[^a-z/>.-])(\./)?$_}m } @ARGV' set.json set-at-a-rate.json config.json cfg.json base.jsonl \
    new.jsonl runs.jsonl monday.jsonl tuesday.jsonl builds.jsonl valkey old/ new/ srv results/ memtier.json <"$1")
  for file in $given; do
    [ -e "$2/$file" ] || cp -R "${file%/}" "$2"
  done
  ! grep -q 'vkb-parse results' "$1" || [ -e "$2/results" ] || cp -R results "$2"
}

# run_example NAME KIND FOLDER FIRST
run_example() {
  dir=$scratch/run/$3
  if [ ! -d "$dir" ]; then
    mkdir "$dir"
    ln -s "$scratch/configs" "$scratch/tests-data" "$top/deploy" "$dir"
  fi
  shorten "examples/$1" >"$dir/.block"
  shell='sh'
  case $1 in
  README.md.*) shell='bash -o pipefail' ;; # a load that fails before a pipe is a failure
  esac
  if [ "$2" = line ]; then
    give_files "$dir/.block" "$dir"
    printf '{ %s\n} || [ $? -eq 1 ]\n' "$(cat "$dir/.block")" >"$dir/.script"
    shell=bash
  else
    expected "$dir/.block" >"$dir/.script"
  fi
  # shellcheck disable=SC2086 # words
  test_that "$1: $4" in_folder "$dir" $shell .script
}
needs_database='(--database|psql).* perf|table\.csv|trackcommits determine'
sed -n 's/^-	//p' decided | grep -Ev "$needs_database" >alone
sed -n 's/^-	//p' decided | grep -E "$needs_database" >stored
while IFS='	' read -r name kind folder first; do
  run_example "$name" "$kind" "$folder" "$first"
done <alone
test_postgres 'examples with a database'
sql 'CREATE DATABASE perf'
# The newest commit of the history has only a failed run, the others three runs each.
grep -v '"commit":"ffffffff' results/night/core.jsonl |
  jq -c 'select(.type == "run") | ., (.run.index += 3)' | vkb-pgpush -q --database perf
while IFS='	' read -r name kind folder first; do
  run_example "$name" "$kind" "$folder" "$first"
done <stored
test_done
