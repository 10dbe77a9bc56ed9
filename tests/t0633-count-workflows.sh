#!/bin/sh
# vkb-ab, vkb-pr and vkb-quickstart count by default what can be counted, print the
# cost before they measure, and continue if nothing can be counted.
. "${0%/*}/lib.sh"
if ! command -v valgrind >/dev/null; then
  test_skip 'counting by default' valgrind
  test_done
fi
test_server 'counting by default'
. "$tests/repo.sh"
unset VKB_COUNT

# Each commit builds the installed server program with another end.
mkdir -p repo/src
cat >repo/src/Makefile <<END
valkey-server: end
	cat $(command -v valkey-server) end >\$@
	chmod +x \$@
valkey-cli valkey-benchmark:
	touch \$@
END
git init -q repo
for name in base main; do
  echo $name >repo/src/end
  commit $name
  in_repo tag $name-tag
done
cat >cfg.json <<'END'
[{"commands": ["SET"], "requests": [2000], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [50], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
counted() { jq -r 'select(.counted) | .subject.label' "$1" | sort | uniq -c | xargs; }

# --- vkb-ab

test_that 'vkb-ab counts by default' vkb-ab --results r -C repo base=base-tag new=main-tag -- \
  --runs 2 cfg.json -- -v -m instructions_per_req,rps --on-insufficient ok
test_match '^vkb-load: the instructions of 1 case are counted first, on 2 to 4 servers( one after the other|, [2-4] at a time)$' \
  .err 'a message has the cost'
test_match '^=  SET .* no change$' .err 'what was counted is compared at once'
test_same "vkb-load: SET: new executes as many instructions as base, # for each request
vkb-ab: counted; the times follow, with the options of vkb-compare" \
  "$(grep -E 'instructions as|the times follow' .err | sed 's/[0-9.]* for/# for/')" \
  'a case is compared as soon as both builds have counted it'
test_absent "on both sides has 'rps'" .err 'the options of vkb-compare for times are not used there'
test_same 1 "$(grep -v '^vkb-build: building' .err | grep -n 'are counted first' | cut -d: -f1)" 'the cost is printed before anything is measured'
test_same '1 base 1 new' "$(counted r/runs.jsonl)" 'each build is counted once, where both agree'
test_match '^=  SET .*instructions_per_req .*equivalent .*exact' .out 'the counts are compared'
test_that 'vkb-ab --no-count is accepted' vkb-ab --results n --no-count -C repo base=base-tag \
  new=main-tag -- --runs 4 cfg.json -- -m rps --margin 90%
test_empty "$(counted n/runs.jsonl)" 'vkb-ab --no-count counts nothing'
test_that 'VKB_COUNT=no is accepted' env VKB_COUNT=no vkb-ab --results v -C repo base=base-tag \
  new=main-tag -- --runs 4 cfg.json -- -m rps --margin 90%
test_empty "$(counted v/runs.jsonl)" 'VKB_COUNT=no counts nothing'

# An installed vkb-ab, with two commands in place of all that are shipped, and one that
# the server names besides.
mkdir -p all/bin all/lib all/share/vkb/configs
cp "$top/bin/vkb-ab" all/bin
cp -R "$top/lib/vkb" all/lib
jq '.[0].test_groups[0].scenarios[0].writes |= map(select(.id == "get" or .id == "hsetex"))' \
  "$top/configs/commands.json" >all/share/vkb/configs/commands.json
cat >all/bin/vkb-load <<END
#!/bin/sh
case "\$*" in
*--add-commands*)
  "$(command -v vkb-load)" "\$1" "\$2" --add-commands "$top/configs/commands.json" |
    jq -c '.[0].test_groups[0].scenarios[0].writes |= map(select(.id | IN("get", "hsetex", "lolwut")))'
  ;;
*) exec "$(command -v vkb-load)" "\$@" ;;
esac
END
chmod +x all/bin/vkb-load
all() { all/bin/vkb-ab --results e --commands "$@" -C repo base=base-tag new=main-tag; }
test_that 'vkb-ab --commands all is accepted' all all
test_same '2 base 2 new' "$(counted e/runs.jsonl)" 'vkb-ab --commands all counts the commands that the server has'
test_same 4 "$(grep -c '"type":"run"' e/runs.jsonl)" 'vkb-ab --commands all measures no time'
test_match 'commands.json: .*commands are added:.* lolwut' .err 'a command that the shipped list lacks is added'
test_match '0 of 2 parts differ in new by more than 0.3 % in their instructions from base$' .err \
  'the parts of a case are compared in one line'
