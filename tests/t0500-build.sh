#!/bin/sh
# vkb-build: commits of a small repository that behaves as Valkey's does, with
# refs of all kinds, failures, kills, and others that build at the same time.
# shellcheck disable=SC2016 # text for make and jq is not expanded
. "${0%/*}/lib.sh"

. "$tests/repo.sh"

small_repo
commit one
in_repo tag v1
in_repo tag -a -m annotated v1a
echo '#define VERSION "9.0.1"' >repo/src/version.h
commit two
in_repo branch side v1
in_repo update-ref refs/pull/17/head side
in_repo update-ref refs/remotes/origin/theirs v1
one=$(head_of v1) two=$(head_of main)

build() { vkb-build -C repo "$@"; }
field() { jq -r "$1" .out; }

# --- every kind of ref

for ref in main HEAD "$two" "$(printf %.9s "$two")" refs/heads/main; do
  test_that "ref: $ref" build "$ref"
  test_same "$two ok" "$(field '.subject.commit + " " + .status')" \
    "the record has the commit of $ref"
done
for ref in v1 v1a side pr/17 theirs origin/theirs HEAD~1 "$one"; do
  test_that "ref: $ref" build "$ref"
  test_same "$one ok $ref" \
    "$(field '.subject.commit + " " + .status + " " + .subject.ref')" \
    "the record has the commit and the ref $ref"
done
test_that 'two commits are built at once' build base=v1 main
test_same 'base 9.0.0
null 9.0.1' "$(field '"\(.subject.label) \(.version)"')" 'labels and versions'
test_same "$(in_repo show -s --format=%ct v1)" \
  "$(field '.subject.time | fromdate' | head -n 1)" 'the record has the time of the commit'
server=$(field .server | head -n 1)
test_match "sha=$(printf %.8s "$one")" "$(
  "$server" >said
  echo said
)" 'the server is built from the commit'
test_same "$(printf %.8s "$one")" "$(field .git_sha | head -n 1)" \
  'the record has the commit that the server reports'
test_same "$(sha256sum <"$server" | cut -d ' ' -f 1)" \
  "$(field .binary_sha256 | head -n 1)" 'the record has the hash of the server'
test_same 'true
true' "$(field .cached)" 'both were built before'
test_that 'the programs of the commit exist' test -x "$server" -a \
  -x "$(field .cli | tail -n 1)" -a -x "$(field .benchmark | tail -n 1)" -a \
  -f "$(field .log | tail -n 1)"
test_empty "$(in_repo status --porcelain --ignored)" \
  'the repository has no new files'

# --- names that are not commits

nasty=$(printf 'a\033[31m\nb')
for ref in nothing pr/18 '' "$(printf '%040d' 1)" ' ' '--' 'x y' "a'b" 'a"b' \
  ../../etc '$(date)' "$nasty" 'main:src' ':/'; do
  test_status 2 "an unknown commit: $(printf %s "$ref" | tr '\n' ' ' | cat -v)" build -- main "$ref"
  test_empty_file .out 'with an unknown commit nothing is built'
  test_same 1 "$(grep -c '^vkb-build: ' .err)" \
    'the error about an unknown commit is one line'
  test_empty "$(LC_ALL=C grep -a "$(printf '\033')" .err .out)" 'no escape sequence is printed'
done
test_status 2 'a commit, two names and two folders that do not exist are an error' \
  build --cache fresh v1 nosuch gone.tar neither --worktree none
