#!/bin/sh
# vkb-publish: results in a branch, a bucket, a database; stores that are unavailable.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"
test_postgres 'results in a database'
for name in $(env | sed -n 's/^\(\(VKB_S3\|AWS\|GITHUB\)_[A-Z_]*\)=.*/\1/p'); do
  unset "$name"
done

mkdir fake
cat >fake/aws <<'END'
#!/bin/sh
printf '%s\n' "$*" "key ${AWS_ACCESS_KEY_ID:-none} ${AWS_ENDPOINT_URL-unset}" >>"$SEEN"
case $* in
's3 sync'*)
  eval "dir=\${$(($# - 1))}"
  (cd "$dir" && find . -type f) >"$SEEN.files"
  exit "${AWAY:-0}"
  ;;
'rds generate-db-auth-token'*) echo a-token ;;
esac
END
chmod +x fake/aws
SEEN=$scratch/seen
PATH=$scratch/fake:$PATH
export SEEN PATH
publish() { vkb-publish "$@"; }
branch() { git --git-dir=store.git "$@"; }

for i in 1 2; do
  mkdir -p "d$i/c$i"
  printf '{"type":"run","v":1,"subject":{"commit":"c%s"},"config":{"command":"SET"},"run":{"session":"s%s","index":1},"metrics":{"rps":10},"status":"ok"}\n' \
    $i $i >"d$i/c$i/x.jsonl"
  echo x >"d$i/c$i/y.part"
done

# --- a branch

git init -q --bare store.git
test_that 'pull without a branch is accepted' publish --repo "$scratch/store.git" pull p0
test_empty "$(ls -A p0)" 'pull without a branch leaves an empty folder'
test_that 'the first push is accepted' publish --repo "$scratch/store.git" push d1
test_same 'c1/x.jsonl' "$(branch ls-tree -r --name-only vkb-history)" 'the results are in a branch'
test_that 'the same push is accepted again' publish --repo "$scratch/store.git" push d1
test_same 1 "$(branch rev-list --count vkb-history)" 'the second push makes no commit'
test_that 'a push of other results is accepted' publish --repo "$scratch/store.git" push d2
test_that 'pull is accepted' publish --repo "$scratch/store.git" pull p1
test_same 'p1/c1/x.jsonl p1/c2/x.jsonl' "$(find p1 -type f | sort | xargs)" 'pull gets all results'
test_that 'pulled results are unchanged' cmp d1/c1/x.jsonl p1/c1/x.jsonl
test_that '--branch is accepted' publish --repo "$scratch/store.git" --branch arm push d2
test_same 'c2/x.jsonl' "$(branch ls-tree -r --name-only arm)" 'another branch has only its own results'

# Two pushes at the same time: the first attempt finds a branch that
# has just moved.
mkdir hooked
cat >hooked/git <<'END'
#!/bin/sh
case " $* " in
*' push '*)
  if [ ! -e "$RACED" ]; then
    touch "$RACED"
    "$REAL_VKB" --repo "$STORE" push "$OTHER"
  fi
  ;;
esac
exec "$REAL_GIT" "$@"
END
chmod +x hooked/git
mkdir d3 d4
echo "{\"type\":\"n3\"}" >d3/three.jsonl
echo "{\"type\":\"n4\"}" >d4/four.jsonl
real_git=$(unset -f git && command -v git)
test_that 'a push while another one finishes is accepted' env RACED="$scratch/raced" STORE="$scratch/store.git" \
  OTHER="$scratch/d4" REAL_VKB="$top/bin/vkb-publish" REAL_GIT="$real_git" \
  PATH="$scratch/hooked:$PATH" "$top/bin/vkb-publish" --repo "$scratch/store.git" push d3
test_that 'the other push was in between' test -e raced
test_same 'four.jsonl three.jsonl' \
  "$(branch ls-tree --name-only vkb-history | grep jsonl | xargs)" 'the branch has the files of both pushes'