test_match '^=  every_1_write_get .* no change$' .out 'vkb-ab --commands all compares the counts'
test_absent EVAL .out 'what all cases share has no long texts'
test_status 2 'commands of another name are an error' all some
test_match "^vkb-ab: --commands takes 'all', not 'some'" .err 'the error has the name'
test_status 2 '--commands all with --no-count is an error' all all --no-count
# --- vkb-pr: the comment shows a change of work

test_that 'vkb-pr counts by default' vkb-pr --results p -C repo base-tag main-tag -- --runs 2 \
  cfg.json -- -m instructions_per_req
test_same '1 base 1 head' "$(counted p/runs.jsonl)" 'vkb-pr counts both commits'
test_same 1 "$(grep -c '^vkb-load: SET: head executes as many instructions as base, ' .err)" \
  'the messages of vkb-ab are printed once'
test_match 'instructions_per_req .*equivalent .*exact' p/report.md 'the comment has the count'
mkdir -p w/ab
jq -c 'if .counted and .subject.label == "head" then
  .metrics.instructions_per_req *= 1.05 else . end' p/runs.jsonl >w/ab/runs.jsonl
cp p/asked w/asked
test_status 1 'a head with more instructions is exit 1' vkb-pr --results w -C repo base-tag \
  main-tag -- --runs 2 cfg.json -- -v -m instructions_per_req
test_match '^\*\*SET executes 5\.0% more instructions per request' w/report.md 'the comment begins with the added work'
test_same regression "$(cat w/verdict)" 'the verdict is a regression'

# --- vkb-quickstart

test_that 'vkb-quickstart is accepted' vkb-quickstart --keep-system --runs 1 --results q cfg.json
test_same 2 "$(grep -c '"counted":true' q/base.jsonl)" 'vkb-quickstart counts by default'
test_that 'vkb-quickstart --no-count is accepted' vkb-quickstart --keep-system --no-count \
  --runs 1 --results qn cfg.json
test_same 0 "$(grep -c '"counted":true' qn/base.jsonl)" 'vkb-quickstart --no-count counts nothing'

# --- a kill between two counts: each count is made once

# identify FILE: prints what identifies each counted run
identify() { jq -r 'select(.counted).run | "\(.session) \(.index) \(.started)"' "$1"; }
# killed FILE NUMBER COMMAND...: ends the command when FILE has NUMBER counts; sets
# $first, the identity of the first of them
killed() {
  file=$1 number=$2
  shift 2
  "$@" >/dev/null 2>&1 &
  job=$!
  has_counts() {
    first=$(identify "$file" 2>/dev/null | head -n 1)
    [ "$first" ] && [ "$(grep -c '"counted":true' "$file" 2>/dev/null)" -ge "$number" ]
  }
  wait_until 120 has_counts
  kill -TERM $job
  wait $job 2>/dev/null
}
# numbers FILE: prints label and number of each counted run
numbers() { jq -r 'select(.counted) | "\(.subject.label // "")\(.run.index)"' "$1" | sort | xargs; }
# Its run takes longer than a look at what is counted.
sed 's/2000/2000000/' cfg.json >long.json
set -- vkb-quickstart --keep-system --runs 1 --results k long.json
killed k/part.jsonl 1 "$@"
test_that 'vkb-quickstart, killed when it had counted, is resumed' "$@"
test_same '1 2' "$(numbers k/base.jsonl)" 'vkb-quickstart makes each count once'
test_same "$first" "$(identify k/base.jsonl | grep -xF -- "$first" | sort -u)" 'vkb-quickstart keeps the first count'
test_same 1 "$(jq -c 'select(.type == "run" and (.counted | not))' k/base.jsonl | wc -l | tr -d ' ')" \
  'vkb-quickstart does not measure again'
