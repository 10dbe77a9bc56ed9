#!/bin/sh
# vkb-build: broken or unreachable repositories, a full disk, kills at any time, refs
# that vanish during a build: each is an error, and no incomplete build is used later.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

small_repo
commit one
in_repo tag one
echo '#define VERSION "9.0.1"' >repo/src/version.h
commit two
in_repo tag two
field() { jq -r "$1" .out; }
echo 'leak:libgit2.so' >libgit2 # the cached reads of a bad object are forgotten
LSAN_OPTIONS=suppressions=$scratch/libgit2
export LSAN_OPTIONS

# good CACHE WHAT: builds both commits in CACHE and checks the servers
good() {
  test_that "$2" vkb-build --cache "$1" -C repo two one
  test_same "$(head_of two | cut -c 1-8) $(head_of one | cut -c 1-8)" \
    "$(for s in $(field .server); do "$s" --version; done |
      sed 's/.*sha=\([0-9a-f]*\).*/\1/' | xargs)" "$2: the servers have the right commits"
}

# --- corrupt repositories

broken() { # broken WHAT PATTERN: a build of the repository $copy fails
  rm -rf "c.$n"
  test_status 2 "$1" vkb-build --cache "c.$n" -C "$copy" two
  test_same true "$(jq -s 'all(.[]; .status == "failed" and (.error | length > 0))' .out)" \
    "$1: a commit that is found has a failed record with an error"
  test_match "$2" .err "$1: the error has the reason"
  good "c.$n" "$1: a valid repository builds in the same cache"
}
n=0
another() { # another: makes a copy of the repository with a pack; the test breaks it
  n=$((n + 1)) copy=copy$n
  cp -r repo "$copy"
  git -C "$copy" repack -adq
  chmod -R u+w "$copy/.git/objects"
}
another
pack=$(echo "$copy"/.git/objects/pack/*.pack)
head -c $(($(wc -c <"$pack") / 2)) "$pack" >half
cp half "$pack"
broken 'half of a pack' "'two'|$(head_of two)|$(head_of 'two^{tree}')"
another
: >"$(echo "$copy"/.git/objects/pack/*.idx)"
broken 'an empty index of a pack' "two"
another
rm -r "$copy"/.git/objects/pack
broken 'no objects' "'two'"
another
rm -r "$copy"/.git/objects/pack
cp -r repo/.git/objects/. "$copy/.git/objects/"
chmod -R u+w "$copy/.git/objects"
blob=$(head_of two:src/version.h)
gone=$copy/.git/objects/$(echo "$blob" | sed 's,^..,&/,')
rm "$gone"
broken 'a file that is missing' "cannot check out into .*$blob"
echo junk >"$gone"
broken 'a file that is junk' 'cannot check out into'
tree=$(head_of two:src)
rm "$copy/.git/objects/$(echo "$tree" | sed 's,^..,&/,')"
broken 'a folder that is missing' "$tree"
another
echo 'ref: refs/heads/none' >"$copy/.git/HEAD"
test_status 2 'a HEAD without a branch is an error' vkb-build -C "$copy" HEAD
test_match "no branch, tag, commit or other revision 'HEAD'" .err \
  'the error says that HEAD is unknown'

# --- a ref that vanishes between being resolved and being built

cat >slow-cc <<'END'
#!/bin/sh
case $* in *-c*) : >"$0.at"; while [ ! -e "$0.go" ]; do perl -e 'select undef, undef, undef, 0.02'; done ;; esac
exec cc "$@"
END
chmod +x slow-cc
cp -r repo moving
in_moving() { git -C moving "$@"; }
in_moving checkout -q -b late
echo late >moving/late
in_moving add -A && in_moving commit -qm late
late=$(in_moving rev-parse late)
vkb-build --cache v -j 1 --make-arg "CC=$scratch/slow-cc" -C moving one late \
  >v.out 2>v.err &
pid=$!
test_that 'the first build has started' wait_until 20 test -e slow-cc.at
in_moving checkout -q main
in_moving branch -qD late
: >slow-cc.go
wait $pid
test_same 0 $? 'a branch that vanishes after it was resolved is built'
test_same "$late" "$(jq -r .subject.commit v.out | tail -n 1)" \
  'the commit of the vanished branch is built'
rm slow-cc.at slow-cc.go
in_moving checkout -q -b lost
echo lost >moving/lost
in_moving add -A && in_moving commit -qm lost
vkb-build --cache v -j 1 --make-arg "CC=$scratch/slow-cc" --cflags -DX -C moving \
  one lost >v.out 2>v.err &
pid=$!
test_that 'the first build is at work again' wait_until 20 test -e slow-cc.at
in_moving checkout -q main
in_moving branch -qD lost
in_moving reflog expire --expire=now --all
in_moving gc -q --prune=now
: >slow-cc.go
wait $pid
test_same 2 $? 'a commit whose objects vanish is an error'
test_same 'ok failed' "$(jq -r .status v.out | xargs)" \
  'the build before the vanished commit succeeds'
test_match 'cannot (read|check out)' v.err \
  'the error says that the commit cannot be read'

# --- a full disk, at each size up to one that is large enough

if unshare -m true 2>/dev/null; then
  mkdir disk
  cat >full <<'END'
mount -t tmpfs -o "size=${1}k" none disk || exit 125
vkb-build --cache disk $2 two >.out 2>full.err
echo $? >full.status
find disk/builds -name build.json >full.built
mount -o remount,size=50m disk
vkb-build --cache disk $2 two >again.out 2>again.err || echo "again $?" >>bad
"$(jq -r .server again.out)" --version | grep -q "sha=$3" || echo 'another' >>bad
[ -z "$(find disk/builds -name '*.new')" ] || echo 'half a build' >>bad
END
  : >bad
  for kind in '-C repo' "--repo file://$scratch/repo"; do
    sizes='' ends=''
    for size in 8 28 52 76 100 124 160 20000; do
      unshare -m sh full $size "$kind" "$(head_of two | cut -c 1-8)" || break
      sizes=$sizes$size,
      ends="$ends$(cat full.status) "
      case $(cat full.status):$(wc -l <full.built) in
      0:1 | 2:0) ;;
      *) echo "$size: $(cat full.status)" >>bad ;;
      esac
    done
    test_empty_file bad "a full disk, $kind: no incomplete build is left: $sizes"
    test_match '^(2 )+(0 )+$' "$(echo "$ends" >ends; echo ends)" \
      'a full disk is an error at each size below the one needed'
  done
  unshare -m sh full 40 '-C repo' 0 2>/dev/null
  test_match 'No space left|make exited' full.err \
    'the error says that no space is left'
else
  test_skip 'a disk that is full' 'mount in a name space'
fi
limited() { (ulimit -f 16 && vkb-build --cache limited -C repo two); }
test_status 2 'a limit on the size of files is an error' limited
test_same failed "$(field .status)" \
  'a limit on the size of files makes the build fail'
good limited 'the builds succeed without the limit'

# --- kills at any time

for after in 0.02 0.06 0.15 0.3; do
  timeout -s KILL $after vkb-build --cache killed -C repo two one >/dev/null 2>&1
  timeout -s KILL $after vkb-build --cache killed --repo "file://$scratch/repo" \
    two one >/dev/null 2>&1
done
good killed 'the builds succeed after kills'
test_that 'a cache after kills is used by URL' \
  vkb-build --cache killed --repo "file://$scratch/repo" two one
test_same 'true true' "$(field .cached | xargs)" \
  'a cache after kills has the builds by URL'
test_empty "$(find killed/builds -name '*.new')$(find killed/git -name '*_git2_*')" \
  'a cache after kills has no incomplete files'

# What a kill can leave: a mirror that is being made, refs that are being written.
for f in config.lock refs/heads/main.lock packed-refs.lock HEAD.lock; do
  touch "$(find killed/git -name '*.git')/$f"
done
mkdir killed/git/0.git.new
echo '#define VERSION "9.0.2"' >repo/src/version.h
commit three
test_that 'locks of killed processes do not matter' \
  vkb-build --cache killed --repo "file://$scratch/repo" main
test_same "$(head_of main)" "$(field .subject.commit)" \
  'the newest commit is fetched despite locks'

# A daemon of make cannot disturb what is measured next.
make_leaver
in_repo checkout -q -b leaves
printf '%s\n\t%s\n\t%s\n' 'valkey-%:' "'$scratch/leave' '$scratch/\$@'; kill -0 \$\$(cat '$scratch/\$@')" 'cp /bin/true $@' \
  >repo/src/Makefile
commit leaves
in_repo checkout -q main
vkb-build --cache leaves -C repo leaves >.out 2>.err
test_result $? 'a make that leaves daemons builds'
test_that 'make has left a daemon' test -s valkey-server
test_empty "$(cat valkey-* | while read -r pid; do gone "$pid" || echo "$pid"; done)" \
  'the daemons of make have ended when vkb-build ends'

# A compiler that is killed leaves its temporary files.
in_repo checkout -q -b waits
printf '%s\n\t%s\n' 'valkey-%:' "mktemp; cd '$scratch'; ./leave left; echo \$\$\$\$ >new; mv new began; exec tail -f /dev/null" \
  >repo/src/Makefile
commit waits
in_repo checkout -q main
TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$TMPDIR"
vkb-build --cache waits -C repo waits >/dev/null 2>&1 &
pid=$!
test_that 'a build waits in make' wait_until 60 test -e began
kill -KILL $pid
wait $pid
test_that 'the compiler ends when vkb-build is killed' \
  wait_until 60 gone "$(cat began)"
test_that 'the daemon of make ends when vkb-build is killed' \
  wait_until 60 gone "$(cat left)"
test_litter 0 'a killed compiler leaves nothing in TMPDIR'
good waits 'the builds succeed after the compiler is killed'
test_empty "$(find waits/trees -name '*.tmp')" \
  'the temporary files of a killed compiler are removed'

# --- unreachable repositories: no password is asked for

cat >ask <<'END'
#!/bin/sh
: >"$0.was.asked"
END
chmod +x ask
GIT_ASKPASS=$scratch/ask SSH_ASKPASS=$scratch/ask DISPLAY=:0
export GIT_ASKPASS SSH_ASKPASS DISPLAY

# server REPLY FILE: answers each connection with REPLY ('' never, and holds it).
cat >server.pl <<'END'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die;
open(my $f, ">", "$ARGV[1].new"); print $f $s->sockport; close $f;
rename "$ARGV[1].new", $ARGV[1];
my @held;
while (my $c = $s->accept) {
	if ($ARGV[0] eq "") { push @held, $c; open(my $g, ">", "$ARGV[1].met"); next }
	sysread $c, my $request, 4096;
	print $c $ARGV[0];
	close $c;
}
END
serve() { # serve REPLY FILE: starts server.pl and waits until it has a port
  perl server.pl "$1" "$2" &
  servers="$servers $!"
  wait_until 10 test -e "$2"
}
servers=
# shellcheck disable=SC2086 # words
test_cleanup() { [ -z "$servers" ] || kill $servers 2>/dev/null; }
serve "$(printf 'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r')
" login
serve "$(printf 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r')
" none
serve 'not git' junk
serve '' silent

for url in git://127.0.0.1:1/x https://127.0.0.1:1/x.git \
  ssh://git@127.0.0.1:1/x.git git@localhost.invalid:x/y.git \
  https://no-such-host.invalid/x.git "http://127.0.0.1:$(cat login)/x.git" \
  "http://127.0.0.1:$(cat none)/x.git" "git://127.0.0.1:$(cat junk)/x" \
  "https://127.0.0.1:$(cat junk)/x" "ssh://git@127.0.0.1:$(cat junk)/x" \
  "file://$scratch/nowhere" nowhere 'ext::sh -c touch% evil' 'x://y'; do
  test_status 2 "$url" timeout 60 setsid -w vkb-build --cache urls --repo "$url" main
  # The login in a URL is not shown: it may be a token.
  test_match "$(printf %s "$url" |
    sed 's,://git@,://***@,; s/[.+%*]/\\&/g')" .err "$url: the error names it"
done
test_that 'no program asked for a password' test ! -e ask.was.asked -a ! -e evil

# vkb-build waits for a server that never answers, until a signal comes.
for sig in INT TERM; do
  rm -f silent.met
  perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' vkb-build --cache urls \
    --repo "git://127.0.0.1:$(cat silent)/x" main >s.out 2>s.err &
  pid=$!
  test_that 'a server accepts the connection and never answers' wait_until 20 test -e silent.met
  kill -$sig $pid
  wait $pid
  test_same "$([ $sig = INT ] && echo 130 || echo 143)" $? "SIG$sig ends the wait"
done
test_done