test_same 'nosuch gone.tar neither none' "$(sed "s/^[^']*'\([^']*\)'.*/\1/" .err | xargs)" \
  'an error names each of them'
test_empty "$(ls fresh/builds)" 'and nothing is built'
test_status 2 'an ambiguous name of a blob' build "$(head_of main:src/version.h)"
test_match 'cannot find a commit' .err 'the error says that a blob is not a commit'
test_status 2 'a folder without a repository is an error' \
  vkb-build -C "$scratch/home" main
test_match "repository '$scratch/home'" .err \
  'the error names the folder without a repository'
test_status 2 'vkb-build without a ref is an error' build
test_status 2 '--repo with -C is an error' build --repo x main
cp -r repo corrupt
find corrupt/.git/objects -type f -exec chmod u+w {} + -exec sh -c ': >"$1"' - {} \;
echo 'leak:libgit2.so' >libgit2 # the cached reads of a bad object are forgotten
test_status 2 'a corrupt repository is an error' \
  env "LSAN_OPTIONS=suppressions=$scratch/libgit2" vkb-build -C corrupt --cflags -DC main
test_empty_file .out 'nothing is built of a corrupt repository'

# --- a build reuses the objects of another commit

how() { field '"\(.status) \(.incremental) \(.cached)"'; }
compiled() { grep -h '^compiled' "$(field .log)" | cut -d ' ' -f 2 | sort | xargs; }
test_that 'a first build into a cache succeeds' build --cache inc v1
test_same 'ok false false' "$(how)" 'a first build starts from nothing'
test_same 'valkey-cli.c valkey-server.c' "$(compiled)" \
  'a first build compiles each source'
test_that 'a second commit is built' build --cache inc main
test_same 'ok true false' "$(how)" \
  'a second commit is built in the tree of the first'
test_same valkey-server.c "$(compiled)" \
  'only the source of a changed header is compiled'
test_same 9.0.1 "$(field .version)" 'the server has the changed header'
echo 'int x;' >>repo/src/valkey-cli.c
commit three
test_that 'a commit of one source is built' build --cache inc HEAD
test_same 'valkey-cli.c valkey-server.c' "$(compiled)" \
  'only the changed source and the release are compiled'
echo '# more' >>repo/src/Makefile
commit four
test_that 'a commit that changes the Makefile is built' build --cache inc HEAD
test_same 'ok false false' "$(how)" \
  'a change of the Makefile starts from nothing'
echo 1 >repo/deps/lib.c
commit five
test_that 'a commit that changes deps is built' build --cache inc HEAD
test_same 'ok false false' "$(how)" 'a change of deps starts from nothing'
mkdir repo/tests && echo 1 >repo/tests/t.tcl
commit six
test_that 'a commit that adds a test is built' build --cache inc HEAD
test_same 'ok true false' "$(how)" 'a change of tests keeps the objects'
in_repo rm -q tests/t.tcl && in_repo commit -qm seven
test_that 'a commit that removes a file is built' build --cache inc HEAD
test_empty "$(find inc -name t.tcl)" 'the removed file is removed from the tree'
# The objects of the tree are damaged: make fails, and the build starts from nothing.
find inc/trees -name valkey-cli.o -exec sh -c 'echo junk >"$1"' - {} \;
echo 'int y;' >>repo/src/valkey-server.c
commit eight
test_that 'a commit is built if the objects of the tree are spoilt' \
  build --cache inc HEAD
test_same 'ok false false' "$(how)" 'spoilt objects are not reused'

# --- other flags make another build

test_that 'flags' build --tls --allocator libc --debug-symbols \
  --frame-pointers --cflags '-DA="b c"' --make-arg X=1 main
test_same 'ok false false' "$(how)" 'other flags make another build'
test_match 'valkey-server.c -DA=b c -g -ggdb -fno-omit-frame-pointer libc yes' \
  "$(field .log)" 'make gets the flags'
test_same '["BUILD_TLS=yes","MALLOC=libc","SERVER_CFLAGS=-DA=\"b c\" -g -ggdb -fno-omit-frame-pointer","X=1"]' \
  "$(field '.subject.build.make | tojson')" \
  'the record has the flags of the build'
test_status 2 'an allocator that the server does not have is an error' \
  build --allocator jemalloc main
test_match "has the allocator 'libc', not 'jemalloc'" .err \
  'the error names both allocators'
test_status 2 'an unknown allocator is an error' build --allocator nonsense main
test_match "'--allocator': 'nonsense'" .err \
  'the error names the unknown allocator'
test_status 2 '--make-arg without a variable is an error' \
  build --make-arg 'not a variable' main
test_match "'--make-arg': 'not a variable'" .err \
  'the error names the argument of --make-arg'
test_status 2 'a missing compiler is an error' \
  build --make-arg CC=no-such-cc main
test_match "compiler 'no-such-cc'" .err 'the error names the missing compiler'
test_empty_file .out 'a missing compiler leaves no record'

# --- failures

echo 'this is not C' >>repo/src/valkey-cli.c
commit broken
test_status 2 'a commit that does not compile is an error' build HEAD v1
test_same 'failed
ok' "$(field .status)" 'the commit that compiles is built'
test_match 'make exited with 2' .err 'the error has the status of make'
test_match 'valkey-cli.c:.*error' .err 'the error has the end of the log'
test_same true "$(field '.error // "" | test("valkey-cli.c:.*error")' | head -n 1)" \
  'the record has the end of the log'
test_match 'error' "$(field .log | head -n 1)" 'the log is kept'
test_status 2 'a commit that does not compile fails again' build HEAD
in_repo revert --no-edit HEAD >/dev/null
in_repo checkout -q -b liar
sed -i 's/SHA, DIRTY/"deadbeef", DIRTY/' repo/src/valkey-server.c
commit liar
test_status 2 'a server that reports another commit is an error' build HEAD
test_match "reports the commit 'deadbeef', not '$(head_of HEAD | cut -c 1-10)'" \
  .err 'the error has both commits'
sed -i 's/"deadbeef"/"00000000"/' repo/src/valkey-server.c
commit zero
test_that 'a server that does not report its commit is built' build HEAD
test_same 'null 64' "$(field '"\(.git_sha) \(.binary_sha256 | length)"')" \
  'a server that does not report its commit has its hash'
in_repo checkout -q main
test_status 2 'a cache that cannot be created is an error' \
  build --cache /dev/null/x main
test_match "'/dev/null" .err 'the error names the cache that cannot be created'

# --- make gets no terminal and no secrets

in_repo checkout -q -b nosy
printf 'ignored2 := $(shell env >environment; cat >>environment; ls -l /dev/tty; : </dev/tty && echo tty >>environment)\n' \
  >>repo/src/Makefile
commit nosy
echo hunter2 >"$HOME/.netrc"
VKB_SECRET=hunter2 PGPASSWORD=hunter2 build HEAD </dev/null >.out 2>.err
test_same ok "$(field .status)" \
  'a Makefile that looks at its environment is run'
found=$(find cache -name environment)
test_match '^PATH=' "$found" 'make has a PATH'
home=$(sed -n 's/^HOME=//p' "$found")
test_same "yes $scratch/cache" "$([ "$home" != "$HOME" ] && echo yes) $(echo "$home" |
  cut -c "1-${#scratch}")/cache" 'make has a HOME of its own in the cache'
test_that 'the HOME of make is removed after the build' [ ! -e "$home" ]
test_absent 'hunter2|^tty' "$found" 'make sees no secret and no terminal'
in_repo checkout -q main

# --- a work tree

test_that 'a work tree without changes is built' vkb-build --worktree repo
test_same "false $(head_of HEAD) $(head_of 'HEAD^{tree}')" \
  "$(field '"\(.subject.dirty) \(.subject.commit) \(.subject.tree)"')" \
  'a work tree without changes is recorded as its commit'
before=$(sha256sum repo/.git/index)
sed -i 's/9.0.1/9.0.1-mine/' repo/src/version.h
echo new >repo/new
echo junk >repo/src/valkey-cli.o
test_that 'a work tree with changes is built' vkb-build --worktree mine=repo
test_same 'true mine 9.0.1-mine' \
  "$(field '"\(.subject.dirty) \(.subject.label) \(.version)"')" \
  'a work tree with changes is recorded as dirty'
test_match 'sha=[0-9a-f]*:[1-9]' "$("$(field .server)" >said; echo said)" \
  'a server from a work tree with changes reports it'
tree=$(cp repo/.git/index i; GIT_INDEX_FILE=$scratch/i; export GIT_INDEX_FILE
  in_repo add -A; in_repo write-tree)
test_same "$tree" "$(field .subject.tree)" 'the recorded tree is the one that git computes'
test_same "$before" "$(sha256sum repo/.git/index)" 'the index was not touched'
test_that 'a work tree with changes is built again' \
  vkb-build --worktree mine=repo
test_same true "$(field .cached)" 'the same work tree comes from the cache'
echo newer >repo/new
test_that 'a work tree that has changed again is built' \
  vkb-build --worktree repo
test_same "false $(head_of HEAD | cut -c 1-10)+dirty" \
  "$(field '"\(.cached) \(.subject.label)"')" \
  'a work tree that has changed again is another build'
git init -q repo/within && echo 1 >repo/within/file
test_that 'a work tree with a repository inside is built' \
  vkb-build --worktree repo
test_same true "$(field .cached)" \
  'a repository inside the work tree does not matter'
rm -rf repo/within
test_status 2 'a folder that is not a work tree is an error' \
  vkb-build --worktree home
git clone -q --bare repo bare.git
test_status 2 'a bare repository as work tree is an error' \
  vkb-build --worktree bare.git
test_match "'bare.git' has no work tree" .err \
  'the error names the bare repository'
in_repo checkout -q . && rm repo/new repo/src/valkey-cli.o

# --- a mirror

url=file://$scratch/repo
mirror() { vkb-build --cache mirrored --repo "$url" "$@"; }
test_that 'a repository is fetched by URL' mirror main v1 pr/17 HEAD origin/side
test_same "$(head_of main)
$one
$one
$(head_of main)
$one" "$(field .subject.commit)" 'a fetched repository has the same commits'
in_repo commit -q --allow-empty -m later
in_repo branch -D side >/dev/null
test_that 'a new commit is made upstream' mirror main
test_same "$(head_of main)" "$(field .subject.commit)" 'a new commit is fetched'
in_repo branch 20261130 v1
test_that 'a branch that looks like a commit is built' mirror 20261130
in_repo branch -f 20261130 main
test_that 'it is moved upstream' mirror 20261130
test_same "$(head_of main)" "$(field .subject.commit)" 'and fetched'
test_status 2 'a branch that is gone upstream is an error' mirror side
tag=$(in_repo rev-parse v1a)
mv repo moved
test_that 'a known commit is built without fetching' \
  mirror "$(printf %.12s "$one")"
test_that 'and so is a known tag by the ID of its object' mirror "$tag"
test_same "$one" "$(field .subject.commit)" 'it is the commit of the tag'
test_status 2 'a branch of a repository that is gone is an error' mirror main
test_match "cannot fetch from '$url'" .err \
  'the error names the URL that cannot be fetched'
mv moved repo
test_status 2 'a host that does not answer is an error' \
  vkb-build --repo https://127.0.0.1:1/x.git main
test_match "'https://127.0.0.1:1/x.git'" .err \
  'the error names the host that does not answer'

# --- two at once, and a kill

cat >slow-cc <<'END'
#!/bin/sh
# Prints that it has started, and waits until it may continue.
case $* in *-c*) echo $$ >"$0.at.$$"; while [ ! -e "$0.go" ]; do perl -e 'select undef, undef, undef, 0.02'; done ;; esac
exec cc "$@"
END
chmod +x slow-cc
slow() { build --cache slow --make-arg "CC=$scratch/slow-cc" "$@"; }
at_work() { ls slow-cc.at.* >/dev/null 2>&1; }
slow main >a.out 2>a.err &
a=$!
test_that 'the first of two builds is at work' wait_until 20 at_work
slow main >b.out 2>b.err &
b=$!
: >slow-cc.go
wait $a
test_same 0 $? 'the first of two builds succeeds'
wait $b
test_same 0 $? 'the second of two builds succeeds'
test_same 'false
true' "$(jq -r .cached a.out b.out | sort)" \
  'the first of two builds builds, the second waits'
rm -f slow-cc.go slow-cc.at.*

no_children() {
  for f in slow-cc.at.*; do
    gone "$(cat "$f")" || return 1
  done
}
for sig in 2 9; do
  perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' vkb-build -C repo --cache slow \
    --make-arg "CC=$scratch/slow-cc" --cflags "-DS$sig" main >a.out 2>a.err &
  a=$!
  test_that "signal $sig: the build has started" wait_until 20 at_work
  kill -$sig $a
  wait $a
  test_same $((128 + sig)) $? "SIG$sig ends vkb-build"
  test_empty_file a.out "SIG$sig leaves no record"
  test_that "SIG$sig leaves no compiler" wait_until 20 no_children
  : >slow-cc.go
  test_that "SIG$sig: the same build is accepted again" \
    slow --cflags "-DS$sig" main
  test_same 'ok false false' "$(how)" \
    "SIG$sig: the same build starts from nothing"
  rm -f slow-cc.go slow-cc.at.*
done
test_empty "$(find slow/builds -name '*.new')" 'no incomplete build is left'

# An incomplete build of a killed program is not used.
: >slow-cc.go
half=$(dirname "$(field .server)")
mv "$half/build.json" kept.json
test_that 'a build without build.json is accepted' slow --cflags -DS9 main
test_same false "$(field .cached)" 'a build without build.json is made again'
: >"$half/valkey-server"
test_that 'a build whose server is cut short is accepted' \
  slow --cflags -DS9 main
test_same false "$(field .cached)" \
  'a build whose server is cut short is made again'

git init -q other
git -C other commit -q --allow-empty -m 'no server'
test_status 2 'a repository without a server is an error' vkb-build --cache slow -C other HEAD
test_match "^vkb-build: 'HEAD' has no src/Makefile: it is not the source of Valkey" .err 'the error says what is missing'

# --- pruning

test_that '--prune 1h is accepted' vkb-build --cache slow --prune 1h
test_that '--prune 1h keeps younger builds' slow --cflags -DS9 main
test_same true "$(field .cached)" 'a build'
find slow/builds -name build.json -exec touch -d '3 days ago' {} +
test_that '--prune 2d is accepted' vkb-build --cache slow --prune 2d
test_empty "$(ls slow/builds)" '--prune 2d removes older builds'
test_that 'a build after --prune succeeds' slow main
mkdir slow/builds/being-made.new
test_that '--prune 0k is accepted' \
  flock slow/locks/being-made "$VKB_BIN/vkb-build" --cache slow --prune 0k
test_same being-made.new "$(ls slow/builds)" '--prune keeps what another program is making'
test_that '--prune 0k again' vkb-build --cache slow --prune 0k
test_empty "$(ls slow/builds)$(ls slow/trees)" \
  '--prune 0k removes all builds and trees'
for bad in 5 -1d x d 3w nan; do
  test_status 2 "the limit $bad is an error" vkb-build --cache slow "--prune=$bad"
  test_match "'--prune': '$bad'" .err "the error names the limit $bad"
done

test_done
