#!/bin/sh
# Logins in URLs and settings: no message, record, report or file of vkb shows them.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

# --- the same rules in programs, workflows and vkb-redact

shown='https://***@host/a.git host=h password=*** and ***@host:a/b.git'
secret='https://user:p@ss@host/a.git host=h password=abc and user:t0k/en=@host:a/b.git'
test_same "vkb-stats: cannot read '$shown': No such file or directory" \
  "$(vkb-stats -- "$secret" 2>&1)" 'a program shows no secret'
# shellcheck source=lib/vkb/vkb-sh-setup
test_same "${0##*/}: $shown" "$(
  here=$top/bin
  . "$top/lib/vkb/vkb-sh-setup"
  say "$secret" 2>&1
  succeed
)" 'a workflow shows no secret'
printf '%s\n' "$secret" >text
test_same "$shown" "$(vkb-redact text)" 'vkb-redact prints a file without its secrets'
test_same "$shown $shown" "$(printf '%s\n' "$secret" | vkb-redact - text | xargs -d '\n')" 'vkb-redact reads stdin and files'
test_status 2 'a file that is not there is an error' vkb-redact none
test_match "cannot read 'none'" .err 'the error names the file'

# A message that is cut inside a password.
long=$(printf 'x%.0s' $(seq 4050))
vkb-stats "$long/https://user:$(printf 'SECRET%.0s' $(seq 20))@host" 2>err
test_same 0 "$(grep -c SECRET err)" 'a message that is cut inside a password does not show it'

# --- the login of a URL

# login_of URL: prints the login that split_login takes out of the URL, and the rest
login_of() {
  # shellcheck source=lib/vkb/vkb-sh-setup
  (
    here=$top/bin
    . "$top/lib/vkb/vkb-sh-setup"
    main='' # an error ends this subshell only
    repo=$1
    split_login repo
    printf '%s' "${git_header#*Basic }" | command base64 -d
    printf ' %s\n' "$repo"
    succeed
  ) 2>&1
}
test_same 'user:p,w https://host/a,b@c' "$(login_of 'https://user:p,w@host/a,b@c')" \
  'a login is taken out of a URL'
for url in https://host/a,b@c https://host:80/a,b@c https://host/a@b,c:d \
  'https://[::1]:80/a@b' git@host:a,b@c; do
  test_same " $url" "$(login_of "$url")" "no login is found in $url"
done
test_match "invalid URL.* write '/' in a password as %2F" \
  "$(login_of 'https://user:pa/ss@host/a' >login; echo login)" \
  'a password with a slash is an error'

# --- a repository that asks for a login

secret=s3cret-$$-$(date +%s)
small_repo
commit one
in_repo tag v1
git clone -q --bare repo root.git
mkdir root
mv root.git root/
perl "$tests/githttp.pl" port "$scratch/root" "user:$secret" 2>server.err &
server_pid=$!
test_cleanup() { kill "$server_pid"; }
wait_until 30 test -s port
url=http://user:$secret@127.0.0.1:$(cat port)/root.git
gone_url=http://user:$secret@127.0.0.1:1/root.git
unset SOURCE_DATE_EPOCH

# clean WHAT: only this script's own files have the secret
clean() {
  test_empty "$(grep -rlaF -e "$secret" . | sort | xargs)" "$1: no file shows it"
}

test_that 'vkb-build logs in' vkb-build --repo "$url" v1
cp .out builds
test_same "ok 127.0.0.1:$(cat port)/root" \
  "$(jq -r '"\(.status) \(.subject.repository)"' builds)" 'the record has the repository without the login'
test_that 'another password is accepted for the same repository' \
  vkb-build --repo "$(echo "$url" | sed "s/user:$secret/other:x/")" "$(head_of v1)"
test_same true "$(jq .cached .out)" 'another password finds the same builds'
test_status 2 'vkb-build cannot connect' vkb-build --repo "$gone_url" v1
cp .err build.err
test_match 'http://\*\*\*@127.0.0.1:1/root.git' build.err 'the error names the server without the login'
git clone -q "$url" clone
test_that 'a clone whose URL has the login is built' vkb-build -C clone v1
cp .out builds2
rm -rf clone
clean vkb-build

