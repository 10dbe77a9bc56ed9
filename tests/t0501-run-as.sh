#!/bin/sh
# VKB_RUN_AS: builds and servers run as another user, who cannot change what is
# measured or read what is private.
# shellcheck disable=SC2016 # text for make, sh and jq is not expanded
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

user=$(id -un 65534) # the one without rights
VKB_RUN_AS=$user
export VKB_RUN_AS
if [ "$(id -u)" -ne 0 ]; then
  test_status 2 'only root can run code as another user' vkb-build --prune 1d --cache c
  test_match 'only root can run code' .err 'the error says so'
  test_skip 'builds and servers run as another user' root
  test_done
fi
test_server 'builds and servers run as another user'
chmod 711 "$scratch"
uid=$(id -u "$user")

# --- a wrong user

for name in root none-such; do
  test_status 2 "the user '$name' is refused" \
    env VKB_RUN_AS=$name vkb-build --cache "$scratch/cache" --prune 1d
done
test_match "there is no user 'none-such'" .err 'the error names a user that does not exist'
test_status 125 'a user who is not root cannot name another one' \
  setpriv --reuid="$uid" --clear-groups vkb-serve -- true
test_match 'only root can run code under test as another user' .err 'the error says so'

# --- builds

small_repo
: >secret
chmod 600 secret
echo 'private text' >secret
echo good >results.jsonl
cat >>repo/src/Makefile <<END
all_of_it := \$(shell (id; cat /proc/self/status; ls -l /proc/self/fd; \\
  cat '$scratch/secret'; echo bad >'$scratch/results.jsonl'; \\
  echo bad >'$scratch/cache/vkb/evil'; echo \$\$HOME) >seen 2>&1)
END
commit one
in_repo tag v1
mkdir "$scratch/cache"
test_that 'a commit is built by the other user' vkb-build -q -C repo v1
tree=$(echo cache/vkb/trees/*.0)
test_match "^uid=$uid\\($user\\) gid=[0-9]*\\([a-z]*\\) groups=[0-9]*\\([a-z]*\\)$" "$tree/src/seen" \
  'make runs as that user, in its groups alone'
test_match '^NoNewPrivs:	1' "$tree/src/seen" 'it cannot become another user'
test_same 2 "$(grep -c 'results.jsonl.*Permission denied\|evil.*Permission denied' "$tree/src/seen")" \
  'make cannot change results and cannot write into the cache'
test_absent 'private text' "$tree/src/seen" 'make cannot read what is private'
test_absent '/results.jsonl$' "$tree/src/seen" 'it has no descriptor of results'
test_same good "$(cat results.jsonl)" 'the results are those of before'
test_same "$user" "$(find "$tree/" -printf '%u\n' | sort -u)" 'the tree belongs to that user'
test_same root "$(find cache/vkb/builds -printf '%u\n' | sort -u)" \
  'the finished build belongs to root'
echo '#define VERSION "9.0.1"' >repo/src/version.h
commit two
test_that 'the next commit is built in the same tree' vkb-build -q -C repo main
test_same true "$(jq .incremental .out)" 'what was compiled is used again'
test_that 'without the variable another tree is used' \
  env -u VKB_RUN_AS vkb-build -q -C repo main~0 --cflags -O1
test_same "$user root" "$(stat -c %U cache/vkb/trees/*.0 | sort | xargs)" \
  'the tree belongs to who built in it'
printf 'valkey-server:\n\tln -sf "%s" $@\n' "$scratch/secret" >>repo/src/Makefile
commit three
test_status 2 'a link to a private file is not taken for a server' vkb-build -q -C repo main
test_match "cannot read '.*/src/valkey-server': Permission denied" .err \
  'the error names the file'
test_empty "$(grep -rl 'private text' cache/vkb/builds)" 'no build has the private text'

# --- servers

test_that 'a server runs as that user' vkb-serve -q --unixsocket --tls --config requirepass=x -- sh -c '
  stat -c "%U %a %n" "/proc/$VKB_PID" "$VKB_SOCKET" "$VKB_DIR/n1" "$VKB_DIR" \
    "$VKB_DIR/n1/valkey.conf" "$VKB_DIR/../tls/"*.key | sed "s,[^ ]*/,,"
  id -un'
test_same "root 600 ca.key
root 600 client.key
$user 600 server.key" "$(grep key$ .out)" 'of the keys that user has that of the server'
test_same "$user
$user
root
root" "$(sed -n '1p; 3p; 4p; $p' .out | cut -d ' ' -f 1)" \
  'the process and the folder of the node belong to that user, the others and the command do not'
test_that 'a load runs on such a server' vkb-load -q -t get -r 100 -n 200 --runs 1 -o runs.jsonl
test_same 'ok root' "$(jq -r 'select(.type == "run").status' runs.jsonl) $(stat -c %U runs.jsonl)" \
  'its record is there and belongs to root'
mkfifo pid
vkb-serve -q -- sh -c 'echo "$VKB_PID" >pid; exec tail -f /dev/null' &
read -r server_pid <pid
kill -9 $!
wait $! 2>/dev/null
test_that 'a server of that user ends with vkb-serve' \
  wait_until 30 sh -c '! kill -0 "$1" 2>/dev/null' - "$server_pid"
test_that 'its folder is removed' wait_until 30 sh -c '! ls -d "$TMPDIR"/vkb-run.* 2>/dev/null'

# --- folders that the user may not enter

mkdir -m 700 closed closed/in
test_status 2 'a folder for servers that the user may not enter is an error' \
  env TMPDIR="$scratch/closed/in" vkb-serve start
test_match "user '$user' \\(VKB_RUN_AS\\) may not enter '$scratch/closed', where '.*vkb-run" .err \
  'the error names the folder'
test_status 2 'a cache that the user may not enter is an error' \
  vkb-build -C repo --cache closed/in v1
test_match "may not enter '$scratch/closed'" .err 'the error names the folder'
cp "$server" closed/
test_status 125 'a server that the user cannot reach is an error' \
  vkb-serve --server "$scratch/closed/${server##*/}" -- true
test_match "may not enter '$scratch/closed'" .err 'the error names its folder'

test_empty "$(litter)" 'nothing is left behind'
test_done