printf '#!/bin/sh\nexit 1\n' >store.git/hooks/pre-receive
chmod +x store.git/hooks/pre-receive
echo "{\"type\":\"n5\"}" >d3/five.jsonl
test_status 2 'a push that is refused is exit 2' publish --repo "$scratch/store.git" push d3
test_match "^vkb-publish: branch 'vkb-history' of .*: \[remote rejected\] \(pre-receive hook declined\): git ended with status 1" \
  .err 'the error names the branch and has the reason'
rm store.git/hooks/pre-receive
test_status 2 'a push to a repository that does not exist is exit 2' publish --repo "$scratch/none.git" push d3
test_match "cannot read '.*none.git'" .err 'the error names the repository'
test_status 2 'a pull from a repository that does not exist is exit 2' publish --repo "$scratch/none.git" pull p2

# --- a file that cannot be published

rm -rf d5
mkdir d5
mkdir 'd5/git~1'
for name in good.txt 'git~1/x.txt' ignored.log unread.txt; do
  echo "{\"of\":\"$name\"}" >"d5/$name"
done
echo '*.log' >d5/.gitignore
names() { branch ls-tree -r --name-only -z vkb-history | tr '\0' '\n'; }
test_status 2 'a path that git refuses is exit 2' publish --repo "$scratch/store.git" push d5
test_match "^vkb-publish: 1 of 4 files of 'd5' are not in branch 'vkb-history', see above: 'git~1/x.txt'$" \
  .err 'the error names the path'
test_same 'good.txt ignored.log unread.txt' "$(names | grep -E '^(good|ignored|unread)' | xargs)" \
  'the other files are published, also those that a .gitignore names'
rm -r 'd5/git~1'
test_that 'without that path the push is accepted' publish --repo "$scratch/store.git" push d5
echo changed | tee d5/good.txt >d5/unread.txt
chmod 0 d5/unread.txt
# Root can read it, too, unless it has no capabilities.
plain_user=
[ "$(id -u)" -ne 0 ] || plain_user='setpriv --bounding-set=-all --inh-caps=-all'
# shellcheck disable=SC2086 # words
test_status 2 'a file that cannot be read is exit 2' $plain_user vkb-publish --repo "$scratch/store.git" push d5
test_match "^vkb-publish: 1 of 3 files of 'd5' .*: 'unread.txt'$" .err 'the error names the file that cannot be read'
test_same 'changed {"of":"unread.txt"}' \
  "$(branch show vkb-history:good.txt) $(branch show vkb-history:unread.txt)" 'the other file is published'
: >seen
# shellcheck disable=SC2086 # words
test_status 2 'a file that cannot be read is exit 2 for a bucket, too' $plain_user vkb-publish --s3 s3://b/p push d5
test_match "^vkb-publish: 1 of 3 files of 'd5' could not be read, .*: 'unread.txt'$" .err 'the error for the bucket names the file'
test_match '^s3 sync' seen 'the other files are sent to the bucket'
chmod 644 d5/unread.txt
mkdir broken
for tool in tar cp find git-add; do
  printf '#!/bin/sh\ncase "%s $*" in\n%s) exit 1 ;;\nesac\nexec "%s" "$@"\n' "$tool" \
    "$([ $tool = git-add ] && echo '*" add "*' || echo '*')" \
    "$(unset -f git && command -v "${tool%-*}")" >"broken/${tool%-*}"
  chmod +x "broken/${tool%-*}"
  echo "{\"tool\":\"$tool\"}" >"d5/$tool.json"
  test_status 2 "a failure of $tool is an error" env PATH="$scratch/broken:$PATH" vkb-publish --repo "$scratch/store.git" push d5
  rm "broken/${tool%-*}"
done

# --- the folder of a job that ran untrusted code

