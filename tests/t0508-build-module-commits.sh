#!/bin/sh
# vkb-build: commits of a module for one server, which is a commit, too, or an installed
# program.
# shellcheck disable=SC2016 # what is for make or the command is not expanded
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

two_servers

git init -q mod
in_mod() { git -C mod "$@"; }
# change TEXT: makes a commit of the module; its source is TEXT
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
build() {
  case $* in *--module-build*) ;; *) set -- --module-build "$cc" "$@" ;; esac
  case $* in *'--server '*) ;; *) set -- --server 1 "$@" ;; esac
  case $* in *'--server-repo '*) ;; *) set -- --server-repo repo "$@" ;; esac
  vkb-build -C mod "$@"
}
field() { jq -r "$1" .out | xargs; }

test_that 'two commits of a module are built' build main~3 new=main
cp .out builds
test_same 'ok false ok false' "$(field '"\(.status) \(.cached)"')" 'both modules are new builds'
test_same "main~3 null $(id main~3) main new $(id main)" \
  "$(field '.subject | "\(.ref) \(.label) \(.module_commit)"')" 'the subjects have the names and commits of the module'
test_same "$(head_of 1) $(head_of 1)" "$(field .subject.commit)" 'both modules are built for the same server commit'
test_same "$(in_repo show -s --format=%ct 1) $(in_mod show -s --format=%ct main~3)" \
  "$(sed -n 1p builds | jq -r '.subject | "\(.time | fromdate) \(.module_time | fromdate)"')" 'the subject has the times of both commits'
test_same 'me/words me/words' "$(field .subject.repository)" 'the repository in the subject is that of the module'
test_same "$cc null repo" \
  "$(sed -n 1p builds | jq -r '.subject.build | "\(.module) \(.module_file) \(.server_repo)"')" \
  'the subject has the build command of the module'
test_same 'false null' "$(sed -n 1p builds | jq -r '.subject | "\(.module_dirty) \(.module_fixed)"')" \
  'the module has no changes and is not fixed'
compiled() { find cache/vkb -name log -exec cat {} + | grep -c '^compiled valkey-server'; }
test_same 1 "$(compiled)" 'the server is built once'
one=$(sed -n 1p builds | jq -r .module) two=$(sed -n 2p builds | jq -r .module)
test_same 'one two' "$(for so in "$one" "$two"; do nm "$so" | sed -n 's/.* D \(one\|two\|four\)$/\1/p' |
  sed s/four/two/; done | xargs)" 'each module is built from its own commit'
test_same "$(sha256sum <"$two" | cut -d ' ' -f 1)" "$(sed -n 2p builds | jq -r .module_sha256)" \
  'the record has the hash of the module'
test_that 'the same modules are accepted again' build main~3 new=main
test_same 'true true' "$(field .cached)" 'the second time they come from the cache'
test_same "$one $two" "$(field .module)" 'the module files are the same'
test_that 'a module for another server is built' build --server 2 main
test_same "false $(head_of 2)" "$(field '"\(.cached) \(.subject.commit)"')" 'another server needs another build of the module'
test_absent "^$two$" .out 'the module of another server is another file'
test_that 'a module with another command is built' build --module-build "$cc -O1" main
test_same false "$(field .cached)" 'another command makes another module'
test_that '--module-file names the module' build --module-build "$cc; cp out/mod.so x.so" --module-file x.so main
test_same 'x.so x.so' "$(basename "$(field .module)") $(field .subject.build.module_file)" 'the record has the module of --module-file'

echo 'int changed = API;' >mod/mod.c
test_that 'a work tree of the module is built' build --worktree mod
test_same "ok true $(id HEAD | cut -c 1-10)+dirty $(head_of 1)" \
  "$(field '"\(.status) \(.subject.module_dirty) \(.subject.label) \(.subject.commit)"')" 'the record says that the module has changes'
test_same null "$(field .subject.dirty)" 'the record does not say that the server has changes'
test_match changed "$(jq -r .module .out)" 'the module is built from the changed source'
in_mod checkout -q -- .

# --- an installed server