cat >quick.json <<'END'
[{"commands":["SET"],"requests":[500],"keyspacelen":[100],"data_sizes":[16],
"pipelines":[4],"clients":[4],"cluster_mode":false,"tls_mode":false,"warmup":0}]
END
# The server of the small repository does not run: it is built, and then the workflows
# fail.
for to in "$url" "$gone_url"; do
  name=up
  [ "$to" = "$url" ] || name=gone
  vkb-ab --results "ab-$name" --repo "$to" v1 b=v1 -- quick.json >"ab-$name.out" 2>&1
  vkb-pr --results "pr-$name" --repo "$to" v1 v1 -- quick.json >"pr-$name.out" 2>&1
  vkb-bisect --results "bisect-$name" --repo "$to" v1 main -- quick.json \
    >"bisect-$name.out" 2>&1
  vkb-why --results "why-$name" --repo "$to" v1 v1 quick.json >"why-$name.out" 2>&1
  vkb-publish --repo "$to" pull "pull-$name" >"pull-$name.out" 2>&1
  mkdir "push-$name"
  echo '{}' >"push-$name/runs.jsonl"
  vkb-publish --repo "$to" push "push-$name" >"push-$name.out" 2>&1
done
# What git prints about an invalid URL must not reach the files of vkb either.
vkb-bisect --results bisect-wrong --repo "https://user:$secret/more@127.0.0.1:1/a" \
  v1 main -- quick.json >bisect-wrong.out 2>&1
test_match '\*\*\*@127.0.0.1:1/a' bisect-wrong.out 'the error names the URL that git cannot read'
test_match '127.0.0.1:1' pr-gone/report.md 'the report of a failure names the repository'
test_match '\*\*\*@127.0.0.1' ab-up/asked 'the question is stored without the login'
test_same "http://127.0.0.1:$(cat port)/root.git" \
  "$(git --git-dir=bisect-up/repo.git config remote.origin.url)" \
  'the clone of vkb-bisect has a URL without login'
for to in "postgresql://user:$secret@127.0.0.1:1/db" \
  "postgresql://user:a $secret@127.0.0.1:1/db" "host=127.0.0.1 password=$secret x"; do
  echo '{}' | vkb-pgpush --database "$to"
  vkb-trackcommits query --database "$to"
  vkb-detect --database "$to"
done >database.out 2>&1
test_match 'database' database.out 'a database that asks for a password is an error'
clean 'workflows'

# --- no program is started with the login among its arguments

mkdir watched
real_git=$(unset -f git && command -v git)
printf '#!/bin/sh\nprintf "%%s\\n" "$*" >>"%s/arguments"\nexec "%s" "$@"\n' "$scratch" "$real_git" >watched/git
chmod +x watched/git
# shellcheck disable=SC2031 # the subshell is another script
watch() { env PATH="$scratch/watched:$PATH" GIT_TRACE=2 "$@"; }
watch vkb-publish --repo "$url" push push-up >trace 2>&1
test_same 0 $? 'vkb-publish logs in'
watch vkb-bisect --results bisect-watched --repo "$url" v1 main \
  -- quick.json >>trace 2>&1
test_match '^ls-remote ' arguments 'vkb-publish starts the git that logs its arguments'
test_match '^clone ' arguments 'vkb-bisect starts the git that logs its arguments'
test_match 'git-remote-http|remote-http' trace 'git starts its program for http'
test_absent "$secret" arguments 'no git has the login among its arguments'
test_absent "$secret" trace 'no program of git has the login among its arguments'
test_that 'the clone was made' test -d bisect-watched/repo.git
rm -rf watched arguments trace

# --- the list of processes shows vkb-build while it builds

in_repo checkout -q -b waits
printf '%s\n\t%s\n' 'valkey-%:' ": >'$scratch/began'; exec tail -f /dev/null" \
  >repo/src/Makefile
commit waits
git -C repo push -q "$scratch/root/root.git" waits
vkb-build --repo "$url" waits >/dev/null 2>&1 &
pid=$!
wait_until 60 test -e began
printf '%s\n' "$secret" >pattern
test_empty "$(grep -laFf pattern "/proc/$pid/cmdline")" \
  'a vkb-build at work does not show the login among its arguments'
kill $pid
wait $pid 2>/dev/null
test_done
