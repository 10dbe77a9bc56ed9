#!/bin/sh
# vkb-build: commits of a module for one server, which is a commit as well or an
# installed program.
# shellcheck disable=SC2016 # what is for make or the command is not expanded
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

two_servers

git init -q mod
in_mod() { git -C mod "$@"; }
# change TEXT: a commit of the module, whose source is that text.
change() {
  echo "$1" >mod/mod.c
  in_mod add -A
  in_mod commit -qm "$1"
}
change 'int one = API;'
change 'int two = API;'
change 'int three = API, no number;'
change 'int four = API;'
in_mod remote add origin https://github.com/me/words.git
id() { in_mod rev-parse "$1"; }

cc='mkdir -p out; cc -include "$VKB_INCLUDE/valkeymodule.h" -shared -fPIC -o out/mod.so mod.c'
build() { vkb-build -C mod --module-build "$cc" --server 1 --server-repo repo "$@"; }
field() { jq -r "$1" .out | xargs; }

test_that 'two commits of a module' build main~3 new=main
cp .out builds
test_same 'ok false ok false' "$(field '"\(.status) \(.cached)"')" 'are built'
test_same "main~3 null $(id main~3) main new $(id main)" \
  "$(field '.subject | "\(.ref) \(.label) \(.module_commit)"')" 'by the names of the module'
test_same "$(head_of 1) $(head_of 1)" "$(field .subject.commit)" 'for the same server'
test_same "$(in_repo show -s --format=%ct 1) $(in_mod show -s --format=%ct main~3)" \
  "$(sed -n 1p builds | jq -r '.subject | "\(.time | fromdate) \(.module_time | fromdate)"')" 'both times are there'
test_same 'me/words me/words' "$(field .subject.repository)" 'the repository is that of the names'
test_same "$cc null repo" \
  "$(sed -n 1p builds | jq -r '.subject.build | "\(.module) \(.module_file) \(.server_repo)"')" \
  'how they are built is there'
test_same 'false null' "$(sed -n 1p builds | jq -r '.subject | "\(.module_dirty) \(.module_fixed)"')" \
  'nothing is changed or fixed'
compiled() { find cache/vkb -name log -exec cat {} + | grep -c '^compiled valkey-server'; }
test_same 1 "$(compiled)" 'the server is built once'
one=$(sed -n 1p builds | jq -r .module) two=$(sed -n 2p builds | jq -r .module)
test_same 'one two' "$(for so in "$one" "$two"; do nm "$so" | sed -n 's/.* D \(one\|two\|four\)$/\1/p' |
  sed s/four/two/; done | xargs)" 'each module is that of its commit'
test_same "$(sha256sum <"$two" | cut -d ' ' -f 1)" "$(sed -n 2p builds | jq -r .module_sha256)" \
  'and has its hash'
test_that 'the same again' build main~3 new=main
test_same 'true true' "$(field .cached)" 'is in the cache'
test_same "$one $two" "$(field .module)" 'with the same files'
test_that 'another server' build --server 2 main
test_same "false $(head_of 2)" "$(field '"\(.cached) \(.subject.commit)"')" 'has another module'
test_absent "^$two$" .out 'of its own'
test_that 'another command' build --module-build "$cc -O1" main
test_same false "$(field .cached)" 'is another module'
test_that 'a file by its name' build --module-build "$cc; cp out/mod.so x.so" --module-file x.so main
test_same 'x.so x.so' "$(basename "$(field .module)") $(field .subject.build.module_file)" 'is the module'

echo 'int changed = API;' >mod/mod.c
test_that 'a work tree of the module' build --worktree mod
test_same "ok true $(id HEAD | cut -c 1-10)+dirty $(head_of 1)" \
  "$(field '"\(.status) \(.subject.module_dirty) \(.subject.label) \(.subject.commit)"')" 'has its changes'
test_same null "$(field .subject.dirty)" 'which are not of the server'
test_match changed "$(jq -r .module .out)" 'and are built'
in_mod checkout -q -- .

# --- an installed server

server=$(jq -r .server builds | head -n 1)
mkdir bin && cp "$server" bin/valkey-server
installed() { vkb-build -C mod --module-build 'echo "<$VKB_INCLUDE>" >&2; cp mod.c mod.so' "$@"; }
test_that 'an installed server' installed --server ./bin/valkey-server main~3 main
test_same 'ok ok' "$(field .status)" 'has modules'
test_same "$scratch/bin/valkey-server $scratch/bin/valkey-server" "$(field .server)" 'it is the program'
test_same "$(sha256sum <"$server" | cut -d ' ' -f 1) 9.0.0" \
  "$(head -n 1 .out | jq -r '"\(.binary_sha256) \(.version)"')" 'it is asked who it is'
