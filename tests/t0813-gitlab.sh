#!/bin/sh
# configs/ci/gitlab.yml, included by a small repository and really run: a slower
# merge request with its comment, and a schedule. The steps of the action
# for GitHub are run, too.
. "${0%/*}/lib.sh"
test_server 'a pipeline'
. "$tests/repo.sh"
test_programs 'a pipeline' curl jq perl rsync
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

real_repo
in_repo branch -m unstable
base=$(head_of HEAD)
burn 600000 slow
cat >repo/cfg.json <<'END'
[{"commands": ["SET"], "requests": [400], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
commit 'a configuration'
judged='-m server_cpu_us_per_req --margin 60%'

# --- the action of GitHub

step() { # step N: the N-th command, with the inputs that follow as variables
  n=$1
  shift
  command=$(sed -n "s/^ *- run: //p" "$top/action.yml" | sed -n "${n}p" |
    sed "s/^'//; s/'\$//")
  env GITHUB_ACTION_PATH="$top" "$@" bash -eo pipefail -c "$command"
}
test_same 5 "$(grep -c ' run: ' "$top/action.yml")" 'the action has five steps'
mkdir temp
inputs() { # inputs N: runs step N with all inputs
  step "$1" GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=me/server GITHUB_OUTPUT="$scratch/output" RUNNER_TEMP="$scratch/temp" \
    HISTORY='' DIR=repo BASE="$base" HEAD=HEAD BUILD='-j 2' \
    LOAD='--runs 6 repo/cfg.json' COMPARE="$judged" RESULTS=action
}
test_that 'the action accepts a missing history' inputs 3
test_that 'the action accepts a missing baseline' inputs 4
test_empty_file temp/baseline.jsonl 'a missing baseline is not an error'
test_status 1 'the action fails for a slower commit' inputs 5
test_same 'regression verdict=regression' "$(cat action/verdict output | xargs)" \
  'the verdict is a regression'
test_match 'server_cpu_us_per_req' action/report.md 'the report names the metric that is worse'
test_match "href=\"https://github.com/me/server/commit/$base\"" action/report.html \
  'the page links to the commits of the repository'

# --- GitLab, with a forge that the test starts

. "$tests/npm.sh"
npm_need gitlab-ci-local@4.61.1

start_forge
echo '{"login": "bot", "labels": {}, "comments": [], "issues": [], "fail": {}}' >state

cp "$top/configs/ci/gitlab.yml" repo/vkb.yml
cat >repo/.gitlab-ci.yml <<END
include:
  - local: vkb.yml
stages: [test]
.vkb:
  before_script:
    - mkdir vkb
    - ln -s $top/bin vkb/bin
END
commit 'with CI'
in_repo remote add origin git@gitlab.example:me/server.git
PATH=$top/bin:$PATH
# pipeline SOURCE OPTION...: runs a pipeline that SOURCE starts
pipeline() {
  source=$1
  shift
  (cd repo && timeout 300 gitlab-ci-local --force-shell-executor --shell-isolation \
    --variable "CI_PIPELINE_SOURCE=$source" --variable VKB_REF=1 \
    --variable "VKB_HISTORY=$scratch/history.git" \
    --variable "CI_API_V4_URL=http://127.0.0.1:$(cat ../port)/gitlab" \
    --variable CI_SERVER_URL=https://forge.example --variable CI_PROJECT_ID=5 \
    --variable CI_MERGE_REQUEST_PROJECT_ID=5 --variable CI_MERGE_REQUEST_IID=7 \
    --variable "CI_MERGE_REQUEST_DIFF_BASE_SHA=$base" \
    --variable VKB_GITLAB_TOKEN=secret-1 --variable VKB_CONFIG=cfg.json \
    --variable 'VKB_LOAD=--runs 6 cfg.json' --variable "VKB_COMPARE=$judged" "$@")
}
names() { sed -n 's/^\([a-z-]*\);.*/\1/p' | grep -vx name | sort | xargs; }
jobs() { pipeline "$@" --list-csv 2>err | names; }
git init -q --bare history.git
test_same 'vkb-comment vkb-pr' "$(jobs merge_request_event)" \
  'a merge request has its jobs'
test_same 'vkb-pr' "$(jobs merge_request_event --variable VKB_GITLAB_TOKEN=)" \
  'without a token the job for the comment is left out'
test_empty "$(jobs push)" 'a push starts no job'
test_status 1 'a slower merge request is exit 1' pipeline merge_request_event
test_match 'vkb-pr.*FAIL' .err 'the job fails'
test_match '<!-- vkb-comment: report -->' state 'a comment is posted'
test_match 'server_cpu_us_per_req' state 'the comment names the metric that is worse'
test_same '["performance-regression"]' "$(jq -c '.labels | keys' state)" 'the merge request gets the label'
done_in=repo/.gitlab-ci-local/artifacts/vkb-pr/pr-results
test_same 1 "$(xmllint --xpath 'count(//failure)' $done_in/junit.xml)" 'the junit report is an artifact'

test_that 'a schedule is accepted' pipeline schedule
test_match '^[0-9a-f]{40}.*\.jsonl' "$(git --git-dir=history.git ls-tree -r --name-only vkb-history >names; echo names)" \
  'the measured commits are in the branch'
completed() {
  git --git-dir=history.git show vkb-history:continuous/state.jsonl >commits.jsonl
  jq -r 'select(.status == "complete").commit' commits.jsonl | sort -u | wc -l
}
test_same 3 "$(completed)" 'three commits are complete'
test_that 'the next schedule is accepted' pipeline schedule
test_same 4 "$(completed)" 'the next schedule measures the rest'
test_empty_file forge.err 'the forge reports no error'

# --- the pipeline of this repository

mkdir own
cp -R "$top/.gitlab-ci.yml" "$top/configs" own
git init -q own
git -C own remote add origin git@gitlab.example:me/vkb.git
git -C own add -A
git -C own commit -qm own
test_same tests "$(cd own && timeout 100 gitlab-ci-local --list-csv 2>../err | names)" \
  'a push to this repository is tested'
test_done