names >before
rm -rf d6
mkdir -p d6/.github/workflows d6/c/.vkb-bench d6/c/configs/0123456789abcdef d6/x
for name in .gitlab-ci.yml .gitattributes .gitmodules .github/workflows/a.yml \
  .github/x.json Jenkinsfile action.yml c/.x.json x/run.sh "$(printf 'x/a\nb.json')"; do
  echo x >"d6/$name"
done
for name in c/.vkb-bench/asked c/configs/0123456789abcdef/mine c/metrics.json c/builds; do
  echo x >"d6/$name"
done
ln -s /etc/passwd d6/link.json
ln -s / d6/root
test_that 'a folder with files that control a forge is accepted' publish --repo "$scratch/store.git" --s3 s3://b/p push d6
test_match "files of 'd6' are left out because no vkb program writes such names: '.*'" .err 'a message names these files'
names >after
test_same 'c/.vkb-bench/asked c/builds c/configs/0123456789abcdef/mine c/metrics.json' \
  "$(comm -13 before after | xargs)" 'only files of vkb are published'
test_same 'add results [skip ci]' "$(branch log -1 --format=%s vkb-history)" \
  'the title of the commit starts no CI job'

# Links in the branch write no file outside of it.
echo mine >outside
git clone -q -b vkb-history store.git planted 2>/dev/null
ln -s "$scratch/outside" planted/link.json
ln -s "$scratch" planted/folder
echo x >planted/.gitlab-ci.yml
git -C planted add -A
git -C planted commit -qm planted
git -C planted push -q
test_that 'pull of a branch with links is accepted' publish --repo "$scratch/store.git" pull p6
test_empty "$(find p6 -type l -o -name .gitlab-ci.yml)" 'pull leaves out links and CI files'
rm -r d6
mkdir d6
echo other >d6/link.json
test_that 'a push of a file in the place of a link is accepted' publish --repo "$scratch/store.git" push d6
test_same mine "$(cat outside)" 'the target of the link is unchanged'
test_same other "$(branch show vkb-history:link.json)" 'the file replaces the link'

# GitLab gets a push option, too, if the server accepts options.
cat >store.git/hooks/pre-receive <<'END'
#!/bin/sh
echo "${GIT_PUSH_OPTION_0:-none}" >../options
END
chmod +x store.git/hooks/pre-receive
for takes in true false; do
  branch config receive.advertisePushOptions $takes
  echo $takes >d6/takes.txt
  test_that "push options: $takes: the push is accepted" env GITLAB_CI=true vkb-publish \
    --repo "$scratch/store.git" push d6
  test_same "$([ $takes = true ] && echo ci.skip || echo none)" "$(cat options)" \
    "push options: $takes: the option that the server gets"
done
rm store.git/hooks/pre-receive

# --- a bucket

: >seen
test_that 'a push to a bucket is accepted' publish --s3 s3://b/p push d1
test_same 's3 sync --no-progress DIR/new s3://b/p
key none unset' "$(sed 's, [^ ]*/new , DIR/new ,' seen)" 'the bucket gets the new files'
test_same './c1/x.jsonl' "$(cat seen.files)" 'the bucket gets only finished files'
: >seen
test_that 'a bucket with its own endpoint is accepted' env VKB_S3_KEY_ID=k VKB_S3_ENDPOINT=https://s3.example \
  VKB_S3_KEY=secret vkb-publish --s3 s3://b/p push d1
test_match '^key k https://s3.example$' seen 'the endpoint is passed to the command'
: >seen
test_that 'empty variables are accepted' env VKB_S3_KEY_ID= VKB_S3_ENDPOINT= AWS_ACCESS_KEY_ID=role \
  vkb-publish --s3 s3://b/p push d1
test_match '^key role unset$' seen 'empty variables do not replace the credentials'

# --- a database