server=$(jq -r .server builds | head -n 1)
mkdir bin && cp "$server" bin/valkey-server
installed() { vkb-build -C mod --module-build 'echo "<$VKB_INCLUDE>" >&2; cp mod.c mod.so' "$@"; }
test_that 'modules for an installed server are built' installed --server ./bin/valkey-server main~3 main
test_same 'ok ok' "$(field .status)" 'has modules'
test_same "$scratch/bin/valkey-server $scratch/bin/valkey-server" "$(field .server)" 'the server of the record is the installed program'
test_same "$(sha256sum <"$server" | cut -d ' ' -f 1) 9.0.0" \
  "$(head -n 1 .out | jq -r '"\(.binary_sha256) \(.version)"')" 'the record has the hash and the version of the installed server'
test_same "null null $scratch/bin/valkey-server null" \
  "$(head -n 1 .out | jq -r '.subject | "\(.commit) \(.time) \(.build.server) \(.build.compiler)"')" \
  'an installed server has no commit and no flags'
test_match '^<>$' "$(head -n 1 .out | jq -r .log)" 'an installed server has no headers'
test_that 'the absolute path of the server is accepted' installed --server "$scratch/bin/valkey-server" main
test_same true "$(field .cached)" 'the absolute path is the same server'
echo >>bin/valkey-server
test_status 2 'a path without ./ is a commit: it does not exist' installed --server bin/valkey-server --server-repo repo main
test_match "no branch, tag, commit or other revision 'bin/valkey-server' in" .err 'the error says that no such commit exists'
test_that 'a program that was replaced is accepted' installed --server ./bin/valkey-server main
test_same false "$(field .cached)" 'a program that was replaced is another server'

# --- what goes wrong

test_status 2 'a module commit that does not build is an error' build main~1 main
test_same 'failed ok' "$(field .status)" 'the other module commit is built'
test_match 'the command exited with 1' .err 'the error has the reason'
test_status 2 'a module commit that does not exist is an error' build none main
test_empty_file .out 'the other one is not built'
test_match "'none' in 'me/words'" .err 'the error names the repository of the module'
test_status 2 'a server commit that does not exist is an error' build --server none main
test_match "no branch, tag, commit or other revision 'none'" .err 'the error names the server commit'
test_empty_file .out 'nothing is built without a server'
test_status 2 'a server program that does not exist is an error' installed --server /none/server main
test_match "cannot run the server '/none/server': No such file" .err 'the error names the server program'
test_empty_file .out 'nothing is built for a missing program'
test_status 2 'a relative path that does not exist is an error' installed --server ./none/bin main
test_match "cannot run the server './none/bin': No such file" .err 'the error has the relative path'
printf '#!/bin/sh\ncase $0 in *-server) echo "Valkey server v=1.2.3 sha=0" ;; *) exit 4 ;; esac\n' >bin/check-rdb
chmod +x bin/check-rdb && ln -s check-rdb bin/other-server
test_that 'a symbolic link to a program is accepted' installed --server ./bin/other-server main
test_same "$scratch/bin/other-server 1.2.3" "$(field '"\(.server) \(.version)"')" 'the server has the name of the link'
test_status 2 'a folder as the server is an error' installed --server / main
test_match "the server '.*' does not run|cannot" .err 'the error names the folder'
printf '#!/bin/sh\nexit 3\n' >bin/broken && chmod +x bin/broken
test_status 2 'a server program that does not run is an error' installed --server ./bin/broken main
test_match "the server '$scratch/bin/broken' does not run" .err 'the error names the program that does not run'
echo 'no number' >repo/src/version.h
commit three
test_status 2 'a server commit that does not build is an error' build -j 1 --server main main~3 main~2 main
test_same 'failed failed failed' "$(field .status)" 'all modules fail'
test_same 1 "$(jq .error .out | sort -u | grep -c 'make exited with 2')" 'all modules have the same error'
test_same 1 "$(grep -c '^vkb-build: main: make exited' .err)" 'the server is built only once'

usage() { # usage PATTERN ARGUMENT...: the arguments are an error that matches PATTERN
  pattern=$1
  shift
  test_status 2 "vkb-build $*" vkb-build "$@"
  test_match "$pattern" .err 'the error has the reason'
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
test_that 'empty values, as a form of CI gives them, are accepted' vkb-build -C repo --module-build '' \
  --module-file '' --server '' --server-repo '' --module-dir '' 1
test_same 'ok null' "$(field '"\(.status) \(.module)"')" 'empty values count as not given'
test_status 2 'a login in the URL of the server is an error' build --server-repo https://me:sesame@127.0.0.1:1/x main
test_absent sesame .err 'the login is not printed'
test_done