test_same "null null $scratch/bin/valkey-server null" \
  "$(head -n 1 .out | jq -r '.subject | "\(.commit) \(.time) \(.build.server) \(.build.compiler)"')" \
  'it has no commit and no flags'
test_match '^<>$' "$(head -n 1 .out | jq -r .log)" 'and no headers'
test_that 'by a whole path' installed --server "$scratch/bin/valkey-server" main
test_same true "$(field .cached)" 'it is the same server'
echo >>bin/valkey-server
test_status 2 'a path that begins otherwise' installed --server bin/valkey-server --server-repo repo main
test_match "no branch, tag, commit or other revision 'bin/valkey-server' in" .err 'is a commit'
test_that 'a program that was replaced' installed --server ./bin/valkey-server main
test_same false "$(field .cached)" 'is another server'

# --- what goes wrong

test_status 2 'a commit that does not build' build main~1 main
test_same 'failed ok' "$(field .status)" 'is alone in that'
test_match 'the command exited with 1' .err 'the error has its log'
test_status 2 'a commit that is not there' build none main
test_same 'failed null ok' "$(jq -r .status .out | head -n 1) $(jq -r .subject.module_commit .out | head -n 1) $(jq -r .status .out | tail -n 1)" \
  'has no module'
test_match "'none' in 'me/words'" .err 'and its repository is named'
test_status 2 'a server that is not there' build --server none main
test_match "no branch, tag, commit or other revision 'none'" .err 'is named'
test_empty_file .out 'and nothing is built'
test_status 2 'a program that is not there' installed --server /none/server main
test_match "cannot run the server '/none/server': No such file" .err 'is named as well'
test_empty_file .out 'and nothing is built for it'
test_status 2 'a folder that is not there' installed --server ./none/bin main
test_match "cannot run the server './none/bin': No such file" .err 'does not name a file of /'
printf '#!/bin/sh\ncase $0 in *-server) echo "Valkey server v=1.2.3 sha=0" ;; *) exit 4 ;; esac\n' >bin/check-rdb
chmod +x bin/check-rdb && ln -s check-rdb bin/other-server
test_that 'a link, as Debian has it,' installed --server ./bin/other-server main
test_same "$scratch/bin/other-server 1.2.3" "$(field '"\(.server) \(.version)"')" 'keeps its name'
test_status 2 'a folder' installed --server / main
test_match "the server '.*' does not run|cannot" .err 'cannot be run'
printf '#!/bin/sh\nexit 3\n' >bin/broken && chmod +x bin/broken
test_status 2 'a program that does not run' installed --server ./bin/broken main
test_match "the server '$scratch/bin/broken' does not run" .err 'is reported'
echo 'no number' >repo/src/version.h
commit three
test_status 2 'a server that does not build' build -j 1 --server main main~3 main~2 main
test_same 'failed failed failed' "$(field .status)" 'fails all'
test_same 1 "$(jq .error .out | sort -u | grep -c 'make exited with 2')" 'with one error'
test_same 1 "$(grep -c '^vkb-build: main: make exited' .err)" 'after one attempt'

usage() { # usage PATTERN ARGUMENT...
  pattern=$1
  shift
  test_status 2 "vkb-build $*" vkb-build "$@"
  test_match "$pattern" .err 'the error says what is missing'
}
usage "'--module-build' needs '--server', .* or '--module-dir'" -C mod --module-build make main
usage "'--server' needs '--module-build'" -C mod --server 1 main
usage "'--server-repo' needs '--server'" -C mod --server-repo repo main
for option in --tls '--make-arg A=b' '--cflags -O1' '--allocator libc'; do
  # shellcheck disable=SC2086 # an option and its argument
  usage "for a server that is built, and '--server' names one that is installed" \
    -C mod $option --module-build make --server /bin/true main
done
usage "'--module-file' needs '--module-build'" -C mod --module-file x main
usage "'--module-dir' and '--server' exclude" -C mod --module-dir mod --server 1 --module-build make main
usage "'--server' needs '-C' or '--repo'" --module-build make --server 1 main
usage "'x.tar.gz' in 'me/words'" -C mod --module-build make --server 1 --server-repo repo x.tar.gz
test_that 'empty values of a form of CI' vkb-build -C repo --module-build '' \
  --module-file '' --server '' --server-repo '' --module-dir '' 1
test_same 'ok null' "$(field '"\(.status) \(.module)"')" 'count as not given'
test_status 2 'a login in the URL of the server' build --server-repo https://me:sesame@127.0.0.1:1/x main
test_absent sesame .err 'is not shown'
test_done