rows() { sql 'SELECT count(*) FROM benchmark_metrics'; }
test_that 'a push to a database is accepted' publish --table core push d1
test_same 1 "$(rows)" 'the database has the runs'
test_that 'the same push to a database is accepted again' publish --table core push d1
test_same 1 "$(rows)" 'the database has each run once'
AWAY=1
export AWAY
test_status 2 'a bucket that is unavailable is exit 2' publish --repo "$scratch/store.git" --s3 s3://b/p \
  --table core push d2
test_same 2 "$(rows)" 'the branch and the database get the results'
AWAY=0
: >seen
test_that 'a push with a password of AWS is accepted' env VKB_RDS_IAM=1 PGSSLMODE=disable vkb-publish --table core push d1
test_match "^rds generate-db-auth-token --hostname $PGHOST --port 5432 --username postgres$" \
  seen 'the password is requested from AWS'
test_that 'the test has a PGHOST' test -n "$PGHOST"
kept=$PGHOST
PGHOST=$scratch
cp d2/c2/x.jsonl d3
test_status 2 'a database that is unavailable is exit 2' publish --repo "$scratch/store.git" --table core push d3
test_match 'database: ' .err 'the error is that of the database'
test_match '^five.jsonl$' "$(branch ls-tree --name-only vkb-history >names; echo names)" 'the branch has the results'
PGHOST=$kept

# With a root certificate the server is verified.
postgres_stop
for name in mine other; do
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout $name.key -out $name.crt 2>openssl.err
done
cp mine.key mine.crt "$scratch/pg/data"
echo 'host all all 127.0.0.1/32 trust' >>"$scratch/pg/data/pg_hba.conf"
chmod 600 "$scratch/pg/data/mine.key"
[ "$(id -u)" -ne 0 ] || chown postgres: "$scratch"/pg/data/mine.*
free=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1",
  Listen => 1)->sockport')
cat >>"$scratch/pg/data/postgresql.auto.conf" <<END
ssl = on
ssl_cert_file = 'mine.crt'
ssl_key_file = 'mine.key'
port = $free
END
with_tls() { # starts the same server with TCP
  pg_user=
  [ "$(id -u)" -ne 0 ] || pg_user='--reuid=postgres --regid=postgres --init-groups'
  # shellcheck disable=SC2086 # several words
  setpriv $pg_user --pdeathsig QUIT env -C / "$pg_bin/postgres" -D "$scratch/pg/data" \
    -k "$scratch/pg" -c listen_addresses=127.0.0.1 </dev/null >>"$scratch/pg.log" 2>&1 &
  pg_pid=$!
  PGPORT=$free
  export PGPORT
  wait_until 60 psql -X -q -c ''
}
with_tls
PGHOST=localhost
test_that 'a database with TLS and its certificate is accepted' env VKB_PGSSLROOTCERT="$(cat mine.crt)" \
  vkb-publish --table core push d1
test_status 2 'another certificate is exit 2' env VKB_PGSSLROOTCERT="$(cat other.crt)" \
  vkb-publish --table core push d1
test_match 'certificate verify failed' .err 'the error says that the certificate is not verified'
test_status 2 'another certificate in PGSSLROOTCERT is exit 2' env PGSSLROOTCERT="$scratch/other.crt" \
  vkb-publish --table core push d1
test_match 'certificate verify failed' .err 'the error is the same with PGSSLROOTCERT'
test_that 'PGSSLMODE=disable verifies nothing' env PGSSLROOTCERT="$scratch/mine.crt" PGSSLMODE=disable \
  vkb-publish --table core push d1
PGHOST=$kept

# --- errors

test_that 'a push without a store is accepted' publish --repo '' --s3 '' --table '' push d1
test_match 'nothing is published' .err 'a message says that nothing is published'
test_status 2 'a folder that does not exist is exit 2' publish --s3 s3://b push none
for words in '' push 'push d1 d2' 'pill d1' '--nonsense push d1' \
  '--branch a..b push d1' '--repo --upload-pack=x push d1'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-publish $words is an error" vkb-publish $words
  test_match 'usage: ' .err "vkb-publish $words: the error shows the usage"
done
test_done
