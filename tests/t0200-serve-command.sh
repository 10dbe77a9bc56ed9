#!/bin/sh
# vkb-serve SPEC -- COMMAND: the environment of the command, the record, exit statuses,
# and what is refused.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

test_server vkb-serve

test_that 'a server for a command' vkb-serve -o r.json -- \
  sh -c 'valkey-cli -h "$VKB_HOST" -p "$VKB_PORT" ping; echo "$VKB_PID"'
test_match '^PONG$' .out 'the server answers at VKB_HOST and VKB_PORT'
test_same "$(sed -n 2p .out)" "$(jq '.nodes[0].pid' r.json)" 'VKB_PID is the process of the server'
test_same "$(sha256sum <"$(readlink -f "$(command -v valkey-server)")" |
  cut -d' ' -f1)" "$(jq -r .binary.sha256 r.json)" 'the record has the hash of the binary'
test_same 'server ok false primary string allkeys-lru no' \
  "$(jq -r '[.type, .status, .cluster, .nodes[0].role,
    (.nodes[0].run_id | type), .config["maxmemory-policy"],
    .config.appendonly] | join(" ")' r.json)" 'the record has the properties of the server'
test_empty "$(ls "$TMPDIR")" 'no run directory is left'

test_status 7 "the exit status is that of the command" vkb-serve -- sh -c 'exit 7'
test_status 137 'a command that is killed by a signal' vkb-serve -- sh -c 'kill -9 $$'
test_status 127 'a command that does not exist' vkb-serve -- vkb-no-such-command
test_status 126 'a command that cannot be run' vkb-serve -- "$scratch"
test_status 2 'no command' vkb-serve spec.json
test_status 2 'an unknown option' vkb-serve --nonsense -- true
test_status 0 'the command may have options' vkb-serve -- test -d "$TMPDIR"

cat >spec.json <<'E'
{ "unixsocket": true, "io_threads": 2, "aslr": false, "cpus": ["0"],
  "config": { "maxmemory": "100mb", "hz": 20, "save": "3600 1 60 1000" },
  "config_set": { "maxclients": 321, "notify-keyspace-events": "K$" },
  "config_file": "extra.conf" }
E
echo 'lfu-decay-time 3' >extra.conf
test_that 'a spec from a file' vkb-serve -o r.json spec.json -- sh -c '
  valkey-cli -s "$VKB_SOCKET" config get lfu-decay-time
  grep Cpus_allowed_list "/proc/$VKB_PID/status"
  cat "/proc/$VKB_PID/personality"'
test_match '^3$' .out 'config_file of the spec is read'
test_match 'Cpus_allowed_list:.0$' .out 'CPUs'
test_match '^.*4....$' .out 'address randomisation is off'
test_same '104857600 20 321 2 3600 1 60 1000' \
  "$(jq -r '.config | [.maxmemory, .hz, .maxclients, .["io-threads"], .save] |
    join(" ")' r.json)" 'effective settings'
test_that 'an option replaces a setting of the file' vkb-serve --config maxmemory=1mb \
  -o r.json spec.json -- true
test_same 1048576 "$(jq -r .config.maxmemory r.json)" 'the setting has the value of the option'
echo '{"maxmemry":1}' | vkb-serve - -- true 2>err
test_match "unknown key 'maxmemry'" err 'an unknown key is an error'

refused() { # refused WHAT SPEC PATTERN
  printf '%s\n' "$2" >bad.json
  test_status 125 "$1" vkb-serve bad.json -- true
  test_match "$3" .err "$1: the error has the reason"
}
refused 'a bad value' '{"config":{"maxmemory":"zz"}}' "maxmemory .zz"
refused 'an unknown setting' '{"config":{"nonsense":"1"}}' 'nonsense'
refused 'a bad CONFIG SET' '{"config_set":{"maxmemory":"zz"}}' \
  "config_set 'maxmemory'"
refused 'the port as a setting' '{"config":{"port":1}}' "config.port.*'port'"
refused 'bind' '{"config":{"BIND":"::"}}' "config.BIND.*'host'"
refused 'bind later' '{"config_set":{"bind":"::"}}' "config_set.bind"
refused 'a secret later' '{"config_set":{"requirepass":"x1y2z3"}}' \
  "'config_set.requirepass' is a secret: move it to 'config'"
test_absent x1y2z3 .err 'the error does not have the secret'
refused 'io-threads twice' '{"io_threads":2,"config":{"io-threads":1}}' \
  "config.io-threads.*'io_threads'"