set -- vkb-pr --results kp -C repo base-tag main-tag -- --runs 2 cfg.json -- -v -m instructions_per_req
killed kp/ab/part.jsonl 1 "$@"
test_that 'vkb-pr, killed after a count, is resumed' "$@"
test_same 'base1 head1' "$(numbers kp/runs.jsonl)" 'vkb-pr makes each count once'
test_same "$first" "$(identify kp/runs.jsonl | grep -xF -- "$first" | sort -u)" 'vkb-pr keeps the first count'

# --- a case that cannot be counted is measured

jq -c '. + [.[0] + {"commands": ["GET"], "idle_clients": 1}]' cfg.json >two.json
test_that '--count-possible accepts a case that cannot be counted' vkb-load --count-possible --runs 1 \
  -o two.jsonl two.json
test_match '^vkb-load: the instructions of 1 case are not counted \(GET.*: it has reconnects, idle connections or tracking\)$' \
  .err 'a message names the case that is not counted'
test_same 'SET SET' "$(jq -r 'select(.counted).config.command' two.jsonl | xargs)" \
  'the other case is counted'
printf '#!/bin/sh\nexec valkey-server "$@"\n' >script && chmod +x script
test_that '--count-possible accepts a script as server' vkb-load --count-possible --runs 1 \
  --server ./script -o script.jsonl cfg.json
test_match "^vkb-load: nothing is counted: 'count' needs the server program itself, '.*/script' is a script" \
  .err 'a message names the script'
test_same 1 "$(grep -c '"type":"run"' script.jsonl)" 'the script is measured'
mkdir -p bare
ln -s "$(command -v valkey-server)" bare
load=$(command -v vkb-load)
test_that '--count-possible is accepted without valgrind' env PATH="$PWD/bare" "$load" \
  --count-possible --runs 1 -o bare.jsonl cfg.json
test_match "^vkb-load: nothing is counted: instructions are counted by valgrind, which is not in PATH: 'vkb-needs run' installs it" \
  .err 'a message names the command that installs valgrind'
test_same 1 "$(grep -c '"type":"run"' bare.jsonl)" 'the case is measured without valgrind'
test_status 2 '--count without valgrind is an error' env PATH="$PWD/bare" "$load" \
  --count --count-possible --runs 1 cfg.json
for folder in /usr/bin /bin "$top"/bin; do
  ln -sf "$folder"/* bare
done
rm bare/valgrind bare/perf
# shellcheck disable=SC2123 # it is to be the search path
PATH=$PWD/bare
test_that 'vkb-quickstart is accepted without valgrind' vkb-quickstart --keep-system --results bare-q --runs 2 cfg.json
test_same valgrind "$(grep valgrind .err)" 'valgrind is named once'
test_match '^vkb-quickstart: nothing is counted without it$' .err 'a message says what it is for'
test_that 'vkb-ab is accepted without valgrind' vkb-ab --results bare-ab -C repo base-tag main-tag -- \
  --runs 2 cfg.json -- -m rps --on-insufficient ok
test_same 1 "$(grep -c valgrind .err)" 'vkb-ab names valgrind once'
test_absent 'perf' .err 'vkb-ab needs no perf'
test_that 'vkb-pr is accepted without valgrind' vkb-pr --results bare-pr -C repo base-tag main-tag -- \
  --runs 2 cfg.json -- -m rps --on-insufficient ok
test_same 1 "$(grep -c valgrind .err)" 'vkb-pr names valgrind once'
test_done