refused 'daemonize' '{"config":{"daemonize":"yes"}}' 'config.daemonize'
refused 'logfile' '{"config":{"logfile":"x"}}' 'config.logfile'
refused 'tls' '{"config":{"tls-port":1}}' "config.tls-port.*'tls'"
refused 'a true' '{"config":{"hz":true}}' 'config.hz'
refused 'two lines' '{"config":{"a\nb":"1"}}' 'invalid setting name'
refused 'cpus' '{"cpus":["0","1"]}' "'cpus' has 2 lists for 1 nodes"
refused 'not a CPU list' '{"cpus":["0-"]}' "'cpus': '0-'"
refused 'replicas alone' '{"replicas":1}' "'replicas' needs 'primaries'"
refused 'a port that is not an integer' '{"port":1.5}' "'port'"
refused 'a wrong type' '{"port":"6379"}' "'port' is not of type"
refused 'no binary' '{"server":"vkb-no-such-server"}' 'vkb-no-such-server'
refused 'no module' '{"modules":[{"path":"none.so"}]}' "module 'none.so'"
refused 'no JSON' '{' 'bad.json'
test_status 125 'no spec' vkb-serve none.json -- true

test_that 'a password' vkb-serve -o r.json --config requirepass=hunter2 -- \
  sh -c 'REDISCLI_AUTH=$VKB_PASSWORD valkey-cli -p "$VKB_PORT" ping
    tr "\0" " " <"/proc/$VKB_PID/cmdline"; stat -c %a "$VKB_DIR/n1/valkey.conf"'
test_match '^PONG$' .out 'the command has the password in its environment'
test_same 0 "$(cat .out .err r.json | grep -c hunter2)" 'the password is printed and recorded nowhere'
test_match '600$' .out 'only the user can read the file with the password'
vkb-serve --config 'requirepass=hunter2 x' --config hz=hunter2 -- true 2>err
test_same 0 "$(grep -c 'hunter2 x' err)" 'the message about a failure does not show the password'

# shown TEXT: a process has the text in its arguments, other than this shell. The text
# is not an argument of the grep that searches.
shown() {
  printf '%s\n' "$1" >pattern
  grep -lsaFf pattern /proc/[0-9]*/cmdline | grep -v "^/proc/$$/" | head -n 1
}
secret=s3cret-$$-$(date +%s)
vkb-serve --config "requirepass=$secret" --config=masterauth="$secret" -- \
  sh -c 'touch up; exec tail -f down' 2>err &
serve=$!
: >down
wait_until 20 test -e up
test_empty "$(shown "$secret")" 'a password that is an option does not appear in lists of processes'
kill $serve
wait $serve

# The server that is measured may run untrusted code.
printf '#!/bin/sh\nenv >%s/seen\nexec valkey-server "$@"\n' "$scratch" >nosy
chmod +x nosy
test_that 'a server that prints its environment' env GITHUB_TOKEN=secret1 \
  PGPASSWORD=secret2 VKB_PASSWORD=secret3 HOME=/secret4 LD_BIND_NOW=1 \
  MALLOC_ARENA_MAX=2 vkb-serve --server ./nosy -- true
test_same 'LC_ALL LD_BIND_NOW MALLOC_ARENA_MAX PATH TMPDIR TZ' "$(cut -d = -f 1 seen |
  grep -Ev '^([A-Z]*SAN_OPTIONS|PWD|SHLVL|_|OLDPWD|LANG)$' | sort | xargs)" \
  'its environment has what it needs, and no secret'

vkb-serve -- sh -c 'for i in 1 2 3; do
  valkey-cli -p "$VKB_PORT" set "k$i" v; done
  valkey-cli -p "$VKB_PORT" save; cp "$VKB_DIR/n1/dump.rdb" .' >/dev/null
test_that 'an RDB' vkb-serve --rdb dump.rdb -- sh -c '
  valkey-cli -p "$VKB_PORT" dbsize; valkey-cli -p "$VKB_PORT" flushall
  valkey-cli -p "$VKB_PORT" save'
test_match '^3$' .out 'the data of the RDB are loaded'
test_that 'the original file is not changed' vkb-serve --rdb dump.rdb -- sh -c '
  [ "$(valkey-cli -p "$VKB_PORT" dbsize)" = 3 ]'

test_that 'logs are kept with --logs' vkb-serve --logs logs -- true
test_match 'Ready to accept' logs/server-1.log 'a log is in the given folder'
test_that 'the run directory is kept with --dir' vkb-serve --dir run -- true
test_match 'Ready to accept' run/s1/n1.log 'the log is in the given run directory'
test_same 700 "$(stat -c %a run)" 'the run directory is private'
test_empty "$(ls "$TMPDIR")" 'no other file is left'
test_done
